package inflate

import (
	"bytes"
	"compress/flate"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"assay/internal/test"
	"assay/internal/test/tracegen"

	"github.com/klauspost/compress/gzip"
)

// reference reads packed with compress/gzip.
func reference(packed []byte) ([]byte, error) {
	z, err := stdgzip.NewReader(bytes.NewReader(packed))
	if err == io.EOF {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// agree checks this package against compress/gzip: the same inputs are
// accepted, with the same output. For a rejected input, the error and the bytes
// before it are the same, with three exceptions. Header text may be longer
// here. A few bytes of garbage are reported as garbage here, not as a truncated
// header. At the end of a truncated input compress/gzip waits for as many bits
// as the end of the block has, whereas this package decodes (or rejects)
// shorter codes.
func agree(t testing.TB, packed []byte) {
	t.Helper()
	want, wantErr := reference(packed)
	got, err := io.ReadAll(NewReader(bytes.NewReader(packed)))
	corrupt, truncated := (*CorruptError)(nil), errors.Is(err, io.ErrUnexpectedEOF)
	var ok bool
	switch {
	case wantErr == nil:
		ok = err == nil && bytes.Equal(got, want)
	case wantErr == stdgzip.ErrChecksum:
		ok = errors.Is(err, ErrChecksum) && bytes.Equal(got, want)
	case wantErr == stdgzip.ErrHeader:
		ok = errors.Is(err, ErrHeader) && bytes.Equal(got, want) || longText(packed) && bytes.HasPrefix(got, want)
	case wantErr == io.ErrUnexpectedEOF:
		ok = bytes.HasPrefix(got, want) && (truncated || errors.Is(err, ErrHeader) || errors.As(err, &corrupt))
	default:
		ok = errors.As(err, new(*CorruptError)) && errors.As(wantErr, new(flate.CorruptInputError)) && bytes.Equal(got, want)
	}
	if !ok {
		t.Fatalf("%d bytes, %v; compress/gzip has %d bytes, %v; input %.400x", len(got), err, len(want), wantErr, packed)
	}
	if errors.As(err, &corrupt) && (corrupt.Offset <= 10 || corrupt.Offset > int64(len(packed))) {
		t.Fatalf("%v, of %d bytes", err, len(packed))
	}
}

// longText reports whether a header in b may have text over the limit of
// compress/gzip.
func longText(b []byte) bool {
	for part := range bytes.SplitSeq(b, []byte{0}) {
		if len(part) > 511 {
			return true
		}
	}
	return false
}

// pack compresses data at a level from gzip.HuffmanOnly (-2) to 9.
func pack(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples returns data of different kinds, none empty.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	var trace bytes.Buffer
	if _, err := tracegen.Generate(&trace, tracegen.Big(600_000), 0); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 300_000)
	for i := range random {
		random[i] = byte(rnd.Uint32())
	}
	m := map[string][]byte{
		"trace":  trace.Bytes(),
		"random": random,
		"byte":   {'x'},
		"skewed": skewed(rnd, 400_000),
	}
	for n := 1; n <= 34; n++ { // distances around each step of a copy
		m[fmt.Sprint("period ", n)] = bytes.Repeat(random[:n], 20_000/n)
	}
	return m
}

// skewed returns bytes with such different frequencies that the longest codes
// occur.
func skewed(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(min(rnd.ExpFloat64()*12, 255))
	}
	return b
}

func TestLevels(t *testing.T) {
	for name, data := range samples(t) {
		for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
			if len(name) > 6 && level%3 != 0 {
				continue // periods look alike at most levels
			}
			packed := pack(t, data, level)
			for _, n := range []int{1, 3} { // members
				got, err := io.ReadAll(NewReader(bytes.NewReader(bytes.Repeat(packed, n))))
				if err != nil || !bytes.Equal(got, bytes.Repeat(data, n)) {
					t.Errorf("%s, level %d, %d members: %d bytes of %d, %v", name, level, n, len(got), n*len(data), err)
				}
			}
		}
	}
}

// TestPieces reads through sources that return few bytes at a time and into
// buffers of different sizes. The sizes must not affect the result.
func TestPieces(t *testing.T) {
	data := samples(t)["trace"]
	packed := append(pack(t, data, 6), pack(t, data[:100_000], 0)...)
	want := string(data) + string(data[:100_000])
	sources := map[string]func(io.Reader) io.Reader{
		"whole":   func(r io.Reader) io.Reader { return r },
		"bytes":   iotest.OneByteReader,
		"halves":  iotest.HalfReader,
		"dataerr": iotest.DataErrReader,
	}
	for name, source := range sources {
		for _, size := range []int{1, 7, 64 << 10, 1 << 20} {
			var got strings.Builder
			z := struct{ io.Reader }{NewReader(source(bytes.NewReader(packed)))}
			_, err := io.CopyBuffer(struct{ io.Writer }{&got}, z, make([]byte, size))
			if err != nil || got.String() != want {
				t.Errorf("%s into %d: %d bytes of %d, %v", name, size, got.Len(), len(want), err)
			}
		}
		var got strings.Builder
		n, err := NewReader(source(bytes.NewReader(packed))).WriteTo(&got)
		if err != nil || got.String() != want || n != int64(len(want)) {
			t.Errorf("%s by WriteTo: %d bytes of %d, %v", name, n, len(want), err)
		}
	}
}

// TestCorpus reads every gzip file of the corpus, including broken ones.
// Duplicate files are read once.
func TestCorpus(t *testing.T) {
	seen := map[uint32]bool{}
	n := 0
	err := filepath.WalkDir(test.Corpus(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".gz" {
			return err
		}
		if n++; n%test.Every(5) != 0 {
			return nil
		}
		packed, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if sum := crc32.ChecksumIEEE(packed); !seen[sum] {
			seen[sum] = true
			t.Run(filepath.Base(path), func(t *testing.T) { readCapture(t, packed) })
		}
		return nil
	})
	if err != nil || len(seen) == 0 {
		t.Fatalf("%d files, %v", len(seen), err)
	}
}

// readCapture compares the decoded file with klauspost's reader, or with
// compress/gzip if klauspost's reader rejects the file.
func readCapture(t *testing.T, packed []byte) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		agree(t, packed)
		return
	}
	want, err := io.ReadAll(z)
	if err != nil {
		agree(t, packed)
		return
	}
	var got bytes.Buffer
	got.Grow(len(want) + bytes.MinRead)
	if _, err := NewReader(bytes.NewReader(packed)).WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes of %d, %v", got.Len(), len(want), err)
	}
}

// TestAllocs checks that memory use is constant for many members and much
// output.
func TestAllocs(t *testing.T) {
	many := bytes.Repeat(pack(t, []byte("member"), 6), 1000)
	bomb := pack(t, make([]byte, 20<<20), 9)
	for _, packed := range [][]byte{many, bomb} {
		n := testing.AllocsPerRun(1, func() {
			if _, err := io.Copy(struct{ io.Writer }{io.Discard}, NewReader(bytes.NewReader(packed))); err != nil {
				t.Error(err)
			}
		})
		if n > 20 {
			t.Errorf("%.0f allocations, want the few of the start", n)
		}
	}
}
