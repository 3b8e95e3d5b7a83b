package catalog

// Where the spaces of search indexes begin, whose entries are not those that all
// other indexes have. The space of one is the number drawn for it and the start
// of its kind. An HNSW has a second space. The spaces of rows and of other
// indexes are below all, and the highest 65,535 are the store's own.
const (
	SearchSpaces   uint32 = 4 << 29
	TextSpaces            = SearchSpaces
	InvertedSpaces uint32 = 5 << 29
	HNSWSpaces     uint32 = 6 << 29
	GraphSpaces    uint32 = 7 << 29
)

// maxNumber is the highest number given out. Those above are the store's own in
// every range.
const maxNumber = 1<<29 - 1<<16

// space returns the space of an index of kind k for which number was drawn.
func (k IndexKind) space(number uint32) uint32 {
	switch k {
	case Text:
		return TextSpaces | number
	case Inverted:
		return InvertedSpaces | number
	case HNSW:
		return HNSWSpaces | number
	}
	return number
}

// GraphSpace returns the space of the graph of an HNSW, whose entries are in Space.
func (x *Index) GraphSpace() uint32 { return GraphOf(x.Space) }

// GraphOf returns the space of the graph of the HNSW whose entries are in a space.
func GraphOf(space uint32) uint32 { return GraphSpaces | drawn(space) }

// KindOfSpace returns the kind of the search index whose entries a space holds.
func KindOfSpace(space uint32) IndexKind {
	switch space &^ (1<<29 - 1) {
	case TextSpaces:
		return Text
	case InvertedSpaces:
		return Inverted
	case HNSWSpaces:
		return HNSW
	}
	return 0
}

// drawn returns the number that was drawn for a space.
func drawn(space uint32) uint32 { return space & (1<<29 - 1) }

// drawn returns the numbers that were drawn for the collection's spaces.
func (c *Collection) drawn() []uint32 {
	numbers := []uint32{c.RowSpace}
	for _, x := range c.indexes {
		numbers = append(numbers, drawn(x.Space))
	}
	return numbers
}
