package analyze

import (
	"fmt"

	"assay/classify"
	"assay/profile"
	"assay/summary"
	"assay/trace"
)

// A StackValue says what [Stacks] puts down to stacks.
type StackValue string

// The values of stacks.
const (
	GPUTime StackValue = "gpu" // durations of kernels, copies and memsets
	CPUTime StackValue = "cpu" // self times of what ran on threads of the host
)

// Stacks returns a profile with two columns: how often each stack was, and its
// nanoseconds, which is the default column.
//
// GPU time is work: what runs at the same time counts fully each, so the column
// sums to the durations of all kernels and copies in the summary. CPU time is
// self time, as in the summary's spans: the column sums to the time in which
// the threads were busy. A trace without such events has an empty profile.
func Stacks(t *trace.Trace, rules *classify.Rules, value StackValue) *profile.Profile {
	b := profile.NewBuilder(
		profile.Column{Name: "count", Unit: "count"},
		profile.Column{Name: string(value), Unit: "nanoseconds"},
	)
	if value == GPUTime {
		gpuStacks(b, newTimeline(t, rules))
	} else {
		cpuStacks(b, t)
	}
	p := b.Profile()
	p.Default, p.Source, p.Issues = 1, t.File, t.Issues
	all := span(t)
	p.Duration = all.Len()
	if base := t.Meta.BaseTime; base != nil {
		p.Time = summary.Plus(*base, all.Start)
	}
	return p
}

// gpuStacks adds device, class, category and name of all device work.
func gpuStacks(b *profile.Builder, tl *timeline) {
	type row struct {
		key       rowKey
		count, ns int64
	}
	all := rows(tl, trace.Kind.OnDevice, func(key rowKey) row { return row{key: key} }, func(r *row, a *trace.Activity) {
		r.count++
		r.ns = summary.Plus(r.ns, a.Dur)
	})
	for _, r := range all {
		device := fmt.Sprintf("GPU %d", r.key.device)
		if name := deviceName(tl.t.Meta, r.key.device); name != "" {
			device += " " + name
		}
		stack := []profile.Frame{{Name: device}}
		switch r.key.kind {
		case trace.Kernel:
			m := tl.classes[r.key.name]
			stack = append(stack, profile.Frame{Name: string(m.Class)}, profile.Frame{Name: m.Category})
		case trace.Memcpy:
			stack = append(stack, profile.Frame{Name: summary.ClassCopy.String()})
		default:
			stack = append(stack, profile.Frame{Name: summary.ClassMemset.String()})
		}
		stack = append(stack, profile.Frame{Name: tl.t.Name(r.key.name)})
		b.Add(stack, nil, r.count, r.ns)
	}
}

// A hostNode is one stack of the host: an event's name below that of the event
// it started in.
type hostNode struct {
	parent int // -1: a thread
	name   trace.Sym
	track  trace.TrackID
}

// maxDepth limits stacks, or events nested by the thousand would take memory by
// their square. What is deeper counts for the last frame that is kept.
const maxDepth = 200

// cpuStacks adds process, thread and nested events of all host work.
func cpuStacks(b *profile.Builder, t *trace.Trace) {
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
	for id := range nodes {
		b.Add(hostStack(t, nodes, id), nil, count[id], ns[id])
	}
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
		stack[depth].Name = t.Name(nodes[n].name)
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
