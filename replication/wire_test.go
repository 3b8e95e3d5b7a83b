package replication

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func sample() []Message {
	return []Message{
		Hello{Image: true, Seq: 0x0102, Durable: 0x0101, Time: 0x0a, History: History{
			Following: true,
			Lineage:   Lineage{{ID: 7, From: 10}, {ID: 0x1122334455667788, From: 300}},
		}},
		Image{Size: 5, Reader: strings.NewReader("image")},
		Writes{First: 0x0103, Times: []int64{11, 12}, Records: []byte("one two")},
		Alive{Seq: 0x0104, Durable: 0x0103, Time: 13},
		Digest{Seq: 0x0104, Root: 0x0201, Collections: []CollectionDigest{{Name: "a", Rows: 2, Sum: 0x0f}, {Name: "bc"}}},
		End{Reason: "bye"},
	}
}

// The bytes of sample, one message a line.
var golden = []string{
	"48 3d00000000000000" + // 61 bytes
		"0100000000000000 0100000000000000 0201000000000000 0101000000000000 0a00000000000000" +
		"01 02 0700000000000000 0a 8877665544332211 ac02",
	"49 0500000000000000 696d616765",
	"57 2700000000000000 0301000000000000 0200000000000000 0b00000000000000 0c00000000000000 6f6e652074776f",
	"4b 1800000000000000 0401000000000000 0301000000000000 0d00000000000000",
	"44 3d00000000000000 0401000000000000 0102000000000000 0200000000000000" + // 61 bytes
		"0200000000000000 0f00000000000000 01 61 0000000000000000 0000000000000000 02 6263",
	"45 0300000000000000 627965",
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	return b
}

func goldenBytes(t testing.TB) []byte { return unhex(t, strings.Join(golden, "")) }

func TestEncodedBytes(t *testing.T) {
	var out bytes.Buffer
	e := NewEncoder(&out)
	for i, m := range sample() {
		out.Reset()
		require.NoError(t, e.Encode(m))
		require.Equal(t, hex.EncodeToString(unhex(t, golden[i])), hex.EncodeToString(out.Bytes()), "%T", m)
	}
}

// drain reads all messages, with images as their bytes.
func drain(r io.Reader) (out []Message, err error) {
	d := NewDecoder(r)
	for {
		m, err := d.Next()
		if err != nil {
			return out, err
		}
		if image, ok := m.(Image); ok {
			b, err := io.ReadAll(image)
			if err != nil {
				return out, err
			}
			m = Image{Size: image.Size, Reader: strings.NewReader(string(b))}
		}
		out = append(out, m)
	}
}

func TestDecodedMessages(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"at once":      bytes.NewReader(goldenBytes(t)),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(goldenBytes(t))),
	} {
		got, err := drain(r)
		require.ErrorIs(t, err, io.EOF, name)
		require.Equal(t, sample(), got, name)
	}
}

func TestUnreadImageIsPassedOver(t *testing.T) {
	d := NewDecoder(bytes.NewReader(goldenBytes(t)))
	var tags []byte
	for m, err := d.Next(); err != io.EOF; m, err = d.Next() {
		require.NoError(t, err)
		tags = append(tags, m.tag())
	}
	require.Equal(t, "HIWKDE", string(tags))
}

// A stream that is cut anywhere is neither whole nor malformed.
func TestCutStreams(t *testing.T) {
	whole := goldenBytes(t)
	for n := range len(whole) {
		got, err := drain(bytes.NewReader(whole[:n]))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d, read %v", n, got)
	}
	d := NewDecoder(bytes.NewReader(whole[:len(unhex(t, golden[0]))+headLen+2]))
	_, err := d.Next()
	require.NoError(t, err)
	_, err = d.Next()
	require.NoError(t, err)
	_, err = d.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "in an image nobody read")
}

func TestRefusedStreams(t *testing.T) {
	h := golden[0]
	plain := strings.Replace(h, "0100000000000000 0100000000000000", "0100000000000000 0000000000000000", 1)
	for name, text := range map[string]string{
		"unknown tag":             h + golden[1] + "58 0000000000000000",
		"length over 2^40":        h + "49 0100000000010000",
		"writes over 1 GiB":       h + "57 0100004000000000",
		"long alive":              h + "4b 0100000100000000",
		"writes before the hello": golden[2],
		"end before the hello":    golden[5],
		"digest before the image": h + golden[4],
		"short digest":            plain + "44 0100000000000000 01",
		"digest cut":              plain + "44 1a00000000000000 0100000000000000 0100000000000000 0100000000000000 0000",
		"digest goes on":          plain + "44 1900000000000000 0100000000000000 0100000000000000 0000000000000000 00",
		"more digests than bytes": plain + "44 1800000000000000 0100000000000000 0100000000000000 ffffffffffffffff",
		"digest out of order": plain + "44 3c00000000000000 0100000000000000 0100000000000000 0200000000000000" +
			"0000000000000000 0000000000000000 01 62 0000000000000000 0000000000000000 01 61",
		"digest's name is not text": plain + "44 2a00000000000000 0100000000000000 0100000000000000 0100000000000000" +
			"0000000000000000 0000000000000000 01 ff",
		"second hello":             h + h,
		"second image":             h + golden[1] + golden[1],
		"image nobody announced":   plain + golden[1],
		"writes before the image":  h + golden[2],
		"writes before their turn": h + golden[1] + golden[2] + golden[2],
		"writes in the image":      h + golden[1] + "57 1900000000000000 0201000000000000 0100000000000000 0b00000000000000 6f",
		"version 2":                strings.Replace(h, "0100000000000000", "0200000000000000", 1),
		"image 2":                  strings.Replace(h, "0100000000000000 01", "0100000000000000 02", 1),
		"following 3":              strings.Replace(h, "01 02 07", "03 02 07", 1),
		"more entries than bytes":  strings.Replace(h, "01 02 07", "01 7f 07", 1),
		"history goes on":          strings.Replace(strings.Replace(h, "3d", "3e", 1), "ac02", "ac0200", 1),
		"overlong number":          strings.Replace(strings.Replace(h, "3d", "3e", 1), "ac02", "ac8200", 1),
		"hello cut":                "48 0700000000000000 01000000000000",
		"short alive":              plain + "4b 0100000000000000 01",
		"short writes":             plain + "57 0100000000000000 01",
		"no records":               plain + "57 1000000000000000 0100000000000000 0000000000000000",
		"record without bytes":     plain + "57 1800000000000000 0100000000000000 0100000000000000 0b00000000000000",
		"writes from 0":            plain + "57 1900000000000000 0000000000000000 0100000000000000 0b00000000000000 6f",
		"numbers end":              plain + "57 1900000000000000 ffffffffffffffff 0100000000000000 0b00000000000000 6f",
		"more records than bytes":  plain + "57 1900000000000000 0100000000000000 ffffffffffffffff",
		"several and too large":    plain + "57 2100100000000000 0100000000000000 0200000000000000",
		"reason is not text":       plain + "45 0100000000000000 ff",
	} {
		got, err := drain(bytes.NewReader(unhex(t, text)))
		require.ErrorIs(t, err, ErrCorrupt, "%s, read %v", name, got)
	}
}

