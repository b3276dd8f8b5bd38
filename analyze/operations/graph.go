package operations

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/interval"
	"assay/internal/lazyregexp"
	"assay/trace"
)

// The operations of Megatron-LM, and what each waits for besides the one before it.
const (
	forward   = "forward-compute"
	backward  = "backward-compute"
	gc        = "gc"
	norm      = "layernorm-grads-all-reduce"
	embedding = "embedding-grads-all-reduce" // of the first and the last stage
	scatter   = "grads-reduce-scatter"
	gather    = "params-all-gather"
	clip      = "optimizer-clip-main-grad"
	optimizer = "optimizer" // the last of a step
)

// between are the operations of which two stages have one each.
var between = []struct {
	send, receive, compute string
	to                     int // the stage that receives, relative to the one that sends
}{
	{"forward-send", "forward-recv", forward, 1},
	{"backward-send", "backward-recv", backward, -1},
}

// known are all operations; those that are true have communication.
var known = map[string]bool{
	forward: false, backward: false, gc: false, optimizer: false,
	norm: true, embedding: true, scatter: true, gather: true, clip: true,
	"forward-send": true, "forward-recv": true, "backward-send": true, "backward-recv": true,
}

// A worker is a stage of one data-parallel rank.
type worker struct{ rank, stage int }

// An operation is the nth of its name in a step of a stage.
type operation struct {
	stage int
	name  string
	nth   int
}

// An event is one operation as recorded.
type event struct {
	name       string
	start, dur int64
}

// A unit is one operation, or several that end together: they start when the last of them can.
type unit struct {
	ops   []int
	ranks bool // those of all data-parallel ranks, too
}

// A Job has the operations of the steps that all workers have recorded as a whole.
type Job struct {
	Ranks, Stages int
	Steps         int
	LeftOut       int // steps in which a worker has other operations than in most

	ops     []operation
	waits   [][]int // of each operation, for others
	units   []unit  // in an order in which they can be computed
	dur     []int64 // by step, rank and operation
	lengths []int64 // of the steps as recorded
}

func (j *Job) at(step, rank, op int) int { return (step*j.Ranks+rank)*len(j.ops) + op }

var (
	stageName = lazyregexp.New(`(?i)\bPP rank \[?(\d+)`)
	rankName  = lazyregexp.New(`(?i)\bDP rank \[?(\d+)`)
	otherName = lazyregexp.New(`(?i)\b(?:TP|CP|EP) rank \[?([1-9]\d*)`)
)

// number returns the number in a name.
func number(re interface{ FindStringSubmatch(string) []string }, name string) (int, bool) {
	m := re.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil && n < 1<<16
}

// Is reports whether a trace is a timeline of operations.
func Is(t *trace.Trace) bool { return t.Activities.Len() == 0 && len(eventsOf(t)) > 0 }

// eventsOf returns the operations of each worker by start.
func eventsOf(t *trace.Trace) map[worker][]event {
	workers := make([]*worker, len(t.Tracks))
	for i := range t.Tracks {
		name := t.Tracks[i].Process + ", " + t.Tracks[i].Thread
		stage, ok := number(stageName(), name)
		rank, ok2 := number(rankName(), name)
		if ok && ok2 && !otherName().MatchString(name) {
			workers[i] = &worker{rank, stage}
		}
	}
	out := make(map[worker][]event)
	for s := range t.Spans.All() {
		if w := workers[s.Track]; w != nil && !t.Tracks[s.Track].OnDevice {
			out[*w] = append(out[*w], event{t.Name(s.Name), s.Start, s.Dur})
		}
	}
	for w, list := range out {
		if !slices.ContainsFunc(list, func(e event) bool { return e.name == forward }) {
			delete(out, w)
			continue
		}
		slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.start, b.start) })
	}
	return out
}

