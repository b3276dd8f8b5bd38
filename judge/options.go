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
	Finding *finding.Finding
	Step    *finding.Step
	Decides bool // Finding decides the verdict
	Wide    bool // it makes a whole class faster
	AtMost  bool // it gives less, because only part of it can be done
}

// Options returns the changes that make a step shorter: those that a finding says how to make, other single
// changes, and then whole classes, each the best first. Changes that no GPU could make are left out.
func (r Result) Options(p *view.Followed) (out []Option) {
	for _, f := range p.Paying() {
		o := Option{Forecast: f, Wide: view.Wide(f.Change)}
		o.AtMost = o.Wide || f.Change == "--graph"
		if o.Finding, o.Step = r.RemedyOf(f); o.Finding != nil {
			o.Decides = o.Finding.Rule == r.Verdict.Rule
		}
		if !impossible(p, &o) {
			out = append(out, o)
		}
	}
	place := func(o *Option) int {
		switch {
		case o.Wide:
			return 2
		case o.Step == nil:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b Option) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), cmp.Compare(b.Gain(), a.Gain()))
	})
	return out
}

// impossible reports whether kernels that run at more than half of their roofline would have to run twice as
// fast. Where the bandwidth of the memory is that limit, a remedy that moves fewer bytes passes it.
func impossible(p *view.Followed, o *Option) bool {
	if o.Change == "--scale class:compute=0.5" {
		return p.ComputeTooFast()
	}
	name, ok := strings.CutPrefix(o.Change, "--scale kernel~")
	if !ok {
		return false
	}
	tooFast, fuses := p.TooFast(view.ChangedName(name))
	return tooFast && !(fuses && o.Finding != nil && o.Finding.Rule == rule.MemoryBandwidth)
}

// First returns the option to try first, or nil: the single change that gives most of those that a finding
// says how to make, if it gives a hundredth of the step. One of the finding that decides the verdict comes
// before others that give up to twice as much. Else it is one that a finding says how to make for a whole
// class, if it gives half as much as the best, or a single change that no finding is about.
func First(list []Option) *Option {
	best, single := int64(0), int64(0)
	for i := range list {
		best = max(best, list[i].Gain())
		if !list[i].Wide && list[i].Step != nil {
			single = max(single, list[i].Gain())
		}
	}
	for _, fits := range []func(o *Option) bool{
		func(o *Option) bool {
			return !o.Wide && o.Decides && o.Step != nil && 100*o.Gain() >= o.MeasuredNS && 2*o.Gain() >= single
		},
		func(o *Option) bool { return !o.Wide && o.Step != nil && 100*o.Gain() >= o.MeasuredNS },
		func(o *Option) bool { return o.Decides && o.Step != nil && 2*o.Gain() >= best },
		func(o *Option) bool { return o.Step != nil && 2*o.Gain() >= best },
		func(o *Option) bool { return true },
	} {
		for i := range list {
			if fits(&list[i]) {
				return &list[i]
			}
		}
	}
	return nil
}

// PassedOver returns the change that gives more than the one to try first and is not it because no finding
// says how to make it, or nil. Whole classes are upper bounds of many changes, and not meant.
func PassedOver(list []Option) (out *Option) {
	first := First(list)
	for i := range list {
		o := &list[i]
		if !o.Wide && o.Step == nil && o.Gain() > first.Gain() && (out == nil || o.Gain() > out.Gain()) {
			out = o
		}
	}
	return out
}

// Drawn returns the options of a picture, those that give most first.
func Drawn(list []Option) []Option {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Option) int { return cmp.Compare(b.Gain(), a.Gain()) })
	return out
}
