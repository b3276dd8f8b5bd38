package hosttree

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/trace"
)

// say is a Visitor for the only thread of a trace that logs its calls: an event
// with its depth when it starts, and its name with the time during which it was
// the innermost.
type say struct {
	t     *trace.Trace
	lines []string
	self  map[string]int64
	last  int64
	gaps  int // stretches that are not contiguous
}

func (s *say) Enter(open []Open[int]) {
	f := &open[len(open)-1]
	f.Data = len(open)
	s.lines = append(s.lines, fmt.Sprint(strings.Repeat(" ", len(open)-1), s.t.Name(f.Name)))
}

func (s *say) Leave(open []Open[int]) {
	if open[len(open)-1].Data != len(open) {
		s.lines = append(s.lines, "left at another depth")
	}
}

func (s *say) Between(from, to int64, open []Open[int]) {
	if from != s.last && s.last != 0 || to <= from {
		s.gaps++
	}
	s.last = to
	if len(open) > 0 {
		s.self[s.t.Name(open[len(open)-1].Name)] += to - from
	}
}

func walked(t *testing.T, events string) *say {
	t.Helper()
	tr, err := trace.Read(strings.NewReader("["+events+"]"), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	threads := Threads(tr)
	if len(threads) != 1 {
		t.Fatalf("%d threads, want 1", len(threads))
	}
	s := &say{t: tr, self: make(map[string]int64)}
	if n := Walk(threads[0], s); n != 0 {
		t.Errorf("%d events are too deep", n)
	}
	if s.gaps > 0 {
		t.Errorf("%d stretches do not follow each other", s.gaps)
	}
	return s
}

func event(cat, name string, ts, dur float64, args string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":1,"tid":1,"ts":%.3f,"dur":%.3f,"args":{%s}}`, cat, name, ts, dur, args)
}

func TestWalk(t *testing.T) {
	for _, tc := range []struct{ name, events, want, self string }{
		{"nested, in any order",
			event("cuda_runtime", "call", 3, 2, "") + "," + event("cpu_op", "op", 2, 5, "") + "," + event("python_function", "f", 1, 9, "") + "," + event("user_annotation", "note", 0, 20, ""),
			"note| f|  op|   call", "call 2000 f 4000 note 11000 op 3000"},
		{"one after the other, without a pause",
			event("cpu_op", "a", 0, 5, "") + "," + event("cpu_op", "b", 5, 5, ""), "a|b", "a 5000 b 5000"},
		{"of equal times the outer kind first",
			event("cuda_runtime", "call", 0, 5, "") + "," + event("cpu_op", "op", 0, 5, "") + "," + event("python_function", "f", 0, 5, "") + "," + event("user_annotation", "note", 0, 5, ""),
			"note| f|  op|   call", "call 5000"},
		{"of equal times the smaller id first",
			event("cpu_op", "inner", 0, 5, `"External id":8`) + "," + event("cpu_op", "outer", 0, 5, `"External id":7`), "outer| inner", "inner 5000"},
		{"a microsecond too long is inside",
			event("cpu_op", "op", 0, 10, "") + "," + event("cuda_runtime", "call", 8, 3, ""), "op| call", "call 3000 op 8000"},
		{"more than that is not nested",
			event("cpu_op", "op", 0, 10, "") + "," + event("python_function", "f", 8, 3.001, ""), "op|f", "f 3001 op 8000"},
		{"a call may outlive its operator by more",
			event("cpu_op", "op", 0, 10, "") + "," + event("cuda_runtime", "call", 8, 102, ""), "op| call", "call 102000 op 8000"},
		{"but not by so much that clocks do not explain it",
			event("cpu_op", "op", 0, 10, "") + "," + event("cuda_runtime", "call", 8, 102.001, ""), "op|call", "call 102001 op 8000"},
		{"External ids show where a long call belongs",
			event("cpu_op", "op", 0, 10, `"External id":4`) + "," + event("cuda_runtime", "call", 8, 900, `"External id":4`), "op| call", "call 900000 op 8000"},
		{"an External id of another operator does not",
			event("cpu_op", "op", 0, 10, `"External id":4`) + "," + event("cuda_runtime", "call", 8, 900, `"External id":5`), "op|call", "call 900000 op 8000"},
		{"the next operator is not within the call before it",
			event("cpu_op", "a", 0, 10, "") + "," + event("cuda_runtime", "call", 8, 11, "") + "," + event("cpu_op", "b", 12, 3, "") + "," + event("cpu_op", "c", 20, 1, ""),
			"a| call|b|c", "a 8000 b 3000 c 1000 call 4000"},
		{"an event that outlives all is nested in none",
			event("cpu_op", "a", 0, 10, "") + "," + event("cpu_op", "b", 1, 8, "") + "," + event("cpu_op", "c", 5, 50, ""), "a| b|c", "a 1000 b 4000 c 50000"},
		{"no time at all", event("cpu_op", "a", 3, 0, "") + "," + event("cpu_op", "b", 3, 4, ""), "b| a", "b 4000"},
	} {
		s := walked(t, tc.events)
		if got := strings.Join(s.lines, "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		var self []string
		for _, name := range strings.Fields(tc.self) {
			if ns, ok := s.self[name]; ok {
				self = append(self, fmt.Sprint(name, " ", ns))
			}
		}
		if got := strings.Join(self, " "); got != tc.self || len(self) != len(s.self) {
			t.Errorf("%s: self times %v, want %q", tc.name, s.self, tc.self)
		}
	}
}

// TestSelfTimes: the self times of random events sum to the time during which
// any of them ran, counted one nanosecond at a time.
func TestSelfTimes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var events []string
		busy := make([]bool, 400)
		for i := range 1 + rnd.IntN(12) {
			start, dur := rnd.IntN(200), rnd.IntN(200)
			for ns := start; ns < start+dur; ns++ {
				busy[ns] = true
			}
			events = append(events, event([]string{"cpu_op", "python_function", "cuda_runtime"}[rnd.IntN(3)], fmt.Sprint("e", i), float64(start)/1000, float64(dur)/1000, ""))
		}
		want := int64(0)
		for _, b := range busy {
			if b {
				want++
			}
		}
		got := int64(0)
		for _, ns := range walked(t, strings.Join(events, ",")).self {
			got += ns
		}
		if got != want {
			t.Fatalf("%v: self times sum to %d ns, want %d", events, got, want)
		}
	}
}

