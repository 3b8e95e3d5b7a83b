package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rules"
)

func TestParse(t *testing.T) {
	for _, text := range []string{
		"",
		"\n\n# nothing\n   \t# at all",
		"memos read",
		"\ufeffmemos read\r\nrooms read\r\n",
		"memos\tread,write\twhere owner = $jwt.sub",
		"memos read,insert,update,delete,write,expired",
		"memos read where owner = $jwt.sub for mod",
		"memos read where owner = $jwt.sub\tfor\tmod # who else",
		"memos read for for",
		"where read where where = 1 for where",
		"* read for dashboard",
		"accts update(bal, held) for app",
		"accts read,update(bal,held),delete where n > 1",
		"accts update( bal )",
		"ledger append-only",
		"* append-only",
		"ledger read,write\nledger append-only",
		"* write\nledger append-only",
		"ledger append-only\nledger read,insert,expired",
		"rooms read where room in $jwt.rooms",
		"rooms read where room IN   $jwt.rooms and not x in $jwt.rooms",
		`rooms read where room in [$jwt.rooms, "y", $jwt.more]`,
		`rooms read where name = "$jwt.sub" or name = '$1'`,
		`rooms read where name = "a\"$1" or name = 'b\'$1'`,
		"rooms read where $jwt.rooms has room",
		"rooms read where lower($jwt.sub) = owner and n in [1, $jwt.n + 1]",
		"_mine read",
		"größe read where größe = $jwt.größe",
		"memos read where a = 1 -- a comment, 'as it were",
	} {
		_, err := rules.Parse(text, own...)
		require.NoError(t, err, text)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"memos":                                  `line 1: nothing is granted on memos`,
		"\n\n# x\nmemos":                         `line 4: nothing is granted`,
		"memos readd":                            `line 1: "readd" is no grant`,
		"memos Read":                             `"Read" is no grant`,
		"memos read, write":                      `"" is no grant`,
		"memos read,":                            `"" is no grant`,
		"memos ,read":                            `"" is no grant`,
		"memos read write":                       `"write" follows the grants`,
		"memos update(id)":                       `the field "id" cannot be changed`,
		"memos update()":                         `"" is not the name of a field`,
		"memos update(a,)":                       `"" is not the name of a field`,
		"memos update(a.b)":                      `"a.b" is not the name of a field`,
		"memos update(a b)":                      `"a b" is not the name of a field`,
		"a update(":                              `a closing parenthesis is missing`,
		"a update(x)y":                           `a comma is missing before "y"`,
		"a read(x)":                              `read takes no fields`,
		"a write(x)":                             `write takes no fields`,
		"me-mos read":                            `"me-mos" is not the name of a collection`,
		"a.b read":                               `"a.b" is not the name of a collection`,
		"1 read":                                 `"1" is not the name of a collection`,
		"** read":                                `"**" is not the name of a collection`,
		"_idempotency read":                      `"_idempotency" is the server's own`,
		"_consumers append-only":                 `"_consumers" is the server's own`,
		"memos read where":                       `nothing follows "where"`,
		"memos read where for mod":               `nothing follows "where"`,
		"memos read for":                         `a role is missing after "for"`,
		"memos read where a = 1 for":             `a role is missing after "for"`,
		"memos read for mod where a = 1":         `"for" follows the grants`,
		"memos read WHERE a = 1":                 `"WHERE" follows the grants`,
		"memos read where a = $1":                `a claim of the token is written $jwt.<claim>`,
		"memos read where a = $jwt":              `a claim of the token is written $jwt.<claim>`,
		"memos read where a = $JWT.sub":          `a claim of the token is written $jwt.<claim>`,
		"memos read where a = $jwt.":             `$jwt. is without the name of a claim`,
		"memos read where a = $jwt.1":            `$jwt. is without the name of a claim`,
		"memos read where a = $jwt.b.c":          `a claim has one name`,
		"memos read where margin $jwt.a":         `line 1: `,
		"memos read where a = ":                  `line 1: expected a value`,
		"memos read where a = 1 or":              `expected a value`,
		"memos read where (a = 1":                `expected ")"`,
		"memos read where a = 1) or (b = 2":      `line 1: `,
		`memos read where a = "x#y"`:             `line 1: `,
		"memos read where count(*) > 1":          `a filter holds no aggregate`,
		"memos read where a in (get b select x)": `a policy's condition holds no get`,
		"memos read where a in (get b where c = $jwt.d select x)": `a policy's condition holds no get`,
		"memos read where expired()":                              `a policy's condition holds no expired()`,
		"memos read where a = 1 and not Expired()":                `a policy's condition holds no expired()`,
		"ledger append-only for mod":                              `nothing may follow it`,
		"ledger append-only where a = 1":                          `nothing may follow it`,
		"ledger append-only,read":                                 `"append-only" is no grant`,
		"ledger append-only\nledger delete":                       `line 2: ledger is append-only`,
		"ledger read,update(a) for x\nledger append-only":         `line 1: ledger is append-only`,
		"* append-only\nledger read,update":                       `line 2: ledger is append-only`,
		"* append-only\n* delete":                                 `line 2: * is append-only`,
		"ledger append-only\nledger write,delete":                 `line 2: ledger is append-only`,
		"memos read\nmemos \xff":                                  `not UTF-8`,
	} {
		_, err := rules.Parse(text, own...)
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "column", text)
	}
}

