package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// The limits of the idle sections.
const (
	idleDevices = 4  // devices whose reasons are listed one by one
	idleReasons = 12 // reasons listed of each
	maxGaps     = 20 // single gaps listed
	gapName     = 44 // columns of the names of the kernels around a gap
)

// An idleSum is idle time of one owner, state and name: a reason, on one device
// or on several.
type idleSum struct {
	owner, state, name string
	ns, count, longest int64
}

// sumIdleByState is sumIdle with one reason for each owner and state; its name
// is that with the most of it.
func sumIdleByState(rows []summary.Idle) []idleSum {
	first := map[[2]string]string{}
	for _, r := range sumIdle(rows) { // largest first
		k := [2]string{r.owner, r.state}
		if _, ok := first[k]; !ok {
			first[k] = r.name
		}
	}
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Name = first[[2]string{rows[i].Owner, rows[i].State}]
	}
	return sumIdle(rows)
}

// sumIdle adds up the reasons of rows and returns them largest first, then in
// the order of owners, then by state and name.
func sumIdle(rows []summary.Idle) []idleSum {
	type key struct{ owner, state, name string }
	index := map[key]int{}
	var out []idleSum
	for _, r := range rows {
		k := key{r.Owner, r.State, r.Name}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, idleSum{owner: r.Owner, state: r.State, name: r.Name})
		}
		sum := &out[i]
		sum.ns = summary.Plus(sum.ns, r.NS)
		sum.count = summary.Plus(sum.count, r.Count)
		sum.longest = max(sum.longest, r.MaxNS)
	}
	slices.SortFunc(out, func(a, b idleSum) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), compareOwners(a.owner, b.owner), cmp.Compare(a.state, b.state), cmp.Compare(a.name, b.name))
	})
	return out
}

// reason says who owned the time and, of the host, what it did.
func (s idleSum) reason() string {
	return reasonText(s.owner, s.state, "")
}

// reasonText names an owner of idle time, its state and what it was in, as far
// as they are known.
func reasonText(owner, state, name string) string {
	var parts []string
	for _, s := range []string{owner, state} {
		if s != "" {
			parts = append(parts, ownerText(s))
		}
	}
	if name != "" {
		parts = append(parts, clip(clean(name), 44))
	}
	return strings.Join(parts, ", ")
}

// ownerText prepares the name of an owner or of a state.
func ownerText(s string) string { return clip(clean(s), 30) }

// compareOwners orders owners as they are shown; those of a later version of
// the schema come last, by name.
func compareOwners(a, b string) int {
	at := func(owner string) int {
		if i := slices.Index(summary.Owners(), owner); i >= 0 {
			return i
		}
		return len(summary.Owners())
	}
	return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b))
}

// A deviceIdle is the idle time of one device and who owned it.
type deviceIdle struct {
	at      int // index of the device
	rows    []summary.Idle
	reasons []idleSum
}

// idleOfDevices returns the devices that have rows of idle time, by falling
// share of idle time in the window, and all rows of theirs. Rows of a device
// that the summary does not list have no window to be a share of and are left
// out.
func idleOfDevices(s *summary.Summary) (devices []deviceIdle, all []summary.Idle) {
	rows := map[deviceKey][]summary.Idle{}
	for _, r := range s.Idle {
		at := deviceKey{r.Input, r.Rank, r.Device}
		rows[at] = append(rows[at], r)
	}
	for i, d := range s.Devices {
		if own := rows[deviceKey{d.Input, d.Rank, d.Device}]; len(own) > 0 {
			devices = append(devices, deviceIdle{i, own, sumIdle(own)})
			all = append(all, own...)
		}
	}
	slices.SortStableFunc(devices, func(a, b deviceIdle) int {
		return cmp.Compare(idleShare(s.Devices[b.at].Activity), idleShare(s.Devices[a.at].Activity))
	})
	return devices, all
}

