package descr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/descr"
)

// text returns a description of the FenecQL form.
func text(declared string, migrations ...string) string {
	b, err := json.Marshal(map[string]any{"format": 1, "fenecql": declared})
	if err != nil {
		panic(err)
	}
	list := strings.Join(migrations, ",")
	return strings.TrimSuffix(string(b), "}") + `,"migrations":[` + list + `]}`
}

// summary returns kind and field of refusals.
func summary(list []descr.Refusal) (out []string) {
	for _, r := range list {
		out = append(out, strings.TrimSuffix(r.Kind+" "+r.Collection+"."+r.Field, "."))
	}
	return out
}

func TestPlan(t *testing.T) {
	for _, tc := range []struct {
		name, live, declared string
		statements           []string
		refusals             []string
		follow               []string // refusals of who follows
	}{
		{"same", "create collection c (a int)", "create collection c (a int)", nil, nil, nil},
		{"another order", "create collection c (a int, b int)", "create collection c (b int, a int)", nil, nil, nil},
		{"not declared", "create collection c (a int) create collection d (a int)", "create collection c (a int)", nil, nil, nil},
		{"own", "create collection _own (a int)", "", nil, nil, nil},
		{"new collection", "create collection c (a int)", "create collection d (a text required, j json) create index on d (j.k) @hash",
			[]string{"create collection d (a text required, j json)", "create index on d (j.k) @hash"}, nil,
			[]string{"collection_missing d"}},
		{"new field", "create collection c (a int)", "create collection c (a int, b text collate tr @hash)",
			[]string{"alter collection c add field b text collate tr @hash"}, nil,
			[]string{"field_missing c.b"}},
		{"new field with a path", "create collection c (a int)", "create collection c (a int, j json) create index on c (j.k) @sorted",
			[]string{"alter collection c add field j json", "create index on c (j.k) @sorted"}, nil,
			[]string{"field_missing c.j"}},
		{"new index", "create collection c (a int, j json)", "create collection c (a int @unique, j json) create index on c (j.k.l) @hash",
			[]string{"create index on c (a) @unique", "create index on c (j.k.l) @hash"}, nil,
			[]string{"index_missing c.a", "index_missing c.j.k.l"}},
		{"field gone", "create collection c (a int, b int @hash, j json) create index on c (j.k) @hash", "create collection c (a int)",
			nil, []string{"field_not_declared c.b", "field_not_declared c.j"}, nil},
		{"renamed", "create collection c (a int)", "create collection c (b int)",
			[]string{"alter collection c add field b int"}, []string{"field_not_declared c.a"}, []string{"field_missing c.b"}},
		{"type", "create collection c (a int @hash)", "create collection c (a text)",
			nil, []string{"type_changed c.a"}, []string{"type_changed c.a"}},
		{"required", "create collection c (a int)", "create collection c (a int required)",
			nil, []string{"required_changed c.a"}, []string{"required_changed c.a"}},
		{"required no more", "create collection c (a int required)", "create collection c (a int)",
			nil, []string{"required_changed c.a"}, nil},
		{"new and required", "create collection c (a int)", "create collection c (a int, b json required) create index on c (b.k) @hash",
			nil, []string{"required_added c.b"}, []string{"field_missing c.b"}},
		{"collate", "create collection c (a text)", "create collection c (a text collate tr)",
			nil, []string{"collate_changed c.a"}, []string{"collate_changed c.a"}},
		{"collate no more", "create collection c (a text collate tr)", "create collection c (a text)",
			nil, []string{"collate_changed c.a"}, nil},
		{"another index", "create collection c (a int @hash, j json) create index on c (j.k) @hash",
			"create collection c (a int @sorted, j json) create index on c (j.k) @unique",
			nil, []string{"index_changed c.a", "index_changed c.j.k"}, []string{"index_changed c.a", "index_changed c.j.k"}},
		{"another option", "create collection c (v vector<2> @hnsw)", "create collection c (v vector<2> @hnsw(cosine, m=17))",
			nil, []string{"index_changed c.v"}, []string{"index_changed c.v"}},
		{"default option", "create collection c (v vector<2> @hnsw)", "create collection c (v vector<2> @hnsw(cosine, m=16, ef_construction=200))",
			nil, nil, nil},
		{"index gone", "create collection c (a int @hash, j json) create index on c (j.k) @hash", "create collection c (a int, j json)",
			nil, []string{"index_removed c.a", "index_removed c.j.k"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			live, d := schemaOf(t, tc.live), read(t, text(tc.declared))
			p, err := d.Plan(live, nil)
			require.NoError(t, err)
			require.Equal(t, tc.statements, p.Statements)
			require.Equal(t, tc.refusals, summary(p.Refusals))
			if len(p.Refusals) == 0 {
				then := schemaOf(t, tc.live+"\n"+strings.Join(p.Statements, "\n"))
				p, err = d.Plan(then, nil)
				require.NoError(t, err)
				require.True(t, p.Empty() && len(p.Refusals) == 0, "%+v", p)
			}
			f := d.Follow(live)
			require.Equal(t, tc.follow, summary(f.Refusals))
			require.True(t, f.Empty())
		})
	}
}

