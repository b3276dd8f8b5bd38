package analyze_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
)

// TestDetailGaps compares the gaps with a sort of all of them, which it finds by a look at
// every nanosecond.
func TestDetailGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{3, 200, 900} {
		var b strings.Builder
		var want []summary.DetailGap
		at := 1000
		for i := range n {
			if i > 0 {
				b.WriteString(",")
				// Few lengths, so that some are equal; 0 is no gap.
				if ns := rnd.IntN(300); ns > 0 {
					want = append(want, summary.DetailGap{AtNS: int64(at - 1000), NS: int64(ns), Owner: summary.OwnerUnknown, Name: -1})
					at += ns
				}
			}
			dur := 1 + rnd.IntN(50)
			fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":%d,"ts":%d.%03d,"dur":0.%03d}`, i%2, i%3, at/1000, at%1000, dur)
			at += dur
		}
		slices.SortStableFunc(want, func(a, b summary.DetailGap) int { return cmp.Compare(b.NS, a.NS) })
		want = want[:min(len(want), summary.MaxDetailGaps)]
		slices.SortFunc(want, func(a, b summary.DetailGap) int { return cmp.Compare(a.AtNS, b.AtNS) })
		tr, err := trace.Read(strings.NewReader("["+b.String()+"]"), "in", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(tr, summary.Input{}, detailed(0))
		d := &s.Details[0]
		for i := range d.Gaps {
			g := &d.Gaps[i]
			if d.Names[g.After] == d.Names[g.Until] && n == 3 {
				t.Errorf("the gap at %d is between two times %s", g.AtNS, d.Names[g.After])
			}
			g.After, g.Until = 0, 0
		}
		if diff := gocmp.Diff(want, d.Gaps); diff != "" {
			t.Errorf("%d operations: want(-) got(+)\n%s", n, diff)
		}
	}
}

// stepsOfWork returns a trace of two streams with steps of different lengths. The operations are nodes
// of a graph, which may overlap.
func stepsOfWork(rnd *rand.Rand, steps, most int) []byte {
	var b bytes.Buffer
	b.WriteString("[")
	at := 0
	for step := range steps {
		from := at
		for range 1 + rnd.IntN(most) {
			dur := 1 + rnd.IntN(100)
			if rnd.IntN(20) == 0 {
				dur *= 1 + rnd.IntN(100)
			}
			fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"graph id":1}},`, rnd.IntN(9), rnd.IntN(2), at, dur)
			if at += rnd.IntN(dur + 40); rnd.IntN(50) == 0 {
				at += 4000
			}
		}
		fmt.Fprintf(&b, `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":9,"tid":9,"ts":%d,"dur":%d},`, step, from, max(1, at-from))
	}
	return append(bytes.TrimSuffix(b.Bytes(), []byte(",")), ']')
}

// TestDetailBudget checks what a detail with too little room keeps: all operations of the
// focus windows, the longest elsewhere, 95% of the time where the room allows it, and no
// more than the room; and that it counts what it leaves out.
func TestDetailBudget(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 22))
	focused, covered := 0, 0
	for range 60 {
		tr, err := trace.Read(bytes.NewReader(stepsOfWork(rnd, 2+rnd.IntN(8), 900)), "in", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		all := analyze.Trace(tr, summary.Input{}, detailed(0)).Details[0]
		budget := 1 + rnd.IntN(len(drawn(&all)))
		s := analyze.Trace(tr, summary.Input{}, detailed(budget))
		d := &s.Details[0]
		checkDetail(t, d, &s.Devices[0])
		left, kept := drawn(&all), drawn(d)
		for _, e := range kept { // what is left of all
			i, ok := slices.BinarySearchFunc(left, e, compareEvents)
			if !ok {
				t.Fatalf("%+v is no operation", e)
			}
			left = slices.Delete(left, i, i+1)
		}
		sum := func(list []lanesEvent) (ns int64) {
			for _, e := range list {
				ns += e.Dur
			}
			return ns
		}
		if len(kept) > budget || d.SpansLeft != int64(len(left)) || d.SpansLeftNS != sum(left) {
			t.Errorf("%d of %d operations, room for %d; %d of %d ns are said to be left, want %d of %d ns", len(kept), len(kept)+len(left), budget, d.SpansLeft, d.SpansLeftNS, len(left), sum(left))
		}
		inFocus := func(e lanesEvent) bool {
			return slices.ContainsFunc(d.Focus, func(f summary.DetailFocus) bool {
				from := d.StartNS + f.AtNS
				return e.Start < from+f.NS && e.Start+e.Dur > from
			})
		}
		longest := int64(0)
		for _, e := range left {
			if longest = max(longest, e.Dur); inFocus(e) {
				t.Fatalf("%+v is left out, in a focus window: %+v", e, d.Focus)
			}
		}
		for _, e := range kept {
			if !inFocus(e) && e.Dur < longest {
				t.Fatalf("%+v stays outside of the focus windows, and one of %d ns does not", e, longest)
			}
		}
		if len(d.Focus) > 0 {
			focused++
		}
		if coverable(slices.Concat(left, kept), budget*3/4) {
			covered++
			if float64(sum(kept)) < 0.95*float64(sum(kept)+sum(left)) {
				t.Errorf("%d of %d ns are kept", sum(kept), sum(kept)+sum(left))
			}
		}
	}
	if focused < 30 || covered < 10 {
		t.Errorf("%d of 60 have focus windows, and %d can be covered: the test shows little", focused, covered)
	}
}

