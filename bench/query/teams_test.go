package main

import "testing"

// Teams and members are found where they were put, together or apart.
func TestTeams(t *testing.T) {
	for _, apart := range []bool{false, true} {
		d := newTeams(5, apart)
		seen := map[int64]bool{}
		for league := range int64(d.leagues) {
			for i := range int64(leagueTeams) {
				tm := d.teamOf(league, i)
				if tm.league != league || tm.id < 1 || tm.id > int64(d.teams) {
					t.Errorf("team %d of league %d is %v", i, league, tm)
				}
				for j := range int64(teamMembers) {
					m := d.memberOf(tm.id, j)
					if m.team != tm.id || seen[m.id] {
						t.Errorf("member %d of team %d is %v", j, tm.id, m)
					}
					seen[m.id] = true
					if near := m.id == d.memberOf(tm.id, 0).id+j; near == (apart && j > 0) {
						t.Errorf("member %d of team %d has id %d", j, tm.id, m.id)
					}
				}
			}
		}
		if len(seen) != d.teams*teamMembers || !seen[1] || !seen[int64(len(seen))] {
			t.Errorf("apart %v: there are %d members", apart, len(seen))
		}
	}
}

// A wrong answer of a lookup is noticed.
func TestRoll(t *testing.T) {
	d := newTeams(5, true)
	read := func(league int64, change func(team int, member *member) bool) error {
		r := roll{d: d, league: league}
		for i := range leagueTeams {
			tm := d.teamOf(league, int64(i))
			if err := r.team(tm); err != nil {
				return err
			}
			for j := range teamMembers {
				m := d.memberOf(tm.id, int64(j))
				if change != nil && !change(i, &m) {
					continue
				}
				if err := r.member(m); err != nil {
					return err
				}
			}
		}
		return r.end()
	}
	for league := range int64(5) {
		if err := read(league, nil); err != nil {
			t.Error(err)
		}
	}
	if err := read(2, func(i int, _ *member) bool { return i != leagueTeams-1 }); err == nil {
		t.Error("the last team may lack its members")
	}
	if err := read(2, func(i int, m *member) bool { return i != 4 || m.id > int64(d.teams) }); err == nil {
		t.Error("a team may lack a member")
	}
	if err := read(2, func(i int, m *member) bool { m.points++; return true }); err == nil {
		t.Error("points may be wrong")
	}
	if err := (&roll{d: d, league: 1}).end(); err == nil {
		t.Error("all teams may be missing")
	}
}
