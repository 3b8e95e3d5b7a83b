package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// env is what the parts share: the flags, the report, a directory, and one table
// of items on each side, since filling it takes longer than most parts.
type env struct {
	config
	dir  string
	out  *report.Report
	pair *itemPair
}

// itemPair is the table of items on both sides.
type itemPair struct {
	items  *items
	fenec  *fenecEngine
	sqlite *sqliteEngine
	before int64 // memory held before fenec's database was opened, already full
	opened int64 // and right after
}

// engines returns fenec first.
func (p *itemPair) engines() []engine { return []engine{p.fenec, p.sqlite} }

// itemPair returns the table of items, made when first asked for. No part writes
// to it.
func (e *env) itemPair(ctx context.Context) (*itemPair, error) {
	if e.pair != nil {
		return e.pair, nil
	}
	p := &itemPair{items: newItems(e.rows)}
	err := p.load(ctx, e)
	if err == nil {
		err = p.open(e)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	e.pair = p
	return p, nil
}

func (p *itemPair) load(ctx context.Context, e *env) (err error) {
	p.sqlite, err = openSQLite(e.path("items.sqlite"), liteOptions{sync: "normal", readers: 1, cache: e.cache})
	if err != nil {
		return err
	}
	f, err := openFenec(e.path("items.fenec"), fenec.Options{})
	if err != nil {
		return err
	}
	err = errors.Join(p.items.load(ctx, f), p.items.load(ctx, p.sqlite), p.sqlite.run(ctx, "analyze"))
	return errors.Join(err, f.close())
}

// open opens fenec's database, full as it is, and notes what it takes up in
// memory.
func (p *itemPair) open(e *env) (err error) {
	p.before = measure.HeldMemory()
	if p.fenec, err = openFenec(e.path("items.fenec"), fenec.Options{}); err != nil {
		return err
	}
	p.opened = measure.HeldMemory()
	return nil
}

func (p *itemPair) close() error {
	var err error
	if p.fenec != nil {
		err = p.fenec.close()
	}
	if p.sqlite != nil {
		err = errors.Join(err, p.sqlite.close())
	}
	return err
}

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

func (e *env) close() error {
	if e.pair == nil {
		return nil
	}
	return e.pair.close()
}
