package tenant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fenec-go/fenecdb/fenec"
)

// Image returns a whole copy of a tenant as of now, whatever its status. Writes go on
// meanwhile. The tenant is not in use once Image has returned: it can be closed, deleted
// and renamed while the image is read, however slowly that goes. Close it.
func (m *Manager) Image(ctx context.Context, name string) (*fenec.Image, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	h, err := m.use(ctx, name)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	image, err := h.live.db.OpenImage(ctx)
	if err != nil {
		return nil, fmt.Errorf("tenant %q: image: %w", name, err)
	}
	return image, nil
}

// Export writes a whole copy of a tenant as of now to w.
func (m *Manager) Export(ctx context.Context, name string, w io.Writer) error {
	image, err := m.Image(ctx, name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, &reader{ctx, image, image.Size()})
	if err = errors.Join(err, image.Close()); err != nil {
		return fmt.Errorf("tenant %q: export: %w", name, err)
	}
	return nil
}

// Import makes a tenant out of the image that r holds, of size bytes, or of as many as
// come if size is negative. It goes to disk as it comes, and the tenant is there once
// all of it is found right. It fails with ErrExists if the name is taken, with
// ErrTooLarge, and with fenec.ErrImage for bytes that are not one whole image.
func (m *Manager) Import(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := m.importImage(ctx, name, r, size); err != nil {
		return fmt.Errorf("tenant %q: import: %w", name, err)
	}
	m.changed(name)
	return nil
}

func (m *Manager) importImage(ctx context.Context, name string, r io.Reader, size int64) error {
	most := m.opts.MaxImport
	switch {
	case most > 0 && size > most:
		return fmt.Errorf("%w: %d bytes, of %d", ErrTooLarge, size, most)
	case size >= 0:
		most = size
	case most == 0:
		most = -1
	}
	if err := m.beginImport(ctx, name); err != nil {
		return err
	}
	defer m.endImport(name)
	from := &reader{ctx, r, most}
	arrival, err := fenec.Receive(m.path(name), from)
	if err == nil && size >= 0 && from.left != 0 {
		err = errors.Join(fmt.Errorf("%w: it ends %d bytes before its length", fenec.ErrImage, from.left), arrival.Close())
	}
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	return m.install(ctx, name, arrival)
}

// beginImport makes sure that no other import has the name, nor a tenant.
func (m *Manager) beginImport(ctx context.Context, name string) error {
	s, err := m.enter(ctx, name)
	if err != nil {
		return err
	}
	defer s.leave()
	if err := s.vacant(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.importing[name] {
		return fmt.Errorf("%w: it is being imported", ErrBusy)
	}
	m.importing[name] = true
	return nil
}

func (m *Manager) endImport(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.importing, name)
}

// install gives what has arrived its name, or gives it up.
func (m *Manager) install(ctx context.Context, name string, arrival *fenec.Arrival) error {
	s, err := m.enter(ctx, name)
	if err != nil {
		return errors.Join(err, arrival.Close())
	}
	defer s.leave()
	return errors.Join(s.install(ctx, arrival), arrival.Close())
}

func (s *slot) install(ctx context.Context, arrival *fenec.Arrival) error {
	m := s.m
	if err := s.vacant(); err != nil {
		return err
	}
	m.opts.step("import: clear")
	if err := s.clear(); err != nil {
		return err
	}
	if err := m.keepStatus(ctx, s.id.name, Active); err != nil {
		return err
	}
	m.degraded.forget(s.id.name)
	m.opts.step("import: install")
	if err := arrival.Install(); err != nil {
		return err
	}
	m.opts.step("imported")
	return nil
}

// reader reads until its context ends, and no more than is left.
type reader struct {
	ctx  context.Context
	r    io.Reader
	left int64 // bytes; negative for no bound
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if r.left < 0 {
		return n, err
	}
	if int64(n) > r.left {
		return 0, fmt.Errorf("%w: more bytes come than it may have", ErrTooLarge)
	}
	r.left -= int64(n)
	return n, err
}