// idleOwners is who owned the time in which nothing ran.
func (b *builder) idleOwners() Section {
	devices, all := idleOfDevices(b.Summary)
	if len(devices) == 0 {
		return Section{}
	}
	var total summary.Activity
	for _, d := range devices {
		total = total.Plus(b.Devices[d.at].Activity)
	}
	blocks := append([]Block{Paragraph{Text: ownersSentence(total, sumOwners(all), len(devices))}}, b.pictures("idle.png")...)
	if len(devices) > 1 {
		blocks = append(blocks, b.ownerTable(devices, total, all))
	}
	for _, d := range devices[:min(idleDevices, len(devices))] {
		if len(devices) > 1 {
			a := b.Devices[d.at].Activity
			blocks = append(blocks, Paragraph{Text: fmt.Sprintf("%s: %s idle, %s of its window of %s.", b.devices[d.at],
				unit.Duration(a.Idle()), unit.Share(a.Idle(), a.Window()), unit.Duration(a.Window()))})
		}
		blocks = append(blocks, reasonTable(b.Devices[d.at].Activity, d.reasons))
	}
	if n := len(devices) - idleDevices; n > 0 {
		blocks = append(blocks, Paragraph{Text: "The reasons of " + plural(int64(n), "more device") + " are in the JSON."})
	}
	return Section{Title: "Idle time by owner", Blocks: append(blocks, ownerWords(all))}
}

// sumOwners adds up rows by owner, in the order of owners.
func sumOwners(rows []summary.Idle) []idleSum {
	var plain []summary.Idle
	for _, r := range rows {
		r.State, r.Name = "", ""
		plain = append(plain, r)
	}
	sums := sumIdle(plain)
	slices.SortFunc(sums, func(a, b idleSum) int { return compareOwners(a.owner, b.owner) })
	return sums
}

func ownersSentence(total summary.Activity, owners []idleSum, devices int) string {
	text := fmt.Sprintf("Of %s of idle time, %s of the window", unit.Duration(total.Idle()), unit.Share(total.Idle(), total.Window()))
	if devices > 1 {
		text += fmt.Sprintf("s of %d devices", devices)
	}
	slices.SortStableFunc(owners, func(a, b idleSum) int { return cmp.Compare(b.ns, a.ns) })
	for i, o := range owners {
		join := ", "
		if i > 0 && i == len(owners)-1 {
			join = " and "
		}
		text += fmt.Sprintf("%s%s (%s) is %s", join, unit.Duration(o.ns), unit.Share(o.ns, total.Idle()), ownerText(o.owner))
	}
	return text + "."
}

// ownerTable has a row for each device, the worst first, and a column for each
// owner that any has.
func (b *builder) ownerTable(devices []deviceIdle, total summary.Activity, all []summary.Idle) Table {
	owners := sumOwners(all)
	scale := scaleOf(total.Idle())
	t := Table{Title: "devices", Columns: []Column{{"device", Text}, {scale.head("idle"), Number}, {"share of window", Number}}}
	for _, o := range owners {
		t.Columns = append(t.Columns, Column{scale.head(ownerText(o.owner)), Number}, Column{"share", Number})
	}
	row := func(label string, a summary.Activity, rows []summary.Idle) {
		cells := []string{label, scale.text(a.Idle()), unit.Share(a.Idle(), a.Window())}
		of := map[string]int64{}
		for _, o := range sumOwners(rows) {
			of[o.owner] = o.ns
		}
		for _, o := range owners {
			cells = append(cells, scale.text(of[o.owner]), unit.Share(of[o.owner], a.Idle()))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	row(fmt.Sprintf("all %d", len(devices)), total, all)
	for _, d := range devices {
		row(b.devices[d.at], b.Devices[d.at].Activity, d.rows)
	}
	t.Note = "Devices are in the order of the share of idle time in their windows. The shares behind the owners are of the idle time, to which they sum."
	return t.cut(maxDevices + 1)
}

// reasonTable lists the reasons of one device.
func reasonTable(a summary.Activity, reasons []idleSum) Table {
	sum, times, longest := int64(0), []int64{}, []int64{}
	for _, r := range reasons {
		sum = summary.Plus(sum, r.ns)
		times, longest = append(times, r.ns), append(longest, r.longest)
	}
	scale, most := scaleOf(times...), scaleOf(longest...)
	t := Table{Title: "reasons", More: Rest{Total: a.Idle(), Of: "idle time"}, Columns: []Column{
		{"owner", Text}, {"state", Text}, {"in", Name}, {scale.head("idle"), Number}, {"share of idle", Number}, {"share of window", Number},
		{"pieces", Number}, {most.head("longest"), Number},
	}}
	for _, r := range reasons {
		t.Rows = append(t.Rows, Row{Weight: r.ns, Cells: []string{
			ownerText(r.owner), ownerText(r.state), r.name, scale.text(r.ns), unit.Share(r.ns, a.Idle()), unit.Share(r.ns, a.Window()),
			unit.Count(r.count), most.text(r.longest),
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
	for _, o := range sumOwners(rows) {
		it := Item{Mark: ownerText(o.owner), Text: ownerMeaning(o.owner)}
		if o.owner == summary.OwnerHost {
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
