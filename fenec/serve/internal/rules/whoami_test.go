package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoami(t *testing.T) {
	db := database(t)
	f := parse(t, `
		memos read,write where  owner = $jwt.sub and n < 3
		memos expired,read,update(a,b) for mod
		ledger read,write
		ledger append-only
		secret append-only
		secret read for mod
		* read for root`)
	require.Equal(t, `{"append_only":["ledger"],"rules":[`+
		`{"collection":"memos","grants":["read","insert","update","delete"],"fields":null,"rows":"owner = $jwt.sub and n < 3"},`+
		`{"collection":"ledger","grants":["read","insert"],"fields":null,"rows":null}]}`,
		as(t, f, db, ada).whoami())
	require.Equal(t, `{"append_only":["ledger","secret"],"rules":[`+
		`{"collection":"memos","grants":["read","update","expired"],"fields":["a","b"],"rows":null},`+
		`{"collection":"ledger","grants":["read","insert"],"fields":null,"rows":null},`+
		`{"collection":"secret","grants":["read"],"fields":null,"rows":null}]}`,
		as(t, f, db, `{"role":"mod"}`).whoami())
	require.Equal(t, `{"append_only":["ledger","secret"],"rules":[`+
		`{"collection":"ledger","grants":["read","insert"],"fields":null,"rows":null},`+
		`{"collection":"*","grants":["read"],"fields":null,"rows":null}]}`,
		as(t, f, db, `{"role":"root"}`).whoami())

	f = parse(t, "a update(n),update\nb update(n),write,update(m)\nc update(n),update(m),delete")
	require.Equal(t, `{"append_only":[],"rules":[{"collection":"a","grants":["update"],"fields":null,"rows":null},`+
		`{"collection":"b","grants":["insert","update","delete"],"fields":null,"rows":null},`+
		`{"collection":"c","grants":["update","delete"],"fields":["n","m"],"rows":null}]}`, as(t, f, db, ada).whoami())

	f = parse(t, "* append-only\nmemos write for mod")
	require.Equal(t, `{"append_only":[],"rules":[]}`, as(t, f, db, ada).whoami())
	require.Equal(t, `{"append_only":["*"],"rules":[{"collection":"memos","grants":["insert"],"fields":null,"rows":null}]}`,
		as(t, f, db, `{"role":"mod"}`).whoami())
}
