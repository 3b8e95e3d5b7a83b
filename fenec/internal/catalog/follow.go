package catalog

import "slices"

// follows reports whether alterations of before can lead to c, with new indexes
// numbered from next on.
func (c *Collection) follows(before *Collection, next uint32) bool {
	if c.Name != before.Name || c.RowSpace != before.RowSpace || len(c.Fields) < len(before.Fields) {
		return false
	}
	for i := range before.Fields {
		if !c.Fields[i].follows(&before.Fields[i]) {
			return false
		}
	}
	for _, x := range c.indexes {
		if old := before.inSpace(x.Space); old == nil && drawn(x.Space) < next || old != nil && !x.follows(old) {
			return false
		}
	}
	return true
}

// follows reports whether f can be what became of before, indexes aside.
func (f *Field) follows(before *Field) bool {
	switch {
	case f.Type != before.Type:
		return false
	case f.Dropped():
		return true
	}
	return !before.Dropped() && f.Required == before.Required && f.Collation == before.Collation
}

// follows reports whether x has the entries that before had, made with the same
// options.
func (x *Index) follows(before *Index) bool {
	return x.Field == before.Field && slices.Equal(x.Keys, before.Keys) &&
		(x.Kind == before.Kind || x.Kind.ordered() && before.Kind.ordered()) &&
		same(x.Text, before.Text) && same(x.HNSW, before.HNSW)
}

// same reports whether options, of which there may be none, are equal.
func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// inSpace returns the index whose entries are in that space, or nil.
func (c *Collection) inSpace(space uint32) *Index {
	for _, x := range c.indexes {
		if x.Space == space {
			return x
		}
	}
	return nil
}

// Builds reports whether x, an index of a later definition of the same collection,
// is in the building in c.
func (c *Collection) Builds(x *Index) bool {
	was := c.inSpace(x.Space)
	return was != nil && !c.Built(was)
}

// Installs reports whether x, in the building in an earlier definition of the same
// collection, is built in c.
func (c *Collection) Installs(x *Index) bool {
	is := c.inSpace(x.Space)
	return is != nil && c.Built(is)
}

// NewIndexes returns the indexes of c that before, an earlier definition of the
// same collection, does not have: those whose entries are yet to be made.
func (c *Collection) NewIndexes(before *Collection) []*Index {
	var added []*Index
	for _, x := range c.indexes {
		if before.inSpace(x.Space) == nil {
			added = append(added, x)
		}
	}
	return added
}
