package inspect_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/analyze/inspect"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// A stretch is a gap of a device.
type stretch struct{ Device, Start, NS int64 }

// gaps returns the gaps of all devices from the JSON, in the order of a report.
func (o *oracle) gaps() (out []stretch) {
	end := map[int64]int64{}
	for _, w := range o.work {
		d := number(w.Args.Device)
		if w.end == w.start {
			if _, seen := end[d]; seen {
				continue
			}
		}
		if last, seen := end[d]; seen && w.start > last {
			out = append(out, stretch{d, last, w.start - last})
		}
		if last, seen := end[d]; !seen || w.end > last {
			end[d] = w.end
		}
	}
	slices.SortStableFunc(out, func(a, b stretch) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Device, b.Device), cmp.Compare(a.Start, b.Start))
	})
	return out
}

// TestLongest compares all gaps with those of the JSON.
func TestLongest(t *testing.T) {
	presets(t, func(t *testing.T, sc tracegen.Scenario) {
		text, tr, _ := made(t, sc)
		o := read(t, text)
		want := o.gaps()
		var got []stretch
		for i, g := range capture(tr).Longest(len(want) + 10) {
			got = append(got, stretch{g.Device, g.StartNS, g.NS})
			if g.Number != i+1 || g.AtNS != g.StartNS-analyze.Extent(tr).Start {
				t.Errorf("gap %d has number %d and is at %d ns", i+1, g.Number, g.AtNS)
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("JSON(-) got(+)\n%s", diff)
		}
		for _, n := range []int{1, 3, len(want) / 2} {
			if few := capture(tr).Longest(n); len(few) != min(n, len(want)) || n > 0 && len(want) > 0 && few[len(few)-1].NS != want[len(few)-1].NS {
				t.Errorf("the longest %d of %d gaps are %+v", n, len(want), few)
			}
		}
	})
}

// TestLongestOfReport compares the gaps that a summary lists with the answers: number, cause,
// and what ran before and after.
func TestLongestOfReport(t *testing.T) {
	presets(t, func(t *testing.T, sc tracegen.Scenario) {
		_, tr, _ := made(t, sc)
		compareGaps(t, tr)
	})
}

func compareGaps(t *testing.T, tr *trace.Trace) {
	t.Helper()
	s := measured(tr)
	type row struct {
		summary.Gap
		device int64
	}
	var rows []row
	for _, d := range s.Devices {
		for _, g := range d.LargestGaps {
			g.ProfilerNS = 0
			rows = append(rows, row{g, d.Device})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.NS, a.NS) })
	for i, want := range rows[:min(len(rows), summary.MaxLargestGaps)] {
		c := capture(tr)
		list := c.Longest(i + 1)
		g := list[i]
		c.Explain(&g, all)
		got := summary.Gap{StartNS: g.StartNS, NS: g.NS}
		if g.Before != nil {
			got.Before = g.Before.Name
		}
		if g.After != nil {
			got.After = g.After.Name
		}
		sum := int64(0)
		for _, c := range g.Causes {
			sum += c.NS
		}
		if len(g.Causes) > 0 {
			got.Owner, got.State, got.Name = g.Causes[0].Owner, g.Causes[0].State, g.Causes[0].Name
		}
		if diff := gocmp.Diff(want.Gap, got); diff != "" || want.device != g.Device {
			t.Errorf("gap %d of GPU %d: summary(-) got(+)\n%s", i+1, want.device, diff)
		}
		if sum != g.NS {
			t.Errorf("gap %d: its causes sum to %d of %d ns", i+1, sum, g.NS)
		}
		inside := int64(0)
		for _, in := range g.Inside {
			inside += in.NS
		}
		if inside > g.NS {
			t.Errorf("gap %d: the thread did %d ns in %d", i+1, inside, g.NS)
		}
	}
}

