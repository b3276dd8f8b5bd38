// Package comparability finds whether two runs can be compared, and why a comparison may mislead.
package comparability

import (
	"cmp"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view"
)

// A Level is the severity of a reason.
type Level int

// The levels, by ascending severity.
const (
	Note   Level = iota // information only
	Warn                // may cause some of the differences
	Refuse              // the comparison has no meaning
)

func (l Level) String() string { return [...]string{"note", "warn", "refuse"}[l] }

func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// The codes of the reasons of [Reasons].
const (
	ClocksImplausible    = "clocks-implausible"     // the times of GPU work of a run cannot be true: Issue says which
	RanksIncomparable    = "ranks-incomparable"     // traces of ranks of a run cannot be compared: Issue says why
	DeviceRecordsMissing = "device-records-missing" // Issue says that an export is damaged, or view.Loss which launches have no work
	OtherHardware        = "other-hardware"         // Names of the GPU models
	HardwareUnknown      = "hardware-unknown"       // Names of the GPU models, of one run without any
	OtherDeviceCount     = "other-device-count"     // Count of devices
	OtherRanks           = "other-ranks"            // Ranks with devices
	OtherFormat          = "other-format"           // Names of the formats
	OtherClock           = "other-clock"            // Names of the clocks of profiles
	DataLoss             = "data-loss"              // Names of issues
	DoubtfulValues       = "doubtful-values"        // Names of issues of logs and benchmarks
	TooLittleWork        = "too-little-work"        // Count of the operations of the GPUs
	StepCount            = "step-count"             // Count of the rows of steps
	StepDefinition       = "step-definition"        // Names of what defines the length of steps
)

// A Reason is a difference between two runs, or missing data of one, that limits what their comparison can
// show. Its sentence is [Reason.Text].
type Reason struct {
	Code  string
	Level Level
	// Base and New have the facts about the two runs. If the reason concerns only one run, the other is
	// nil. A later run of the base is compared with the first run of the base, and is then in New.
	Base, New *Fact
}

// A Fact is what a reason states about one run. Which fields are set depends on the code.
type Fact struct {
	Side string // "base" or "new"
	Run  int    // index on the side, from 0
	Runs int    // number of runs on the side
	Path string // path of its first input

	Names []string
	Count int64
	Ranks []int
	Issue string
	Loss  *view.Loss
}

// A Part is one run: the rows of some inputs of a summary, or of all if Inputs is nil.
type Part struct {
	*summary.Summary
	Inputs []int
}

func (p Part) has(input int) bool { return p.Inputs == nil || slices.Contains(p.Inputs, input) }

