package router

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// followed is a directory, and another one that follows it without anything between the
// two: a test makes the changes come.
type followed struct {
	t       testing.TB
	primary *Directory
	db      *fenec.DB // of the one that follows
	catcher *catcher
	left    []string // addresses that were told of
}

// newFollowed opens both. The one that follows keeps that many changes, 0 for many.
func newFollowed(t testing.TB, history int) *followed {
	primary, err := OpenDirectoryWith(filepath.Join(t.TempDir(), "p.fenec"), DirectoryOptions{Feed: 256 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, primary.Close()) })
	f := &followed{t: t, primary: primary}
	f.db, err = fenec.Open(filepath.Join(t.TempDir(), "f.fenec"), fenec.Options{Sync: fenec.SyncOff, HistoryEntries: history})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.db.Close()) })
	require.NoError(t, f.db.Follow(context.Background()))
	d, err := directoryOf(newContents())
	require.NoError(t, err)
	f.catcher = &catcher{directory: d, logf: t.Logf, left: func(addr string) { f.left = append(f.left, addr) }}
	return f
}

// come applies what is new, without the maps.
func (f *followed) come() {
	f.t.Helper()
	ctx := context.Background()
	require.NoError(f.t, f.primary.file.use(func(db *fenec.DB) error {
		for {
			blocks, err := db.FeedBlocks(ctx, f.db.LastWrite(), 1<<20)
			if err != nil || len(blocks) == 0 {
				return err
			}
			for _, b := range blocks {
				if _, err := f.db.Apply(ctx, b.Record, []int64{b.At}); err != nil {
					return err
				}
			}
		}
	}))
}

// follow applies what is new and brings the maps up to it.
func (f *followed) follow() {
	f.t.Helper()
	f.come()
	f.catcher.catchUp(f.db)
	require.Empty(f.t, f.catcher.said)
}

// known is all that a directory knows.
type known struct {
	Nodes   []Node
	Attrs   map[string]Attrs
	Placed  map[string]int
	Tenants []Tenant
	Copies  map[string]string
	Quotas  map[string]quota.Limits
	Strays  []Stray
	Pairs   pairs
}

func knownBy(d *Directory) known {
	k := known{Nodes: d.Nodes(), Attrs: map[string]Attrs{}, Placed: map[string]int{}, Tenants: d.Tenants(),
		Copies: map[string]string{}, Quotas: map[string]quota.Limits{}, Strays: d.Strays(), Pairs: maps.Clone(*d.pairs.Load())}
	for _, n := range k.Nodes {
		k.Attrs[n.Name], k.Placed[n.Name] = d.Attrs(n.Name), d.Placed(n.Name)
	}
	d.tenants.each(func(name string, p *place) {
		for _, s := range p.spares {
			k.Copies[name] += fmt.Sprintf("%s %s;", s.on.name(), s.state)
		}
	})
	d.quotas.each(func(name string, l quota.Limits) { k.Quotas[name] = l })
	slices.SortFunc(k.Strays, func(a, b Stray) int { return slices.Compare([]string{a.Tenant, a.Node}, []string{b.Tenant, b.Node}) })
	return k
}

func (f *followed) requireEqual() {
	f.t.Helper()
	require.Equal(f.t, knownBy(f.primary), knownBy(f.catcher.directory))
	for _, at := range f.primary.Tenants() {
		p, _ := f.catcher.directory.tenants.get(at.Name)
		on, _ := f.catcher.directory.nodes.get(at.Node)
		require.Same(f.t, on, p.on)
	}
}

// TestMapsFollow makes changes of all kinds, and compares the maps that follow with the
// primary's after some of them.
func TestMapsFollow(t *testing.T) {
	for _, history := range []int{0, 8} {
		t.Run(fmt.Sprintf("history=%d", history), func(t *testing.T) {
			f := newFollowed(t, history)
			f.follow()
			whole := f.catcher.wholes.Load()
			random := rand.New(rand.NewPCG(7, uint64(history)))
			for i := range 1500 {
				change(f.primary, random)
				if random.IntN(8) == 0 {
					f.follow()
					f.requireEqual()
				}
				if i == 700 {
					_, err := f.primary.file.exec("create index on nodes (addr) @hash")
					require.NoError(t, err)
				}
			}
			f.follow()
			f.requireEqual()
			if history == 0 {
				require.Equal(t, whole+1, f.catcher.wholes.Load(), "for the schema alone")
			} else {
				require.Greater(t, f.catcher.wholes.Load(), whole+10)
			}
		})
	}
}

func (f *directoryFile) exec(statement string) (n int, err error) {
	err = f.use(func(db *fenec.DB) error {
		n, err = db.Exec(context.Background(), statement)
		return err
	})
	return n, err
}

