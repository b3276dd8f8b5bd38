package view

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/lazyregexp"
	"assay/summary"
)

// A Followed is a step whose critical path is known, with the forecasts of changes to it and the paths of
// the same step on other ranks.
type Followed struct {
	*summary.CriticalPath
	Forecasts []*summary.Forecast
	Ranks     []*summary.CriticalPath // longest first, this one included; nil if there is one

	summary *summary.Summary
}

// FollowedOf returns the typical step of a run: that with forecasts, or else the longest, whose path is
// withheld. It is nil if there is none, or if the inputs belong to several jobs, each with its own.
func FollowedOf(s *summary.Summary) *Followed {
	var out *Followed
	for i := range s.Forecasts {
		f := &s.Forecasts[i]
		if out == nil {
			for k := range s.CriticalPaths {
				if p := &s.CriticalPaths[k]; p.Input == f.Input && p.Rank == f.Rank && p.Step == f.Step {
					out = &Followed{CriticalPath: p}
				}
			}
		}
		if out == nil || f.Input != out.Input || f.Step != out.Step || f.Rank != out.Rank {
			return nil
		}
		out.Forecasts = append(out.Forecasts, f)
	}
	for k := range s.CriticalPaths {
		if p := &s.CriticalPaths[k]; len(s.Forecasts) == 0 && (out == nil || p.WindowNS > out.WindowNS) {
			out = &Followed{CriticalPath: p}
		}
	}
	if out != nil {
		out.summary = s
	}
	if out != nil && len(s.CriticalPaths) > 1 {
		for k := range s.CriticalPaths {
			out.Ranks = append(out.Ranks, &s.CriticalPaths[k])
		}
	}
	return out
}

// PinnedChange is the change to pinned memory. With a factor after it copies of pageable memory take so much as long.
const PinnedChange = "--pinned"

// Pinned reports whether a change is that to pinned memory.
func Pinned(change string) bool {
	return change == PinnedChange || strings.HasPrefix(change, PinnedChange+" ")
}

// FusedChain begins the value of the change that fuses operators in a row, whose names follow.
const FusedChain = "chain~"

// Forecast returns the forecast of a change, or nil. The change to pinned memory may have any factor.
func (p *Followed) Forecast(change string) *summary.Forecast {
	for _, f := range p.Forecasts {
		if f.Change == change || change == PinnedChange && Pinned(f.Change) {
			return f
		}
	}
	return nil
}

// By returns the forecast of what measurements suggest, as of [summary.Forecast.By], that gives most, or nil.
func (p *Followed) By(by string) (best *summary.Forecast) {
	for _, f := range p.Forecasts {
		if f.By == by && (best == nil || f.Gain() > best.Gain()) {
			best = f
		}
	}
	return best
}

// Paying returns the changes that make the step shorter by a thousandth or more, the best first.
func (p *Followed) Paying() (out []*summary.Forecast) {
	for _, f := range p.Forecasts {
		if !f.Bound && f.Gain() > 0 && f.Gain() >= p.WindowNS/1000 {
			out = append(out, f)
		}
	}
	return out
}

// Wide reports whether a change makes a whole class of work faster. No change of a program does that, so
// what it gives is an upper bound.
func Wide(change string) bool {
	return slices.ContainsFunc([]string{"--scale class:", "--host ", "--launch ", "--gap "}, func(p string) bool { return strings.HasPrefix(change, p) })
}

// Name returns the name of the step, with its rank if there are several.
func (p *Followed) Name() string {
	name := label.Clip(label.Clean(p.Step), 60)
	if len(p.Ranks) > 1 {
		name += fmt.Sprintf(" of rank %d", p.Rank)
	}
	return name
}

// ChangedName returns the name that the value of a change selects alone: ^NAME$=0.5, with its special
// characters quoted. It returns the value if that is another pattern.
func ChangedName(value string) string {
	if at := strings.LastIndexByte(value, '='); at >= 0 {
		value = value[:at]
	}
	if text, ok := lazyregexp.Literal(value); ok {
		return text
	}
	return value
}
