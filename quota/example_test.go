package quota_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

func Example() {
	ctx := context.Background()
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	_, _ = db.Exec(ctx, "create collection notes (text text)")

	q := quota.New(db, quota.Limits{Rows: 2}, nil)
	write := func(text string, args ...any) error {
		if err := q.Enter(); err != nil {
			return err
		}
		defer q.Leave()
		if err := q.MayWrite(); err != nil {
			return err
		}
		_, err := db.Exec(ctx, text, args...)
		return err
	}
	for _, text := range []string{"one", "two", "three"} {
		err := write("put notes {text: $1}", text)
		var refused *quota.Refusal
		if errors.As(err, &refused) {
			fmt.Println(text, "was refused:", refused.Key, refused.Limit)
		}
	}
	fmt.Println(write("del notes where text = $1", "one"))
	fmt.Println(write("put notes {text: $1}", "three"))
	fmt.Println("near the limit:", q.Warning())
	// Output:
	// three was refused: rows 2
	// <nil>
	// <nil>
	// near the limit: rows
}

func ExampleParse() {
	limits, err := quota.Parse([]byte(`{"rows": 1000, "requests_per_second": 50}`))
	fmt.Println(limits.Rows, limits.RequestsPerSecond, err)
	_, err = quota.Parse([]byte(`{"rows": 1000, "row_per_second": 50}`))
	fmt.Println(err)
	// Output:
	// 1000 50 <nil>
	// quota: unknown key "row_per_second"
}

func ExampleSave() {
	dir, _ := os.MkdirTemp("", "tenants")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "acme.quota")

	fmt.Println(quota.Save(path, quota.Limits{Rows: 1000}))
	limits, err := quota.Load(path)
	fmt.Println(limits.Rows, err)
	// Output:
	// <nil>
	// 1000 <nil>
}

func ExampleMeter() {
	ctx := context.Background()
	node, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()
	meter, err := quota.NewMeter(ctx, node, quota.MeterOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for tenant, requests := range map[string]int64{"acme": 3, "globex": 5} {
		account := meter.Open(tenant)
		for range requests {
			account.Add(quota.Usage{Requests: 1, RowsRead: 10, CPU: 2 * time.Millisecond})
		}
		account.Close()
	}
	if err := meter.Flush(ctx); err != nil { // every minute
		fmt.Println(err)
	}
	report, err := meter.Report(ctx, time.Now().Add(-10*time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range report.Top(2) {
		fmt.Println(t.Tenant, t.Usage.Requests, t.Usage.RowsRead, t.Usage.CPU)
	}
	// Output:
	// globex 5 50 10ms
	// acme 3 30 6ms
}
