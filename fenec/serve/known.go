package serve

import (
	"slices"
	"strings"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// traits are what a server wants to know of a statement before it runs it.
type traits struct {
	tree    ql.Statement
	shape   string // the text without its literals
	verb    verb
	reads   []string // collections it reads rows of, those of inner gets included
	inner   bool     // it holds a get within a condition
	now     bool     // it calls now()
	faceted bool
	get     bool // it is a get
	few     bool // it is a get that answers few rows at most
}

// verb is the kind of a statement.
type verb uint8

const (
	verbRead verb = iota // get, explain, collections, describe
	verbPut              // put and insert
	verbSet
	verbDel
	verbSchema // create, drop, alter, create index
	verbCompact
)

func (v verb) writes() bool { return v != verbRead }

// knownStatements keeps the traits of statements that come again.
type knownStatements struct {
	mu         sync.RWMutex
	young, old map[string]*traits
}

const (
	knownMost = 256     // texts of each generation
	knownText = 4 << 10 // the longest text that is kept, in bytes
)

// fewRows is how many rows are answered from memory without a thought: as many as DB.Rows
// finds before it gives the first. A row may be far longer than what is stored of it,
// since a parameter may be part of each.
const fewRows = 16

// of returns the traits of a statement's text.
func (k *knownStatements) of(text string) (*traits, error) {
	t, young := k.find(text)
	if young {
		return t, nil
	}
	if t == nil {
		tree, err := ql.Parse(text)
		if err != nil {
			return nil, err
		}
		t = traitsOf(tree)
		t.shape = cutShape(ql.Shape(text))
	}
	if len(text) <= knownText {
		k.add(strings.Clone(text), t)
	}
	return t, nil
}

// find returns the traits of a text that is known, or nil, and whether it is of the
// young ones.
func (k *knownStatements) find(text string) (t *traits, young bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if t = k.young[text]; t != nil {
		return t, true
	}
	return k.old[text], false
}

// shape returns the shape of a statement's text.
func (k *knownStatements) shape(text string) string {
	if t, err := k.of(text); err == nil {
		return t.shape
	}
	return cutShape(ql.Shape(text))
}

func (k *knownStatements) add(text string, t *traits) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.young) >= knownMost {
		k.young, k.old = nil, k.young
	}
	if k.young == nil {
		k.young = map[string]*traits{}
	}
	k.young[text] = t
}

func traitsOf(tree ql.Statement) *traits {
	t := &traits{tree: tree}
	switch tree := tree.(type) {
	case *ql.Get:
		t.readsOf(tree)
		t.faceted = len(tree.Facets) > 0
		t.get = true
		t.few = tree.Count || tree.Limit != nil && *tree.Limit <= fewRows || tree.Lookup == nil && picksOne(tree.Where)
	case *ql.Put:
		t.verb = verbPut
	case *ql.Set:
		t.verb, t.reads = verbSet, []string{tree.Name.Text}
	case *ql.Del:
		t.verb, t.reads = verbDel, []string{tree.From.Text}
	case *ql.CreateCollection, *ql.DropCollection, *ql.AlterCollection, *ql.CreateIndex:
		t.verb = verbSchema
	case *ql.Compact:
		t.verb = verbCompact
	}
	ql.Walk(tree, func(x ql.Expr) bool {
		switch x := x.(type) {
		case *ql.In:
			if x.Get != nil {
				t.inner = true
				t.readsOf(x.Get)
			}
		case *ql.Call:
			t.now = t.now || isNow(x)
		}
		return true
	})
	slices.Sort(t.reads)
	t.reads = slices.Compact(t.reads)
	return t
}

// picksOne reports whether a condition is met by one document at most: that of
// an id.
func picksOne(where ql.Expr) bool {
	b, ok := where.(*ql.Binary)
	switch {
	case !ok:
		return false
	case b.Op == ql.OpAnd:
		return picksOne(b.Left) || picksOne(b.Right)
	}
	return b.Op == ql.OpEq && (isID(b.Left) && isConstant(b.Right) || isConstant(b.Left) && isID(b.Right))
}

// isConstant reports whether an expression is the same for all documents.
func isConstant(e ql.Expr) bool {
	switch e.(type) {
	case *ql.Literal, *ql.Param:
		return true
	}
	return false
}

func isID(e ql.Expr) bool {
	p, ok := e.(*ql.Path)
	return ok && p.Field == catalog.ID && len(p.Keys) == 0
}

func (t *traits) readsOf(g *ql.Get) {
	t.reads = append(t.reads, g.From.Text)
	for l := g.Lookup; l != nil; l = l.Lookup {
		t.reads = append(t.reads, l.Collection.Text)
	}
}
