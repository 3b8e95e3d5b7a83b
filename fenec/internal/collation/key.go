package collation

// A key is, with each level in the order of the text's characters,
//
//	the weights of the letters   2 bytes, from 0x8000 on 3, first bit set
//	levelEnd
//	the weights of the accents   1 byte, from 0x80 on 2, first bit of both set
//	levelEnd
//	the weights of the case      1 byte
//	levelEnd
//	the text's bytes
//	0x00 0x01
//
// in which a byte 0x00 of a weight or of the text is followed by 0xff. The
// weights of accents and case that end their level and are those of a plain
// lower case letter, the lowest of all, are left out: for "word" both levels are
// empty. First bytes of weights are above levelEnd.
const (
	levelEnd    = 0x01
	plainAccent = 0x20
	plainCase   = 0x02

	escaped    = 0xff // after 0x00: it stands for itself
	terminator = 0x01 // after 0x00: the key ends

	letterBase = 0x0200 // added to weights of letters, which begin at 1
)

// AppendKey appends the key of s: bytes.Compare of two keys is Compare of their
// texts. No key is the beginning of another, nor does one hold the byte 0x00 but
// before 0xff, and before 0x01 at its end. The key of None is the text with its
// escapes and its end. Keys of Und and TR have about three bytes a letter.
func (c Collation) AppendKey(dst []byte, s string) []byte {
	if c != None {
		if isLatin(s) {
			dst = latinTables[c]().appendLevels(dst, s)
		} else {
			dst = appendLevels(dst, s, c)
		}
	}
	dst = appendEscaped(dst, s)
	return append(dst, 0, terminator)
}

// appendEscaped appends s with an escape behind every byte 0x00.
func appendEscaped(dst []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		if s[i] == 0 {
			dst = append(append(dst, s[from:i+1]...), escaped)
			from = i + 1
		}
	}
	return append(dst, s[from:]...)
}

// appendLetter appends a weight of the first level.
func appendLetter(dst []byte, w int) []byte {
	w += letterBase
	if w >= 0x8000 {
		dst = appendByte(append(dst, 0x80|byte(w>>16)), byte(w>>8))
	} else {
		dst = append(dst, byte(w>>8))
	}
	return appendByte(dst, byte(w))
}

// appendByte appends a byte that is not the first of a weight.
func appendByte(dst []byte, b byte) []byte {
	dst = append(dst, b)
	if b == 0 {
		dst = append(dst, escaped)
	}
	return dst
}

// appendAccent appends a weight of the second level.
func appendAccent(dst []byte, w int) []byte {
	if w < 0x80 {
		return append(dst, byte(w))
	}
	w -= 0x80
	return append(dst, 0x80|byte(w>>7), 0x80|byte(w))
}

// closeLevel ends the level that begins at start, without the plain weights at
// its end.
func closeLevel(dst []byte, start int, plain byte) []byte {
	n := len(dst)
	for n > start && dst[n-1] == plain {
		n--
	}
	return append(dst[:n], levelEnd)
}
