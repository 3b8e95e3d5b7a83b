package fenec_test

import (
	"fmt"
	"log"

	"github.com/fenec-go/fenecdb/fenec"
)

// Many documents are loaded from where they come from, one at a time, with their
// vectors as they are.
func ExampleDB_Load() {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create collection notes (title text required, e vector<3> @hnsw)`); err != nil {
		log.Fatal(err)
	}
	titles := []string{"north", "east", "up"}
	n, err := db.Load(ctx, `put notes {title: $1, e: $2}`, func(yield func([]any, error) bool) {
		e := make([]float32, 3) // for all rows: Load copies it
		for i, title := range titles {
			clear(e)
			e[i] = 1
			if !yield([]any{title, e}, nil) {
				return
			}
		}
	})
	fmt.Println(n, err)

	res, err := db.Query(ctx, `get title from notes near e $1 limit 2`, []float32{0.1, 0.9, 0.2})
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.All() {
		fmt.Println(row.Text("title"))
	}
	// Output:
	// 3 <nil>
	// east <nil>
	// up <nil>
}
