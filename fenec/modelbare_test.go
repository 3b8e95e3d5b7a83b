package fenec_test

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Beside the database that has all the indexes its statements ask for runs one
// with only those that a statement cannot do without. It must answer the same.

// keptBare reports whether the database with few indexes has such an index, on a
// field of that type: by hash what lookups go by.
func keptBare(kind ql.IndexKind, t *ql.TypeDef) bool {
	switch kind {
	case ql.IndexUnique, ql.IndexTTL, ql.IndexText, ql.IndexHNSW:
		return true
	case ql.IndexHash:
		return t.Kind == ql.TypeInt || t.Kind == ql.TypeText
	}
	return false
}

// bareText returns what that database is given in the place of a statement that
// succeeds, w being as it is before; "" for nothing.
func bareText(w *world, st *statement) string {
	switch s := st.tree.(type) {
	case *ql.CreateCollection:
		bare := *s
		bare.Fields = slices.Clone(s.Fields)
		for i := range bare.Fields {
			bareField(&bare.Fields[i])
		}
		return ql.Print(&bare)
	case *ql.AlterCollection:
		switch s.Kind {
		case ql.AlterAdd:
			bare, f := *s, *s.Add
			bareField(&f)
			bare.Add = &f
			return ql.Print(&bare)
		case ql.AlterIndex:
			return bareReindex(w.cols[s.Name.Text].field(s.Field.Text), s)
		}
	case *ql.CreateIndex:
		t := w.cols[s.On.Text]
		path := len(s.Path.Keys) > 0
		if t.indexed(&s.Path) || path && s.Index.Kind != ql.IndexUnique || !path && !keptBare(s.Index.Kind, &t.field(s.Path.Field).Type) {
			return ""
		}
	}
	return st.text
}

func bareField(f *ql.FieldDef) {
	if f.Index != nil && !keptBare(f.Index.Kind, &f.Type) {
		f.Index = nil
	}
}

// bareReindex alters an index that may not be there.
func bareReindex(f *modelField, s *ql.AlterCollection) string {
	switch {
	case f.bare:
		return ql.Print(s)
	case s.Index.Kind == ql.IndexTTL:
		return ql.Print(&ql.CreateIndex{On: s.Name, Path: ql.Path{Field: s.Field.Text}, Index: *s.Index})
	}
	return ""
}

// definesIndexes reports whether the database with few indexes may see a
// statement otherwise.
func definesIndexes(st *statement) bool {
	switch st.tree.(type) {
	case *ql.CreateCollection, *ql.AlterCollection, *ql.CreateIndex, *ql.DropCollection:
		return true
	}
	return false
}
