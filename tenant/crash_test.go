package tenant_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// crashJob is the environment variable that makes TestCrashChild do something: the
// change, the step to be killed at, and the directory.
const crashJob = "FENEC_TENANT_CRASH_JOB"

// crashChange is a change to the directory that may be cut short.
type crashChange struct {
	name string
	do   func(ctx context.Context, m *tenant.Manager) error
}

// crashChanges begin with acme and ill, which are open and hold rows that are in their
// logs only, gone in the trash, degraded, and stale files under the names fresh and beta.
var crashChanges = []crashChange{
	{"create", func(ctx context.Context, m *tenant.Manager) error { return m.Create(ctx, "fresh") }},
	{"provision", func(ctx context.Context, m *tenant.Manager) error {
		return m.Provision(ctx, "fresh", func(ctx context.Context, h *tenant.Handle) error { return sign(ctx, h, "fresh") })
	}},
	{"delete", func(ctx context.Context, m *tenant.Manager) error { return m.Delete(ctx, "acme") }},
	{"delete degraded", func(ctx context.Context, m *tenant.Manager) error { return m.Delete(ctx, "ill") }},
	{"delete for good", func(ctx context.Context, m *tenant.Manager) error { return m.DeleteNow(ctx, "acme") }},
	{"undelete", func(ctx context.Context, m *tenant.Manager) error { return m.Undelete(ctx, "gone") }},
	{"purge", func(ctx context.Context, m *tenant.Manager) error { return m.Purge(ctx, "gone") }},
	{"rename", func(ctx context.Context, m *tenant.Manager) error { return m.Rename(ctx, "acme", "beta") }},
	{"rename degraded", func(ctx context.Context, m *tenant.Manager) error { return m.Rename(ctx, "ill", "beta") }},
	{"import", func(ctx context.Context, m *tenant.Manager) error {
		var image bytes.Buffer
		if err := m.Export(ctx, "acme", &image); err != nil {
			return err
		}
		return m.Import(ctx, "fresh", &image, int64(image.Len()))
	}},
	{"quota", func(ctx context.Context, m *tenant.Manager) error {
		return m.WriteBeside(ctx, "acme", tenant.QuotaFile, []byte("new quota"))
	}},
	{"status", func(ctx context.Context, m *tenant.Manager) error { return m.SetStatus(ctx, "acme", tenant.Degraded) }},
}

// sign writes a row that names its tenant.
func sign(ctx context.Context, h *tenant.Handle, who string) error {
	_, err := h.Batch(ctx, []fenec.Statement{
		{Text: "create collection rows (who text)"}, {Text: "put rows {who: $1}", Args: []any{who}},
	})
	return err
}

var crashOptions = tenant.Options{DB: fenec.Options{Sync: fenec.SyncAlways}}

// prepareCrash makes the directory that changes begin with.
func prepareCrash(dir string) error {
	ctx := context.Background()
	m, err := tenant.Open(dir, crashOptions)
	if err != nil {
		return err
	}
	errs := []error{}
	for _, name := range []string{"acme", "ill", "gone"} {
		errs = append(errs, m.Create(ctx, name), m.WriteBeside(ctx, name, tenant.QuotaFile, []byte("quota of "+name)))
	}
	id, err := m.Lookup(ctx, "gone")
	errs = append(errs, err, m.Do(ctx, id, func(ctx context.Context, h *tenant.Handle) error { return sign(ctx, h, "gone") }))
	errs = append(errs, m.SetStatus(ctx, "gone", tenant.Degraded), m.Delete(ctx, "gone"), m.Close())
	for _, name := range []string{"fresh", "beta"} {
		for _, ending := range []string{".quota", ".follows", ".fenec-log", ".fenec-log.old"} {
			errs = append(errs, os.WriteFile(filepath.Join(dir, name+ending), []byte("stale"), 0o600))
		}
	}
	return errors.Join(errs...)
}

// changeCrash writes to what is there and makes the change.
func changeCrash(dir string, do func(context.Context, *tenant.Manager) error, step func(string)) error {
	ctx := context.Background()
	m, err := tenant.Open(dir, crashOptions.WithStep(step))
	if err != nil {
		return err
	}
	for _, name := range []string{"acme", "ill"} {
		h, err := m.Acquire(ctx, name)
		if err != nil {
			return err
		}
		err = sign(ctx, h, name)
		h.Release()
		if err != nil {
			return err
		}
	}
	if err := m.SetStatus(ctx, "ill", tenant.Degraded); err != nil {
		return err
	}
	step("begin")
	return errors.Join(do(ctx, m), m.Close())
}

