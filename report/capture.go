package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/section/counters"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// capture returns what was read, its issues, and what the capture cannot answer.
func capture(ctx *section.Context) doc.Section {
	s := doc.Section{Title: "Capture quality", Blocks: []doc.Block{doc.Paragraph{Text: strings.TrimSuffix(captureLine(ctx)+", "+gpuLine(ctx), ", ") + "."}}}
	if len(ctx.Inputs) > 0 {
		s.Blocks = append(s.Blocks, inputs(ctx))
	}
	s.Blocks = append(s.Blocks, leftOut(ctx, summary.MaxLeftOut)...)
	if len(ctx.Issues) == 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "No issues were found."})
	}
	var list doc.List
	for _, is := range ctx.Issues {
		list = append(list, issueItem(is))
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	if open := unanswered(ctx); open != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "This capture cannot answer, or only in part:"}, open)
	}
	return s
}

// captureLead returns the line of the capture for a screen: with the name of the
// input if there is only one.
func captureLead(ctx *section.Context) string {
	if len(ctx.Inputs) != 1 {
		return captureLine(ctx)
	}
	return label.Base(ctx.Inputs[0].Path) + ", " + captureLine(ctx)
}

// captureLine returns formats, sizes and completeness of the inputs in one line.
func captureLine(ctx *section.Context) string {
	if len(ctx.Inputs) == 0 {
		return "no inputs"
	}
	var formats []string
	events, bytes, incomplete := int64(0), int64(0), int64(0)
	for _, in := range ctx.Inputs {
		formats = append(formats, words.Format(in.Format))
		events += in.Events
		bytes += in.Bytes
		if !in.Complete {
			incomplete++
		}
	}
	slices.Sort(formats)
	parts := []string{strings.Join(slices.Compact(formats), ", ")}
	if n := int64(len(ctx.Inputs)); n > 1 {
		parts = append(parts, label.Plural(n, "input"))
		if ranks := ranksText(ctx.Inputs); ranks != "" {
			parts = append(parts, ranks)
		}
	}
	parts = append(append(parts, unit.Bytes(bytes)), held(ctx, events)...)
	switch {
	case incomplete == 0:
		parts = append(parts, wholeness(ctx))
	case len(ctx.Inputs) == 1:
		parts = append(parts, "incomplete")
	default:
		parts = append(parts, fmt.Sprintf("%d of %d inputs incomplete", incomplete, len(ctx.Inputs)))
	}
	return strings.Join(parts, ", ")
}

// ranksText returns the ranks of the inputs: "rank 3", "ranks 0–7". An assumed rank counts
// only if no input states one, and it is "" if all assumed ranks are the same: that rank
// tells nothing, as of logs and benchmarks.
func ranksText(inputs []summary.Input) string {
	var stated, assumed []int
	for _, in := range inputs {
		if in.RankFrom == "assumed" {
			assumed = append(assumed, in.Rank)
		} else {
			stated = append(stated, in.Rank)
		}
	}
	slices.Sort(stated)
	slices.Sort(assumed)
	stated, assumed = slices.Compact(stated), slices.Compact(assumed)
	switch {
	case len(stated) == 1:
		return fmt.Sprintf("rank %d", stated[0])
	case len(stated) > 1:
		return "ranks " + doc.Ranges(stated)
	case len(assumed) > 1:
		return "ranks " + doc.Ranges(assumed)
	}
	return ""
}

// windowText returns which part of the capture was measured, or "" for all of it. Of
// several inputs the longest part counts.
func windowText(ctx *section.Context) string {
	var most *summary.Window
	for _, in := range ctx.Inputs {
		if w := in.Window; w != nil && (most == nil || w.EndNS-w.StartNS > most.EndNS-most.StartNS) {
			most = w
		}
	}
	if most == nil {
		return ""
	}
	return fmt.Sprintf("measured: %s of %s (%s)", unit.Duration(most.EndNS-most.StartNS), unit.Duration(most.CaptureNS), label.Clean(most.Asked))
}

