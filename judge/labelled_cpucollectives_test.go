package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// reducedOnCPU is a run whose collectives a thread of the CPU runs: in each of 10 steps of 100 ms a kernel of 20 ms,
// then a collective that ends after 95 ms. Each rank enters it the given number of ms after the step begins; the
// thread copies the result to the GPU in the last 2 ms.
func reducedOnCPU(t *testing.T, name string, enters ...int) *summary.Summary {
	t.Helper()
	var list []*summary.Summary
	var members []ranks.Member
	for rank, enter := range enters {
		var b strings.Builder
		fmt.Fprintf(&b, `{"schemaVersion":1,"distributedInfo":{"rank":%d,"world_size":%d,"backend":"gloo"},"baseTimeNanoseconds":0,"traceEvents":[`, rank, len(enters))
		for i := range 10 {
			at := i * 100_000
			fmt.Fprintf(&b, `{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":%d,"dur":100,"args":{"External id":%d}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":10,"args":{"correlation":%d}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":20000,"args":{"device":0,"stream":7,"correlation":%d}},
{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":2,"ts":%d,"dur":%d},
{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":1,"tid":2,"ts":%d,"dur":10,"args":{"correlation":%d}},
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":%d,"dur":1900,"args":{"device":0,"stream":7,"correlation":%d,"bytes":4096}},
`, at, i+1, at+10, 2*i+1, at+30, 2*i+1, name, at+enter*1000, 95_000-enter*1000, at+93_000, 2*i+2, at+93_020, 2*i+2)
		}
		text := strings.TrimSuffix(b.String(), ",\n") + "]}"
		tr, err := trace.Read(strings.NewReader(text), "t.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			members = append(members, ranks.Member{Input: rank, Rank: rank, Device: device, Columns: c})
		}
		list = append(list, analyze.Trace(tr, summary.Input{Path: fmt.Sprint(rank), Format: "kineto", Rank: rank, WorldSize: len(enters)}, opt))
	}
	s := summary.Join(list...)
	if j := ranks.Match(members); j != nil {
		j.AddTo(s)
	}
	return s
}

// labelledCPUCollectives: the GPU is idle from 20 to 93 ms of each step. In the windows, of 994.89 ms, are ten such
// gaps of 72,990 µs, and 9 of 5,110 µs before the next step. A rank that is in the collective from 25 ms on launches
// the copy from there.
func labelledCPUCollectives() []labelled {
	return []labelled{
		{name: "a collective of Gloo", label: rule.CPUCollectives,
			in: func(t *testing.T) *summary.Summary { return reducedOnCPU(t, "gloo:all_reduce", 25) }},
		{name: "a collective of MPI on two ranks", label: rule.CPUCollectives,
			in: func(t *testing.T) *summary.Summary { return reducedOnCPU(t, "mpi:allgather", 25, 30) }},
		{name: "a range that only sounds like one", label: rule.CPUWork, near: rule.CPUCollectives,
			in: func(t *testing.T) *summary.Summary { return reducedOnCPU(t, "ReduceOnPlateau", 25) }},
		{name: "a collective that is not awaited for long", label: rule.GPUIdle, near: rule.CPUCollectives,
			in: func(t *testing.T) *summary.Summary { return reducedOnCPU(t, "gloo:broadcast", 80) }},
	}
}

// TestLateOnCPU: the rank that enters the collectives last is the straggler, whoever else is given; if all enter
// together, none is.
func TestLateOnCPU(t *testing.T) {
	for _, tc := range []struct {
		backend string
		enters  []int
		late    string
	}{
		{"ucc:allreduce", []int{30, 30, 85}, "rank 2"},
		{"gloo:all_reduce", []int{80, 25}, "rank 0"},
		{"MPI_Allreduce", []int{30, 84, 31, 30}, "rank 1"},
		{"gloo:all_reduce", []int{30, 31, 30}, ""},
		{"gloo:all_reduce", []int{25, 63}, "rank 1"}, // rank 0 waits for 38 of 70 ms
		{"mpi:allreduce", []int{62, 26}, "rank 0"},
		{"gloo:all_reduce", []int{25, 50}, ""}, // it waits for 25 of 70 ms: transfers take longer
	} {
		r := Judge(reducedOnCPU(t, tc.backend, tc.enters...), rule.DefaultThresholds())
		if r.Verdict.Bound != finding.BoundCommunication || r.Verdict.Rule != rule.CPUCollectives {
			t.Errorf("%v: %s-bound by %s: %s", tc.enters, r.Verdict.Bound, r.Verdict.Rule, r.Verdict.Sentence)
			continue
		}
		if said := "Waiting for " + tc.late + " in collectives"; tc.late != "" && !strings.Contains(r.Verdict.Sentence, said) ||
			tc.late == "" && strings.Contains(r.Verdict.Sentence, "Waiting for rank") {
			t.Errorf("%v: %s", tc.enters, r.Verdict.Sentence)
		}
	}
}
