package jwt

import (
	"fmt"
	"slices"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Claims are what a token says of whoever carries it. They do not change.
type Claims struct {
	all        value.Value // an object
	roles      []string
	end, start instant
	ends       bool // it has "exp"
	starts     bool // it has "nbf"
}

// parseClaims reads the claims of a token, decoded.
func parseClaims(text string) (*Claims, error) {
	v, err := parseObject(text)
	if err != nil {
		return nil, err
	}
	c := &Claims{all: v}
	if c.end, c.ends, err = c.time("exp"); err != nil {
		return nil, err
	}
	if c.start, c.starts, err = c.time("nbf"); err != nil {
		return nil, err
	}
	if _, ok := v.Get("role"); ok {
		if c.roles, ok = c.Texts("role"); !ok {
			return nil, fmt.Errorf(`"role" is neither a text nor a list of texts`)
		}
	}
	return c, nil
}

func (c *Claims) time(name string) (at instant, ok bool, err error) {
	v, ok := c.all.Get(name)
	if !ok {
		return 0, false, nil
	}
	if at, ok = instantOf(v); !ok {
		return 0, false, fmt.Errorf("%q is not a number of seconds", name)
	}
	return at, true, nil
}

// Get returns a claim by its name.
func (c *Claims) Get(name string) (value.Value, bool) { return c.all.Get(name) }

// Subject returns the claim "sub", or "" if there is none that is a text.
func (c *Claims) Subject() string {
	sub, _ := textOf(c.all, "sub")
	return sub
}

// HasRole reports whether the claim "role" is that role, or lists it.
func (c *Claims) HasRole(role string) bool { return slices.Contains(c.roles, role) }

// Texts returns a claim that is a list of texts; a single text is a list of one.
func (c *Claims) Texts(name string) (list []string, ok bool) {
	v, ok := c.all.Get(name)
	switch {
	case !ok:
		return nil, false
	case v.Kind() == value.KindText:
		return []string{v.AsText()}, true
	case v.Kind() != value.KindList:
		return nil, false
	}
	list = make([]string, 0, v.Len())
	for _, x := range v.AsList() {
		if x.Kind() != value.KindText {
			return nil, false
		}
		list = append(list, x.AsText())
	}
	return list, true
}

// Expires returns when the token ends, and false if it does not.
func (c *Claims) Expires() (at time.Time, ok bool) { return time.Unix(0, int64(c.end)), c.ends }

// check returns why a token with these claims is refused at a time, or nil.
func (c *Claims) check(at time.Time, o *Options) error {
	now := instant(at.UnixNano())
	switch {
	case !c.ends && (!o.NoEnd || o.MaxAge > 0):
		return ErrNoEnd
	case c.ends && now >= c.end:
		return ErrExpired
	case c.starts && now < c.start:
		return ErrEarly
	case o.MaxAge > 0 && c.end > now.after(o.MaxAge):
		return fmt.Errorf("%w: more than %v from now", ErrTooLong, o.MaxAge)
	}
	return nil
}
