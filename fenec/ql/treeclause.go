package ql

// Parts of the statements that read and pick documents.
type (
	// A Column is one item of a select list: an expression or a mark.
	Column struct {
		Expr Expr  // nil with Mark
		As   Name  // As.Text is empty without "as", and with Mark
		Mark *Mark // nil with Expr
	}

	// A Mark is "highlight(Field, Args…)" or "snippet(Field, Words, Args…)".
	Mark struct {
		Pos   Pos
		Kind  MarkKind
		Field Name
		Words int64  // of a snippet, from 1
		Args  []Expr // of a highlight none or two, of a snippet none, one or three
	}

	// A Key is one key of an order clause: a field or an aggregate.
	Key struct {
		Path    Path   // zero with Call
		Call    *Call  // nil with Path; of no arguments or one, which is a Path
		Collate string // "", "und" or "tr"
		Desc    bool
	}

	// A Near is "near Field Vector [ef EF] [exact]".
	Near struct {
		Field  Name
		Vector Expr
		EF     *int64 // from 1
		Exact  bool
	}

	// A Match is "match Field Query".
	Match struct {
		Field Name
		Query Expr
	}

	// A Rerank is "rerank Field Vector [candidates Candidates]".
	Rerank struct {
		Field      Name
		Vector     Expr
		Candidates *int64 // from 1
	}

	// A Fuse is "fuse [k K] [candidates Candidates]".
	Fuse struct {
		K          *int64 // not negative
		Candidates *int64 // from 1
	}

	// A Facet is one item of a facet clause. It has Top, Ranges or neither.
	Facet struct {
		Path        Path
		Top         *int64     // from 1 to 10000
		Ranges      []*Literal // numbers, each above the one before; 2 to 10001 or none
		Disjunctive bool
	}

	// A Lookup is "lookup Collection on On [= Parent]" with its clauses. A
	// zero clause was not written.
	Lookup struct {
		Collection Name
		On         Name
		Parent     Name // Parent.Text is empty when it was not written: it is the id
		Star       bool // the columns are "*"
		Columns    []Path
		Where      Expr
		Order      []Key
		Limit      *int64 // not negative
		Offset     *int64 // not negative
		Required   bool
		Lookup     *Lookup // of the level below
	}

	// A Returning is "returning *" or "returning Paths".
	Returning struct {
		Star  bool
		Paths []Path // at least one without Star
	}
)
