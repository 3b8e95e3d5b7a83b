package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// mark is a column that shows where a text matches: highlight or snippet.
type mark struct {
	name     string
	field    int
	words    int        // of a snippet; 0 of a highlight
	ellipsis *expr.Expr // or nil
	pre, end *expr.Expr // or nil
}

var markNames = map[ql.MarkKind]string{ql.MarkHighlight: "highlight", ql.MarkSnippet: "snippet"}

func compileMark(c *expr.Compiler, s *ql.Mark) (*mark, error) {
	at, err := fieldAt(c.Collection(), s.Field.Text)
	if err != nil {
		return nil, err
	}
	f := &c.Collection().Fields[at]
	m := &mark{name: markNames[s.Kind] + "(" + f.Name + ")", field: at, words: int(min(s.Words, 1<<30))}
	if !f.Type.Is(value.BaseText) {
		return nil, fault.New(fault.Type, "%s: the field is %s, not text", m.name, f.Type)
	}
	args := make([]*expr.Expr, len(s.Args))
	for i, e := range s.Args {
		if args[i], err = c.Compile(e, expr.None); err != nil {
			return nil, err
		}
	}
	if s.Kind == ql.MarkSnippet && len(args) > 0 {
		m.ellipsis, args = args[0], args[1:]
	}
	if len(args) == 2 {
		m.pre, m.end = args[0], args[1]
	}
	return m, nil
}

// value returns the column for the row that f stands at.
func (m *mark) value(f *expr.Frame, marker *text.Marker) (value.Value, error) {
	v, err := f.Row().View(m.field, value.TypeText)
	if v.IsNull() || err != nil {
		return value.Null, err
	}
	s := v.AsText()
	marks := [][2]int(nil)
	if m.words == 0 {
		marks = marker.Marks(s)
	} else {
		ellipsis, err := m.text(f, m.ellipsis)
		if err != nil {
			return value.Null, err
		}
		s, marks = marker.Snippet(s, m.words, ellipsis)
	}
	if m.pre != nil {
		return m.tagged(f, s, marks)
	}
	return m.untagged(s, marks)
}

// untagged returns the marks, of a snippet beside its text.
func (m *mark) untagged(s string, marks [][2]int) (value.Value, error) {
	if m.words == 0 {
		s = "" // which is no part of the value
	}
	if err := m.checkSize(len(s), len(marks), markBytes); err != nil {
		return value.Null, err
	}
	if m.words == 0 {
		return pairs(marks), nil
	}
	return value.Object([]value.Member{{Key: "marks", Value: pairs(marks)}, {Key: "text", Value: value.Text(s)}})
}

func (m *mark) tagged(f *expr.Frame, s string, marks [][2]int) (value.Value, error) {
	pre, err := m.text(f, m.pre)
	if err != nil {
		return value.Null, err
	}
	end, err := m.text(f, m.end)
	if err != nil {
		return value.Null, err
	}
	if err := m.checkSize(len(s), len(marks), len(pre)+len(end)); err != nil {
		return value.Null, err
	}
	return value.Text(text.Highlight(s, marks, pre, end)), nil
}

// markBytes is what a mark without tags counts: two numbers.
const markBytes = 16

// checkSize refuses a value of a text and its marks that is larger than a
// computation may make. Marks may be half as many as the text has bytes, so that
// little of a text or of a tag could ask for any amount of memory.
func (m *mark) checkSize(text, marks, each int) error {
	if n := int64(text) + int64(marks)*int64(each); n > expr.MaxText {
		return fault.New(fault.Query, "%s: %d marks make it %d bytes, longer than %d", m.name, marks, n, expr.MaxText)
	}
	return nil
}

// text returns an argument, which must be text; "" for nil.
func (m *mark) text(f *expr.Frame, x *expr.Expr) (string, error) {
	if x == nil {
		return "", nil
	}
	v, err := x.Eval(f)
	if err != nil {
		return "", err
	}
	if v.Kind() != value.KindText {
		return "", fault.New(fault.Type, "%s: a tag or an ellipsis is text, not %s", m.name, v.Kind())
	}
	return v.AsText(), nil
}

// pairs returns ranges as a list of lists of two.
func pairs(marks [][2]int) value.Value {
	list := make([]value.Value, len(marks))
	for i, r := range marks {
		list[i] = value.List([]value.Value{value.Int(int64(r[0])), value.Int(int64(r[1]))})
	}
	return value.List(list)
}
