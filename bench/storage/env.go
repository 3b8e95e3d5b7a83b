package main

import (
	"context"
	"path/filepath"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// env is what the parts share: the flags, the report, a directory, and one
// fenec database filled once, since filling it takes longer than most parts.
type env struct {
	config
	dir  string
	out  *report.Report
	base *fenecDB
}

// filled returns the database of rows even ids, made when first asked for.
// Parts may put odd ids into it.
func (e *env) filled(ctx context.Context) (*fenecDB, error) {
	if e.base != nil {
		return e.base, nil
	}
	db, err := openFenec(e.path("base.fenec"), fenec.Options{})
	if err != nil {
		return nil, err
	}
	e.base = db
	return db, db.fill(ctx, e.rows, e.bodies())
}

// bodyBytes makes a row of 300 bytes together with its two integers.
const bodyBytes = 284

func (e *env) bodies() gen.Bodies { return gen.MakeBodies(4096, bodyBytes) }

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

func (e *env) close() error {
	if e.base == nil {
		return nil
	}
	return e.base.close()
}
