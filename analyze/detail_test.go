package analyze_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/analyze/detail"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// detailed returns options that ask for details with so many operations; 0 for no limit
// but that of a run.
func detailed(spans int) analyze.Options {
	opt := analyze.DefaultOptions()
	opt.Detail = &detail.Request{Spans: spans}
	return opt
}

// total returns the sum of a row of cells.
func total(row []int64) (ns int64) {
	for _, n := range row {
		ns += n
	}
	return ns
}

// checkDetail checks what holds for every detail: the cells sum to the breakdown of the
// window, and what is bounded is within its bounds, in order, and within the window.
func checkDetail(t *testing.T, d *summary.Detail, of *summary.Device) {
	t.Helper()
	c := &d.Cells
	for i := range c.Compute {
		if idle := c.Len(i, d.WindowNS) - c.Compute[i] - c.Comm[i] - c.Copy[i]; idle < 0 || c.Hidden[i] > c.Compute[i] || c.Hidden[i] < 0 {
			t.Fatalf("cell %d: %d compute, %d comm, %d copy, %d hidden of %d ns", i, c.Compute[i], c.Comm[i], c.Copy[i], c.Hidden[i], c.Len(i, d.WindowNS))
		}
	}
	got := [4]int64{total(c.Compute), total(c.Comm), total(c.Copy), d.WindowNS - total(c.Compute) - total(c.Comm) - total(c.Copy)}
	a := of.Activity
	if want := [4]int64{a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle()}; got != want || d.WindowNS != of.WindowNS || d.StartNS != of.StartNS {
		t.Errorf("cells sum to %v in %d ns, want %v in %d ns", got, d.WindowNS, want, of.WindowNS)
	}
	hidden := a.With(summary.ClassCompute) - a.Without(summary.ClassCompute, summary.ClassComm|summary.ClassCopy|summary.ClassMemset)
	if total(c.Hidden) != hidden {
		t.Errorf("%d ns hidden, want %d", total(c.Hidden), hidden)
	}
	at := int64(0)
	for _, h := range d.Host {
		if h.AtNS != at || h.NS <= 0 {
			t.Fatalf("a host state of %d ns at %d, want one at %d", h.NS, h.AtNS, at)
		}
		at += h.NS
	}
	if at != d.WindowNS && d.Host != nil {
		t.Errorf("host states end at %d of %d ns", at, d.WindowNS)
	}
	checkPhases(t, d)
}

// checkPhases checks that phases are in order, and that runs of one depth share no time
// and are within runs of the depth above.
func checkPhases(t *testing.T, d *summary.Detail) {
	t.Helper()
	ends := map[int32]int64{}
	last := int64(0)
	for _, p := range d.Phases {
		if p.AtNS < last || p.NS <= 0 || p.AtNS+p.NS > d.WindowNS || p.AtNS < ends[p.Depth] {
			t.Fatalf("phase %s at %d for %d ns: not in order", d.Names[p.Name], p.AtNS, p.NS)
		}
		if p.Depth > 0 && len(d.Phases) < summary.MaxDetailPhases && p.AtNS+p.NS > ends[p.Depth-1] {
			t.Fatalf("phase %s at %d for %d ns: not within the one at depth %d, which ends at %d", d.Names[p.Name], p.AtNS, p.NS, p.Depth-1, ends[p.Depth-1])
		}
		last, ends[p.Depth] = p.AtNS, p.AtNS+p.NS
	}
}

// A lanesEvent is an operation of a GPU, as the JSON of a trace has it.
type lanesEvent struct {
	Stream, Start, Dur int64
	Name               string
}

// drawn returns the operations of a detail, in order.
func drawn(d *summary.Detail) (out []lanesEvent) {
	for _, l := range d.Lanes {
		for _, s := range l.Spans {
			out = append(out, lanesEvent{l.Stream, d.StartNS + s.AtNS, s.NS, d.Names[s.Name]})
		}
	}
	sortEvents(out)
	return out
}

func sortEvents(list []lanesEvent) { slices.SortFunc(list, compareEvents) }