// Of returns the job of a timeline: its steps that start in a part, or all if that is empty. The error
// says why its operations cannot be replayed.
func Of(t *trace.Trace, part interval.Span) (*Job, error) {
	all := eventsOf(t)
	j := &Job{}
	for w, list := range all {
		j.Ranks, j.Stages = max(j.Ranks, w.rank+1), max(j.Stages, w.stage+1)
		for _, e := range list {
			if _, ok := known[e.name]; !ok {
				return nil, fmt.Errorf("it is not known what the operation %q waits for", e.name)
			}
		}
	}
	if len(all) != j.Ranks*j.Stages || len(all) == 0 {
		return nil, fmt.Errorf("of %d workers (%d data-parallel ranks of %d stages), %d are in the timeline",
			j.Ranks*j.Stages, j.Ranks, j.Stages, len(all))
	}
	steps := make(map[worker][][]event)
	most := -1
	for w, list := range all {
		steps[w] = divide(list)
		if most < 0 || len(steps[w]) < most {
			most = len(steps[w])
		}
	}
	for w := range steps {
		if len(steps[w]) != most || most == 0 {
			return nil, fmt.Errorf("the workers have recorded different numbers of steps: %d and %d", most, len(steps[w]))
		}
	}
	index, err := j.build(steps, most/2)
	if err != nil {
		return nil, err
	}
	j.fill(steps, most, index, part)
	if j.Steps == 0 && j.LeftOut == 0 {
		return nil, errors.New("no step starts in the part that was asked for")
	}
	if j.Steps <= j.LeftOut {
		return nil, fmt.Errorf("in %d of %d steps a worker has other operations than in most", j.LeftOut, j.LeftOut+j.Steps)
	}
	return j, nil
}

// divide returns the operations of each step: those that end no later than its optimizer.
func divide(list []event) (out [][]event) {
	const rounding = 1000 // ns
	var ends []int64
	for _, e := range list {
		if e.name == optimizer {
			ends = append(ends, e.start+e.dur+rounding)
		}
	}
	out = make([][]event, len(ends))
	for _, e := range list {
		if i, _ := slices.BinarySearch(ends, e.start+e.dur); i < len(ends) {
			out[i] = append(out[i], e)
		}
	}
	return out
}

// build finds the operations of a step and what they wait for, from a step of the first rank.
func (j *Job) build(steps map[worker][][]event, step int) (map[operation]int, error) {
	index := make(map[operation]int)
	counts := make([]map[string]int, j.Stages)
	order := make([][]int, j.Stages) // of the computations of a stage
	for s := range j.Stages {
		counts[s] = make(map[string]int)
		for _, e := range steps[worker{0, s}][step] {
			op := operation{s, e.name, counts[s][e.name]}
			counts[s][e.name]++
			index[op] = len(j.ops)
			if e.name == forward || e.name == backward {
				order[s] = append(order[s], len(j.ops))
			}
			j.ops = append(j.ops, op)
		}
	}
	j.waits = make([][]int, len(j.ops))
	var units []unit
	for s := range j.Stages {
		b := stageBuilder{j: j, index: index, stage: s, count: counts[s], order: order[s]}
		if counts[s][forward] == 0 || counts[s][backward] == 0 || counts[s][optimizer] != 1 {
			return nil, fmt.Errorf("stage %d has no forward, no backward pass or not one optimizer in each step", s)
		}
		b.computations()
		b.ending()
		for _, x := range between {
			if err := b.sends(x.send, x.receive, x.compute, s+x.to, counts); err != nil {
				return nil, err
			}
			for i := range counts[s][x.send] {
				units = append(units, unit{ops: []int{index[operation{s, x.send, i}], index[operation{s + x.to, x.receive, i}]}})
			}
		}
		for _, name := range []string{gather, scatter} {
			for i := range counts[s][name] {
				units = append(units, unit{[]int{index[operation{s, name, i}]}, true})
			}
		}
	}
	for name, ranks := range map[string]bool{embedding: false, clip: true} {
		u := unit{ranks: ranks}
		for s := range j.Stages {
			if i, ok := index[operation{s, name, 0}]; ok {
				u.ops = append(u.ops, i)
			}
		}
		units = append(units, u)
	}
	return index, j.sort(units)
}

// A stageBuilder adds what the operations of one stage wait for.
type stageBuilder struct {
	j     *Job
	index map[operation]int
	stage int
	count map[string]int
	order []int
}

// after lets an operation wait for another, if the stage has both.
func (b *stageBuilder) after(name string, nth int, before string, n int) {
	v, ok := b.index[operation{b.stage, name, nth}]
	u, ok2 := b.index[operation{b.stage, before, n}]
	if ok && ok2 {
		b.j.waits[v] = append(b.j.waits[v], u)
	}
}

// computations run one after the other, in the order of the recorded step. A micro-batch is received
// once the computation of the one before is over, and sent after its own.
func (b *stageBuilder) computations() {
	first := -1 // the first backward pass
	for i, v := range b.order {
		if i > 0 {
			b.j.waits[v] = append(b.j.waits[v], b.order[i-1])
		}
		if first < 0 && b.j.ops[v].name == backward {
			first = i
		}
	}
	for _, x := range between {
		for i := range b.count[x.compute] {
			b.after(x.compute, i, x.receive, i)
			b.after(x.receive, i, x.compute, i-1)
			b.after(x.receive, i, x.receive, i-1)
			b.after(x.send, i, x.compute, i)
			b.after(x.send, i, x.send, i-1)
		}
	}
	if first >= 2 { // the pipeline is full: the first gradient is asked for one forward pass ahead
		warm := b.j.ops[b.order[first-2]]
		b.after("backward-recv", 0, warm.name, warm.nth)
		b.after("backward-send", 0, warm.name, warm.nth)
	}
}

