package steps

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/analyze/phase"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/stat"
	"assay/summary"
	"assay/trace"
)

// The limits of phases: their number per input, and the number of parts that all devices of an
// input are divided into. Programs have about twelve phases.
const (
	maxPhases    = 256
	maxStretches = 1 << 22
)

// Phases are the phases of the host, from the one thread whose markers cover the most. A program
// with several threads marks its phases on the thread that drives the others, and the processes
// of a run all do the same.
type Phases struct {
	t     *trace.Trace
	nodes []phaseNode // node 0 is for time outside of phases
	parts []stretch   // time by innermost phase, sorted, without time outside of phases
	runs  []stretch   // runs of phases, by start
	cut   []stretch   // runs that started before the window of the trace
}

// A phaseNode is a phase in the tree of phases.
type phaseNode struct {
	parent int32
	depth  int
	name   string
	path   string
	first  trace.Sym
	is     phase.Match
	runs   []int64 // lengths of the runs, in ns
	own    int64   // total time less the phases inside, in ns

	longest, from int64 // length and start of the longest run
}

// A stretch is a span of the host with a phase.
type stretch struct {
	interval.Span
	node int32
}

// A phaseEvent is one run of a phase.
type phaseEvent struct {
	interval.Span
	name trace.Sym
	is   phase.Match
}

// PhasesOf returns the phases of a trace, without runs of an implausible length.
func PhasesOf(v *Vocabulary) *Phases {
	byTrack, trains := make(map[trace.TrackID][]phaseEvent), make(map[trace.TrackID][]phaseEvent)
	v.each(func(name trace.Sym, track trace.TrackID, span interval.Span, is phase.Match) {
		switch {
		case span.Empty() || limits.Implausible(span):
		case is.Phase != "":
			byTrack[track] = append(byTrack[track], phaseEvent{span, name, is})
		case is.Step != "" && is.Number < 0 && strings.HasPrefix(v.t.Name(name), "train"):
			is.Phase = "training"
			trains[track] = append(trains[track], phaseEvent{span, name, is})
		}
	})
	for track, events := range trains {
		if besideGeneration(events, byTrack[track]) {
			byTrack[track] = append(byTrack[track], events...)
		}
	}
	var best []phaseEvent
	most, on := int64(-1), trace.TrackID(0)
	for track, events := range byTrack {
		slices.SortStableFunc(events, func(a, b phaseEvent) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End),
				cmp.Compare(v.t.Name(a.name), v.t.Name(b.name)))
		})
		var all interval.Builder
		for _, e := range events {
			all.Add(e.Span)
		}
		if ns := all.Set().Len(); ns > most || ns == most && track < on {
			best, most, on = events, ns, track
		}
	}
	p := &Phases{t: v.t, nodes: []phaseNode{{parent: -1, depth: -1}}}
	p.walk(best)
	return p
}

// besideGeneration reports whether markers of training alternate with phases that generate. Then they are a phase
// too, of reinforcement learning; otherwise they mark the steps of a training loop.
func besideGeneration(trains, phases []phaseEvent) bool {
	var train, generation, both interval.Builder
	for _, e := range trains {
		train.Add(e.Span)
		both.Add(e.Span)
	}
	for _, e := range phases {
		if e.is.Phase == "generation" {
			generation.Add(e.Span)
			both.Add(e.Span)
		}
	}
	generated := generation.Set().Len()
	return generated > 0 && both.Set().Len() == generated+train.Set().Len() // they do not overlap
}

// walk nests the events of a thread. An event that ends after the phase in which it starts ends
// that phase, because neither contains the other. A phase inside a phase of the same name is part
// of it.
func (p *Phases) walk(events []phaseEvent) {
	type open struct {
		end  int64
		node int32
	}
	var stack []open
	var now int64
	children := make(map[string]int32) // by path
	advance := func(to int64) {
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			p.stretch(now, min(top.end, to), top.node)
			now = max(now, min(top.end, to))
			if top.end > to {
				break
			}
			stack = stack[:len(stack)-1]
		}
		now = max(now, to)
	}
	for i, e := range events {
		if i == 0 {
			now = e.Start
		}
		advance(e.Start)
		for len(stack) > 0 && stack[len(stack)-1].end < e.End {
			stack = stack[:len(stack)-1]
		}
		up := int32(0)
		if len(stack) > 0 {
			up = stack[len(stack)-1].node
		}
		node := p.enter(children, up, e)
		stack = append(stack, open{e.End, node})
	}
	advance(math.MaxInt64)
}

