package partial

import (
	"slices"

	"assay/internal/diag"
	"assay/summary"
)

// Codes of issues about inputs that capture CUDA graphs: the input does little else, and
// another input replays graphs, so that this input is not counted.
const (
	captureOnly = "graph-capture-only"
	graphSource = "graph-source"
)

// isSource reports whether [withoutSources] has left out what the part measured.
func (p Part) isSource() bool { return p.Summary.Inputs[0].GraphSource }

// capturesOnly reports whether nearly all launches of a trace created nodes of graphs, and it
// launches no graph. Such a trace shows how graphs were captured, and is not a rank of a run.
// The result does not depend on the options of the measurement.
func (p Part) capturesOnly() bool {
	return p.Summary != nil && len(p.Summary.Inputs) == 1 && len(p.Summary.Graphs) == 0 &&
		p.Summary.Issue(captureOnly) != nil
}

// withoutSources finds parts that only capture graphs, if another part replays graphs. It
// reduces them to their input and their captures: the operators of a capture count in the part
// that replays it, and the few kernels around a capture would distort the totals of the GPU.
func withoutSources(all []Part) []Part {
	if !slices.ContainsFunc(all, func(p Part) bool { return p.Summary != nil && len(p.Summary.Graphs) > 0 }) {
		return all
	}
	out := all
	for i, p := range all {
		if !p.capturesOnly() {
			continue
		}
		if &out[0] == &all[0] {
			out = slices.Clone(all)
		}
		in := p.Summary.Inputs[0]
		in.GraphSource = true
		issues := slices.Clone(p.Summary.Issues)
		for k := range issues {
			if is := &issues[k]; is.Code == captureOnly {
				*is = summary.Issue{Code: graphSource, Severity: diag.Info.String(), Count: 1, First: in.Path, Help: diag.HelpOf(graphSource)}
			}
		}
		out[i].Members = nil
		out[i].Summary = &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}, Issues: issues,
			Efficiency: summary.Efficiency{Captures: p.Summary.Efficiency.Captures}}
	}
	return out
}

// handOver splits parts into those that are no sources and the captures of the sources.
func handOver(all []Part) (rest []Part, captures []summary.EfficiencyCapture) {
	for _, p := range withoutSources(withoutForms(all)) {
		if len(p.Summary.Inputs) == 1 && p.isSource() {
			captures = append(captures, p.Summary.Efficiency.Captures...)
			continue
		}
		rest = append(rest, p)
	}
	return rest, captures
}
