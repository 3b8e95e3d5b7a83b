package report

import (
	"context"
	"fmt"
	"strings"
)

// Part is one comparison of a bench that works with an E.
type Part[E any] struct {
	Letter string
	Title  string
	Run    func(context.Context, E) error
}

// Choose returns the parts named in only, as in "a,c", in the order of parts: all
// of them if it is empty.
func Choose[E any](parts []Part[E], only string) ([]Part[E], error) {
	if only == "" {
		return parts, nil
	}
	var out []Part[E]
	letters := strings.Split(only, ",")
	for _, p := range parts {
		for i, l := range letters {
			if strings.TrimSpace(l) == p.Letter {
				out = append(out, p)
				letters = append(letters[:i], letters[i+1:]...)
				break
			}
		}
	}
	if len(letters) > 0 {
		return nil, fmt.Errorf("no part is called %q", strings.Join(letters, ","))
	}
	return out, nil
}

// RunParts runs the parts and returns their errors. A part that fails does not
// stop the ones after it.
func RunParts[E any](ctx context.Context, r *Report, parts []Part[E], e E) []error {
	var failed []error
	for _, p := range parts {
		r.Part(p.Letter, p.Title)
		if err := p.Run(ctx, e); err != nil {
			failed = append(failed, fmt.Errorf("part %s: %w", p.Letter, err))
			r.Note("could not be measured: " + err.Error())
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}
