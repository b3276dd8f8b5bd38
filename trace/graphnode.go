package trace

// A GraphNode is a node of a graph that did work of a GPU: see [Detail.Node].
type GraphNode struct {
	Made []NodeMaking // of the node, or of the node that it is a copy of; several if the profiler recorded several
	Lost NodeLoss     // why Made is empty
}

// A NodeMaking is the time at which a program made a node of a graph, most often by a launch
// while it captured a stream.
type NodeMaking struct {
	Start int64 // ns
	ID    int64 // of the node that was made, in its process
	Track TrackID
}

// NoTrack is the Track of a making on a thread that has no other event.
const NoTrack = ^TrackID(0)

// A NodeLoss says why it is not known where a node was made.
type NodeLoss uint8

const (
	NodeFound      NodeLoss = iota
	NodeUnknown             // its making is not recorded, or has no time or thread
	NodeCircular            // copies refer to each other in a circle, or too deeply
	NodeManyTimes           // it was made too many times to compare
	NodeUpdated             // the process changes graphs after it made them, so a node may do other work
	NodeIncomplete          // makings are missing, or are too many to keep
)

// graphNode returns the node that did some work, or nil.
func (t *Trace) graphNode(a *Activity) *GraphNode {
	n := t.details[a.Detail].Node
	if n == 0 || int64(n) > int64(len(t.GraphNodes)) {
		return nil
	}
	return &t.GraphNodes[n-1]
}
