package eventscan

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/jsonscan"
	"assay/internal/test"
)

// text returns the whole content of f as text.
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

// same checks the numbers with which a Memo declares two fields or events
// equal. It maps each number to the text for which it was returned.
type same map[string]string

func (s same) check(tb testing.TB, f *Fields) {
	tb.Helper()
	is := func(what string, n int, of string) {
		key := fmt.Sprint(what, n)
		if before, ok := s[key]; n != 0 && ok && before != of {
			tb.Fatalf("%s is of %s and of %s", key, before, of)
		}
		s[key] = of
	}
	is("thread", f.Thread(), fmt.Sprintf("%q %q", f.Text(PID), f.Text(TID)))
	is("class", f.Class(), fmt.Sprintf("%q %q", f.Phase(), f.Text(Category)))
}

// agrees compares a memo with Decode on one event, if the memo accepts it.
// Values of the event before must not appear in f.
func (s same) agrees(t *testing.T, memo *Memo, f *Fields, event []byte) {
	t.Helper()
	var want Fields
	if _, err := Decode(event, 0, &want); err != nil {
		t.Fatal(err)
	}
	if _, ok := memo.Scan(event, 0, f); !ok {
		return
	}
	if s.check(t, f); text(f) != text(&want) {
		t.Errorf("%q is read as%q, want%q", event, text(f), text(&want))
	}
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
	dir := test.Corpus(tb, "kineto")
	files := test.Files(tb, filepath.Join(dir, "*", "*", "*.json.gz"), filepath.Join(dir, "*", "*", "*", "*.json.gz"))
	out := make(map[string][]byte)
	for i, name := range files {
		if i%test.Every(5) != 0 {
			continue
		}
		out[filepath.Base(name)] = test.Unpacked(tb, name)
	}
	return out
}

// TestScanAgrees compares Scan with Decode on every event of the corpus, and
// requires that Scan accepts nearly all of them.
func TestScanAgrees(t *testing.T) {
	for name, b := range corpusTraces(t) {
		events, accepted := 0, 0
		var fast, slow Fields
		var memo Memo
		said := make(same)
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
			said.check(t, &fast)
			accepted++
		})
		if accepted < events*99/100 {
			t.Errorf("%s: Scan took %d of %d events", name, accepted, events)
		}
	}
}

// TestMemoTells: the Memo distinguishes events whose process, thread and
// category are written in the usual forms, whatever else they contain.
func TestMemoTells(t *testing.T) {
	var memo Memo
	seen := make(map[[2]int]string)
	threads, categories := []string{"7", "-1342177280", `"main"`, "70"}, []string{"cpu_op", "kernel", "cpu_o"}
	for range 2 {
		for _, tid := range threads {
			for _, category := range categories {
				event := `{"ph":"X","cat":"` + category + `","name":"n","pid":1,"tid":` + tid + `,"ts":1,"dur":1},`
				var f Fields
				if _, ok := memo.Scan([]byte(event+strings.Repeat(" ", 64)), 0, &f); !ok {
					t.Fatalf("%s was not taken", event)
				}
				n := [2]int{f.Thread(), f.Class()}
				if before, ok := seen[n]; n[0] == 0 || n[1] == 0 || ok && before != category+tid {
					t.Errorf("%s has thread and class %d, as %q has", event, n, before)
				}
				seen[n] = category + tid
			}
		}
	}
	if len(seen) != len(threads)*len(categories) {
		t.Errorf("%d pairs of thread and class, want %d", len(seen), len(threads)*len(categories))
	}
}

// TestMemoPhases: a phase is the one of its event and not of an earlier one,
// for any byte.
func TestMemoPhases(t *testing.T) {
	var memo Memo
	var f Fields
	said := make(same)
	for range 3 {
		for _, phase := range []string{"X", "\x00", "\xff", ""} {
			event := []byte(`{"ph":"` + phase + `","cat":"cpu_op","pid":1}` + strings.Repeat(" ", 64))
			said.agrees(t, &memo, &f, event)
		}
	}
}

// TestMemoTwice: if a member is written twice, the last one counts.
func TestMemoTwice(t *testing.T) {
	var memo Memo
	said := make(same)
	for range 3 {
		for _, second := range []string{"", `,"ph":"B"`, `,"cat":"x"`, `,"pid":2`, `,"tid":"x"`, `,"tid":{}`, `,"tid":null`, `,"args":{}`, `,"args":{"stream":2}`, `,"args":null`} {
			event := []byte(`{"ph":"X","cat":"cpu_op","pid":1,"tid":1,"ts":1,"args":{"stream":1,"device":1}` + second + "}" + strings.Repeat(" ", 64))
			said.agrees(t, &memo, new(Fields), event)
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

// TestMemoBlocks: what a Memo learns at the end of a block, which cuts an event off, does not
// keep it from knowing the classes of the events that follow.
func TestMemoBlocks(t *testing.T) {
	event := `{"ph": "s", "id": 7, "pid": 1, "tid": 2, "ts": 12, "cat": "async_cpu_to_gpu", "name": "ac2g", "bp": "e"}`
	text := []byte(event + ",\n" + event + "                                ")
	for cut := 1; cut < len(event); cut++ {
		var m Memo
		var f Fields
		m.Scan(text[:cut], 0, &f)
		if end, ok := m.Scan(text, 0, &f); !ok || end != len(event) {
			t.Fatalf("after %d bytes: the event ends at %d, want %d", cut, end, len(event))
		}
		if f.Class() == 0 || f.Thread() == 0 {
			t.Errorf("after %d bytes: class %d and thread %d of the next event, want them known", cut, f.Class(), f.Thread())
		}
	}
}
