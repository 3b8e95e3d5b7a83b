package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

const published = `
	memos   read,write    where owner = $jwt.sub
	board   read
	board   write                                   for mod
	rooms   read,insert   where room in $jwt.rooms
	trail   insert        where by = $jwt.sub
	ledger  read,write    where owner = $jwt.sub
	ledger  append-only
	accts   read                                    for app
	accts   update(bal)                             for app`

var publishedSchema = []string{
	"create collection memos (owner text @hash, body text)",
	"create collection board (msg text)",
	"create collection rooms (room text @hash, body text)",
	"create collection trail (by text, what text)",
	"create collection ledger (owner text, amt int)",
	"create collection accts (name text @unique, bal int)",
	"create collection hidden (x int)",
	`put accts {name:"a",bal:10}`,
	`put hidden {x:1}`,
}

const (
	ada = `{"sub":"ada"}`
	bob = `{"sub":"bob"}`
	mod = `{"sub":"m","role":"mod"}`
	app = `{"sub":"svc","role":["x","app"]}`
)

// What tokens may do by those rules, one thing after the other.
func TestScopes(t *testing.T) {
	f, db := parse(t, published), database(t, publishedSchema...)
	rm := `{"sub":"ada","rooms":["r1","r2"]}`
	for _, c := range []struct{ name, token, statement, want string }{
		{"an empty collection", ada, `get memos`, `[]`},
		{"a document gets its pinned field", ada, `put memos {body:"a1"}`, `1`},
		{"and is read", ada, `get memos`, `[{"id":1,"owner":"ada","body":"a1"}]`},
		{"by nobody else", bob, `get memos`, `[]`},
		{"one of others", ada, `put memos {owner:"bob",body:"x"}`, `denied: `},
		{"one with an id", ada, `put memos {id:7,body:"x"}`, `denied: `},
		{"another's own", bob, `put memos {body:"b1"}`, `1`},
		{"all that there are", ada, `set memos {body:"z"}`, `1`},
		{"and no others", bob, `get memos select body`, `[{"body":"b1"}]`},
		{"given away", ada, `set memos {owner:"bob"}`, `denied: `},
		{"nothing was changed", ada, `get memos select owner`, `[{"owner":"ada"}]`},
		{"asked for", ada, `get memos where owner = "bob"`, `[]`},
		{"counted", ada, `get memos count`, `[{"count":1}]`},
		{"deleted", ada, `del memos`, `1`},
		{"hidden", ada, `get hidden`, `not found: `},
		{"written to", ada, `put board {msg:"x"}`, `denied: `},
		{"by who may", mod, `put board {msg:"x"}`, `1`},
		{"a schema", ada, `create collection x (a int)`, `denied: `},
		{"compact", ada, `compact`, `denied: `},
		{"written only", ada, `put trail {what:"w"}`, `1`},
		{"and not read", ada, `get trail count`, `denied: `},
		{"outside of the list", rm, `put rooms {room:"r3",body:"x"}`, `denied: `},
		{"in the list", rm, `put rooms {room:"r2",body:"x"}`, `1`},
		{"a list pins nothing", rm, `put rooms {body:"x"}`, `denied: `},
		{"read in the list", rm, `get rooms select room`, `[{"room":"r2"}]`},
		{"a text is a list of one", `{"rooms":"r2"}`, `get rooms select room`, `[{"room":"r2"}]`},
		{"an empty list", `{"rooms":[]}`, `get rooms select room`, `[]`},
		{"no list", ada, `get rooms`, `not found: `},
		{"null for a list", `{"rooms":null}`, `get rooms`, `not found: `},
		{"no subject", `{"role":"mod"}`, `get memos`, `not found: `},
		{"null for a subject", `{"sub":null}`, `get memos`, `not found: `},
		{"appended", ada, `put ledger {amt:1}`, `1`},
		{"changed", ada, `set ledger {amt:2}`, `denied: collection "ledger" is append-only`},
		{"deleted there", ada, `del ledger where amt = 99`, `denied: collection "ledger" is append-only`},
		{"put again", ada, `put ledger {amt:1} if absent else set {amt:2}`, `denied: collection "ledger" is append-only`},
		{"a field that may change", app, `set accts {bal:5} where name = "a"`, `1`},
		{"one that may not", app, `set accts {name:"z"}`, `denied: field "name"`},
		{"one that keeps its value", app, `set accts {name:name, bal:6}`, `1`},
		{"without the role", ada, `get accts`, `not found: `},
		{"not deleted", app, `del accts`, `denied: `},
		{"read within", ada, `get board where msg in (get hidden select x)`, `not found: `},
	} {
		got := as(t, f, db, c.token).run(c.statement)
		if strings.HasPrefix(c.want, "denied: ") || strings.HasPrefix(c.want, "not found: ") {
			require.True(t, strings.HasPrefix(got, c.want), "%s: %s", c.name, got)
			continue
		}
		require.Equal(t, c.want, got, c.name)
	}
}

