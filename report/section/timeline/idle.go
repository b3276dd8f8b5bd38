package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/show"
	"assay/report/words"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// The limits of the sections on idle time.
const (
	idleDevices = 4  // GPUs whose causes are listed one by one
	idleReasons = 12 // causes listed for each
	maxGaps     = 20 // single gaps listed
	gapName     = 44 // columns of the names of kernels before and after a gap
)

// IdleOwners returns the idle time of each GPU by cause.
func IdleOwners(ctx *section.Context) doc.Section {
	devices, all := judgedIdle(ctx)
	if len(devices) == 0 {
		return doc.Section{}
	}
	var total summary.Activity
	for _, d := range devices {
		total = total.Plus(ctx.Judged.IdleGPUs[d.At])
	}
	blocks := append([]doc.Block{doc.Paragraph{Text: ownersSentence(ctx.Judged.IdleName(), total, summary.Idles().By(all, "owner"), view.IdleGPUs(ctx.Summary, devices))}}, ctx.Pictures("idle.png")...)
	if len(devices) > 1 {
		blocks = append(blocks, ownerTable(ctx, devices, total, all))
	}
	for _, d := range devices[:min(idleDevices, len(devices))] {
		if len(devices) > 1 {
			a := ctx.Judged.IdleGPUs[d.At]
			blocks = append(blocks, doc.Paragraph{Text: fmt.Sprintf("%s: idle for %s, %s of its window of %s.", ctx.Labels[d.At],
				unit.Duration(a.Idle()), unit.Share(a.Idle(), a.Window()), unit.Duration(a.Window()))})
		}
		blocks = append(blocks, reasonTable(ctx.Judged.IdleGPUs[d.At], d.Rows))
	}
	if n := len(devices) - idleDevices; n > 0 {
		blocks = append(blocks, doc.Paragraph{Text: "The JSON has the causes of " + label.Plural(int64(n), "more GPU") + "."})
	}
	return doc.Section{Title: "Idle time by cause", Blocks: append(blocks, ownerWords(all))}
}

// judgedIdle returns the idle time of each GPU in the part of its window that the verdict is about.
func judgedIdle(ctx *section.Context) (devices []view.DeviceIdle, all []summary.Idle) {
	s := *ctx.Summary
	s.Idle = ctx.Judged.Idle
	return view.IdleOfDevices(&s)
}

func ownersSentence(window string, total summary.Activity, owners *row.Table, devices int) string {
	text := fmt.Sprintf("Idle time is %s of the %s (%s", unit.Share(total.Idle(), total.Window()), window, unit.Duration(doc.Mean(total.Idle(), int64(devices))))
	if devices > 1 {
		text += fmt.Sprintf(" per GPU, mean of %d", devices)
	}
	text += ")"
	for i := range owners.Rows {
		r := &owners.Rows[i]
		join := ", "
		if i == 0 {
			join = ". By cause: "
		}
		text += fmt.Sprintf("%s%s %s (%s)", join, view.Owner(owners.Text(r, "owner")), unit.Duration(doc.Mean(owners.Main(r), int64(devices))), unit.Share(owners.Main(r), total.Idle()))
	}
	return text + "."
}

