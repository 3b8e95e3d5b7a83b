package mirror_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// A database is followed by another one, whose disk a write waits for.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "mirror")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := fenec.Options{FeedBytes: 64 << 20}

	// The primary.
	primary, err := fenec.Open(filepath.Join(dir, "primary.fenec"), opts)
	if err != nil {
		log.Fatal(err)
	}
	defer primary.Close()
	source := mirror.NewSource(primary, mirror.SourceOptions{Reports: true})
	defer source.Close("the example ends")
	primary.SetConfirm(source.Confirm)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path { // who may do so is looked at here
		case "/_replication":
			source.Serve(w, r, nil)
		case "/_replication/held":
			source.Serve(w, r, []string{"held"})
		}
	}))
	defer server.Close()

	// The replica.
	replica, err := mirror.OpenSingle(filepath.Join(dir, "replica.fenec"), mirror.SingleOptions{
		DB: opts,
		Opened: func(db *fenec.DB) error {
			if h := db.History(); h.Following || len(h.Lineage) > 0 {
				return nil // it follows already, or was promoted, and stays what it is
			}
			return db.Follow(ctx)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer replica.Close()
	follower, err := mirror.StartReplica(replica, mirror.ReplicaOptions{Primary: server.URL, Instance: "replica"})
	if err != nil {
		log.Fatal(err)
	}
	defer follower.Stop()

	if _, err := primary.Exec(ctx, `create collection books (title text)`); err != nil {
		log.Fatal(err)
	}
	if _, err := primary.Exec(mirror.WithHeld(ctx, 1), `put books {title: 'Dune'}`); err != nil {
		log.Fatal(err)
	}

	db, release, err := replica.Use(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	res, err := db.Query(ctx, `get books`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Len())
	_, err = db.Exec(ctx, `put books {title: 'Emma'}`)
	fmt.Println(err)
	// Output:
	// 1
	// the database is a replica
}
