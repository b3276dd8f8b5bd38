package efficiency

import (
	"cmp"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"

	"assay/analyze/efficiency/operators"
	"assay/summary"
	"assay/trace"
)

// makers has the operators that were open when the nodes of graphs were added, by
// [trace.Detail.Node], and the captures that follow from these. It may be nil.
type makers struct {
	o     *Owners
	nodes []maker

	list   []summary.EfficiencyCapture
	lost   [][]summary.NodesLost // by capture
	first  int                   // number of the first capture
	of     map[string]int        // index of a capture by its content
	stored int                   // number of nodes of all captures
}

// A maker has what is known about how a node was added.
type maker struct {
	why   string // one of the reasons of [summary.NodesLost], or ""
	makes []making
}

// A making is one recorded addition of a node, with the operators that were open, outermost first.
type making struct {
	of    nodeOf
	start int64
	open  []*trace.Op
}

// A nodeOf identifies the node that was made.
type nodeOf struct {
	track trace.TrackID
	id    int64
}

// lossReasons has the reasons of losses.
var lossReasons = [...]string{
	trace.NodeFound: "", trace.NodeUnknown: summary.NodeUnknown, trace.NodeCircular: summary.NodeCircular, trace.NodeManyTimes: summary.NodeAmbiguous,
	trace.NodeUpdated: summary.NodeUpdated, trace.NodeIncomplete: summary.NodeIncomplete,
}

// makersOf returns the makers of the nodes of a trace, or nil if none are recorded. first is the
// number of the first capture.
func (o *Owners) makersOf(first int) *makers {
	if len(o.t.GraphNodes) == 0 {
		return nil
	}
	m := &makers{o: o, nodes: make([]maker, len(o.t.GraphNodes)), first: first, of: map[string]int{}}
	times := map[trace.TrackID][]made{}
	for i := range o.t.GraphNodes {
		n, k := &o.t.GraphNodes[i], &m.nodes[i]
		k.why, k.makes = lossReasons[n.Lost], make([]making, len(n.Made))
		for j, at := range n.Made {
			k.makes[j].of, k.makes[j].start = nodeOf{at.Track, at.ID}, at.Start
			if at.Track != trace.NoTrack {
				times[at.Track] = append(times[at.Track], made{at.Start, i, j})
			}
		}
	}
	ops, copying := m.around(times)
	for track, list := range times {
		slices.SortFunc(list, func(a, b made) int { return cmp.Compare(a.start, b.start) })
		m.sweep(list, ops[track], copying[track])
	}
	return m
}

// A made is the time of a making: of a node, and which of its makings.
type made struct {
	start        int64
	node, making int
}

// around returns the operators and the calls that copy nodes on the threads that made nodes, outer
// ones first.
func (m *makers) around(times map[trace.TrackID][]made) (ops map[trace.TrackID][]*trace.Op, copying map[trace.TrackID][]*trace.Call) {
	ops, copying = map[trace.TrackID][]*trace.Op{}, map[trace.TrackID][]*trace.Call{}
	t := m.o.t
	for op := range t.Ops.All() {
		if times[op.Track] != nil {
			ops[op.Track] = append(ops[op.Track], op)
		}
	}
	for c := range t.Calls.All() {
		if times[c.Track] != nil && copiesNodes(t.Name(c.Name)) {
			copying[c.Track] = append(copying[c.Track], c)
		}
	}
	for _, list := range ops {
		slices.SortStableFunc(list, func(a, b *trace.Op) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur), cmp.Compare(a.External, b.External))
		})
	}
	for _, list := range copying {
		slices.SortStableFunc(list, func(a, b *trace.Call) int { return cmp.Compare(a.Start, b.Start) })
	}
	return ops, copying
}

// copiesNodes reports whether a call adds nodes as copies of others. The operators that are open
// then do not tell what the nodes do.
func copiesNodes(call string) bool {
	for _, word := range []string{"GraphInstantiate", "GraphClone", "GraphLaunch", "GraphUpload", "GraphAddChildGraphNode"} {
		if strings.Contains(call, word) {
			return true
		}
	}
	return false
}

// maxOpen is the maximum number of open operators. No real program nests deeper.
const maxOpen = 256

// sweep finds the operators that were open at the times of a thread.
func (m *makers) sweep(list []made, ops []*trace.Op, copying []*trace.Call) {
	var stack, last []*trace.Op
	copied := int64(-1 << 63) // last end of calls that copy nodes
	for _, at := range list {
		for ; len(copying) > 0 && copying[0].Start <= at.start; copying = copying[1:] {
			copied = max(copied, copying[0].Start+copying[0].Dur)
		}
		for ; len(ops) > 0 && ops[0].Start <= at.start; ops = ops[1:] {
			stack = append(ended(stack, ops[0].Start), ops[0])
		}
		stack = ended(stack, at.start)
		node := &m.nodes[at.node]
		switch {
		case at.start < copied:
			node.why = summary.NodeCopied
		case len(stack) > maxOpen:
			node.why = summary.NodeAmbiguous
		default:
			open := slices.DeleteFunc(slices.Clone(stack), func(op *trace.Op) bool { return op.Start+op.Dur <= at.start })
			if !slices.Equal(open, last) {
				last = open
			}
			node.makes[at.making].open = last
		}
	}
}

// ended removes innermost operators while they have ended.
func ended(stack []*trace.Op, ns int64) []*trace.Op {
	for n := len(stack); n > 0 && stack[n-1].Start+stack[n-1].Dur <= ns; n-- {
		stack = stack[:n-1]
	}
	return stack
}

// An owned is the operator that owns a node.
type owned struct {
	of    nodeOf
	op    *trace.Op
	open  []*trace.Op
	work  int32
	again bool
}

