package inflate

import (
	"bytes"
	"compress/flate"
	stdgzip "compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// small returns a short gzip file with a member of each kind of block.
func small(t testing.TB) []byte {
	t.Helper()
	text := []byte(strings.Repeat(`{"ph":"X","name":"gemm","ts":17.5,"dur":2},`, 4) + "The quick brown fox")
	return bytes.Join([][]byte{pack(t, text, 9), pack(t, text[:30], 1), pack(t, text[:20], 0)}, nil)
}

func TestTruncated(t *testing.T) {
	packed := small(t)
	whole, err := reference(packed)
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	for n := range packed {
		agree(t, packed[:n])
		got, err := io.ReadAll(NewReader(bytes.NewReader(packed[:n])))
		if !bytes.HasPrefix(whole, got) {
			t.Errorf("the first %d bytes give %q", n, got)
		}
		switch {
		case err == nil:
			ends++ // between members
		case err != io.ErrUnexpectedEOF:
			t.Errorf("the first %d bytes give %v", n, err)
		}
	}
	if ends != 3 {
		t.Errorf("%d truncations accepted, want 0, 1 and 2 members", ends)
	}
}

func TestBitFlips(t *testing.T) {
	packed := small(t)
	for i := range 8 * len(packed) {
		flipped := bytes.Clone(packed)
		flipped[i/8] ^= 1 << (i % 8)
		agree(t, flipped)
	}
}

// TestSourceError breaks the source at each byte. Data returned before or with
// the error is decoded; then the source's own error is returned.
func TestSourceError(t *testing.T) {
	packed := small(t)
	broken := errors.New("broken pipe")
	for n := range len(packed) + 1 {
		want, _ := io.ReadAll(NewReader(bytes.NewReader(packed[:n])))
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader} {
			source := wrap(io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(broken)))
			if got, err := io.ReadAll(NewReader(source)); err != broken || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes: %d of %d, %v", n, len(got), len(want), err)
			}
		}
	}
	if _, err := io.ReadAll(NewReader(idle{})); err != io.ErrNoProgress {
		t.Errorf("source that never gives anything: %v", err)
	}
}

// An idle source returns nothing and no error.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestErrorsStay(t *testing.T) {
	z := NewReader(strings.NewReader("this is no gzip"))
	for range 3 {
		if n, err := z.Read(make([]byte, 1)); n != 0 || !errors.Is(err, ErrHeader) {
			t.Errorf("read %d, %v", n, err)
		}
	}
	if n, err := z.Read(nil); n != 0 || err != nil {
		t.Errorf("read of nothing: %d, %v", n, err)
	}
	var b bytes.Buffer
	if n, err := z.WriteTo(&b); n != 0 || !errors.Is(err, ErrHeader) {
		t.Errorf("written %d, %v", n, err)
	}
}