// Reasons returns why two sides cannot be compared, or only in part, the worst reason first. Every run
// is compared with the first run of the base. If several reasons have one code, the first is returned for
// each side.
func Reasons(base, new []Part) []Reason {
	var runs []*run
	runs = append(runs, factsOf(base, "base")...)
	runs = append(runs, factsOf(new, "new")...)
	list := []Reason{}
	add := func(r Reason) {
		if !slices.ContainsFunc(list, func(have Reason) bool { return have.Code == r.Code && have.side() == r.side() }) {
			list = append(list, r)
		}
	}
	for _, r := range runs {
		if reason, ok := r.unusable(); ok {
			add(reason)
		}
	}
	if len(base) > 0 {
		for _, ask := range []func(a, b *run) (Reason, bool){otherHardware, otherDeviceCount, otherRanks, otherFormat, otherClock, stepDefinition, stepCount, tooLittleWork} {
			for _, r := range runs[1:] {
				if reason, ok := ask(runs[0], r); ok {
					add(reason)
				}
			}
		}
	}
	for _, r := range runs {
		for _, ask := range []func() (Reason, bool){r.dataLoss, r.doubtful} {
			if reason, ok := ask(); ok {
				add(reason)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Reason) int { return cmp.Compare(b.Level, a.Level) })
	return list
}

// side returns the side of the run that the reason concerns.
func (r Reason) side() string {
	if r.New != nil {
		return r.New.Side
	}
	return r.Base.Side
}

// run has the facts of a part that are compared.
type run struct {
	Fact
	Part
	devices []summary.Device // with GPU time
	steps   int64
	cuts    []string // definitions of the length of the steps
	formats []string
}

func factsOf(parts []Part, side string) (out []*run) {
	for i, p := range parts {
		r := &run{Fact: Fact{Side: side, Run: i, Runs: len(parts), Path: "no input"}, Part: p}
		for i, in := range p.Summary.Inputs {
			if !p.has(i) {
				continue
			}
			if r.formats == nil {
				r.Path = in.Path
			}
			r.formats = append(r.formats, in.Format)
		}
		slices.Sort(r.formats)
		r.formats = slices.Compact(r.formats)
		for _, d := range p.Devices {
			if p.has(d.Input) && d.Activity.Window() > 0 {
				r.devices = append(r.devices, d)
			}
		}
		for _, s := range p.Steps {
			if p.has(s.Input) && s.Activity.Window() > 0 {
				r.steps++
				if cut := cmp.Or(s.Cut, cutByMarker); !slices.Contains(r.cuts, cut) {
					r.cuts = append(r.cuts, cut)
				}
			}
		}
		slices.Sort(r.cuts)
		out = append(out, r)
	}
	return out
}

// fact returns the fact of a run, after set has filled in further fields.
func (r *run) fact(set func(*Fact)) *Fact {
	f := r.Fact
	set(&f)
	return &f
}

// about returns a reason that concerns one run.
func (r *run) about(code string, level Level, set func(*Fact)) Reason {
	if r.Side == "base" {
		return Reason{Code: code, Level: level, Base: r.fact(set)}
	}
	return Reason{Code: code, Level: level, New: r.fact(set)}
}

// unusable refuses a run whose GPU times have no meaning. Issues are not assigned to inputs, so the issues
// of a summary concern all its runs.
func (r *run) unusable() (Reason, bool) {
	if list := view.ImplausibleTimes(r.Summary); len(list) > 0 {
		return r.about(ClocksImplausible, Refuse, func(f *Fact) { f.Issue = list[0].Code }), true
	}
	if list := view.RanksApart(r.Summary); len(list) > 0 {
		return r.about(RanksIncomparable, Refuse, func(f *Fact) { f.Issue = list[0].Code }), true
	}
	if i := slices.IndexFunc(r.Issues, summary.Issue.Damages); i >= 0 {
		return r.about(DeviceRecordsMissing, Refuse, func(f *Fact) { f.Issue = r.Issues[i].Code }), true
	}
	var rows []summary.LaunchLoss
	for _, l := range r.LaunchLosses {
		if r.has(l.Input) {
			rows = append(rows, l)
		}
	}
	loss, ok := view.MostLost(rows, view.MostMissing)
	return r.about(DeviceRecordsMissing, Refuse, func(f *Fact) { f.Loss = &loss }), ok
}

func otherHardware(a, b *run) (Reason, bool) {
	names := func(r *run) (all, models []string) {
		for _, d := range r.devices {
			if d.Name != "" {
				all = append(all, d.Name)
			}
		}
		slices.Sort(all)
		return all, slices.Compact(slices.Clone(all))
	}
	allA, modelsA := names(a)
	allB, modelsB := names(b)
	differ := !slices.Equal(modelsA, modelsB) || len(allA) == len(allB) && !slices.Equal(allA, allB)
	r := Reason{OtherHardware, Refuse, a.fact(func(f *Fact) { f.Names = modelsA }), b.fact(func(f *Fact) { f.Names = modelsB })}
	if len(allA) == 0 || len(allB) == 0 {
		r.Code, r.Level = HardwareUnknown, Warn
	}
	return r, len(a.devices) > 0 && len(b.devices) > 0 && differ
}

func otherDeviceCount(a, b *run) (Reason, bool) {
	n, m := int64(view.GPUsOf(a.Summary, a.devices)), int64(view.GPUsOf(b.Summary, b.devices))
	return Reason{OtherDeviceCount, Refuse, a.fact(func(f *Fact) { f.Count = n }), b.fact(func(f *Fact) { f.Count = m })}, n > 0 && m > 0 && n != m
}

// otherRanks reports different sets of ranks, because the ranks of one job do different work.
func otherRanks(a, b *run) (Reason, bool) {
	ranks := func(r *run) (list []int) {
		for _, d := range r.devices {
			list = append(list, d.Rank)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	n, m := ranks(a), ranks(b)
	return Reason{OtherRanks, Warn, a.fact(func(f *Fact) { f.Ranks = n }), b.fact(func(f *Fact) { f.Ranks = m })},
		len(n) > 0 && len(m) > 0 && !slices.Equal(n, m)
}

// otherFormat reports different profilers, because each has its own overhead. The formats of one profiler,
// such as nsys-sqlite and nsys-json, contain the same records.
func otherFormat(a, b *run) (Reason, bool) {
	profilers := func(r *run) (list []string) {
		for _, format := range r.formats {
			name, _, _ := strings.Cut(format, "-")
			list = append(list, name)
		}
		return slices.Compact(list)
	}
	return Reason{OtherFormat, Warn, a.fact(func(f *Fact) { f.Names = a.formats }), b.fact(func(f *Fact) { f.Names = b.formats })},
		!slices.Equal(profilers(a), profilers(b))
}

// otherClock reports profiles of different clocks, because CPU time excludes waiting and wall time does
// not. A run that has both is compared table by table.
func otherClock(a, b *run) (Reason, bool) {
	clocks := func(r *run) (list []string) {
		for _, t := range r.Tables {
			if r.has(t.Input) && t.Clock != "" {
				list = append(list, t.Clock)
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	n, m := clocks(a), clocks(b)
	both := slices.ContainsFunc(n, func(c string) bool { return slices.Contains(m, c) })
	return Reason{OtherClock, Refuse, a.fact(func(f *Fact) { f.Names = n }), b.fact(func(f *Fact) { f.Names = m })},
		len(n) > 0 && len(m) > 0 && !both
}

// cutByMarker represents steps that are as long as their markers on the CPU.
const cutByMarker = "marker"

// stepDefinition reports steps with different definitions: ranges of the CPU and ranges of the GPU cannot
// be compared.
func stepDefinition(a, b *run) (Reason, bool) {
	return Reason{StepDefinition, Warn, a.fact(func(f *Fact) { f.Names = a.cuts }), b.fact(func(f *Fact) { f.Names = b.cuts })},
		len(a.cuts) > 0 && len(b.cuts) > 0 && !slices.Equal(a.cuts, b.cuts)
}

// stepCount reports different numbers of steps, because sums over them cannot be compared.
func stepCount(a, b *run) (Reason, bool) {
	return Reason{StepCount, Note, a.fact(func(f *Fact) { f.Count = a.steps }), b.fact(func(f *Fact) { f.Count = b.steps })},
		a.steps > 0 && b.steps > 0 && a.steps != b.steps
}

// dataLoss reports missing events, because these look like saved time.
func (r *run) dataLoss() (Reason, bool) {
	var codes []string
	for _, is := range r.Issues {
		if is.Severity == "data-loss" && len(codes) < 3 && !slices.Contains(codes, is.Code) {
			codes = append(codes, is.Code)
		}
	}
	return r.about(DataLoss, Warn, func(f *Fact) { f.Names = codes }), len(codes) > 0
}

// doubts are the issues of logs and benchmarks by which their values may be wrong.
var doubts = []string{"timer-impossible", "timer-exceeds-step", "values-impossible", "benchmark-implausible", "step-times-apart", summary.StepsTooLong, "steps-with-two-times"}

// doubtful reports values of logs and benchmarks that contradict each other.
func (r *run) doubtful() (Reason, bool) {
	var codes []string
	for _, is := range Doubtful(r.Summary) {
		codes = append(codes, is.Code)
	}
	return r.about(DoubtfulValues, Warn, func(f *Fact) { f.Names = codes }), len(codes) > 0
}

// Doubtful returns the issues by which values of logs and benchmarks may be wrong.
func Doubtful(s *summary.Summary) (out []summary.Issue) {
	for _, is := range s.Issues {
		if is.Severity == "suspect" && slices.Contains(doubts, is.Code) {
			out = append(out, is)
		}
	}
	return out
}

// tooLittleWork refuses a capture of single operations beside one of a program.
func tooLittleWork(a, b *run) (Reason, bool) {
	const few, times = 10, 10
	events := func(r *run) (n int64) {
		for _, d := range r.devices {
			n = summary.Plus(n, d.Events)
		}
		return n
	}
	n, m := events(a), events(b)
	return Reason{TooLittleWork, Refuse, a.fact(func(f *Fact) { f.Count = n }), b.fact(func(f *Fact) { f.Count = m })},
		n > 0 && m > 0 && min(n, m) < few && max(n, m) > times*min(n, m)
}
