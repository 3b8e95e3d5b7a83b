package descr

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Refusal is something of a description that cannot be had by adding.
type Refusal struct {
	Kind       string
	Collection string
	Field      string // or a path below one; "" where it is about the collection
	Message    string
	Fix        string // what to do about it
}

// appendJSON appends the refusal as an object. One about a collection has no
// field, which is null.
func (r *Refusal) appendJSON(dst []byte) []byte {
	dst = value.AppendJSONString(append(dst, `{"kind":`...), r.Kind)
	dst = value.AppendJSONString(append(dst, `,"collection":`...), r.Collection)
	dst = append(dst, `,"field":`...)
	if r.Field == "" {
		dst = append(dst, "null"...)
	} else {
		dst = value.AppendJSONString(dst, r.Field)
	}
	dst = value.AppendJSONString(append(dst, `,"message":`...), r.Message)
	dst = value.AppendJSONString(append(dst, `,"fix":`...), r.Fix)
	return append(dst, '}')
}

// refusal returns a refusal about a field of c, which is named before the message.
func refusal(kind string, c *catalog.Collection, field, message, fix string) Refusal {
	return Refusal{kind, c.Name, field, c.Name + "." + field + " " + message, fix}
}

// rebuilding is the fix of what a rebuild of the field helps against.
func rebuilding(c *catalog.Collection, field, otherwise string) string {
	return fmt.Sprintf(`%s, or add the migration {"rebuild":{"collection":%q,"field":%q}}`, otherwise, c.Name, field)
}

func fieldNotDeclared(c *catalog.Collection, f *catalog.Field) Refusal {
	alter := "alter collection " + c.Name
	return refusal("field_not_declared", c, f.Name, "is there and not declared", fmt.Sprintf(
		`declare it, or add a migration: "%s rename field %s to …" if it is called otherwise now, "%s drop field %s" if it is to go`,
		alter, f.Name, alter, f.Name))
}

func typeChanged(c *catalog.Collection, have, want *catalog.Field) Refusal {
	return refusal("type_changed", c, want.Name, fmt.Sprintf("is %s and declared as %s", have.Type, want.Type),
		rebuilding(c, want.Name, "declare it as "+have.Type.String()))
}

func requiredChanged(c *catalog.Collection, want *catalog.Field) Refusal {
	if want.Required {
		return refusal("required_changed", c, want.Name, "is not required and declared so",
			"declare it without required: what documents lack already cannot be required of them")
	}
	return refusal("required_changed", c, want.Name, "is required and not declared so",
		rebuilding(c, want.Name, "declare it required"))
}

func requiredAdded(c *catalog.Collection, f *catalog.Field) Refusal {
	return refusal("required_added", c, f.Name, "is declared required and not there",
		"declare it without required: what documents lack already cannot be required of them")
}

func collateChanged(c *catalog.Collection, have, want *catalog.Field) Refusal {
	return refusal("collate_changed", c, want.Name,
		fmt.Sprintf("has %s and is declared with %s", collated(have.Collation), collated(want.Collation)),
		rebuilding(c, want.Name, "declare it with "+collated(have.Collation)))
}

func collated(c collation.Collation) string {
	if c == collation.None {
		return "no collation"
	}
	return "collate " + c.String()
}

func indexChanged(c *catalog.Collection, have, want *catalog.Index) Refusal {
	path, field := c.PathName(have), c.Fields[have.Field].Name
	fix := rebuilding(c, field, "declare @"+have.String())
	if alterable(have) && alterable(want) {
		fix = fmt.Sprintf(`declare @%s, or add the migration "alter collection %s alter field %s @%s"`, have, c.Name, field, want)
	}
	return refusal("index_changed", c, path, fmt.Sprintf("has the index @%s and is declared with @%s", have, want), fix)
}

// alterable reports whether a statement turns an index into another one of these.
func alterable(x *catalog.Index) bool {
	return x.Keys == nil && (x.Kind == catalog.Sorted || x.Kind == catalog.TTL)
}

func indexRemoved(c *catalog.Collection, x *catalog.Index) Refusal {
	return refusal("index_removed", c, c.PathName(x), fmt.Sprintf("has the index @%s and is declared without", x),
		rebuilding(c, c.Fields[x.Field].Name, "declare @"+x.String()))
}

// What follows is told to who follows a schema, which others are to make.

func collectionMissing(c *catalog.Collection) Refusal {
	return Refusal{
		Kind: "collection_missing", Collection: c.Name,
		Message: c.Name + " is declared and not there",
		Fix:     "apply the description with a token that may, or do not use it",
	}
}

func fieldMissing(c *catalog.Collection, at int) Refusal {
	return refusal("field_missing", c, c.Fields[at].Name, "is declared and not there",
		following(addField(c, at)))
}

func indexMissing(c *catalog.Collection, x *catalog.Index) Refusal {
	return refusal("index_missing", c, c.PathName(x), fmt.Sprintf("is declared with the index @%s, which is not there", x),
		following(createIndex(c, x)))
}

func following(statement string) string {
	return fmt.Sprintf("apply the description with a token that may, or run %q", statement)
}