func TestRefusals(t *testing.T) {
	p, err := read(t, text("create collection c (a text, at timestamp @sorted)")).
		Plan(schemaOf(t, "create collection c (a int, at timestamp @ttl(1d), b bool)"), nil)
	require.NoError(t, err)
	require.Equal(t, []descr.Refusal{
		{"type_changed", "c", "a", "c.a is int and declared as text",
			`declare it as int, or add the migration {"rebuild":{"collection":"c","field":"a"}}`},
		{"field_not_declared", "c", "b", "c.b is there and not declared",
			`declare it, or add a migration: "alter collection c rename field b to …" if it is called otherwise now, "alter collection c drop field b" if it is to go`},
		{"index_changed", "c", "at", "c.at has the index @ttl(1d) and is declared with @sorted",
			`declare @ttl(1d), or add the migration "alter collection c alter field at @sorted"`},
	}, p.Refusals)
}

func TestOutcome(t *testing.T) {
	live := schemaOf(t, "create collection c (a int)")
	p, err := read(t, text("create collection c (b int)", `"alter collection c rename field a to b"`)).Plan(live, nil)
	require.NoError(t, err)
	require.Equal(t, `{"kind":"schema","applied":false,"ran":false,"migrations":[1],"statements":[],"refusals":[]}`, string(p.Outcome(nil, false)))
	require.Equal(t, `{"kind":"schema","applied":true,"ran":true,"migrations":[1],"statements":[],"refusals":[]}`, string(p.Outcome(nil, true)))
	require.Equal(t, []descr.Migration{{1, "alter collection c rename field a to b", []string{"alter collection c rename field a to b"}}}, p.Migrations)

	p, err = read(t, text("create collection c (b int)")).Plan(live, nil)
	require.NoError(t, err)
	require.Regexp(t, `^\{"kind":"schema","applied":false,"ran":false,"migrations":\[\],"statements":\["alter collection c add field b int"\],`+
		`"refusals":\[\{"kind":"field_not_declared","collection":"c","field":"a","message":".+","fix":".+"\}\]\}$`, string(p.Outcome(nil, false)))

	missing := read(t, text("create collection d (b int)")).Follow(live)
	require.Regexp(t, `"refusals":\[\{"kind":"collection_missing","collection":"d","field":null,"message":".+","fix":".+"\}\]\}$`, string(missing.Outcome(nil, false)))

	p, err = read(t, text("create collection c (a int)")).Plan(live, nil)
	require.NoError(t, err)
	require.Contains(t, string(p.Outcome(nil, true)), `"applied":false`)
}