func TestCollectionsThatAreTold(t *testing.T) {
	f, db := parse(t, published), database(t, publishedSchema...)
	require.Equal(t, []string{"board", "ledger", "memos"}, as(t, f, db, ada).Collections())
	require.Equal(t, []string{"accts", "board", "ledger", "memos"}, as(t, f, db, app).Collections())
	require.Equal(t, []string{"board"}, as(t, f, db, `{}`).Collections())
}

// Rules of "*" grant on every collection beside its own rules, but on none that
// begins with "_" and is the server's, or that a rule names.
func TestRulesOfEveryCollection(t *testing.T) {
	db := database(t,
		"create collection memos (owner text, n int)",
		"create collection other (owner text, n int)",
		"create collection _idempotency (key text)",
		"create collection _mine (owner text, n int)",
		`put memos [{owner:"ada",n:1},{owner:"bob",n:2},{n:3}]`,
		`put other [{owner:"ada",n:1},{owner:"bob",n:2}]`,
		`put _idempotency {key:"k"}`,
		`put _mine [{owner:"ada",n:1},{owner:"bob",n:2}]`)
	f := parse(t, `
		* read where owner = $jwt.sub
		* write for root
		* read for root
		memos read where n = 3
		_mine read where owner = $jwt.sub
		memos append-only`)

	c := as(t, f, db, ada)
	require.Equal(t, `[{"n":1},{"n":3}]`, c.run("get memos select n"))
	require.Equal(t, `[{"n":1}]`, c.run("get other select n"))
	require.Equal(t, `[{"n":1}]`, c.run("get _mine select n"))
	require.Contains(t, c.run("get _idempotency"), "not found: ")
	require.Contains(t, c.run("put memos {n:4}"), "denied: ")
	require.Equal(t, []string{"_mine", "memos", "other"}, c.Collections())

	c = as(t, f, db, `{"sub":"ada","role":"root"}`)
	require.Equal(t, "1", c.run("set other {n:9} where n = 2"))
	require.Equal(t, "1", c.run("put memos {n:4}"))
	require.Contains(t, c.run("set memos {n:9}"), `"memos" is append-only`)
	require.Contains(t, c.run("del memos"), `"memos" is append-only`)
	require.Equal(t, `[{"n":1}]`, c.run("get _mine select n"))
	require.Contains(t, c.run("put _mine {n:4}"), "denied: ")
	for _, statement := range []string{
		"get _idempotency", `put _idempotency {key:"x"}`, `set _idempotency {key:"x"}`, "del _idempotency",
	} {
		require.Contains(t, c.run(statement), "not found: ", statement)
	}
}

func TestEverythingIsAppendOnly(t *testing.T) {
	db := database(t, "create collection a (n int)", "create collection b (n int)", "put a {n:1}")
	f := parse(t, "* append-only\na read,write\n* read for x")
	c := as(t, f, db, `{"role":"x"}`)
	require.Equal(t, "1", c.run("put a {n:2}"))
	require.Contains(t, c.run("set a {n:3}"), "append-only")
	require.Contains(t, c.run("del b"), "append-only")
	require.Equal(t, "[]", c.run("get b"))

	// Nothing granted is nothing there.
	require.Contains(t, as(t, f, db, `{}`).run("del b"), "not found: ")
}

