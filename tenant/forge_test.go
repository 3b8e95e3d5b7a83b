package tenant_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiled returns the files with what the compiler says of a package and of all that
// it imports, by path.
func compiled(t *testing.T, pkg string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", pkg).Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		files[path] = file
	}
	return files
}

// An embedder gets tenants without a web server.
func TestTenantsImportNoHTTP(t *testing.T) {
	files := compiled(t, "github.com/fenec-go/fenecdb/tenant")
	require.Contains(t, files, "github.com/fenec-go/fenecdb/fenec")
	require.NotContains(t, files, "net/http")
}

// TestNobodyForgesAHandle compiles what code elsewhere might try.
func TestNobodyForgesAHandle(t *testing.T) {
	fset := token.NewFileSet()
	files := compiled(t, "github.com/fenec-go/fenecdb/tenant")
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	compile := func(body string) error {
		file, err := parser.ParseFile(fset, "forger.go", `package forger
import "github.com/fenec-go/fenecdb/tenant"
func forge(m *tenant.Manager, h, other *tenant.Handle, id, otherID tenant.ID) { `+body+` }`, 0)
		require.NoError(t, err)
		config := types.Config{Importer: imports}
		_, err = config.Check("example.com/forger", fset, []*ast.File{file}, nil)
		return err
	}
	require.NoError(t, compile(`_ = h.ID(); _, _ = m, other; _ = id == otherID`))
	for _, body := range []string{
		`id.name = "beta"`,
		`_ = tenant.ID{"beta"}`,
		`_ = tenant.ID{name: "beta"}`,
		`_ = tenant.ID("beta")`,
		`h.id = otherID`,
		`h.db = other.db`,
		`h.slot = other.slot`,
		`h.surface = other.surface`,
		`_ = h.DB()`,
		`_ = tenant.NewHandle("beta")`,
		`_ = tenant.NewID("beta")`,
		`h.Acquire(nil, "beta")`,
		`h.Close()`,
	} {
		require.Error(t, compile(body), body)
	}
}
