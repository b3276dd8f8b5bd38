package trace

// A NodeName is what a program named a node of a CUDA graph when it captured it, from another file than the trace.
type NodeName struct {
	Name       string
	Collective string // name of a collective, if the node is one
}

// nodeName returns the name of the node that an event is of, or false if the trace does not name it and no other file does.
func (s *Select) nodeName(node int64) (NodeName, bool) {
	if s.NodeNames == nil || node <= 0 {
		return NodeName{}, false
	}
	n, ok := s.NodeNames()[node]
	return n, ok
}
