package tracegen

// A graph is a captured graph of device work.
type graph struct {
	on       *gpu
	id       int
	call     string
	nodes    []graphNode // none if it is traced as one event
	launches []graphLaunch
}

// A graphNode is one GPU operation of a graph.
type graphNode struct {
	name     string
	stream   int
	wait, ns int64 // the time between the node before it and its start, and its duration
}

type graphLaunch struct {
	call  *node
	works []*work
}

// capture adds a graph.
func (s *scene) capture(on *gpu, call string, nodes ...graphNode) *graph {
	g := &graph{on: on, id: len(s.graphs) + 1, call: call, nodes: nodes}
	s.graphs = append(s.graphs, g)
	return g
}

// launch replays the graph on the device from a given time on, in one launch by
// t.
func (g *graph) launch(t *thread, callNS, start int64) {
	c := t.call(g.call, callNS)
	l := graphLaunch{call: c}
	for i, n := range g.nodes {
		start += n.wait
		w := g.on.run(c, n.name, n.stream, start, n.ns)
		w.graph, w.graphNode = g, i
		l.works = append(l.works, w)
		start = w.end()
	}
	g.launches = append(g.launches, l)
}

// run returns the truth about a graph whose nodes never overlap other work, so
// that the waits between them are idle time.
func (g *graph) run() GraphRun {
	r := GraphRun{Device: g.on.ordinal, Call: g.call, Nodes: int64(len(g.nodes)), Launches: int64(len(g.launches)), Opaque: len(g.nodes) == 0}
	for _, l := range g.launches {
		r.CallNS += l.call.end - l.call.start
		if r.Opaque {
			continue
		}
		r.First = g.nodes[0].name
		r.DelayNS += max(0, l.works[0].start-l.call.end)
		for i, n := range g.nodes {
			r.WorkNS += n.ns
			r.SpanNS += n.ns
			if i > 0 {
				r.SpanNS += n.wait
				r.IdleNS += n.wait
			}
		}
	}
	return r
}
