package descr

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
)

// declaration returns the statements that make a collection as c is.
func declaration(c *catalog.Collection) []string {
	var fields, paths []string
	for at := range c.Fields {
		if c.Fields[at].Dropped() {
			continue
		}
		fields = append(fields, fieldText(c, at))
		_, below := indexesOf(c, at)
		for _, x := range below {
			paths = append(paths, createIndex(c, x))
		}
	}
	return append([]string{"create collection " + c.Name + " (" + strings.Join(fields, ", ") + ")"}, paths...)
}

// fieldText returns the declaration of the field at that place.
func fieldText(c *catalog.Collection, at int) string {
	f := &c.Fields[at]
	text := f.Name + " " + f.Type.String()
	if f.Required {
		text += " required"
	}
	if f.Collation != collation.None {
		text += " collate " + f.Collation.String()
	}
	if x, _ := indexesOf(c, at); x != nil {
		text += " @" + x.String()
	}
	return text
}

func createIndex(c *catalog.Collection, x *catalog.Index) string {
	return "create index on " + c.Name + " (" + c.PathName(x) + ") @" + x.String()
}

func addField(c *catalog.Collection, at int) string {
	return "alter collection " + c.Name + " add field " + fieldText(c, at)
}
