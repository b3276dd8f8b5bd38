package efficiency

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// notesOf explains lower bounds of MFU and empty cells, if the table has any.
func notesOf[Row any](list []Row, sums func(Row) *summary.EfficiencySums) (note string) {
	var utilized, roofed int
	for _, row := range list {
		s := sums(row)
		if s.MFU != nil {
			utilized++
		}
		if rooflined(*s, "x") != "" {
			roofed++
		}
	}
	if utilized > 0 {
		note = " MFU and HFU: at least where FLOPs known is less than 100%."
	}
	if utilized%len(list) != 0 || roofed%len(list) != 0 { // an empty column is left out, so it needs no note
		note += " Empty: unknown, for the reasons below."
	}
	return note
}

// gpus returns the table of GPUs if there are several.
func gpus(ctx *section.Context, total efficiency.Total) doc.Section {
	devices := ctx.Summary.Efficiency.Devices
	if len(devices) < 2 {
		return doc.Section{}
	}
	times := []int64{0}
	for _, d := range devices {
		times = append(times, d.GPUNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col("MFU", doc.Number), doc.Col("HFU", doc.Number),
		doc.Col(scale.Head("GPU time"), doc.Number), doc.Col("% FLOPs known", doc.Number),
		doc.Col("% bytes known", doc.Number),
		doc.Col("matrix TFLOP/s", doc.Number), doc.Col(scale.Head("roofline"), doc.Number),
		doc.Col(scale.Head("recoverable"), doc.Number),
	}}
	for _, d := range devices {
		place := ctx.Place[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]
		if place == "" {
			place = fmt.Sprintf("rank %d GPU %d", d.Rank, d.Device)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: d.RecoverableNS, Cells: []string{
			place, share(d.MFU), share(d.HFU), scale.Text(d.GPUNS), known(d.EfficiencySums, d.FLOPsKnownNS),
			known(d.EfficiencySums, d.BytesKnownNS),
			achieved(d.EfficiencySums), rooflined(d.EfficiencySums, scale.Text(d.RooflineNS)),
			rooflined(d.EfficiencySums, scale.Text(d.RecoverableNS)),
		}})
	}
	t.Note = "MFU and HFU: % of the peak over the GPU window. Matrix TFLOP/s: while matrix operators run." + notesOf(devices, func(d summary.EfficiencyDevice) *summary.EfficiencySums { return &d.EfficiencySums })
	return doc.Section{Title: "Efficiency of GPUs", Blocks: []doc.Block{t.Cut(section.MaxDevices).WithoutEmpty()},
		Fold: true}
}

// rooflined returns a text about operators with a roofline, or "" if there are none.
func rooflined(s summary.EfficiencySums, text string) string {
	if s.RooflineNS == 0 && s.RecoverableNS == 0 {
		return ""
	}
	return text
}

// known prints ns as a share of the GPU time without communication.
func known(s summary.EfficiencySums, ns int64) string {
	work := efficiency.Work(&s)
	return unit.Share(min(ns, work), work)
}

// share prints a share that may be unknown, in percent with one decimal.
func share(v *float64) string {
	if v == nil {
		return ""
	}
	return percent(*v)
}

// percent prints a share in percent with one decimal.
func percent(v float64) string {
	const parts = 1e9
	return unit.Share(int64(min(v, 1e6)*parts), parts)
}

// achieved returns the rate of matrix operators while they run, or "".
func achieved(s summary.EfficiencySums) string {
	if s.MatrixNS <= 0 || s.MatrixFLOPs <= 0 || !s.MatrixFLOPs.Fits() {
		return ""
	}
	return figure(float64(s.MatrixFLOPs)/float64(s.MatrixNS)/1e3, true)
}