// enter counts a run of a phase inside the node up and returns its node. A phase of the same name
// as up, or over the limits of depth and number, is part of up.
func (p *Phases) enter(children map[string]int32, up int32, e phaseEvent) int32 {
	for n := up; n > 0; n = p.nodes[n].parent {
		if p.nodes[n].name == e.is.Phase {
			return up
		}
	}
	path := e.is.Phase
	if up > 0 {
		path = p.nodes[up].path + "/" + path
	}
	node, ok := children[path]
	if !ok {
		if len(p.nodes) > maxPhases || p.nodes[up].depth == summary.MaxPhaseDepth {
			return up
		}
		node = int32(len(p.nodes))
		children[path] = node
		p.nodes = append(p.nodes, phaseNode{parent: up, depth: p.nodes[up].depth + 1, name: e.is.Phase, path: path,
			first: e.name, is: e.is})
	}
	n := &p.nodes[node]
	if !p.t.Window.Starts(e.Start) {
		p.cut = append(p.cut, stretch{e.Span, node})
		return node
	}
	n.runs = append(n.runs, e.Len())
	p.runs = append(p.runs, stretch{e.Span, node})
	if e.Len() > n.longest {
		n.longest, n.from = e.Len(), e.Start
	}
	return node
}

// stretch adds time during which the phase is the innermost.
func (p *Phases) stretch(from, to int64, node int32) {
	if from >= to || node == 0 {
		return
	}
	p.nodes[node].own = summary.Plus(p.nodes[node].own, gpu.InWindow(p.t, interval.Span{Start: from, End: to}).Len())
	if n := len(p.parts); n > 0 && p.parts[n-1].node == node && p.parts[n-1].End == from {
		p.parts[n-1].End = to
		return
	}
	p.parts = append(p.parts, stretch{interval.Span{Start: from, End: to}, node})
}

// Innermost returns a function that returns the path of the innermost phase at a time, or "". It is nil if
// there are no phases. It does not keep the trace.
func (p *Phases) Innermost() func(at int64) string {
	if len(p.parts) == 0 {
		return nil
	}
	parts, paths := p.parts, make([]string, len(p.nodes))
	for i := range p.nodes {
		paths[i] = p.nodes[i].path
	}
	return func(at int64) string {
		i := sort.Search(len(parts), func(i int) bool { return parts[i].End > at })
		if i == len(parts) || at < parts[i].Start {
			return ""
		}
		return paths[parts[i].node]
	}
}

// A Run is one run of a phase on the host.
type Run struct {
	interval.Span
	Path string
}

// Runs returns the runs of all phases, by start.
func (p *Phases) Runs() (out []Run) {
	for _, r := range p.runs {
		out = append(out, Run{r.Span, p.nodes[r.node].path})
	}
	return out
}

// A DeviceRun is one run of a phase on a device: from the end of the work launched before the run
// to the end of the work launched in it.
type DeviceRun struct {
	interval.Span
	Name  string
	Depth int // 0 for an outermost phase
}

// OnDevice returns the runs of all phases on a device, by start, outer phases first. A run ends at
// the latest where the next one of its depth starts. Runs without time on the device are left out.
func (p *Phases) OnDevice(c *Completion) (out []DeviceRun) {
	if c == nil {
		return nil
	}
	var open []int // indices of out, by depth
	for _, r := range slices.Concat(p.cut, p.runs) {
		n := &p.nodes[r.node]
		for _, i := range open[min(n.depth, len(open)):] { // an event that begins ends those that do not contain it
			out[i].End = min(out[i].End, max(out[i].Start, c.at(r.Start)))
		}
		open = append(open[:min(n.depth, len(open))], len(out))
		out = append(out, DeviceRun{c.cut(r.Span), n.name, n.depth})
	}
	out = slices.DeleteFunc(out, func(r DeviceRun) bool { return r.Empty() })
	slices.SortStableFunc(out, func(a, b DeviceRun) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth))
	})
	return out
}

// Found reports whether there is any phase.
func (p *Phases) Found() bool { return len(p.parts) > 0 }

