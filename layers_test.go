package fenecdb_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/fenec-go/fenecdb"

// arrows says which room rests on which, in the notation of go/build's
// deps_test: "a, b < c, d" lets c and d import a and b, and with them all that a
// and b may import. A room is a package with the packages below its directory,
// unless those are rooms of their own. Rooms on one line do not know each other.
const arrows = `
	# The engine, from the ground up.
	NONE
	< fenec/internal/fault, fenec/internal/collation, fenec/internal/front, fenec/internal/wal, fenec/internal/base,
	fenec/internal/text, fenec/internal/posting, fenec/internal/vector;

	fenec/internal/vector
	< fenec/internal/hnsw;

	fenec/internal/fault
	< fenec/ql;

	fenec/internal/fault, fenec/internal/collation, fenec/internal/vector
	< fenec/internal/value;

	fenec/internal/value
	< fenec/internal/key, fenec/internal/row, fenec/internal/geo, fenec/internal/hll;

	fenec/internal/front, fenec/internal/wal, fenec/internal/base
	< fenec/internal/store;

	fenec/internal/value, fenec/ql
	< fenec/internal/catalog;

	fenec/internal/catalog, fenec/internal/key, fenec/internal/row, fenec/internal/geo, fenec/internal/hll
	< fenec/internal/expr;

	fenec/internal/row, fenec/internal/store
	< fenec/internal/history;

	NONE
	< replication;

	replication, fenec/internal/row, fenec/internal/store
	< fenec/internal/role;

	fenec/internal/catalog, fenec/internal/row, fenec/internal/store
	< fenec/internal/feed;

	fenec/internal/key, fenec/internal/geo, fenec/internal/history, fenec/internal/feed, fenec/internal/text, fenec/internal/posting
	< fenec/internal/table;

	fenec/internal/table, fenec/internal/hnsw
	< fenec/internal/graphs;

	# For tests alone.
	NONE
	< fenec/internal/conformance;

	fenec/internal/expr, fenec/internal/table
	< fenec/internal/plan;

	fenec/internal/plan, fenec/internal/graphs
	< fenec/internal/exec
	< fenec/internal/inside
	< fenec;

	fenec/internal/role
	< fenec;

	# What serves it.
	NONE
	< internal/http1, internal/daemon, internal/refusal, internal/secret, internal/problem, internal/metrics,
	internal/eventlog;

	NONE
	< fenec/serve/internal/trace;

	internal/secret
	< internal/process;

	# For tests alone.
	NONE
	< internal/exchange;

	internal/http1
	< internal/cors, fenec/serve/internal/target;

	fenec, internal/secret
	< fenec/serve/internal/jwt, fenec/serve/internal/rules, fenec/serve/internal/descr;

	fenec, fenec/serve/internal/target
	< fenec/serve/internal/rest;

	fenec/serve/internal/descr
	< fenec/serve/internal/openapi;

	internal/refusal, internal/problem, internal/metrics, internal/eventlog, internal/cors, fenec/serve/internal/trace,
	fenec/serve/internal/jwt, fenec/serve/internal/rules, fenec/serve/internal/rest, fenec/serve/internal/openapi
	< fenec/serve;

	fenec, internal/secret, internal/http1
	< replication/mirror;

	fenec
	< tenant/internal/raw, quota;

	fenec, internal/secret
	< fenec/client;

	tenant/internal/raw
	< tenant;

	fenec/serve, tenant, quota, replication/mirror
	< tenant/node;

	tenant/node, internal/http1
	< router;

	router, internal/process
	< cmd;

	router, tenant/node, internal/daemon
	< examples;
`

// thirdParty lists the modules that may be imported and the rooms that may. Tests
// may import any of them; a module with no room is for tests alone.
var thirdParty = map[string][]string{
	"go.etcd.io/bbolt":              {"fenec/internal/base"},
	"golang.org/x/sys":              {"fenec/internal/base", "fenec/internal/store", "fenec/internal/wal", "fenec/internal/vector", "router", "tenant/node"},
	"golang.org/x/text":             {"fenec/internal/collation"},
	"github.com/lestrrat-go/jwx":    {"fenec/serve/internal/jwt"},
	"github.com/klauspost/compress": {"fenec/serve"},
	"github.com/stretchr/testify":   {"fenec/internal/conformance", "internal/exchange"},
}

// source is one Go file's place and imports.
type source struct {
	file    string
	pkg     string // directory below the module's root
	test    bool
	imports []string
}

