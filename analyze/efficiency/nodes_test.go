package efficiency_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"assay/analyze"
	"assay/ingest/partial"
	"assay/internal/test/nsysgen"
	"assay/nsys"
	"assay/summary"
	"assay/trace"
)

// graphExport writes the export of a plan, changes it, and returns its path and truth.
func graphExport(t *testing.T, p nsysgen.GraphPlan, statements ...string) (string, nsysgen.GraphTruth) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	truth, err := nsysgen.WriteGraph(path, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nsysgen.Change(path, statements...); err != nil {
		t.Fatal(err)
	}
	return path, truth
}

// graphEfficiency returns the joined efficiency of an export.
func graphEfficiency(t *testing.T, path string, sel trace.Select) summary.Efficiency {
	t.Helper()
	return joined(readGraph(t, path, sel))
}

func readGraph(t *testing.T, path string, sel trace.Select) *trace.Trace {
	t.Helper()
	tr, err := nsys.ReadSQLite(path, "run.sqlite", sel)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func joined(tr *trace.Trace) summary.Efficiency {
	s := analyze.Trace(tr, summary.Input{Path: "run.sqlite"}, analyze.DefaultOptions())
	return partial.Join([]partial.Part{{Summary: s}}).Efficiency
}

// checkOperators compares the rows with those of so many replays of so many copies of the graph,
// without the operators that are left out.
func checkOperators(t *testing.T, e summary.Efficiency, truth nsysgen.GraphTruth, replays int64, without ...string) {
	t.Helper()
	want, got := map[string][3]int64{}, map[string][3]int64{}
	for _, o := range truth.Operators {
		want[o.Name+" "+o.Dims] = [3]int64{o.Calls * replays, o.NS * replays, o.FLOPs * replays}
	}
	for _, name := range without {
		for _, o := range truth.Operators {
			if o.Name == name {
				delete(want, o.Name+" "+o.Dims)
			}
		}
	}
	for _, r := range e.Rows {
		if r.FLOPs == nil || r.From != summary.FromCapture {
			t.Errorf("row %+v, want FLOPs of a capture", r)
			continue
		}
		var dims [][]int64
		if err := json.Unmarshal(r.Dims, &dims); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(dims)
		got[r.Op+" "+spaced(string(text))] = [3]int64{r.Count, r.GPUNS, *r.FLOPs}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("operators (calls, ns, FLOPs) are %v, want %v", got, want)
	}
}

// spaced writes lists as emit_nvtx does.
func spaced(list string) string {
	out := ""
	for _, c := range list {
		if out += string(c); c == ',' {
			out += " "
		}
	}
	return out
}

// TestNodeIDs: the kernels of replays have the operators under which the program captured them, in
// both schemas, with originals and without, and for graphs that have the captured one twice. The
// sums of the GPU agree with the rows.
func TestNodeIDs(t *testing.T) {
	for _, table := range []nsysgen.NodeTable{nsysgen.Originals, nsysgen.OldOriginals, nsysgen.NoOriginals} {
		for _, copies := range []int64{1, 3} {
			const replays = 7
			path, truth := graphExport(t, nsysgen.GraphPlan{Replays: replays, Copies: int(copies), Table: table})
			e := graphEfficiency(t, path, analyze.Needs())
			checkOperators(t, e, truth, replays*copies)
			flops := int64(0)
			for _, o := range truth.Operators {
				flops += o.FLOPs * replays * copies
			}
			d, known := e.Devices[0], (truth.NS-truth.OutsideNS)*replays*copies
			if int64(d.MatrixFLOPs) != flops || d.FLOPsKnownNS != known || d.NoOperatorNS != truth.OutsideNS*replays*copies || d.GraphNS != d.NoOperatorNS || d.GPUNS != truth.NS*replays*copies {
				t.Errorf("table %d: sums %+v, want %d FLOPs in %d ns", table, d.EfficiencySums, flops, known)
			}
			if len(e.Captures) > 0 || len(e.Replays) != 1 {
				t.Fatalf("table %d: %d captures, replays %+v", table, len(e.Captures), e.Replays)
			}
			r := e.Replays[0]
			lost := []summary.NodesLost{{Reason: summary.NodeOutside, Nodes: truth.Outside * copies}}
			if r.From != summary.FromNodes || r.Launches != replays || r.Nodes != truth.Nodes*copies || r.KnownNS != known || !reflect.DeepEqual(r.NodesLost, lost) || r.Unmatched != "" {
				t.Errorf("table %d: replay %+v", table, r)
			}
		}
	}
}

// nodeCase is a change of an export and what becomes of its nodes.
type nodeCase struct {
	name       string
	table      nsysgen.NodeTable
	statements []string
	lost       map[string]int64 // nodes of a replay, with the one outside of operators
	without    []string         // operators that have no row
}

const (
	nodeTable  = "CUDA_GRAPH_NODE_EVENTS"
	endCapture = "CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId = (SELECT id FROM StringIds WHERE value LIKE 'cudaStreamEndCapture%')"
)

var (
	everyOperator = []string{"aten::addmm", "aten::mm", "aten::bmm"}
	outsideOnly   = map[string]int64{summary.NodeOutside: 1}
)

// again returns a statement that makes a captured node once more, in the call that made another.
func again(node, like int) string {
	return fmt.Sprintf("INSERT INTO %s SELECT start, end, eventClass, globalTid, nameId, %d, NULL FROM %s WHERE graphNodeId = %d", nodeTable, nsysgen.CapturedNode+node, nodeTable, nsysgen.CapturedNode+like)
}

func of(node int) string { return fmt.Sprint(nsysgen.CapturedNode + node) }

// updateGraphs makes the end of the capture an update of a graph, which updatingName selects.
const (
	updateGraphs = "UPDATE StringIds SET value = 'cudaGraphExecUpdate_v10020' WHERE value LIKE 'cudaStreamEndCapture%'"
	updatingName = "(SELECT id FROM StringIds WHERE value LIKE 'cudaGraphExecUpdate%')"
)

// nodeCases are near misses: of the nodes, 0 and 1 are of addmm, 2 of mm, 3 of nothing, 4 of bmm.
var nodeCases = []nodeCase{
	{name: "made twice by one operator", statements: []string{again(0, 1), again(4, 4)}, lost: outsideOnly},
	{name: "made by two operators", statements: []string{again(2, 4)}, lost: map[string]int64{summary.NodeOutside: 1, summary.NodeAmbiguous: 1}, without: []string{"aten::mm"}},
	{name: "made by an operator and outside", statements: []string{again(2, 3)}, lost: map[string]int64{summary.NodeOutside: 1, summary.NodeAmbiguous: 1}, without: []string{"aten::mm"}},
	{name: "made by one operator with other arguments", statements: []string{
		`INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) SELECT start - 10, end + 10, 59, 'aten::mm, op_id = 99, sizes = [[2, 3], [3, 4]]', globalTid, 0 FROM ` + endCapture,
		`INSERT INTO ` + nodeTable + ` SELECT start + 5, start + 6, 77, globalTid, 1, ` + of(2) + `, NULL FROM ` + endCapture},
		lost: map[string]int64{summary.NodeOutside: 1, summary.NodeAmbiguous: 1}, without: []string{"aten::mm"}},
	{name: "made when another operator ends that does not nest", statements: []string{
		`INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) SELECT n.start - 10, e.start, 59, 'aten::addmm, op_id = 99, sizes = [[4], [2, 3], [3, 4], [], []]', n.globalTid, 0
			FROM NVTX_EVENTS n, ` + nodeTable + ` e WHERE n.text LIKE 'aten::mm,%' AND e.graphNodeId = ` + of(2)}, lost: outsideOnly},
	{name: "made too often", statements: []string{again(4, 4), again(4, 4), again(4, 4)}, lost: map[string]int64{summary.NodeOutside: 1, summary.NodeAmbiguous: 1}, without: []string{"aten::bmm"}},
	{name: "unknown original", statements: []string{"DELETE FROM " + nodeTable + " WHERE graphNodeId = " + of(4)}, lost: map[string]int64{summary.NodeOutside: 1, summary.NodeUnknown: 1}, without: []string{"aten::bmm"}},
	{name: "original not recorded", statements: []string{"UPDATE " + nodeTable + " SET originalGraphNodeId = NULL"}, lost: map[string]int64{summary.NodeCopied: 5}, without: everyOperator},
	{name: "original not recorded, instantiated under an operator", statements: []string{"UPDATE " + nodeTable + " SET originalGraphNodeId = NULL",
		`INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) SELECT r.start - 100, r.end + 100, 59, 'aten::mm, op_id = 99, sizes = [[2, 3], [3, 4]]', r.globalTid, 0
			FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE 'cudaGraphInstantiate%'`}, lost: map[string]int64{summary.NodeCopied: 5}, without: everyOperator},
	{name: "instantiated under an operator", statements: []string{
		`INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) SELECT r.start - 100, r.end + 100, 59, 'aten::mm, op_id = 99, sizes = [[2, 3], [3, 4]]', r.globalTid, 0
			FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId WHERE s.value LIKE 'cudaGraphInstantiate%'`}, lost: outsideOnly},
	{name: "captured before the recording", statements: []string{"DELETE FROM " + nodeTable + " WHERE originalGraphNodeId IS NULL"}, lost: map[string]int64{summary.NodeUnknown: 5}, without: everyOperator},
	{name: "other nodes only", statements: []string{"UPDATE " + nodeTable + " SET graphNodeId = graphNodeId + 1000"}, lost: map[string]int64{summary.NodeUnknown: 5}, without: everyOperator},
	{name: "own original", statements: []string{"UPDATE " + nodeTable + " SET originalGraphNodeId = graphNodeId WHERE originalGraphNodeId IS NOT NULL"}, lost: map[string]int64{summary.NodeCircular: 5}, without: everyOperator},
	{name: "circle", statements: []string{fmt.Sprintf("UPDATE %s SET originalGraphNodeId = %d WHERE graphNodeId = %d", nodeTable, nsysgen.ExecutableNode+2, nsysgen.CapturedNode+2)},
		lost: map[string]int64{summary.NodeOutside: 1, summary.NodeCircular: 1}, without: []string{"aten::mm"}},
	{name: "no thread", statements: []string{"UPDATE " + nodeTable + " SET globalTid = NULL WHERE graphNodeId = " + of(2)}, lost: map[string]int64{summary.NodeOutside: 1, summary.NodeUnknown: 1}, without: []string{"aten::mm"}},
	{name: "another thread", statements: []string{"UPDATE " + nodeTable + " SET globalTid = globalTid + 1"}, lost: map[string]int64{summary.NodeOutside: 5}, without: everyOperator},
	{name: "another process", statements: []string{"UPDATE " + nodeTable + " SET globalTid = globalTid + (1 << 24)"}, lost: map[string]int64{summary.NodeUnknown: 5}, without: everyOperator},
	{name: "text instead of an original", statements: []string{fmt.Sprintf("UPDATE %s SET originalGraphNodeId = 'x' WHERE originalGraphNodeId = %s", nodeTable, of(2))},
		lost: map[string]int64{summary.NodeOutside: 1, summary.NodeUnknown: 1}, without: []string{"aten::mm"}},
	{name: "text instead of a node", statements: []string{fmt.Sprintf("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 'x' || graphNodeId WHERE graphNodeId = %d", nsysgen.ExecutableNode+2)},
		lost: map[string]int64{summary.NodeOutside: 1, summary.NodeUnknown: 1}, without: []string{"aten::mm"}},
	{name: "negative nodes", statements: []string{
		"UPDATE " + nodeTable + " SET graphNodeId = graphNodeId | (-1 << 62), originalGraphNodeId = originalGraphNodeId | (-1 << 62)",
		"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = graphNodeId | (-1 << 62)"}, lost: outsideOnly},
	{name: "updated graphs", statements: []string{updateGraphs}, lost: map[string]int64{summary.NodeUpdated: 5}, without: everyOperator},
	{name: "updated graphs, by a call that ends before it starts", statements: []string{updateGraphs, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = start - 1 WHERE nameId IN " + updatingName}, lost: map[string]int64{summary.NodeUpdated: 5}, without: everyOperator},
	{name: "updated graphs, by a call without a thread", statements: []string{updateGraphs, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = 0 WHERE nameId IN " + updatingName}, lost: map[string]int64{summary.NodeUpdated: 5}, without: everyOperator},
	{name: "made after the replay", statements: []string{
		"UPDATE " + nodeTable + " SET start = start + 3600000000000 WHERE graphNodeId = " + of(2),
		"UPDATE NVTX_EVENTS SET start = start + 3600000000000, end = end + 3600000000000 WHERE text LIKE 'aten::mm,%'"},
		lost: map[string]int64{summary.NodeOutside: 1, summary.NodeUnknown: 1}, without: []string{"aten::mm"}},
	{name: "made when the operator has ended", statements: []string{
		"UPDATE " + nodeTable + " SET start = (SELECT end FROM NVTX_EVENTS WHERE text LIKE 'aten::mm,%') WHERE graphNodeId = " + of(2)}, lost: map[string]int64{summary.NodeOutside: 2}, without: []string{"aten::mm"}},
	{name: "made in the last nanosecond of the operator", statements: []string{
		"UPDATE " + nodeTable + " SET start = (SELECT end - 1 FROM NVTX_EVENTS WHERE text LIKE 'aten::mm,%') WHERE graphNodeId = " + of(2)}, lost: outsideOnly},
	{name: "copies of copies", statements: []string{
		"INSERT INTO " + nodeTable + " SELECT start, end, eventClass, globalTid, nameId, graphNodeId + 5000, originalGraphNodeId FROM " + nodeTable + " WHERE originalGraphNodeId IS NOT NULL",
		fmt.Sprintf("UPDATE %s SET originalGraphNodeId = graphNodeId + 5000 WHERE originalGraphNodeId IS NOT NULL AND graphNodeId < %d", nodeTable, nsysgen.ExecutableNode+1000)}, lost: outsideOnly},
	{name: "no time", table: nsysgen.NoOriginals, statements: []string{
		"CREATE TABLE x AS SELECT * FROM " + nodeTable, "DROP TABLE " + nodeTable, "ALTER TABLE x RENAME TO " + nodeTable,
		"UPDATE " + nodeTable + " SET start = NULL WHERE graphNodeId = " + of(2)}, lost: map[string]int64{summary.NodeOutside: 1, summary.NodeUnknown: 1}, without: []string{"aten::mm"}},
	{name: "no threads at all", table: nsysgen.NoOriginals, statements: []string{"ALTER TABLE " + nodeTable + " DROP COLUMN globalTid"}, lost: map[string]int64{summary.NodeUnknown: 5}, without: everyOperator},
	{name: "no times at all", statements: []string{"ALTER TABLE " + nodeTable + " DROP COLUMN start"}, lost: map[string]int64{summary.NodeUnknown: 5}, without: everyOperator},
}

// TestNodeNearMisses: a node that is not certainly that of an operator has none, and the reason is
// counted. The others keep theirs.
func TestNodeNearMisses(t *testing.T) {
	for _, tc := range nodeCases {
		t.Run(tc.name, func(t *testing.T) {
			const replays = 3
			path, truth := graphExport(t, nsysgen.GraphPlan{Replays: replays, Table: tc.table}, tc.statements...)
			e := graphEfficiency(t, path, analyze.Needs())
			checkOperators(t, e, truth, replays, tc.without...)
			if len(e.Replays) != 1 {
				t.Fatalf("replays %+v", e.Replays)
			}
			lost := map[string]int64{}
			for _, l := range e.Replays[0].NodesLost {
				lost[l.Reason] = l.Nodes
			}
			if !reflect.DeepEqual(lost, tc.lost) {
				t.Errorf("lost %v, want %v", lost, tc.lost)
			}
			r := e.Replays[0]
			if none := len(tc.without) == len(everyOperator); none != (r.From == "") || none != (r.Unmatched != "") {
				t.Errorf("replay %+v", r)
			}
		})
	}
}

// TestNodesNotAsked: without the table, with an empty one and without efficiency among the measures
// a trace has no nodes, and the summary is the same.
func TestNodesNotAsked(t *testing.T) {
	plain := analyze.Needs()
	plain.GraphNodes = false
	path, _ := graphExport(t, nsysgen.GraphPlan{Replays: 3})
	want := graphEfficiency(t, path, plain)
	if r := want.Replays[0]; r.From != "" || r.Unmatched != summary.CaptureNoNames || r.NodesLost != nil {
		t.Errorf("replay %+v", r)
	}
	dropped, _ := graphExport(t, nsysgen.GraphPlan{Replays: 3}, "DROP TABLE "+nodeTable)
	empty, _ := graphExport(t, nsysgen.GraphPlan{Replays: 3}, "DELETE FROM "+nodeTable)
	for name, tr := range map[string]*trace.Trace{
		"not asked": readGraph(t, path, plain), "no table": readGraph(t, dropped, analyze.Needs()), "empty": readGraph(t, empty, analyze.Needs()),
	} {
		if tr.GraphNodes != nil {
			t.Errorf("%s: %d nodes", name, len(tr.GraphNodes))
		}
		for a := range tr.Activities.All() {
			if d := tr.Detail(a.Detail); d.Node != 0 && name != "empty" {
				t.Fatalf("%s: node %d", name, d.Node)
			}
		}
		if got := joined(tr); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	without := analyze.Options{Without: analyze.Efficiency}
	if without.Needs().GraphNodes || !analyze.Needs().GraphNodes {
		t.Error("nodes are not asked for with efficiency alone")
	}
}

// TestNodesInWindow: a window of replays has the operators of the capture before it.
func TestNodesInWindow(t *testing.T) {
	const replays = 8
	path, truth := graphExport(t, nsysgen.GraphPlan{Replays: replays})
	tr := readGraph(t, path, analyze.Needs())
	starts := []int64{}
	for c := range tr.Calls.All() {
		if tr.Name(c.Name) == "cudaGraphLaunch" {
			starts = append(starts, c.Start)
		}
	}
	e := joined(tr.Within(starts[2], starts[5]))
	checkOperators(t, e, truth, 3)
	if r := e.Replays[0]; r.Launches != 3 || r.From != summary.FromNodes {
		t.Errorf("replay %+v", r)
	}
}

// TestConcurrentNodes: kernels of a graph that run at the same time have no time of their own, so
// the replay matches nothing.
func TestConcurrentNodes(t *testing.T) {
	path, truth := graphExport(t, nsysgen.GraphPlan{Replays: 3},
		fmt.Sprintf("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 8, start = start - 3000 WHERE graphNodeId = %d", nsysgen.ExecutableNode+4))
	e := graphEfficiency(t, path, analyze.Needs())
	checkOperators(t, e, truth, 3, everyOperator...)
	if r := e.Replays[0]; r.From != "" || r.Unmatched != summary.NodesOverlap {
		t.Errorf("replay %+v", r)
	}
}
