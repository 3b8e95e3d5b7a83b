package table

import "github.com/fenec-go/fenecdb/fenec/internal/catalog"

// TxReader is a Reader of an open block: it sees the block's writes, and knows
// its figures.
type TxReader struct {
	Reader
	tx *Tx
}

// Reader returns a reader of c, which is good for as long as the block is open
// and c is as the block has it. There may be several, beside a Writer.
func (t *Tx) Reader(c *catalog.Collection) *TxReader {
	return &TxReader{Reader: Reader{view: t.View(), col: c}, tx: t}
}

// Get returns the row with that id, or nil. An id above every one ever used is
// known to be free without a look.
func (r *TxReader) Get(id uint64) ([]byte, error) {
	f, err := r.tx.figures(r.col.Number)
	if err != nil {
		return nil, err
	}
	if id > f.Highest {
		return nil, nil
	}
	return r.Reader.Get(id)
}

// Figures returns the collection's figures, with what the block has written.
func (r *TxReader) Figures() (Figures, error) {
	f, err := r.tx.figures(r.col.Number)
	if err != nil {
		return Figures{}, err
	}
	return *f, nil
}

// Rows returns how many rows the collection has, with what the block has
// written.
func (r *TxReader) Rows() (int64, error) {
	f, err := r.Figures()
	return f.Rows, err
}

// TextFigures returns the figures of x, an index of kind Text that is built, with
// what the block has written.
func (r *TxReader) TextFigures(x *catalog.Index) (TextFigures, error) {
	f, err := r.tx.textFigures(x.Space)
	if err != nil {
		return TextFigures{}, err
	}
	return *f, nil
}