func TestImportsPointDown(t *testing.T) {
	below := parseArrows(t, arrows)
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		from := room(below, s.pkg)
		if from == "" {
			t.Errorf("%s: package %s is in no room", s.file, s.pkg)
			continue
		}
		for _, imp := range s.imports {
			pkg, ours := strings.CutPrefix(imp, module+"/")
			if to := room(below, pkg); ours && to != from && !below[from][to] {
				t.Errorf("%s: %s may not import %s", s.file, from, pkg)
			}
		}
	}
}

func TestThirdPartyModulesStayInTheirRooms(t *testing.T) {
	below := parseArrows(t, arrows)
	for _, s := range sources(t) {
		for _, imp := range s.imports {
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") || imp == module || strings.HasPrefix(imp, module+"/") {
				continue
			}
			rooms, known := roomsOf(imp)
			if !known || !s.test && !slices.Contains(rooms, room(below, s.pkg)) {
				t.Errorf("%s: package %s may not import %s", s.file, s.pkg, imp)
			}
		}
	}
}

// An embedder gets the engine without a web server.
func TestTheEngineImportsNoHTTP(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test {
			imports[s.pkg] = append(imports[s.pkg], s.imports...)
		}
	}
	seen, todo := map[string]bool{}, []string{"fenec"}
	for len(todo) > 0 {
		pkg := todo[0]
		todo = todo[1:]
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		for _, imp := range imports[pkg] {
			if imp == "net/http" || strings.HasPrefix(imp, "net/http/") {
				t.Errorf("fenec imports %s by way of %s", imp, pkg)
			}
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok {
				todo = append(todo, ours)
			}
		}
	}
	require.Greater(t, len(seen), 1, "the walk found no package below fenec")
}

// parseArrows returns, for each room, the set of rooms it may import.
func parseArrows(t *testing.T, text string) map[string]map[string]bool {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		lines = append(lines, line)
	}
	below := map[string]map[string]bool{}
	for rule := range strings.SplitSeq(strings.Join(lines, " "), ";") {
		if strings.TrimSpace(rule) == "" {
			continue
		}
		floors := strings.Split(rule, "<")
		require.Greater(t, len(floors), 1, "no arrow in %q", rule)
		for i, lower := range floors[:len(floors)-1] {
			for _, up := range names(floors[i+1]) {
				raise(t, below, up, names(lower))
			}
		}
	}
	return below
}

// raise puts room up above the rooms of lower and all that is below them.
func raise(t *testing.T, below map[string]map[string]bool, up string, lower []string) {
	t.Helper()
	if below[up] == nil {
		below[up] = map[string]bool{}
	}
	for _, low := range lower {
		if low == "NONE" {
			continue
		}
		require.Contains(t, below, low, "%s is used before it is defined", low)
		below[up][low] = true
		for further := range below[low] {
			below[up][further] = true
		}
	}
}

func names(list string) []string {
	var out []string
	for n := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSpace(n))
	}
	return out
}

// room returns the nearest room that pkg is in, or "". What is internal is in no
// room above, so that each such package is given a place of its own.
func room(below map[string]map[string]bool, pkg string) string {
	for dir := pkg; dir != "." && path.Base(dir) != "internal"; dir = path.Dir(dir) {
		if below[dir] != nil {
			return dir
		}
	}
	return ""
}

// roomsOf returns the rooms that may import a third-party package.
func roomsOf(imp string) (rooms []string, known bool) {
	for mod, rooms := range thirdParty {
		if imp == mod || strings.HasPrefix(imp, mod+"/") {
			return rooms, true
		}
	}
	return nil, false
}

// sources parses the imports of every Go file of the module.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(file):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(file, ".go") && strings.Contains(file, string(filepath.Separator)):
			s, err := parse(file)
			if err != nil {
				return err
			}
			out = append(out, s)
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, out)
	return out
}

// skipped tells of directories without packages of this module: bench is one of
// its own.
func skipped(dir string) bool {
	base := filepath.Base(dir)
	return dir == "bench" || dir == "bin" || base == "testdata" || base != "." && strings.HasPrefix(base, ".")
}

func parse(file string) (source, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return source{}, err
	}
	s := source{
		file: file,
		pkg:  filepath.ToSlash(filepath.Dir(file)),
		test: strings.HasSuffix(file, "_test.go"),
	}
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, p)
	}
	return s, nil
}

// The notation itself: what is allowed, and what is not.
func TestParseArrows(t *testing.T) {
	below := parseArrows(t, "NONE < a, b; a < c # a comment\n < d; b < d;")
	require.True(t, below["d"]["a"], "by way of c")
	require.True(t, below["d"]["b"])
	require.False(t, below["c"]["b"])
	require.False(t, below["a"]["b"], "neighbours do not know each other")
	require.Equal(t, "a", room(below, "a/x/y"))
	require.Empty(t, room(below, "a/internal/x"))
	require.Empty(t, room(below, "e"))
}
