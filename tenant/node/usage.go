package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// Usage is what a tenant holds and has open at the moment, and its limits.
type Usage struct {
	Bytes    int64        `json:"bytes"`    // live, as quota counts them
	Rows     int64        `json:"rows"`     // as quota counts them
	Streams  int64        `json:"streams"`  // subscriptions since its limits were set; 0 without any
	Requests int64        `json:"requests"` // being answered, likewise
	Disk     int64        `json:"disk"`     // bytes of its files
	Quota    quota.Limits `json:"quota"`
}

// Usage returns what a tenant holds and has open. It is not opened for it, but once if it
// has just come.
func (n *Node) Usage(ctx context.Context, name string) (Usage, error) {
	sizes, err := n.tenants.Sizes()
	if err != nil {
		return Usage{}, err
	}
	disk, ok := sizes[name]
	if !ok {
		return Usage{}, fmt.Errorf("tenant %q: %w", name, tenant.ErrNotFound)
	}
	held, err := n.meter.holding(ctx, name)
	if err != nil {
		return Usage{}, err
	}
	limits, err := n.Limits(ctx, name)
	if err != nil {
		return Usage{}, err
	}
	_, q := n.open.of(name)
	requests, streams := q.Open()
	return Usage{held.Bytes, held.Rows, streams, requests, disk, limits}, nil
}

// usage answers GET /_admin/tenants/<t>/usage.
func (n *Node) usage(r *http.Request, name string) serve.Answer {
	u, err := n.Usage(r.Context(), name)
	return answer(http.StatusOK, u, err)
}

// report answers GET /_admin/usage: what tenants used since a moment, all of them or
// the costliest.
func (n *Node) report(r *http.Request) serve.Answer {
	since, top, err := reportOf(r.URL.Query())
	if err != nil {
		return serve.Fail(http.StatusBadRequest, err.Error())
	}
	if err := n.meter.flush(r.Context()); err != nil {
		return failure(err)
	}
	rep, err := n.meter.totals.Report(r.Context(), since)
	if err != nil {
		return failure(err)
	}
	if top > 0 {
		rep.Tenants = rep.Top(top)
	}
	return jsonAnswer(http.StatusOK, rep)
}

// reportOf reads the query of a report: since, in milliseconds since 1970 or as a date, by
// default a day ago, and top, how many tenants.
func reportOf(q url.Values) (since time.Time, top int, err error) {
	since = time.Now().Add(-24 * time.Hour)
	if text := q.Get("since"); text != "" {
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
			since = time.UnixMilli(ms)
		} else if since, err = time.Parse(time.RFC3339, text); err != nil {
			return since, 0, errors.New("since is a time as 2026-03-01T09:00:00Z, or milliseconds since 1970")
		}
	}
	if text := q.Get("top"); text != "" {
		if top, err = strconv.Atoi(text); err != nil || top < 1 {
			return since, 0, errors.New("top is a number of tenants")
		}
	}
	return since, top, nil
}
