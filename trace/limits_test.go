package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// numberedEvents returns events made from a format that contains the event's
// number twice.
func numberedEvents(n int, format string) []byte {
	var b bytes.Buffer
	b.WriteString("[")
	for i := range n {
		fmt.Fprintf(&b, format+",\n", i, i)
	}
	b.WriteString("{}]")
	return b.Bytes()
}

const (
	kernelFormat = `{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":1}`
	opFormat     = `{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d,"dur":1}`
)

func limited(l Limits) Select {
	sel := SelectAll()
	sel.Limits = l
	return sel
}

// readLimited reads b with several workers and with one and requires the same
// trace for any distribution of the work.
func readLimited(t *testing.T, b []byte, l Limits) *Trace {
	t.Helper()
	var first *Trace
	for _, workers := range []int{1, 4, 4} {
		grown := make([]byte, 0, 3500) // as another trace may have left it
		chunkBuffers.Put(&grown)
		got, err := read(NewReader(bytes.NewReader(b), "in", limited(l)), newPipeline(workers, 1000))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if dump(first) != dump(got) {
			t.Fatalf("%d workers read another trace than 1:\n%.1000s\n%.1000s", workers, dump(got), dump(first))
		}
	}
	return first
}

func issueOf(t *Trace, code string) (n int64) {
	for _, is := range t.Issues {
		if is.Code == code {
			n += is.Count
		}
	}
	return n
}

