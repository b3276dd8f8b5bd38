package nsys

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/trace"
)

// nodes collects the graph nodes that ran, and the rows that tell where nodes were created.
// Device work is read first, so that only the nodes that ran need to be looked up.
type nodes struct {
	requested bool               // by [trace.Select]
	wanted    bool               // asked for, and recorded
	numbers   map[nodeKey]uint32 // from 1
	used      []nodeKey
	rows      []nodeRow
	most      int // rows that are kept
	over      bool

	updates bool           // StringIds has the name of a call that changes graphs
	updated map[int64]bool // processes that call it
}

// A nodeKey is the ID of a node in its process.
type nodeKey struct{ pid, id int64 }

// A nodeRow is the creation of a node, with its original if it is a copy.
type nodeRow struct {
	nodeKey
	original int64 // 0 if none
	start    int64
	tid      int64
	timed    bool // start is valid
}

const (
	// noProcess stands for the unknown process of rows without a thread.
	noProcess = -1

	// maxUsedNodes is the maximum number of nodes that are distinguished: 1,000 graphs of 1,000 nodes.
	maxUsedNodes = 1 << 20

	// nodeShare is the divisor of the memory limit that gives the memory for nodeRows.
	nodeShare    = 32
	nodeRowBytes = 48
)

// nodeTables have the creations of nodes: the first in schema 2.x, the second since schema 3,
// where the first has the creations of graphs and lacks the column of nodes.
var nodeTables = []string{"CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS"}

// originalNode is the column with the node that was copied.
const originalNode = "originalGraphNodeId"

// want decides whether the creations of nodes are read.
func (n *nodes) want(l *loader) {
	if !n.requested || !l.graphs {
		n.updates = false
		return
	}
	for _, table := range nodeTables {
		n.wanted = n.wanted || slices.ContainsFunc(l.src.columns(table), isGraphNode)
	}
	n.updates = n.updates && n.wanted
	n.numbers, n.updated = make(map[nodeKey]uint32), make(map[int64]bool)
}

func isGraphNode(column string) bool { return strings.EqualFold(column, graphNode) }

// number returns the number (from 1) of a node that ran, which it assigns at first use.
func (n *nodes) number(pid, id int64) uint32 {
	key := nodeKey{pid, id}
	if at := n.numbers[key]; at > 0 {
		return at
	}
	if len(n.used) < maxUsedNodes {
		n.used = append(n.used, key)
		n.numbers[key] = uint32(len(n.used))
		return uint32(len(n.used))
	}
	return maxUsedNodes + 1
}

// changesGraphs reports whether a call changes what the nodes of an executable graph do.
func changesGraphs(call []byte) bool {
	return bytes.Contains(call, []byte("GraphExecUpdate")) ||
		bytes.Contains(call, []byte("Graph")) && bytes.Contains(call, []byte("SetParams"))
}

// graphUpdated records the process of a call that changes graphs. If the row has no thread,
// it may be any process.
func (l *loader) graphUpdated(r row) {
	pid := int64(noProcess)
	if !r.Null(3) && !r.NotNumber(3) && r.Num(3) != 0 {
		pid = l.thread(r.Num(3)).pid
	}
	l.nodes.updated[pid] = true
}

// nodeMade adds the creation of a node: a span, as for the creation of a graph, and a nodeRow.
func (l *loader) nodeMade(r row) {
	l.graphMade(r)
	n := &l.nodes
	if !n.wanted || n.over || r.Null(4) || r.NotNumber(4) || r.Num(4) == 0 {
		return
	}
	if len(n.rows) >= n.most {
		n.rows, n.over = nil, true
		return
	}
	row := nodeRow{nodeKey: nodeKey{noProcess, r.Num(4)}, original: r.Num(5), start: r.Num(0), timed: !r.Null(0) && !r.NotNumber(0)}
	if r.NotNumber(5) {
		row.original, row.timed = 0, false
	}
	if !r.Null(2) && !r.NotNumber(2) {
		t := l.thread(r.Num(2))
		row.pid, row.tid = t.pid, t.tid
	}
	n.rows = append(n.rows, row)
}

