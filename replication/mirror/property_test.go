package mirror

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// life is a primary and its replicas, to which things happen.
type life struct {
	t       *testing.T
	rnd     *rand.Rand
	primary *place
	others  []*place
	done    []string
}

// Whatever happens to a primary and its replicas, in the end they hold the same.
func TestCopiesEndUpTheSame(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			small := with(func(o *fenec.Options) { o.FeedBytes = 40_000 })
			l := &life{t: t, rnd: rand.New(rand.NewPCG(seed, 5)), primary: newPrimary(t, small)}
			for range 2 {
				l.others = append(l.others, newReplica(t, small))
			}
			for _, p := range l.others {
				p.follow(l.primary)
			}
			for range 40 {
				l.happen()
			}
			l.settle()
		})
	}
}

func (l *life) settle() {
	l.primary.dial.part(false)
	for _, p := range l.others {
		p.caughtUp(l.primary)
		requireSame(l.t, l.primary, p)
		if p.replica.Load().Status().Diverged != 0 {
			require.Fail(l.t, "a copy differed", "%v\n%s", l.done, p.log)
		}
	}
}

// happen makes one thing happen.
func (l *life) happen() {
	p := l.others[l.rnd.IntN(len(l.others))]
	what := []func(*place){
		l.write, l.write, l.write, l.write, l.write, l.write, l.schema, l.cut, l.part, l.killReplica, l.killPrimary,
		l.checkpoint, l.promote, l.restore, l.follow,
	}
	what[l.rnd.IntN(len(what))](p)
}

func (l *life) did(what string) { l.done = append(l.done, what) }

func (l *life) write(*place) {
	l.primary.use(func(db *fenec.DB) {
		if !slices.Contains(db.Collections(), "notes") { // promoted before it came
			_, err := db.Exec(context.Background(), `create collection notes (title text @hash, n int)`)
			require.NoError(l.t, err)
		}
	})
	for range 1 + l.rnd.IntN(8) {
		n := l.rnd.IntN(30)
		switch l.rnd.IntN(4) {
		case 0:
			l.primary.exec(`put notes [{n: $1}, {n: $1, title: 'two'}, {n: $1}]`, n)
		case 1:
			l.primary.exec(`set notes {title: 'changed'} where n = $1`, n)
		case 2:
			l.primary.exec(`del notes where n = $1`, n)
		case 3:
			l.primary.exec(`put notes {n: $1, title: $2}`, n, fmt.Sprintf("%0500d", n))
		}
	}
	l.did("write")
}

func (l *life) schema(*place) {
	name := fmt.Sprintf("c%d", l.rnd.IntN(3))
	l.primary.use(func(db *fenec.DB) {
		// Whether it is there or not does not matter.
		if _, err := db.Exec(context.Background(), "create collection "+name+" (x int @sorted)"); err != nil {
			_, _ = db.Exec(context.Background(), "drop collection "+name)
		} else {
			_, err = db.Exec(context.Background(), "put "+name+" {x: 1}")
			require.NoError(l.t, err)
		}
	})
	l.did("schema")
}

func (l *life) cut(*place) { l.primary.dial.cut(); l.did("cut") }

func (l *life) part(*place) {
	l.primary.dial.part(l.rnd.IntN(3) == 0)
	l.did("part")
}

func (l *life) killReplica(p *place) {
	p.kill()
	p.follow(l.primary)
	l.did("kill a replica")
}

func (l *life) killPrimary(*place) { l.primary.kill(); l.did("kill the primary") }

func (l *life) checkpoint(p *place) {
	p.use(func(db *fenec.DB) { require.NoError(l.t, db.Checkpoint(context.Background())) })
	l.primary.use(func(db *fenec.DB) { require.NoError(l.t, db.Checkpoint(context.Background())) })
	l.did("checkpoint")
}

// promote makes a replica the primary of all others, wherever it stands; the old primary
// may write a little more before it follows.
func (l *life) promote(p *place) {
	old := l.primary
	p.promote()
	if l.rnd.IntN(2) == 0 {
		l.write(p)
	}
	l.primary = p
	l.write(p)
	for i, other := range l.others {
		other.unfollow()
		if other == p {
			l.others[i] = old
		}
	}
	for _, other := range l.others {
		other.follow(p)
	}
	l.did("promote")
}

// restore puts the primary back to a moment ago.
func (l *life) restore(p *place) {
	dir := copied(l.t, l.primary)
	l.write(p)
	l.primary.dial.cut()
	require.NoError(l.t, l.primary.single.Close())
	l.primary.dir = dir
	l.primary.open()
	l.did("restore")
}

// follow makes a replica follow anew.
func (l *life) follow(p *place) {
	p.unfollow()
	p.follow(l.primary)
	l.did("follow")
}
