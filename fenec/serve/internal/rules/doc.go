// Package rules reads the file that says what those who carry a token may see and
// do, and makes of it a policy of the engine for each of them.
//
//	memos   read,write     where owner = $jwt.sub
//	rooms   read,insert    where room in $jwt.rooms
//	*       read           for dashboard
//	accts   update(bal, held)  for app
//	ledger  append-only
//
// [Parse] reads the text, or says in which line it is wrong. [File.For] returns the
// [Scope] of a token by its claims: a *fenec.Policy and the values of its
// parameters. Tokens to which the same rules apply share the policy, so that
// statements are compiled once for all of them.
//
// # Rules
//
// A rule applies to a token that has its role and every claim that its filter
// names; a claim that is null counts as none. Rules add up: a row that one of them
// grants is granted. Those of "*" grant on named collections too, but not on those
// whose names begin with "_" and that a rule names, nor on the server's own.
//
// "write" is insert, update and delete. An update of rules with fields may change
// those of one such rule that admits the row before and after; the rules without
// fields count as one. In a collection that is append-only, nothing is updated or
// deleted.
//
// A field is pinned when every rule that lets insert requires the same value of it,
// a claim or a constant: documents that leave it out get that value.
//
// After "in", a claim stands for its values, a list's or its one; nulls among them
// are passed over. Elsewhere a list is one value.
//
// All is safe for concurrent use.
package rules