// TestCauses adds the causes of all gaps of a story up, which says how long the GPU was idle for
// which cause.
func TestCauses(t *testing.T) {
	stories(t, func(t *testing.T, _ []byte, tr *trace.Trace, truth tracegen.Attribution) {
		want, got := map[string]int64{}, map[string]int64{}
		for _, r := range truth.Idle {
			want[fmt.Sprint(r.Device, " ", r.Owner, " ", r.State)] += r.NS
		}
		for _, g := range capture(tr).Longest(all) {
			c := capture(tr)
			c.Explain(&g, all)
			for _, cause := range g.Causes {
				got[fmt.Sprint(g.Device, " ", cause.Owner, " ", cause.State)] += cause.NS
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("truth(-) got(+)\n%s", diff)
		}
	})
}

// TestInside compares what the launching thread did in a gap with the JSON: of each
// outermost event within it, its time.
func TestInside(t *testing.T) {
	text, tr, _ := made(t, tracegen.LLMTrainStep())
	o := read(t, text)
	for n := 1; n <= 8; n++ {
		c := capture(tr)
		g := c.Longest(n)[n-1]
		c.Explain(&g, all)
		if g.Launch == nil {
			t.Fatalf("gap %d has no launch", n)
		}
		from, to := g.StartNS, g.StartNS+g.NS
		launch := slices.IndexFunc(o.calls, func(c event) bool {
			return c.Name == g.Launch.Call && c.start-analyze.Extent(tr).Start == g.Launch.AtNS
		})
		thread := string(o.calls[launch].TID)
		want, around := map[string]int64{}, 0
		last := int64(0) // until when an event outside of all others lasts
		for _, e := range o.host {
			if string(e.TID) != thread || e.start >= to || e.end <= from {
				continue
			}
			if e.start <= from && e.end >= to {
				around++
				continue
			}
			if e.start >= last {
				want[e.Name] += min(e.end, to) - max(e.start, from)
				last = e.end
			}
		}
		got := map[string]int64{}
		for _, s := range g.Inside {
			got[s.Name] = s.NS
		}
		if diff := gocmp.Diff(want, got); diff != "" || around != len(g.Around) {
			t.Errorf("gap %d, %d around, want %d: JSON(-) got(+)\n%s", n, len(g.Around), around, diff)
		}
	}
}

// TestAt compares moments with the JSON: what runs on each stream, what ran before and comes
// next, what is queued, and what the threads have open.
func TestAt(t *testing.T) {
	presets(t, func(t *testing.T, sc tracegen.Scenario) {
		text, tr, truth := made(t, sc)
		o := read(t, text)
		rnd := rand.New(rand.NewPCG(1, 0))
		span := analyze.Extent(tr)
		for i := range 25 {
			at := span.Start + rnd.Int64N(span.Len())
			if list := slices.Concat(o.work, o.host); i%3 == 0 { // where something begins or ends
				e := list[rnd.IntN(len(list))]
				at = []int64{e.start, e.end, e.end - 1}[i/3%3]
			}
			m := capture(tr).At(at, all)
			if diff := gocmp.Diff(o.at(at), seen(m)); diff != "" {
				t.Errorf("at %d ns: JSON(-) got(+)\n%s", at, diff)
			}
			for _, d := range m.Devices {
				for j, s := range truth.Steps {
					in := s.StartNS <= at && at < s.StartNS+s.WallNS
					if got := d.Step != nil && d.Step.Name == s.Name; in != got && j > 0 && j+1 < len(truth.Steps) && !sc.CPUOnly {
						t.Errorf("at %d ns: step %v, want in %s: %v", at, d.Step, s.Name, in)
					}
				}
			}
		}
	})
}

// A moment has what is compared of a moment.
type moment struct {
	Running, Before, After []string // by stream
	Queued                 map[int64]int64
	Open                   []string
}

// at returns what the events say of a moment.
func (o *oracle) at(t int64) (m moment) {
	m.Queued = map[int64]int64{}
	type ends struct{ before, after int64 } // how far away
	near := map[string]*ends{}
	for _, w := range o.work {
		d, key := number(w.Args.Device), streamKey(number(w.Args.Device), number(w.Args.Stream))
		if near[key] == nil {
			near[key] = &ends{-1, -1}
		}
		n := near[key]
		switch {
		case w.start <= t && t < w.end:
			m.Running = append(m.Running, fmt.Sprint(key, " ", w.Name, " ", w.start))
		case w.end <= t && (n.before < 0 || t-w.end < n.before):
			n.before = t - w.end
		case w.start > t && (n.after < 0 || w.start-t < n.after):
			n.after = w.start - t
		}
		if call, ok := o.call(w); ok && call.start <= t && t < w.start {
			m.Queued[d]++
		}
	}
	for key, n := range near {
		if n.before >= 0 {
			m.Before = append(m.Before, fmt.Sprint(key, " ", n.before))
		}
		if n.after >= 0 {
			m.After = append(m.After, fmt.Sprint(key, " ", n.after))
		}
	}
	for _, e := range o.host {
		if e.start <= t && t < e.end {
			m.Open = append(m.Open, fmt.Sprint(e.Name, " ", e.start, " ", e.end))
		}
	}
	m.sort()
	return m
}

func (m *moment) sort() {
	for _, list := range [][]string{m.Running, m.Before, m.After, m.Open} {
		slices.Sort(list)
	}
}

// seen returns the same of an answer.
func seen(a *inspect.Moment) (m moment) {
	m.Queued = map[int64]int64{}
	for _, d := range a.Devices {
		if d.Queued > 0 {
			m.Queued[d.Device] = d.Queued
		}
		for _, s := range d.Streams {
			key := streamKey(d.Device, s.Stream)
			for _, r := range s.Running {
				m.Running = append(m.Running, fmt.Sprint(key, " ", r.Name, " ", r.StartNS))
			}
			if s.Before != nil {
				m.Before = append(m.Before, fmt.Sprint(key, " ", s.Before.AgoNS))
			}
			if s.After != nil {
				m.After = append(m.After, fmt.Sprint(key, " ", -s.After.AgoNS))
			}
		}
	}
	start := a.TimeNS - a.AtNS
	for _, th := range a.Threads {
		for i, s := range th.Open {
			m.Open = append(m.Open, fmt.Sprint(s.Name, " ", s.AtNS+start, " ", s.AtNS+start+s.NS))
			if i > 0 && s.AtNS < th.Open[i-1].AtNS {
				m.Open = append(m.Open, "not outer to inner")
			}
		}
	}
	m.sort()
	return m
}

func streamKey(device, stream int64) string { return fmt.Sprint(device, ".", stream) }
