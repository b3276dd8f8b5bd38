package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A Level is the weight of a reason.
type Level int

// The levels, by ascending weight.
const (
	Note   Level = iota // for information
	Warn                // may cause some of the deltas
	Refuse              // the comparison has no meaning
)

// String returns the level's name.
func (l Level) String() string { return [...]string{"note", "warn", "refuse"}[l] }

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// A Reason is a difference between the runs, or missing data, that may make
// deltas misleading.
type Reason struct {
	Code  string `json:"code"` // stable, kebab-case
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// reasons returns what makes the sides hard to compare, the worst first.
func (d *differ) reasons() []Reason {
	list := []Reason{}
	for _, ask := range []func() (Reason, bool){
		d.noWork, d.unusable, d.hardware, d.deviceCount, d.otherRanks, d.issues, d.sameWork, d.formats, d.graphs, d.lengths, d.otherKernels,
		d.fewSteps, d.stepsCover, d.outlier, d.singleRun,
	} {
		if r, ok := ask(); ok {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b Reason) int { return cmp.Compare(b.Level, a.Level) })
	return list
}

// noWork: one side has no data that can be compared with the other.
func (d *differ) noWork() (Reason, bool) {
	r := Reason{Code: "no-gpu-time", Level: Refuse}
	b, n := len(d.base.devices) > 0, len(d.new.devices) > 0
	switch {
	case b && n, len(d.c.Tables) > 0, len(d.c.Counters) > 0:
		return r, false
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

// mostMissing is the share of the launches of kernels or graphs without device work
// from which on the times of a run are not compared: the critical limit of the rule
// device-records-missing.
const mostMissing = 0.25

// unusable: the device records of a side are missing, damaged, or of two clocks.
func (d *differ) unusable() (Reason, bool) {
	var parts []string
	code := ""
	for _, s := range []struct {
		name string
		*facts
	}{{"base", d.base}, {"new", d.new}} {
		if c, why := s.facts.unusable(); c != "" {
			code = cmp.Or(code, c)
			parts = append(parts, fmt.Sprintf("the %s run (%s) %s", s.name, s.path(), why))
		}
	}
	return Reason{code, Refuse, strings.Join(parts, "; ") + ": record the run again"}, code != ""
}

// unusable says why the times of a side mean nothing, or returns "".
func (f *facts) unusable() (code, why string) {
	for _, is := range f.issues {
		switch {
		case is.Code == summary.ClocksImplausible:
			return "clocks-implausible", "has GPU timestamps that are not plausible"
		case is.Damages():
			return "device-records-missing", "is a damaged export, and GPU records are missing from it"
		}
	}
	for _, r := range f.losses {
		n, of := r.InWindow()
		if r.OfKernels() && n > 0 && float64(n) >= mostMissing*float64(of) {
			return "device-records-missing", fmt.Sprintf("is incomplete: rank %d: %s have no device work", r.Rank, r.Text())
		}
	}
	return "", ""
}

// path returns the name of a side, from its first input.
func (f *facts) path() string {
	switch len(f.inputs) {
	case 0:
		return "no input"
	case 1:
		return f.inputs[0].Path
	}
	return fmt.Sprintf("%s and %d more", f.inputs[0].Path, len(f.inputs)-1)
}

func (d *differ) hardware() (Reason, bool) {
	b, n := d.c.Base.Name, d.c.New.Name
	return Reason{"other-hardware", Refuse, fmt.Sprintf("the base ran on %s and the new run on %s: the GPU models differ, so time differences do not show the effect of the program", b, n)},
		b != "" && n != "" && b != n
}

func (d *differ) deviceCount() (Reason, bool) {
	b, n := d.base.ranks(), d.new.ranks()
	return Reason{"other-device-count", Refuse, fmt.Sprintf("the base ran on %s and the new run on %s: each does a different part of the work", devices(b), devices(n))},
		d.c.Per != PerNone && b > 0 && n > 0 && b != n
}

// otherRanks: the ranks of one job do different work.
func (d *differ) otherRanks() (Reason, bool) {
	b, n := d.base.rankList(), d.new.rankList()
	if len(b) == 0 || len(n) == 0 {
		return Reason{}, false
	}
	return Reason{"other-ranks", Warn, fmt.Sprintf("the base has %s and the new run has %s, which may do different parts of the work", ranksText(b), ranksText(n))},
		!slices.Equal(b, n)
}

// rankList returns the ranks that have devices, in ascending order.
func (f *facts) rankList() (list []int) {
	for _, dev := range f.devices {
		list = append(list, dev.Rank)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func ranksText(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	return fmt.Sprintf("%d ranks from %d to %d", len(list), list[0], list[len(list)-1])
}

func devices(n int64) string {
	if n == 1 {
		return "1 device"
	}
	return unit.Count(n) + " devices"
}

// ranks returns the number of devices of a run: those of all runs, each once.
func (f *facts) ranks() int64 {
	type place struct {
		rank   int
		device int64
	}
	seen := map[place]bool{}
	for _, dev := range f.devices {
		seen[place{dev.Rank, dev.Device}] = true
	}
	if len(f.runs) > 1 { // the same rank may have a different device each time
		return int64(len(f.devices)) / int64(len(f.runs))
	}
	return int64(len(seen))
}

// issues: data of a side is missing.
func (d *differ) issues() (Reason, bool) {
	var parts []string
	for _, s := range []struct {
		name string
		*facts
	}{{"base", d.base}, {"new", d.new}} {
		var codes []string
		for _, is := range s.facts.issues {
			if is.Severity == "data-loss" && len(codes) < 3 && !slices.Contains(codes, is.Code) {
				codes = append(codes, is.Code)
			}
		}
		if len(codes) > 0 {
			parts = append(parts, fmt.Sprintf("the %s run has lost data (%s)", s.name, strings.Join(codes, ", ")))
		}
	}
	return Reason{"data-loss", Warn, strings.Join(parts, "; ") + ": missing events look like saved time"}, len(parts) > 0
}

// sameWork: operators were called with different inputs.
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

func (d *differ) formats() (Reason, bool) {
	b, n := d.base.formats(), d.new.formats()
	return Reason{"other-format", Warn, fmt.Sprintf("the formats are %s (base) and %s (new): profilers differ in the events they record and in their overhead", b, n)}, b != n
}

func (f *facts) formats() string {
	var list []string
	for _, in := range f.inputs {
		list = append(list, in.Format)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " and ")
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

// lengths: without steps, a capture of twice the length has twice the time.
func (d *differ) lengths() (Reason, bool) {
	b, n := d.c.Base.MeanNS, d.c.New.MeanNS
	return Reason{"other-length", Warn, fmt.Sprintf("the runs have no common steps, so whole captures of %s and %s are compared: mark steps with torch.profiler.schedule and prof.step()", unit.Duration(b), unit.Duration(n))},
		d.c.Per == PerWindow && b > 0 && n > 0 && max(b, n)/2 >= min(b, n)
}

// otherKernels: most of the time is in kernels that only one side has.
func (d *differ) otherKernels() (Reason, bool) {
	c := d.c
	few := func(part, of int64) bool { return of > 0 && part < of/2 }
	return Reason{"other-kernels", Warn, fmt.Sprintf("common kernels account for %s of the kernel time of the base and for %s of the new run's", unit.Share(c.SharedBase, c.Kernels.BaseNS), unit.Share(c.SharedNew, c.Kernels.NewNS))},
		few(c.SharedBase, c.Kernels.BaseNS) || few(c.SharedNew, c.Kernels.NewNS)
}

func (d *differ) fewSteps() (Reason, bool) {
	b, n := d.c.Base.Parts, d.c.New.Parts
	return Reason{"step-count", Note, fmt.Sprintf("the base has %s step windows and the new run %s; all times are per step", unit.Count(b), unit.Count(n))},
		d.c.Per == PerStep && b != n
}

// stepsCover: rows of kernels cover the whole capture, the budget covers the
// steps.
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

// outlier: the changes of mean and median differ, so a few steps caused them.
func (d *differ) outlier() (Reason, bool) {
	c := d.c
	mean, median := c.Budget.DeltaNS, c.New.MedianNS-c.Base.MedianNS
	r := Reason{"few-steps-differ", Warn, fmt.Sprintf("the mean %s changed by %s and the median by %s: a few are far from the others, so check the distribution", c.Per, Signed(mean), Signed(median))}
	return r, c.Per == PerStep && float64(size(mean-median)) > max(0.5*float64(size(mean)), 0.01*float64(c.Base.MedianNS))
}

func (d *differ) singleRun() (Reason, bool) {
	b, n := len(d.base.runs), len(d.new.runs)
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
