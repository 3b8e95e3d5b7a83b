package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

const (
	leagueText = "select id, league, name from team where league = ?"
	squadText  = "select id, team, points, name from member where team = ?"
	joinText   = "select t.id, t.league, t.name, m.id, m.team, m.points, m.name from team t " +
		"left join member m on m.team = t.id where t.league = ? order by t.id, m.id"
)

// measureLookup compares a lookup with what a program does that has none: one
// query for the parents and one for each parent's children. What SQLite can do
// by a join, which repeats the parent with each child, is shown beside it.
func measureLookup(ctx context.Context, e *env) error {
	for _, apart := range []bool{false, true} {
		if err := measureTeams(ctx, e, newTeams(max(e.rows/10/leagueTeams, 1), apart)); err != nil {
			return err
		}
	}
	return nil
}

// measureTeams makes the tables of d and measures lookups in them.
func measureTeams(ctx context.Context, e *env, d *teams) (err error) {
	f, err := openFenec(e.path(d.name()+".fenec"), fenec.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	lite, err := openSQLite(e.path(d.name()+".sqlite"), liteOptions{sync: "normal", readers: 1, cache: e.cache})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lite.close()) }()
	if err := errors.Join(d.load(ctx, f), d.load(ctx, lite)); err != nil {
		return err
	}
	return compareLookup(ctx, e, d, f, lite)
}

func compareLookup(ctx context.Context, e *env, d *teams, f *fenecEngine, lite *sqliteEngine) error {
	lookup, err := f.db.Prepare("get team where league = $1 lookup member on team")
	if err != nil {
		return err
	}
	var parents, children, join statement
	err = prepareAll(lite, map[*statement]text{
		&parents: {sqlite: leagueText}, &children: {sqlite: squadText}, &join: {sqlite: joinText},
	})
	if err != nil {
		return err
	}
	each := func(en engine, ask func(*roll) error) measure.Contender {
		pick := gen.NewSpread(int64(d.leagues))
		return e.contender(en, func() error { return ask(&roll{d: d, league: pick.Take()}) })
	}
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		each(f, func(r *roll) error { return r.lookup(ctx, lookup) }),
		each(lite, func(r *roll) error { return r.queries(ctx, parents, children) }),
		each(lite, func(r *roll) error { return r.join(ctx, join) }),
	})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d parents with %d children each, %s", leagueTeams, teamMembers, d.name())
	e.out.Line(name, report.Duration, got[0], got[1], got[1]/got[0], report.AtLeast(8))
	e.out.Line("  SQLite with one join", report.Duration, got[0], got[2], got[2]/got[0], report.Goal{})
	return nil
}

// lookup reads the league with one statement that answers teams with their
// members.
func (r *roll) lookup(ctx context.Context, st *fenec.Stmt) error {
	res, err := st.Query(ctx, r.league)
	if err != nil {
		return err
	}
	var (
		t team
		m member
	)
	for row := range res.All() {
		if err := t.read(row); err != nil {
			return err
		}
		if err := r.team(t); err != nil {
			return err
		}
		for child := range row.Children() {
			if err := child.Scan(&m.id, &m.team, &m.points, &m.name); err != nil {
				return err
			}
			if err := r.member(m); err != nil {
				return err
			}
		}
	}
	return r.end()
}

// read reads a team by the names of its columns, of which its members are one.
func (t *team) read(row fenec.Row) error {
	var errs [3]error
	t.id, errs[0] = row.Int("id")
	t.league, errs[1] = row.Int("league")
	t.name, errs[2] = row.Text("name")
	return errors.Join(errs[:]...)
}

// queries reads the teams first and then the members of each.
func (r *roll) queries(ctx context.Context, parents, children statement) error {
	list := make([]team, 0, leagueTeams)
	err := parents.rows(ctx, []any{r.league}, func(scan scan) error {
		var t team
		err := scan(&t.id, &t.league, &t.name)
		list = append(list, t)
		return err
	})
	if err != nil {
		return err
	}
	var m member
	for _, t := range list {
		if err := r.team(t); err != nil {
			return err
		}
		err := children.rows(ctx, []any{t.id}, func(scan scan) error {
			if err := scan(&m.id, &m.team, &m.points, &m.name); err != nil {
				return err
			}
			return r.member(m)
		})
		if err != nil {
			return err
		}
	}
	return r.end()
}

// join reads teams and members with one statement.
func (r *roll) join(ctx context.Context, st statement) error {
	var (
		t    team
		m    member
		last int64
	)
	err := st.rows(ctx, []any{r.league}, func(scan scan) error {
		if err := scan(&t.id, &t.league, &t.name, &m.id, &m.team, &m.points, &m.name); err != nil {
			return err
		}
		if t.id != last {
			last = t.id
			if err := r.team(t); err != nil {
				return err
			}
		}
		return r.member(m)
	})
	return errors.Join(err, r.end())
}
