package catalog

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// check returns why c cannot be a collection, its numbers aside.
func (c *Collection) check() error {
	if !validName(c.Name) {
		return fault.New(fault.Query, "%.80q cannot be the name of a collection", c.Name)
	}
	names := make(map[string]bool, len(c.Fields))
	for i := range c.Fields {
		f := &c.Fields[i]
		if f.Dropped() {
			continue
		}
		if err := f.check(); err != nil {
			return err
		}
		if names[f.Name] {
			return fault.New(fault.Exists, "field %q is there twice", f.Name)
		}
		names[f.Name] = true
	}
	if err := c.checkCounts(len(names)); err != nil {
		return err
	}
	return c.checkIndexes()
}

// checkCounts returns what c has too few or too many of. live is how many of
// its fields were not dropped.
func (c *Collection) checkCounts(live int) error {
	switch {
	case live == 0:
		return fault.New(fault.Query, "collection %q needs a field", c.Name)
	case live > MaxFields:
		return fault.New(fault.Query, "collection %q has more than %d fields", c.Name, MaxFields)
	case len(c.Fields) > MaxPlaces:
		return fault.New(fault.Query, "collection %q has had more than %d fields", c.Name, MaxPlaces)
	case len(c.Paths) > MaxPaths:
		return fault.New(fault.Query, "collection %q has more than %d indexes on paths", c.Name, MaxPaths)
	}
	return nil
}

// checkIndexes checks the indexes against the fields they are on, and against
// each other.
func (c *Collection) checkIndexes() error {
	times := 0
	for i := range c.Fields {
		f := &c.Fields[i]
		if f.Index == nil {
			continue
		}
		if err := f.Index.check(f); err != nil {
			return f.wrong(err)
		}
		if f.Index.Kind == TTL {
			times++
		}
	}
	if times > 1 {
		return fault.New(fault.Query, "collection %q can have one @ttl", c.Name)
	}
	paths := make(map[string]bool, len(c.Paths))
	for _, x := range c.Paths {
		f := &c.Fields[x.Field]
		if err := x.check(f); err != nil {
			return f.wrong(err)
		}
		name := c.PathName(x)
		if paths[name] {
			return indexed(name)
		}
		paths[name] = true
	}
	return c.checkBuilding(times, paths)
}

// checkBuilding checks the indexes in the building beside the others, of which
// times are of kind TTL.
func (c *Collection) checkBuilding(times int, taken map[string]bool) error {
	for _, x := range c.Building {
		f := &c.Fields[x.Field]
		if f.Dropped() {
			return fault.New(fault.Query, "an index in the building is on a field that was dropped")
		}
		if err := x.check(f); err != nil {
			return f.wrong(err)
		}
		name := c.PathName(x)
		if taken[name] || x.Keys == nil && f.Index != nil {
			return indexed(name)
		}
		taken[name] = true
		if x.Kind == TTL {
			times++
		}
	}
	if times > 1 {
		return fault.New(fault.Query, "collection %q can have one @ttl", c.Name)
	}
	return nil
}

func indexed(path string) error {
	return fault.New(fault.Exists, "field %.80q has an index already", path)
}

// validName reports whether a collection or a field may have that name: without
// a dot, which joins a field and a key, and of at most MaxName bytes.
func validName(name string) bool {
	return name != "" && len(name) <= MaxName && !strings.Contains(name, ".")
}

func checkFieldName(name string) error {
	switch {
	case name == ID:
		return fault.New(fault.Query, "every document has an %q, no field can be called so", ID)
	case !validName(name):
		return fault.New(fault.Query, "%.80q cannot be the name of a field", name)
	}
	return nil
}

// checkNewName is checkFieldName for a field that is declared or renamed.
func checkNewName(name string) error {
	if name == Score {
		return fault.New(fault.Query, "a ranking has its scores in %q, no field can be called so", Score)
	}
	return checkFieldName(name)
}

// check returns why f, which was not dropped, cannot be a field, its index
// aside.
func (f *Field) check() error {
	if err := checkFieldName(f.Name); err != nil {
		return err
	}
	if err := f.Type.Check(); err != nil {
		return f.wrong(err)
	}
	if f.Collation != collation.None && !f.Type.Is(value.BaseText) && f.Type != value.ListType(value.TypeText) {
		return f.wrong(fault.New(fault.Query, "collate is for text and [text], not for %s", f.Type))
	}
	return nil
}

// wrong names the field in an error of package fault.
func (f *Field) wrong(err error) error {
	return Named(f.Name, err)
}
