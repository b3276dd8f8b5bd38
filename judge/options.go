package judge

import (
	"cmp"
	"slices"
	"strings"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// An Option is a change that makes a step shorter, with the finding that says how to make it, or nil.
type Option struct {
	*summary.Forecast
	Finding  *finding.Finding
	Step     *finding.Step
	Decides  bool // Finding decides the verdict
	Wide     bool // it makes a whole class faster
	AtMost   bool // it gives less, because only part of it can be done
	Fuses    bool // it is a kernel at the limit of the memory, which moves fewer bytes if it is fused
	Doubtful bool // it makes the CPU faster, whose time may be the profiler's own
	nowhere  bool // nothing says that it can be made, and of a kernel nothing that it can be faster
}

// worth is the part of a step that a change has to give to be proposed first: a twentieth.
const worth = 20

// Pays reports whether an option gives enough of the step to be proposed first.
func (o *Option) Pays() bool { return worth*o.Gain() >= o.MeasuredNS }

// Options returns the changes that make a step shorter: those that a finding says how to make, other single
// changes, and then whole classes, each the best first; last those that nothing shows to be possible.
// Changes that no GPU could make are left out.
func (r Result) Options(p *view.Followed) (out []Option) {
	profiler := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.ProfilerCost })
	for _, f := range r.changes(p) {
		o := Option{Forecast: f, Wide: view.Wide(f.Change) && !f.Bound}
		o.AtMost = o.Wide || f.Bound || f.Change == "--graph"
		if o.Finding, o.Step = r.RemedyOf(f); o.Finding != nil {
			o.Decides = o.Finding.Rule == r.Verdict.Rule
		}
		o.Doubtful = profiler && ofHost(f.Change)
		if (o.Step != nil || !f.Bound) && !impossible(p, &o) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b Option) int {
		return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(b.Gain(), a.Gain()))
	})
	return out
}

// place returns where an option is listed.
func (o *Option) place() int {
	switch {
	case o.nowhere:
		return 3
	case o.Wide:
		return 2
	case o.Step == nil:
		return 1
	}
	return 0
}

// changes returns the changes that pay, and those that take a cause away entirely as its finding asks for: a data
// loader whose batches are ready takes no time, and not half.
func (r Result) changes(p *view.Followed) (out []*summary.Forecast) {
	gone := map[string]string{noLoader: "--scale class:dataloader=0.5", hiddenCopies: ""}
	without := ""
	for change, half := range gone {
		f := p.Forecast(change)
		if f == nil || f.Gain() <= 0 || slices.Contains(p.Paying(), f) {
			continue
		}
		if _, step := r.RemedyOf(f); step != nil {
			out, without = append(out, f), without+half
		}
	}
	slices.SortFunc(out, func(a, b *summary.Forecast) int { return strings.Compare(a.Change, b.Change) })
	for _, f := range p.Paying() {
		if f.Change != without {
			out = append(out, f)
		}
	}
	if f := r.lateRank(p); f != nil {
		out = append(out, f)
	}
	return out
}

// forLateRank are the remedies that look for the reason why a rank is late.
var forLateRank = []string{"find-the-late-rank", "compare-the-work", "compare-the-input", "compare-the-host"}

// lateRank returns what it gives if the others no longer wait for a rank, where the finding that decides the
// verdict asks to find why that is late: at most the savings of the finding.
func (r Result) lateRank(p *view.Followed) *summary.Forecast {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Rule != r.Verdict.Rule || len(f.Next) == 0 || !slices.Contains(forLateRank, f.Next[0].ID) || f.GainNS == nil || f.GainOfNS <= 0 {
			continue
		}
		after := p.WindowNS - int64(float64(p.WindowNS)*min(1, float64(*f.GainNS)/float64(f.GainOfNS)))
		return &summary.Forecast{Input: p.Input, Rank: p.Rank, Step: p.Step, Change: notLate, Bound: true, MeasuredNS: p.WindowNS, ForecastNS: &after,
			Verdict: "warn", Reasons: []string{"by the measured waiting, without a replay"}}
	}
	return nil
}