// written returns the operations of all GPUs of a trace by device, read from its JSON
// without the reader.
func written(t *testing.T, text []byte) map[int64][]lanesEvent {
	t.Helper()
	out := map[int64][]lanesEvent{}
	_, events := htaEvents(t, text)
	for _, e := range events {
		if e.Ph != "X" || !slices.Contains([]string{"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}, e.Cat) {
			continue
		}
		var device int64
		if _, err := fmt.Sscan(string(e.PID), &device); err != nil || e.Args.Stream == nil {
			t.Fatalf("%+v: no device or stream", e)
		}
		out[device] = append(out[device], lanesEvent{*e.Args.Stream, nanos(t, e.TS), nanos(t, e.Dur), e.Name})
	}
	for _, list := range out {
		sortEvents(list)
	}
	return out
}

// TestDetailTruth compares details of generated traces with what the generator knows, and
// with the events that it wrote.
func TestDetailTruth(t *testing.T) {
	for _, p := range tracegen.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			var b bytes.Buffer
			truth, err := tracegen.Generate(&b, p.Make(), 0)
			if err != nil {
				t.Fatal(err)
			}
			text := b.Bytes()
			tr, err := trace.Read(bytes.NewReader(text), p.Name, analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			s := analyze.Trace(tr, summary.Input{}, detailed(0))
			if len(s.Details) != len(truth.Devices) {
				t.Fatalf("%d details, want %d", len(s.Details), len(truth.Devices))
			}
			events := written(t, text)
			for i := range s.Details {
				d, want := &s.Details[i], truth.Devices[i]
				checkDetail(t, d, &s.Devices[i])
				if d.WindowNS != want.WindowNS || d.WindowNS-total(d.Cells.Compute)-total(d.Cells.Comm)-total(d.Cells.Copy) != want.Cells[""] {
					t.Errorf("GPU %d: cells do not leave %d ns idle", d.Device, want.Cells[""])
				}
				if diff := gocmp.Diff(events[d.Device], drawn(d)); diff != "" {
					t.Errorf("GPU %d: written(-) drawn(+)\n%s", d.Device, diff)
				}
				if d.SpansLeft != 0 || d.Focus != nil {
					t.Errorf("GPU %d: %d operations are left out, with %d focus windows", d.Device, d.SpansLeft, len(d.Focus))
				}
			}
		})
	}
}

// TestDetailStories checks details of stories, mixtures and troubles.
func TestDetailStories(t *testing.T) {
	check := func(t *testing.T, story tracegen.Story) {
		tr, err := trace.Read(bytes.NewReader(story.JSON), story.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		for _, spans := range []int{0, 40} {
			s := analyze.Trace(tr, summary.Input{}, detailed(spans))
			for i := range s.Details {
				checkDetail(t, &s.Details[i], &s.Devices[i])
			}
			if want := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()); !sameBut(s, want) {
				t.Error("the summary differs if details are asked for")
			}
		}
	}
	for _, p := range tracegen.Stories() {
		t.Run(p.Name, func(t *testing.T) { check(t, p.Make()) })
	}
	for seed := range uint64(5) {
		t.Run("mixture", func(t *testing.T) { check(t, tracegen.Mixture(seed)) })
	}
}

// sameBut reports whether two summaries differ in their details only.
func sameBut(a, b *summary.Summary) bool {
	x, y := *a, *b
	x.Details, y.Details = nil, nil
	return gocmp.Equal(x, y)
}

// TestDetailCells compares each cell with a look at every nanosecond.
func TestDetailCells(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 9))
	cats := []struct{ cat, name string }{{"kernel", "gemm"}, {"kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}, {"gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"}, {"gpu_memset", "Memset (Device)"}}
	for range 50 {
		length := 200 + rnd.IntN(9000)
		ran := make([]summary.Class, length)
		classes := []summary.Class{summary.ClassCompute, summary.ClassComm, summary.ClassCopy, summary.ClassMemset}
		first, last := length, 0
		var b bytes.Buffer
		b.WriteString("[")
		for i := range 1 + rnd.IntN(20) {
			start := rnd.IntN(length - 100)
			dur, kind := 1+rnd.IntN(99), rnd.IntN(len(cats))
			for ns := start; ns < start+dur; ns++ {
				ran[ns] |= classes[kind]
			}
			first, last = min(first, start), max(last, start+dur)
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, `{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":%d,"ts":%d.%03d,"dur":0.%03d}`, cats[kind].cat, cats[kind].name, i, start/1000, start%1000, dur)
		}
		b.WriteString("]")
		tr, err := trace.Read(&b, "in", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(tr, summary.Input{}, detailed(0))
		d := &s.Details[0]
		checkDetail(t, d, &s.Devices[0])
		want := summary.Cells{BinNS: int64(last-first-1)/summary.MaxDetailCells + 1}
		n := (last-first-1)/int(want.BinNS) + 1
		want.Compute, want.Comm, want.Copy, want.Hidden = make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		for ns, set := range ran[first:last] {
			i := ns / int(want.BinNS)
			switch {
			case set&summary.ClassCompute != 0:
				want.Compute[i]++
				if set != summary.ClassCompute {
					want.Hidden[i]++
				}
			case set&summary.ClassComm != 0:
				want.Comm[i]++
			case set != 0:
				want.Copy[i]++
			}
		}
		if diff := gocmp.Diff(want, d.Cells); diff != "" {
			t.Fatalf("want(-) got(+)\n%s", diff)
		}
	}
}
