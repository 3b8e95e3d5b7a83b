package fenec

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func (w *block) create(def *ql.CreateCollection) (*Result, error) {
	name := def.Name.Text
	if def.IfNotExists && w.catalog.Find(name) != nil {
		return done("collection %s is there already", name), nil
	}
	cat, c, err := w.catalog.Create(def)
	if err != nil {
		return nil, err
	}
	w.catalog = cat
	return done("collection %s created", name), w.tx.Create(cat, c)
}

func (w *block) drop(def *ql.DropCollection) (*Result, error) {
	name := def.Name.Text
	err := w.session.knows(w.catalog, name)
	if def.IfExists && (err != nil || w.catalog.Find(name) == nil) {
		return done("there is no collection %s", name), nil
	}
	if err != nil {
		return nil, err
	}
	cat, c, err := w.catalog.Drop(name)
	if err != nil {
		return nil, err
	}
	w.catalog = cat
	return done("collection %s dropped", name), w.tx.Drop(c)
}

func (w *block) alter(ctx context.Context, def *ql.AlterCollection) (*Result, error) {
	if err := w.session.knows(w.catalog, def.Name.Text); err != nil {
		return nil, err
	}
	cat, before, after, err := w.catalog.Alter(def)
	if err != nil {
		return nil, err
	}
	w.catalog = cat
	return done("collection %s altered", after.Name), w.tx.Alter(ctx, cat, before, after)
}

func (w *block) createIndex(ctx context.Context, def *ql.CreateIndex) (*Result, error) {
	if err := w.session.knows(w.catalog, def.On.Text); err != nil {
		return nil, err
	}
	cat, before, after, x, err := w.catalog.CreateIndex(def)
	if def.IfNotExists && errors.Is(err, ErrExists) {
		return thereAlready(def), nil
	}
	if err != nil {
		return nil, err
	}
	if x.Kind == catalog.Unique {
		// Expired rows hold no value; if they came back they would.
		if err := w.sweepAll(before.Name); err != nil {
			return nil, err
		}
	}
	w.catalog = cat
	err = w.tx.Alter(ctx, cat, before, after)
	return done("index on %s of collection %s created", after.PathName(x), after.Name), w.session.discreet(def, err)
}

func thereAlready(def *ql.CreateIndex) *Result {
	return done("%s of collection %s has an index already", def.Path.String(), def.On.Text)
}

func done(format string, args ...any) *Result {
	return &Result{kind: KindMessage, told: &told{message: fmt.Sprintf(format, args...)}, wrote: true}
}