// ending chains the collectives around the computations, and what follows the last of them.
func (b *stageBuilder) ending() {
	b.after(forward, 0, gather, b.count[gather]-1)
	for i := range b.count[gather] {
		b.after(gather, i, gather, i-1)
	}
	b.after(scatter, 0, gather, b.count[gather]-1)
	last := b.j.ops[b.order[len(b.order)-1]]
	for _, name := range []string{gc, norm, embedding, scatter, clip, optimizer} {
		for i := range b.count[name] {
			b.after(name, i, last.name, last.nth)
			last = operation{b.stage, name, i}
		}
	}
}

// sends checks that each send of a stage has its receive, and each receive its computation.
func (b *stageBuilder) sends(send, receive, compute string, peer int, counts []map[string]int) error {
	n := b.count[send]
	switch {
	case n != 0 && (peer < 0 || peer >= len(counts) || counts[peer][receive] != n):
		return fmt.Errorf("stage %d has %d of %q, and stage %d has other numbers of %q", b.stage, n, send, peer, receive)
	case n != 0 && n != b.count[compute] || b.count[receive] != 0 && b.count[receive] != b.count[compute]:
		return fmt.Errorf("stage %d has not one %q or %q for each %q: several parts of the model on a stage are not modelled",
			b.stage, send, receive, compute)
	case n == 0 && peer >= 0 && peer < len(counts) && counts[peer][receive] != 0:
		return fmt.Errorf("stage %d has %q, and stage %d has no %q", peer, receive, b.stage, send)
	}
	return nil
}

// sort puts the units, and a unit for each other operation, in an order in which each comes after
// what it waits for.
func (j *Job) sort(units []unit) error {
	of := make([]int, len(j.ops))
	for i := range of {
		of[i] = -1
	}
	for i, u := range units {
		for _, v := range u.ops {
			of[v] = i
		}
	}
	for v := range j.ops {
		if of[v] < 0 {
			of[v] = len(units)
			units = append(units, unit{ops: []int{v}})
		}
	}
	left, next := make([]int, len(units)), make([][]int, len(units))
	for v, list := range j.waits {
		for _, u := range list {
			left[of[v]]++
			next[of[u]] = append(next[of[u]], of[v])
		}
	}
	var queue []int
	for i, n := range left {
		if n == 0 {
			queue = append(queue, i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		j.units = append(j.units, units[i])
		for _, k := range next[i] {
			if left[k]--; left[k] == 0 {
				queue = append(queue, k)
			}
		}
	}
	if len(j.units) != len(units) {
		return errors.New("operations wait for each other in a circle")
	}
	return nil
}

// fill takes the durations of the steps in which every worker has the same operations.
func (j *Job) fill(steps map[worker][][]event, most int, index map[operation]int, part interval.Span) {
	want := make([]int, j.Stages)
	for _, op := range j.ops {
		want[op.stage]++
	}
	for k := range most {
		base := len(j.dur)
		j.dur = append(j.dur, make([]int64, j.Ranks*len(j.ops))...)
		first, end, whole := int64(1<<62), int64(-1<<62), true
		for w, list := range steps {
			nth := make(map[string]int)
			whole = whole && len(list[k]) == want[w.stage]
			for _, e := range list[k] {
				op, ok := index[operation{w.stage, e.name, nth[e.name]}]
				nth[e.name]++
				if whole = whole && ok; !whole {
					break
				}
				j.dur[base+w.rank*len(j.ops)+op] = e.dur
				first, end = min(first, e.start), max(end, e.start+e.dur)
			}
		}
		if within := part.Empty() || first >= part.Start && first < part.End; !whole || !within {
			j.dur = j.dur[:base]
			if within {
				j.LeftOut++
			}
			continue
		}
		j.Steps++
		j.lengths = append(j.lengths, end-first)
	}
}

// names returns the names of the operations, sorted; sends and receives of a direction count as one.
func (j *Job) names() []string {
	set := make(map[string]bool)
	for _, op := range j.ops {
		set[pair(op.name)] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func pair(name string) string {
	if direction, what, _ := strings.Cut(name, "-"); what == "send" || what == "recv" {
		return direction + "-send/recv"
	}
	return name
}