// owner returns the operator that owns a node that ran a kernel at time at, or why it is unknown. All
// makings of the node must be earlier and agree.
func (m *makers) owner(node uint32, kernel trace.Sym, at int64) (out owned, why string) {
	if node == 0 || int(node) > len(m.nodes) {
		return out, summary.NodeUnknown
	}
	k := &m.nodes[node-1]
	if k.why != "" {
		return out, k.why
	}
	for i, made := range k.makes {
		if made.start > at {
			return out, summary.NodeUnknown
		}
		one := owned{of: made.of, open: made.open}
		if len(made.open) > 0 {
			var at int
			at, one.work = m.o.choose(made.open, kernel, false)
			one.op, one.again = made.open[at], m.o.again(made.open, at)
		}
		switch {
		case i == 0:
			out = one
		case (out.op == nil) != (one.op == nil) || out.op != nil && (out.op.Name != one.op.Name || out.op.Shape != one.op.Shape || out.work != one.work || out.again != one.again):
			return out, summary.NodeAmbiguous
		}
	}
	if out.op == nil {
		return out, summary.NodeOutside
	}
	return out, ""
}

// capture returns the number of the capture of a replay, and the reasons why nodes have no operator.
// It is 0 if there are too many nodes.
func (m *makers) capture(t *trace.Trace, r *replay) (number int, lost []summary.NodesLost) {
	if m.stored+len(r.nodes) > maxNodes {
		return 0, nil
	}
	c := summary.EfficiencyCapture{Made: true, Nodes: int64(len(r.nodes)), Count: 1, Kernels: kernelsOf(t, r)}
	rows := captured{o: m.o, out: &c, at: map[capturedKey]int32{}, parts: newParts(m.o)}
	why := m.fill(&rows, r)
	for reason, n := range why {
		lost = append(lost, summary.NodesLost{Reason: reason, Nodes: n})
	}
	slices.SortFunc(lost, func(a, b summary.NodesLost) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Reason, b.Reason))
	})
	c.Decode = &rows.parts.DecodeParts
	content, err := json.Marshal([]any{c, lost})
	if err != nil {
		return 0, nil
	}
	key := string(content)
	at, ok := m.of[key]
	if !ok {
		at = len(m.list)
		m.of[key] = at
		c.Number = m.first + at
		m.list, m.lost = append(m.list, c), append(m.lost, lost)
		m.stored += len(r.nodes)
	}
	return m.list[at].Number, m.lost[at]
}

// captures returns the captures that follow from the nodes of replays.
func (m *makers) captures(rank int) []summary.EfficiencyCapture {
	if m == nil {
		return nil
	}
	for i := range m.list {
		m.list[i].Rank = rank
	}
	return m.list
}

// A madeCall is a call of an operator: a graph that has a copy of a node twice has its call twice.
type madeCall struct {
	op    *trace.Op
	times int
}

// fill adds the operators of a replay to the rows of a capture. It returns the number of nodes
// without an operator, by reason.
func (m *makers) fill(rows *captured, r *replay) (lost map[string]int64) {
	list, calls := make([]owned, len(r.nodes)), make([]madeCall, len(r.nodes))
	lost = map[string]int64{}
	times, first := map[nodeOf]int{}, map[madeCall]int{} // first: the node whose kernel represents the call
	for i, node := range r.nodes {
		one, why := m.owner(node, r.names[i], r.first)
		if why != "" {
			lost[why]++
			continue
		}
		list[i], calls[i] = one, madeCall{one.op, times[one.of]}
		times[one.of]++
		if at, ok := first[calls[i]]; !ok || r.kinds[at] != trace.Kernel && r.kinds[i] == trace.Kernel {
			first[calls[i]] = i
		}
	}
	of := map[madeCall]int32{}
	for i, one := range list {
		if one.op == nil {
			rows.out.Of = append(rows.out.Of, -1)
			continue
		}
		row, again := of[calls[i]]
		if !again {
			row = m.add(rows, r, list, first[calls[i]])
			of[calls[i]] = row
		}
		rows.parts.uses(m.o.usesOf(one.open))
		rows.out.Of = append(rows.out.Of, row)
	}
	return lost
}

// add adds the call of a node to the rows of a capture.
func (m *makers) add(rows *captured, r *replay, list []owned, at int) int32 {
	one, kernel := list[at], m.o.t.Name(r.names[at])
	if r.kinds[at] != trace.Kernel { // as in other captures: the row has the memory of the GPU as its limit
		one.work, kernel = m.o.unknown(one.op, 0, operators.GraphReplay), ""
	}
	row := rows.add(one.work, kernel, one.again)
	if kernel != "" && rows.parts.add(one.op, &m.o.works[one.work].work, kernel) && !slices.Contains(rows.out.Hidden, row) {
		rows.out.Hidden = append(rows.out.Hidden, row)
	}
	return row
}

// made returns the capture of a replay; its number is 0 if there is none.
func (m *meter) made(r *replay) madeOf {
	if m.makers == nil {
		return madeOf{}
	}
	var h maphash.Hash
	h.SetSeed(m.graphs.seed)
	for i, node := range r.nodes {
		maphash.WriteComparable(&h, [3]int64{int64(node), int64(r.names[i]), int64(r.kinds[i])})
	}
	key := h.Sum64()
	of, ok := m.graphs.made[key]
	if !ok {
		of.number, of.lost = m.makers.capture(m.t, r)
		m.graphs.made[key] = of
	}
	return of
}

// A madeOf is the capture of a replay by its nodes.
type madeOf struct {
	number int
	lost   []summary.NodesLost
}