// ownerTable returns a row for each GPU, the GPU with the most idle time first, and a
// column for each cause.
func ownerTable(ctx *section.Context, devices []view.DeviceIdle, total summary.Activity, all []summary.Idle) doc.Table {
	owners := view.Owners(all)
	scale := doc.ScaleOf(doc.Mean(total.Idle(), int64(len(devices))))
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{doc.Col("GPU", doc.Text), doc.Col(scale.Head("idle"), doc.Number), doc.Col("% of window", doc.Number)}}
	for _, o := range owners {
		t.Columns = append(t.Columns, doc.Col(scale.Head(view.Owner(o.ID)), doc.Number), doc.Col("%", doc.Number))
	}
	row := func(label string, a summary.Activity, rows []summary.Idle, gpus int64) {
		cells := []string{label, scale.Text(doc.Mean(a.Idle(), gpus)), unit.Share(a.Idle(), a.Window())}
		of := map[string]int64{}
		for _, o := range view.Owners(rows) {
			of[o.ID] = o.NS
		}
		for _, o := range owners {
			cells = append(cells, scale.Text(doc.Mean(of[o.ID], gpus)), unit.Share(of[o.ID], a.Idle()))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	gpus := view.IdleGPUs(ctx.Summary, devices)
	row(meanOf(gpus, len(devices)), total, all, int64(gpus))
	for _, d := range devices {
		row(ctx.Labels[d.At], ctx.Judged.IdleGPUs[d.At], d.Rows, 1)
	}
	t.Note = "Sorted by idle time, % of the window. %: part of the idle time; the causes sum to it."
	return t.Cut(section.MaxDevices + 1)
}

// causeCell makes the cells of the cause, which is the owner with the state. Causes that samples name are marked with the
// file of the sampler and the standard error.
func causeCell(causes *row.Table, rows []summary.Idle) show.Cell {
	return show.Cell{Text: func(r *row.Row) string {
		owner, state := causes.Text(r, "owner"), causes.Text(r, "state")
		names, by, variance := causes.Values(r, "in"), "", 0.0
		for _, i := range rows {
			if i.Sampler != "" && i.Owner == owner && i.State == state &&
				slices.ContainsFunc(names, func(v row.Value) bool { return v.Text == i.Name }) {
				by, variance = i.Sampler, variance+float64(i.ErrorNS)*float64(i.ErrorNS)
			}
		}
		text := words.Cause(owner, state, "")
		if by != "" {
			text += fmt.Sprintf(", by sampler %s, ± %s", label.Clip(label.Clean(by), 30), unit.Duration(int64(math.Sqrt(variance))))
		}
		return text
	}}
}

// inCell makes the cells of what ran on the CPU. They are empty if that is known of no cause.
func inCell(causes *row.Table) show.Cell {
	in := func(r *row.Row) string { return causes.Values(r, "in")[0].Text }
	for i := range causes.Rows {
		if in(&causes.Rows[i]) != "" {
			return show.Cell{Kind: doc.Name, Text: func(r *row.Row) string { return cmp.Or(in(r), unit.None) }}
		}
	}
	return show.Cell{Kind: doc.Name, Text: in}
}

// reasonTable returns the causes of idle time of one GPU.
func reasonTable(a summary.Activity, rows []summary.Idle) doc.Table {
	causes := summary.Idles().By(rows, "owner", "state", "in")
	sum := causes.Whole
	t := show.View{Columns: "cause;in;idle;% of idle=%;% of window;intervals;longest", Most: idleReasons, Title: "causes", Whole: a.Idle(), Of: causes.Of, Cells: map[string]show.Cell{
		"cause":       causeCell(causes, rows),
		"in":          inCell(causes),
		"% of window": {Kind: doc.Number, Text: func(r *row.Row) string { return unit.Share(causes.Main(r), a.Window()) }},
	}}.Table(causes)
	if t.More.Rows > 0 {
		t.Note = fmt.Sprintf("The other causes take %s.", unit.Duration(t.More.Weight))
	}
	if sum != a.Idle() {
		t.Note += fmt.Sprintf(" All causes sum to %s, but the idle time is %s: the summary does not explain the difference.", unit.Duration(sum), unit.Duration(a.Idle()))
	}
	t.Note = strings.TrimSpace(t.Note)
	return t.WithoutEmpty()
}

// ownerMeaning returns the definition of an owner or a state.
func ownerMeaning(name string) string {
	return map[string]string{
		summary.OwnerHost:        "the CPU had not started the launch call; the state is what its thread did",
		summary.OwnerDependency:  "launched in time, but waited for an event, another stream or a copy",
		summary.OwnerNeighbor:    "another GPU of the same process worked in the meantime",
		summary.OwnerLaunch:      "the launch call was running or had ended at most 20 µs before; long intervals are slow calls, for example first launches",
		summary.OwnerBetween:     "launched in time, started within 20 µs after the previous operation",
		summary.OwnerNothing:     "the profiler started or stopped",
		summary.OwnerNotRecorded: "launched in time, but waited for work that was launched before the capture and is not in it; or in a step whose calls were not recorded",
		summary.OwnerOpaque:      "inside a CUDA graph whose nodes the profiler did not record",
		summary.OwnerUnknown:     "the launch of the next operation is unknown",

		summary.StateSync:       "in a call that waits for the GPU",
		summary.StateCopy:       "in a call that copies or fills memory",
		summary.StateAlloc:      "in a call that allocates or frees GPU memory",
		summary.StateLaunch:     "in a call that launches other work",
		summary.StateCall:       "in another call of the CUDA runtime or driver",
		summary.StateData:       "in a data loader",
		summary.StateCollector:  "in the garbage collector of Python, with everything that it calls",
		summary.StateCollective: "in a collective that the CPU runs (Gloo, MPI, UCC), which includes the wait for other ranks",
		summary.StateOp:         "in an operator, outside CUDA calls",
		summary.StatePython:     "in a Python function, outside operators",
		summary.StateAnnotation: "in an annotated range, with nothing recorded inside",
		summary.StateOS:         "in a call of the operating system or C library: a wait, a lock, a file or a socket",
		summary.StateOff:        "off CPU: blocked outside recorded calls, or preempted",
		summary.StateUnrecorded: "outside everything that was recorded",
	}[name]
}

// ownerWords explains the owners and states of the rows.
func ownerWords(rows []summary.Idle) doc.List {
	states := map[string]bool{}
	for _, r := range rows {
		if r.Owner == summary.OwnerHost {
			states[r.State] = true
		}
	}
	var list doc.List
	for _, o := range view.Owners(rows) {
		it := doc.Item{Mark: view.Owner(o.ID), Text: ownerMeaning(o.ID)}
		if o.ID == summary.OwnerHost {
			for _, state := range summaryStates() {
				if states[state] {
					it.Sub = append(it.Sub, doc.Item{Mark: view.State(state), Text: ownerMeaning(state)})
				}
			}
		}
		if it.Text != "" {
			list = append(list, it)
		}
	}
	return list
}

// summaryStates returns the states in the order in which they are explained.
func summaryStates() []string {
	return []string{
		summary.StateSync, summary.StateCopy, summary.StateAlloc, summary.StateLaunch, summary.StateCall,
		summary.StateData, summary.StateCollector, summary.StateCollective, summary.StateOp, summary.StatePython, summary.StateAnnotation,
		summary.StateOS, summary.StateOff, summary.StateUnrecorded,
	}
}
