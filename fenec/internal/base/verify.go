package base

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// maxFindings bounds how many faults Verify reports.
const maxFindings = 20

// Verify walks the whole file and returns what is wrong with its pages: every
// page is to be in use once or free, of the right kind, with its keys in order
// and within the bounds its parent gives it. No fold may run meanwhile.
func (t *Tx) Verify() error {
	v := verifier{pages: &t.pages, path: t.path, uses: make([]use, t.pages.count)}
	v.guard(func() { v.freelist(uint64(t.tx.ID())) })
	v.guard(v.trees)
	v.lost()
	return errors.Join(v.found...)
}

// verifyTree walks one tree and returns the first thing that is wrong with it.
func (p *pages) verifyTree(path string, t tree) error {
	v := verifier{pages: p, path: path, uses: make([]use, p.count)}
	v.guard(func() { v.node(t.root, nil, nil, 0, v.value) })
	return errors.Join(v.found...)
}

// use says what a page is used for.
type use uint8

const (
	unknown use = iota
	inUse
	free
)

type verifier struct {
	pages *pages
	path  string
	uses  []use // by page
	found []error
	lists bool // the free pages are known
}

func (v *verifier) report(format string, args ...any) {
	if len(v.found) < maxFindings {
		v.found = append(v.found, corrupt(v.path, format, args...))
	}
}

// guard runs a part of the walk and reports what it stumbles over.
func (v *verifier) guard(part func()) {
	var err error
	func() {
		defer recoverCorrupt(v.path, &err)
		defer endFaults(catchFaults())
		part()
	}()
	if err != nil && len(v.found) < maxFindings {
		v.found = append(v.found, err)
	}
}

// claim notes that page b is used, and panics if it is used otherwise too.
func (v *verifier) claim(b page) {
	for id := b.id(); id <= b.id()+uint64(b.overflow()); id++ {
		switch v.uses[id] {
		case inUse:
			panic(fmt.Sprintf("page %d is used twice", id))
		case free:
			v.report("page %d is in use and free", id)
		}
		v.uses[id] = inUse
	}
}

// freelist notes the free pages. Of the two metas it takes the one of the
// transaction with the given number.
func (v *verifier) freelist(tx uint64) {
	for i := range uint64(2) {
		m, ok := decodeMeta(v.pages.data[i*v.pages.size:])
		if !ok || m.tx != tx {
			continue
		}
		b := v.pages.page(m.freelist)
		v.claim(b)
		ids, err := freeIDs(b, v.pages.count)
		if err != nil {
			panic(err.Error())
		}
		for i := range len(ids) / 8 {
			v.uses[binary.NativeEndian.Uint64(ids[8*i:])] = free
		}
		v.lists = true
		return
	}
	panic("no meta page is the transaction's")
}

// lost reports the pages that are neither in use nor free. A tree that could
// not be walked to its end may have any.
func (v *verifier) lost() {
	if !v.lists || len(v.found) > 0 {
		return
	}
	for id := uint64(2); id < v.pages.count; id++ {
		if v.uses[id] == unknown {
			v.report("page %d is neither used nor free", id)
		}
	}
}

// trees walks the tree of buckets and theirs.
func (v *verifier) trees() { v.tree(v.pages.root, nil, nil, 0, v.bucket) }

// tree walks the tree below a page. Its keys must lie in [lower, upper), nil
// being unbounded; visit is given every element of its leaves.
func (v *verifier) tree(id uint64, lower, upper []byte, depth int, visit func(key, value []byte, flags uint32)) {
	b := v.pages.page(id)
	v.claim(b)
	if depth > 0 && b.count() == 0 {
		panic(fmt.Sprintf("page %d has no elements", id))
	}
	v.node(b, lower, upper, depth, visit)
}

func (v *verifier) node(b page, lower, upper []byte, depth int, visit func(key, value []byte, flags uint32)) {
	if depth == maxDepth {
		panic(inCircles)
	}
	for i, last := 0, lower; i < b.count(); i++ {
		key := b.key(i)
		if len(key) == 0 || last != nil && bytes.Compare(key, last) < 0 || i > 0 && bytes.Equal(key, last) ||
			upper != nil && bytes.Compare(key, upper) >= 0 {
			panic(b.disorder())
		}
		last = key
		if b.isLeaf() {
			visit(b.leaf(i))
			continue
		}
		end := upper
		if i+1 < b.count() {
			end = b.key(i + 1)
		}
		_, id := b.branch(i)
		v.guard(func() { v.tree(id, key, end, depth+1, visit) })
	}
}

// bucket walks the bucket that an element of the top tree is.
func (v *verifier) bucket(name, value []byte, flags uint32) {
	if flags != bucketFlag || !bytes.Equal(name, metaBucket) && len(name) != 4 {
		v.report("an unknown bucket %q", name)
	}
	if id := binary.NativeEndian.Uint64(value); id != 0 {
		v.guard(func() { v.tree(id, nil, nil, 0, v.value) })
		return
	}
	v.guard(func() { v.node(v.pages.open(value).root, nil, nil, 0, v.value) })
}

// value looks at an element of a space.
func (v *verifier) value(key, _ []byte, flags uint32) {
	if flags != 0 {
		v.report("key %q has flags %#x", key, flags)
	}
}
