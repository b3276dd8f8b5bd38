package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// FloorLine compares the decode steps with the most time with the least time in which the hardware could do
// them, or says why it cannot. It is "" without a model, and if the times of the capture are wrong.
func FloorLine(ctx *section.Context) string {
	list := efficiency.Floors(ctx.Summary)
	if len(list) == 0 || ctx.Result.Unusable() != nil {
		return ""
	}
	f := &list[0]
	if f.Known == 0 {
		return "Decode floor: " + floorUnknown(f) + "."
	}
	text := fmt.Sprintf("Decode step: %s (batch %s). ", unit.Duration(f.WallNS), unit.Count(f.Model.Requests))
	if f.ComputeNS > f.MemoryNS {
		return text + fmt.Sprintf("Its FLOPs need %s at the peak: MFU %s.", unit.Duration(f.ComputeNS), percent(f.MFU))
	}
	what, share := "Weights and KV cache need", percent(f.MBU)
	if f.Lower {
		what, share = "The weights alone need", "at least "+share
	}
	return text + fmt.Sprintf("%s %s at %s: MBU %s.", what, unit.Duration(f.MemoryNS), memoryRate(f.HBMGBPS), share)
}

// floorsKnown reports whether all decode steps have a floor by the model.
func floorsKnown(ctx *section.Context) bool {
	list := efficiency.Floors(ctx.Summary)
	for i := range list {
		if list[i].Known < list[i].Steps {
			return false
		}
	}
	return len(list) > 0
}

// memoryRate prints a bandwidth in 10^9 bytes/s.
func memoryRate(gbps float64) string {
	if gbps >= 1000 {
		return fmt.Sprintf("%.2f TB/s", gbps/1000)
	}
	return fmt.Sprintf("%.0f GB/s", gbps)
}

// floorUnknown states why steps have no floor, and what to do.
func floorUnknown(f *efficiency.Floor) string {
	m := f.Model
	if m.Unknown == summary.FloorOver {
		return fmt.Sprintf("withheld, because %s needs %s for a step of %s: the model, the GPUs that divide it or the peak are not those of this run",
			label.Clip(label.Clean(m.Type), 20), unit.Duration(f.FloorNS()), unit.Duration(f.WallNS))
	}
	why := words.FloorUnknown(m.Unknown)
	if why.Remedy != "" {
		return "unknown, because " + why.Text + "; " + why.Remedy
	}
	return "unknown, because " + why.Text
}

// maxParts is the maximum number of parts in the table.
const maxParts = 8

// floor shows the least time of decode steps by the configuration of the model, and its parts.
func floor(ctx *section.Context) doc.Section {
	list := efficiency.Floors(ctx.Summary)
	if len(list) == 0 {
		return doc.Section{}
	}
	s := doc.Section{Title: "Floor of decode steps", Lead: floorLead(&list[0])}
	var times []int64
	for _, f := range list {
		times = append(times, f.WallNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "decode floor", Columns: []doc.Column{
		doc.Col("batch", doc.Number), doc.Col("steps", doc.Number), doc.Col(scale.Head("step time"), doc.Number),
		doc.Col(scale.Head("memory"), doc.Number), doc.Col(scale.Head("compute"), doc.Number),
		doc.Col("MBU", doc.Number), doc.Col("MFU", doc.Number),
	}}
	for i := range list {
		if f := &list[i]; f.Known > 0 {
			mbu, compute, mfu := percent(f.MBU), "", ""
			if f.Lower {
				mbu = "≥ " + mbu
			}
			if f.ComputeNS > 0 {
				compute, mfu = scale.Text(f.ComputeNS), percent(f.MFU)
			}
			t.Rows = append(t.Rows, doc.Row{Weight: f.WallNS * f.Steps, Cells: []string{unit.Count(f.Model.Requests), unit.Count(f.Steps),
				scale.Text(f.WallNS), scale.Text(f.MemoryNS), compute, mbu, mfu}})
		}
	}
	if t.Rows == nil {
		s.Lead = doc.Capital(floorUnknown(&list[0])) + "."
		return s
	}
	t.Note = "Means of a step. Memory: bytes of weights and KV cache at the memory bandwidth. " +
		"Compute: FLOPs at the peak of their type. Floor: the larger one. " +
		"Experts: expected number if all are equally likely."
	s.Blocks = []doc.Block{t.Cut(maxBatches).WithoutEmpty(), floorParts(&list[0]).Cut(maxParts).WithoutEmpty()}
	return s
}

// floorLead says of which model and division the floor is.
func floorLead(f *efficiency.Floor) string {
	m := f.Model
	kind := m.Dtype
	if m.Scheme != "" {
		kind = m.Scheme + " and " + m.Dtype
	}
	var by []string
	for _, p := range []struct {
		n    int64
		name string
	}{{m.Tensor, "tensor"}, {m.Expert, "expert"}, {m.Pipeline, "pipeline"}} {
		if p.n > 1 {
			by = append(by, fmt.Sprintf("%d (%s)", p.n, p.name))
		}
	}
	text := fmt.Sprintf("%s in %s", label.Clip(label.Clean(m.Type), 20), kind)
	if by != nil {
		text += ", divided by " + strings.Join(by, ", ")
	}
	text += " (" + words.FloorFrom(m.ParallelFrom) + ")."
	if f.Lower {
		text += " No annotation states the lengths in the KV cache, so the floor is that of the weights."
	}
	return text
}

// floorParts shows the parts of the steps with the most time.
func floorParts(f *efficiency.Floor) doc.Table {
	var times []int64
	for _, p := range f.Model.Parts {
		times = append(times, p.NS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "parts of the floor", Columns: []doc.Column{doc.Col("part", doc.Name), doc.Col("bytes", doc.Number),
		doc.Col(scale.Head("memory"), doc.Number), doc.Col("% of step", doc.Number)}}
	for _, p := range f.Model.Parts {
		t.Rows = append(t.Rows, doc.Row{Weight: p.NS, Cells: []string{words.FloorPart(p.Part), unit.Bytes(p.Bytes), scale.Text(p.NS), unit.Share(p.NS, f.WallNS)}})
	}
	return t
}
