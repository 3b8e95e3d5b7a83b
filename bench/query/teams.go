package main

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

const (
	leagueTeams = 20
	teamMembers = 3
	teamBody    = 96
)

// teams are leagues of 20 teams with three members each: put one after the other,
// or apart, with all others in between.
type teams struct {
	leagues int
	teams   int
	apart   bool
	pool    gen.Bodies
}

var (
	teamSchema = map[string][]string{
		"fenec": {
			"create collection team (league int @hash, name text)",
			"create collection member (team int @hash, points int, name text)",
		},
		"SQLite": {
			"create table team (id integer primary key, league integer, name text)",
			"create table member (id integer primary key, team integer, points integer, name text)",
			"create index team_league on team (league)",
			"create index member_team on member (team)",
		},
	}
	teamInsert = text{
		"insert team {id: $1, league: $2, name: $3}",
		"insert into team (id, league, name) values (?, ?, ?)",
	}
	memberInsert = text{
		"insert member {id: $1, team: $2, points: $3, name: $4}",
		"insert into member (id, team, points, name) values (?, ?, ?, ?)",
	}
)

func newTeams(leagues int, apart bool) *teams {
	return &teams{leagues: leagues, teams: leagues * leagueTeams, apart: apart, pool: gen.MakeBodies(256, teamBody)}
}

// name tells the one table from the other.
func (d *teams) name() string {
	if d.apart {
		return "apart"
	}
	return "together"
}

// load makes the tables and their indexes in e.
func (d *teams) load(ctx context.Context, e engine) error {
	if err := e.run(ctx, teamSchema[e.name()]...); err != nil {
		return err
	}
	err := e.fill(ctx, teamInsert, d.teams, func(i int) []any {
		t := d.team(int64(i + 1))
		return []any{t.id, t.league, t.name}
	})
	if err != nil {
		return err
	}
	return e.fill(ctx, memberInsert, d.teams*teamMembers, func(i int) []any {
		m := d.member(int64(i + 1))
		return []any{m.id, m.team, m.points, m.name}
	})
}

type team struct {
	id, league int64
	name       string
}

type member struct {
	id, team, points int64
	name             string
}

// team returns the team with that id.
func (d *teams) team(id int64) team {
	league, _ := place(id-1, int64(d.leagues), leagueTeams, d.apart)
	return team{id, league, d.pool.At(id)}
}

// member returns the member with that id.
func (d *teams) member(id int64) member {
	of, _ := place(id-1, int64(d.teams), teamMembers, d.apart)
	return member{id, of + 1, id % 1000, d.pool.At(id)}
}

// teamOf returns the i-th team of a league by ascending ids.
func (d *teams) teamOf(league, i int64) team {
	return d.team(at(league, i, int64(d.leagues), leagueTeams, d.apart) + 1)
}

// memberOf returns the i-th member of a team by ascending ids.
func (d *teams) memberOf(id, i int64) member {
	return d.member(at(id-1, i, int64(d.teams), teamMembers, d.apart) + 1)
}

// place returns which group the n-th of groups*size is in, and its place there.
func place(n, groups, size int64, apart bool) (group, i int64) {
	if apart {
		return n % groups, n / groups
	}
	return n / size, n % size
}

// at is the reverse of place.
func at(group, i, groups, size int64, apart bool) int64 {
	if apart {
		return i*groups + group
	}
	return group*size + i
}

// roll checks a league's teams and members as they are read, by ascending ids.
type roll struct {
	d       *teams
	league  int64
	teams   int // that came so far
	members int // of the last of them
}

func (r *roll) team(got team) error {
	if err := r.full(); err != nil {
		return err
	}
	want := r.d.teamOf(r.league, int64(r.teams))
	if got != want {
		return fmt.Errorf("league %d: got team %v, want %v", r.league, got, want)
	}
	r.teams++
	r.members = 0
	return nil
}

// full returns an error if the last team lacks members.
func (r *roll) full() error {
	if r.teams > 0 && r.members != teamMembers {
		return fmt.Errorf("league %d: team %d of it has %d members", r.league, r.teams, r.members)
	}
	return nil
}

func (r *roll) member(got member) error {
	of := r.d.teamOf(r.league, int64(r.teams-1))
	want := r.d.memberOf(of.id, int64(r.members))
	if got != want || r.members == teamMembers {
		return fmt.Errorf("league %d: got member %v, want %v", r.league, got, want)
	}
	r.members++
	return nil
}

// end returns an error if something is missing.
func (r *roll) end() error {
	if r.teams != leagueTeams {
		return fmt.Errorf("league %d has %d teams", r.league, r.teams)
	}
	return r.full()
}