// steps returns the steps, added up over the GPUs that have them.
func steps(ctx *section.Context) doc.Section {
	list := efficiency.Steps(ctx.Summary)
	if len(list) == 0 {
		return doc.Section{}
	}
	times := []int64{0}
	for _, st := range list {
		times = append(times, doc.Mean(st.WallNS, int64(st.GPUs)))
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "steps", Columns: []doc.Column{
		doc.Col("step", doc.Name), doc.Col(scale.Head("step time"), doc.Number), doc.Col("MFU", doc.Number),
		doc.Col("HFU", doc.Number), doc.Col("TFLOP/s per GPU", doc.Number),
		doc.Col("% FLOPs known", doc.Number), doc.Col("matrix TFLOP/s", doc.Number),
		doc.Col(scale.Head("recoverable"), doc.Number), doc.Col("MFU over ranks", doc.Text),
	}}
	for _, st := range list {
		rate := ""
		if st.WallNS > 0 && st.ModelFLOPs.Fits() {
			rate = figure(float64(st.ModelFLOPs)/float64(st.WallNS)/1e3, true)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: st.WallNS, Cells: []string{
			st.Name, scale.Text(doc.Mean(st.WallNS, int64(st.GPUs))), share(st.MFU), share(st.HFU), rate,
			known(st.EfficiencySums, st.FLOPsKnownNS), achieved(st.EfficiencySums),
			rooflined(st.EfficiencySums, scale.Text(doc.Mean(st.RecoverableNS, int64(st.GPUs)))), mfuOverRanks(st),
		}})
	}
	t.Note = "TFLOP/s per GPU: model FLOPs / step time. Matrix TFLOP/s: while matrix operators run." + notesOf(list,
		func(st efficiency.Step) *summary.EfficiencySums { return &st.EfficiencySums })
	return doc.Section{Title: "Efficiency of steps", Blocks: []doc.Block{t.Cut(maxSteps).WithoutEmpty()}, Fold: true}
}

// mfuOverRanks returns the least and the highest MFU of a step, where they differ.
func mfuOverRanks(st efficiency.Step) string {
	low, high := percent(st.MinMFU), percent(st.MaxMFU)
	if st.MFU == nil || low == high {
		return ""
	}
	return low + " to " + high
}

