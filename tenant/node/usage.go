package node

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// usage answers GET /_admin/tenants/<t>/usage: what the tenant holds and has open, and
// its limits.
func (n *Node) usage(r *http.Request, name string) serve.Answer {
	ctx := r.Context()
	sizes, err := n.tenants.Sizes()
	if err != nil {
		return failure(err)
	}
	disk, ok := sizes[name]
	if !ok {
		return failure(tenant.ErrNotFound)
	}
	held, err := n.meter.holding(ctx, name)
	if err != nil {
		return failure(err)
	}
	limits, err := read(n.tenants, name)
	if err != nil {
		return failure(err)
	}
	_, q := n.open.of(name)
	requests, streams := q.Open()
	return jsonAnswer(http.StatusOK, struct {
		Bytes    int64        `json:"bytes"`
		Rows     int64        `json:"rows"`
		Streams  int64        `json:"streams"`
		Requests int64        `json:"requests"`
		Disk     int64        `json:"disk"`
		Quota    quota.Limits `json:"quota"`
	}{held.Bytes, held.Rows, streams, requests, disk, limits})
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
