package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"

	"assay/classify"
	"assay/diag"
	"assay/profile"
	"assay/summary"
	"assay/trace"
)

// A StackValue selects the time that [Stacks] counts.
type StackValue string

// The values of stacks.
const (
	GPUTime StackValue = "gpu" // durations of kernels, copies and memsets
	CPUTime StackValue = "cpu" // self times of what ran on threads of the host
)

// Stacks returns a profile with two columns: how often each stack was, and its
// nanoseconds, which is the default column.
//
// GPU time counts activities that run at the same time fully each, so the column
// sums to the total time of all kernels and copies in the summary. CPU time is self
// time, as in the summary's spans, so the column sums to the busy time of the
// threads. A trace without such events has an empty profile.
//
// The profile, with what it takes to write it, takes at most about the given number of
// bytes, or any number if that is 0. The costs of further stacks are added up in one:
// "table-rows-pooled".
func Stacks(t *trace.Trace, rules *classify.Rules, value StackValue, memory int64) *profile.Profile {
	b := profile.NewBuilder(
		profile.Column{Name: "count", Unit: "count"},
		profile.Column{Name: string(value), Unit: "nanoseconds"},
	)
	maxRows := math.MaxInt
	if memory > 0 {
		b.Limit(memory)
		maxRows = int(memory / gpuRowMemory)
	}
	var pooled int64
	if value == GPUTime {
		var issues diag.Ledger // they are in the summary
		pooled = gpuStacks(b, newTimeline(t, rules, &issues), marksOf(newVocabulary(t, nil), &issues), maxRows)
	} else {
		pooled = cpuStacks(b, t)
	}
	p := b.Profile()
	p.Default, p.Source, p.Issues = 1, t.File, t.Issues
	if pooled > 0 {
		p.Issues = append(slices.Clone(p.Issues), diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, Count: pooled, First: diag.Pos{File: t.File},
			Help: "The stacks reached the memory limit. The operations counted here are added up in one stack: sums are correct, but names are missing. Raise --max-memory."})
	}
	all := span(t)
	p.Duration = all.Len()
	if base := t.Meta.BaseTime; base != nil {
		p.Time = summary.Plus(*base, all.Start)
	}
	return p
}

// A gpuRow is the work of one name from one place.
type gpuRow struct {
	place
	forward        contextID
	name           trace.Sym
	kind           trace.Kind
	device, stream int64
	step           int32 // index of the step in which it was launched, or -1
}

// notLaunched is the frame of work that no call is known for.
const notLaunched = "(launch not recorded)"

// gpuStacks adds what was open when device work was launched, and the name of
// the work: annotations, modules and Python functions, operators. Work of a
// backward pass is where its forward operator was called, below a frame
// "backward". The device is a frame only where there are several. Steps are
// labels, so that the same work of all steps is one box in a picture. Operations of
// further rows than maxRows, and of stacks that the builder has no memory for, are pooled
// and counted.
func gpuStacks(b *profile.Builder, tl *timeline, marks []mark, maxRows int) (pooled int64) {
	a := attribute(tl, hostOf(tl.t), marks, MaxRows)
	type sums struct{ count, ns int64 }
	rows := make(map[gpuRow]*sums)
	var others sums
	for _, d := range tl.devices {
		for _, w := range d.work {
			act := tl.activity(w)
			key := gpuRow{name: act.Name, kind: act.Kind, device: d.ordinal, stream: tl.stream(w), step: -1}
			if i := a.link.of[w.number]; i >= 0 {
				k := &a.link.list[i]
				key.place, key.forward = place{k.context, k.note, k.pass}, k.forward
				key.step = int32(stepAt(marks, a.link.start(i)))
			} else {
				key.kind |= unlinked
			}
			r := rows[key]
			switch {
			case r == nil && len(rows) >= maxRows:
				r = &others
			case r == nil:
				r = new(sums)
				rows[key] = r
			}
			r.count, r.ns = r.count+1, summary.Plus(r.ns, w.Dur)
		}
	}
	keys := slices.SortedFunc(maps.Keys(rows), func(x, y gpuRow) int {
		return cmp.Or(cmp.Compare(rows[y].ns, rows[x].ns), cmp.Compare(x.context, y.context), cmp.Compare(x.name, y.name),
			cmp.Compare(x.device, y.device), cmp.Compare(x.stream, y.stream), cmp.Compare(x.step, y.step),
			cmp.Compare(x.note, y.note), cmp.Compare(x.forward, y.forward), cmp.Compare(x.pass, y.pass), cmp.Compare(x.kind, y.kind))
	})
	limit, streams := frameLimit(maxFrames), make(map[int64]profile.Label)
	for _, key := range keys {
		r := rows[key]
		if _, ok := streams[key.stream]; !ok {
			streams[key.stream] = profile.Label{Key: "stream", Text: fmt.Sprint("stream ", key.stream)}
		}
		labels := []profile.Label{streams[key.stream]}
		if key.step >= 0 {
			labels = append(labels, profile.Label{Key: "step", Text: tl.t.Name(marks[key.step].name)})
		}
		if b.Add(limit.cut(a.stack(key)), labels, r.count, r.ns) {
			pooled += r.count
		}
	}
	if others.count > 0 {
		b.Add([]profile.Frame{{Name: profile.OtherStacks}}, nil, others.count, others.ns)
	}
	return pooled + others.count
}

// gpuRowMemory is the memory for one row of GPU operations without its stack, in
// bytes: a quarter of it is the entry in the map.
const gpuRowMemory = 1 << 10

// unlinked marks the kind of work that no call is known for.
const unlinked trace.Kind = 1 << 7

