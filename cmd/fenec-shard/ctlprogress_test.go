package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lines returns what was shown, one line for each time, the last being empty.
func lines(shown *bytes.Buffer) []string {
	return strings.Split(shown.String(), wipe)[1:]
}

func TestMoveIsWatched(t *testing.T) {
	looks, looked := 0, make(chan struct{})
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			<-looked
			io.WriteString(w, `{"tenant":"acme","from":"n1","to":"n2","bytes":2000000,"ms":100,"source_removed":true}`)
			return
		}
		switch looks++; looks {
		case 1:
			io.WriteString(w, `[{"name":"abc","node":"n1"},{"name":"acme","node":"n1","state":"active","bytes":2000000}]`)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			io.WriteString(w, `[{"name":"acme","node":"n1","state":"moving","to":"n2"}]`)
		}
	}))
	defer router.Close()
	var stdout, shown bytes.Buffer
	got := runOn(t, router.URL, "move acme n2", &stdout, console{
		out: &stdout, progress: &progress{w: &shown},
		pause: func(ctx context.Context, d time.Duration) error {
			require.Equal(t, lookEvery, d)
			if looks < 3 {
				return nil
			}
			close(looked)
			<-ctx.Done() // which ends with the move
			return ctx.Err()
		},
	})
	require.Equal(t, said{0, "acme moved from n1 to n2: 2.00 MB in 100 ms, 20.0 MB/s\n", ""}, got)
	require.Equal(t, []string{"acme  on n1, active  2.00 MB  0s", "acme  on n1, moving to n2    0s", ""}, lines(&shown))
}

func TestDrainIsWatched(t *testing.T) {
	f := newFakeShard(t,
		exchanged{"POST /_shard/nodes/n1/drain", 202, `{"node":"n1","left":4}`},
		exchanged{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":3,"moving":2}`},
		exchanged{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":1,"moving":0,"failed":[{"tenant":"a"}]}`},
		exchanged{"GET /_shard/nodes/n1/drain", 0, `{"node":"n1","left":0}`},
	)
	var stdout, shown bytes.Buffer
	got := runOn(t, f.URL, "drain n1", &stdout, console{out: &stdout, progress: &progress{w: &shown}})
	require.Equal(t, 0, got.code)
	require.Equal(t, []string{
		"[######..................] 1 of 4 tenants moved off, 2 moving, 0 failed",
		"[##################......] 3 of 4 tenants moved off, 0 moving, 1 failed",
		"",
	}, lines(&shown))
}

func TestRebalanceIsWatched(t *testing.T) {
	f := newFakeShard(t,
		exchanged{`POST /_shard/rebalance {"dry_run":false}`, 202, `{"moves":[{"tenant":"a"}]}`},
		exchanged{"GET /_shard/rebalance", 0, `{"planned":1,"running":1,"done":0}`},
		exchanged{"GET /_shard/rebalance", 0, `{"planned":1,"running":0,"done":1}`},
	)
	var stdout, shown bytes.Buffer
	got := runOn(t, f.URL, "rebalance --run", &stdout, console{out: &stdout, progress: &progress{w: &shown}})
	require.Equal(t, said{0, "1 of 1 move made\n", ""}, got)
	require.Equal(t, []string{"[........................] 0 of 1 move, 1 running", ""}, lines(&shown))
}

func TestBar(t *testing.T) {
	for _, tc := range []struct {
		done, whole, full int
	}{{0, 3, 0}, {1, 3, 8}, {3, 3, 24}, {5, 3, 24}, {-1, 3, 0}, {0, 0, 24}} {
		require.Equal(t, tc.full, strings.Count(bar(tc.done, tc.whole), "#"), "%d of %d", tc.done, tc.whole)
		require.Len(t, bar(tc.done, tc.whole), barWidth+2)
	}
}

func TestOnlyTerminalsAreWatched(t *testing.T) {
	require.False(t, isTerminal(new(bytes.Buffer)))
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.False(t, isTerminal(w))
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	require.True(t, isTerminal(null), "a character device, as a terminal is one")
}
