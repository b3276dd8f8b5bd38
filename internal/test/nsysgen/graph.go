package nsysgen

import (
	"fmt"
	"strings"
)

// A NodeTable is how an export has the makings of nodes of graphs.
type NodeTable int

const (
	Originals    NodeTable = iota // CUDA_GRAPH_NODE_EVENTS; nodes of the executable graph name their originals
	OldOriginals                  // the same as CUDA_GRAPH_EVENTS of schema 2.x, where a missing original is 0
	NoOriginals                   // without originalGraphNodeId; kernels have the IDs of the nodes of the capture
)

// A GraphPlan defines an export of a program that captures a graph under operators and replays it,
// recorded with --cuda-graph-trace=node.
type GraphPlan struct {
	Replays int
	Copies  int // copies of the captured graph in the executable graph, as by child graphs; 1 if 0
	Table   NodeTable
}

// A GraphOperator is an operator of the capture.
type GraphOperator struct {
	Name string
	Dims string // as in the text of its range
	// Of one call, which one replay repeats for each copy of the graph:
	FLOPs int64
	NS    int64 // of all its kernels
	Calls int64
}

// A GraphTruth is what an export of a plan has.
type GraphTruth struct {
	Operators []GraphOperator
	Nodes     int64 // of one copy of the graph
	Outside   int64 // of these, made while no operator was open
	OutsideNS int64 // of one copy
	NS        int64 // of one copy
}

// The IDs of the nodes: the graph is in the upper half.
const (
	CapturedNode   = 3 << 32 // of the first node of the capture
	ExecutableNode = 4 << 32
)

// graphNode is a kernel of the graph: of which operator, and its duration.
type graphNode struct {
	kernel string
	op     int // -1: outside of operators
	ns     int64
}

const (
	tokens, width, inner  = 48, 128, 320 // of the inner
	heads, queries, depth = 4, 48, 32
)

var graphOperators = []GraphOperator{
	{Name: "aten::addmm", Dims: fmt.Sprintf("[[%d], [%d, %d], [%d, %d], [], []]", inner, tokens, width, width, inner),
		FLOPs: 2*tokens*width*inner + tokens*inner, NS: 9_000, Calls: 1},
	{Name: "aten::mm", Dims: fmt.Sprintf("[[%d, %d], [%d, %d]]", tokens, inner, inner, width),
		FLOPs: 2 * tokens * width * inner, NS: 5_000, Calls: 1},
	{Name: "aten::bmm", Dims: fmt.Sprintf("[[%d, %d, %d], [%d, %d, %d]]", heads, queries, depth, heads, depth, queries),
		FLOPs: 2 * heads * queries * queries * depth, NS: 4_000, Calls: 1},
}

var graphNodes = []graphNode{
	{"gemm_kernel", 0, 7_000}, {"splitKreduce_kernel", 0, 2_000}, // one call with two kernels
	{"gemm_kernel", 1, 5_000},
	{"elementwise_kernel", -1, 1_000},
	{"gemm_kernel", 2, 4_000},
}

// WriteGraph creates the export of a plan at a path that does not exist.
//
// The product with a bias runs below aten::linear, which launches nothing itself.
func WriteGraph(path string, p GraphPlan) (truth GraphTruth, err error) {
	p.Copies = max(1, p.Copies)
	truth = GraphTruth{Operators: graphOperators, Nodes: int64(len(graphNodes))}
	for _, n := range graphNodes {
		truth.NS += n.ns
		if n.op < 0 {
			truth.Outside++
			truth.OutsideNS += n.ns
		}
	}
	return truth, write(path, func(db *database) error {
		w := &graphWriter{database: db, plan: p, table: "CUDA_GRAPH_NODE_EVENTS", now: 1_000_000}
		switch p.Table {
		case OldOriginals:
			w.table = "CUDA_GRAPH_EVENTS"
			db.own = map[string]string{w.table: columns["CUDA_GRAPH_NODE_EVENTS"]}
		case NoOriginals:
			db.own = map[string]string{w.table: strings.Replace(columns[w.table], ", originalGraphNodeId INTEGER", "", 1)}
		}
		w.row("TARGET_INFO_GPU", 0, "NVIDIA H100 80GB HBM3", int64(80<<30))
		w.capture()
		w.instantiate()
		for range p.Replays {
			w.replay()
		}
		return nil
	})
}

