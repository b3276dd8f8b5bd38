package efficiency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/section"
	"assay/summary/view/efficiency"
)

// logged states what logs of the run report about throughput and MFU, or "". Logs also have steps outside
// of the capture.
func logged(ctx *section.Context) string {
	var texts []string
	for _, l := range efficiency.Logged(ctx.Whole) {
		var parts []string
		for _, r := range []struct {
			v    float64
			text func(float64) string
		}{
			{l.TokensPerGPU, func(v float64) string { return unit.Value(v, "") + " tokens/s per GPU" }},
			{l.Tokens, func(v float64) string { return unit.Value(v, "") + " tokens/s of the whole job" }},
			{l.OutputTokens, func(v float64) string { return unit.Value(v, "") + " generated tokens/s" }},
			{l.FLOPsPerGPU, func(v float64) string { return unit.FLOPRate(v) + " per GPU" }},
			{l.MFU, func(v float64) string { return "MFU " + percent(v) }},
		} {
			if r.v > 0 {
				parts = append(parts, r.text(r.v))
			}
		}
		who := cmp.Or(label.Clip(label.Clean(l.Producer), 40), "log")
		texts = append(texts, fmt.Sprintf("%s (%s): %s", label.Clip(label.Clean(l.Path), 60), who, strings.Join(parts, ", ")))
	}
	if texts == nil {
		return ""
	}
	slices.Sort(texts)
	more := ""
	if n := len(texts) - maxLogs; n > 0 {
		texts, more = texts[:maxLogs], fmt.Sprintf("; %d more", n)
	}
	return "Medians in logs, over all their steps: " + strings.Join(texts, "; ") + more + "."
}

// maxLogs is the maximum number of logs that the section names.
const maxLogs = 4
