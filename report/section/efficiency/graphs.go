package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/report/section"
	"assay/report/words"
	"assay/summary/view/efficiency"
)

// graphs states for which replays of graphs the operators are known; "" if there are no replays.
func graphs(ctx *section.Context, total efficiency.Total) string {
	r := efficiency.ReplaysOf(ctx.Summary)
	if r.Launches == 0 {
		return ""
	}
	var text []string
	if n := r.ByNodes; n.Launches > 0 {
		text = append(text, nodes(&n, r.Launches, total))
	}
	if captured := r.Matched - r.ByNodes.Launches; captured > 0 {
		text = append(text, fmt.Sprintf("%s of %s matched a capture (same kernels in the same order, same batch size). Their operators are those of the capture: %s of GPU time.",
			unit.Count(captured), launches(r.Launches), unit.Share(r.KnownNS-r.ByNodes.KnownNS, total.GPUNS)))
	}
	var left []string
	for _, u := range r.Unmatched {
		left = append(left, fmt.Sprintf("%s (%s of GPU time): %s", launches(u.Launches), unit.Share(u.NS, total.GPUNS),
			words.Unmatched(u.Reason)))
	}
	if left != nil {
		text = append(text, "Operators unknown: "+strings.Join(left, "; ")+".")
	}
	return "Graph replays: " + strings.Join(text, " ")
}

// nodes states for which GPU operations of graphs the node IDs identify the operators.
func nodes(n *efficiency.Nodes, all int64, total efficiency.Total) string {
	text := fmt.Sprintf("%s of %s matched by node ID: %s of their %s GPU operations belong to the operator that was open when the program made the node (%s of GPU time).",
		unit.Count(n.Launches), launches(all), unit.Count(n.Known), unit.Count(n.Work), unit.Share(n.KnownNS, total.GPUNS))
	var lost []string
	for _, l := range n.Lost {
		lost = append(lost, fmt.Sprintf("%s (%s)", unit.Count(l.Work), words.Unmatched(l.Reason)))
	}
	if lost != nil {
		text += " GPU operations without an operator: " + strings.Join(lost, ", ") + "."
	}
	return text
}

func launches(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return unit.Count(n) + " launches"
}