// stack returns the frames of a row, outermost first.
func (a *attribution) stack(row gpuRow) []profile.Frame {
	var out []profile.Frame
	if len(a.tl.devices) > 1 {
		name := fmt.Sprintf("GPU %d", row.device)
		if model := deviceName(a.t.Meta, row.device); model != "" {
			name += " " + model
		}
		out = append(out, profile.Frame{Name: name})
	}
	switch isOp := func(k trace.Kind) bool { return k == trace.CPUOp }; {
	case row.kind&unlinked != 0:
		out = append(out, profile.Frame{Name: notLaunched})
	case row.forward != 0:
		out = a.frames(out, row.forward, func(k trace.Kind) bool { return !isOp(k) })
		out = append(out, profile.Frame{Name: "backward"})
		out = a.frames(out, row.context, isOp)
	default:
		if a.ctx.at(row.context).annotation == 0 {
			out = a.frames(out, row.note, func(k trace.Kind) bool { return k == trace.Annotation })
		}
		out = a.frames(out, row.context, func(trace.Kind) bool { return true })
	}
	return append(out, profile.Frame{Name: a.t.Name(row.name)})
}

// frames appends the frames of a context of the kinds that are wanted.
func (a *attribution) frames(out []profile.Frame, id contextID, wanted func(trace.Kind) bool) []profile.Frame {
	var up []profile.Frame
	for ; id != 0 && len(out)+len(up) < maxDepth; id = a.ctx.at(id).parent {
		if c := a.ctx.at(id); wanted(c.kind) {
			up = append(up, frameOf(a.t.Name(c.name)))
		}
	}
	slices.Reverse(up)
	return append(out, up...)
}

// frameOf makes a frame of a name. Viewers add up functions by name alone, and
// every other function is called forward, so that of a Python function has its
// file's name in it.
func frameOf(name string) profile.Frame {
	file, line, function := splitLine(withoutAddress(name))
	if file == "" {
		return profile.Frame{Name: function}
	}
	return profile.Frame{Name: fmt.Sprintf("%s (%s:%d)", function, path.Base(file), line), File: file, Line: int64(line)}
}

// A hostNode is one stack of the host: an event's name below that of the event
// it started in.
type hostNode struct {
	parent int // -1: a thread
	name   trace.Sym
	track  trace.TrackID
}

// maxFrames is how many frames all stacks of a profile may have before deep ones
// are cut: a profile of millions of deep stacks is of no use and fills the memory.
const maxFrames = 2 << 20

// A frameLimit cuts stacks once it is used up.
type frameLimit int

// cut returns the stack, or its outermost frames and its last.
func (l *frameLimit) cut(stack []profile.Frame) []profile.Frame {
	const few = 16
	if *l -= frameLimit(len(stack)); *l >= 0 || len(stack) <= few {
		return stack
	}
	return append(stack[:few-1:few-1], stack[len(stack)-1])
}

// maxDepth is the deepest stack, because the memory for nested events grows with the
// square of their depth. Deeper events count for the last frame that is kept.
const maxDepth = 200

// cpuStacks adds process, thread and nested events of all host work. It returns how many
// events it pooled because the builder has no memory for their stacks.
func cpuStacks(b *profile.Builder, t *trace.Trace) (pooled int64) {
	var nodes []hostNode
	var depth []int
	index := make(map[hostNode]int)
	events := hostEvents(t)
	at := make([]int, len(events)) // the node of each event
	for i, parent := range parents(events) {
		n, d := hostNode{-1, events[i].name, events[i].track}, 1
		if parent >= 0 {
			n.parent, d = at[parent], depth[at[parent]]+1
		}
		if d > maxDepth {
			at[i] = n.parent
			continue
		}
		id, ok := index[n]
		if !ok {
			id = len(nodes)
			index[n] = id
			nodes, depth = append(nodes, n), append(depth, d)
		}
		at[i] = id
	}
	count, ns := make([]int64, len(nodes)), make([]int64, len(nodes))
	for i, id := range at {
		count[id]++
		events[i].name = trace.Sym(id) // the names are in the nodes now
	}
	eachSelf(events, func(e *hostEvent, self int64) { ns[e.name] = summary.Plus(ns[e.name], self) })
	limit := frameLimit(maxFrames)
	for id := range nodes {
		if b.Add(limit.cut(hostStack(t, nodes, id)), nil, count[id], ns[id]) {
			pooled += count[id]
		}
	}
	return pooled
}

func hostStack(t *trace.Trace, nodes []hostNode, id int) []profile.Frame {
	track := t.Tracks[nodes[id].track]
	depth := 2
	for n := id; n >= 0; n = nodes[n].parent {
		depth++
	}
	stack := make([]profile.Frame, depth)
	stack[0].Name, stack[1].Name = label(track.Process, track.PID), label(track.Thread, track.TID)
	for n := id; n >= 0; n = nodes[n].parent {
		depth--
		stack[depth] = frameOf(t.Name(nodes[n].name))
	}
	return stack
}

// parents returns for each event, in the order of hostEvents, the index of the
// innermost event of its thread that runs when it starts, or -1.
func parents(events []hostEvent) []int {
	out := make([]int, len(events))
	var open []int
	for i := range events {
		e := &events[i]
		// An event below may have ended before one that overlaps it: it stays, as
		// in a sweep, until it comes to the top.
		for len(open) > 0 {
			top := &events[open[len(open)-1]]
			if top.track == e.track && top.end() > e.start {
				break
			}
			open = open[:len(open)-1]
		}
		out[i] = -1
		if len(open) > 0 {
			out[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	return out
}
