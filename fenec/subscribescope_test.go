package fenec_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

func TestSubscribeWithAPolicy(t *testing.T) {
	memo := fenec.Shape{Collection: "memo", Where: "stars < 9", Select: []string{"stars"}}
	for name, c := range map[string]struct {
		shape fenec.Shape
		since uint64
		steps []string // a statement of anybody, or what ada hears; "" for nothing
	}{
		"rows": {shape: memo, since: 6, steps: []string{
			`seed {"seq":10,"rows":[{"id":1,"stars":1},{"id":3,"stars":3}]}`, "",
			`put memo {owner: "bob", slug: "x", stars: 1}`, "",
			`del memo where owner = "bob"`, "",
			`put memo {owner: "ada", slug: "d", stars: 4}`,
			`change {"seq":14,"puts":[{"id":5,"stars":4}],"dels":[],"schema":false}`,
			`put memo {owner: "ada", slug: "e", stars: 10}`, "",
			`set memo {owner: "bob"} where id = 3`,
			`change {"seq":16,"puts":[],"dels":[3],"schema":false}`,
			`set memo {stars: 2} where id = 3`, "",
			`set memo {owner: "ada"} where id = 3`,
			`change {"seq":18,"puts":[{"id":3,"stars":2}],"dels":[],"schema":false}`,
			`alter collection memo add field z int`,
			`change {"seq":19,"puts":[],"dels":[],"schema":true}`, "",
		}},
		"false": {shape: fenec.Shape{Collection: "memo", Where: "false"}, since: fenec.NoCursor, steps: []string{
			`seed {"seq":10,"rows":[]}`, "",
			`put memo {owner: "bob", slug: "x"}`, "",
			`put memo {owner: "ada", slug: "d"}`,
			`change {"seq":12,"puts":[],"dels":[],"schema":false}`,
			`set memo {owner: "bob"} where slug = "d"`,
			`change {"seq":13,"puts":[],"dels":[],"schema":false}`,
			`set memo {stars: 7} where slug = "d"`, "",
			`del memo where id = 1`,
			`change {"seq":15,"puts":[],"dels":[],"schema":false}`, "",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			db := memos(t)
			sub, err := session(t, db, own(), "ada").Subscribe(ctx, c.shape, c.since)
			require.NoError(t, err)
			defer sub.Close()
			bob, err := session(t, db, own(), "bob").Subscribe(ctx, c.shape, c.since)
			require.NoError(t, err)
			defer bob.Close()
			require.NotContains(t, heard(t, bob), `"id":1`, "shapes are shared, values are not")
			for _, step := range c.steps {
				switch {
				case step == "":
					quiet(t, sub)
				case strings.HasPrefix(step, "seed") || strings.HasPrefix(step, "change"):
					require.Equal(t, step, heard(t, sub))
				default:
					runAll(t, db, step)
				}
			}
		})
	}
	_, err := session(t, memos(t), own(), "ada").Subscribe(ctx, fenec.Shape{Collection: "secret"}, 0)
	require.ErrorIs(t, err, fenec.ErrNotFound)
}
