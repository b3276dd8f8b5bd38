package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/report/section"
	"assay/report/words"
	"assay/summary/view/efficiency"
	"assay/unit"
)

// graphs says for which replays of graphs the operators are known from captures, or returns
// "".
func graphs(ctx *section.Context, total efficiency.Total) string {
	r := efficiency.ReplaysOf(ctx.Summary)
	if r.Launches == 0 {
		return ""
	}
	text := "Graph replays: "
	if r.Matched > 0 {
		text += fmt.Sprintf("%s of %s matched a capture (same kernels in the same order, same batch size). Their operators are those of the capture: %s of GPU time.",
			unit.Count(r.Matched), label.Plural(r.Launches, "launch"), unit.Share(r.KnownNS, total.GPUNS))
	}
	var left []string
	for _, u := range r.Unmatched {
		left = append(left, fmt.Sprintf("%s (%s of GPU time): %s", label.Plural(u.Launches, "launch"), unit.Share(u.NS, total.GPUNS), words.Unmatched(u.Reason)))
	}
	if left == nil {
		return text
	}
	if r.Matched > 0 {
		text += " "
	}
	return text + "Operators unknown: " + strings.Join(left, "; ") + "."
}
