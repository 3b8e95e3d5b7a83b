package fenec

import (
	"context"
	"errors"
	"io"

	"github.com/fenec-go/fenecdb/fenec/internal/role"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/replication"
)

// Image is a whole copy of a database as of one sequence, to be read once. It
// carries its length and a SHA-256 checksum.
type Image struct{ image *store.Image }

// OpenImage makes an image of everything written before the call. Writes go on
// meanwhile. For that everything is folded: a View that has not seen it all is
// given a second to end, and then ended with ErrSnapshotTooOld. The graphs of vectors
// are in it as they are linked by then. Close the image when it has been read.
//
// The image is read from the database's file. Who takes long to read it, or closes the
// database meanwhile, reads the rest from a copy beside the file, which goes by itself.
func (db *DB) OpenImage(ctx context.Context) (*Image, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m, err := db.store.OpenImage(ctx)
	if err != nil {
		return nil, public(err)
	}
	return &Image{m}, nil
}

// Size returns how many bytes Read gives in all.
func (m *Image) Size() int64 { return m.image.Size() }

// Seq returns the sequence the image holds everything up to.
func (m *Image) Seq() uint64 { return m.image.Seq() }

// Read reads the image's next bytes.
func (m *Image) Read(p []byte) (int, error) { return m.image.Read(p) }

// WriteTo writes what has not been read yet to w.
func (m *Image) WriteTo(w io.Writer) (int64, error) { return m.image.WriteTo(w) }

// Close gives the image up.
func (m *Image) Close() error { return m.image.Close() }

// Image writes an image of everything written before the call to w.
func (db *DB) Image(ctx context.Context, w io.Writer) error {
	m, err := db.OpenImage(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, m)
	return errors.Join(err, m.Close())
}

// Install makes a database at path out of the image that r holds. The file
// appears only when the whole image has arrived, its length and checksum are
// right, and it is on disk; whatever fails leaves nothing behind. It fails with
// fs.ErrExist if path is taken and with ErrImage for a damaged image. One
// Install at a time may write to path.
func Install(path string, r io.Reader) error {
	if path == "" {
		return errNoPath
	}
	return public(store.Install(path, r, nil))
}

// Arrival is a database that came as an image and waits for its name: whole,
// undamaged and on disk.
type Arrival struct{ arrival *store.Arrival }

// Receive does the long part of Install: it gathers the image that r holds in a
// side file. Arrival.Install does the rest, which takes no time. Close the Arrival in any
// case. One Receive or Install at a time may write to path.
func Receive(path string, r io.Reader) (*Arrival, error) {
	if path == "" {
		return nil, errNoPath
	}
	a, err := store.Receive(path, r, nil)
	if err != nil {
		return nil, public(err)
	}
	return &Arrival{a}, nil
}

// ReceiveReplica is Receive for a copy of a database of that history which is to take the
// place of an older one at path: that may be open meanwhile. What arrives follows, and is
// as incomplete as what it is a copy of.
func ReceiveReplica(path string, r io.Reader, h replication.History) (*Arrival, error) {
	if path == "" {
		return nil, errNoPath
	}
	h.Following = true
	a, err := store.ReceiveBeside(path, r, nil, role.Change(h))
	if err != nil {
		return nil, public(err)
	}
	return &Arrival{a}, nil
}

// Replace gives the database its name, durably, though that may be taken by a closed
// one, which is gone then. A crash leaves one of the two, whole.
func (a *Arrival) Replace() error { return public(a.arrival.Replace()) }

// Install gives the database its name, durably. It fails with fs.ErrExist if that is
// taken.
func (a *Arrival) Install() error { return public(a.arrival.Publish()) }

// Close gives up what has not been installed. It must be called before the database
// can be opened.
func (a *Arrival) Close() error { return public(a.arrival.Close()) }
