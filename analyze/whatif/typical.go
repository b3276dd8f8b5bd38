package whatif

import (
	"cmp"
	"math"
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
	"assay/summary"
)

// A Ready is a rank whose graph is made, for [Typical].
type Ready struct {
	Input
	Graph *graph.Graph
}

// mostRanks is how many ranks of a job have a row for their path at most.
const mostRanks = 8

// removals are the changes that take the time of a cause away: what all that is done about it can
// give at most. Findings take their savings from them.
var removals = []change.Change{
	{Kind: "hide-comm"}, {Kind: "scale", Value: "class:copy=0"}, {Kind: "scale", Value: "class:dataloader=0"},
	{Kind: "host", Value: "0"}, {Kind: "remove", Value: "sync~."}, {Kind: "pinned"},
}

// A Proposal is a change that measurements of the GPU work suggest.
type Proposal struct {
	Change change.Change
	By     string // as of a forecast
	Bound  bool
}

// Typical returns the critical paths of the typical step of a job, of each rank, and what single
// changes would make of the slowest of them. The ranks are sorted. They are joined if their
// collectives can be matched; apart says why they are not. It adds the paths of all steps to the details of
// the summary that they are made for, if it has any. What measurements suggest is forecast besides.
func Typical(list []Ready, of *summary.Summary, proposed []Proposal) (paths []summary.CriticalPath, forecasts []summary.Forecast, apart string) {
	var inputs []Input
	var graphs []*graph.Graph
	for _, x := range list {
		inputs, graphs = append(inputs, x.Input), append(graphs, x.Graph)
	}
	var steps []typical
	groups, apart := groupsOf(graphs, inputs)
	for i := range groups {
		g := &groups[i]
		all := g.Paths()
		steps = append(steps, g.typical(all)...)
		g.Trails(of, all)
	}
	if len(steps) == 0 {
		return nil, nil, apart
	}
	slices.SortStableFunc(steps, func(a, b typical) int { return cmp.Compare(b.path().Window.Len(), a.path().Window.Len()) })
	for i := range steps[:min(mostRanks, len(steps))] {
		s := &steps[i]
		r := row(s.g.Program, s.path(), s.input())
		if apart != "" && len(list) > 1 && r.Verdict != summary.Withheld {
			r.Verdict = critical.Warn.String()
			r.Reasons = append(r.Reasons, apart)
		}
		paths = append(paths, r)
	}
	return paths, steps[0].forecasts(proposed), apart
}

// A typical is the step of one rank that stands for its steps.
type typical struct {
	g      *forecast.Model
	paths  []critical.Path
	inputs []Input
	at     int
}

func (s *typical) path() *critical.Path { return &s.paths[s.at] }
func (s *typical) input() *Input        { return &s.inputs[s.path().Rank] }

// typical returns the typical step of each rank of a graph.
func (g *Group) typical(paths []critical.Path) (out []typical) {
	of := make([][]int, len(g.Inputs))
	for _, i := range g.chosen(paths) {
		of[paths[i].Rank] = append(of[paths[i].Rank], i)
	}
	for _, steps := range of {
		if len(steps) == 0 {
			continue
		}
		k := TypicalOf(len(steps), func(k int) (int64, bool) {
			p := &paths[steps[k]]
			return p.Window.Len(), p.Verdict.Level == critical.Abstain
		})
		out = append(out, typical{g.Model, paths, g.Inputs, steps[k]})
	}
	return out
}

// TypicalOf returns which of the steps of a rank stands for them: that of median length, or one whose
// length is within a tenth of it if the path of that is withheld. The first of more than two steps has
// the start of the capture. at returns the length of a step, and whether its path is withheld.
func TypicalOf(n int, at func(int) (length int64, withheld bool)) int {
	var order []int
	for i := range n {
		if i > 0 || n <= 2 {
			order = append(order, i)
		}
	}
	length := func(i int) int64 { ns, _ := at(i); return ns }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(length(a), length(b)) })
	middle := order[len(order)/2]
	best, most := middle, float64(length(middle))/10
	if _, withheld := at(middle); !withheld {
		return middle
	}
	for _, i := range order {
		ns, withheld := at(i)
		if off := math.Abs(float64(ns - length(middle))); !withheld && off <= most {
			best, most = i, off
		}
	}
	return best
}

// forecasts returns the rows of the changes that pay most for a step, and of removals.
func (s *typical) forecasts(proposed []Proposal) (out []summary.Forecast) {
	have := make(map[string]bool)
	add := func(list []forecast.Trial, bound bool, by string) {
		for _, x := range list {
			if x.OfComm {
				ofOneRank(&x.Verdict, s.inputs)
			}
			text := x.Change.String()
			if have[text] {
				continue
			}
			have[text] = true
			f := forecastRow(&x.Forecast, s.input(), text, forecast.Assumptions([]change.Change{x.Change}, len(s.inputs)), bound)
			f.By = by
			out = append(out, f)
		}
	}
	r := forecast.NewReplayer(s.g, s.paths, s.at)
	add(r.Best(), false, "")
	for _, p := range proposed {
		add(r.Each([]change.Change{p.Change}), p.Bound, p.By)
	}
	if x, ok := r.OnTime(); ok {
		add([]forecast.Trial{x}, true, summary.ByLateRank)
	}
	early := r.Each([]change.Change{{Kind: "early"}})
	for i := range early {
		ofOneRank(&early[i].Verdict, s.inputs)
	}
	add(early, false, summary.ByEarly)
	add(r.Each(removals), true, "")
	return out
}