// What no policy holds together is said at the start, not to a token.
func TestRulesThatAreTooMany(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "memos read where n = %d for r%d\n", i, i)
	}
	_, err := rules.Parse(b.String())
	require.ErrorContains(t, err, "the rules together")
}

// Policies are shared by tokens to which the same rules apply.
func TestPoliciesAreShared(t *testing.T) {
	f := parse(t, `
		memos read,write where owner = $jwt.sub
		board read
		board write for mod
		rooms read where room in $jwt.rooms
		rooms read where room in $jwt.rooms for mod`)
	policy := func(token string) *fenec.Policy {
		s, err := f.For(claimsOf(t, token))
		require.NoError(t, err)
		return s.Policy
	}
	ada := policy(`{"sub":"ada"}`)
	require.Same(t, ada, policy(`{"sub":"bob"}`))
	require.Same(t, ada, policy(`{"sub":["many"],"role":"other","x":1}`))
	require.NotSame(t, ada, policy(`{}`))
	require.NotSame(t, ada, policy(`{"sub":"m","role":"mod"}`))

	list := func(n int) string { return `{"rooms":[` + strings.TrimSuffix(strings.Repeat(`"r",`, n), ",") + `]}` }
	require.Same(t, policy(list(1)), policy(`{"rooms":"r"}`))
	require.Same(t, policy(list(5)), policy(list(8)))
	require.Same(t, policy(list(513)), policy(list(1000)))
	require.NotSame(t, policy(list(8)), policy(list(9)))
	require.NotSame(t, policy(list(0)), policy(list(1)))
}

func TestListsThatAreTooLong(t *testing.T) {
	f := parse(t, "rooms read where room in $jwt.rooms for mod\nrooms read where $jwt.other has room")
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	for token, want := range map[string]string{
		`{"rooms":` + list(1000) + `}`: "",
		`{"rooms":` + list(1001) + `}`: `the claim "rooms" lists 1001 values`,
		`{"other":` + list(1001) + `}`: `the claim "other" lists 1001 values`,
		`{"third":` + list(1001) + `}`: "",
	} {
		_, err := f.For(claimsOf(t, token))
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("memos read,write where owner = $jwt.sub for mod # x")
	f.Add(`rooms update(a, b) where r in [$jwt.x, "$jwt.y", 'a\'b'] or not s in $jwt.x`)
	f.Add("* append-only\nledger write where a = -1 and {a: 1} = $jwt.o")
	f.Add("a read where x in $jwt.\"y\"")
	f.Add("a read where not in $jwt.y -- '")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := rules.Parse(text, own...)
		if err != nil {
			return
		}
		// Whatever a token says, a policy comes of it, or a reason.
		for _, token := range []string{
			`{}`, `{"sub":"a","x":[],"y":null}`, `{"sub":["a","b","c"],"x":["a"],"y":{"z":1},"o":{"a":1},"role":"mod"}`,
		} {
			scope, err := file.For(claimsOf(t, token))
			require.NoError(t, err, text)
			scope.AppendJSON(nil)
		}
	})
}
