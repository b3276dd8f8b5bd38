package collective

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// randomColumns returns columns with values of every size.
func randomColumns(rnd *rand.Rand, runs int) *Columns {
	number := func() int64 { return int64(rnd.Uint64()) >> rnd.IntN(64) }
	c := &Columns{}
	for range 1 + rnd.IntN(4) {
		c.Groups = append(c.Groups, Group{ID: rnd.Uint64() >> rnd.IntN(64), Name: strings.Repeat("g", rnd.IntN(5)), Ranks: "[0, 1]", Size: rnd.IntN(9), Local: rnd.IntN(2) == 0})
	}
	for range 1 + rnd.IntN(4) {
		c.Whats = append(c.Whats, What{Op: Op(rnd.IntN(int(ops))), Dtype: "Float", In: number(), Out: number(), Message: number(),
			Group: int32(rnd.IntN(len(c.Groups))), Peer: int32(number()), Sends: rnd.IntN(2) == 0})
	}
	for range runs {
		c.Runs = append(c.Runs, Run{Start: number(), End: number(), Seq: uint32(number()), What: uint32(rnd.IntN(len(c.Whats))), Stream: int32(number()), Queued: uint32(number())})
	}
	return c
}

func encoded(t testing.TB, list []OfGPU) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFile: what is encoded is decoded, whatever the values.
func TestFile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var list []OfGPU
		for i := range rnd.IntN(3) {
			list = append(list, OfGPU{int64(i) - 1, randomColumns(rnd, 1+rnd.IntN(20))})
		}
		if n == 0 {
			list = []OfGPU{{math.MaxInt64, &Columns{
				Groups: []Group{{Size: math.MinInt}}, Whats: []What{{In: math.MinInt64, Out: math.MaxInt64, Peer: math.MinInt32}},
				Runs: []Run{{Start: math.MinInt64, End: math.MaxInt64, Seq: NoSeq, Queued: NoQueue, Stream: math.MinInt32}, {Start: math.MaxInt64, End: math.MinInt64, Seq: 0, Queued: 0, Stream: math.MaxInt32}},
			}}}
		}
		got, err := Decode(bytes.NewReader(encoded(t, list)), "x", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(list)+len(got) > 0 && !cmp.Equal(list, got) {
			t.Fatal(cmp.Diff(list, got))
		}
	}
}

// regular returns the collectives of a training: one group, numbers in order.
func regular(n int) *Columns {
	c := &Columns{Groups: []Group{{ID: 1 << 60, Name: "0", Ranks: "[0, 1]", Size: 2}}, Whats: []What{{Op: AllReduce, Dtype: "BFloat16", In: 1 << 20, Out: 1 << 20, Peer: -1}}}
	rnd := rand.New(rand.NewPCG(3, 4))
	at := int64(1_700_000_000_000_000_000)
	for i := range n {
		at += 1_000_000 + rnd.Int64N(1_000_000)
		c.Runs = append(c.Runs, Run{Start: at, End: at + 100_000 + rnd.Int64N(100_000), Seq: uint32(i), Stream: 20, Queued: uint32(rnd.IntN(20_000))})
	}
	return c
}

// TestFileSize: a run takes less than half of its memory.
func TestFileSize(t *testing.T) {
	size := len(encoded(t, []OfGPU{{0, regular(1000)}}))
	if size > 13_000 {
		t.Errorf("1,000 collectives take %d bytes", size)
	}
	t.Logf("1,000 collectives take %d bytes", size)
}

// summed returns a file with a body and the right checksum.
func summed(body ...byte) []byte {
	out := append([]byte(magic), body...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli)))
}

// TestFileDamaged: each byte that is changed or missing is noticed; a count over what the
// file has is refused before memory is allocated; errors have the position.
func TestFileDamaged(t *testing.T) {
	whole := encoded(t, []OfGPU{{0, regular(20)}})
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		if _, err := Decode(bytes.NewReader(bad), "x", 1<<20); err == nil {
			t.Fatalf("byte %d was changed, and nothing noticed it", i)
		}
		if _, err := Decode(bytes.NewReader(whole[:i]), "x", 1<<20); err == nil {
			t.Fatalf("the file was cut at byte %d, and nothing noticed it", i)
		}
	}
	huge := binary.AppendUvarint(nil, 1<<62)
	for name, tc := range map[string]struct {
		text []byte
		want string
	}{
		"other":       {[]byte("PK"), "x@0: this is not a file of collectives that assay wrote"},
		"empty":       {nil, "x@0: this is not"},
		"cut":         {[]byte(magic), "x@8: the file is cut"},
		"version":     {summed(2, 0), "x@8: the version is 2, want 1"},
		"checksum":    {append([]byte(magic), 1, 0, 9, 9, 9, 9), "x@10: the checksum is wrong"},
		"GPUs":        {summed(append([]byte{1}, huge...)...), "x@9: the number of GPUs is 4611686018427387904, and 0 bytes are left"},
		"groups":      {summed(append([]byte{1, 1, 0}, append(huge, 0, 0)...)...), "x@11: the number of groups is 4611686018427387904"},
		"kinds":       {summed(append([]byte{1, 1, 0, 0}, append(huge, 0, 0)...)...), "x@12: the number of kinds is"},
		"runs":        {summed(append([]byte{1, 1, 0, 0, 0}, huge...)...), "x@13: the number of collectives is"},
		"group":       {summed(1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), "x@18: a group is 0, want less than 0"},
		"operation":   {summed(1, 1, 0, 0, 1, 99, 0, 0, 0, 0, 0, 0, 0, 0), "x@13: an operation is 99"},
		"text":        {summed(1, 1, 0, 1, 0, 99, 0, 0, 0, 0, 0), "x@13: the number of bytes of a text is 99"},
		"rest":        {summed(1, 0, 7), "x@10: 1 bytes follow the last GPU"},
		"long number": {summed(1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "x@10: a number is cut or too large"},
	} {
		_, err := Decode(bytes.NewReader(tc.text), "x", 1<<20)
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

// TestFileLimit: neither the text nor the columns exceed the limit of memory.
func TestFileLimit(t *testing.T) {
	whole := encoded(t, []OfGPU{{0, regular(10_000)}})
	for _, limit := range []int64{1 << 10, 64 << 10, 320_000} {
		if _, err := Decode(bytes.NewReader(whole), "x", limit); err == nil || !strings.Contains(err.Error(), "raise --max-memory") {
			t.Errorf("limit %d: got %v", limit, err)
		}
	}
	allocated := testing.AllocsPerRun(1, func() {
		Decode(bytes.NewReader(summed(append([]byte{1}, binary.AppendUvarint(nil, 1<<40)...)...)), "x", 1<<20)
	})
	if allocated > 50 {
		t.Errorf("%v allocations for a hostile count", allocated)
	}
	if _, err := Decode(bytes.NewReader(whole), "x", 1<<20); err != nil {
		t.Error(err)
	}
}

// FuzzFile: what decodes encodes to what decodes to the same.
func FuzzFile(f *testing.F) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for n := range 8 {
		text := encoded(f, []OfGPU{{int64(n), randomColumns(rnd, n)}})
		f.Add(text[len(magic) : len(text)-sumSize])
	}
	f.Add([]byte{1, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := Decode(bytes.NewReader(summed(body...)), "x", 1<<20)
		if err != nil {
			return
		}
		again, err := Decode(bytes.NewReader(encoded(t, list)), "x", 1<<20)
		if err != nil || !cmp.Equal(list, again) {
			t.Errorf("%v: %s", err, cmp.Diff(list, again))
		}
	})
}
