package nsys

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/nsysgen"
	"assay/trace"
)

// makingsOf is what find does, by its definition: the makings of a node are those of its originals
// if it has any, else its own. ok is false if a path of originals meets a node twice, or if a node
// on it is not known.
func makingsOf(rows []nodeRow, id int64, path []int64) (out []int64, ok bool) {
	if slices.Contains(path, id) {
		return nil, false
	}
	path = append(slices.Clone(path), id)
	var own, originals []int64
	for _, r := range rows {
		if r.id == id {
			own = append(own, r.start)
			if r.original != 0 && !slices.Contains(originals, r.original) {
				originals = append(originals, r.original)
			}
		}
	}
	if len(originals) == 0 {
		return own, len(own) > 0
	}
	for _, o := range originals {
		more, ok := makingsOf(rows, o, path)
		if !ok {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// TestFindNode: whatever rows there are, the makings of a node are those of its definition, or none.
// Only nodes that two others are copies of may be given up.
func TestFindNode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found, given := 0, 0
	for range 20_000 {
		n := nodes{}
		ids := r.Int64N(8) + 2
		for i := range r.IntN(12) {
			row := nodeRow{nodeKey: nodeKey{7, r.Int64N(ids) - 1}, start: int64(i), tid: 9, timed: true}
			if row.id == 0 {
				row.id = 100
			}
			if r.IntN(2) == 0 {
				row.original = r.Int64N(ids)
			}
			n.rows = append(n.rows, row)
		}
		want, ok := makingsOf(n.rows, 1, nil)
		n.sort()
		node := n.find(nodeKey{7, 1}, map[thread]trace.TrackID{{7, 9}: 3})
		if (len(node.Made) == 0) == (node.Lost == trace.NodeFound) {
			t.Fatalf("rows %v: %+v", n.rows, node)
		}
		if node.Lost != trace.NodeFound {
			if ok && node.Lost != trace.NodeCircular && node.Lost != trace.NodeManyTimes {
				t.Fatalf("rows %v: lost as %d, want %v", n.rows, node.Lost, want)
			}
			given++
			continue
		}
		var got []int64
		for _, m := range node.Made {
			if m.Track != 3 {
				t.Fatalf("track %d", m.Track)
			}
			got = append(got, m.Start)
		}
		slices.Sort(got)
		slices.Sort(want)
		if want = slices.Compact(want); !ok || !slices.Equal(got, want) {
			t.Fatalf("rows %v: made at %v, want %v, %v", n.rows, got, want, ok)
		}
		found++
	}
	if found < 2000 || given < 2000 {
		t.Errorf("%d found, %d given up: too few to say anything", found, given)
	}
}

// graphDatabase writes the export of a graph with changes and reads it.
func graphDatabase(t *testing.T, sel trace.Select, statements ...string) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if _, err := nsysgen.WriteGraph(path, nsysgen.GraphPlan{Replays: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := nsysgen.Change(path, statements...); err != nil {
		t.Fatal(err)
	}
	tr, err := ReadSQLite(path, "run.sqlite", sel)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// selectNodes keeps everything and the nodes of graphs.
func selectNodes() trace.Select {
	sel := trace.SelectAll()
	sel.GraphNodes = true
	return sel
}

// lossesOf counts the nodes that did work by what became of them.
func lossesOf(tr *trace.Trace) map[trace.NodeLoss]int {
	out, seen := map[trace.NodeLoss]int{}, map[uint32]bool{}
	for a := range tr.Activities.All() {
		if n := tr.Detail(a.Detail).Node; n > 0 && !seen[n] {
			seen[n] = true
			out[tr.GraphNodes[n-1].Lost]++
		}
	}
	return out
}

// more returns a statement that adds so many rows of nodes, with an ID and an original.
func more(rows int, id, original string) string {
	return fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO CUDA_GRAPH_NODE_EVENTS SELECT 5000000, 5000100, 77, %d, 1, %s, %s FROM n`, rows, int64(1)<<48|4242<<24|4242, id, original)
}

// TestHugeNodeTables: tables of many nodes, and many rows of one node, cost no more than their
// number, and what is over a limit has no making rather than a wrong one.
func TestHugeNodeTables(t *testing.T) {
	kernels := "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = graphNodeId - 4294967296" // those of the capture
	small := selectNodes()
	small.Limits.Memory = 64 << 20
	for name, tc := range map[string]struct {
		sel        trace.Select
		statements []string
		want       map[trace.NodeLoss]int
	}{
		"as it is":             {selectNodes(), nil, map[trace.NodeLoss]int{trace.NodeFound: 5}},
		"many others":          {selectNodes(), []string{more(200_000, "1000 + i", "NULL")}, map[trace.NodeLoss]int{trace.NodeFound: 5}},
		"over the limit":       {small, []string{more(60_000, "1000 + i", "NULL")}, map[trace.NodeLoss]int{trace.NodeIncomplete: 5}},
		"one node":             {selectNodes(), []string{kernels, more(200_000, fmt.Sprint(nsysgen.CapturedNode), "NULL")}, map[trace.NodeLoss]int{trace.NodeFound: 4, trace.NodeManyTimes: 1}},
		"many originals":       {selectNodes(), []string{kernels, more(60, fmt.Sprint(nsysgen.CapturedNode), "1000 + i")}, map[trace.NodeLoss]int{trace.NodeFound: 4, trace.NodeCircular: 1}},
		"a long chain":         {selectNodes(), []string{kernels, more(200_000, fmt.Sprintf("%d + i - 1", nsysgen.CapturedNode), fmt.Sprintf("%d + i", nsysgen.CapturedNode))}, map[trace.NodeLoss]int{trace.NodeCircular: 5}},
		"extreme numbers":      {selectNodes(), []string{"UPDATE CUDA_GRAPH_NODE_EVENTS SET originalGraphNodeId = -9223372036854775808 WHERE originalGraphNodeId IS NOT NULL"}, map[trace.NodeLoss]int{trace.NodeUnknown: 5}},
		"extreme number known": {selectNodes(), []string{fmt.Sprintf("UPDATE CUDA_GRAPH_NODE_EVENTS SET originalGraphNodeId = -9223372036854775808 WHERE originalGraphNodeId = %d", nsysgen.CapturedNode), more(1, "-9223372036854775808", "NULL")}, map[trace.NodeLoss]int{trace.NodeFound: 5}},
	} {
		if got := lossesOf(graphDatabase(t, tc.sel, tc.statements...)); fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestNodesOfBrokenExport: if rows of an export are missing, no making is certain.
func TestNodesOfBrokenExport(t *testing.T) {
	tr, err := ReadJSON(strings.NewReader(strings.Join(append(graphLines(), "{"), "\n")), "in.jsonl", selectNodes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := lossesOf(tr); tr.Complete || got[trace.NodeIncomplete] != 1 {
		t.Errorf("complete %v, %v", tr.Complete, got)
	}
}

// graphLines are the rows of an export in JSON lines: one node, its copy, and a kernel of it.
func graphLines() []string {
	const thread = 1<<48 | 10<<24 | 12
	return []string{stringRow(1, "gemm"), stringRow(2, "cudaGraphLaunch_v10000"),
		fmt.Sprintf(`{"table":"CUPTI_ACTIVITY_KIND_KERNEL","start":900,"end":950,"deviceId":0,"streamId":7,"correlationId":5,"globalPid":%d,"demangledName":1,"graphNodeId":-7}`, thread-12),
		fmt.Sprintf(`{"table":"CUDA_GRAPH_NODE_EVENTS","start":100,"end":101,"globalTid":%d,"nameId":2,"graphNodeId":8589934593}`, thread),
		fmt.Sprintf(`{"table":"CUDA_GRAPH_NODE_EVENTS","start":300,"end":301,"globalTid":%d,"nameId":2,"graphNodeId":-7,"originalGraphNodeId":8589934593}`, thread)}
}

// TestNodesInJSONLines: nodes are read of JSON lines, and only if they are asked for.
func TestNodesInJSONLines(t *testing.T) {
	text := strings.Join(graphLines(), "\n")
	tr, err := ReadJSON(strings.NewReader(text), "in.jsonl", selectNodes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.GraphNodes) == 0 || len(tr.GraphNodes[0].Made) != 1 {
		t.Fatalf("nodes %+v", tr.GraphNodes)
	}
	m := tr.GraphNodes[0].Made[0]
	if at := tr.Tracks[m.Track]; m.Start != 100 || m.ID != 8589934593 || at.PID != "10" || at.TID != "12" {
		t.Errorf("made %+v on %+v", m, at)
	}
	if tr, err = ReadJSON(strings.NewReader(text), "in.jsonl", trace.SelectAll(), nil); err != nil || tr.GraphNodes != nil {
		t.Errorf("nodes that were not asked for: %v, %v", tr.GraphNodes, err)
	}
}