func TestMigrations(t *testing.T) {
	const live = "create collection c (a int, at timestamp @ttl(1d), j json) create index on c (j.k) @hash"
	rename := `"alter collection c rename field a to b\nset c {b: b + 1}"`
	for _, tc := range []struct {
		name, live, declared string
		migrations           []string
		records              []descr.Record
		numbers              []int
		run                  []string
		statements           []string
		refusals             []string
		err                  string
	}{
		{name: "statements", live: live, declared: "create collection c (b int, at timestamp @ttl(1d), j json, x int) create index on c (j.k) @hash",
			migrations: []string{rename}, numbers: []int{1},
			run:        []string{"alter collection c rename field a to b", "set c {b: b + 1}"},
			statements: []string{"alter collection c add field x int"}},
		{name: "done before", live: live, declared: live, migrations: []string{rename},
			records: []descr.Record{{1, "alter collection c rename field a to b\nset c {b: b + 1}\n"}, {2, "of a later program"}}},
		{name: "done as another", live: live, declared: live, migrations: []string{rename},
			records: []descr.Record{{1, "del c"}}, err: `migration 1 was done as another one: "del c"`},
		{name: "one of two", live: live, declared: live, migrations: []string{`"del c"`, `"del c where a = 1"`},
			records: []descr.Record{{1, "del c"}}, numbers: []int{2}, run: []string{"del c where a = 1"}},
		{name: "nothing there", live: "create collection _own (a int)", declared: "create collection c (b int)", migrations: []string{rename},
			numbers: []int{1}, statements: []string{"create collection c (b int)"}},
		{name: "does not fit", live: live, declared: live, migrations: []string{`"alter collection c drop field zz"`},
			err: `migration 1: no field "zz" in collection "c"`},
		{name: "there already", live: live, declared: live, migrations: []string{`"create collection if not exists c (x int) drop collection if exists d create index if not exists on c (j.k) @sorted"`},
			numbers: []int{1}, run: []string{"create collection if not exists c (x int)", "drop collection if exists d", "create index if not exists on c (j.k) @sorted"}},
		{name: "created and dropped", live: live, declared: "", migrations: []string{`"create collection d (x int) drop collection c drop collection d"`},
			numbers: []int{1}, run: []string{"create collection d (x int)", "drop collection c", "drop collection d"}},
		{name: "rebuild", live: live, declared: "create collection c (a float @sorted, at timestamp @ttl(2d), j json)",
			migrations: []string{`{"rebuild":{"collection":"c","field":"at"}}`, `{"rebuild":{"field":"a","collection":"c"}}`, `{"rebuild":{"collection":"c","field":"j"}}`},
			numbers:    []int{1, 2, 3},
			run: []string{
				"alter collection c rename field at to rebuilt1", "alter collection c alter field rebuilt1 @sorted",
				"alter collection c add field at timestamp @ttl(2d)", "set c {at: rebuilt1}", "alter collection c drop field rebuilt1",
				"alter collection c rename field a to rebuilt1", "alter collection c add field a float @sorted",
				"set c {a: rebuilt1}", "alter collection c drop field rebuilt1",
				"alter collection c rename field j to rebuilt1", "alter collection c add field j json", "set c {j: rebuilt1}",
				"alter collection c drop field rebuilt1"}},
		{name: "rebuild with paths", live: "create collection c (a text, rebuilt1 int)", declared: "create collection c (a json, rebuilt1 int) create index on c (a.b) @hash",
			migrations: []string{`{"rebuild":{"collection":"c","field":"a"}}`}, numbers: []int{1},
			run: []string{"alter collection c rename field a to rebuilt2", "alter collection c add field a json", "set c {a: rebuilt2}",
				"create index on c (a.b) @hash", "alter collection c drop field rebuilt2"}},
		{name: "rebuild as required", live: "create collection c (a text, b int)", declared: "create collection c (a json required, b int)",
			migrations: []string{`{"rebuild":{"collection":"c","field":"a"}}`}, numbers: []int{1},
			run: []string{"alter collection c rename field a to rebuilt1", "alter collection c add field a json",
				"set c {a: rebuilt1}", "alter collection c drop field rebuilt1"},
			refusals: []string{"required_changed c.a"}},
		{name: "rebuild of nothing", live: live, declared: live, migrations: []string{`{"rebuild":{"collection":"c","field":"zz"}}`}, err: `no field "zz"`},
		{name: "rebuild of what is not declared", live: live, declared: "", migrations: []string{`{"rebuild":{"collection":"c","field":"a"}}`}, err: `no collection "c"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := read(t, text(tc.declared, tc.migrations...)).Plan(schemaOf(t, tc.live), tc.records)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				require.Equal(t, fault.Query, fault.KindOf(err))
				return
			}
			require.NoError(t, err)
			var numbers []int
			var run []string
			for _, m := range p.Migrations {
				numbers = append(numbers, m.N)
				run = append(run, m.Statements...)
			}
			require.Equal(t, tc.numbers, numbers)
			require.Equal(t, tc.run, run)
			require.Equal(t, tc.statements, p.Statements)
			require.Equal(t, tc.refusals, summary(p.Refusals))
		})
	}
}
