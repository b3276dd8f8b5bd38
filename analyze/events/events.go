// Package events shows the single events of a trace as one table: GPU work, calls, operators, annotations and, where
// they are asked for, Python functions. Rows are made one after another, so the table takes no memory besides that of
// the trace.
package events

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"assay/analyze"
	"assay/analyze/attribute"
	"assay/analyze/classify"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/redact"
	"assay/internal/tabular"
	"assay/summary"
	"assay/trace"
)

// Name and Says describe the table.
const (
	Name = "events"
	Says = "single events of the traces: kernels, copies, calls, operators, annotations, with --python also Python functions"
)

// A Source is the trace of one input.
type Source struct {
	Trace       *trace.Trace
	Input, Rank int
	Options     analyze.Options
	Python      bool // include Python functions and modules
}

// An event is one row. The zero value of what is not known is null.
type event struct {
	input, rank                       int
	kind, name, class, category       string
	process, thread                   string
	operator, module, note, pass      string
	phase, stepName                   string
	start, dur                        int64
	device, stream, bytes, graph      int64
	step, launchStart, launchDur      int64
	correlation, external             trace.ID
	onDevice, launched, inStep, moved bool
	graphed                           bool
}

// A column is a column with what sets its cells.
type column struct {
	tabular.Column
	fill func(*event, *tabular.Cell)
}

// columns is the list of columns: each has its type, its meaning and its value. It is made when it is first used, so
// that other commands do not start later.
var columns = sync.OnceValue(func() []column {
	return []column{
		number("input", "", "key", "index of the file in the table inputs", func(e *event) int64 { return int64(e.input) }),
		number("rank", "", "key", "rank of the process in its job", func(e *event) int64 { return int64(e.rank) }),
		text("kind", "key", "kernel, memcpy, memset; call, operator, annotation, python, sync, or span for all else", false, func(e *event) string { return e.kind }),
		text("name", "key", "name of the kernel, call, operator or range", false, func(e *event) string { return e.name }),
		text("class", "key", "of GPU work: compute, comm, copy or memset", true, func(e *event) string { return e.class }),
		text("category", "key", "of kernels: gemm, attention, ...; of calls: launch, sync, ...; of spans: as the trace has it", true, func(e *event) string { return e.category }),
		maybe("device", "", "key", "the GPU", func(e *event) (int64, bool) { return e.device, e.onDevice }),
		maybe("stream", "", "key", "the stream of the GPU", func(e *event) (int64, bool) { return e.stream, e.onDevice }),
		text("process", "key", "process of a host event, as the trace numbers it", true, func(e *event) string { return e.process }),
		text("thread", "key", "thread of a host event, as the trace numbers it", true, func(e *event) string { return e.thread }),
		number("start_ns", "ns", "", "start on the clock of the input", func(e *event) int64 { return e.start }),
		number("dur_ns", "ns", "sum", "duration", func(e *event) int64 { return e.dur }),
		maybe("launch_start_ns", "ns", "", "of GPU work: start of the call that launched it", func(e *event) (int64, bool) { return e.launchStart, e.launched }),
		maybe("launch_dur_ns", "ns", "", "of GPU work: duration of the call that launched it", func(e *event) (int64, bool) { return e.launchDur, e.launched }),
		text("operator", "key", "of GPU work: the operator that launched it", true, func(e *event) string { return e.operator }),
		text("module", "key", "of GPU work: the module that launched it", true, func(e *event) string { return e.module }),
		text("range", "key", "of GPU work: the innermost annotation around the launch", true, func(e *event) string { return e.note }),
		text("pass", "key", "of GPU work: forward, backward, recompute, optimizer, other or unknown", true, func(e *event) string { return e.pass }),
		maybe("step", "", "key", "number of the step, of GPU work on its device and of other events on the host", func(e *event) (int64, bool) { return e.step, e.inStep }),
		text("step_name", "key", "name of the step", true, func(e *event) string { return e.stepName }),
		text("phase", "key", "phase in which the event began, inner phases after outer ones", true, func(e *event) string { return e.phase }),
		maybe("correlation", "", "", "number that a call shares with the GPU work that it launched", func(e *event) (int64, bool) { return int64(e.correlation), e.correlation != 0 }),
		maybe("external", "", "", "number that an operator shares with its calls and GPU work", func(e *event) (int64, bool) { return int64(e.external), e.external != 0 }),
		maybe("bytes", "bytes", "sum", "of copies and memsets: bytes moved or set", func(e *event) (int64, bool) { return e.bytes, e.moved }),
		maybe("graph", "", "key", "of GPU work: number of the CUDA graph that it belongs to", func(e *event) (int64, bool) { return e.graph, e.graphed }),
	}
})