// change makes a change, or is refused.
func change(d *Directory, random *rand.Rand) {
	name := fmt.Sprintf("t%d", random.IntN(12))
	number := random.IntN(5)
	node := fmt.Sprintf("n%d", number)
	n, _ := d.Node(node)
	other, _ := d.Node(fmt.Sprintf("n%d", random.IntN(5)))
	switch random.IntN(14) {
	case 0:
		_ = d.PutNode(Node{node, fmt.Sprintf("h%d:%d", number, 1+random.IntN(3)), NewToken("x")})
	case 1:
		if random.IntN(4) == 0 {
			_ = d.DeleteNode(node)
		}
	case 2:
		_ = d.SetAttrs(node, Attrs{MaxTenants: random.IntN(9), Labels: map[string]string{"a": "b"}, Draining: random.IntN(2) == 0})
	case 3, 4:
		_ = d.placeAs(name, n, tenant.Active, quota.Limits{Rows: int64(random.IntN(2))})
	case 5:
		_ = d.Forget(name)
	case 6:
		_ = d.SetStatus(name, []tenant.Status{tenant.Active, tenant.Degraded, tenant.Provisioning}[random.IntN(3)])
	case 7:
		_ = d.notice(name, random.IntN(2) == 0)
	case 8:
		_ = d.SetQuota(name, quota.Limits{Rows: int64(random.IntN(3))})
	case 9:
		if at, ok := d.Tenant(name); ok && at.Node != node {
			_ = d.beginMove(name, node)
			_ = d.frozenAt(name, 7)
		}
	case 10:
		_ = d.flip(name, n, uint64(random.IntN(9)))
	case 11:
		_ = d.abandon(Stray{Tenant: name, Node: node, Seq: 3})
	case 12:
		_ = d.setPair(node, other.Name)
	case 13:
		_ = d.updateIf(name, func(p *place) error {
			if on, ok := d.nodes.get(node); !ok || on == p.on {
				return errDecided
			}
			return nil
		}, func(p *place) {
			on, _ := d.nodes.get(node)
			p.setSpare(on, []spareState{spareFollows, spareWanted, spareLeft, ""}[random.IntN(4)])
		}, nil)
	}
}

// D7, with a history that does not go back far enough, and D8.
func TestFollowedNodes(t *testing.T) {
	f := newFollowed(t, 8)
	n := Node{"n1", "a:1", NewToken("x")}
	require.NoError(t, f.primary.PutNode(n))
	require.NoError(t, f.primary.PutNode(Node{"n2", "b:1", NewToken("x")}))
	f.follow()
	for i := range 50 {
		require.NoError(t, f.primary.Place(fmt.Sprint("t", i), n))
	}
	before := f.catcher.wholes.Load()
	f.follow()
	f.requireEqual()
	require.Equal(t, before+1, f.catcher.wholes.Load())
	require.Empty(t, f.left)

	require.NoError(t, f.primary.SetAttrs("n2", Attrs{MaxTenants: 7}))
	f.follow()
	require.NoError(t, f.primary.DeleteNode("n2"))
	require.NoError(t, f.primary.PutNode(Node{"n2", "b:1", NewToken("x")}))
	f.follow()
	f.requireEqual()
	require.NoError(t, f.primary.DeleteNode("n2"))
	f.follow()
	require.Equal(t, []string{"b:1"}, f.left)
	require.NoError(t, f.primary.PutNode(Node{"n1", "a:2", NewToken("x")}))
	f.follow()
	f.requireEqual()
	require.Equal(t, []string{"b:1", "a:1"}, f.left)
	at, ok := f.catcher.directory.Lookup([]byte("t7"))
	require.True(t, ok)
	require.Equal(t, "a:2", at.Addr)
}

// What cannot be read leaves the maps as they are until it can be again.
func TestUnreadableChanges(t *testing.T) {
	f := newFollowed(t, 0)
	threeNodesOf(t, f.primary, "a", "b")
	f.follow()
	_, err := f.primary.file.exec(`set marks {phase: "of a later time"} where tenant = "a"`)
	require.NoError(t, err)
	f.come()
	f.catcher.catchUp(f.db)
	require.Contains(t, f.catcher.said, "of a later time")
	require.Len(t, f.catcher.directory.Tenants(), 2)
	require.NoError(t, f.primary.Forget("b"))
	f.come()
	f.catcher.catchUp(f.db)
	require.Len(t, f.catcher.directory.Tenants(), 2)
	require.NoError(t, f.primary.SetStatus("a", tenant.Degraded))
	f.follow()
	f.requireEqual()
}

func threeNodesOf(t testing.TB, d *Directory, tenants ...string) {
	for i := range 3 {
		require.NoError(t, d.PutNode(Node{fmt.Sprint("n", i+1), fmt.Sprintf("a:%d", i+1), NewToken("x")}))
	}
	n, _ := d.Node("n1")
	for _, name := range tenants {
		require.NoError(t, d.Place(name, n))
	}
}
