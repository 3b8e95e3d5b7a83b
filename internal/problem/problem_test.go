package problem_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/problem"
)

func TestProblemsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range problem.All() {
		require.Regexp(t, `^[a-z]+(-[a-z]+)+$`, p.Code)
		require.False(t, seen[p.Code], p.Code)
		seen[p.Code] = true
		require.True(t, p.Status >= 400 && p.Status < 600, p.Code)
		require.Equal(t, p.Status == 503, p.Wait > 0, "%s: a 503 asks to wait, nothing else does", p.Code)
	}
	require.NotEmpty(t, seen)
}

// Whoever answers takes a problem's word from the list: nobody else has it in a string
// of its own, and none is answered that the list does not have.
func TestTheListIsTheOnlyPlace(t *testing.T) {
	var texts []string
	for _, p := range problem.All() {
		texts = append(texts, regexp.QuoteMeta(p.Code))
	}
	word := regexp.MustCompile(`(^|[^a-z-])(` + strings.Join(texts, "|") + `)($|[^a-z-])`)
	member := regexp.MustCompile(`"code":"[^"]`)
	files := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "problem" || name == "testdata" || name == "bench" || strings.HasPrefix(name, ".") && len(name) > 2 {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		for _, text := range literals(t, path) {
			require.NotRegexp(t, word, text, path)
			require.NotRegexp(t, member, text, path)
		}
		return nil
	}))
	require.Greater(t, files, 100)
}

// literals returns the strings of a file.
func literals(t *testing.T, path string) (list []string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			list = append(list, text)
		}
		return true
	})
	return list
}

// Each problem is on the page of tenants, with its status.
func TestTheListIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/tenants.md")
	require.NoError(t, err)
	for _, p := range problem.All() {
		row := regexp.MustCompile("(?m)^\\| `" + p.Code + "` \\| " + strconv.Itoa(p.Status) + " \\|")
		require.Regexp(t, row, string(page))
	}
}