// gpuLine returns the GPUs of the capture with their names, and their ranks if there is
// one input. It is "" if the capture has no GPU work.
func gpuLine(ctx *section.Context) string {
	var parts []string
	if len(ctx.Inputs) == 1 && len(ctx.Devices) > 0 && ctx.Inputs[0].RankFrom != "assumed" {
		var ranks []int
		for _, d := range ctx.Devices {
			ranks = append(ranks, d.Rank)
		}
		slices.Sort(ranks)
		if ranks = slices.Compact(ranks); len(ranks) == 1 {
			parts = append(parts, fmt.Sprintf("rank %d", ranks[0]))
		} else {
			parts = append(parts, "ranks "+doc.Ranges(ranks))
		}
	}
	n := int64(ctx.GPUs)
	if n == 0 && ctx.OfMemory() {
		n = int64(len(ctx.Snapshots))
	}
	if n > 0 {
		parts = append(parts, label.Plural(n, "GPU"))
	}
	if names := view.DeviceNames(ctx.Summary); names != "" {
		if n > 0 {
			parts[len(parts)-1] += " (" + strings.TrimPrefix(names, unit.Count(n)+" × ") + ")"
		} else {
			parts = append(parts, names)
		}
	}
	if captures := int64(len(ctx.Devices)); captures > n && n > 1 && captures%n == 0 {
		parts = append(parts, label.Plural(captures/n, "capture")+" of each, one after the other")
	} else if captures > n && n > 0 {
		parts = append(parts, label.Plural(captures, "capture")+" one after the other")
	}
	if w := windowText(ctx); w != "" {
		parts = append(parts, w)
	} else if span := spanText(ctx); span != "" {
		parts = append(parts, span)
	}
	return strings.Join(parts, ", ")
}

// held returns the numbers of tables, rows, events and kernels in the inputs.
func held(ctx *section.Context, events int64) (parts []string) {
	rows := ctx.SumsOnly() || len(ctx.Counters) > 0 && len(ctx.Devices) == 0
	switch n := int64(len(view.Tables(ctx.Summary))); {
	case n > 0:
		parts = append(parts, label.Plural(n, "table"))
	case len(ctx.Tables) > 0:
		parts = append(parts, label.Plural(int64(len(ctx.Tables)), "table")+" without rows")
	}
	if ctx.OfLogs() {
		return append(parts, label.Plural(events, "record"))
	}
	if rows {
		parts = append(parts, label.Plural(events, "row"))
	} else {
		parts = append(parts, label.Plural(events, "event"))
	}
	if len(ctx.Counters) > 0 {
		parts = append(parts, counters.Line(ctx))
	}
	if len(ctx.Devices) == 0 && !rows && !ctx.OfMemory() {
		parts = append(parts, "no GPU events")
	}
	return parts
}

// wholeness returns whether inputs that were read to their ends lost data.
func wholeness(ctx *section.Context) string {
	if slices.ContainsFunc(ctx.Issues, func(is summary.Issue) bool { return is.Severity == "data-loss" }) {
		return "read to the end, with data loss"
	}
	if ctx.Issue(summary.LogCut) != nil {
		return "complete but for a cut last line"
	}
	return "complete"
}

// spanText returns the GPU window and the length of the capture if the capture is more
// than twice as long. Then shares of the window do not describe the whole program.
// Otherwise it is "".
func spanText(ctx *section.Context) string {
	type extent struct{ from, to int64 }
	windows := map[int]extent{}
	for _, d := range ctx.Devices {
		e, ok := windows[d.Input]
		if !ok {
			e = extent{d.StartNS, d.StartNS}
		}
		windows[d.Input] = extent{min(e.from, d.StartNS), max(e.to, summary.Plus(d.StartNS, d.WindowNS))}
	}
	gpu, span, counted := int64(0), int64(0), 0
	for i, in := range ctx.Inputs {
		if in.SameAs != "" {
			continue
		}
		counted++
		if in.SpanNS <= 0 {
			return "" // not known, or nothing in it
		}
		e := windows[i]
		gpu = summary.Plus(gpu, summary.Plus(e.to, -max(e.from, -math.MaxInt64)))
		span += in.SpanNS
	}
	switch {
	case len(windows) == 0 || span-gpu <= gpu:
		return ""
	case counted == 1:
		return fmt.Sprintf("GPU window %s, capture %s", unit.Duration(gpu), unit.Duration(span))
	}
	return fmt.Sprintf("sums over the inputs: GPU windows %s, captures %s", unit.Duration(gpu), unit.Duration(span))
}

// issueTitle returns the code of an issue, and its count if that is not 1.
func issueTitle(is summary.Issue) doc.Item {
	it := doc.Item{Mark: label.Clip(label.Clean(is.Severity), 20), Text: label.Clip(label.Clean(is.Code), 60)}
	if is.Count != 1 {
		it.Text += fmt.Sprintf(" (%s ×)", unit.Count(is.Count))
	}
	return it
}

func issueItem(is summary.Issue) doc.Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Sub = append(it.Sub, doc.Item{Text: doc.Sentence(is.Help)})
	}
	if is.First != "" {
		it.Sub = append(it.Sub, doc.Item{Text: "first at", Code: label.Clip(label.Clean(is.First), 200)})
	}
	return it
}