func number(name, unit, role, says string, value func(*event) int64) column {
	return column{tabular.Column{Name: name, Type: tabular.Int, Unit: unit, Role: role, Says: says}, func(e *event, c *tabular.Cell) {
		c.Known, c.Int = true, value(e)
	}}
}

func maybe(name, unit, role, says string, value func(*event) (int64, bool)) column {
	return column{tabular.Column{Name: name, Type: tabular.Int, Optional: true, Unit: unit, Role: role, Says: says}, func(e *event, c *tabular.Cell) {
		c.Int, c.Known = value(e)
	}}
}

func text(name, role, says string, optional bool, value func(*event) string) column {
	return column{tabular.Column{Name: name, Optional: optional, Role: role, Says: says}, func(e *event, c *tabular.Cell) {
		c.Text = value(e)
		c.Known = c.Text != "" || !optional
	}}
}

// Columns returns the columns of the table.
func Columns() (out []tabular.Column) {
	for _, c := range columns() {
		out = append(out, c.Column)
	}
	return out
}

// Means returns the means of sums of rows.
func Means() []tabular.Mean { return []tabular.Mean{{Name: "mean_ns", Over: "dur_ns", Under: "rows"}} }

// Each calls yield with every event of a source until it returns false, and reports whether it never did: GPU work by
// device and start, then calls, operators, other ranges and Python functions, each as in the trace. The cells are valid
// until yield returns.
func (s Source) Each(yield func([]tabular.Cell) bool) bool {
	w := newWalk(s, yield)
	return w.gpuWork() && w.hostEvents()
}

// A walk is the walk over the events of a source.
type walk struct {
	Source
	t      *trace.Trace
	tl     *gpu.Timeline
	a      *attribute.Attribution
	marks  []steps.Mark
	phases *steps.Phases
	done   []*steps.Completion // by index of the device
	rows   map[int64][]summary.Step

	hostPhases *stretches
	kinds      map[trace.Sym]string // of calls
	functions  map[trace.Sym]string // names of Python functions
	columns    []column
	yield      func([]tabular.Cell) bool
	cells      []tabular.Cell
}

func newWalk(s Source, yield func([]tabular.Cell) bool) *walk {
	var unused diag.Ledger // the summary has the issues
	w := &walk{Source: s, t: s.Trace, columns: columns(), yield: yield, cells: make([]tabular.Cell, len(columns())), kinds: map[trace.Sym]string{}, functions: map[trace.Sym]string{}, rows: map[int64][]summary.Step{}}
	w.tl = gpu.NewTimeline(w.t, s.Options.Rules, &unused)
	if faults := w.tl.Faults(); !faults.None() {
		w.t = gpu.Mend(w.t, faults)
		w.tl = gpu.NewTimeline(w.t, s.Options.Rules, &unused)
	}
	words := steps.NewVocabulary(w.t, s.Options.Phases)
	w.marks, w.phases = steps.MarksOf(words, &unused), steps.PhasesOf(words)
	w.a = attribute.Work(w.tl, attribute.HostOf(w.t), w.marks, attribute.Options{Rows: limits.MaxRows, Passes: true})
	w.done = steps.Completions(w.tl, w.a.Links, w.phases.Found())
	for _, r := range analyze.Steps(w.t, s.Rank, s.Options) {
		w.rows[r.Device] = append(w.rows[r.Device], r)
	}
	for _, rows := range w.rows {
		slices.SortStableFunc(rows, func(a, b summary.Step) int { return cmp.Compare(a.StartNS, b.StartNS) })
	}
	var runs []run
	for _, r := range w.phases.Runs() {
		runs = append(runs, run{r.Span, r.Path})
	}
	w.hostPhases = flatten(runs)
	return w
}

