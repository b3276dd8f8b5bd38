// Package graph finds what the activities of a program waited for.
//
// A node is an activity: a stretch of time of a host thread in which the innermost open event does not
// change, or one piece of GPU work. An edge says that a node cannot start before another one has started
// or ended, plus a delay: the order of a thread or a stream, the launch of work, events between streams,
// calls that wait for work. Of the edges into a node the one that explains its start best binds it.
//
// Start with graph.go (Graph) and Of. host.go makes the nodes of threads, work.go those of the GPU
// and the typical delays; waits.go has the events between streams, blocking.go the calls that wait,
// order.go the order of nodes and the binding edges, and join.go joins the graphs of ranks.
package graph