func TestShortWrite(t *testing.T) {
	full := errors.New("disk full")
	for _, want := range []error{full, io.ErrShortWrite} {
		w := writer(func(p []byte) (int, error) {
			if want == full {
				return 0, full
			}
			return len(p) - 1, nil
		})
		if _, err := NewReader(bytes.NewReader(small(t))).WriteTo(w); err != want {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// member returns a gzip member of raw compressed data that decodes to text.
func member(header, raw, text []byte) []byte {
	b := append(bytes.Clone(header), raw...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(b, uint32(len(text)))
}

var plainHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}

// storedA is a final stored block of one letter.
var storedA = []byte{1, 1, 0, 0xfe, 0xff, 'A'}

func TestHeaders(t *testing.T) {
	for _, flags := range headerFlags() {
		h := bytes.Clone(plainHeader)
		h[3] = byte(flags)
		if flags&flagExtra != 0 {
			h = append(h, 3, 1, 'e', 'x', 't')
			h = append(h, make([]byte, 256)...)
		}
		if flags&flagName != 0 {
			h = append(h, "n\xe4me\x00"...)
		}
		if flags&flagComment != 0 {
			h = append(h, "comment\x00"...)
		}
		if flags&flagHeaderCRC != 0 {
			h = binary.LittleEndian.AppendUint16(h, uint16(crc32.ChecksumIEEE(h)))
		}
		packed := member(h, storedA, []byte("A"))
		agree(t, packed)
		if got, err := io.ReadAll(NewReader(bytes.NewReader(packed))); err != nil || string(got) != "A" {
			t.Errorf("flags %08b: %q, %v", flags, got, err)
		}
		for i := range h { // wrong and short headers
			if i > 20 && i < len(h)-20 {
				continue // in the extra field, where all bytes are equal
			}
			packed[i] ^= 1
			agree(t, packed)
			packed[i] ^= 1
			agree(t, packed[:i])
		}
	}
	long := append(bytes.Clone(plainHeader), strings.Repeat("x", 1000)+"\x00"...)
	long[3] = flagName
	if got, err := io.ReadAll(NewReader(bytes.NewReader(member(long, storedA, []byte("A"))))); err != nil || string(got) != "A" {
		t.Errorf("long name: %q, %v", got, err)
	}
}

// headerFlags returns all sets of the flags in use, and one with the others.
func headerFlags() []int {
	flags := []int{0xff}
	for f := range 32 {
		flags = append(flags, f)
	}
	return flags
}

// TestErrors checks the text and the position of each error.
func TestErrors(t *testing.T) {
	good := member(plainHeader, storedA, []byte("A")) // 24 bytes
	after := func(tail ...byte) []byte { return append(bytes.Clone(good), tail...) }
	raw := func(raw ...byte) []byte { return append(bytes.Clone(plainHeader), raw...) }
	tests := []struct {
		name   string
		packed []byte
		text   string // before the error
		want   string // the error, "" for none
	}{
		{"nothing", nil, "", ""},
		{"plain text", []byte("{}"), "", "byte 0: not a gzip header"},
		{"garbage behind", after('x'), "A", "byte 24: not a gzip header"},
		{"zeros behind", after(make([]byte, 512)...), "A", "byte 24: not a gzip header"},
		{"half a header behind", after(0x1f, 0x8b), "A", "unexpected EOF"},
		{"other method", []byte{0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 0}, "", "byte 0: not a gzip header: compression method 7, and only 8 is defined"},
		{"checksum", member(plainHeader, storedA, []byte("B")), "A", "byte 24: gzip checksum does not match"},
		{"length", append(good[:20:20], 2, 0, 0, 0), "A", "byte 24: gzip checksum does not match"},
		{"block type", raw(7), "", "byte 11: corrupt compressed data: block type 3"},
		{"stored length", raw(1, 1, 0, 0, 0), "", "byte 15: corrupt compressed data: stored length 0x0001 does not match its complement 0x0000"},
		// Positions count the header's 10 bytes and every byte with at least
		// one consumed bit. A fixed block: literal 'A' (0x71 in 8 bits), length
		// 3 (0000001), distance 2 (00001).
		{"too far", raw(bitsOf("1 10 01110001 0000001 00001")...), "A", "byte 13: corrupt compressed data: distance 2, over the 1 bytes before"},
		{"too far, in the other member", after(raw(bitsOf("1 10 0000001 00000")...)...), "A", "byte 36: corrupt compressed data: distance 1, over the 0 bytes before"},
		{"length symbol 286", raw(bitsOf("1 10 01110001 11000110")...), "A", "byte 13: corrupt compressed data: no such literal or length"},
		{"distance symbol 30", raw(bitsOf("1 10 01110001 0000001 11110")...), "A", "byte 13: corrupt compressed data: no such distance"},
		{"287 codes", raw(bitsOf("1 01 01111 00000 0000")...), "", "byte 13: corrupt compressed data: 287 literal and length codes, over 286"},
		{"31 distances", raw(bitsOf("1 01 00000 01111 0000")...), "", "byte 13: corrupt compressed data: 31 distance codes, over 30"},
		{"no code lengths", raw(5, 0, 0, 0), "", "byte 14: corrupt compressed data: no such code of a code length"},
	}
	for _, tt := range tests {
		agree(t, tt.packed)
		got, err := io.ReadAll(NewReader(bytes.NewReader(tt.packed)))
		if msg := errText(err); string(got) != tt.text || msg != tt.want {
			t.Errorf("%s: %q, %q; want %q, %q", tt.name, got, msg, tt.text, tt.want)
		}
	}
}

// TestReachAcrossMembers begins a member shortly before the window is moved. Its
// matches must not reach the member before, which is still in the window.
func TestReachAcrossMembers(t *testing.T) {
	first := pack(t, make([]byte, decodeEnd-1000), 6)
	second := append(bytes.Clone(plainHeader), 0, 0xd0, 0x07, 0x2f, 0xf8) // 2000 bytes stored
	second = append(second, bytes.Repeat([]byte("x"), 2000)...)
	second = append(second, bitsOf("1 10 0000001 11000 00000000000")...) // 3 bytes from 4097 back
	packed := append(first, second...)
	agree(t, packed)
	got, err := io.ReadAll(NewReader(bytes.NewReader(packed)))
	if !errors.As(err, new(*CorruptError)) || len(got) != decodeEnd+1000 {
		t.Errorf("%d bytes of %d, %v", len(got), decodeEnd+1000, err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// bitsOf packs binary digits in the order in which they are read.
func bitsOf(digits string) []byte {
	var w bitWriter
	for _, c := range strings.ReplaceAll(digits, " ", "") {
		w.write(uint(c-'0'), 1)
	}
	return w.b
}

// A bitWriter packs bits, the lowest of each value first.
type bitWriter struct {
	b []byte
	n int
}

func (w *bitWriter) write(v uint, n int) {
	for ; n > 0; n-- {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v&1) << (w.n % 8)
		v >>= 1
		w.n++
	}
}

// randomCode returns the lengths of a complete code of n symbols by splitting
// leaves of a tree at random, the deeper the likelier.
func randomCode(rnd *rand.Rand, n int) []uint8 {
	lengths := []uint8{1, 1}
	for len(lengths) < n {
		i := len(lengths) - 1 - rnd.IntN(min(len(lengths), 1+rnd.IntN(20)))
		for lengths[i] == maxCode {
			i = rnd.IntN(len(lengths))
		}
		lengths[i]++
		lengths = append(lengths, lengths[i])
	}
	rnd.Shuffle(n, func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	return lengths
}

// randomBlock returns a gzip file of 32 KiB of history and a block of random
// codes, some of them wrong, that encodes random bits.
func randomBlock(rnd *rand.Rand, history []byte) []byte {
	literals := randomCode(rnd, 257+rnd.IntN(30))
	distances := randomCode(rnd, 2+rnd.IntN(29))
	switch rnd.IntN(8) {
	case 0:
		literals[rnd.IntN(len(literals))] = uint8(rnd.IntN(16))
	case 1:
		distances[rnd.IntN(len(distances))] = uint8(rnd.IntN(16))
	case 2:
		clear(distances)
		distances[rnd.IntN(len(distances))] = uint8(rnd.IntN(3)) // one code or none
	}
	w := bitWriter{b: append(bytes.Clone(plainHeader), 0, 0xff, 0xff, 0, 0)}
	w.b = append(w.b, history[:0xffff]...)
	w.n = 8 * len(w.b)
	w.write(0b101, 3)
	w.write(uint(len(literals)-257), 5)
	w.write(uint(len(distances)-1), 5)
	w.write(15, 4)
	for _, sym := range lengthOrder { // lengths 0 to 15 have codes of 4 bits
		if sym < 16 {
			w.write(4, 3)
		} else {
			w.write(0, 3)
		}
	}
	for _, n := range append(literals, distances...) {
		w.write(uint(n&1<<3|n&2<<1|n&4>>1|n&8>>3), 4) // a code comes highest bit first
	}
	for range 1000 + rnd.IntN(2000) {
		w.b = append(w.b, byte(rnd.Uint32()))
	}
	return w.b
}

// TestRandomCodes reads codes of every shape and length, which compressors
// rarely make, and codes that are only just valid or invalid.
func TestRandomCodes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	history := skewed(rnd, 1<<16)
	refused, longest := 0, 0
	for range 300 {
		packed := randomBlock(rnd, history)
		agree(t, packed)
		got, _ := reference(packed)
		if len(got) == 0xffff {
			refused++
		}
		longest = max(longest, len(got)-0xffff)
	}
	if refused < 10 || refused > 200 || longest < 1000 {
		t.Errorf("%d blocks refused, longest of the others %d bytes: not a fair choice", refused, longest)
	}
}

// FuzzInflate compares this package with compress/gzip on any bytes, as a gzip
// file and as compressed data after a valid header. If the data has an end, it
// must be accepted with the matching trailer.
func FuzzInflate(f *testing.F) {
	f.Add(small(f))
	f.Add(storedA)
	rnd := rand.New(rand.NewPCG(5, 6))
	f.Add(randomBlock(rnd, make([]byte, 1<<16)))
	for level := stdgzip.HuffmanOnly; level <= 9; level++ {
		f.Add(pack(f, []byte(strings.Repeat("abcabcabcd", 20)), level)[10:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		agree(t, b)
		agree(t, append(bytes.Clone(plainHeader), b...))
		rest := bytes.NewReader(b)
		text, err := io.ReadAll(flate.NewReader(rest))
		if err != nil {
			return
		}
		whole := member(plainHeader, b[:len(b)-rest.Len()], text)
		got, err := io.ReadAll(NewReader(iotest.HalfReader(bytes.NewReader(whole))))
		if err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(text), err)
		}
	})
}
