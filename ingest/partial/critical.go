package partial

import (
	"cmp"
	"slices"

	"assay/analyze/critical/change"
	"assay/analyze/whatif"
	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/redact"
	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/efficiency"
	"assay/trace"
)

// codePathLeft is the code of the issue that a capture has no critical path, because it would take too
// much memory.
const codePathLeft = "critical-path-left-out"

// A ready is a capture whose graphs are made, one of each rank in it. It is kept until all ranks of the job are read.
type ready struct {
	ranks []whatif.Ready
	hide  *redact.Redactor
}

// follow asks the measurement of a trace for its graph. The graph of a part of a capture is that of the
// whole capture, because a step waits for work before it.
func (p *Part) follow(in *ingest.Input, opt *Options) {
	if !opt.Paths || in.Trace.Events > opt.MostEvents {
		return
	}
	q := whatif.Question{Rules: opt.Rules, Phases: opt.Phases}
	opt.Measured = func(t *trace.Trace) {
		if t.Window != nil || !opt.Work.All() {
			t = in.Trace
		}
		list := []whatif.Input{{Trace: t, Rank: in.Rank, Path: in.Path}}
		if opt.Alone {
			list = whatif.Processes(list[0], q)
		}
		p.ready = &ready{hide: in.Secrets}
		for _, x := range list {
			g := whatif.GraphOf(x.Trace, x.Rank, q)
			x.Trace = x.Trace.WithoutHost()
			p.ready.ranks = append(p.ready.ranks, whatif.Ready{Input: x, Graph: g})
		}
	}
}

// noteLeft adds an issue if a critical path was asked for and takes too much memory.
func (o *Options) noteLeft(s *summary.Summary, in *ingest.Input) {
	if o.Paths && in.Trace.Events > o.MostEvents {
		s.Issues = append(s.Issues, summary.Issue{Code: codePathLeft, Severity: diag.Info.String(), Count: 1, First: in.Path, Help: diag.HelpOf(codePathLeft)})
		s.Sort()
	}
}

// within limits the steps to those in the window of a summary.
func (r *ready) within(s *summary.Summary) {
	if w := s.Inputs[0].Window; r != nil && w != nil {
		for i := range r.ranks {
			r.ranks[i].Part = interval.Span{Start: w.StartNS, End: w.EndNS}
		}
	}
}

// readyOf takes the graphs of the parts of each job, by rank. first has the first input of each part.
func readyOf(all []Part, jobs [][]int, first []int) (out [][]*ready) {
	for _, job := range jobs {
		var list []*ready
		for _, i := range job {
			if r := all[i].ready; r != nil {
				r.ranks[0].Index = first[i]
				list = append(list, r)
				all[i].ready = nil
			}
		}
		slices.SortStableFunc(list, func(a, b *ready) int { return cmp.Compare(a.ranks[0].Rank, b.ranks[0].Rank) })
		if len(list) == len(job) { // without one of its ranks, a job would be answered for wrongly
			out = append(out, list)
		}
	}
	return out
}

// addPaths adds the critical paths and forecasts of a job to a summary.
func addPaths(s *summary.Summary, job []*ready) {
	var list []whatif.Ready
	for _, r := range job {
		if r != nil {
			list = append(list, r.ranks...)
		}
	}
	if len(list) == 0 {
		return
	}
	for _, is := range view.ImplausibleTimes(s) {
		for _, r := range list {
			r.Graph.Doubt("the times of GPU work cannot be true (" + is.Code + ")")
		}
	}
	var proposed []whatif.Proposal
	for _, p := range efficiency.Proposals(s, func(input int) bool {
		return slices.ContainsFunc(list, func(r whatif.Ready) bool { return r.Index == input })
	}) {
		proposed = append(proposed, whatif.Proposal{Change: change.Change{Kind: p.Kind, Value: p.Value}, By: p.By, Bound: p.Bound})
	}
	paths, forecasts, _ := whatif.Typical(list, s, proposed)
	for _, r := range job {
		if r.hide != nil {
			r.hide.Strings(&paths)
			r.hide.Strings(&forecasts)
			for i := range s.Details {
				if d := &s.Details[i]; d.Input == r.ranks[0].Index && d.Path != nil {
					r.hide.Strings(&d.Names)
					r.hide.Strings(d.Path)
				}
			}
		}
	}
	s.CriticalPaths, s.Forecasts = append(s.CriticalPaths, paths...), append(s.Forecasts, forecasts...)
	s.Sort()
}
