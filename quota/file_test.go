package quota

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "acme.quota")
	load := func() Limits {
		l, err := Load(path)
		require.NoError(t, err)
		return l
	}
	require.Zero(t, load())
	require.NoError(t, Save(path, Limits{Rows: 3}))
	require.Equal(t, Limits{Rows: 3}, load())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, `{"rows":3}`, string(text))

	// What a crash left behind means nothing.
	require.NoError(t, os.WriteFile(path+writing, []byte(strings.Repeat("x", 100)), 0o600))
	require.Equal(t, Limits{Rows: 3}, load())
	require.NoError(t, Save(path, Limits{Bytes: 7}))
	require.Equal(t, Limits{Bytes: 7}, load())
	require.NoFileExists(t, path+writing)

	require.NoError(t, Save(path, Limits{}))
	require.NoFileExists(t, path)
	require.Zero(t, load())
	require.NoError(t, Save(path, Limits{}))
	require.NoError(t, Save(path, Limits{Rows: 1}))
	require.NoError(t, Remove(path))
	require.NoError(t, Remove(path))
	require.Zero(t, load())
	require.ErrorIs(t, Save(filepath.Join(dir, "none", "acme.quota"), Limits{Rows: 1}), fs.ErrNotExist)
}

func TestLoadOfADamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acme.quota")
	for _, text := range []string{"", "{", `{"rows":-1}`, `{"rowz":1}`, "\x00\x00\x00", strings.Repeat("x", 1<<20)} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Load(path)
		require.ErrorIs(t, err, fenec.ErrCorrupt)
		require.ErrorContains(t, err, path)
	}
	_, err := Load(filepath.Dir(path))
	require.ErrorContains(t, err, "quota: ")
}

// crashFS are files in memory that know what a crash would leave of them: the
// content as of the last sync, and the names as of the last sync of the directory
// or, as may also happen, those of the moment.
type crashFS struct {
	names, synced map[string]*crashFile // by path; synced are those that survive
	steps         int                   // before all fail
}

type crashFile struct {
	fs              *crashFS
	content, synced string
}

var errCrash = errors.New("crashed")

func (c *crashFS) step() error {
	if c.steps == 0 {
		return errCrash
	}
	c.steps--
	return nil
}

func (c *crashFS) Create(path string) (syncedFile, error) {
	if err := c.step(); err != nil {
		return nil, err
	}
	f := &crashFile{fs: c}
	if old := c.names[path]; old != nil {
		f = old
		f.content = ""
	}
	c.names[path] = f
	return f, nil
}

func (c *crashFS) Rename(from, to string) error {
	if err := c.step(); err != nil {
		return err
	}
	c.names[to] = c.names[from]
	delete(c.names, from)
	return nil
}

func (c *crashFS) Remove(path string) error {
	if err := c.step(); err != nil {
		return err
	}
	if c.names[path] == nil {
		return fs.ErrNotExist
	}
	delete(c.names, path)
	return nil
}

func (c *crashFS) SyncDir(string) error {
	if err := c.step(); err != nil {
		return err
	}
	c.synced = map[string]*crashFile{}
	for path, f := range c.names {
		c.synced[path] = f
	}
	return nil
}

func (f *crashFile) Write(b []byte) (int, error) {
	if err := f.fs.step(); err != nil {
		return 0, err
	}
	f.content += string(b)
	return len(b), nil
}

func (f *crashFile) Sync() error {
	if err := f.fs.step(); err != nil {
		return err
	}
	f.synced = f.content
	return nil
}

func (f *crashFile) Close() error { return f.fs.step() }

// afterCrash returns what the file at path may hold after a crash: by each way
// that the names and the content may have reached the disk or not.
func (c *crashFS) afterCrash(path string) (texts []string) {
	for _, names := range []map[string]*crashFile{c.names, c.synced} {
		f := names[path]
		if f == nil {
			texts = append(texts, "{}")
			continue
		}
		texts = append(texts, f.synced, f.content)
	}
	return texts
}

// A crash before any step leaves the old limits or the new ones, and one after the
// last the new ones.
func TestSaveCrashes(t *testing.T) {
	const path = "acme.quota"
	for _, tc := range []struct{ name, before, after string }{
		{"first", "", `{"rows":3}`},
		{"another", `{"bytes":7}`, `{"rows":3}`},
		{"none", `{"bytes":7}`, "{}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			after, err := Parse([]byte(tc.after))
			require.NoError(t, err)
			for steps := 0; ; steps++ {
				c := &crashFS{names: map[string]*crashFile{}, steps: steps}
				c.names[path+writing] = &crashFile{fs: c, content: "of another crash", synced: "of another"}
				old := "{}"
				if tc.before != "" {
					old = tc.before
					c.names[path] = &crashFile{fs: c, content: old, synced: old}
				}
				c.synced = map[string]*crashFile{path: c.names[path]}
				err := save(c, path, after)
				allowed := []string{old, tc.after}
				if err == nil {
					allowed = allowed[1:]
				}
				for _, text := range c.afterCrash(path) {
					require.Contains(t, allowed, text, "%d steps", steps)
				}
				if err == nil {
					require.Greater(t, steps, 2)
					require.NotContains(t, c.names, path+writing)
					return
				}
				require.ErrorIs(t, err, errCrash)
			}
		})
	}
}

// failingFS are files that cannot be renamed.
type failingFS struct {
	crashFS
}

func (f *failingFS) Rename(string, string) error { return errCrash }

// A save that fails takes away what it had written.
func TestSaveThatFailsLeavesNothing(t *testing.T) {
	c := &failingFS{crashFS: crashFS{names: map[string]*crashFile{}, steps: -1}}
	require.ErrorIs(t, save(c, "acme.quota", Limits{Rows: 1}), errCrash)
	require.Empty(t, c.names)
}
