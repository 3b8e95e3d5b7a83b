package exchange

import (
	"embed"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed scripts
var scripts embed.FS

// Surface returns the cases of the HTTP surface of one open database.
func Surface(t *testing.T) (cases []Case) {
	for _, name := range []string{"A", "B", "C", "D", "E", "F", "H"} {
		cases = append(cases, Script(t, name)...)
	}
	return cases
}

// Script returns the cases of a script.
func Script(t *testing.T, name string) []Case {
	text, err := scripts.ReadFile(path.Join("scripts", name+".txt"))
	require.NoError(t, err)
	cases, err := Parse(string(text))
	require.NoError(t, err, name)
	return cases
}

// Fixtures are the statements that the fixtures of Surface begin with.
var Fixtures = map[string][]string{
	"L": {
		`create collection books (title text required, tags [text], pages int @hash, blurb text, out timestamp, price float, vec vector<3> @hnsw(dot))`,
		`put books [
			{title:"Go in Practice", tags:["go","web"], pages:310, blurb:"x", out:"2024-02-01", price:19.5, vec:[2,0,1]},
			{title:"Deep Queues", tags:["go","infra"], pages:205, out:"2022-07-15T10:00:00Z", price:0.1, vec:[0.25,1,0]},
			{title:"Old Maps", tags:[], pages:96, blurb:"z", out:"1998-01-01", price:7, vec:[0,0,1]}]`,
		`create collection reviews (book int @hash, who text, stars int)`,
		`put reviews [{book:1,who:"ann",stars:5},{book:1,who:"bo",stars:2},{book:3,who:"cy",stars:4}]`,
	},
	"T": {
		`create collection tasks (key text @unique, state text @hash, n int)`,
		`put tasks [{key:"k1",state:"open",n:1},{key:"k2",state:"done",n:2}]`,
	},
	"M": {
		`create collection accts (name text @unique, bal int)`,
		`put accts [{name:"a",bal:100},{name:"b",bal:0}]`,
	},
	"J":    {`create collection docs (title text, meta json)`},
	"logs": {`create collection logs (n int)`},
	"P": {
		`create collection memos (owner text @hash, body text)`,
		`create collection board (msg text)`,
		`create collection rooms (room text @hash, body text)`,
		`create collection trail (by text, what text)`,
		`create collection ledger (owner text, amt int)`,
		`create collection accts (name text @unique, bal int)`,
		`create collection hidden (x int)`,
		`put accts {name: "a", bal: 10}`,
		`put hidden {x: 1}`,
	},
}

// Policy is the policy file that fixture P is served under.
const Policy = `
memos   read,write    where owner = $jwt.sub
board   read
board   write                                   for mod
rooms   read,insert   where room in $jwt.rooms
trail   insert        where by = $jwt.sub
ledger  read,write    where owner = $jwt.sub
ledger  append-only
accts   read                                    for app
accts   update(bal)                             for app
`

// Claims are those of the tokens that the script I names, "exp" aside.
var Claims = map[string]string{
	"$ADA":   `"sub":"ada"`,
	"$BOB":   `"sub":"bob"`,
	"$MOD":   `"sub":"m","role":"mod"`,
	"$APP":   `"sub":"svc","role":["x","app"]`,
	"$RM":    `"sub":"ada","rooms":["r1","r2"]`,
	"$NOSUB": `"role":"mod"`,
}
