package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary/view/efficiency"
)

// maxBatches is the maximum number of batch sizes in the table of decode steps.
const maxBatches = 8

// decode returns the decode steps by batch size, compared with the bandwidth of the memory.
func decode(ctx *section.Context) doc.Section {
	list := efficiency.DecodeOf(ctx.Summary)
	if len(list) == 0 || floorsKnown(ctx) {
		return doc.Section{} // the floor has the same bandwidth
	}
	s := doc.Section{Title: "Decode bandwidth utilization"}
	times := []int64{0}
	for _, d := range list {
		times = append(times, d.WallNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "decode steps", Columns: []doc.Column{
		doc.Col("batch", doc.Number), doc.Col("steps", doc.Number), doc.Col("weights", doc.Number),
		doc.Col("KV cache", doc.Number), doc.Col(scale.Head("step time"), doc.Number), doc.Col("GB/s", doc.Number),
		doc.Col("% of peak", doc.Number), doc.Col("% over GPU time", doc.Number), doc.Col("% over graphs", doc.Number),
		doc.Col("limit tokens/s", doc.Number),
	}}
	for _, d := range list {
		if d.Known > 0 {
			t.Rows = append(t.Rows, doc.Row{Weight: d.WallNS * d.Known, Cells: decodeCells(&d, scale)})
		}
	}
	if t.Rows == nil {
		s.Lead = decodeUnknown(list)
		return s
	}
	s.Lead = strings.TrimSpace("Bytes that a decode step must read and write, over its time and the peak of the memory bandwidth" + ofMemory(ctx.Summary) + ". " + decodeUnknown(list))
	t.Note = "Means of a step. Weights: read once. KV cache: whole context read, new tokens written; less with a sliding window. " +
		"Limit: batch × memory bandwidth / bytes, one token for each request."
	s.Blocks = []doc.Block{t.Cut(maxBatches).WithoutEmpty()}
	return s
}

func decodeCells(d *efficiency.Decode, scale doc.Scale) []string {
	replays, limit := "", ""
	if d.ShareReplay > 0 {
		replays = percent(d.ShareReplay)
	}
	if d.Ceiling > 0 {
		limit = figure(d.Ceiling, true)
	}
	return []string{unit.Count(d.Batch), unit.Count(d.Known), unit.Bytes(d.Weights), unit.Bytes(d.KV),
		scale.Text(d.WallNS), figure(d.GBPS, true),
		percent(d.Share), percent(d.ShareGPU), replays, limit}
}

// decodeUnknown states for how many steps the bandwidth is unknown and why. It is "" if it is known for
// all.
func decodeUnknown(list []efficiency.Decode) string {
	steps, unknown, at := int64(0), int64(0), map[string]int64{}
	var reasons []string
	for _, d := range list {
		steps += d.Steps
		for _, u := range d.Unknown {
			unknown += u.Steps
			if at[u.Reason] == 0 {
				reasons = append(reasons, u.Reason)
			}
			at[u.Reason] += u.Steps
		}
	}
	if unknown == 0 {
		return ""
	}
	var parts []string
	for _, id := range reasons {
		why := words.DecodeUnknown(id)
		text := fmt.Sprintf("%s: %s", label.Plural(at[id], "step"), why.Text)
		if why.Remedy != "" {
			text += " (" + why.Remedy + ")"
		}
		parts = append(parts, text)
	}
	return fmt.Sprintf("Unknown for %s of %s. ", unit.Count(unknown),
		label.Plural(steps, "decode step")) + doc.Capital(strings.Join(parts, "; ")) + "."
}
