package forecast

import (
	"slices"

	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/graph"
	"assay/internal/interval"
	"assay/internal/lazyregexp"
)

var ofComm = lazyregexp.New(`nccl|comm`)

// changed says how far the forecast of changes to a step can be trusted.
func (g *Model) changed(p *critical.Path, list []change.Change) critical.Verdict {
	out := critical.Verdict{Level: p.Verdict.Level, Reasons: slices.Clone(p.Verdict.Reasons)}
	for _, c := range list {
		if (c.Kind == "hide-comm" || c.Kind == "scale" || c.Kind == "remove") && ofComm().MatchString(c.Kind+c.Value) && g.overlapped() > 30 {
			out.Add(critical.Warn, "communication overlaps compute, and contention between them is not modelled")
			break
		}
	}
	return out
}

// overlapped returns the share of communication during which compute ran, in percent.
func (g *Model) overlapped() float64 {
	if g.overlap == nil {
		var spans []interval.Span
		var compute interval.Builder
		for v := range g.Nodes {
			n, span := &g.Nodes[v], interval.Span{Start: g.Start[v], End: g.End(int32(v))}
			if n.Flags&graph.IsGPU == 0 {
			} else if n.Class == graph.Comm {
				spans = append(spans, span)
			} else if n.Class == graph.Compute {
				compute.Add(span)
			}
		}
		inside, total, set := int64(0), int64(0), compute.Set()
		for _, s := range spans {
			total += s.Len()
			inside += set.Clip(s).Len()
		}
		share := graph.Percent(inside, total)
		g.overlap = &share
	}
	return *g.overlap
}

// Assumptions returns what a forecast of the changes rests on.
func Assumptions(list []change.Change, ranks int) []string {
	out := []string{
		"durations do not depend on other work that runs at the same time",
		"the order of work on each stream and of each thread stays",
		"waits that nothing explains stay as long",
	}
	if ranks == 1 {
		out = append(out, "communication keeps the time that it waited for other ranks")
	}
	for _, c := range list {
		p, err := c.Parse()
		if text := c.String() + ": " + p.Rests(); err == nil && p.Rests() != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
