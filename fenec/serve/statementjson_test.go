package serve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// statementBodies are forms of a statement, right and wrong ones.
var statementBodies = []string{
	`{"query":"get docs"}`,
	`{"query":"get docs where id = $1","params":[7]}`,
	" {\t\"params\" : [ 1 , \"a\\n\\u0041\" , [1,[2]] , {\"a\":{}} , null , -0.5e3 ] ,\r\n \"query\" : \"x \\\" y\" } \n",
	`{"query":"x","params":[]}`,
	`{"query":""}`,
	`{"query":"","query":"x"}`,
	`{"query":"x","params":[],"params":[1]}`,
	`{"query":"x","params":[1,]}`,
	`{"query":"x","params":[,1]}`,
	`{"query":"x","params":[1 2]}`,
	`{"query":"x","params":[1}}`,
	`{"query":"x","params":[{"a":1,"a":2}]}`,
	`{"query":"x","params":[01]}`,
	`{"query":"x","params":7}`,
	`{"query":"x","params":{"a":1}}`,
	`{"query":"x","params":null}`,
	`{"sql":"x","params":[1]}`,
	`{"query":"x","sql":"y","more":[1,2]}`,
	`{"query":7}`,
	`{"query":["x"]}`,
	`{"params":[1]}`,
	`{"query":"x",}`,
	`{"query":"x"} x`,
	`{"query":"x"`,
	`{"query":"x","params":[1`,
	`{"query":"x","params":["`,
	`{"qu\u0065ry":"x"}`,
	`{}`, `[]`, ``, `"query"`,
	"{\"query\":\"x\xff\"}",
	"{\"query\":\"x\x01\"}",
	"{\"query\":\"x\",\"params\":[\"\xff\"]}",
	`{"query":"x","params":[` + strings.Repeat("[", 125) + strings.Repeat("]", 125) + `]}`,
	`{"query":"x","params":[` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + `]}`,
}

// parsedWhole is parseStatement by the parser alone.
func parsedWhole(body string) (fenec.Statement, error) {
	v, err := value.ParseJSONString(body)
	if err != nil {
		return fenec.Statement{}, err
	}
	return statementOf(v)
}

func requireSameStatement(t *testing.T, body string) {
	want, wantErr := parsedWhole(body)
	got, err := parseStatement([]byte(body), make([]any, 0, 2))
	require.Equal(t, wantErr, err, "%q", body)
	require.Equal(t, want.Text, got.Text, "%q", body)
	require.Len(t, got.Args, len(want.Args), "%q", body)
	for i := range want.Args {
		require.Equal(t, stored(want.Args[i]), stored(got.Args[i]), "%q", body)
	}
}

// stored returns an argument's bytes, which do not depend on where it lies.
func stored(arg any) []byte { return value.Append(nil, arg.(value.Value)) }

func TestParseStatement(t *testing.T) {
	for _, body := range statementBodies {
		requireSameStatement(t, body)
	}
}

// The usual forms are those that are read without the parser's help.
func TestScanStatement(t *testing.T) {
	for _, body := range statementBodies[:4] {
		_, ok := scanStatement(body, nil)
		require.True(t, ok, body)
	}
}

func FuzzParseStatement(f *testing.F) {
	for _, body := range statementBodies {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { requireSameStatement(t, body) })
}