// graphNodes returns the nodes that ran, or nil if no creation of a node is recorded.
func (l *loader) graphNodes(t *trace.Trace) []trace.GraphNode {
	n := &l.nodes
	if len(n.used) == 0 || len(n.rows) == 0 && !n.over {
		return nil
	}
	incomplete := n.over || l.broken || !t.Complete
	n.sort()
	tracks := threadsOf(t)
	out := make([]trace.GraphNode, 0, len(n.used)+1)
	for _, key := range n.used {
		node := trace.GraphNode{Lost: trace.NodeIncomplete}
		switch {
		case incomplete:
		case n.updated[key.pid] || n.updated[noProcess]:
			node.Lost = trace.NodeUpdated
		default:
			node = n.find(key, tracks)
		}
		out = append(out, node)
	}
	return append(out, trace.GraphNode{Lost: trace.NodeIncomplete})
}

// sort brings the rows into the order of their nodes.
func (n *nodes) sort() {
	slices.SortFunc(n.rows, func(a, b nodeRow) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.id, b.id), cmp.Compare(a.start, b.start))
	})
}

// threadsOf returns the tracks of threads.
func threadsOf(t *trace.Trace) map[thread]trace.TrackID {
	out := make(map[thread]trace.TrackID)
	for i := range t.Tracks {
		pid, err := strconv.ParseInt(t.Tracks[i].PID, 10, 64)
		tid, err2 := strconv.ParseInt(t.Tracks[i].TID, 10, 64)
		if err == nil && err2 == nil && !t.Tracks[i].OnDevice {
			out[thread{pid, tid}] = trace.TrackID(i)
		}
	}
	return out
}

const (
	maxCopies  = 16 // copies of copies
	maxMakings = 4  // creations that are kept of one node
	maxSame    = 64 // rows of one node that are compared
)

// find follows the chain of originals of a node to the creation of the first one. A node that
// is a copy also has rows without an original, from the time of the copying. They are ignored,
// as in the queries in the documentation of Nsight Systems.
func (n *nodes) find(key nodeKey, tracks map[thread]trace.TrackID) (node trace.GraphNode) {
	todo := []nodeKey{key}
	for i := 0; i < len(todo); i++ {
		rows := n.of(todo[i])
		switch {
		case len(rows) == 0 || len(n.of(nodeKey{noProcess, todo[i].id})) > 0:
			return trace.GraphNode{Lost: trace.NodeUnknown}
		case len(rows) > maxSame:
			return trace.GraphNode{Lost: trace.NodeManyTimes}
		}
		copied := false
		for _, r := range rows {
			next := nodeKey{key.pid, r.original}
			if r.original == 0 {
				continue
			}
			again := slices.Index(todo, next)
			if again >= 0 && again <= i || len(todo) == maxCopies {
				return trace.GraphNode{Lost: trace.NodeCircular}
			}
			if copied = true; again < 0 {
				todo = append(todo, next)
			}
		}
		for _, r := range rows {
			if copied {
				break
			}
			if !r.timed {
				return trace.GraphNode{Lost: trace.NodeUnknown}
			}
			if len(node.Made) == maxMakings {
				return trace.GraphNode{Lost: trace.NodeManyTimes}
			}
			track, ok := tracks[thread{r.pid, r.tid}]
			if !ok {
				track = trace.NoTrack
			}
			node.Made = append(node.Made, trace.NodeMaking{Start: r.start, ID: r.id, Track: track})
		}
	}
	return node
}

// of returns the rows of a node.
func (n *nodes) of(key nodeKey) []nodeRow {
	at := func(key nodeKey, after int) int {
		i, _ := slices.BinarySearchFunc(n.rows, key, func(r nodeRow, key nodeKey) int {
			return cmp.Or(cmp.Compare(r.pid, key.pid), cmp.Compare(r.id, key.id), -after)
		})
		return i
	}
	return n.rows[at(key, 0):at(key, 1)]
}