// Transfers compares collectives and copies with the peak of the links that they use.
func Transfers(ctx *section.Context) doc.Section {
	list := efficiency.Transfers(ctx.Summary)
	total := int64(0)
	means := []int64{0}
	for _, tr := range list {
		total += tr.NS
		means = append(means, doc.Mean(tr.NS, tr.Count))
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	each := doc.ScaleOf(means...)
	t := doc.Table{Title: "kinds of transfers", More: doc.Rest{Total: total, Of: "transfer time"}, Columns: []doc.Column{
		doc.Col("transfer", doc.Name), doc.Col("ranks", doc.Number), doc.Col("count", doc.Number),
		doc.Col("mean size", doc.Number), doc.Col(each.Head("mean time"), doc.Number),
		doc.Col("algbw (GB/s)", doc.Number), doc.Col("busbw (GB/s)", doc.Number), doc.Col("link", doc.Text),
		doc.Col("peak (GB/s)", doc.Number), doc.Col("% of peak", doc.Text),
	}}
	lower := false
	for i := range list {
		tr := &list[i]
		of := ""
		if v, ok := tr.OfPeak(); ok {
			of = percent(v)
		}
		if tr.Lower && of != "" {
			of, lower = "≥ "+of, true
		}
		group := ""
		if tr.Group > 1 {
			group = unit.Count(int64(tr.Group))
		}
		t.Rows = append(t.Rows, doc.Row{Weight: tr.NS, Cells: []string{
			label.Clean(tr.Name), group, unit.Count(tr.Count), size(tr), each.Text(doc.Mean(tr.NS, tr.Count)),
			figure(tr.AlgGBPS()), figure(tr.Bus()), words.Link(tr.Link), figure(tr.Peak()), of,
		}})
	}
	t.Note = "Algbw is size / time; busbw is algbw times the factor of the operation, as in nccl-tests. % of peak: busbw of collectives, algbw of copies; copies inside a GPU read and write, so twice their size."
	if slices.ContainsFunc(list, func(tr efficiency.Transfer) bool { return tr.Matched }) {
		t.Note += " Collectives that were matched over ranks: count of all ranks together, and the time of the rank that waited least."
	}
	if overLink(list) {
		t.Note += " Over 100%: GPU memory: the L2 cache; collectives: the switch may reduce (NVLink SHARP)."
	}
	if lower {
		t.Note += " ≥: the time includes waiting for other ranks, so the bandwidth of the link is at least this."
	}
	return doc.Section{Title: "Bandwidth of collectives and copies",
		Blocks: []doc.Block{t.Cut(maxTransfers).WithoutEmpty()}, Fold: true}
}

// size returns the mean size of a transfer, or "" if the sum is too large.
func size(tr *efficiency.Transfer) string {
	if !tr.Bytes.Fits() {
		return ""
	}
	return unit.FineBytes(doc.Mean(int64(tr.Bytes), tr.Count))
}

// overLink reports whether a transfer exceeds the peak of its link, which the section then explains.
func overLink(list []efficiency.Transfer) bool {
	return slices.ContainsFunc(list, func(tr efficiency.Transfer) bool { v, ok := tr.OfPeak(); return ok && v > 1 })
}

// unknowns lists the GPU time without known FLOPs, bytes or roofline, by reason, with the remedy.
func unknowns(ctx *section.Context, total efficiency.Total) doc.Section {
	list := efficiency.Unknowns(ctx.Summary)
	if len(list) == 0 {
		return doc.Section{}
	}
	times := []int64{0}
	for _, u := range list {
		times = append(times, mean(total, u.NS))
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "reasons", Columns: []doc.Column{
		doc.Col("% of GPU time", doc.Number), doc.Col(scale.Head("GPU time"), doc.Number), doc.Col("unknown", doc.Text),
		doc.Col("reason", doc.Text), doc.Col("most in", doc.Name),
	}}
	var remedies []string
	for _, u := range list {
		reason := words.Unknown(u.Reason)
		t.Rows = append(t.Rows, doc.Row{Weight: u.NS,
			Cells: []string{unit.Share(u.NS, total.GPUNS), scale.Text(mean(total, u.NS)), what(u), reason.Text, largest(u)}})
		if reason.Remedy != "" && !slices.Contains(remedies, reason.Remedy) {
			remedies = append(remedies, reason.Remedy)
		}
	}
	blocks := []doc.Block{t.WithoutEmpty()}
	if len(remedies) > 0 {
		blocks = append(blocks, doc.Paragraph{Text: "To know more: " + strings.Join(remedies, "; ") + "."})
	}
	known := min(total.FLOPsKnownNS, total.BytesKnownNS) > total.GPUNS/2
	return doc.Section{Title: "GPU time without known FLOPs, bytes or roofline", Blocks: blocks, Fold: known &&
		total.RooflineNS > 0}
}

// what names which of FLOPs, bytes and roofline are unknown in most of the time.
func what(u efficiency.Unknown) string {
	switch {
	case u.FLOPsNS == 0 && u.BytesNS == 0:
		return "roofline"
	case u.FLOPsNS == 0:
		return "bytes"
	case u.BytesNS == 0:
		return "FLOPs"
	case u.FLOPsNS == u.NS && u.BytesNS == u.NS:
		return "FLOPs and bytes"
	}
	return "FLOPs or bytes"
}

// largest returns the operators with the most time for a reason.
func largest(u efficiency.Unknown) string {
	var names []string
	for _, op := range u.Ops[:min(3, len(u.Ops))] {
		names = append(names, label.Clip(label.Clean(op.Op), 60))
	}
	return strings.Join(names, ", ")
}