// ofHost reports whether a change makes the CPU faster.
func ofHost(change string) bool {
	return slices.ContainsFunc([]string{"--graph", "--host ", "--launch ", "--scale op~", "--scale class:host_", "--scale class:python", "--scale class:runtime"},
		func(prefix string) bool { return strings.HasPrefix(change, prefix) })
}

// impossible reports whether kernels that run at more than half of their roofline would have to run twice as
// fast. Where the bandwidth of the memory is that limit, a remedy that moves fewer bytes passes it. It notes whether nothing says that a change can be made.
func impossible(p *view.Followed, o *Option) bool {
	if o.Change == "--scale class:compute=0.5" {
		return p.ComputeTooFast()
	}
	name, ok := strings.CutPrefix(o.Change, "--scale kernel~")
	if !ok {
		o.nowhere = o.Step == nil && o.Change == "--graph"
		return false
	}
	name = view.ChangedName(name)
	tooFast, fuses := p.TooFast(name)
	o.Fuses = tooFast && fuses && o.Finding != nil && o.Finding.Rule == rule.MemoryBandwidth
	o.nowhere = o.Step == nil && !p.HasRoofline(name)
	return tooFast && !o.Fuses
}

// First returns the option to try first, or nil if none gives a twentieth of the step. What takes the cause of the
// verdict away comes first, by the order of the remedies. Then comes the single change that gives most of
// those that a finding says how to make; one of the finding that decides the verdict comes before others that give
// up to twice as much. Else it is one that a finding says how to make for a whole class, if it gives half as
// much as the best, or a single change that no finding is about.
func First(list []Option) *Option {
	best, single := int64(0), int64(0)
	var own *Option
	for i := range list {
		o := &list[i]
		if o.Doubtful || !o.Pays() || o.nowhere {
			continue
		}
		if !o.Wide || o.Step != nil {
			best = max(best, o.Gain())
		}
		if !o.Wide && o.Step != nil {
			single = max(single, o.Gain())
		}
		if o.Decides && o.Step != nil && takesAway(o.Change) && (own == nil || o.order() < own.order()) {
			own = o
		}
	}
	if own != nil {
		return own
	}
	for _, fits := range []func(o *Option) bool{
		func(o *Option) bool { return !o.Wide && o.Decides && o.Step != nil && 2*o.Gain() >= single },
		func(o *Option) bool { return !o.Wide && o.Step != nil },
		func(o *Option) bool { return o.Decides && o.Step != nil && 2*o.Gain() >= best },
		func(o *Option) bool { return o.Step != nil && 2*o.Gain() >= best },
		func(o *Option) bool { return true },
	} {
		for i := range list {
			if o := &list[i]; o.Pays() && !o.Doubtful && fits(o) {
				return o
			}
		}
	}
	return nil
}

// order returns which of the remedies of its finding an option is.
func (o *Option) order() int {
	return slices.IndexFunc(o.Finding.Next, func(s finding.Step) bool { return s.ID == o.Step.ID })
}

// PassedOver returns the change that gives more than the one to try first and is not it because no finding
// says how to make it, or because the profiler may take the time that it saves, or nil. Whole classes are upper
// bounds of many changes, and not meant.
func PassedOver(list []Option) (out *Option) {
	first, least := First(list), int64(0)
	if first != nil {
		least = first.Gain()
	}
	for i := range list {
		o := &list[i]
		if !o.Wide && (o.Doubtful && o.Pays() || o.Step == nil && first != nil) && o.Gain() > least && (out == nil || o.Gain() > out.Gain()) {
			out = o
		}
	}
	return out
}

// Drawn returns the options of a picture, those that give most first: those whose changed path is known.
func Drawn(list []Option) []Option {
	out := slices.DeleteFunc(slices.Clone(list), func(o Option) bool { return o.Classes == nil })
	slices.SortStableFunc(out, func(a, b Option) int { return cmp.Compare(b.Gain(), a.Gain()) })
	return out
}