// gpuWork yields the work of all devices.
func (w *walk) gpuWork() bool {
	bytes, coll := gpu.CopyBytes(w.t), analyze.CollectiveOf(w.tl, w.a.Links)
	sites := map[attribute.SiteID]attribute.Site{}
	for i, d := range w.tl.Devices {
		phases := w.onDevice(i)
		rank, ok := w.t.Meta.DeviceRanks[d.Ordinal]
		if !ok {
			rank = w.Rank
		}
		for _, work := range d.Work {
			if !w.tl.Starts(work) {
				continue
			}
			a := w.tl.Activity(work)
			e := event{input: w.Input, rank: rank, name: w.t.Name(a.Name), start: a.Start, dur: a.Dur, onDevice: true, device: d.Ordinal,
				stream: w.t.Tracks[a.Track].Stream, correlation: a.Correlation, external: a.External, phase: phases.at(a.Start)}
			w.classify(&e, a, coll, int(work.Number))
			if e.kind != "kernel" {
				e.bytes, e.moved = bytes(a)
			}
			if g := w.t.Detail(a.Detail).GraphID; g >= 0 {
				e.graph, e.graphed = g, true
			}
			if id, ok := w.a.SiteID(int(work.Number)); ok {
				site, known := sites[id]
				if !known {
					site = w.a.Site(id)
					sites[id] = site
				}
				e.operator, e.module, e.note, e.pass = site.Op, site.Module, site.Range, site.Pass
				link := w.a.Links.Time(w.a.Links.Of[work.Number])
				e.launchStart, e.launchDur, e.launched = link.Start, link.Len(), true
			}
			w.stepOnDevice(&e)
			if !w.emit(&e) {
				return false
			}
		}
	}
	return true
}

func (w *walk) classify(e *event, a *trace.Activity, coll gpu.CollectiveOf, number int) {
	switch a.Kind {
	case trace.Memcpy:
		e.kind, e.class = "memcpy", summary.ClassCopy.String()
	case trace.Memset:
		e.kind, e.class = "memset", summary.ClassMemset.String()
	default:
		m := w.tl.Classes[a.Name]
		e.kind, e.class, e.category = "kernel", string(m.Class), m.Category
		if m.Class == classify.Comm {
			if op := coll(number, a); op != 0 {
				e.category = op.String()
			}
		}
	}
}

// onDevice returns the phases on a device.
func (w *walk) onDevice(i int) *stretches {
	if i >= len(w.done) {
		return &stretches{}
	}
	var runs []run
	var open []string // names by depth
	for _, r := range w.phases.OnDevice(w.done[i]) {
		open = append(open[:min(r.Depth, len(open))], r.Name)
		runs = append(runs, run{r.Span, strings.Join(open, "/")})
	}
	return flatten(runs)
}

func (w *walk) stepOnDevice(e *event) {
	rows := w.rows[e.device]
	i := sort.Search(len(rows), func(i int) bool { return rows[i].StartNS+rows[i].WallNS > e.start })
	if i < len(rows) && rows[i].StartNS <= e.start {
		e.step, e.stepName, e.inStep = rows[i].Number, rows[i].Name, true
	}
}

// hostEvents yields the events of the host.
func (w *walk) hostEvents() bool {
	for c := range w.t.Calls.All() {
		kind, ok := w.kinds[c.Name]
		if !ok {
			kind = classify.CallKind(w.t.Name(c.Name))
			w.kinds[c.Name] = kind
		}
		if !w.host(event{kind: "call", category: kind, start: c.Start, dur: c.Dur, correlation: c.Correlation, external: c.External}, c.Name, c.Track) {
			return false
		}
	}
	for o := range w.t.Ops.All() {
		if !w.host(event{kind: "operator", start: o.Start, dur: o.Dur, external: o.External}, o.Name, o.Track) {
			return false
		}
	}
	for s := range w.t.Spans.All() {
		if !w.host(w.span(s), s.Name, s.Track) {
			return false
		}
	}
	for i := range w.t.Async {
		s := &w.t.Async[i]
		if !w.host(w.span(s), s.Name, s.Track) {
			return false
		}
	}
	if !w.Python {
		return true
	}
	for p := range w.t.Python.All() {
		if !w.host(event{kind: "python", name: w.function(p.Name), start: p.Start, dur: p.Dur}, p.Name, p.Track) {
			return false
		}
	}
	return true
}