// An error that is about something else stays as it is.
func TestExplain(t *testing.T) {
	f := parse(t, published)
	s, err := f.For(claimsOf(t, ada))
	require.NoError(t, err)
	denied := fenec.Denied("no")
	for _, statement := range []string{
		"put ledger {amt:1}", "get ledger", "set memos {body:1}", "set ledger", "", "drop collection ledger",
	} {
		require.Equal(t, denied, s.Explain(denied, statement), statement)
	}
	require.ErrorIs(t, s.Explain(denied, "del ledger"), fenec.ErrDenied)
	require.ErrorContains(t, s.Explain(denied, "del ledger"), "append-only")
	require.Equal(t, context.Canceled, s.Explain(context.Canceled, "del ledger"))
	require.NoError(t, s.Explain(nil, "del ledger"))
}

// A document gets what every rule that lets it in requires.
func TestPins(t *testing.T) {
	for rules, want := range map[string]string{
		`docs insert where owner = $jwt.sub`:                                                             `{"owner":"ada"}`,
		`docs insert where $jwt.sub = owner`:                                                             `{"owner":"ada"}`,
		`docs insert where owner = $jwt.sub and (kind = "k" and n = -1)`:                                 `{"owner":"ada","kind":"k","n":-1}`,
		`docs insert where owner = "x" and tags = ["a","b"]`:                                             `{"owner":"x","tags":["a","b"]}`,
		`docs insert where tags = $jwt.list`:                                                             `{"tags":["p","q"]}`,
		`docs insert where n = $jwt.level and meta = {a: 1}`:                                             `{"n":9007199254740993,"meta":{"a":1}}`,
		`docs insert where owner = $jwt.sub or n is null`:                                                `{}`,
		`docs insert where not owner = "x"`:                                                              `{}`,
		`docs insert where owner = null and meta.a = null and id = id`:                                   `{}`,
		`docs insert where n is null and kind in [$jwt.none2, null]`:                                     `denied`,
		`docs insert where owner in [$jwt.sub, null]`:                                                    `{}`,
		"docs insert where owner = $jwt.sub\ndocs insert":                                                `{}`,
		"docs insert\ndocs insert where owner = $jwt.sub":                                                `{}`,
		"docs insert where owner = $jwt.sub and n = 1\n* insert where owner = $jwt.sub and kind = \"k\"": `denied`,
		"docs insert where owner = $jwt.sub and kind = \"k\"\n* insert where owner = $jwt.sub":           `{"owner":"ada"}`,
		"docs insert where owner = $jwt.sub\ndocs insert where owner = \"x\" for other":                  `{"owner":"ada"}`,
		"docs insert where owner = $jwt.sub\ndocs insert where owner = $jwt.none":                        `{"owner":"ada"}`,
		"docs read,insert where owner = \"x\" and owner = \"y\"":                                         `denied`,
	} {
		db := database(t, "create collection docs (owner text, kind text, n int, tags [text], meta json)")
		c := as(t, parse(t, rules), db, `{"sub":"ada","list":["p","q"],"level":9007199254740993}`)
		got := c.run("put docs {}")
		if got == "1" {
			res, err := db.Query(context.Background(), "get docs")
			require.NoError(t, err)
			row, err := res.AppendJSON(nil)
			require.NoError(t, err)
			require.Equal(t, compact(t, want), compact(t, string(row)), rules)
			continue
		}
		if strings.Contains(rules, "none2") {
			want = "not found" // no rule applies
		}
		require.Contains(t, got, want+": ", rules)
	}
}

// compact returns the members of a JSON object, or of the one in a list, that are
// not null, without the id.
func compact(t *testing.T, text string) map[string]any {
	var list []map[string]any
	if !strings.HasPrefix(text, "[") {
		text = "[" + text + "]"
	}
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list, 1)
	for name, v := range list[0] {
		if v == nil || name == "id" {
			delete(list[0], name)
		}
	}
	return list[0]
}

