package tenant_test

import (
	"context"
	"fmt"
	"os"

	"github.com/fenec-go/fenecdb/tenant"
)

func Example() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "tenants")
	defer os.RemoveAll(dir)

	m, err := tenant.Open(dir, tenant.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	for _, name := range []string{"acme", "globex"} {
		if err := m.Create(ctx, name); err != nil {
			fmt.Println(err)
		}
	}
	h, err := m.Acquire(ctx, "acme")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Release()
	_, _ = h.Exec(ctx, "create collection orders (item text)")
	n, _ := h.Exec(ctx, "put orders [{item: $1}, {item: $2}]", "anvil", "rocket")
	fmt.Println(n, "orders for", h.ID())

	_, err = m.Acquire(ctx, "amce")
	fmt.Println(err)
	// Output:
	// 2 orders for acme
	// tenant "amce": no such tenant
}
