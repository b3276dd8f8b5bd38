package trace

// A GraphNode is a node of a CUDA graph that ran on a GPU: see [Detail.Node].
type GraphNode struct {
	Made []NodeMaking // where the node, or its original if it is a copy, was created
	Lost NodeLoss     // why Made is empty
}

// A NodeMaking is the creation of a node of a graph, most often by a launch while the program
// captured a stream.
type NodeMaking struct {
	Start int64 // ns
	ID    int64 // of the created node, unique in its process
	Track TrackID
}

// NoTrack is the Track of a NodeMaking on a thread that has no other event.
const NoTrack = ^TrackID(0)

// A NodeLoss is the reason why it is not known where a node was created.
type NodeLoss uint8

const (
	NodeFound      NodeLoss = iota
	NodeUnknown             // its creation is not recorded, or has no time or thread
	NodeCircular            // copies refer to each other in a circle, or too deeply
	NodeManyTimes           // it was created too many times to compare
	NodeUpdated             // the process updates graphs after creation, so a node may do other work
	NodeIncomplete          // records of creations are missing, or are too many to keep
)

// graphNode returns the graph node that ran as a, or nil.
func (t *Trace) graphNode(a *Activity) *GraphNode {
	n := t.details[a.Detail].Node
	if n == 0 || int64(n) > int64(len(t.GraphNodes)) {
		return nil
	}
	return &t.GraphNodes[n-1]
}
