package pictures

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/rule"
	"assay/report/plot"
	"assay/summary"
)

// TestRanksOfAllSizes paints the pictures of ranks of runs from 2 to 5,000 ranks. No text
// is clipped or overlaps another.
func TestRanksOfAllSizes(t *testing.T) {
	for _, n := range []int{2, 3, 8, 14, 15, 64, 1000, 5000} {
		drawn, s := 0, samplerun.Ranks(n)
		for _, p := range all() {
			if !strings.HasPrefix(p.name, "ranks-") {
				continue
			}
			c, ok := p.draw(s, judge.Result{})
			if c.Name = p.name; !ok {
				continue
			}
			drawn++
			painted, err := c.Paint()
			if err != nil {
				t.Fatal(err)
			}
			checkTexts(t, strconv.Itoa(n)+" ranks: "+c.Name, painted)
			if *written == "" {
				continue
			}
			f, err := os.Create(filepath.Join(*written, strconv.Itoa(n)+"-"+c.File()))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.PNG(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if drawn != 6 {
			t.Errorf("%d ranks have %d pictures", n, drawn)
		}
	}
}

// TestRankPicturesOfOne: a run of one rank, and one with a rank that is given twice, have
// no pictures of ranks.
func TestRankPicturesOfOne(t *testing.T) {
	twice := samplerun.Ranks(4)
	for i := range twice.Devices {
		twice.Devices[i].Rank, twice.Devices[i].Device = i/2, 0
	}
	for name, s := range map[string]*summary.Summary{"one": samplerun.Ranks(1), "twice": twice, "GPUs of one rank": samplerun.Phases(), "none": {}} {
		for _, c := range Of(s, judge.Result{}) {
			if strings.HasPrefix(c.Name, "ranks-") {
				t.Errorf("%s: there is a picture %s", name, c.Name)
			}
		}
	}
}

// TestRankPicturesData compares what is drawn with the comment of samplerun.Ranks, with
// the ranks in any order of inputs.
func TestRankPicturesData(t *testing.T) {
	const n, late = 64, 48
	s := samplerun.Ranks(n)
	slices.Reverse(s.Devices)
	slices.Reverse(s.Ranks)
	charts := map[string]plot.Chart{}
	for _, c := range Of(s, judge.Result{}) {
		charts[c.Name] = c
	}
	budget := charts["ranks-budget"].Body.(plot.Panels)
	for i, parts := range budget.Panels[0].Columns {
		if plot.SumParts(parts) != 8*108*samplerun.MS || (parts[0].NS > 780*samplerun.MS) != (i == late) || parts[0].Color != plot.ColorCompute || parts[3].Color != plot.ColorIdle || parts[3].NS != 8*samplerun.MS {
			t.Errorf("the budget of rank %d is %+v", i, parts)
		}
	}
	if f := budget.Places.Flags; len(f) != 3 || f[0].At != late || !strings.HasPrefix(f[0].Text, "slowest: rank 48, own wait ") {
		t.Errorf("flags of the budget are %+v", f)
	}
	waits := charts["ranks-waits"].Body.(plot.Panels)
	var own, caused int64
	for i := range n {
		up, down := waits.Panels[0].Columns[i], waits.Panels[1].Columns[i]
		if up[0].NS != 32*samplerun.MS || (up[1].NS < 9*samplerun.MS) != (i == late) || (down[0].NS > 0) != (i == 0 || i == late) {
			t.Errorf("waits of rank %d are %+v and %+v", i, up, down)
		}
		own, caused = own+up[1].NS, caused+down[0].NS
	}
	if own != caused*n || own == 0 {
		t.Errorf("own waits sum to %d, caused waits to %d", own, caused)
	}
	if f := waits.Places.Flags; len(f) != 2 || f[0].At != late || f[1].At != 0 {
		t.Errorf("flags of the waits are %+v", f)
	}
	phases := charts["ranks-phases"].Body.(plot.HeatMap)
	for _, row := range phases.Rows {
		for i, v := range row.Values {
			late := i == late && row.Label != "optimizer"
			if late != (math.Abs(v) > 0.1) || row.Label == "forward" && late && (v < 0.31 || v > 0.34) {
				t.Errorf("%s differs by %g on rank %d", row.Label, v, i)
			}
		}
	}
	if f := phases.Places.Flags; len(phases.Rows) != 3 || len(f) != 1 || f[0].At != late || !strings.HasPrefix(f[0].Text, "rank 48: forward +3") {
		t.Errorf("flags of the phases are %+v", f)
	}
	steps := charts["ranks-steps"].Body.(plot.HeatMap)
	if want := 12.0 / 108; len(steps.Rows) != 8 || math.Abs(steps.Rows[5].Values[n/3]-want) > 1e-9 || steps.Rows[4].Values[n/3] != 0 {
		t.Errorf("steps are %+v", steps.Rows)
	}
	// The clock of rank r is r ms ahead, so the aligned windows are equal.
	lanes := charts["ranks-activity"].Body.(plot.Timeline)
	for _, p := range lanes.Panels {
		if p.FromNS != 0 || p.SpanNS != 8*108*samplerun.MS || p.ToNS != p.SpanNS || p.Marks[1].NS != 108*samplerun.MS {
			t.Errorf("panel %q is from %d to %d of %d, its second step begins at %d", p.Title, p.FromNS, p.ToNS, p.SpanNS, p.Marks[1].NS)
		}
	}
	if len(lanes.Panels) != 3 || !strings.HasPrefix(lanes.Panels[0].Title, "slowest: rank 48, ") {
		t.Errorf("panels are %+v", lanes.Panels)
	}
}

// TestRankActivityAligned: a window that begins later is drawn later, base times count,
// and without an offset of a clock there is no picture.
func TestRankActivityAligned(t *testing.T) {
	s := samplerun.Ranks(2)
	s.Devices[1].StartNS += 5 * samplerun.MS
	c, ok := ranksActivity(s)
	if !ok {
		t.Fatal("there is no picture")
	}
	p := c.Body.(plot.Timeline).Panels
	if p[0].FromNS != 5*samplerun.MS || p[1].FromNS != 0 || p[0].SpanNS != 869*samplerun.MS || p[0].ToNS != 869*samplerun.MS || p[1].ToNS != 864*samplerun.MS || p[0].Marks[1].NS != 108*samplerun.MS {
		t.Errorf("panels are %+v", p)
	}
	for i, base := range []int64{1 << 60, 1<<60 - 5*samplerun.MS} {
		s.Inputs[i].BaseTimeNS = &base
	}
	c, _ = ranksActivity(s)
	if p := c.Body.(plot.Timeline).Panels; p[0].FromNS != 0 || p[1].FromNS != 0 {
		t.Errorf("with base times, panels begin at %d and %d", p[0].FromNS, p[1].FromNS)
	}
	s.Devices[1].StartNS += 2000 * samplerun.MS
	if _, ok := ranksActivity(s); ok {
		t.Error("windows far apart are on one axis")
	}
	s = samplerun.Ranks(2)
	s.Ranks[1].OffsetNS = nil
	if _, ok := ranksActivity(s); ok {
		t.Error("a clock without offset is aligned")
	}
}

// TestActivityAligned: the picture of all GPUs has one axis where clocks are aligned or the
// same, and else each GPU begins at 0.
func TestActivityAligned(t *testing.T) {
	begins := func(s *summary.Summary) (out [2]int64, aligned bool) {
		c, ok := activity(s, judge.Judge(s, rule.DefaultThresholds()))
		if !ok {
			t.Fatal("there is no picture")
		}
		for _, p := range c.Body.(plot.Timeline).Panels {
			at := 0
			if strings.HasPrefix(p.Title, "rank 1") {
				at = 1
			}
			out[at] = p.FromNS
		}
		return out, strings.Contains(c.Subtitle, "one axis of time")
	}
	later := func() *summary.Summary {
		s := samplerun.Ranks(2)
		s.Devices[1].StartNS += 5 * samplerun.MS
		return s
	}
	if at, aligned := begins(later()); at != [2]int64{0, 5 * samplerun.MS} || !aligned {
		t.Errorf("with clocks aligned, GPUs begin at %v", at)
	}
	s := later()
	ahead := *s.Ranks[1].OffsetNS + 5*samplerun.MS
	s.Ranks[1].OffsetNS = &ahead
	if at, aligned := begins(s); at != [2]int64{} || !aligned {
		t.Errorf("with a clock that is ahead, GPUs begin at %v", at)
	}
	s = later()
	s.Ranks[1].OffsetNS = nil
	if at, aligned := begins(s); at != [2]int64{} || aligned {
		t.Errorf("with an unknown clock, GPUs begin at %v", at)
	}
	s = later()
	s.Devices[1].StartNS += 2000 * samplerun.MS
	if at, aligned := begins(s); at != [2]int64{} || aligned {
		t.Errorf("with windows far apart, GPUs begin at %v", at)
	}
}

// TestRanksWaitsCaption: the caption counts the GPUs without waits, and says that ranks
// are missing.
func TestRanksWaitsCaption(t *testing.T) {
	s := samplerun.Ranks(8)
	if c, _ := ranksWaits(s); c.Caption != "" {
		t.Errorf("the caption of a whole run is %q", c.Caption)
	}
	s.Ranks = s.Ranks[2:]
	s.Collectives[0].Partial = true
	c, _ := ranksWaits(s)
	if want := "2 GPUs without matched collectives. Not all ranks of every group were given: a rank that is missing may have come last."; c.Caption != want {
		t.Errorf("the caption is %q, want %q", c.Caption, want)
	}
	if parts := c.Body.(plot.Panels).Panels[0].Columns; parts[0] != nil || parts[1] != nil || parts[2] == nil {
		t.Errorf("columns are %+v", parts)
	}
}

// TestLateFlags: few ranks have their values in the cells, differences under a tenth are
// not flagged, and at most three ranks are.
func TestLateFlags(t *testing.T) {
	for _, tc := range []struct {
		n    int
		late []float64
		want string
	}{
		{64, []float64{0.2, 0.5, 0.3, 0.4}, "[rank 1: x +50.0% rank 3: x +40.0% rank 2: x +30.0%]"},
		{64, []float64{0.09}, "[]"},
		{64, []float64{-0.9, 0.2}, "[]"}, // hardly coloured
		{64, []float64{-0.2, 0.2}, "[rank 1: x +20.0%]"},
		{64, []float64{math.NaN(), 0.2}, "[rank 1: x +20.0%]"},
		{8, []float64{0.5}, "[]"},
	} {
		h := plot.HeatMap{Rows: []plot.HeatRow{{Label: "x", Values: make([]float64, tc.n)}}, Places: plot.Places{Name: "rank"}}
		copy(h.Rows[0].Values, tc.late)
		for i := range tc.n {
			h.Places.Labels = append(h.Places.Labels, strconv.Itoa(i))
		}
		var got []string
		for _, f := range lateFlags(h) {
			got = append(got, f.Text)
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("%v of %d: got %v, want %s", tc.late, tc.n, got, tc.want)
		}
	}
}

// TestEvenRanks: equal ranks have no heat map, which would look like one without data. A
// difference of one part in a hundred, or a rank without the step, has one.
func TestEvenRanks(t *testing.T) {
	s := samplerun.Ranks(8)
	for i := range s.Steps {
		s.Steps[i].WallNS = 100 * samplerun.MS
	}
	if c, ok := ranksSteps(s); ok {
		t.Errorf("equal steps have the picture %+v", c)
	}
	s.Steps[9].WallNS = 101 * samplerun.MS
	if _, ok := ranksSteps(s); !ok {
		t.Error("a longer step has no picture")
	}
	s.Steps[9].WallNS = 100 * samplerun.MS
	s.Steps = s.Steps[:len(s.Steps)-1]
	if _, ok := ranksSteps(s); !ok {
		t.Error("a step that a rank does not have has no picture")
	}
}
