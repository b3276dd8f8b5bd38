package metric

import (
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// launchers has operators and others of two ranks.
func launchers() *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for r := range 2 {
		s.Inputs = append(s.Inputs, summary.Input{Rank: r, RankFrom: "trace"})
		s.Ops = append(s.Ops,
			summary.Op{Input: r, Rank: r, Name: "aten::mm", Count: 10, CPUSelfNS: ms, CPUTotalNS: 3 * ms, GPUSelfNS: 6 * ms, GPUTotalNS: 6 * ms, Launched: 10},
			summary.Op{Input: r, Rank: r, Name: "aten::linear", Count: 10, CPUSelfNS: ms, CPUTotalNS: 5 * ms, GPUSelfNS: 2 * ms, GPUTotalNS: 8 * ms, Launched: 1})
		s.Calls = append(s.Calls,
			summary.Call{Input: r, Rank: r, Name: "cudaLaunchKernel", Kind: "launch", Count: 30, TotalNS: 3 * ms, MaxNS: ms, Launched: 30},
			summary.Call{Input: r, Rank: r, Name: "cudaFree", Kind: "free", Count: 2, TotalNS: 9 * ms, MaxNS: int64(r+1) * 4 * ms, InSteps: int64(r)})
		s.Idle = append(s.Idle, summary.Idle{Input: r, Rank: r, Owner: summary.OwnerHost, State: summary.StateSync, NS: 4 * ms, Count: 5, MaxNS: 2 * ms, ShortGapsNS: ms})
	}
	s.Modules = []summary.Module{{Path: "M_0/L_0", GPUSelfNS: 3 * ms, GPUTotalNS: 3 * ms}, {Path: "M_0/L_1", GPUSelfNS: ms, GPUTotalNS: ms}}
	s.Passes = []summary.Pass{{Name: "forward", Count: 4, GPUNS: 4 * ms}, {Name: "backward", Count: 4, GPUNS: 12 * ms}}
	return s
}

// TestRowMetrics: the measures of described rows are metrics; a sum of what contains each other is
// refused, whatever it is, and so is what is missing.
func TestRowMetrics(t *testing.T) {
	for _, tc := range []struct{ gate, want string }{
		{"operators.gpu_self{operator=aten::mm}", "12 ms"},
		{"operators.gpu_self", "16 ms"},
		{"operators.gpu_total{operator=aten::linear, rank=1}", "8 ms"},
		{"operators.gpu_total{operator=aten::*}", "no sum: 2 operators are selected, which contain each other; select one, or use a self time"},
		{"operators.share{operator=aten::mm, rank=0}", "75.0% (6 ms of 8 ms)"},
		{"operators.launched", "22"},
		{"calls.mean{kind=launch}", "100 µs"},
		{"calls.max{call=cudaFree}", "8 ms"},
		{"calls.in_steps", "1"},
		{"calls.total{call=nosuch}", `no such call; there is "cudaFree", "cudaLaunchKernel"`},
		{"modules.gpu_self{layer=M/L}", "4 ms"},
		{"modules.gpu_total{module=M_0/L_1}", "1 ms"},
		{"passes.share{pass=backward}", "75.0% (12 ms of 16 ms)"},
		{"idle.total{owner=host-late, rank=0}", "4 ms"},
		{"idle.short_gaps{cause=host-late/synchronizing}", "2 ms"},
		{"lines.gpu_self", "no lines in the capture"},
	} {
		if got := measureText(t, launchers(), tc.gate); got != tc.want {
			t.Errorf("%s is %s, want %s", tc.gate, got, tc.want)
		}
	}
	apart := launchers()
	apart.Devices = []summary.Device{{Activity: summary.Activity{10 * ms, 30 * ms}, WindowNS: 40 * ms}}
	apart.Issues = []summary.Issue{{Code: summary.ClocksDiffer, Severity: "info", Count: 1}}
	for gate, want := range map[string]string{"idle.share": "25.0% (10 ms of 40 ms)", "idle.share{owner=host-late}": errClocks.Error(), "sync.share": errClocks.Error()} {
		if got := measureText(t, apart, gate); got != want {
			t.Errorf("%s is %s, want %s", gate, got, want)
		}
	}
	rolled := launchers()
	rolled.Inputs[0].RolledUp = summary.RolledRows
	for _, m := range rowMetrics() {
		if got := measureText(t, rolled, m.Name); !strings.HasPrefix(got, "the summary is rolled up") {
			t.Errorf("%s of sums over ranks is %s", m.Name, got)
		}
	}
}

// TestRowMetricNames: a metric is called as the field of its rows, so that renaming is seen here.
func TestRowMetricNames(t *testing.T) {
	var names []string
	for _, m := range rowMetrics() {
		if strings.HasPrefix(m.Name, "calls.") || strings.HasPrefix(m.Name, "idle.") {
			names = append(names, m.Name+" = "+m.Meaning)
		}
	}
	want := []string{
		"calls.count = number of calls of the selected calls", "calls.total = total time of the selected calls",
		"calls.max = duration of the longest of the selected calls", "calls.launched = number of launches of the selected calls",
		"calls.wait = waiting time of the selected calls", "calls.idle = idle time of the selected calls",
		"calls.in_steps = number of calls in steps of the selected calls", "calls.mean = total time of the selected calls", "calls.share = total time of the selected calls",
		"idle.total = idle time of the selected causes", "idle.count = number of intervals of the selected causes",
		"idle.max = duration of the longest of the selected causes", "idle.short_gaps = short-gap time of the selected causes",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q\nwant %q", names, want)
	}
}
