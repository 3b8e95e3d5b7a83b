package main

import (
	"context"
	"flag"
	"net/http"
	"os"
	"strings"

	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/router"
)

// replicationFlag is the line of the help on the token between routers.
const replicationFlag = "--replication-token <t>  the one between routers; also FENEC_REPLICATION_TOKEN"

// declareReplicationKey adds the flag of the token between routers.
func declareReplicationKey(fs *flag.FlagSet) *key {
	k := &key{router.NewToken(os.Getenv("FENEC_REPLICATION_TOKEN")), "--replication-token or FENEC_REPLICATION_TOKEN"}
	fs.Func("replication-token", "", func(s string) error {
		k.token = router.NewToken(s)
		return nil
	})
	return k
}

// withReplicationKey declares a command that goes by the token between routers.
func withReplicationKey(run func(ctx context.Context, c *console, k key) error) func(*flag.FlagSet) action {
	return func(fs *flag.FlagSet) action {
		k := declareReplicationKey(fs)
		return func(ctx context.Context, c *console, _ []string) error {
			if k.token.IsZero() {
				return misuse("--replication-token is missing")
			}
			return run(ctx, c, *k)
		}
	}
}

func showReplication(ctx context.Context, c *console, k key) error {
	body, err := c.shard.send(ctx, k, http.MethodGet, "_replication/status", nil)
	if err != nil {
		return err
	}
	var s mirror.Status
	if err := decode(body, &s); err != nil {
		return err
	}
	return c.show(body, func(t *table) {
		if s.ReplicaStatus == nil {
			t.line("the router takes changes")
		} else {
			replicaLines(t, s)
		}
		t.line("its directory is at change %s, in history %v", number(int64(s.Seq)), s.History)
		if s.Feeding != nil {
			peerRows(t, s.Replicas)
		}
	})
}

// replicaLines tells of a router that follows another one.
func replicaLines(t *table, s mirror.Status) {
	t.line("the router follows %s", s.Primary)
	switch {
	case s.Connected:
		t.line("connected, last heard of %s ago, %s behind", ago(s.LastContactMs), count(int(s.Behind), "change"))
	case s.LastContactMs < 0:
		t.line("NOT connected, never heard of")
	default:
		t.line("NOT connected, last heard of %s ago, %s behind by then", ago(s.LastContactMs), count(int(s.Behind), "change"))
	}
	if s.Incomplete {
		t.line("it has never had the whole directory, and cannot be promoted")
	}
	if s.Error != "" && !s.Connected {
		t.line("the last error: %s", s.Error)
	}
}

func ago(ms int64) string { return took(float64(ms) / 1000) }

// peerRows lists the routers that follow.
func peerRows(t *table, peers []mirror.Peer) {
	if len(peers) == 0 {
		t.line("no router follows it")
		return
	}
	t.row("FOLLOWED BY", "SENT", "ON ITS DISK", "LATE")
	for _, p := range peers {
		t.row(p.Peer, number(int64(p.Sent)), limit(int64(p.Held), number), late(p))
	}
}

// late tells why nothing waits for a router that follows, "" if it keeps up.
func late(p mirror.Peer) string {
	var why []string
	if p.Image {
		why = append(why, "takes an image")
	}
	if p.Lags {
		why = append(why, "lags")
	}
	return strings.Join(why, ", ")
}

func declarePromote(fs *flag.FlagSet) action {
	force := fs.Bool("force", false, "")
	return withReplicationKey(func(ctx context.Context, c *console, k key) error {
		return promoteRouter(ctx, c, k, *force)
	})(fs)
}

func promoteRouter(ctx context.Context, c *console, k key, force bool) error {
	path := "_replication/promote"
	if force {
		path += "?force=1"
	}
	body, err := c.shard.send(ctx, k, http.MethodPost, path, nil)
	if err != nil {
		return err
	}
	var done struct{ Seq int64 }
	if err := decode(body, &done); err != nil {
		return err
	}
	return c.show(body, func(t *table) {
		t.line("the router at %s takes changes, from change %s on", c.shard.base.Host, number(done.Seq))
	})
}