func compareEvents(a, b lanesEvent) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Dur, b.Dur), cmp.Compare(a.Name, b.Name))
}

// coverable reports whether so many of the events take 95% of their total time.
func coverable(list []lanesEvent, most int) bool {
	var all, some int64
	slices.SortFunc(list, func(a, b lanesEvent) int { return cmp.Compare(b.Dur, a.Dur) })
	for i, e := range list {
		if all += e.Dur; i < most {
			some += e.Dur
		}
	}
	return float64(some) >= 0.95*float64(all)
}

// TestDetailHost states what two launching threads and a main thread do, to the
// nanosecond.
//
//	time     0     10    20    30    40    50    60    70    80
//	main     |op---|launch|      |sync-------------|  |read-|
//	autograd              |bwd--|launch|
//	GPU      *                                              *
//
// The first launch is of the main thread, the second of autograd's; what is after them is
// of autograd's thread, and of the main thread where that one does nothing.
func TestDetailHost(t *testing.T) {
	event := func(cat, name string, tid, at, dur int, args string) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":7,"tid":%d,"ts":0.%03d,"dur":0.%03d,"args":{%s}}`, cat, name, tid, at, dur, args)
	}
	in := "[" + strings.Join([]string{
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0.000,"dur":0.001,"args":{"device":0,"stream":7,"correlation":1}}`,
		`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0.079,"dur":0.001,"args":{"device":0,"stream":7,"correlation":2}}`,
		event("cpu_op", "aten::mm", 7, 0, 10, `"External id":1`),
		event("cuda_runtime", "cudaLaunchKernel", 7, 10, 10, `"correlation":1`),
		event("cpu_op", "MmBackward0", 8, 20, 10, `"External id":2`),
		event("cuda_runtime", "cudaLaunchKernel", 8, 30, 10, `"correlation":2`),
		event("cuda_runtime", "cudaStreamSynchronize", 7, 30, 30, `"correlation":3`),
		event("python_function", "data.py(3): read", 7, 65, 10, `"Python id":1`),
	}, ",") + "]"
	tr, err := trace.Read(strings.NewReader(in), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	d := analyze.Trace(tr, summary.Input{}, detailed(0)).Details[0]
	var got []string
	for _, h := range d.Host {
		name := "-"
		if h.Name >= 0 {
			name = d.Names[h.Name]
		}
		got = append(got, fmt.Sprintf("%d+%d %s %s", h.AtNS, h.NS, h.Kind, name))
	}
	want := []string{
		"0+10 operator aten::mm", "10+10 launch cudaLaunchKernel", "20+10 operator MmBackward0", "30+10 launch cudaLaunchKernel",
		"40+20 wait cudaStreamSynchronize", "60+5  -", "65+10 python data.py(3): read", "75+5  -",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	// The queue: the first was launched after it began; the second waits from 30 to 79.
	queue := d.Cells.Queue
	for ns, thousandths := range queue {
		if waits := ns >= 30 && ns < 79; waits != (thousandths == 1000) || !waits && thousandths != 0 {
			t.Fatalf("queue of %d thousandths at %d ns", thousandths, ns)
		}
	}
	if len(queue) != 80 {
		t.Errorf("%d bins, want 80 of 1 ns", len(queue))
	}
}
