package fenec_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// shopping returns a database in memory with shops and their orders.
func shopping() *fenec.DB {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{
		`create collection shop (name text @unique, city text)`,
		`create collection sale (shop int @hash, item text, total int, meta json)`,
		`put shop [{name: "North", city: "Oslo"}, {name: "South", city: "Rome"}]`,
		`put sale [{shop: 1, item: "lamp", total: 40, meta: {by: "ann"}}, {shop: 1, item: "desk", total: 90, meta: {by: "bob"}},
			{shop: 2, item: "lamp", total: 35, meta: {by: "ann"}}]`,
	} {
		if _, err := db.Query(context.Background(), text); err != nil {
			log.Fatal(err)
		}
	}
	return db
}

// A lookup gives each row its children, here the dearest sale of each shop.
func ExampleRow_Children() {
	db := shopping()
	defer db.Close()
	res, err := db.Query(context.Background(), `get name from shop lookup sale on shop order total desc limit 1`)
	if err != nil {
		log.Fatal(err)
	}
	for shop := range res.All() {
		name, _ := shop.Text("name")
		for sale := range shop.Children() {
			item, _ := sale.Text("item")
			total, _ := sale.Int("total")
			fmt.Println(name, item, total)
		}
	}
	// Output:
	// North desk 90
	// South lamp 35
}

// Aggregates over groups, read into structs.
func ExampleCollect_aggregates() {
	db := shopping()
	defer db.Close()
	res, err := db.Query(context.Background(),
		`get item, count(*) as n, sum(total) as total from sale group item having n > $1 order total desc`, 0)
	if err != nil {
		log.Fatal(err)
	}
	type line struct {
		Item     string
		N, Total int
	}
	lines, err := fenec.Collect[line](res)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lines)
	// Output: [{desk 1 90} {lamp 2 75}]
}

// Facets count values over all rows that match, beside a page of them.
func ExampleResult_Facets() {
	db := shopping()
	defer db.Close()
	res, err := db.Query(context.Background(), `get sale limit 1 facet item, total ranges [0, 50, 100]`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rows:", res.Len())
	for _, facet := range res.Facets() {
		for _, c := range facet.Counts {
			fmt.Println(facet.Name, c.Value, c.Count)
		}
	}
	// Output:
	// rows: 1
	// item lamp 2
	// item desk 1
	// total [0 50] 2
	// total [50 100] 1
}

// An index on a path into json, and how a get makes use of it.
func ExampleDB_Query_path() {
	db := shopping()
	defer db.Close()
	ctx := context.Background()
	if _, err := db.Query(ctx, `create index on sale (meta.by) @hash`); err != nil {
		log.Fatal(err)
	}
	res, err := db.Query(ctx, `get item from sale where meta.by = $1`, "ann")
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.All() {
		item, _ := row.Text("item")
		fmt.Println(item)
	}
	// Output:
	// lamp
	// lamp
}

// Documents of a collection with @ttl are gone when their time is past.
func ExampleDB_Sweep() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	db, err := fenec.OpenMemory(fenec.Options{Clock: func() time.Time { return now }, SweepInterval: -1})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	for _, text := range []string{`create collection session (user text @unique, seen timestamp @ttl(10m))`, `put session {user: "ann", seen: now()}`} {
		if _, err := db.Query(ctx, text); err != nil {
			log.Fatal(err)
		}
	}
	now = now.Add(10 * time.Minute)
	res, err := db.Query(ctx, `get session`)
	if err != nil {
		log.Fatal(err)
	}
	swept, err := db.Sweep(ctx)
	fmt.Println(res.Len(), "left,", swept, "swept,", err)
	// Output: 0 left, 1 swept, <nil>
}

// Structs are written as documents and read back.
func ExampleCollect_structs() {
	db := shopping()
	defer db.Close()
	ctx := context.Background()
	type shop struct {
		ID   int `fenec:"id,omitempty"` // given by the database
		Name string
		City *string
	}
	city := "Lima"
	if _, err := db.Exec(ctx, `put shop $1`, []shop{{Name: "East", City: &city}, {Name: "West"}}); err != nil {
		log.Fatal(err)
	}
	res, err := db.Query(ctx, `get shop where id > 2`)
	if err != nil {
		log.Fatal(err)
	}
	shops, err := fenec.Collect[shop](res)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range shops {
		fmt.Println(s.ID, s.Name, s.City != nil)
	}
	// Output:
	// 3 East true
	// 4 West false
}
