package critical

// finish orders the nodes and finds the delays and the binding edge of each. A delay is at most
// the typical one; what is left goes to the binding edge, the one that predicts the latest start.
// So an unchanged replay gives back every start, which a test checks. The graph of a rank that is joined is never finished.
func (g *Graph) finish() {
	if g.order != nil {
		return
	}
	g.sort()
	g.Counts.Nodes = len(g.nodes)
	for v := range g.nodes {
		g.resolve(int32(v))
	}
	g.plan = g.stretches(g.order)
}

// resolve finds the delays and the binding edge of one node.
func (g *Graph) resolve(v int32) {
	n := &g.nodes[v]
	if g.Counts.Edges++; n.first == none && n.flags&isArrival == 0 { // most nodes: the chain, or an anchor
		if n.pred != none {
			slack := g.start[v] - g.end(n.pred)
			g.noteLate(slack)
			g.setLag(v, slack)
		}
		return
	}
	g.Counts.Edges--
	best, top, any := none, int64(0), false
	consider := func(id int32, typ, slack int64) int64 {
		g.Counts.Edges++
		g.noteLate(slack)
		if key := typ - slack; !any || key > top {
			best, top, any = id, key, true
		}
		return min(typ, slack)
	}
	e, slack, lag := n.first, int64(0), int64(0)
	if e != none && g.extra[e].kind == launch { // of edges that bind alike, the launch does
		x := &g.extra[e]
		x.lag, x.binds = consider(e, x.typ, g.start[v]-g.from(x.src, x.kind)), false
		e = x.next
	}
	if n.pred != none {
		slack = g.start[v] - g.end(n.pred)
		lag = consider(none, g.typ(v), slack)
	}
	for ; e != none; e = g.extra[e].next {
		x := &g.extra[e]
		x.lag, x.binds = consider(e, x.typ, g.start[v]-g.from(x.src, x.kind)), false
	}
	if n.flags&isArrival != 0 {
		g.Counts.Edges++
		if lag = min(lag, slack); top < 0 {
			g.setLag(v, lag)
			return
		}
	}
	if best == none {
		lag = slack
	} else {
		x := &g.extra[best]
		x.lag, x.binds = g.start[v]-g.from(x.src, x.kind), true
	}
	g.setLag(v, lag)
}

// noteLate counts an edge whose source ended after its target started.
func (g *Graph) noteLate(slack int64) {
	if slack < -us {
		g.Counts.LateSources++
	}
}

// sort orders the nodes so that each follows the sources of its edges. An edge that would make a
// cycle is dropped.
func (g *Graph) sort() {
	const open, done = 1, 2
	state := make([]uint8, len(g.nodes))
	g.order = make([]int32, 0, len(g.nodes))
	type frame struct{ v, edge int32 } // the next edge to follow; chain first
	const chain = -2
	var stack []frame
	for root := range int32(len(g.nodes)) {
		if state[root] != 0 {
			continue
		}
		stack = append(stack[:0], frame{root, chain})
		state[root] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			n := &g.nodes[f.v]
			var u int32
			switch f.edge {
			case chain:
				u, f.edge = n.pred, n.first
			case none:
				state[f.v] = done
				g.order = append(g.order, f.v)
				stack = stack[:len(stack)-1]
				continue
			default:
				u, f.edge = g.extra[f.edge].src, g.extra[f.edge].next
			}
			if u == none || state[u] == done {
				continue
			}
			if state[u] == open {
				g.drop(u, f.v)
				continue
			}
			state[u] = open
			stack = append(stack, frame{u, chain})
		}
	}
}

// drop removes the edges from u to v.
func (g *Graph) drop(u, v int32) {
	g.Counts.EdgesDropped++
	n := &g.nodes[v]
	if n.pred == u {
		n.pred = none
	}
	at := &n.first
	for *at != none {
		if x := &g.extra[*at]; x.src == u {
			*at = x.next
			continue
		} else {
			at = &x.next
		}
	}
}
