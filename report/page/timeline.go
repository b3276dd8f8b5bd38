package page

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"assay/judge/timeline"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// A device is the timeline of one GPU. Times are in ns since the start of its window.
type device struct {
	Label  string `json:"label"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Input  string `json:"input"` // path
	Start  string `json:"start"` // start of the window on its input's clock; text, because a float64 is not exact
	Window int64  `json:"window"`
	At     int64  `json:"at"` // start of the window on the clock of the page

	Bin    int64     `json:"bin"`
	Cells  [4]string `json:"cells"`           // compute, exposed comm, exposed copies, overlapped: see levels
	Queue  []int64   `json:"queue,omitempty"` // mean length in hundredths
	Memory []int64   `json:"memory,omitempty"`

	Steps  *steps  `json:"steps,omitempty"`
	Phases *phases `json:"phases,omitempty"`
	Lanes  []lane  `json:"lanes,omitempty"`
	Gaps   *gaps   `json:"gaps,omitempty"`
	Host   *host   `json:"host,omitempty"`
	Path   *path   `json:"path,omitempty"`

	Focus  *focus `json:"focus,omitempty"` // parts with all operations; absent if the whole window has them
	Left   int64  `json:"left,omitempty"`  // operations that lanes leave out
	LeftNS int64  `json:"leftNS,omitempty"`
}

// spans are intervals by start, stored by column. Each At is the distance from the end of the previous
// interval, because gaps between operations are small and similar and compress well.
type spans struct {
	At []int64 `json:"at"`
	NS []int64 `json:"ns"`

	end int64
}

func (s *spans) add(at, ns int64) {
	s.At, s.NS = append(s.At, at-s.end), append(s.NS, ns)
	s.end = at + ns
}

type steps struct {
	spans
	Name  []int      `json:"name"`
	Parts [4][]int64 `json:"parts"` // the parts of a Budget
	State []string   `json:"state"` // why a step is excluded, or ""
}

type phases struct {
	spans
	Name  []int   `json:"name"`
	Depth []int32 `json:"depth"`
}

type lane struct {
	Stream int64 `json:"stream"`
	spans
	Name  []int  `json:"name"`
	Class string `json:"class"` // a digit per span: 0 compute, 1 comm, 2 copies
}

type gaps struct {
	spans
	Cause []int `json:"cause"` // names
	Name  []int `json:"name"`  // names, or -1
	After []int `json:"after"`
	Until []int `json:"until"`
}

type host struct {
	spans
	Kind []int `json:"kind"` // names
	Name []int `json:"name"` // names, or -1
}

type focus struct {
	spans
	Why []string `json:"why"`
}

// A Target is where a finding can be seen, as its rule states it.
type Target struct {
	Label string `json:"label"`

	Key     *summary.GPU `json:"-"`
	StartNS *int64       `json:"-"` // on the clock of the input
	Length  int64        `json:"-"`

	Device int   `json:"device"` // index of the device, or -1
	AtNS   int64 `json:"at"`     // on the clock of the page
	NS     int64 `json:"ns"`     // 0 if the place has no time
	// Table and Query find the row of a table, if the place has no time.
	Table string `json:"table,omitempty"`
	Query string `json:"query,omitempty"`
}

// timelines has the devices of a page.
type timelines struct {
	devices []device
	aligned string
	at      map[summary.GPU]int // index into devices
	starts  []int64             // of the windows, for devices
}

// newTimelines builds the devices from the details of a summary, ordered by rank and device.
func newTimelines(s *summary.Summary, states []timeline.StepState, n *names) *timelines {
	t := &timelines{at: map[summary.GPU]int{}}
	labels := map[summary.GPU]string{}
	for i, l := range view.DeviceLabels(s) {
		labels[summary.GPU{Input: s.Devices[i].Input, Rank: s.Devices[i].Rank, Device: s.Devices[i].Device}] = l
	}
	details := make([]*summary.Detail, len(s.Details))
	for i := range s.Details {
		details[i] = &s.Details[i]
	}
	// Inputs are in the order of their paths, in which rank 10 may come before rank 2.
	slices.SortStableFunc(details, func(a, b *summary.Detail) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Input, b.Input), cmp.Compare(a.Device, b.Device))
	})
	at, aligned := align(details)
	t.aligned = aligned
	byDevice := stepsByDevice(s)
	for i, d := range details {
		key := summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}
		t.at[key] = len(t.devices)
		t.starts = append(t.starts, d.StartNS)
		out := deviceOf(d, n)
		out.Label, out.Input, out.At = labels[key], visible(s.Inputs[d.Input].Path), at[i]
		out.Steps = stepsOf(s, states, byDevice[key], d, n)
		out.Path = pathOf(d, details, n)
		t.devices = append(t.devices, out)
	}
	return t
}

// mostSpread is the maximum time that all windows together may span, as a multiple of the longest window.
// If clocks differ more, they are not used, because the timeline would be almost empty.
const mostSpread = 4

// align returns the start of each window on a common clock, from 0, and how the clocks were aligned.
// Windows of inputs with unknown clocks all start at 0.
func align(details []*summary.Detail) (at []int64, how string) {
	at = make([]int64, len(details))
	if len(details) < 2 {
		return at, ""
	}
	known, from := true, ""
	for _, d := range details {
		if d.Input != details[0].Input {
			from = cmp.Or(from, d.OffsetFrom, details[0].OffsetFrom)
			known = known && d.OffsetFrom != "" && details[0].OffsetFrom != ""
		}
	}
	first, last, longest := int64(math.MaxInt64), int64(math.MinInt64), int64(0)
	for i, d := range details {
		at[i] = d.StartNS + d.OffsetNS
		first, last, longest = min(first, at[i]), max(last, at[i]+d.WindowNS), max(longest, d.WindowNS)
	}
	if known && (last-first)/mostSpread <= longest {
		for i := range at {
			at[i] -= first
		}
		switch from {
		case "collectives":
			return at, "Clocks are aligned by the ends of collectives."
		case "capture":
			return at, "Clocks are aligned by the base time of the captures."
		}
		return at, ""
	}
	starts := map[int]int64{}
	for _, d := range details {
		if start, ok := starts[d.Input]; !ok || d.StartNS < start {
			starts[d.Input] = d.StartNS
		}
	}
	for i, d := range details {
		at[i] = d.StartNS - starts[d.Input]
	}
	return at, "The clocks of the captures are not known, so windows are aligned by their starts."
}

// deviceOf converts a detail.
func deviceOf(d *summary.Detail, n *names) device {
	out := device{
		Rank: d.Rank, Device: d.Device, Start: strconv.FormatInt(d.StartNS, 10), Window: d.WindowNS,
		Bin: d.Cells.BinNS, Queue: hundredths(d.Cells.Queue), Memory: d.Cells.MemoryBytes, Left: d.SpansLeft, LeftNS: d.SpansLeftNS,
	}
	for i, ns := range [][]int64{d.Cells.Compute, d.Cells.Comm, d.Cells.Copy, d.Cells.Hidden} {
		out.Cells[i] = levels(ns, d.Cells.BinNS)
	}
	// Names of a detail are added to the page when they are first used, so that names that nothing
	// refers to are not in the file.
	name := func(i int32, of func(string) int) int {
		if i < 0 || int(i) >= len(d.Names) {
			return -1
		}
		return of(d.Names[i])
	}
	for _, l := range d.Lanes {
		to := lane{Stream: l.Stream}
		class := make([]byte, 0, len(l.Spans))
		for _, s := range l.Spans {
			to.add(s.AtNS, s.NS)
			to.Name = append(to.Name, name(s.Name, n.kernel))
			class = append(class, classDigit(s.Class))
		}
		to.Class = string(class)
		out.Lanes = append(out.Lanes, to)
	}
	if len(d.Phases) > 0 {
		out.Phases = &phases{}
		for _, p := range d.Phases {
			out.Phases.add(p.AtNS, p.NS)
			out.Phases.Name, out.Phases.Depth = append(out.Phases.Name, name(p.Name, n.number)), append(out.Phases.Depth, p.Depth)
		}
	}
	if len(d.Gaps) > 0 {
		out.Gaps = &gaps{}
		for _, g := range d.Gaps {
			out.Gaps.add(g.AtNS, g.NS)
			out.Gaps.Cause = append(out.Gaps.Cause, n.number(words.Cause(g.Owner, g.State, "")))
			out.Gaps.Name = append(out.Gaps.Name, name(g.Name, n.number))
			out.Gaps.After, out.Gaps.Until = append(out.Gaps.After, name(g.After, n.kernel)), append(out.Gaps.Until, name(g.Until, n.kernel))
		}
	}
	if len(d.Host) > 0 {
		out.Host = &host{}
		for _, h := range d.Host {
			out.Host.add(h.AtNS, h.NS)
			out.Host.Kind, out.Host.Name = append(out.Host.Kind, n.number(h.Kind)), append(out.Host.Name, name(h.Name, n.number))
		}
	}
	if d.Focus != nil {
		out.Focus = &focus{spans: spans{At: []int64{}, NS: []int64{}}, Why: []string{}}
		for _, f := range d.Focus {
			out.Focus.add(f.AtNS, f.NS)
			out.Focus.Why = append(out.Focus.Why, f.Why)
		}
	}
	return out
}

// classDigit returns the digit of a class: compute, communication, or copies and memsets.
func classDigit(class summary.Class) byte {
	switch class {
	case summary.ClassCompute:
		return '0'
	case summary.ClassComm:
		return '1'
	}
	return '2'
}

// Cells are written as one printable character each: levels of a bin, from '#' on, without
// the backslash.
const (
	cellLevels = 90
	firstCell  = '#'
)

// levels returns the shares of bins as characters. The rounding error is carried to the next bin, so that
// sums over many bins are exact to half a level.
func levels(ns []int64, bin int64) string {
	out := make([]byte, len(ns))
	carry := 0.0
	for i, v := range ns {
		exact := carry
		if bin > 0 {
			exact += float64(v) / float64(bin) * cellLevels
		}
		level := min(max(math.Round(exact), 0), cellLevels)
		carry = exact - level
		c := byte(firstCell + int(level))
		if c >= '\\' {
			c++
		}
		out[i] = c
	}
	return string(out)
}

// hundredths converts thousandths to hundredths, because a curve cannot show more.
func hundredths(list []int64) []int64 {
	if list == nil {
		return nil
	}
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = (v + 5) / 10
	}
	return out
}

// stepsByDevice returns the indexes of the steps of each device, by start.
func stepsByDevice(s *summary.Summary) map[summary.GPU][]int {
	out := map[summary.GPU][]int{}
	for i, st := range s.Steps {
		if st.Source != summary.SourceLog {
			key := summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}
			out[key] = append(out[key], i)
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(s.Steps[a].StartNS, s.Steps[b].StartNS) })
	}
	return out
}

func stepsOf(s *summary.Summary, states []timeline.StepState, list []int, d *summary.Detail, n *names) *steps {
	if len(list) == 0 {
		return nil
	}
	out := &steps{}
	for _, i := range list {
		st := &s.Steps[i]
		out.add(st.StartNS-d.StartNS, st.WallNS)
		out.Name = append(out.Name, n.number(st.Name))
		for k, ns := range parts(st.Activity) {
			out.Parts[k] = append(out.Parts[k], ns)
		}
		state := ""
		if i < len(states) && states[i] != timeline.StepSteady {
			state = words.Step(states[i])
		}
		out.State = append(out.State, state)
	}
	return out
}

// parts returns the four parts of an activity, in the order of a [Budget].
func parts(a summary.Activity) [4]int64 {
	return [4]int64{a.Compute(), a.ExposedComm(), a.ExposedCopy(), a.Idle()}
}

// placed returns findings with the places that are on a timeline. Other places are left out unless a table
// has them.
func (t *timelines) placed(list []Finding, tables []table) []Finding {
	has := map[string]bool{}
	for _, table := range tables {
		has[table.ID] = true
	}
	out := slices.Clone(list)
	for i := range out {
		places := out[i].Places
		out[i].Places = nil
		for _, p := range places {
			p.Device = -1
			if d, ok := t.find(p.Key); ok && p.StartNS != nil {
				into := *p.StartNS - t.starts[d]
				if into < t.devices[d].Window && into+p.Length >= 0 {
					p.Device, p.AtNS, p.NS = d, t.devices[d].At+into, max(1, p.Length)
				}
			}
			if p.Device >= 0 || has[p.Table] {
				out[i].Places = append(out[i].Places, p)
			}
		}
	}
	return out
}

func (t *timelines) find(key *summary.GPU) (int, bool) {
	if key == nil {
		return 0, false
	}
	i, ok := t.at[*key]
	return i, ok
}
