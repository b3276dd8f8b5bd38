package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// capture says what was read and what may be wrong with it.
func (b *builder) capture() Section {
	s := Section{Title: "Capture quality", Blocks: []Block{Paragraph{Text: b.captureLine() + "."}}}
	if len(b.Inputs) > 0 {
		s.Blocks = append(s.Blocks, b.inputs())
	}
	if len(b.Issues) == 0 {
		s.Blocks = append(s.Blocks, Paragraph{Text: "No issues were found."})
	}
	var list List
	for _, is := range b.Issues {
		list = append(list, issueItem(is))
	}
	if list != nil {
		s.Blocks = append(s.Blocks, list)
	}
	if open := b.unanswered(); open != nil {
		s.Blocks = append(s.Blocks, Paragraph{Text: "What the capture cannot answer, or in part only:"}, open)
	}
	return s
}

// captureLine says in one line what was read.
func (b *builder) captureLine() string {
	if len(b.Inputs) == 0 {
		return "no inputs"
	}
	var formats []string
	var ranks []int
	events, bytes, incomplete := int64(0), int64(0), int64(0)
	for _, in := range b.Inputs {
		formats = append(formats, clip(clean(in.Format), 30))
		ranks = append(ranks, in.Rank)
		events = summary.Plus(events, in.Events)
		bytes = summary.Plus(bytes, in.Bytes)
		if !in.Complete {
			incomplete++
		}
	}
	slices.Sort(formats)
	parts := []string{strings.Join(slices.Compact(formats), ", ")}
	if n := int64(len(b.Inputs)); n > 1 {
		parts = append(parts, plural(n, "input"), "ranks "+ranges(ranks))
	}
	parts = append(append(parts, unit.Bytes(bytes)), b.held(events)...)
	if names := view.DeviceNames(b.Summary); names != "" {
		parts[len(parts)-1] += " (" + names + ")"
	}
	switch {
	case incomplete == 0:
		parts = append(parts, b.wholeness())
	case len(b.Inputs) == 1:
		parts = append(parts, "incomplete")
	default:
		parts = append(parts, fmt.Sprintf("%d of %d inputs incomplete", incomplete, len(b.Inputs)))
	}
	if span := b.spanText(); span != "" {
		parts = append(parts, span)
	}
	return strings.Join(parts, ", ")
}

// held says what the inputs hold.
func (b *builder) held(events int64) (parts []string) {
	rows := b.sumsOnly() || len(b.Counters) > 0 && len(b.Devices) == 0
	switch n := int64(len(view.Tables(b.Summary))); {
	case n > 0:
		parts = append(parts, plural(n, "table"))
	case len(b.Tables) > 0:
		parts = append(parts, plural(int64(len(b.Tables)), "table")+" without rows")
	}
	if rows {
		parts = append(parts, plural(events, "row"))
	} else {
		parts = append(parts, plural(events, "event"))
	}
	if len(b.Counters) > 0 {
		parts = append(parts, b.countedLine())
	}
	switch {
	case len(b.Devices) > 0:
		parts = append(parts, plural(int64(len(b.Devices)), "device"))
	case b.ofMemory() && len(b.Snapshots) > 0:
		parts = append(parts, plural(int64(len(b.Snapshots)), "device"))
	case !rows && !b.ofMemory():
		parts = append(parts, "no GPU events")
	}
	return parts
}

// wholeness says of inputs that were read to their ends whether all that they
// held came through.
func (b *builder) wholeness() string {
	if slices.ContainsFunc(b.Issues, func(is summary.Issue) bool { return is.Severity == "data-loss" }) {
		return "complete, with data loss"
	}
	return "complete"
}

// spanText says how little of the capture the GPU was in use for: where the
// capture is more than twice as long as the window, shares of the window do
// not tell what the program did. Otherwise it is "".
func (b *builder) spanText() string {
	type extent struct{ from, to int64 }
	windows := map[int]extent{}
	for _, d := range b.Devices {
		e, ok := windows[d.Input]
		if !ok {
			e = extent{d.StartNS, d.StartNS}
		}
		windows[d.Input] = extent{min(e.from, d.StartNS), max(e.to, summary.Plus(d.StartNS, d.WindowNS))}
	}
	gpu, span := int64(0), int64(0)
	for i, in := range b.Inputs {
		if in.SpanNS <= 0 {
			return "" // not known, or nothing in it
		}
		e := windows[i]
		gpu = summary.Plus(gpu, summary.Plus(e.to, -max(e.from, -math.MaxInt64)))
		span = summary.Plus(span, in.SpanNS)
	}
	switch {
	case len(windows) == 0 || span-gpu <= gpu:
		return ""
	case len(b.Inputs) == 1:
		return fmt.Sprintf("GPU window %s of a capture of %s", unit.Duration(gpu), unit.Duration(span))
	}
	return fmt.Sprintf("GPU windows %s of captures of %s, sums over the inputs", unit.Duration(gpu), unit.Duration(span))
}

// issueTitle names an issue and how often it was met.
func issueTitle(is summary.Issue) Item {
	return Item{Mark: clip(clean(is.Severity), 20), Text: fmt.Sprintf("%s, %s", clip(clean(is.Code), 60), plural(is.Count, "time"))}
}

func issueItem(is summary.Issue) Item {
	it := issueTitle(is)
	if is.Help != "" {
		it.Sub = append(it.Sub, Item{Text: sentence(is.Help)})
	}
	if is.First != "" {
		it.Sub = append(it.Sub, Item{Text: "first at", Code: clip(clean(is.First), 200)})
	}
	return it
}
