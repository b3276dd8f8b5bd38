package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/summary/view/comparability"
)

// A Level says how severe a reason is.
type Level = comparability.Level

// The levels, from lowest to highest.
const (
	Note   = comparability.Note
	Warn   = comparability.Warn
	Refuse = comparability.Refuse
)

// A Reason is a difference between the runs, or missing data, that may make deltas misleading.
type Reason struct {
	Code  string `json:"code"` // stable, kebab-case
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// reasons returns what makes the sides hard to compare, the worst first.
func (d *differ) reasons() []Reason {
	list := []Reason{}
	add := func(checks ...func() (Reason, bool)) {
		for _, check := range checks {
			if r, ok := check(); ok {
				list = append(list, r)
			}
		}
	}
	_, otherSource := d.otherSource()
	for _, r := range comparability.Reasons(d.base.parts(), d.new.parts()) {
		if r.Code == comparability.OtherFormat && otherSource {
			continue // reported by otherSource
		}
		list = append(list, Reason{r.Code, r.Level, r.Text()})
	}
	list = append(list, d.doubts()...)
	add(d.noWork, d.doubted, d.sameWork, d.graphs, d.lengths, d.profilersOwn, d.otherKernels, d.stepsCover, d.otherMix, d.outlier, d.overlap,
		d.otherSteps, d.onePhased, d.otherSource, d.otherRank, d.otherWork, d.unknownClock, d.singleRun)
	slices.SortStableFunc(list, func(a, b Reason) int { return cmp.Compare(b.Level, a.Level) })
	return list
}

// noWork refuses sides without data that can be compared.
func (d *differ) noWork() (Reason, bool) {
	r := Reason{Code: "no-gpu-time", Level: Refuse}
	b, n := len(d.base.devices) > 0, len(d.new.devices) > 0
	switch {
	case b && n, len(d.c.Tables) > 0, len(d.c.Counters) > 0, d.c.logged():
		return r, false
	case d.noneInCommon() != "":
		return Reason{"nothing-in-common", Refuse, d.noneInCommon()}, true
	case b || n:
		side, facts := "base", d.base
		if b {
			side, facts = "new", d.new
		}
		r.Text = fmt.Sprintf("the %s run (%s) has no GPU time: compare two captures with GPU activity", side, facts.path())
	default:
		r.Text = "neither run has GPU time, and they have no tables of the same tool and name: compare two captures with GPU activity, or the same report of both"
	}
	return r, true
}

// doubted: a table has kernels that add up to more than its printed total, so it is not compared.
func (d *differ) doubted() (Reason, bool) {
	var names []string
	for _, side := range []*facts{d.base, d.new} {
		for i := range side.tables {
			if t := &side.tables[i]; t.Doubted() && !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	text := fmt.Sprintf("not compared: the kernels of %s add up to more than the printed total. "+
		"Print the table with row_limit=-1", strings.Join(names, ", "))
	return Reason{"total-doubted", Warn, text}, len(names) > 0
}

// parts returns the runs of a side.
func (f *facts) parts() (list []comparability.Part) {
	for _, r := range f.runs {
		list = append(list, comparability.Part{Summary: r.Summary, Inputs: r.Inputs})
	}
	return list
}

// path names a side by its first input.
func (f *facts) path() string {
	switch len(f.inputs) {
	case 0:
		return "no input"
	case 1:
		return f.inputs[0].Path
	}
	return fmt.Sprintf("%s and %d more", f.inputs[0].Path, len(f.inputs)-1)
}

// sameWork warns that operators were called with different inputs.
func (d *differ) sameWork() (Reason, bool) {
	if len(d.c.Shapes) == 0 {
		return Reason{}, false
	}
	text := d.c.Shapes[0].text()
	if n := len(d.c.Shapes); n > 1 {
		text += fmt.Sprintf(", and %s more", operators(n-1))
	}
	return Reason{"other-shapes", Warn, "operators were called with different inputs: " + text}, true
}

func operators(n int) string {
	if n == 1 {
		return "1 operator"
	}
	return fmt.Sprintf("%d operators", n)
}

// text describes the inputs in the new run and in the base.
func (s Shape) text() string {
	first := func(list []string) string {
		if len(list) == 0 {
			return "no other shapes"
		}
		if len(list) == 1 {
			return list[0]
		}
		return fmt.Sprintf("%s and %d more", list[0], len(list)-1)
	}
	return fmt.Sprintf("%s with %s, was %s", s.Op, first(s.New), first(s.Base))
}

func (d *differ) graphs() (Reason, bool) {
	b, n := d.base.graphs > 0, d.new.graphs > 0
	r := Reason{Code: "graph-mode", Level: Warn}
	switch {
	case b && !n:
		r.Text = "the base launches CUDA graphs and the new run does not"
	case n && !b:
		r.Text = "the new run launches CUDA graphs and the base does not"
	case (d.base.opaque > 0) != (d.new.opaque > 0):
		r.Text = "the nodes of CUDA graphs were traced in one run only: kernels of the other run are missing"
	default:
		return r, false
	}
	return r, true
}

// lengths warns about captures of different length without steps: twice the capture has twice the
// time.
func (d *differ) lengths() (Reason, bool) {
	b, n := d.c.Base.MeanNS, d.c.New.MeanNS
	return Reason{"other-length", Warn, fmt.Sprintf("the runs have no common steps, so whole captures of %s and %s are compared: mark steps with torch.profiler.schedule and prof.step()", unit.Duration(b), unit.Duration(n))},
		d.c.Per == PerWindow && b > 0 && n > 0 && max(b, n)/2 >= min(b, n)
}

// otherKernels warns that most of the time is in kernels that only one side has.
func (d *differ) otherKernels() (Reason, bool) {
	c := d.c
	few := func(part, of int64) bool { return of > 0 && part < of/2 }
	return Reason{"other-kernels", Warn, fmt.Sprintf("common kernels account for %s of the kernel time of the base and for %s of the new run's", unit.Share(c.SharedBase, c.Kernels.BaseNS), unit.Share(c.SharedNew, c.Kernels.NewNS))},
		few(c.SharedBase, c.Kernels.BaseNS) || few(c.SharedNew, c.Kernels.NewNS)
}

// stepsCover warns that rows of kernels cover the whole capture, but the budget only the steps.
func (d *differ) stepsCover() (Reason, bool) {
	if d.c.Per != PerStep {
		return Reason{}, false
	}
	for _, f := range []*facts{d.base, d.new} {
		in, all := f.cells.Busy(), f.windows.Busy()
		if all > 0 && float64(in) < 0.95*float64(all) {
			return Reason{"steps-partial", Warn, fmt.Sprintf("only %s of the busy time of %s is within its steps; kernels, copies and calls cover the whole capture, divided by the number of steps, so their counts are too large", unit.Share(in, all), f.path())}, true
		}
	}
	return Reason{}, false
}

// outlier warns that the changes of mean and median differ, which means that a few steps caused
// them.
func (d *differ) outlier() (Reason, bool) {
	c := d.c
	mean, median := c.Budget.DeltaNS, c.New.MedianNS-c.Base.MedianNS
	r := Reason{"few-steps-differ", Warn, fmt.Sprintf("the mean %s changed by %s and the median by %s: a few are far from the others, so check the distribution", c.Per, Signed(mean), Signed(median))}
	if _, mix := d.otherMix(); mix {
		return r, false
	}
	return r, c.Per == PerStep && float64(size(mean-median)) > max(0.5*float64(size(mean)), 0.01*float64(c.Base.MedianNS))
}

func (d *differ) singleRun() (Reason, bool) {
	b, n := len(d.base.runs), len(d.new.runs)
	if d.c.Per == PerNone && d.c.logged() { // each log is a run
		b, n = max(b, d.base.logs()), max(n, d.new.logs())
	}
	r := Reason{Code: "single-run", Level: Note}
	switch {
	case b > 1 && n > 1:
		return r, false
	case b <= 1 && n <= 1:
		r.Text = "one run per side"
	case b <= 1:
		r.Text = "one run of the base"
	default:
		r.Text = "one run of the new state"
	}
	r.Text += ": run-to-run noise is unknown (5 to 20% on shared machines); give directories of repeated runs"
	return r, true
}

// Signed returns a difference with its sign: "+1.2 ms", "-3 µs", "0 ns".
func Signed(ns int64) string {
	if ns > 0 {
		return "+" + unit.Duration(ns)
	}
	return unit.Duration(ns)
}

// SignedShare prints a difference as a share, with its sign.
func SignedShare(delta, of int64) string {
	text := unit.Share(delta, of)
	if delta > 0 && of > 0 {
		return "+" + text
	}
	return text
}