// A graphWriter writes the events of a plan one after the other.
type graphWriter struct {
	*database
	plan    GraphPlan
	table   string
	now     int64
	calls   int64
	another int64 // ID of the next node of the executable graph
}

// do runs a call in which something happens, and returns its correlation.
func (w *graphWriter) do(name string, inside func()) int64 {
	start := w.now
	w.calls++
	correlation := w.calls
	w.now += 1_000
	inside()
	w.now += 1_000
	w.call(name, 0, global(pid, pid), correlation, start, w.now-start)
	w.now += 1_000
	return correlation
}

// node writes the making of a node. No original is null, and 0 in schema 2.x.
func (w *graphWriter) node(id int64, original any) {
	name := w.string("Graph Node Creation")
	const creation = 77 // eventClass
	values := []any{w.now, w.now + 100, creation, global(pid, pid), name, id, original}
	switch {
	case w.plan.Table == NoOriginals:
		values = values[:6]
	case w.plan.Table == OldOriginals && original == nil:
		values[6] = 0
	}
	w.row(w.table, values...)
	w.now += 200
}

// within runs something in the range of an operator.
func (w *graphWriter) within(text string, inside func()) {
	start := w.now
	w.now += 1_000
	inside()
	w.now += 1_000
	w.pushPop(text, global(pid, pid), start, w.now-start)
}

func (w *graphWriter) capture() {
	w.do("cudaStreamBeginCapture_v10000", func() {})
	for i := 0; i < len(graphNodes); {
		op := graphNodes[i].op
		launch := func() {
			for ; i < len(graphNodes) && graphNodes[i].op == op; i++ {
				w.do("cudaLaunchKernel_v7000", func() { w.node(CapturedNode+int64(i), nil) })
			}
		}
		if op < 0 {
			launch()
			continue
		}
		o := &graphOperators[op]
		run := func() { w.within(fmt.Sprintf("%s, op_id = %d, sizes = %s", o.Name, 10+op, o.Dims), launch) }
		if o.Name == "aten::addmm" {
			product := run
			run = func() {
				w.within(fmt.Sprintf("aten::linear, op_id = 5, sizes = [[%d, %d], [%d, %d], [%d]]", tokens, width, inner, width, inner), product)
			}
		}
		run()
	}
	w.do("cudaStreamEndCapture_v10000", func() {})
}

// instantiate makes the nodes of the executable graph: each has a row as a new node, and one that
// names its original.
func (w *graphWriter) instantiate() {
	w.another = ExecutableNode
	w.do("cudaGraphInstantiate_v10000", func() {
		for range w.plan.Copies {
			for i := range graphNodes {
				if w.plan.Table != NoOriginals {
					w.node(w.another, nil)
					w.node(w.another, int64(CapturedNode+i))
				}
				w.another++
			}
		}
	})
}

// replay launches the graph, and runs its kernels one after the other.
func (w *graphWriter) replay() {
	correlation := w.do("cudaGraphLaunch_v10000", func() {})
	id := int64(ExecutableNode)
	for range w.plan.Copies {
		for i, n := range graphNodes {
			node := id
			if w.plan.Table == NoOriginals {
				node = CapturedNode + int64(i)
			}
			w.kernel(kernel{start: w.now, dur: n.ns, stream: 7, correlation: correlation, process: global(pid, 0),
				name: n.kernel, short: n.kernel, grid: [3]int64{64, 1, 1}, block: [3]int64{128, 1, 1}, registers: 32, shared: 4096, node: node})
			w.now += n.ns + 500
			id++
		}
	}
}
