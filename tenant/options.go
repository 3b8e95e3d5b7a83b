package tenant

import (
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// Options say how a manager treats its tenants. The zero Options are good.
type Options struct {
	// DB is how each database is opened. MustExist is set by the manager, and
	// MaxMemory is the manager's unless it is set.
	DB fenec.Options

	// OnOpen, if set, is called with every database as it has been opened, before
	// anybody uses it: the place to set a limit or a hook on it. An error of it is a
	// failed open. The manager closes the database when it sees fit, and sets its
	// fence.
	OnOpen func(ID, *fenec.DB) error

	// OnClose, if set, is called with every database before it is closed, when nobody
	// uses it any more but those that Close does not wait for.
	OnClose func(ID, *fenec.DB)

	// KeepOpen, if set, tells of a database that nobody has a handle to whether it is in use
	// all the same, as one that is being replicated is. It is not closed for being idle or
	// for its memory then, and for others to open only after all that are not in use. It
	// must return soon and must not call the manager.
	KeepOpen func(ID) bool

	// Fence, if set, is asked by every database that is not frozen as a function of
	// fenec.DB.SetFence is: its error refuses the write.
	Fence func(ID) error

	// IdleClose is how long a database may stay open unused. Default 5
	// minutes; negative keeps it open.
	IdleClose time.Duration

	// MaxOpen is how many databases may be open at once. Beyond it the least
	// recently used idle one is closed, and when none is idle an open waits. Each
	// needs two file descriptors and two memory maps. Default: what the process's
	// limits allow; where that is none, Open fails.
	MaxOpen int

	// KeepFiles is how many file descriptors the default of MaxOpen leaves to the rest of
	// the program, such as its connections. Default 256.
	KeepFiles int

	// MaxMemory is how much memory open databases may hold together, in bytes, when one
	// is opened and every second, before idle ones are closed, least recently used first; and how much each of
	// them may hold before it refuses to grow. Default 0: there is no bound.
	MaxMemory int64

	// Opens is how many databases are opened at once, and how many tenants Each
	// visits at once. Default 8.
	Opens int

	// MaxInFlight is how many handles may hold a place at once, and
	// MaxInFlightTenant how many of one tenant. Others wait, in order; places go
	// round the tenants that wait. Default 0: there is no bound.
	MaxInFlight       int
	MaxInFlightTenant int

	// Wait is how long Acquire waits for a place, in flight or among the open
	// databases, before it is ErrBusy. Default 5 seconds.
	Wait time.Duration

	// DeleteWait is how long Delete and Rename wait for the last user. Default 5
	// seconds.
	DeleteWait time.Duration

	// TrashKeep is how long a deleted tenant can be undeleted. Default one day;
	// negative keeps none.
	TrashKeep time.Duration

	// MaxImport is the largest image Import takes, in bytes. Default 0: as the disk
	// has room.
	MaxImport int64

	// CloseWait is how long Close folds logs into their databases. What is left is
	// on disk all the same, and folded after the next open. Default 30 seconds;
	// negative folds nothing.
	CloseWait time.Duration

	// Clock tells the time at which tenants are used and deleted. Default
	// time.Now.
	Clock func() time.Time

	step func(string) // for tests: told each step of a change to the directory before it is taken
}

func (o *Options) setDefaults() error {
	setDefault(&o.IdleClose, 5*time.Minute)
	setDefault(&o.KeepFiles, filesKept)
	setDefault(&o.Opens, 8)
	setDefault(&o.Wait, 5*time.Second)
	setDefault(&o.DeleteWait, 5*time.Second)
	setDefault(&o.TrashKeep, 24*time.Hour)
	setDefault(&o.CloseWait, 30*time.Second)
	setDefault(&o.DB.MaxMemory, o.MaxMemory)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	o.DB.MustExist = true
	for _, n := range []int64{int64(o.MaxOpen), int64(o.KeepFiles), o.MaxMemory, int64(o.Opens), int64(o.MaxInFlight),
		int64(o.MaxInFlightTenant), int64(o.Wait), int64(o.DeleteWait), o.MaxImport} {
		if n < 0 {
			return fmt.Errorf("options: one is %d, of those that must not be negative", n)
		}
	}
	return o.setMaxOpen(processLimits())
}

func setDefault[T comparable](field *T, value T) {
	if *field == *new(T) {
		*field = value
	}
}

// What a database takes of the process's limits: its file and a log, its map and
// the one that replaces it as the file grows. The rest is for connections, for what is
// open for a moment, and for the program's own memory.
const (
	filesEach, filesKept = 2, 256
	mapsEach, mapsKept   = 2, 4096
)

// setMaxOpen sets MaxOpen, or says what to raise for it.
func (o *Options) setMaxOpen(files, maps int64) error {
	most := min((files-int64(o.KeepFiles))/filesEach, (maps-mapsKept)/mapsEach)
	switch {
	case o.MaxOpen == 0 && most < 1:
		return fmt.Errorf("options: no database may be open: of %d file descriptors (ulimit -n) KeepFiles leaves %d to the rest of the program, and of %d memory maps (vm.max_map_count) %d are left; raise the limits, or set KeepFiles or MaxOpen",
			files, o.KeepFiles, maps, mapsKept)
	case o.MaxOpen == 0:
		o.MaxOpen = int(most)
	case int64(o.MaxOpen) > max(1, most):
		return fmt.Errorf("options: MaxOpen is %d, which needs %d file descriptors (ulimit -n is %d) and %d memory maps (vm.max_map_count is %d)",
			o.MaxOpen, o.KeepFiles+filesEach*o.MaxOpen, files, mapsKept+mapsEach*o.MaxOpen, maps)
	}
	return nil
}