// Lists of claims, of every length, with what stands beside them.
func TestLists(t *testing.T) {
	db := database(t, "create collection docs (room text @hash, n int)")
	for i := range 40 {
		_, err := db.Exec(context.Background(), `put docs {room: $1, n: $2}`, fmt.Sprint("r", i), i)
		require.NoError(t, err)
	}
	_, err := db.Exec(context.Background(), `put docs {n: 40}`)
	require.NoError(t, err)
	f := parse(t, `docs read where room in ["r39", $jwt.rooms, $jwt.more, "r38"] and (n in $jwt.n or not n in [$jwt.n])`)
	for _, lengths := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {2, 3}, {3, 2}, {4, 4}, {17, 5}, {33, 0}, {0, 33}} {
		want, rooms, more := map[int]bool{38: true, 39: true}, []string{"null"}, []string{`"none"`}
		for i := range lengths[0] {
			rooms, want[i] = append(rooms, fmt.Sprintf(`"r%d"`, i)), true
		}
		for i := range lengths[1] {
			more, want[37-i] = append(more, fmt.Sprintf(`"r%d"`, 37-i)), true
		}
		token := `{"rooms":[` + strings.Join(rooms, ",") + `],"more":[` + strings.Join(more, ",") + `],"n":[5,6]}`
		res, err := as(t, f, db, token).Query(context.Background(), "get docs select n order n")
		require.NoError(t, err)
		got := map[int]bool{}
		for row := range res.All() {
			n, err := row.Int("n")
			require.NoError(t, err)
			got[int(n)] = true
		}
		require.Equal(t, want, got, token)
	}
	c := as(t, parse(t, "docs read where room in $jwt.rooms"), db, `{"rooms":["r1","r2","r3"]}`)
	require.Equal(t, `[{"count":3}]`, c.run("get docs count"), "a padded list finds no row twice")
}

// Once their time is past, rows are told to those with the grant alone.
func TestExpired(t *testing.T) {
	db := database(t, "create collection t (owner text, at timestamp @ttl(1s))",
		`put t [{owner:"ada",at:"2001-01-01"},{owner:"bob",at:"2001-01-01"}]`)
	const statement = "get t where expired() select owner"
	c := as(t, parse(t, "t read\nt expired where owner = $jwt.sub"), db, ada)
	require.Equal(t, `[{"owner":"ada"}]`, c.run(statement))
	require.Equal(t, `[]`, c.run("get t"))
	require.Contains(t, as(t, parse(t, "t read,write"), db, ada).run(statement), "denied: ")
}

// Updates without fields are one rule; each with fields is one of its own.
func TestUpdatesOfSeveralRules(t *testing.T) {
	f := parse(t, `
		docs read
		docs update where owner = $jwt.sub
		docs update where kind = "pub"
		docs update(n) where kind = "open"
		docs update(kind,n) where n = 7`)
	for _, c := range []struct{ row, set, want string }{
		{`{owner:"ada"}`, `{n:1}`, "1"},
		{`{owner:"ada"}`, `{owner:"bob",kind:"pub"}`, "1"}, // from one rule to the other
		{`{owner:"ada"}`, `{owner:"bob"}`, "denied"},
		{`{owner:"bob",kind:"open",n:1}`, `{n:2}`, "1"},
		{`{owner:"bob",kind:"open",n:1}`, `{n:2,owner:"bob",kind:"open"}`, "1"},
		{`{owner:"bob",kind:"open",n:1}`, `{n:2,owner:"cy"}`, `denied: field "owner"`},
		{`{owner:"bob",kind:"open",n:7}`, `{kind:"x"}`, "1"},
		{`{owner:"bob",kind:"open",n:7}`, `{kind:"x",n:8}`, "denied"}, // no one rule admits both
		{`{owner:"bob",kind:"open",n:1}`, `{kind:"pub"}`, "denied"},
		{`{owner:"bob",kind:"other",n:1}`, `{n:2}`, "0"},
	} {
		db := database(t, "create collection docs (owner text, kind text, n int)", "put docs "+c.row)
		require.True(t, strings.HasPrefix(as(t, f, db, ada).run("set docs "+c.set), c.want), "%s %s", c.row, c.set)
	}
}

// The statements of all who differ in values are compiled once.
func TestTokensDoNotMix(t *testing.T) {
	f, db := parse(t, published), database(t, publishedSchema...)
	for i := range 50 {
		token := fmt.Sprintf(`{"sub":"u%d","rooms":["r%d","r%d"]}`, i, i, i+1)
		c := as(t, f, db, token)
		require.Equal(t, "1", c.run(`put memos {body:"x"}`))
		require.Equal(t, "1", c.run(fmt.Sprintf(`put rooms {room:"r%d"}`, i)))
		require.Equal(t, fmt.Sprintf(`[{"owner":"u%d"}]`, i), c.run("get memos select owner"))
		require.Equal(t, fmt.Sprintf(`[{"room":"r%d"}]`, i), c.run("get rooms select room"))
	}
}
