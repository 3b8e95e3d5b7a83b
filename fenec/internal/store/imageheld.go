package store

import (
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

const (
	// imageHold is for how long an image has been read from the base when a fold that
	// begins sets it aside.
	imageHold = 2 * time.Second
	// foldHold is how long a fold has taken when it sets all aside: it may be waiting for
	// them, and readers for it.
	foldHold = 500 * time.Millisecond
)

// images are those that are read from the base. They are added under the folding lock.
type images struct {
	mu   sync.Mutex           // guards the field below; taken after that of an image
	open map[*Image]time.Time // since when
}

func (s *images) add(m *Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*Image]time.Time{}
	}
	s.open[m] = time.Now()
}

func (s *images) remove(m *Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, m)
}

// setAside sets those aside that have been open for that long.
func (s *images) setAside(hold time.Duration) {
	s.mu.Lock()
	var list []*Image
	for m, since := range s.open {
		if time.Since(since) >= hold {
			list = append(list, m)
		}
	}
	s.mu.Unlock()
	for _, m := range list {
		m.setAside()
	}
}

// foldBase folds changes into the base.
func (s *Store) foldBase(seq uint64, next func() (base.Change, bool)) error {
	s.images.setAside(imageHold)
	pressed := time.AfterFunc(foldHold, func() { s.images.setAside(0) })
	defer pressed.Stop()
	return s.base.Fold(seq, next)
}
