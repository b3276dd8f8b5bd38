package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view/efficiency"
)

const (
	maxSavings = 10   // rows of the table
	muchSaved  = 0.02 // share of kernel time from which the table is worth its place
)

// savings shows the work that could be fused or removed, by what it saves.
func savings(ctx *section.Context) doc.Section {
	list, total := efficiency.Savings(ctx.Summary)
	gain := int64(0)
	var times []int64
	for _, r := range list {
		gain, times = summary.Plus(gain, r.GainNS), append(times, r.TotalNS)
	}
	if len(list) == 0 || float64(gain) < muchSaved*float64(total) || mostlyIdle(ctx.Summary) {
		return doc.Section{}
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "could be fused or removed", Columns: []doc.Column{
		doc.Col("what", doc.Text), doc.Col("operators, in order", doc.Name), doc.Col("input shapes of the first", doc.Name), doc.Col("times", doc.Number),
		doc.Col(scale.Head("takes"), doc.Number), doc.Col(scale.Head("saves"), doc.Number), doc.Col("saves %", doc.Number), doc.Col("saved traffic", doc.Number), doc.Col("gain is", doc.Text),
	}}
	for _, r := range list {
		dims, traffic, takes := "", "", scale.Text(r.TotalNS)
		if len(r.Dims) > 0 {
			dims = efficiency.DimsText(string(r.Dims))
		}
		if r.Bytes != nil {
			traffic = unit.Bytes(*r.Bytes)
		}
		from := map[string]string{summary.GainOfBytes: "traffic / bandwidth", summary.GainAtMost: "upper bound"}[r.GainFrom]
		if r.Forecast {
			takes, from = "", "forecast, upper bound"
		}
		names := strings.ReplaceAll(strings.Join(r.Names, " → "), "aten::", "")
		t.Rows = append(t.Rows, doc.Row{Weight: r.GainNS, Cells: []string{r.Kind, names, dims, unit.Count(r.Count), takes, scale.Text(r.GainNS),
			unit.Share(r.GainNS, total), traffic, from}})
	}
	t.Note = "% of total kernel time. " + savingsAdvice(list[:min(len(list), maxSavings)], efficiency.Compiled(ctx.Summary))
	lead := fmt.Sprintf("Up to %s of kernel time (%s) in work that one kernel could do instead of several, or that could be left out.", unit.Duration(gain), unit.Share(gain, total))
	lead += idleNote(ctx.Summary)
	return doc.Section{Title: "Could be fused or removed", Lead: lead, Blocks: []doc.Block{t.Cut(maxSavings).WithoutEmpty()}}
}

// savingsAdvice says how, and on which condition, for the kinds in the list.
func savingsAdvice(list []efficiency.Save, compiled bool) string {
	fuse := "Fuse: torch.compile, or one kernel for the chain; each operator reads what the one before wrote, as far as shapes tell. In training, results that the backward pass needs are written anyway."
	if compiled {
		fuse = "Fuse: torch.compile is in use, and these operators are outside of its regions: look for graph breaks (TORCH_LOGS=graph_breaks). Each reads what the one before wrote, as far as shapes tell."
	}
	texts := map[string]string{
		summary.SavingFuse:   fuse,
		summary.SavingCast:   "Casts: keep the tensor in one type; convert weights once, not in each step.",
		summary.SavingLayout: "Layout copies: not needed if the next operator takes strides (no .contiguous()), or if the producer writes this layout.",
		summary.SavingHost:   "Host copies: keep the data on the GPU, if nothing on the CPU changes it.",
		efficiency.SavingComm: "Communication: start it earlier, or overlap it with compute; " +
			"the forecast replays the steps without the time of communication.",
	}
	var out []string
	for _, kind := range []string{summary.SavingFuse, summary.SavingCast, summary.SavingLayout, summary.SavingHost, efficiency.SavingComm} {
		for _, r := range list {
			if r.Kind == kind {
				out = append(out, texts[kind])
				break
			}
		}
	}
	return strings.Join(out, " ")
}