// TestDepth: events nested deeper than the limit are left out and counted.
func TestDepth(t *testing.T) {
	var events []string
	const n = maxDepth + 100
	for i := range n {
		events = append(events, event("cpu_op", "op", float64(i), float64(2*(n-i)), ""))
	}
	tr, err := trace.Read(strings.NewReader("["+strings.Join(events, ",")+"]"), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if got := Walk(Threads(tr)[0], &say{t: tr, self: make(map[string]int64)}); got != 100 {
		t.Errorf("%d events are too deep, want 100", got)
	}
}

// TestLongThread: events that are merged on another core are complete and in
// order.
func TestLongThread(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{longThread - 1, longThread, 3*longThread + 7} {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(event([]string{"cpu_op", "cuda_runtime", "user_annotation", "python_function"}[rnd.IntN(4)], fmt.Sprint(i), float64(rnd.IntN(n)), float64(rnd.IntN(50)), ""))
		}
		tr, err := trace.Read(strings.NewReader("["+b.String()+"]"), "in", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		met := make(map[trace.Sym]bool)
		var last Frame
		for batch := range Threads(tr)[0].frames() {
			for _, f := range batch {
				if len(met) > 0 && (f.Start < last.Start || f.Start == last.Start && f.End > last.End) {
					t.Fatalf("%d events: %+v comes after %+v", n, f, last)
				}
				last = f
				met[f.Name] = true
			}
		}
		if len(met) != n {
			t.Errorf("%d of %d events came", len(met), n)
		}
	}
}

// TestFramesLeft: a caller that takes only some of the events leaves no
// goroutine waiting.
func TestFramesLeft(t *testing.T) {
	var b strings.Builder
	for i := range 10 * longThread {
		fmt.Fprintf(&b, "%s%s", []string{"", ","}[min(i, 1)], event("cpu_op", "op", float64(i), 1, ""))
	}
	tr, err := trace.Read(strings.NewReader("["+b.String()+"]"), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		for range Threads(tr)[0].frames() {
			break
		}
	}
	for wait := time.Millisecond; runtime.NumGoroutine() > before; wait *= 2 {
		if wait > 5*time.Second {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(wait)
	}
}

// TestCut: a walk up to a time and one from there visit what one walk does, and what is open
// then is known beforehand.
func TestCut(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var events []string
		for i := range 40 {
			events = append(events, event([]string{"cpu_op", "cuda_runtime", "user_annotation", "python_function"}[rnd.IntN(4)], fmt.Sprint(i), float64(rnd.IntN(300)), float64(rnd.IntN(100)), ""))
		}
		tr, err := trace.Read(strings.NewReader("["+strings.Join(events, ",")+"]"), "in", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		whole, parts := &visits{}, &visits{}
		th := Threads(tr)[0]
		Walk(th, whole)
		at := th.Quantile(rnd.Float64())
		before, after := th.Cut(at)
		if before.Len()+after.Len() != th.Len() {
			t.Fatalf("%d and %d events, want %d together", before.Len(), after.Len(), th.Len())
		}
		open, _ := WalkUntil(before, parts, at)
		var left []Frame
		for _, o := range open {
			left = append(left, o.Frame)
		}
		if guess := before.OpenAt(at); !slices.Equal(guess, left) {
			t.Fatalf("%v\nat %d: %v are open, guessed %v", events, at, left, guess)
		}
		WalkFrom(after, parts, at, left)
		if !slices.Equal(whole.list, parts.list) {
			t.Fatalf("%v\nin parts: %v\nwant: %v", events, parts.list, whole.list)
		}
	}
}

// visits notes what a walk says.
type visits struct{ list []string }

func (v *visits) note(what string, open []Open[struct{}]) {
	rows := make([]string, 0, len(open))
	for _, o := range open {
		rows = append(rows, fmt.Sprint(o.Kind, o.Row))
	}
	v.list = append(v.list, fmt.Sprint(what, rows))
}

func (v *visits) Enter(open []Open[struct{}]) { v.note("enter", open) }
func (v *visits) Leave(open []Open[struct{}]) { v.note("leave", open) }
func (v *visits) Resume([]Open[struct{}])     {}
func (v *visits) Between(from, to int64, open []Open[struct{}]) {
	v.note(fmt.Sprint(from, to), open)
}
