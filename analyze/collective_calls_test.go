package analyze_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test/nsysgen"
	"assay/nsys"
	"assay/summary"
)

// TestCollectiveOfCall: a kernel whose name does not tell its collective has that of the call of a
// communication library that launched it: an operator, an annotation, a range of NCCL or a group of them.
// Names of other work with such words, and groups of several kinds, tell nothing.
func TestCollectiveOfCall(t *testing.T) {
	span := func(category, name string, ts, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":1,"tid":1,"ts":%v,"dur":%v}`, category, name, ts, dur)
	}
	one := func(category, name string) []string { return []string{span(category, name, 100, 40)} }
	nvtx := func(calls ...string) (out []string) {
		out = append(out, span("user_annotation", "ncclAllToAll", 60, 5), span("user_annotation", "ncclGroupStart", 90, 2))
		for i, name := range calls {
			out = append(out, span("user_annotation", name, 95+float64(i), 0.5))
		}
		return append(out, span("user_annotation", "ncclGroupEnd", 105, 30))
	}
	const generic = "rcclGenericKernel"
	for _, tc := range []struct {
		name, kernel string
		host         []string
		want         string
	}{
		{"functional operator", generic, one("cpu_op", "_c10d_functional::reduce_scatter_tensor"), "reduce-scatter"},
		{"operator of a server", generic, one("cpu_op", "sglang::inplace_all_reduce"), "all-reduce"},
		{"range of NCCL", generic, one("user_annotation", "ncclBroadcast"), "broadcast"},
		{"sends of a pipeline", generic, one("cpu_op", "c10d::send"), "send-recv"},
		{"annotation of a send", generic, one("user_annotation", "nccl:send 0->1"), "send-recv"},
		{"group of one kind", generic, nvtx("ncclAllGather", "ncclAllGather"), "all-gather"},
		{"group of two kinds", generic, nvtx("ncclAllGather", "ncclReduceScatter"), "comm-other"},
		{"group of sends in an all-to-all", "ncclDevKernel_SendRecv", append(nvtx("ncclSend", "ncclRecv", "ncclSend"), span("user_annotation", "nccl:all_to_all, op_id = 7", 80, 60)), "all-to-all"},
		{"group of sends of a pipeline", "ncclDevKernel_SendRecv", nvtx("ncclSend", "ncclRecv"), "send-recv"},
		{"all-to-all as sends", "ncclDevKernel_SendRecv", one("cpu_op", "c10d::alltoall_base_"), "all-to-all"},
		{"the name of the kernel counts", "ncclDevKernel_AllReduce_Sum_f16_RING_LL", one("cpu_op", "c10d::allgather_"), "all-reduce"},
		{"compute with such a word", generic, one("user_annotation", "reduce_loss_and_dispatch"), "comm-other"},
		{"operator of tensors", generic, one("cpu_op", "aten::broadcast_to"), "comm-other"},
		{"kernel that computes", "elementwise_kernel", one("cpu_op", "c10d::allreduce_"), "elementwise"},
	} {
		events := append(tc.host, strings.Replace(ranAt(7, 3, 200, 50, ""), `"k"`, `"`+tc.kernel+`"`, 1),
			`{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":110,"dur":5,"args":{"correlation":3}}`)
		got := categories(measured(t, list(events...)))
		if got[tc.kernel] != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got[tc.kernel], tc.want)
		}
	}
}

// categories returns the categories of the kernels of a summary by name.
func categories(s *summary.Summary) map[string]string {
	out := map[string]string{}
	for _, k := range s.Kernels {
		out[k.Name] = k.Category
	}
	return out
}

// TestCollectiveOfGraphNode: the replays of a graph have the collective of the operator under which its node
// was made; a node that no communication made has none.
func TestCollectiveOfGraphNode(t *testing.T) {
	for operator, want := range map[string]string{"c10d::_allgather_base_": "all-gather", "aten::baddbmm": "comm-other"} {
		path := filepath.Join(t.TempDir(), "run.sqlite")
		if _, err := nsysgen.WriteGraph(path, nsysgen.GraphPlan{Replays: 3}); err != nil {
			t.Fatal(err)
		}
		if _, err := nsysgen.Change(path, "UPDATE StringIds SET value = 'ncclDevKernel_Generic_2' WHERE value = 'splitKreduce_kernel'",
			fmt.Sprintf("UPDATE NVTX_EVENTS SET text = replace(text, 'aten::addmm', '%s')", operator)); err != nil {
			t.Fatal(err)
		}
		tr, err := nsys.ReadSQLite(path, "run.sqlite", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		if got := categories(analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())); got["ncclDevKernel_Generic_2"] != want {
			t.Errorf("%s: %v, want %s", operator, got, want)
		}
	}
}
