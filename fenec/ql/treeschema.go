package ql

// Parts of the statements that declare and change collections.
type (
	// A FieldDef declares one field of a collection.
	FieldDef struct {
		Name     Name
		Type     TypeDef
		Required bool
		Collate  string    // "", "und" or "tr"
		Index    *IndexDef // nil without an index
	}

	// A TypeDef is the type of a declared field.
	TypeDef struct {
		Pos  Pos
		Kind TypeKind
		Elem *TypeDef // the element of a TypeList, else nil
		Dim  int64    // of a TypeVector or a TypeSparse: as written, so 0 may be met
		Half bool     // components of a TypeVector are stored in 16 bits (f16)
	}

	// An IndexDef is an index annotation. The options that Kind has are as
	// written: whether an index can be built with them is not known here.
	IndexDef struct {
		Pos  Pos
		Kind IndexKind
		TTL  *Duration // of an IndexTTL, else nil
		HNSW *HNSWDef  // of an IndexHNSW, else nil
		Text *TextDef  // of an IndexText, else nil
	}

	// An HNSWDef is the options of an IndexHNSW. A number that is 0 was not
	// written.
	HNSWDef struct {
		Metric         string // "cosine", "l2" or "dot"; "cosine" when it was not written
		M              int64
		EFConstruction int64
		EFSearch       int64
		Quant          string // "" for none, "int8" or "bit"
	}

	// A TextDef is the options of an IndexText. One that is nil was not
	// written.
	TextDef struct {
		K1, B             *float64
		Prefix, PrefixMin *int64
		Chars             bool
	}
)
