// Package critical finds what a step of a program waited for, and what a change would give.
//
// A trace becomes a graph. A node is an activity: a stretch of time of a host thread in which the
// innermost open event does not change, or one piece of GPU work. An edge says that a node cannot
// start before another one has started or ended, plus a delay: the order of a thread or a stream,
// the launch of work, events between streams, calls that wait for work. Of the edges into a node
// the one that explains its start best binds it.
//
// The critical path of a step goes back from its end along binding edges. Its pieces partition the
// time of the step, so the classes of a [Path] sum to its window. A forecast changes durations and
// delays and computes all starts anew ([Graph.Forecast]). A path does not tell what a change gains:
// a second chain may be nearly as long.
//
// Start with graph.go (Graph, Of). host.go makes the nodes of threads, work.go those of the GPU
// and the typical delays; waits.go has the events between streams, blocking.go the calls that wait,
// order.go the order of nodes and the binding edges. path.go walks back, replay.go computes starts
// anew, changes.go says what a change does to nodes and edges, join.go joins the graphs of ranks,
// and verdict.go says how far an answer can be trusted.
package critical
