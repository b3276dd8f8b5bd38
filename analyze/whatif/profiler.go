package whatif

import (
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/forecast"
)

// An OfProfiler is what the profiler's own time is of the typical step of a rank: by the usual cost of recording
// an event, or fitted to the time of a step without the profiler.
type OfProfiler struct {
	Input      int    `json:"input"`
	Rank       int    `json:"rank"`
	Step       string `json:"step"`
	Events     int64  `json:"events"`      // of the host that are recorded in the step
	MeasuredNS int64  `json:"measured_ns"` // the step in the trace
	LeastNS    int64  `json:"least_ns"`    // the step without the profiler, if recording an event takes the most of EventNS
	MostNS     int64  `json:"most_ns"`     // and if it takes the least
	// EventNS is what recording an event takes, at least and at most, by what the profiler recorded of each.
	EventNS [2]int64 `json:"event_ns"`

	GivenNS  *int64   `json:"given_ns,omitempty"`  // what --measured or a log says of a step without the profiler
	GivenBy  string   `json:"given_by,omitempty"`  // the log that says so
	FittedNS *int64   `json:"fitted_ns,omitempty"` // the typical step without it, by the cost that fits
	CostNS   *float64 `json:"cost_ns,omitempty"`   // of recording an event, as fitted
	Reason   string   `json:"reason,omitempty"`    // why no cost fits
}

// profiler adds the rows of what the profiler costs. If the time of a step without it is given, later forecasts
// are for programs without it.
func (a *Answer) profiler(g *Group, paths []critical.Path, chosen []int, q Question) {
	without, events := g.Unrecorded(paths)
	if without == nil || len(chosen) == 0 {
		return
	}
	var fit *forecast.Fit
	if q.Given > 0 {
		steps := chosen
		if len(steps) > 2*len(g.Inputs) { // the first has the start of the capture
			steps = slices.DeleteFunc(slices.Clone(chosen), func(i int) bool { return i == 0 || g.Steps[i].Start < g.Steps[i-1].Start })
		}
		f := g.FitTo(steps, q.Given)
		fit = &f
	}
	for _, s := range g.typical(paths) {
		p := s.path()
		row := OfProfiler{Input: s.input().Index, Rank: s.input().Rank, Step: label(p.Step), Events: events[s.at], MeasuredNS: p.Window.Len(),
			LeastNS: without[s.at].Low, MostNS: without[s.at].High, EventNS: [2]int64{g.EventCost().Least, g.EventCost().Most}}
		if fit != nil {
			row.GivenNS, row.FittedNS, row.CostNS, row.Reason = &fit.Given, &fit.Fitted, &fit.Cost, fit.Failed
			row.GivenBy = q.GivenBy
		}
		a.Profiler = append(a.Profiler, row)
	}
}
