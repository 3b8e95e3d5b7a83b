package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// The functions below hold the Go code that docs/replication.md shows.

// A program's database has a replica in another program, which takes over.
func Example_takeover() {
	inDirectory(func() error {
		ctx := context.Background()
		token := mirror.NewSecret("replication")

		db, err := fenec.Open("library.fenec", fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 64 << 20})
		if err != nil {
			return err
		}
		defer db.Close()
		source := mirror.NewSource(db, mirror.SourceOptions{Reports: true})
		defer source.Close("the program ends")
		db.SetConfirm(source.Confirm)

		routes := http.NewServeMux()
		replicate := func(w http.ResponseWriter, r *http.Request) {
			if !token.Opens(serve.Bearer(r.Header)) {
				http.Error(w, "the replication token is required", http.StatusUnauthorized)
				return
			}
			var path []string
			if route := r.PathValue("route"); route != "" {
				path = []string{route} // status, promote or held
			}
			source.Serve(w, r, path)
		}
		routes.HandleFunc("/_replication", replicate)
		routes.HandleFunc("/_replication/{route}", replicate)
		server := httptest.NewServer(routes)
		defer server.Close()
		primary := server.URL
		if _, err = db.Exec(ctx, "create collection books (title text)"); err != nil {
			return err
		}

		single, err := mirror.OpenSingle("copy.fenec", mirror.SingleOptions{
			DB: fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 64 << 20},
			Opened: func(db *fenec.DB) error {
				if len(db.History().Lineage) > 0 {
					return nil // it follows, or was promoted and stays a primary
				}
				return db.Follow(ctx)
			},
		})
		if err != nil {
			return err
		}
		defer single.Close()
		replica, err := mirror.StartReplica(single, mirror.ReplicaOptions{
			Primary:  primary, // http://10.0.0.1:8080
			Token:    token,
			Instance: "b", // this copy's name: no other copy has it
		})
		if err != nil {
			return err
		}
		defer replica.Stop()

		_, err = db.Exec(mirror.WithHeld(ctx, 1), "put books {title: $1}", "Night Flight")
		var held *mirror.HeldError
		if errors.As(err, &held) {
			log.Printf("written, but on the disks of %d of %d replicas", held.Have, held.Want)
		} else if err != nil {
			return err
		}

		replica.Stop()
		copied, release, err := single.Use(ctx)
		if err != nil {
			return err
		}
		defer release()
		if _, err := copied.Promote(ctx, false); err != nil {
			return err
		}
		_, err = copied.Exec(ctx, "put books {title: $1}", "Southern Mail")
		if err != nil {
			return err
		}
		res, err := copied.Query(ctx, "get books")
		if err != nil {
			return err
		}
		fmt.Println(res.Len(), copied.History().Following)
		return nil
	})
	// Output:
	// 2 false
}

// What mirror does, without HTTP, and as long as nothing goes wrong.
func Example_byHand() {
	inDirectory(func() error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		opts := fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 1 << 20}
		primary, err := fenec.Open("primary.fenec", opts)
		if err != nil {
			return err
		}
		defer primary.Close()
		replica, err := fenec.Open("replica.fenec", opts)
		if err != nil {
			return err
		}
		defer replica.Close()
		if _, err := primary.Exec(ctx, "create collection books (title text)"); err != nil {
			return err
		}

		follow := func(ctx context.Context) error {
			h, err := primary.BeginHistory(ctx) // which says whose writes these are
			if err != nil {
				return err
			}
			if err := replica.Follow(ctx); err != nil {
				return err
			}
			if err := replica.TakeOver(ctx, h.Lineage); err != nil {
				return err
			}
			for {
				if err := primary.WaitFeed(ctx, replica.LastWrite()); err != nil {
					return err
				}
				blocks, err := primary.FeedBlocks(ctx, replica.LastWrite(), 1<<20)
				if err != nil {
					return err // a CursorError: it needs an image
				}
				for _, b := range blocks {
					if _, err := replica.Apply(ctx, b.Record, []int64{b.At}); err != nil {
						return err
					}
				}
			}
		}
		followed := make(chan error, 1)
		go func() { followed <- follow(ctx) }()

		if _, err := primary.Exec(ctx, "put books {title: 'Night Flight'}"); err != nil {
			return err
		}
		if err := replica.WaitSeq(ctx, primary.LastWrite()); err != nil {
			return err
		}
		a, err := primary.Digest(ctx)
		if err != nil {
			return err
		}
		b, err := replica.Digest(ctx)
		if err != nil {
			return err
		}
		fmt.Println(a.Root() == b.Root())

		cancel()
		if err := <-followed; !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	// Output:
	// true
}

// inDirectory runs fn in a directory of its own, as code that names files has to.
func inDirectory(fn func() error) {
	dir, err := os.MkdirTemp("", "mirror-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	before, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	defer os.Chdir(before)
	if err := fn(); err != nil {
		log.Fatal(err)
	}
}
