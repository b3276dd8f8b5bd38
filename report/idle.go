package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of the idle sections.
const (
	idleDevices = 4  // devices whose reasons are listed one by one
	idleReasons = 12 // reasons listed of each
	maxGaps     = 20 // single gaps listed
	gapName     = 44 // columns of the names of the kernels around a gap
)

// idleOwners is who owned the time in which nothing ran.
func (b *builder) idleOwners() Section {
	devices, all := view.IdleOfDevices(b.Summary)
	if len(devices) == 0 {
		return Section{}
	}
	var total summary.Activity
	for _, d := range devices {
		total = total.Plus(b.Devices[d.At].Activity)
	}
	blocks := append([]Block{Paragraph{Text: ownersSentence(total, view.SumOwners(all), len(devices))}}, b.pictures("idle.png")...)
	if len(devices) > 1 {
		blocks = append(blocks, b.ownerTable(devices, total, all))
	}
	for _, d := range devices[:min(idleDevices, len(devices))] {
		if len(devices) > 1 {
			a := b.Devices[d.At].Activity
			blocks = append(blocks, Paragraph{Text: fmt.Sprintf("%s: %s idle, %s of its window of %s.", b.devices[d.At],
				unit.Duration(a.Idle()), unit.Share(a.Idle(), a.Window()), unit.Duration(a.Window()))})
		}
		blocks = append(blocks, reasonTable(b.Devices[d.At].Activity, d.Reasons))
	}
	if n := len(devices) - idleDevices; n > 0 {
		blocks = append(blocks, Paragraph{Text: "The reasons of " + plural(int64(n), "more device") + " are in the JSON."})
	}
	return Section{Title: "Idle time by owner", Blocks: append(blocks, ownerWords(all))}
}

func ownersSentence(total summary.Activity, owners []view.Idle, devices int) string {
	text := fmt.Sprintf("Of %s of idle time, %s of the window", unit.Duration(total.Idle()), unit.Share(total.Idle(), total.Window()))
	if devices > 1 {
		text += fmt.Sprintf("s of %d devices", devices)
	}
	slices.SortStableFunc(owners, func(a, b view.Idle) int { return cmp.Compare(b.NS, a.NS) })
	for i, o := range owners {
		join := ", "
		if i > 0 && i == len(owners)-1 {
			join = " and "
		}
		text += fmt.Sprintf("%s%s (%s) is %s", join, unit.Duration(o.NS), unit.Share(o.NS, total.Idle()), view.OwnerText(o.Owner))
	}
	return text + "."
}

