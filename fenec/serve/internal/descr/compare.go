package descr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
)

// compare adds what the schema live lacks of what is declared, and what stands
// against it. Whoever follows adds nothing and asks for nothing that is not
// declared.
func (p *Plan) compare(live, declared *Schema, follow bool) {
	for _, name := range declared.names {
		have, want := live.find(name), declared.find(name)
		switch {
		case have != nil:
			(&comparison{plan: p, have: have, want: want, follow: follow, skip: map[string]bool{}}).run()
		case follow:
			p.refuse(collectionMissing(want))
		default:
			p.Statements = append(p.Statements, declaration(want)...)
		}
	}
}

func (p *Plan) refuse(r Refusal) { p.Refusals = append(p.Refusals, r) }

// comparison compares a collection that is there with one that is declared.
type comparison struct {
	plan       *Plan
	have, want *catalog.Collection
	follow     bool
	skip       map[string]bool // fields of which enough was said to say nothing of their indexes
}

func (c *comparison) run() {
	for at := range c.want.Fields {
		if i, ok := c.have.Position(c.want.Fields[at].Name); ok {
			c.field(&c.have.Fields[i], &c.want.Fields[at])
		} else {
			c.missing(at)
		}
	}
	if !c.follow {
		c.undeclared()
	}
	c.indexes()
}

// missing is about a declared field that is not there.
func (c *comparison) missing(at int) {
	f := &c.want.Fields[at]
	switch {
	case c.follow:
		c.refuse(f.Name, fieldMissing(c.want, at))
	case f.Required:
		c.refuse(f.Name, requiredAdded(c.want, f))
	default:
		c.plan.Statements = append(c.plan.Statements, addField(c.want, at))
	}
}

// refuse adds a refusal that says enough of a field.
func (c *comparison) refuse(field string, r Refusal) {
	c.skip[field] = true
	c.plan.refuse(r)
}

// field is about a field that is there and declared. Who follows and does not
// declare that it is required, or collated, does not ask for it not to be.
func (c *comparison) field(have, want *catalog.Field) {
	if have.Type != want.Type {
		c.refuse(want.Name, typeChanged(c.have, have, want))
		return
	}
	if have.Required != want.Required && (want.Required || !c.follow) {
		c.plan.refuse(requiredChanged(c.have, want))
	}
	if have.Collation != want.Collation && (want.Collation != collation.None || !c.follow) {
		c.plan.refuse(collateChanged(c.have, have, want))
	}
}

// undeclared is about the fields that are there and not declared.
func (c *comparison) undeclared() {
	for i := range c.have.Fields {
		f := &c.have.Fields[i]
		if f.Dropped() {
			continue
		}
		if _, declared := c.want.Position(f.Name); !declared {
			c.refuse(f.Name, fieldNotDeclared(c.have, f))
		}
	}
}

func (c *comparison) indexes() {
	have, want := byPath(c.have), byPath(c.want)
	for _, x := range c.want.Indexes() {
		if f := &c.want.Fields[x.Field]; !c.skip[f.Name] {
			c.index(have[c.want.PathName(x)], x)
		}
	}
	if c.follow {
		return
	}
	for _, x := range c.have.Indexes() {
		path := c.have.PathName(x)
		if want[path] == nil && !c.skip[c.have.Fields[x.Field].Name] {
			c.plan.refuse(indexRemoved(c.have, x))
		}
	}
}

// index is about a declared index, and what is in its place, if anything is.
func (c *comparison) index(have, want *catalog.Index) {
	_, old := c.have.Position(c.want.Fields[want.Field].Name)
	switch {
	case have != nil && have.String() == want.String():
	case have != nil:
		c.plan.refuse(indexChanged(c.have, have, want))
	case c.follow:
		c.plan.refuse(indexMissing(c.want, want))
	case old || want.Keys != nil: // else it is made with its field
		c.plan.Statements = append(c.plan.Statements, createIndex(c.want, want))
	}
}

// byPath returns the indexes of a collection, those in the building among them, by
// what they are on.
func byPath(c *catalog.Collection) map[string]*catalog.Index {
	m := make(map[string]*catalog.Index, len(c.Indexes()))
	for _, x := range c.Indexes() {
		m[c.PathName(x)] = x
	}
	return m
}
