package analyze

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze/ranks/collective"
	"assay/summary"
	"assay/trace"
)

// TestAllToAllByOperator: kernels of sends and receives that an operator launches as an all-to-all are one. Others
// stay sends and receives. A kernel whose launch is not recorded is what all others of its stream are.
func TestAllToAllByOperator(t *testing.T) {
	for _, tc := range []struct {
		ops  []string
		want string
	}{
		{[]string{"c10d::alltoall_base_", "c10d::alltoall_", "c10d::send", "c10d::alltoall_base_", ""}, "[all-to-all all-to-all send/recv all-to-all send/recv]"},
		{[]string{"c10d::alltoall_base_", "", "c10d::alltoall_", "c10d::alltoall_base_"}, "[all-to-all all-to-all all-to-all all-to-all]"},
		{[]string{"c10d::alltoall_base_", "", "c10d::alltoall_"}, "[all-to-all send/recv all-to-all]"},
		{[]string{"", "", "", ""}, "[send/recv send/recv send/recv send/recv]"},
	} {
		if got := fmt.Sprint(exchangesOf(t, tc.ops)); got != tc.want {
			t.Errorf("%q: %v, want %s", tc.ops, got, tc.want)
		}
	}
}

// exchangesOf returns the kinds of the kernels of sends and receives that operators launch; "" for a kernel without a
// launch.
func exchangesOf(t *testing.T, ops []string) (got []string) {
	t.Helper()
	var events []string
	add := func(format string, args ...any) { events = append(events, fmt.Sprintf(format, args...)) }
	for i, op := range ops {
		at := 1000 * (i + 1)
		if op == "" {
			add(`{"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "pid": 0, "tid": 20, "ts": %d, "dur": 400, "args": {"device": 0, "stream": 20, "correlation": %d}}`, at+30, 70+i)
			continue
		}
		add(`{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 9, "tid": 9, "ts": %d, "dur": 50, "args": {"External id": %d}}`, op, at, i+1)
		if i == 3 {
			add(`{"ph": "X", "cat": "user_annotation", "name": "nccl:all_to_all", "pid": 9, "tid": 9, "ts": %d, "dur": 20}`, at+5)
		}
		add(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9, "ts": %d, "dur": 5, "args": {"correlation": %d}}`, at+10, 70+i)
		add(`{"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "pid": 0, "tid": 20, "ts": %d, "dur": 400, "args": {"device": 0, "stream": 20, "correlation": %d}}`, at+30, 70+i)
	}
	tr, err := trace.Read(strings.NewReader(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",\n")+`]}`), "t.json", Needs())
	if err != nil {
		t.Fatal(err)
	}
	opt := DefaultOptions()
	opt.Collectives = func(_ int64, c *collective.Columns) {
		for _, r := range c.Runs {
			got = append(got, c.Whats[r.What].Op.String())
		}
	}
	Trace(tr, summary.Input{Path: "t.json", Format: "kineto"}, opt)
	return got
}