// TestMemoryLimit: the input ends at the limit, and the data read is exactly
// its beginning.
func TestMemoryLimit(t *testing.T) {
	for _, format := range []string{
		kernelFormat, opFormat,
		`{"ph":"X","cat":"cpu_op","name":"op","pid":%d,"tid":1,"ts":%d,"dur":1}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":1,"args":{"grid":[%d,1,1]}}`,
		`{"ph":"B","name":"b%d","pid":1,"tid":1,"ts":%d}`,
		`{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"Input Dims":[[%d]]}}`,
	} {
		const n, limit = 20000, 1 << 20
		got := readLimited(t, numberedEvents(n, format), Limits{Memory: limit, Names: n})
		if got.Events == 0 || got.Events >= n || got.Complete || !got.Limited() || issueOf(got, codeMemory) != 1 {
			t.Errorf("%s: %d events of %d, complete %v, issues %v", format, got.Events, n, got.Complete, got.Issues)
		}
		if at := got.Issues[0].First; at.Path != fmt.Sprintf("traceEvents[%d]", got.Events) || int64(bytes.Count(numberedEvents(n, format)[:at.Offset], []byte(`{"ph"`))) != got.Events {
			t.Errorf("%s: the limit is at %v after %d events", format, at, got.Events)
		}
		want, err := read(NewReader(bytes.NewReader(numberedEvents(int(got.Events), format)), "in", SelectAll()), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := func(s string) string { // everything except the lines about the end
			s, _, _ = strings.Cut(s, " events, complete")
			return s[:strings.LastIndexByte(s, '\n')+1]
		}
		if w, g := rows(dump(want)), rows(dump(got)); w != g {
			t.Errorf("%s: the first %d events give\n%.500s\nwhat was read gives\n%.500s", format, got.Events, w, g)
		}
	}
}

// TestMemoryOfReader: the limit also applies if the Reader does the work.
func TestMemoryOfReader(t *testing.T) {
	const n = 60000
	got, err := read(NewReader(bytes.NewReader(numberedEvents(n, opFormat)), "in", limited(Limits{Memory: 1 << 20})), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Events >= n || !got.Limited() || int64(got.Ops.Len()) != got.Events {
		t.Errorf("%d events, %d operators, issues %v", got.Events, got.Ops.Len(), got.Issues)
	}
}

// TestNoLimit: an input below its limits is read as without limits, and each
// limit applies exactly at its value.
func TestNoLimit(t *testing.T) {
	const n = 3000
	b := numberedEvents(n, opFormat)
	want := readLimited(t, b, Limits{})
	if len(want.Issues) != 0 || want.Ops.Len() != n {
		t.Fatalf("%d operators, issues %v", want.Ops.Len(), want.Issues)
	}
	names := want.Names()
	if got := readLimited(t, b, Limits{Names: names}); dump(got) != dump(want) {
		t.Errorf("%d names do not fit a limit of as many: %v", names, got.Issues)
	}
	if got := readLimited(t, b, Limits{Names: names - 1}); issueOf(got, codePooled) != 1 {
		t.Errorf("%d names fit a limit of one less: %v", names, got.Issues)
	}
}

// TestNamesPooled: beyond the limit host events share a name and keep their
// times. Device work keeps its name.
func TestNamesPooled(t *testing.T) {
	const n, most = 5000, 100
	b := numberedEvents(n, opFormat+",\n"+strings.ReplaceAll(kernelFormat, "%d", "%[1]d"))
	got := readLimited(t, b, Limits{Names: most})
	var pooled, time int64
	names := make(map[string]bool)
	for o := range got.Ops.All() {
		time += o.Dur
		if name := got.Name(o.Name); name == OtherNames {
			pooled++
		} else {
			names[name] = true
		}
	}
	if got.Ops.Len() != n || time != n*1000 {
		t.Errorf("%d operators of %d ns, want %d of %d", got.Ops.Len(), time, n, n*1000)
	}
	if len(names) > most || int64(len(names)) != n-pooled || issueOf(got, codePooled) != pooled || !got.Complete {
		t.Errorf("%d names kept, %d events pooled, issues %v", len(names), pooled, got.Issues)
	}
	i := 0
	for a := range got.Activities.All() {
		if name := got.Name(a.Name); name != fmt.Sprint("k", i) {
			t.Fatalf("kernel %d is named %q", i, name)
		}
		i++
	}
	if i != n {
		t.Errorf("%d kernels, want %d", i, n)
	}
}

// TestEmptyNames: the empty name does not count as a name, also if there is so
// little memory that builders are replaced.
func TestEmptyNames(t *testing.T) {
	const n = 5000
	b := numberedEvents(n, `{"ph":"X","name":"s%d","pid":1,"tid":1,"ts":%d,"dur":1},{"ph":"X","name":"","pid":1,"tid":2,"ts":1,"dur":1}`)
	got := readLimited(t, b, Limits{Names: 100, Memory: 8 << 20})
	for p := range got.Spans.All() {
		if got.Tracks[p.Track].TID == "2" && p.Name != 0 || p.Category != 0 {
			t.Fatalf("a span without a name or category has %q and %q", got.Name(p.Name), got.Name(p.Category))
		}
	}
	if got.Spans.Len() != 2*n || issueOf(got, codePooled) == 0 {
		t.Errorf("%d spans, issues %v", got.Spans.Len(), got.Issues)
	}
}

// TestTextCut: a long text is shortened, and its length distinguishes it from
// others.
func TestTextCut(t *testing.T) {
	long := strings.Repeat("x", 500)
	in := fmt.Sprintf(`[{"ph":"X","cat":"kernel","name":"%s","pid":"%s","tid":7,"ts":1,"dur":2},{"ph":"X","cat":"kernel","name":"%s1","pid":"%s","tid":7,"ts":3,"dur":2},`+
		`{"ph":"M","name":"process_name","pid":"%s","args":{"name":"%s"}}]`, long, long, long, long, long, long)
	got := readLimited(t, []byte(in), Limits{Text: 100})
	want := []string{strings.Repeat("x", 100) + "... (500 bytes)", strings.Repeat("x", 100) + "... (501 bytes)"}
	i := 0
	for a := range got.Activities.All() {
		if name := got.Name(a.Name); name != want[i] {
			t.Errorf("name %q, want %q", name, want[i])
		}
		i++
	}
	if len(got.Tracks) != 1 || got.Tracks[0].PID != want[0] || issueOf(got, codeTextCut) != 2 {
		t.Errorf("tracks %+v, issues %v", got.Tracks, got.Issues)
	}
}

// TestEventLimit: an event that is too long is skipped, whichever member is
// long, and its neighbors are read.
func TestEventLimit(t *testing.T) {
	text := strings.Repeat("x", 5000)
	for _, long := range []string{
		`{"ph":"X","cat":"kernel","name":"` + text + `","pid":0,"tid":7,"ts":1,"dur":2}`,
		`{"ph":"X","cat":"kernel","name":"k","args":{"a":"` + text + `"},"pid":0,"tid":7,"ts":1,"dur":2}`,
		`{"ph":"X","cat":"kernel","name":"k","args":{"a":[` + strings.Repeat("1,", 2500) + `1]},"pid":0,"tid":7,"ts":1,"dur":2}`,
		`{"ph":"X","cat":"kernel","name":"k","args":{"a":` + strings.Repeat("[", 2500) + strings.Repeat("]", 2500) + `},"pid":0,"tid":7,"ts":1,"dur":2}`,
	} {
		got := readLimited(t, []byte("["+ok1+","+long+","+ok2+"]"), Limits{Event: 4000})
		if got.Activities.Len() != 2 || issueOf(got, codeTooLong) != 1 || !got.Complete {
			t.Errorf("%.40s: %d kernels, issues %v", long, got.Activities.Len(), got.Issues)
		}
	}
}

// TestLimitOfInput: an input that its source ends keeps the data before the
// end. It has an error if there is none.
func TestLimitOfInput(t *testing.T) {
	for _, err := range []error{InputLimit(7), InflationLimit(1, 1<<40)} {
		code := err.(*LimitError).code
		for in, events := range map[string]int64{"[" + ok1 + "," + ok2: 2, "[" + ok1 + `,{"ph":"X","name":"x`: 1, `{"traceEvents":[` + ok1: 1} {
			got, failed := read(NewReader(io.MultiReader(strings.NewReader(in), ended{err}), "in", SelectAll()), newPipeline(2, 100))
			if failed != nil || got.Complete || !got.Limited() || got.Events != events || issueOf(got, code) != 1 || len(got.Issues) != 1 {
				t.Errorf("%s: %+v, %v", in, got, failed)
			}
		}
		for _, in := range []string{"", "[", "[   ", `{"a":"`, `{"traceEvents":[`} {
			_, failed := read(NewReader(io.MultiReader(strings.NewReader(in), ended{err}), "in", SelectAll()), nil)
			if limit := (*LimitError)(nil); !errors.As(failed, &limit) {
				t.Errorf("%q: %v, want %v", in, failed, err)
			}
		}
		// After the end of the trace the limit has no effect.
		got, failed := read(NewReader(io.MultiReader(strings.NewReader("["+ok1+"]  "), ended{err}), "in", SelectAll()), nil)
		if failed != nil || !got.Complete || got.Limited() {
			t.Errorf("after the trace: %+v, %v", got, failed)
		}
	}
}

// An ended is a reader that returns an error.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error) { return 0, e.err }

// TestGrown: the caller is notified of the memory as it grows, not only at the
// end.
func TestGrown(t *testing.T) {
	var said []int64
	l := Limits{Memory: 4 << 20, Grown: func(n int64) { said = append(said, n) }}
	if _, err := read(NewReader(bytes.NewReader(numberedEvents(20000, kernelFormat)), "in", limited(l)), newPipeline(3, 1000)); err != nil {
		t.Fatal(err)
	}
	last, steps := int64(0), 0
	for _, n := range said {
		if n < last {
			t.Fatalf("memory shrinks: %v", said)
		}
		if last > 0 && n > 3*last && n > 1<<20 {
			t.Errorf("from %d to %d in one step", last, n)
		}
		if n > last {
			steps++
		}
		last = n
	}
	if steps < 4 {
		t.Errorf("memory %v, want more steps", said)
	}
}