// function returns the name of a Python function. Its file is masked by itself: with the line and the function behind
// it, a secret in the path looks like code.
func (w *walk) function(sym trace.Sym) string {
	name, ok := w.functions[sym]
	if !ok {
		name = w.t.Name(sym)
		if at := strings.LastIndexByte(name, '('); at > 0 {
			name = redact.Mask(name[:at]) + name[at:]
		}
		w.functions[sym] = name
	}
	return name
}

func (w *walk) span(s *trace.HostSpan) event {
	e := event{kind: "span", category: w.t.Name(s.Category), start: s.Start, dur: s.Dur, external: s.External}
	switch s.Kind {
	case trace.Annotation, trace.GPUAnnotation:
		e.kind = "annotation"
	case trace.Sync:
		e.kind = "sync"
	}
	return e
}

func (w *walk) host(e event, name trace.Sym, track trace.TrackID) bool {
	if win := w.t.Window; win != nil && (e.start < win.Start || e.start >= win.End) {
		return true
	}
	tr := &w.t.Tracks[track]
	e.input, e.rank, e.name = w.Input, w.Rank, cmp.Or(e.name, w.t.Name(name))
	if tr.OnDevice {
		e.device, e.stream, e.onDevice = tr.Device, tr.Stream, true
	} else {
		e.process, e.thread = tr.PID, tr.TID
	}
	if i := steps.At(w.marks, e.start); i >= 0 {
		e.step, e.stepName, e.inStep = w.marks[i].Number(), w.t.Name(w.marks[i].Name), true
	}
	e.phase = w.hostPhases.at(e.start)
	return w.emit(&e)
}

func (w *walk) emit(e *event) bool {
	for i := range w.columns {
		w.columns[i].fill(e, &w.cells[i])
	}
	return w.yield(w.cells)
}

// A run is a stretch of time with the path of a phase.
type run struct {
	interval.Span
	path string
}

// A stretches is a list of times from which on a path holds: that of the innermost of runs that contain each other.
type stretches struct {
	from  []int64
	paths []string
	last  int // the one that was found last, because events are mostly in the order of time
}

// flatten returns the innermost paths of runs, which are sorted by start, outer ones first.
func flatten(runs []run) *stretches {
	s := &stretches{}
	add := func(t int64, path string) {
		if n := len(s.from); n > 0 && s.from[n-1] == t {
			s.paths[n-1] = path
			return
		}
		s.from, s.paths = append(s.from, t), append(s.paths, path)
	}
	var open []run
	closeUntil := func(t int64) {
		for len(open) > 0 && open[len(open)-1].End <= t {
			end := open[len(open)-1].End
			open = open[:len(open)-1]
			for len(open) > 0 && open[len(open)-1].End <= end {
				open = open[:len(open)-1]
			}
			path := ""
			if len(open) > 0 {
				path = open[len(open)-1].path
			}
			add(end, path)
		}
	}
	for _, r := range runs {
		closeUntil(r.Start)
		add(r.Start, r.path)
		open = append(open, r)
	}
	closeUntil(math.MaxInt64)
	return s
}

// at returns the path at a time, or "".
func (s *stretches) at(t int64) string {
	holds := func(i int) bool { return s.from[i] <= t && (i+1 == len(s.from) || t < s.from[i+1]) }
	if n := len(s.from); n == 0 || t < s.from[0] {
		return ""
	}
	for i := s.last; i < min(s.last+2, len(s.from)); i++ {
		if holds(i) {
			s.last = i
			return s.paths[i]
		}
	}
	s.last = sort.Search(len(s.from), func(i int) bool { return s.from[i] > t }) - 1
	return s.paths[s.last]
}
