package eventscan

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"assay/internal/jsonscan"
)

// text says everything that is in f.
func text(f *Fields) string {
	s := ""
	for x := Field(1); x < numFields; x++ {
		if !f.Has(x) {
			continue
		}
		switch {
		case x == Phase:
			s += fmt.Sprintf(" ph=%c", f.Phase())
		case x == Start:
			s += fmt.Sprintf(" ts=%d", f.Start())
		case x == Dur:
			s += fmt.Sprintf(" dur=%d", f.Dur())
		case x == Args:
			s += " args"
		case x < Grid:
			s += fmt.Sprintf(" %d=%q", x, f.Text(x))
		case x < firstInt:
			s += fmt.Sprintf(" %d=%d", x, f.Triple(x))
		default:
			s += fmt.Sprintf(" %d=%d", x, f.Int(x, -1))
		}
	}
	return s
}

// eachEvent calls f with the index of every event of a whole trace.
func eachEvent(tb testing.TB, b []byte, f func(i, end int)) {
	tb.Helper()
	at := bytes.Index(b, []byte(`"traceEvents"`))
	i := bytes.IndexByte(b[max(at, 0):], '[') + max(at, 0) + 1
	for {
		for i < len(b) && (b[i] == ',' || b[i] <= ' ') {
			i++
		}
		if i >= len(b) || b[i] != '{' {
			return
		}
		end, err := jsonscan.Skip(b, i)
		if err != nil {
			tb.Fatalf("event at %d: %v", i, err)
		}
		f(i, end)
		i = end
	}
}

func corpusTraces(tb testing.TB) map[string][]byte {
	tb.Helper()
	dir := os.Getenv("ASSAY_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "kineto", "*", "*", "*.json.gz"))
	more, _ := filepath.Glob(filepath.Join(dir, "kineto", "*", "*", "*", "*.json.gz"))
	if files = append(files, more...); len(files) == 0 {
		tb.Skip("no corpus")
	}
	out := make(map[string][]byte)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		if out[filepath.Base(name)], err = io.ReadAll(z); err != nil {
			tb.Fatal(err)
		}
		f.Close()
	}
	return out
}

// TestScanAgrees holds Scan to Decode on every event of the corpus, and to
// accepting nearly all of them: a fast way that is not taken is none.
func TestScanAgrees(t *testing.T) {
	for name, b := range corpusTraces(t) {
		events, accepted := 0, 0
		var fast, slow Fields
		var memo Memo
		eachEvent(t, b, func(i, end int) {
			events++
			want, err := Decode(b, i, &slow)
			for _, scan := range []func([]byte, int, *Fields) (int, bool){Scan, memo.Scan} {
				got, ok := scan(b, i, &fast)
				if !ok {
					return
				}
				if err != nil || got != want || got != end || text(&fast) != text(&slow) {
					t.Fatalf("%s@%d: Scan ends at %d with%s\nDecode ends at %d, %v, with%s", name, i, got, text(&fast), want, err, text(&slow))
				}
			}
			accepted++
		})
		if accepted < events*99/100 {
			t.Errorf("%s: Scan took %d of %d events", name, accepted, events)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	for name, data := range corpusTraces(b) {
		if len(data) < 8<<20 {
			continue
		}
		var at []int
		eachEvent(b, data, func(i, _ int) { at = append(at, i) })
		for way, scan := range map[string]func([]byte, int, *Fields) (int, bool){"plain": Scan, "memo": new(Memo).Scan} {
			b.Run(name[:min(12, len(name))]+"/"+way, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				var f Fields
				for b.Loop() {
					for _, i := range at {
						scan(data, i, &f)
					}
				}
				b.ReportMetric(float64(len(data))/float64(len(at)), "B/event")
			})
		}
	}
}