// ownerTable has a row for each device, the worst first, and a column for each
// owner that any has.
func (b *builder) ownerTable(devices []view.DeviceIdle, total summary.Activity, all []summary.Idle) Table {
	owners := view.SumOwners(all)
	scale := scaleOf(total.Idle())
	t := Table{Title: "devices", Columns: []Column{{"device", Text}, {scale.head("idle"), Number}, {"share of window", Number}}}
	for _, o := range owners {
		t.Columns = append(t.Columns, Column{scale.head(view.OwnerText(o.Owner)), Number}, Column{"share", Number})
	}
	row := func(label string, a summary.Activity, rows []summary.Idle) {
		cells := []string{label, scale.text(a.Idle()), unit.Share(a.Idle(), a.Window())}
		of := map[string]int64{}
		for _, o := range view.SumOwners(rows) {
			of[o.Owner] = o.NS
		}
		for _, o := range owners {
			cells = append(cells, scale.text(of[o.Owner]), unit.Share(of[o.Owner], a.Idle()))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	row(fmt.Sprintf("all %d", len(devices)), total, all)
	for _, d := range devices {
		row(b.devices[d.At], b.Devices[d.At].Activity, d.Rows)
	}
	t.Note = "Devices are in the order of the share of idle time in their windows. The shares behind the owners are of the idle time, to which they sum."
	return t.cut(maxDevices + 1)
}

// reasonTable lists the reasons of one device.
func reasonTable(a summary.Activity, reasons []view.Idle) Table {
	sum, times, longest := int64(0), []int64{}, []int64{}
	for _, r := range reasons {
		sum = summary.Plus(sum, r.NS)
		times, longest = append(times, r.NS), append(longest, r.Longest)
	}
	scale, most := scaleOf(times...), scaleOf(longest...)
	t := Table{Title: "reasons", More: Rest{Total: a.Idle(), Of: "idle time"}, Columns: []Column{
		{"owner", Text}, {"state", Text}, {"in", Name}, {scale.head("idle"), Number}, {"share of idle", Number}, {"share of window", Number},
		{"pieces", Number}, {most.head("longest"), Number},
	}}
	for _, r := range reasons {
		t.Rows = append(t.Rows, Row{Weight: r.NS, Cells: []string{
			view.OwnerText(r.Owner), view.OwnerText(r.State), r.Name, scale.text(r.NS), unit.Share(r.NS, a.Idle()), unit.Share(r.NS, a.Window()),
			unit.Count(r.Count), most.text(r.Longest),
		}})
	}
	t = t.cut(idleReasons)
	if t.More.Rows > 0 {
		t.Note = fmt.Sprintf("The reasons that are not shown have %s together.", unit.Duration(t.More.Weight))
	}
	if sum != a.Idle() {
		t.Note += fmt.Sprintf(" All reasons sum to %s, and the idle time is %s: the summary does not account for the difference.", unit.Duration(sum), unit.Duration(a.Idle()))
	}
	t.Note = strings.TrimSpace(t.Note)
	return t.withoutEmpty()
}

// ownerMeaning says what each owner and each state is.
func ownerMeaning(name string) string {
	return map[string]string{
		summary.OwnerHost:       "the host had not begun to launch what ran next; the state says what its thread did instead",
		summary.OwnerDependency: "the work was launched in time and waited for an event, another stream or a copy",
		summary.OwnerLaunch:     "the call that launched it had begun, or was over for at most 20 µs; long pieces are calls that took long, as first launches do",
		summary.OwnerBetween:    "it was launched in time, and began within 20 µs of the end of what ran before: what a device takes from one kernel to the next",
		summary.OwnerNothing:    "nothing was to be run: the profiler was starting or stopping",
		summary.OwnerOpaque:     "inside a graph whose nodes the profiler did not record",
		summary.OwnerUnknown:    "it is not known what launched the work that ran next",

		summary.StateSync:       "in a call that waits for the device",
		summary.StateCopy:       "in a call that copies or fills memory",
		summary.StateAlloc:      "in a call that takes or returns memory",
		summary.StateLaunch:     "in a call that launches other work",
		summary.StateCall:       "in another call of the runtime or driver",
		summary.StateData:       "in a data loader",
		summary.StateOp:         "in an operator, outside of any call",
		summary.StatePython:     "in a Python function, outside of any operator",
		summary.StateAnnotation: "in an annotation, with nothing else recorded",
		summary.StateOS:         "in a call of the operating system or C library: a wait, a lock, a file or socket",
		summary.StateOff:        "on no core: it waited in something that was not recorded, or others had the cores",
		summary.StateUnrecorded: "in nothing that was recorded",
	}[name]
}

// ownerWords explains the owners and states that rows have.
func ownerWords(rows []summary.Idle) List {
	states := map[string]bool{}
	for _, r := range rows {
		if r.Owner == summary.OwnerHost {
			states[r.State] = true
		}
	}
	var list List
	for _, o := range view.SumOwners(rows) {
		it := Item{Mark: view.OwnerText(o.Owner), Text: ownerMeaning(o.Owner)}
		if o.Owner == summary.OwnerHost {
			for _, state := range summaryStates() {
				if states[state] {
					it.Sub = append(it.Sub, Item{Mark: state, Text: ownerMeaning(state)})
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
		summary.StateData, summary.StateOp, summary.StatePython, summary.StateAnnotation,
		summary.StateOS, summary.StateOff, summary.StateUnrecorded,
	}
}
