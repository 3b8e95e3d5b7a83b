package quota

import (
	"fmt"

	"github.com/fenec-go/fenecdb/fenec"
)

// Refusal is the error of what a limit does not allow. It tells the limit and
// never how much of it is in use. One of a ceiling, which waiting does not help,
// matches fenec.ErrOverLimit.
type Refusal struct {
	Key   string // the limit's name
	Limit int64
	Wait  int64 // whole seconds after which to try again; 0 for a ceiling
}

// Error names the limit.
func (r *Refusal) Error() string {
	if r.Ceiling() {
		return fmt.Sprintf("over limit: %s is %d", r.Key, r.Limit)
	}
	return fmt.Sprintf("over limit: %s is %d, try again in %d s", r.Key, r.Limit, r.Wait)
}

// Ceiling reports whether the limit is one of what the database holds.
func (r *Refusal) Ceiling() bool { return r.Wait == 0 }

// Unwrap returns fenec.ErrOverLimit for a ceiling.
func (r *Refusal) Unwrap() error {
	if r.Ceiling() {
		return fenec.ErrOverLimit
	}
	return nil
}
