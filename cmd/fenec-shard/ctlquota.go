package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/quota"
)

// bound is one of a tenant's limits, as flags and tables have it.
type bound struct {
	flag, key string
	inBytes   bool
	of        func(*quota.Limits) *int64
}

var bounds = []bound{
	{"bytes", quota.KeyBytes, true, func(l *quota.Limits) *int64 { return &l.Bytes }},
	{"rows", quota.KeyRows, false, func(l *quota.Limits) *int64 { return &l.Rows }},
	{"streams", quota.KeyStreams, false, func(l *quota.Limits) *int64 { return &l.Streams }},
	{"requests", quota.KeyRequests, false, func(l *quota.Limits) *int64 { return &l.Requests }},
	{"rows-per-second", quota.KeyRowsPerSecond, false, func(l *quota.Limits) *int64 { return &l.RowsPerSecond }},
	{"bytes-per-second", quota.KeyBytesPerSecond, true, func(l *quota.Limits) *int64 { return &l.BytesPerSecond }},
	{"requests-per-second", quota.KeyRequestsPerSecond, false, func(l *quota.Limits) *int64 { return &l.RequestsPerSecond }},
}

// quotaFlags are the lines of the help on the bounds.
const quotaFlags = `0 ends a limit, and those that are not named stay; as JSON all are given
--bytes <size>, --rows <n>        what it may hold
--streams <n>, --requests <n>     what may be open at once
--rows-per-second <n>, --bytes-per-second <size>, --requests-per-second <n>`

// text returns a number of what the bound counts.
func (b bound) text(n int64) string {
	if b.inBytes {
		return size(n)
	}
	return number(n)
}

// parse reads a limit; 0 is none.
func (b bound) parse(s string) (n int64, err error) {
	if b.inBytes {
		n, err = parseSize(s)
	} else {
		n, err = strconv.ParseInt(s, 10, 64)
	}
	if err != nil || n < 0 {
		return 0, errors.New("want a number, 0 for no limit")
	}
	return n, nil
}

func declareQuotaSet(fs *flag.FlagSet) action {
	var changes []func(*quota.Limits)
	for _, b := range bounds {
		fs.Func(b.flag, "", func(s string) error {
			n, err := b.parse(s)
			changes = append(changes, func(l *quota.Limits) { *b.of(l) = n })
			return err
		})
	}
	return func(ctx context.Context, c *console, operands []string) error {
		switch {
		case len(operands) > 1 && len(changes) > 0:
			return misuse("limits are given by flags or as JSON, not both")
		case len(operands) > 1:
			return replaceQuota(ctx, c, operands[0], operands[1])
		case len(changes) == 0:
			return misuse("no limit is given; quota clear ends them all")
		}
		return changeQuota(ctx, c, operands[0], changes)
	}
}

func replaceQuota(ctx context.Context, c *console, tenant, text string) error {
	l, err := quota.Parse([]byte(text))
	if err != nil {
		return &process.UsageError{Err: err}
	}
	return putQuota(ctx, c, tenant, l)
}

// changeQuota changes some of a tenant's limits. The others stay as they are, although
// the router only knows how to replace them all.
func changeQuota(ctx context.Context, c *console, tenant string, changes []func(*quota.Limits)) error {
	var l quota.Limits
	if _, err := c.shard.get(ctx, "tenants/"+tenant+"/quota", &l); err != nil {
		return err
	}
	for _, change := range changes {
		change(&l)
	}
	return putQuota(ctx, c, tenant, l)
}

func clearQuota(ctx context.Context, c *console, operands []string) error {
	return putQuota(ctx, c, operands[0], quota.Limits{})
}

func putQuota(ctx context.Context, c *console, tenant string, l quota.Limits) error {
	answer, err := c.shard.ask(ctx, http.MethodPut, "tenants/"+tenant+"/quota", l)
	if err != nil {
		return err
	}
	var said struct {
		Quota  quota.Limits
		Unsent []string
	}
	if err := decode(answer, &said); err != nil {
		return err
	}
	return c.show(answer, func(t *table) {
		limitRows(t, said.Quota)
		for _, node := range said.Unsent {
			t.line("node %s has not taken it yet", node)
		}
	})
}

func getQuota(ctx context.Context, c *console, operands []string) error {
	var l quota.Limits
	body, err := c.shard.get(ctx, "tenants/"+operands[0]+"/quota", &l)
	if err != nil {
		return err
	}
	return c.show(body, func(t *table) { limitRows(t, l) })
}

// listUnsent shows the limits that nodes may not have yet.
func listUnsent(ctx context.Context, c *console, _ []string) error {
	var list []struct {
		Tenant, Node string
		Quota        quota.Limits
	}
	body, err := c.shard.get(ctx, "unsent", &list)
	if err != nil {
		return err
	}
	return c.show(body, func(t *table) {
		if len(list) == 0 {
			t.line("all nodes have the limits of their tenants")
			return
		}
		t.row("TENANT", "NODE", "LIMITS")
		for _, e := range list {
			t.row(e.Tenant, e.Node, limitText(e.Quota))
		}
	})
}

// limitText returns the limits that are set as one cell.
func limitText(l quota.Limits) string {
	var set []string
	for _, b := range bounds {
		if n := *b.of(&l); n > 0 {
			set = append(set, b.key+"="+b.text(n))
		}
	}
	return cmp.Or(strings.Join(set, ", "), "none")
}

// limitRows writes the limits that are set.
func limitRows(t *table, l quota.Limits) {
	if l == (quota.Limits{}) {
		t.line("no limits")
		return
	}
	t.row("LIMIT", "IS")
	for _, b := range bounds {
		if n := *b.of(&l); n > 0 {
			t.row(b.key, b.text(n))
		}
	}
}

// usageAnswer is what a tenant holds.
type usageAnswer struct {
	Bytes, Rows, Streams, Requests, Disk int64
	Quota                                quota.Limits
}

func showUsage(ctx context.Context, c *console, operands []string) error {
	var u usageAnswer
	body, err := c.shard.get(ctx, "tenants/"+operands[0]+"/usage", &u)
	if err != nil {
		return err
	}
	return c.show(body, u.rows)
}

// rows writes what is used of each limit, of those that are set for a rate, and the
// bytes on disk, which none bounds.
func (u usageAnswer) rows(t *table) {
	used := map[string]int64{
		quota.KeyBytes: u.Bytes, quota.KeyRows: u.Rows, quota.KeyStreams: u.Streams, quota.KeyRequests: u.Requests,
	}
	t.row("WHAT", "USED", "LIMIT", "OF IT")
	for _, b := range bounds {
		n, counted := used[b.key]
		most := *b.of(&u.Quota)
		switch {
		case counted:
			t.row(b.key, b.text(n), limit(most, b.text), share(n, most))
		case most > 0:
			t.row(b.key, "", b.text(most), "")
		}
	}
	t.row("disk", size(u.Disk), "", "")
}

// share returns how much of a limit is used, in percent.
func share(n, most int64) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*float64(n)/float64(most))
}
