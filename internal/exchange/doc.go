// Package exchange runs exchanges of HTTP that are written down as text, against
// any server, for tests.
//
// A script is cases, each a name, the fixture it starts from, and lines:
//
//	case C03 (L)
//	POST /books <- {"id":40,"title":"x"}
//	201 {"inserted":1}
//	+ Fenec-Seq: 9
//	GET /books?select=title&id=40
//	200 [{"title":"x"}]
//	- Fenec-Seq
//
// A request is a method and a target, then headers as " ^ Name: value", then the
// body after " <- ". Targets are written readable: what a target may not hold is
// sent percent-encoded. "Q text" posts a statement to /query, "Q text ;; [1]" with
// parameters, "B one ;; two" posts statements to /batch; both take headers too.
//
// An answer is a status and, if it matters, the body, in which "…" stands for any
// text. Lines after it say more of it: "~ text" that the body holds the text, "!
// text" that it does not, "+ Name: value" that it has the header, with "…" as
// before, and "- Name" that it has none of that name.
//
// A case that begins with "then" instead of "case" goes on where the one before it
// ended. Lines that begin with # are comments.
package exchange