// TestCrashChild is no test: it is the process that TestCrash starts.
func TestCrashChild(t *testing.T) {
	job := strings.Split(os.Getenv(crashJob), "|")
	if len(job) != 3 {
		t.Skip("only TestCrash runs this, in a process of its own")
	}
	at := slices.IndexFunc(crashChanges, func(c crashChange) bool { return c.name == job[0] })
	nth, begun := 0, false
	require.NoError(t, changeCrash(job[2], crashChanges[at].do, func(step string) {
		begun = begun || step == "begin"
		if !begun {
			return
		}
		if nth++; job[1] == fmt.Sprint(nth) {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			panic(fmt.Sprint("still alive: ", err))
		}
	}))
}

// TestCrash kills a process at every step of every change. Afterwards the change is
// there wholly or not at all.
func TestCrash(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	for _, c := range crashChanges {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := crashWorld(t, func(context.Context, *tenant.Manager) error { return nil }, nil)
			var steps []string
			after := crashWorld(t, c.do, func(step string) { steps = append(steps, step) })
			require.NotEqual(t, before, after)
			steps = steps[slices.Index(steps, "begin"):]
			for i, step := range steps {
				dir := t.TempDir()
				require.NoError(t, prepareCrash(dir))
				child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
				child.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%s", crashJob, c.name, i+1, dir))
				out, err := child.CombinedOutput()
				require.Error(t, err, "%s: %s", step, out)
				require.Contains(t, err.Error(), "killed", "%s: %s", step, out)
				world := describeCrash(t, dir)
				if c.name == "provision" && world["fresh"].status == tenant.Provisioning.String() {
					continue // as it says: it is left as it is
				}
				require.Contains(t, []map[string]crashTenant{before, after}, world, "killed at %q, step %d of %q", step, i, steps)
			}
		})
	}
}

// crashWorld is what a change makes of the directory when nothing cuts it short.
func crashWorld(t *testing.T, do func(context.Context, *tenant.Manager) error, step func(string)) map[string]crashTenant {
	dir := t.TempDir()
	require.NoError(t, prepareCrash(dir))
	if step == nil {
		step = func(string) {}
	}
	require.NoError(t, changeCrash(dir, do, step))
	return describeCrash(t, dir)
}

// crashTenant is what can be seen of a name.
type crashTenant struct {
	live, deleted bool
	rows          string
	quota         string
	status        string
}

// describeCrash opens a directory and tells what is there, and makes sure that
// nothing of a former owner is found under a name that is free.
func describeCrash(t *testing.T, dir string) map[string]crashTenant {
	m, err := tenant.Open(dir, crashOptions)
	require.NoError(t, err)
	defer m.Close()
	trash, err := m.Trash()
	require.NoError(t, err)
	live, err := m.List()
	require.NoError(t, err)
	world := map[string]crashTenant{}
	for _, name := range []string{"acme", "ill", "gone", "fresh", "beta"} {
		c := crashTenant{
			live:    slices.Contains(live, name),
			deleted: slices.ContainsFunc(trash, func(d tenant.Deleted) bool { return d.Name == name }),
		}
		require.False(t, c.live && c.deleted, name)
		if c.deleted {
			require.NoError(t, m.Undelete(t.Context(), name))
		}
		if !c.live && !c.deleted {
			require.NoError(t, m.Create(t.Context(), name))
		}
		c.look(t, m, name)
		if !c.live && !c.deleted {
			require.Equal(t, crashTenant{status: "active"}, c, name)
		}
		world[name] = c
	}
	for _, file := range files(t, dir) {
		require.NotContains(t, file, "partial")
		require.NotContains(t, file, "importing")
		require.NotContains(t, file, "foreign", "a log met another tenant's base")
	}
	return world
}

func (c *crashTenant) look(t *testing.T, m *tenant.Manager, name string) {
	status, err := m.Status(t.Context(), name)
	require.NoError(t, err)
	c.status = status.String()
	require.NoError(t, m.SetStatus(t.Context(), name, tenant.Active))
	quota, err := m.ReadBeside(name, tenant.QuotaFile)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	c.quota = string(quota)
	h, err := m.Acquire(t.Context(), name)
	require.NoError(t, err)
	defer h.Release()
	if len(h.Collections()) > 0 {
		res, err := h.Query(t.Context(), "get rows")
		require.NoError(t, err)
		text, err := res.AppendJSON(nil)
		require.NoError(t, err)
		c.rows = string(text)
	}
}
