// Package attribute finds the part of the program that GPU work and idle time belong to.
//
// It walks the events of each host thread once, in the order of time. Whatever was open on a
// thread when it made a launch owns the work of that launch: operators, modules, Python
// functions, annotations, and the pass (forward, backward, optimizer). The same walk knows what
// a thread did while a device was idle, which is why the causes of idle time are found here too.
//
// To read it: threads.go prepares the threads (Host), attribute.go has the walk (Work, walker),
// and contexts.go the tree of everything that was ever open. groups.go and cut.go distribute
// the walk over two cores. ops.go and places.go build the tables. idle.go and the files idle_*.go
// divide gaps between causes; host_states.go does the same for all time of the launching thread.
// memory.go attributes the memory in use at the peak. sites.go and stacks.go serve other views:
// the launch site of one activity, and stacks for flame graphs.
//
// The launches come from package launches, the gaps from calls, the threads from hosttree.
package attribute
