package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// cachedPolicies is the number of policies that a file keeps. When there are more,
// all are forgotten; those in use stay.
const cachedPolicies = 1024

// policy returns the policy of the rules that apply to a token, the same for all
// tokens with those rules whose lists are of those lengths.
func (f *File) policy(rules []*rule, lengths []int) (*fenec.Policy, error) {
	key := f.key(rules, lengths)
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.policies[key]; p != nil {
		return p, nil
	}
	p, err := f.combine(rules, f.places(lengths))
	if err != nil {
		return nil, err
	}
	if len(f.policies) >= cachedPolicies {
		clear(f.policies)
	}
	f.policies[key] = p
	return p, nil
}

// key returns what tells policies of f apart: their rules and the lengths of lists.
func (f *File) key(rules []*rule, lengths []int) string {
	key := make([]byte, len(f.rules), len(f.rules)+2*len(lengths))
	at := 0
	for _, r := range rules {
		at += slices.Index(f.rules[at:], r)
		key[at] = 1
	}
	for _, n := range lengths {
		key = append(key, byte(n>>8), byte(n))
	}
	return string(key)
}

// combine returns the policy that some rules make together.
func (f *File) combine(rules []*rule, at *places) (*fenec.Policy, error) {
	a := fenec.Access{
		Collections: map[string]fenec.Grants{},
		Others:      f.together(on(rules, every), slices.Contains(f.appendOnly, every), at),
	}
	for _, name := range f.names() {
		a.Collections[name] = f.together(f.rulesOf(name, rules), f.onlyAppends(name), at)
	}
	p, err := fenec.NewPolicy(a)
	if err != nil {
		return nil, fmt.Errorf("the rules together: %w", err)
	}
	return p, nil
}

// names returns the collections that are not as all others are.
func (f *File) names() []string {
	names := slices.Clone(f.own)
	for _, r := range f.rules {
		names = addNew(names, r.collection)
	}
	for _, name := range f.appendOnly {
		names = addNew(names, name)
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == every })
}

// rulesOf returns those of some rules that are about a collection.
func (f *File) rulesOf(collection string, rules []*rule) []*rule {
	if strings.HasPrefix(collection, "_") || slices.Contains(f.own, collection) {
		return on(rules, collection)
	}
	return on(rules, collection, every)
}

func on(rules []*rule, collections ...string) []*rule {
	return with(rules, func(r *rule) bool { return slices.Contains(collections, r.collection) })
}

func with(rules []*rule, is func(*rule) bool) []*rule {
	var out []*rule
	for _, r := range rules {
		if is(r) {
			out = append(out, r)
		}
	}
	return out
}

func granting(rules []*rule, g grants) []*rule {
	return with(rules, func(r *rule) bool { return r.grants&g != 0 })
}

// together returns what some rules grant on a collection.
func (f *File) together(rules []*rule, appendOnly bool, at *places) fenec.Grants {
	inserts := granting(rules, insert)
	g := fenec.Grants{
		Read:    rowsOf(granting(rules, read), at),
		Expired: rowsOf(granting(rules, expired), at),
		Insert:  rowsOf(inserts, at),
		Fill:    fill(inserts, at),
	}
	if !appendOnly {
		g.Delete = rowsOf(granting(rules, remove), at)
		g.Update = updatesOf(granting(rules, update), at)
	}
	return g
}

// rowsOf returns the rows that one of the rules is about.
func rowsOf(rules []*rule, at *places) fenec.Rows {
	var terms []string
	for _, r := range rules {
		if r.filter == nil {
			return fenec.EveryRow
		}
		terms = addNew(terms, "("+r.filter.text(at)+")")
	}
	return fenec.Rows(strings.Join(terms, " or "))
}

// updatesOf returns the changes that rules admit: those without fields as one, each
// with fields by itself.
func updatesOf(rules []*rule, at *places) []fenec.Update {
	var out []fenec.Update
	if rows := rowsOf(with(rules, func(r *rule) bool { return r.fields == nil }), at); rows != "" {
		out = append(out, fenec.Update{Rows: rows})
	}
	for _, r := range rules {
		if r.fields != nil {
			out = append(out, fenec.Update{Rows: rowsOf([]*rule{r}, at), Fields: r.fields})
		}
	}
	return out
}
