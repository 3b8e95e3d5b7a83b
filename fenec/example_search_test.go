package fenec_test

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec"
)

// The functions below hold the Go code of README.md and docs/search.md.

// Texts by their words, best first, with what was found in them.
func Example_match() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		res, err := db.Query(ctx, `get id, highlight(body, "<b>", "</b>") from notes match body $1 limit 10`, "red fox")
		if err != nil {
			return err
		}
		for res.Next() {
			var id int64
			var body string
			var score float32
			if err := res.Scan(&id, &body, &score); err != nil {
				return err
			}
			fmt.Printf("%d %.2f %s\n", id, score, body)
		}
		return nil
	},
		`create collection notes (body text @text)`,
		`put notes [{body: "The red fox hunts at night."}, {body: "A hen is no fox."}, {body: "Snow."}]`)
	// Output:
	// 1 1.33 The <b>red</b> <b>fox</b> hunts at night.
	// 2 0.45 A hen is no <b>fox</b>.
}

// What docs/search.md shows of reading marks and scores into structs.
func Example_marks() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		type Found struct {
			ID    int64
			Body  string  `fenec:"highlight(body)"`
			Score float32 `fenec:"_score"`
		}
		res, err := db.Query(ctx, `get id, highlight(body, "<b>", "</b>") from page match body $1 limit 10`, "red fox")
		if err != nil {
			return err
		}
		found, err := fenec.Collect[Found](res)
		if err != nil {
			return err
		}
		for _, f := range found {
			fmt.Printf("%d %.2f %s\n", f.ID, f.Score, f.Body)
		}
		return nil
	},
		`create collection page (body text @text)`,
		`put page [{body: "The red fox hunts at night."}, {body: "A hen is no fox."}]`)
	// Output:
	// 1 0.86 The <b>red</b> <b>fox</b> hunts at night.
	// 2 0.19 A hen is no <b>fox</b>.
}

// Documents by their vectors, nearest first, among those that pass a filter.
func Example_near() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		type Image struct {
			ID   int64
			Kind string
			V    []float32
		}
		_, err := db.Exec(ctx, "put images $1", []Image{
			{Kind: "cat", V: []float32{1, 0, 0}},
			{Kind: "dog", V: []float32{0, 1, 0}},
			{Kind: "cat", V: []float32{0.6, 0.8, 0}},
		})
		if err != nil {
			return err
		}
		res, err := db.Query(ctx, "get id from images near v $1 where kind = $2 limit 2", []float32{0, 1, 0}, "cat")
		if err != nil {
			return err
		}
		for res.Next() {
			var id int64
			var cosine float32
			if err := res.Scan(&id, &cosine); err != nil {
				return err
			}
			fmt.Println(id, cosine)
		}
		return nil
	}, `create collection images (kind text @hash, v vector<3> @hnsw(cosine))`)
	// Output:
	// 3 0.8
	// 1 0
}

// What README.md shows of search: words and vectors, in one list.
func Example_hybrid() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		_, err := db.Exec(ctx, "create collection pages (title text, body text @text, lang text @hash, v vector<3> @hnsw(cosine))")
		if err != nil {
			return err
		}
		type Page struct {
			Title, Body, Lang string
			V                 []float32 // from an embedding model
		}
		_, err = db.Exec(ctx, "put pages $1", []Page{
			{"Foxes", "The red fox hunts at night.", "en", []float32{0.8, 0.6, 0}},
			{"Hens", "A hen lays eggs.", "en", []float32{0, 1, 0}},
			{"Tilkiler", "Kızıl tilki gece avlanır.", "tr", []float32{0.6, 0.8, 0}},
		})
		if err != nil {
			return err
		}

		res, err := db.Query(ctx, "get title from pages match body $1 near v $2 fuse where lang = $3 limit 2",
			"the fox", []float32{1, 0, 0}, "en")
		if err != nil {
			return err
		}
		for row := range res.All() {
			title, err := row.Text("title")
			if err != nil {
				return err
			}
			score, err := row.Float("_score")
			if err != nil {
				return err
			}
			fmt.Printf("%s %.4f\n", title, score)
		}
		return nil
	})
	// Output:
	// Foxes 0.0328
	// Hens 0.0161
}

// What docs/search.md shows of loading many vectors.
func Example_load() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		items := make([]string, 6000)

		if _, err := db.Exec(ctx, "create collection items (name text, v vector<2>)"); err != nil {
			return err
		}
		v := make([]float32, 2)
		n, err := db.Load(ctx, "put items {name: $1, v: $2}", func(yield func([]any, error) bool) {
			for i, name := range items {
				v[0], v[1] = float32(i), float32(len(name)) // an embedding, in practice
				if !yield([]any{name, v}, nil) {
					return
				}
			}
		})
		if err != nil {
			return err // the first n rows are written
		}
		_, err = db.Exec(ctx, "create index on items (v) @hnsw(l2)") // returns when the graph is there
		if err != nil {
			return err
		}

		res, err := db.Query(ctx, "get id from items near v $1 limit 1", []float32{99, 0})
		if err != nil {
			return err
		}
		for row := range res.All() {
			id, err := row.Int("id")
			if err != nil {
				return err
			}
			fmt.Println(n, id)
		}
		return nil
	})
	// Output:
	// 6000 100
}
