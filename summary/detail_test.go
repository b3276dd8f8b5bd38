package summary

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleDetail returns a detail with so many operations of random lengths.
func sampleDetail(rnd *rand.Rand, spans int) Detail {
	const cells, bin = MaxDetailCells, 10
	d := Detail{WindowNS: cells*bin - 3, Names: []string{"gemm"}, Lanes: []Lane{{Stream: 7}, {Stream: 8}}}
	d.Cells = Cells{BinNS: bin, Compute: make([]int64, cells), Comm: make([]int64, cells), Copy: make([]int64, cells), Hidden: make([]int64, cells), Queue: make([]int64, cells), MemoryBytes: make([]int64, cells)}
	for i := range cells {
		d.Cells.Compute[i], d.Cells.Comm[i], d.Cells.Copy[i] = rnd.Int64N(3), rnd.Int64N(3), rnd.Int64N(3)
		d.Cells.Queue[i], d.Cells.MemoryBytes[i] = 4*rnd.Int64N(1000), rnd.Int64N(1<<40)
	}
	for range spans {
		l := &d.Lanes[rnd.IntN(2)]
		ns := rnd.Int64N(60)
		l.Spans = append(l.Spans, DetailSpan{AtNS: rnd.Int64N(d.WindowNS - ns), NS: ns, Class: ClassCompute})
	}
	for i := range d.Lanes {
		slices.SortStableFunc(d.Lanes[i].Spans, func(a, b DetailSpan) int { return int(a.AtNS - b.AtNS) })
	}
	d.Focus = []DetailFocus{{AtNS: 0, NS: 500, Why: FocusMedianStep}, {AtNS: 700, NS: d.WindowNS - 700, Why: FocusSlowestStep}}
	return d
}

func sumOf(row []int64) (n int64) {
	for _, ns := range row {
		n += ns
	}
	return n
}

// TestLimitDetails: details of one run that were measured apart have together what a run may
// have; their sums stay, and what is left out is counted.
func TestLimitDetails(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for _, gpus := range []int{4, 6, 20} {
		s := &Summary{Inputs: make([]Input, gpus)}
		for i := range gpus {
			d := sampleDetail(rnd, MaxDetailSpans)
			d.Input = i
			s.Details = append(s.Details, d)
		}
		before := make([]Detail, gpus)
		for i, d := range s.Details {
			own(&d)
			before[i] = d
		}
		s.LimitDetails()
		spans := 0
		for i := range s.Details {
			d, all := &s.Details[i], &before[i]
			spans += d.spans()
			if err := d.check(); err != nil {
				t.Fatal(err)
			}
			for _, row := range [][2][]int64{{all.Cells.Compute, d.Cells.Compute}, {all.Cells.Comm, d.Cells.Comm}, {all.Cells.Copy, d.Cells.Copy}} {
				if sumOf(row[0]) != sumOf(row[1]) {
					t.Errorf("%d GPUs: cells sum to %d, want %d", gpus, sumOf(row[1]), sumOf(row[0]))
				}
			}
			if slices.Max(d.Cells.MemoryBytes) != slices.Max(all.Cells.MemoryBytes) {
				t.Errorf("%d GPUs: the most memory differs", gpus)
			}
			if want := MaxDetailCells / 4; gpus > MaxFullDetails && len(d.Cells.Compute) != want {
				t.Errorf("%d GPUs: %d cells, want %d", gpus, len(d.Cells.Compute), want)
			}
			if int64(all.spans()-d.spans()) != d.SpansLeft {
				t.Errorf("%d GPUs: %d operations are left out, and %d are counted", gpus, all.spans()-d.spans(), d.SpansLeft)
			}
			checkFocus(t, d, all)
		}
		if spans > MaxRunSpans || gpus*MaxDetailSpans <= MaxRunSpans && spans != gpus*MaxDetailSpans {
			t.Errorf("%d GPUs: %d operations", gpus, spans)
		}
	}
}

// checkFocus checks that focus windows are complete.
func checkFocus(t *testing.T, d, all *Detail) {
	t.Helper()
	count := func(d *Detail, f DetailFocus) (n int) {
		for _, l := range d.Lanes {
			for _, s := range l.Spans {
				if s.AtNS < f.AtNS+f.NS && s.AtNS+s.NS > f.AtNS {
					n++
				}
			}
		}
		return n
	}
	for _, f := range d.Focus {
		if got, want := count(d, f), count(all, f); got != want {
			t.Errorf("%d of %d operations are in the focus window %+v", got, want, f)
		}
	}
	if d.SpansLeft > 0 && len(d.Focus) != 1 {
		t.Errorf("%d focus windows, want the one that has room", len(d.Focus))
	}
}

// TestDetailJSON: a detail that is written and read is the same, and a class is its name.
func TestDetailJSON(t *testing.T) {
	d := sampleDetail(rand.New(rand.NewPCG(1, 4)), 50)
	text, err := json.Marshal(&d)
	if err != nil {
		t.Fatal(err)
	}
	var back Detail
	if err := json.Unmarshal(text, &back); err != nil || !cmp.Equal(d, back) {
		t.Errorf("%v %s", err, cmp.Diff(d, back))
	}
	if !strings.Contains(string(text), `"class":"compute"`) {
		t.Error("a class is not its name")
	}
	if err := json.Unmarshal([]byte(`{"class":"gemm"}`), new(DetailSpan)); err == nil {
		t.Error("an unknown class is read")
	}
}

// TestDetailCheck: a detail that does not hold together is refused, with the place.
func TestDetailCheck(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*Detail)
	}{
		{"window_ns", func(d *Detail) { d.WindowNS = 0 }},
		{"cells", func(d *Detail) { d.Cells.BinNS = 0 }},
		{"cells", func(d *Detail) { d.Cells.Compute = d.Cells.Compute[1:] }},
		{"cells", func(d *Detail) { d.Cells.Queue = d.Cells.Queue[1:] }},
		{"cells[5]", func(d *Detail) { d.Cells.Comm[5] = -1 }},
		{"cells[5]", func(d *Detail) { d.Cells.Comm[5] = 11 }},
		{"cells[5]", func(d *Detail) { d.Cells.Hidden[5] = d.Cells.Compute[5] + 1 }},
		{"lanes", func(d *Detail) { d.Lanes[0].Spans[0].Name = 1 }},
		{"lanes", func(d *Detail) { d.Lanes[0].Spans[0].AtNS = d.WindowNS + 1 }},
		{"phases", func(d *Detail) { d.Phases = []DetailSpan{{Name: -1}} }},
		{"gaps", func(d *Detail) { d.Gaps = []DetailGap{{Name: -2}} }},
		{"gaps", func(d *Detail) { d.Gaps = make([]DetailGap, MaxDetailGaps+1) }},
		{"host", func(d *Detail) { d.Host = []HostState{{Name: 1}} }},
	} {
		d := sampleDetail(rand.New(rand.NewPCG(1, 5)), 50)
		if err := d.check(); err != nil {
			t.Fatal(err)
		}
		c.change(&d)
		if err := d.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error on %s", err, c.want)
		}
	}
}
