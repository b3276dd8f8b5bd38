package ranks

import (
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary/view"
)

// screenStages is the maximum number of stages of a pipeline in the one-screen summary.
const screenStages = 8

// ScreenStages returns the waiting of the stages of each pipeline.
func ScreenStages(ctx *section.Context) (out []doc.Section) {
	for _, p := range view.Pipelines(ctx.Summary) {
		out = append(out, doc.Section{
			Title:  "Waiting of pipeline stages, per GPU",
			Lead:   closedForm(p),
			Blocks: []doc.Block{stageTable(ctx, p, false).Cut(screenStages)},
		})
	}
	return out
}

// Stages returns a section for each pipeline: the compute time of its stages, and how long they
// wait for each other.
func Stages(ctx *section.Context) (out []doc.Section) {
	for _, p := range view.Pipelines(ctx.Summary) {
		t := stageTable(ctx, p, true)
		t.Note = "Per GPU: mean of the stage. Waiting: in sends, receives and collectives between stages, without the transfer; the table of ranks does not have it. "
		switch {
		case p.Uneven() > 0:
			t.Note += fmt.Sprintf("For stage %d: waiting because stage %d computes longer. Bubble: the rest, in which the pipeline fills and drains.", p.Longest().Number, p.Longest().Number)
		case !p.Whole():
			t.Note += "Some stages were not given, so the cause of the waiting is not known."
		}
		out = append(out, doc.Section{Title: "Pipeline stages",
			Blocks: []doc.Block{doc.Paragraph{Text: stagesLead(p)}, t.Cut(section.MaxDevices)}})
	}
	return out
}

// closedForm returns the bubble that the pipeline schedule implies, if the number of micro-batches is
// known.
func closedForm(p view.Pipeline) string {
	if p.Messages == nil || *p.Messages < 1 {
		return ""
	}
	n, m := int64(p.Of), *p.Messages
	return fmt.Sprintf("with %s, equal stages have a bubble of %s", microBatches(m), unit.Share(n-1, m+n-1))
}

func microBatches(n int64) string {
	if n == 1 {
		return "1 micro-batch"
	}
	return unit.Count(n) + " micro-batches"
}

// stagesLead compares the measured bubble with that of the schedule.
func stagesLead(p view.Pipeline) string {
	if !p.Whole() {
		return fmt.Sprintf("%d of %d stages were given.", len(p.Stages), p.Of)
	}
	text := fmt.Sprintf("%d stages. The bubble takes %s of GPU time", p.Of, unit.Share(p.Bubble(), p.Windows()))
	if p.Messages == nil || *p.Messages < 1 {
		return text + "; the number of micro-batches is not known."
	}
	n, m := int64(p.Of), *p.Messages
	return fmt.Sprintf("%s; with %s, a pipeline of equal stages has a bubble of (p-1)/(m+p-1) = %s.", text,
		microBatches(m), unit.Share(n-1, m+n-1))
}

// stageTable returns a row for each stage, in order. A wide table also has the causes of the
// waiting.
func stageTable(ctx *section.Context, p view.Pipeline, wide bool) doc.Table {
	steps := view.StepsOfEachGPU(ctx.Summary)
	var times, each []int64
	for _, s := range p.Stages {
		times = append(times, s.Window/s.GPUs)
		if steps > 0 {
			each = append(each, s.Wait/s.GPUs/steps)
		}
	}
	scale, perStep := doc.ScaleOf(times...), doc.ScaleOf(each...)
	t := doc.Table{Title: "stages", Columns: []doc.Column{
		doc.Col("stage", doc.Number), doc.Col("ranks", doc.Text), doc.Col(scale.Head("window"), doc.Number),
		doc.Col(scale.Head("compute"), doc.Number), doc.Col("%", doc.Number), doc.Col(scale.Head("waiting"), doc.Number),
		doc.Col("%", doc.Number),
	}}
	causes := wide && p.Uneven() > 0
	if causes {
		t.Columns = append(t.Columns, doc.Col(scale.Head(fmt.Sprintf("for stage %d", p.Longest().Number)), doc.Number),
			doc.Col(scale.Head("bubble"), doc.Number))
	}
	if steps > 0 {
		t.Columns = append(t.Columns, doc.Col(perStep.Head("waiting per step"), doc.Number))
	}
	waits := slices.ContainsFunc(p.Stages, func(s view.PipelineStage) bool { return len(s.For) > 0 })
	if waits {
		t.Columns = append(t.Columns, doc.Col("mostly for", doc.Text))
	}
	for _, s := range p.Stages {
		per := func(ns int64) string { return scale.Text(doc.Mean(ns, s.GPUs)) }
		row := []string{strconv.Itoa(s.Number), label.Clip(doc.Ranges(s.Ranks), 24), per(s.Window),
			per(s.Compute), unit.Share(s.Compute, s.Window), per(s.Wait), unit.Share(s.Wait, s.Window)}
		if causes {
			row = append(row, per(s.Uneven), per(s.Wait-s.Uneven))
		}
		if steps > 0 {
			row = append(row, perStep.Text(doc.Mean(s.Wait, s.GPUs*steps)))
		}
		if waits {
			row = append(row, mostlyFor(s, wide))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: row})
	}
	return t
}

// mostlyFor names the stage for which a stage waits in most of its time in sends and receives.
func mostlyFor(s view.PipelineStage, wide bool) string {
	w, all, ok := s.Mostly()
	if !ok {
		return "–"
	}
	if !wide {
		return fmt.Sprintf("stage %d", w.Stage)
	}
	return fmt.Sprintf("stage %d (%s)", w.Stage, unit.Share(w.NS, all))
}
