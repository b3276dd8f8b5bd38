package tracegen

import (
	"cmp"
	"slices"
	"strings"
)

// Cells has, for each set of classes, the nanoseconds during which exactly that
// set ran. The key is the sorted names of the classes joined by "+"; "" is idle
// time. Cells that would be zero are left out, and the cells of a window sum to
// its length.
type Cells map[string]int64

func (c Cells) add(set string, ns int64) {
	if ns > 0 {
		c[set] += ns
	}
}

// Sum returns the sum of all cells, in nanoseconds.
func (c Cells) Sum() (ns int64) {
	for _, n := range c {
		ns += n
	}
	return ns
}

// A Truth is what a correct reader must find in a generated trace. All times
// are those written in the file, in nanoseconds: in a trace of the [Modern] era
// they are relative to BaseNS.
type Truth struct {
	Rank    int
	BaseNS  int64 // nanoseconds since 1970 at time 0; 0 if times are absolute
	Events  int64 // elements of traceEvents, of all phases
	Devices []DeviceTruth
	Steps   []Step // as marked by the host, in order
}

// A DeviceTruth is the truth about one device. Its window lasts from the start
// of its first kernel, copy or memset to the latest end of one.
type DeviceTruth struct {
	Device   int
	StartNS  int64
	WindowNS int64
	Cells    Cells // sum to WindowNS

	Kernels, Copies, Memsets []Row // sorted by stream, then name

	// Steps has the cells within the marker of each step of Truth.Steps. They
	// sum to that step's WallNS, also if the marker extends beyond the window.
	Steps []Cells
}

// A Row counts the events of one stream that have one name.
type Row struct {
	Stream                int
	Name                  string
	Count                 int64
	TotalNS, MinNS, MaxNS int64 // of the events' durations
	Bytes                 int64 // moved or filled in total, as far as the trace contains it; 0 for kernels
}

// A Step is one ProfilerStep marker of the host.
type Step struct {
	Name    string
	StartNS int64
	WallNS  int64
}

// A tally collects the truth about one device while its segments are laid out
// one after the other.
type tally struct {
	device  int
	started bool
	start   int64
	end     int64 // of the last segment in which something ran
	idle    int64 // idle time since then, added only when something runs again
	cells   Cells
	rows    [Memset + 1]map[rowKey]*Row

	steps []Cells
	carry Cells // work after the end of the newest step's plan, which belongs to the next step's marker
}

type rowKey struct {
	stream int
	name   string
}

func newTally(device int) *tally {
	t := &tally{device: device, cells: Cells{}, carry: Cells{}}
	for i := range t.rows {
		t.rows[i] = map[rowKey]*Row{}
	}
	return t
}

// segment adds a segment during which exactly the classes of set ran. A segment
// of length 0 is permitted: an event without duration bounds the window.
func (t *tally) segment(start, ns int64, set string) {
	if set == "" {
		t.idle += ns
		return
	}
	if !t.started {
		t.started, t.start, t.idle = true, start, 0
	}
	t.cells.add("", t.idle)
	t.cells.add(set, ns)
	t.idle, t.end = 0, start+ns
}

// step begins a step, which includes the work carried over from the step
// before.
func (t *tally) step() {
	t.steps = append(t.steps, t.carry)
	t.carry = Cells{}
}

// stepSegment adds a segment to the newest step's marker [start, end). The part
// after next, the start of the following step, is added to that step.
func (t *tally) stepSegment(from, ns int64, set string, end, next int64) {
	to := from + ns
	t.steps[len(t.steps)-1].add(set, min(to, end)-from)
	t.carry.add(set, to-max(from, next))
}

// event adds one device event to its row.
func (t *tally) event(op *Op, dur, bytes int64) {
	kind := op.Kind
	if kind == Comm {
		kind = Compute // both are kernels
	}
	key := rowKey{op.Stream, op.Name}
	row := t.rows[kind][key]
	if row == nil {
		row = &Row{Stream: op.Stream, Name: op.Name, MinNS: dur, MaxNS: dur}
		t.rows[kind][key] = row
	}
	row.Count++
	row.TotalNS += dur
	row.MinNS, row.MaxNS = min(row.MinNS, dur), max(row.MaxNS, dur)
	row.Bytes += bytes
}

func (t *tally) truth() DeviceTruth {
	return DeviceTruth{
		Device: t.device, StartNS: t.start, WindowNS: t.end - t.start, Cells: t.cells,
		Kernels: sortedRows(t.rows[Compute]), Copies: sortedRows(t.rows[Copy]), Memsets: sortedRows(t.rows[Memset]),
		Steps: t.steps,
	}
}

func sortedRows(rows map[rowKey]*Row) (out []Row) {
	for _, r := range rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), strings.Compare(a.Name, b.Name))
	})
	return out
}
