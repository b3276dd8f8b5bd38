package judge

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// TestWiring: a matrix of connections alone has a verdict: what connects the GPUs, which of them differ, or that none does.
func TestWiring(t *testing.T) {
	without := func(gpu int) func(a, b int) string { // NVLink
		return func(a, b int) string {
			switch {
			case a != gpu && b != gpu:
				return "NV18"
			case a < 4 && b < 4 || a >= 4 && b >= 4:
				return "NODE"
			}
			return "SYS"
		}
	}
	numa := strings.ReplaceAll(strings.ReplaceAll(matrix(2, pairs("NV4", "NV4")), "\tCPU Affinity", "\tCPU Affinity\tNUMA Affinity"), "\nGPU1\tNV4\t X ", "\t0-7\t0\nGPU1\tNV4\t X \t8-15\t1")
	for _, tc := range []struct {
		name, text string
		bound      finding.Bound
		want       string
	}{
		{"NVLink everywhere", matrix(8, pairs("NV18", "NV18")), finding.BoundMachinesHealthy, "Checked: 8 GPUs, each pair connected by NV18; equal for each GPU"},
		{"a healthy report of DCGM", "| Health Monitor Report |\n| Overall Health | Healthy |\n", finding.BoundMachinesHealthy, "Checked: 1 host"},
		{"two GPUs with NUMA nodes", numa, finding.BoundMachinesHealthy, "Checked: 2 GPUs, each pair connected by NV4; equal for each GPU; NUMA node 0 (GPU 0), NUMA node 1 (GPU 1)"},
		{"PCIe", matrix(4, pairs("PIX", "SYS")), finding.BoundMachinesHealthy, "Checked: 4 GPUs, pairs connected by 2 PIX, 4 SYS, no NVLink; equal for each GPU"},
		{"NVLink for half of the GPUs", matrix(4, func(a, b int) string {
			if b < 2 {
				return "NV12"
			}
			return "SYS"
		}), finding.BoundMachinesHealthy, "Checked: 4 GPUs, pairs connected by 1 NV12, 5 SYS; unequal: 1 NV12, 2 SYS (GPU 0, 1), 3 SYS (GPU 2, 3)"},
		{"a GPU without NVLink", matrix(8, without(5)), "", "GPU 5: no NVLink to another GPU (NODE or SYS), NV18 between other GPUs"},
		{"a GPU with fewer links", matrix(8, func(a, b int) string {
			if a == 3 || b == 3 {
				return "NV9"
			}
			return "NV18"
		}), "", "GPU 3: connected with each other GPU by NV9, NV18 between other GPUs"},
		{"a pair without NVLink", matrix(8, func(a, b int) string {
			if a == 2 && b == 6 {
				return "SYS"
			}
			return "NV18"
		}), "", "GPU 2 - GPU 6: connected by SYS, NV18 between other GPUs"},
	} {
		res := evaluate(ofDumps(t, map[string]string{"/run/topo.txt": tc.text}), rule.DefaultThresholds())
		got := res.Verdict.Sentence
		if tc.bound == "" && len(res.Findings) > 0 {
			got = res.Findings[0].Title
		}
		if tc.bound != "" && res.Verdict.Bound != tc.bound || got != tc.want {
			t.Errorf("%s: %s, %q, want %q", tc.name, res.Verdict.Bound, got, tc.want)
		}
	}
}