// within returns the outermost phases inside a step's marker, longest first. If the marker is a
// phase itself, there are none.
func (p *Phases) within(m Mark) (out []summary.StepPhase) {
	if m.Is.Phase != "" {
		return nil
	}
	from := sort.Search(len(p.parts), func(i int) bool { return p.parts[i].End > m.Span.Start })
	for _, s := range p.parts[from:] {
		if s.Start >= m.Span.End {
			break
		}
		top := s.node
		for p.nodes[top].depth > 0 {
			top = p.nodes[top].parent
		}
		ns := s.And(m.Span).Len()
		i := slices.IndexFunc(out, func(q summary.StepPhase) bool { return q.Name == p.nodes[top].name })
		if i < 0 {
			i = len(out)
			out = append(out, summary.StepPhase{Name: p.nodes[top].name})
		}
		out[i].NS += ns
	}
	slices.SortFunc(out, func(a, b summary.StepPhase) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Rows measures the phases on every device. Over the limit on the number of parts, the last
// devices have no rows, which adds an issue.
func (p *Phases) Rows(tl *gpu.Timeline, done []*Completion, l *launches.Links, rank int,
	issues *diag.Ledger) (out []summary.Phase) {
	if !p.Found() {
		return nil
	}
	room, leftOut := maxStretches, int64(0)
	for i, d := range tl.Devices {
		if room -= len(p.parts); room < 0 || limits.Implausible(d.Window) {
			leftOut++
			continue
		}
		out = append(out, p.device(tl, d, done[i], l, rank)...)
	}
	issues.AddN(diag.Issue{Code: "phases-left-out", Severity: diag.DataLoss,
		Help: fmt.Sprintf("Phases are measured in at most %d stretches per input and in windows of at most 100 hours. The GPUs counted here have none; all their other numbers are correct. Give a shorter capture.", maxStretches)}, leftOut)
	return out
}

// device measures the phases on one device.
func (p *Phases) device(tl *gpu.Timeline, d *gpu.Device, s *Completion, l *launches.Links, rank int) []summary.Phase {
	rows := make([]summary.Phase, len(p.nodes))
	for i, n := range p.nodes {
		slices.Sort(n.runs)
		rows[i] = summary.Phase{Rank: rank, Device: d.Ordinal, Path: n.path, Producer: n.is.Producer,
			Count: int64(len(n.runs)), HostOwnNS: n.own, MaxNS: n.longest, MaxStartNS: n.from}
		if i > 0 {
			rows[i].Example, rows[i].MedianNS = p.t.Name(n.first), stat.Median(n.runs)
		}
	}
	owners, last := make([]owner, len(d.Work)), 0
	for i, w := range d.Work {
		o := owner{at: w.Start}
		if k := l.Of[w.Number]; k >= 0 {
			o.at = l.Start(k)
			o.node = p.at(o.at, &last)
			if tl.Starts(w) {
				rows[o.node].Launched++
				rows[o.node].WorkNS = summary.Plus(rows[o.node].WorkNS, tl.Activity(w).Dur)
			}
		} else if len(l.List) == 0 {
			o.node = p.at(o.at, &last) // no launch is known: assume that the host waited for all work
		}
		owners[i] = o
	}
	c := phaseCells{p: p, d: d, s: s, rows: rows, owners: owners}
	c.busy(tl)
	for gap := range d.Gaps() {
		c.idle(gap)
	}
	for i := range rows {
		rows[i].Total, rows[i].HostNS = rows[i].Activity, rows[i].HostOwnNS
	}
	for i := len(rows) - 1; i > 0; i-- { // a phase has a higher index than its parent
		if up := p.nodes[i].parent; up > 0 {
			rows[up].Total = rows[up].Total.Plus(rows[i].Total)
			rows[up].HostNS = summary.Plus(rows[up].HostNS, rows[i].HostNS)
		}
	}
	return append(rows[1:], rows[0])
}

// at returns the phase of the host at time t. last caches the index of the part found last.
func (p *Phases) at(t int64, last *int) int32 {
	i := *last
	if i >= len(p.parts) || p.parts[i].End <= t || i > 0 && p.parts[i-1].End > t {
		i = sort.Search(len(p.parts), func(i int) bool { return p.parts[i].End > t })
		*last = i
	}
	if i < len(p.parts) && p.parts[i].Start <= t {
		return p.parts[i].node
	}
	return 0
}
