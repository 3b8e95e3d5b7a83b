package fenec

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Options say how a database behaves. The zero Options are a good database.
type Options struct {
	// Sync says when a write that was answered is on disk. Zero is every
	// 250 ms.
	Sync Sync

	// FrontBytes is how much memory writes may take up that are not folded into
	// the file yet, in bytes. When it is full, writers wait. Default 64 MiB, at
	// most 4 GiB.
	FrontBytes int64

	// BlockBytes is how much memory the changes of one statement or batch may
	// take up, in bytes; beyond it they fail with ErrBlockTooLarge. Default and
	// most: 256 MiB.
	BlockBytes int64

	// MaxMemory is how much memory the database may hold, as Stats.MemoryBytes counts
	// it, before statements that put, insert, set or create an index are refused with
	// ErrMemory, in bytes. What is written is folded into the file first, if that may
	// help. One statement may pass it. Default 0: there is no bound.
	MaxMemory int64

	// SnapshotTimeout is how long a read may stand in the way of folding before
	// it ends with ErrSnapshotTooOld. It ends sooner when writers would have to
	// wait for it. Default one minute.
	SnapshotTimeout time.Duration

	// HistoryEntries is how many of the latest changes are kept for Changes and
	// Subscribe, one for each number of the sequence. Default 1,000,000; a
	// negative number keeps none.
	HistoryEntries int

	// HistoryBytes is how much room the kept changes may take up in the file,
	// and again in memory until they are folded into it, in bytes. Default
	// 64 MiB; a negative number keeps none.
	HistoryBytes int64

	// FeedBytes is how much room the latest writes may take up that are kept for
	// Feed, documents included, in the file, and again in memory until they are
	// folded into it, in bytes. Default 0, which keeps none and drops what was kept.
	FeedBytes int64

	// IdleCheckpoint is how long nothing must have been written before the log
	// is folded into the file. Default 30 seconds.
	IdleCheckpoint time.Duration

	// CompactRatio is the share of the file that must be free, and 64 MiB with
	// it, before the file is rewritten in the background. Default 0.5; a
	// negative ratio turns it off.
	CompactRatio float64

	// NoCheckpoint makes Close leave the log, to be replayed by the next Open.
	NoCheckpoint bool

	// MustExist makes Open fail with fs.ErrNotExist where there is no file,
	// instead of making one.
	MustExist bool

	// SweepInterval is how often rows that are expired are deleted in the
	// background, where a collection has such. Default one minute; a negative
	// interval turns it off, see Sweep.
	SweepInterval time.Duration

	// Functions are what statements may call beside the functions of the language,
	// by name, whose case does not matter. Whoever opens the file later needs them
	// for nothing but to run the same statements.
	Functions map[string]Function

	// Clock tells the time of statements and blocks. Default time.Now.
	Clock func() time.Time

	files wal.FS       // for tests: the log's files
	step  func(string) // for tests: told each step of commits, checkpoints and opens
}

// Sync is a policy for when a write that was answered is on disk: a positive
// duration is the longest time until then.
type Sync time.Duration

// The policies that are no duration.
const (
	SyncDefault Sync = 0  // every 250 ms
	SyncAlways  Sync = -1 // before the write is answered; concurrent writers share a flush
	SyncOff     Sync = -2 // at checkpoints and on Close
)

// defaultInterval is what SyncDefault stands for.
const defaultInterval = 250 * time.Millisecond

// ParseSync reads a policy: "always" (or "on"), "off" (or "none"), or a number
// of milliseconds.
func ParseSync(s string) (Sync, error) {
	switch strings.ToLower(s) {
	case "always", "on":
		return SyncAlways, nil
	case "off", "none":
		return SyncOff, nil
	}
	ms, err := strconv.ParseUint(s, 10, 31)
	if err != nil || ms == 0 {
		return 0, fmt.Errorf("sync policy %q: want always, off or a number of milliseconds", s)
	}
	return Sync(time.Duration(ms) * time.Millisecond), nil
}

// String returns the policy as ParseSync reads it.
func (s Sync) String() string {
	switch s {
	case SyncAlways:
		return "always"
	case SyncOff:
		return "off"
	case SyncDefault:
		s = Sync(defaultInterval)
	}
	return strconv.FormatInt(time.Duration(s).Milliseconds(), 10)
}

// The most that options may ask for, in bytes.
const (
	maxFrontBytes = 4 << 30
	maxBlockBytes = 256 << 20
)

// history returns the bounds of the change history.
func (o *Options) history() history.Limits {
	entries, bytes := o.HistoryEntries, o.HistoryBytes
	if entries == 0 {
		entries = 1_000_000
	}
	if bytes == 0 {
		bytes = 64 << 20
	}
	return history.Limits{Entries: uint64(max(entries, 0)), Bytes: max(bytes, 0)}
}

// check says which option cannot be.
func (o *Options) check() error {
	switch {
	case o.Sync < SyncOff:
		return fmt.Errorf("options: Sync is %d, want a duration, SyncAlways or SyncOff", o.Sync)
	case o.FrontBytes < 0 || o.FrontBytes > maxFrontBytes:
		return fmt.Errorf("options: FrontBytes is %d, want 0 to %d", o.FrontBytes, int64(maxFrontBytes))
	case o.BlockBytes < 0 || o.BlockBytes > maxBlockBytes:
		return fmt.Errorf("options: BlockBytes is %d, want 0 to %d", o.BlockBytes, int64(maxBlockBytes))
	case o.FeedBytes < 0:
		return fmt.Errorf("options: FeedBytes is %d", o.FeedBytes)
	case o.MaxMemory < 0:
		return fmt.Errorf("options: MaxMemory is %d", o.MaxMemory)
	case o.SnapshotTimeout < 0:
		return fmt.Errorf("options: SnapshotTimeout is %v", o.SnapshotTimeout)
	case o.IdleCheckpoint < 0:
		return fmt.Errorf("options: IdleCheckpoint is %v", o.IdleCheckpoint)
	case math.IsNaN(o.CompactRatio) || o.CompactRatio > 1:
		return fmt.Errorf("options: CompactRatio is %v, want at most 1", o.CompactRatio)
	}
	return nil
}

func (o *Options) store() (store.Options, error) {
	if err := o.check(); err != nil {
		return store.Options{}, err
	}
	out := store.Options{
		FrontBytes:      o.FrontBytes,
		BlockBytes:      o.BlockBytes,
		SnapshotTimeout: o.SnapshotTimeout,
		IdleCheckpoint:  o.IdleCheckpoint,
		CompactRatio:    o.CompactRatio,
		NoCheckpoint:    o.NoCheckpoint,
		MustExist:       o.MustExist,
		Clock:           o.Clock,
		FS:              o.files,
		Step:            o.step,
	}
	switch o.Sync {
	case SyncAlways:
		out.Sync = store.SyncAlways
	case SyncOff:
		out.Sync = store.SyncOff
	case SyncDefault:
		out.Interval = defaultInterval
	default:
		out.Interval = time.Duration(o.Sync)
	}
	return out, nil
}
