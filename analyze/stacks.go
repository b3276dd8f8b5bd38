package analyze

import (
	"math"
	"slices"

	"assay/analyze/attribute"
	"assay/analyze/classify"
	"assay/analyze/gpu"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/profile"
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

// Stacks returns a profile with two columns: the count of each stack, and its time in ns, which
// is the default column.
//
// GPU time counts concurrent activities in full, so the column sums to the total time of all
// kernels and copies of the summary. CPU time is self time, as in the summary's spans, so the
// column sums to the busy time of the threads. A trace without such events has an empty profile.
//
// memory bounds the bytes of the profile and of writing it, approximately; 0 is for no bound.
// Further stacks are added up in one, with the issue "table-rows-pooled".
func Stacks(t *trace.Trace, rules *classify.Rules, value StackValue, memory int64) *profile.Profile {
	b := profile.NewBuilder(
		profile.Column{Name: "count", Unit: "count"},
		profile.Column{Name: string(value), Unit: "nanoseconds"},
	)
	maxRows := math.MaxInt
	if memory > 0 {
		b.Limit(memory)
		maxRows = int(memory / attribute.RowMemory)
	}
	var pooled int64
	if value == GPUTime {
		var issues diag.Ledger // unused: the summary has them
		pooled = attribute.Stacks(b, gpu.NewTimeline(t, rules, &issues),
			steps.MarksOf(steps.NewVocabulary(t, nil), &issues), maxRows)
	} else {
		pooled = cpuStacks(b, t)
	}
	p := b.Profile()
	p.Default, p.Source, p.Issues = 1, t.File, t.Issues
	if pooled > 0 {
		p.Issues = append(slices.Clone(p.Issues), diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss,
			Count: pooled, First: diag.Pos{File: t.File},
			Help: "The stacks reached the memory limit. The operations counted here are added up in one stack: sums are correct, but names are missing. Raise --max-memory."})
	}
	all := span(t)
	p.Duration = all.Len()
	if base := t.Meta.BaseTime; base != nil {
		p.Time = summary.Plus(*base, all.Start)
	}
	return p
}

// A hostNode is one stack of the host: the name of an event, below the node of the event that
// encloses it.
type hostNode struct {
	parent int // -1: a thread
	name   trace.Sym
	track  trace.TrackID
}

// cpuStacks adds a stack for each nesting of host events, below process and thread. It returns
// the number of events that were pooled because the builder's memory is used up.
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
		if d > attribute.MaxDepth {
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
		if t.Window.Starts(events[i].start) {
			count[id]++
		}
		events[i].name = trace.Sym(id) // the names are in the nodes now
	}
	eachSelf(events, func(e *hostEvent, self int64) {
		if t.Window.Starts(e.start) {
			ns[e.name] = summary.Plus(ns[e.name], self)
		}
	})
	limit := attribute.FrameLimit(attribute.MaxFrames)
	for id := range nodes {
		if count[id] == 0 {
			continue // it starts outside the window of the trace
		}
		if b.Add(limit.Cut(hostStack(t, nodes, id)), nil, count[id], ns[id]) {
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
		stack[depth] = attribute.FrameOf(t.Name(nodes[n].name))
	}
	return stack
}

// parents returns, for each event in the order of hostEvents, the index of the innermost event of
// its thread that is open when it starts, or -1.
func parents(events []hostEvent) []int {
	out := make([]int, len(events))
	var open []int
	for i := range events {
		e := &events[i]
		// An event that ended below another one stays until it reaches the top, as in a sweep.
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
