package graph

// Finish orders the nodes and finds the delays and the binding edge of each. A delay is at most
// the typical one; what is left goes to the binding edge, the one that predicts the latest start.
// So an unchanged replay gives back every start, which a test checks. The graph of a rank that is joined is never finished.
func (g *Graph) Finish() {
	if g.Order != nil {
		return
	}
	g.sort()
	g.Counts.Nodes = len(g.Nodes)
	for v := range g.Nodes {
		g.resolve(int32(v))
	}
}

// resolve finds the delays and the binding edge of one node.
func (g *Graph) resolve(v int32) {
	n := &g.Nodes[v]
	if g.Counts.Edges++; n.First == None && n.Flags&IsArrival == 0 { // most nodes: the chain, or an anchor
		if n.Pred != None {
			slack := g.Start[v] - g.End(n.Pred)
			g.noteLate(slack)
			g.setLag(v, slack)
		}
		return
	}
	g.Counts.Edges--
	best, top, any := None, int64(0), false
	consider := func(id int32, typ, slack int64) int64 {
		g.Counts.Edges++
		g.noteLate(slack)
		if key := typ - slack; !any || key > top {
			best, top, any = id, key, true
		}
		return min(typ, slack)
	}
	e, slack, lag := n.First, int64(0), int64(0)
	if e != None && g.Extra[e].Kind == Launch { // of edges that bind alike, the launch does
		x := &g.Extra[e]
		x.Lag, x.Binds = consider(e, x.Typ, g.Start[v]-g.From(x.Src, x.Kind)), false
		e = x.Next
	}
	if n.Pred != None {
		slack = g.Start[v] - g.End(n.Pred)
		lag = consider(None, g.Typ(v), slack)
	}
	for ; e != None; e = g.Extra[e].Next {
		x := &g.Extra[e]
		x.Lag, x.Binds = consider(e, x.Typ, g.Start[v]-g.From(x.Src, x.Kind)), false
	}
	if n.Flags&IsArrival != 0 {
		g.Counts.Edges++
		if lag = min(lag, slack); top < 0 {
			g.setLag(v, lag)
			return
		}
	}
	if best == None {
		lag = slack
	} else {
		x := &g.Extra[best]
		x.Lag, x.Binds = g.Start[v]-g.From(x.Src, x.Kind), true
	}
	g.setLag(v, lag)
}

// noteLate counts an edge whose source ended after its target started.
func (g *Graph) noteLate(slack int64) {
	if slack < -Us {
		g.Counts.LateSources++
	}
}

// sort orders the nodes so that each follows the sources of its edges. An edge that would make a
// cycle is dropped.
func (g *Graph) sort() {
	const open, done = 1, 2
	state := make([]uint8, len(g.Nodes))
	g.Order = make([]int32, 0, len(g.Nodes))
	type frame struct{ v, edge int32 } // the next edge to follow; chain first
	const chain = -2
	var stack []frame
	for root := range int32(len(g.Nodes)) {
		if state[root] != 0 {
			continue
		}
		stack = append(stack[:0], frame{root, chain})
		state[root] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			n := &g.Nodes[f.v]
			var u int32
			switch f.edge {
			case chain:
				u, f.edge = n.Pred, n.First
			case None:
				state[f.v] = done
				g.Order = append(g.Order, f.v)
				stack = stack[:len(stack)-1]
				continue
			default:
				u, f.edge = g.Extra[f.edge].Src, g.Extra[f.edge].Next
			}
			if u == None || state[u] == done {
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
	n := &g.Nodes[v]
	if n.Pred == u {
		n.Pred = None
	}
	at := &n.First
	for *at != None {
		if x := &g.Extra[*at]; x.Src == u {
			*at = x.Next
			continue
		} else {
			at = &x.Next
		}
	}
}