func TestEncoderKeepsTheOrder(t *testing.T) {
	plain, withImage := Hello{Seq: 4}, Hello{Seq: 4, Image: true}
	image := func() Message { return Image{Size: 1, Reader: strings.NewReader("x")} }
	five := Writes{First: 5, Times: []int64{1}, Records: []byte("r")}
	for name, c := range map[string]struct {
		before []Message
		last   Message
	}{
		"no hello":               {nil, five},
		"two hellos":             {[]Message{plain}, plain},
		"image not announced":    {[]Message{plain}, image()},
		"writes for the image":   {[]Message{withImage}, five},
		"two images":             {[]Message{withImage, Alive{}, image()}, image()},
		"after the end":          {[]Message{plain, End{}}, Alive{}},
		"the same writes again":  {[]Message{plain, five}, five},
		"digest for the image":   {[]Message{withImage}, Digest{}},
		"the same name twice":    {[]Message{plain}, Digest{Collections: []CollectionDigest{{Name: "a"}, {Name: "a"}}}},
		"a name that is no text": {[]Message{plain}, Digest{Collections: []CollectionDigest{{Name: "\xff"}}}},
		"nothing":                {[]Message{plain}, Writes{First: 5}},
		"negative image":         {[]Message{withImage}, Image{Size: -1}},
		"image over 2^40":        {[]Message{withImage}, Image{Size: 1<<40 + 1}},
		"several, and too large": {[]Message{plain}, Writes{First: 5, Times: []int64{1, 1}, Records: make([]byte, MaxWrites+1)}},
		"a reason without end":   {[]Message{plain}, End{Reason: strings.Repeat("x", maxSmall+1)}},
	} {
		e := NewEncoder(io.Discard)
		for _, m := range c.before {
			require.NoError(t, e.Encode(m), name)
		}
		require.ErrorIs(t, e.Encode(c.last), ErrCorrupt, name)
	}
}

func TestEncoderTellsFailures(t *testing.T) {
	failed := errors.New("failed")
	e := NewEncoder(io.Discard)
	require.NoError(t, e.Encode(Hello{Image: true}))
	require.ErrorIs(t, e.Encode(Image{Size: 3, Reader: iotest.ErrReader(failed)}), failed)

	e = NewEncoder(io.Discard)
	require.NoError(t, e.Encode(Hello{Image: true}))
	require.Error(t, e.Encode(Image{Size: 3, Reader: strings.NewReader("ab")}), "the image is shorter than it says")
}

// Writes take up to 1 MiB of records, or one that is larger.
func TestWritesAdd(t *testing.T) {
	w := Writes{First: 1}
	half := make([]byte, MaxWrites/2)
	require.True(t, w.Add(half, 1))
	require.True(t, w.Add(half, 2))
	require.False(t, w.Add([]byte{1}, 3))
	require.Len(t, w.Records, MaxWrites)
	require.Equal(t, []int64{1, 2}, w.Times)

	large := Writes{First: 1}
	require.True(t, large.Add(make([]byte, 3*MaxWrites), 1))
	require.False(t, large.Add([]byte{1}, 2))
	var out bytes.Buffer
	e := NewEncoder(&out)
	require.NoError(t, e.Encode(Hello{}))
	require.NoError(t, e.Encode(large))
	require.NoError(t, e.Encode(End{}))
	got, err := drain(&out)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, large, got[1])
}

func TestReasonBecomesText(t *testing.T) {
	var out bytes.Buffer
	e := NewEncoder(&out)
	require.NoError(t, e.Encode(Hello{}))
	require.NoError(t, e.Encode(End{Reason: "a\xffb"}))
	got, err := drain(&out)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, End{Reason: "a\uFFFDb"}, got[1])
}

// What the decoder takes, the encoder writes again to the byte.
func FuzzDecoder(f *testing.F) {
	f.Add(goldenBytes(f))
	for i := range golden {
		f.Add(unhex(f, golden[0]+golden[i]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := drain(bytes.NewReader(b))
		if err != io.EOF {
			require.True(t, errors.Is(err, ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
			return
		}
		var again bytes.Buffer
		e := NewEncoder(&again)
		for _, m := range got {
			require.NoError(t, e.Encode(m))
		}
		require.Equal(t, b[:again.Len()], again.Bytes())
	})
}
