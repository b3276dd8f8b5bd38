package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// nvlinks prints the links of GPUs of a model, 'a' for an active link.
func nvlinks(model string, gpus ...string) string {
	var b strings.Builder
	for gpu, links := range gpus {
		fmt.Fprintf(&b, "GPU %d: %s (UUID: GPU-77-%d)\n", gpu, model, gpu)
		for link, state := range links {
			fmt.Fprintf(&b, "\t Link %d: %s\n", link, map[rune]string{'a': "14.062 GB/s", '-': "<inactive>"}[state])
		}
	}
	return b.String()
}

// matrix prints how GPUs are connected; of returns the connection of two.
func matrix(gpus int, of func(a, b int) string) string {
	var b strings.Builder
	for g := range gpus {
		fmt.Fprintf(&b, "\tGPU%d", g)
	}
	for a := range gpus {
		fmt.Fprintf(&b, "\tCPU Affinity\nGPU%d", a)
		for o := range gpus {
			if a == o {
				b.WriteString("\t X ")
				continue
			}
			b.WriteString("\t" + of(min(a, o), max(a, o)))
		}
	}
	return strings.Replace(strings.ReplaceAll(b.String(), "\tCPU Affinity\n", "\n"), "\n", "\tCPU Affinity\n", 1) + "\n"
}

func pairs(near, far string) func(a, b int) string {
	return func(a, b int) string {
		if a/2 == b/2 {
			return near
		}
		return far
	}
}

func port(name, state, physical, layer string, rate int) string {
	return fmt.Sprintf("CA '%s'\n\tCA type: MT4123\n\tNode GUID: 0x%x\n\tPort 1:\n\t\tState: %s\n\t\tPhysical state: %s\n\t\tRate: %d\n\t\tLink layer: %s\n", name, name, state, physical, rate, layer)
}

func rdmaCounters(values ...any) string {
	return fmt.Sprintf("link mlx5_4/1 rx_write_requests %d out_of_sequence %d link_downed %d\n", values...)
}

// smi prints the report of a node with equal GPUs.
func smi(node, gpus, attached int, model string) string {
	text := fmt.Sprintf("==============NVSMI LOG==============\n\nDriver Version                            : 550.90.07\nAttached GPUs                             : %d\n", attached)
	for gpu := range gpus {
		text += replaced(smiGPU(node, gpu), "Product Name", model)
	}
	return text
}

// TestEqualParts: parts are compared with parts that are equal by their making, and counters with those of one port.
func TestEqualParts(t *testing.T) {
	up, h100 := "Active", "NVIDIA H100 80GB HBM3"
	for _, tt := range []struct {
		name  string
		dumps map[string]string
		want  []string
	}{
		{"GPUs on PCIe without bridges", map[string]string{"/a/nvlink.txt": nvlinks("NVIDIA A30", "----", "----", "----")}, nil},
		{"a bridge between two of four GPUs", map[string]string{"/a/nvlink.txt": nvlinks("NVIDIA RTX A6000", "----", "----", "aaaa", "aaaa")}, nil},
		{"one of three bridges", map[string]string{"/a/nvlink.txt": nvlinks("NVIDIA A100-PCIE-80GB", "aaaa--------", "aaaa--------")}, nil},
		{"a bridge with a dead link", map[string]string{"/a/nvlink.txt": nvlinks("NVIDIA RTX A6000", "aa-a", "aaaa")}, []string{"link-fault: GPU 0 link 2: the NVLink is inactive"}},
		{"a board without any link", map[string]string{"/a/nvlink.txt": nvlinks("NVIDIA A100-SXM4-40GB", "--", "--")}, []string{"link-fault: GPU 0 link 0, GPU 0 link 1, GPU 1 link 0, GPU 1 link 1: the NVLink is inactive"}},
		{"pairs below one switch", map[string]string{"/a/topo.txt": matrix(8, pairs("PIX", "NODE"))}, nil},
		{"bridged pairs", map[string]string{"/a/topo.txt": matrix(8, pairs("NV12", "PHB"))}, nil},
		{"pairs that are further by design", map[string]string{"/a/topo.txt": matrix(8, pairs("SYS", "NV6"))}, nil},
		{"one pair that is further", map[string]string{"/a/topo.txt": matrix(6, func(a, b int) string {
			if a == 2 && b == 5 {
				return "PHB"
			}
			return "NV12"
		})}, []string{"unlike-peers: GPU 2 - GPU 5: connected by PHB, NV12 between other GPUs"}},
		{"a node of another kind", map[string]string{"/login/smi.txt": smi(9, 1, 1, "NVIDIA L4"), "/w1/smi.txt": smi(1, 8, 8, h100)}, nil},
		{"a container with some GPUs", map[string]string{"/w1/smi.txt": smi(1, 2, 2, h100), "/w2/smi.txt": smi(2, 8, 8, h100)}, nil},
		{"a missing GPU", map[string]string{"/w1/smi.txt": smi(1, 7, 7, h100), "/w2/smi.txt": smi(2, 8, 8, h100)}, []string{"unlike-peers: w1: GPUs attached: 7, 8 on its peers"}},
		{"a port that nothing is plugged into", map[string]string{"/a/ib.txt": port("mlx5_0", up, "LinkUp", "InfiniBand", 200) + port("mlx5_1", "Down", "Polling", "InfiniBand", 10)},
			[]string{"link-fault: mlx5_1 port 1: the port is Down; too few other ports are known to tell whether it is in use"}},
		{"a port for other traffic", map[string]string{"/a/ib.txt": port("mlx5_0", up, "LinkUp", "InfiniBand", 200) + port("mlx5_1", up, "LinkUp", "Ethernet", 25)}, nil},
		{"a port that is up on the other node", map[string]string{"/n1/ib.txt": port("mlx5_0", up, "LinkUp", "InfiniBand", 200), "/n2/ib.txt": port("mlx5_0", "Down", "Polling", "InfiniBand", 10)},
			[]string{"link-fault: n2 mlx5_0 port 1: the port is Down; physical link: Polling"}},
		{"counters after a boot", map[string]string{"/a/rdma-1.txt": rdmaCounters(7000, 80_000, 44), "/a/rdma-2.txt": rdmaCounters(12, 0, 0)}, nil},
		{"counters of two hosts", map[string]string{"/a/x-rdma.txt": rdmaCounters(7000, 12, 1), "/a/y-rdma.txt": rdmaCounters(12, 0, 9)}, nil},
		{"the later file first by name", map[string]string{"/a/after.txt": rdmaCounters(9000, 12, 7), "/a/before.txt": rdmaCounters(7000, 12, 5)}, []string{"link-fault: mlx5_4 port 1: link-down events: 2"}},
		{"two interfaces without a name", map[string]string{"/a/e.txt": "NIC statistics:\n rx_packets: 50\n rx_errors: 300\nNIC statistics:\n rx_packets: 70\n rx_errors: 0\n"}, nil},
		{"a test that did not run", map[string]string{"/a/diag.json": `{"DCGM Diagnostic":{"test_categories":[{"tests":[{"name":"sm_stress","results":[{"gpu_id":"4","status":"NOT RUN"},{"gpu_id":"5","status":"N/A"}]}]}]}}`}, nil},
		{"a GPU at its power cap", map[string]string{"/a/smi.txt": func() string {
			text := strings.ReplaceAll(smi(1, 8, 8, h100), "SW Power Cap                      : Active", "SW Power Cap                      : Not Active")
			at := strings.Index(text, smiGPU(1, 5)[:30])
			return text[:at] + replaced(replaced(text[at:], "        SW Power Cap", "Active"), "        SM   ", "1290 MHz")
		}()}, nil},
	} {
		if got := found(ofDumps(t, tt.dumps)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestVerdictOnMachines: the worst fault is the verdict, whatever was read first, and machines without a fault have one.
func TestVerdictOnMachines(t *testing.T) {
	nodes := healthyNodes()
	r := Judge(ofNodes(t, nodes), rule.DefaultThresholds())
	if want := "Checked: 32 GPUs, 576 NVLinks, 16 ports, 4 hosts, 4 kernel logs"; r.Verdict.Bound != finding.BoundMachinesHealthy || r.Verdict.Sentence != want {
		t.Errorf("healthy: %s, %q, want %q", r.Verdict.Bound, r.Verdict.Sentence, want)
	}
	for _, hot := range []int{0, 3} {
		nodes := healthyNodes()
		onGPU(4, "HW Thermal Slowdown", "Active")(nodes[hot])
		says("NVRM: Xid (PCI:0000:1d:00): 95, pid=4, Uncontained: LTC TAG.")(nodes[3-hot])
		r := Judge(ofNodes(t, nodes), rule.DefaultThresholds())
		if want := fmt.Sprintf("worker-%d GPU 5: Xid 95: a memory error reached several programs (Nov 12 03:04:05)", 3-hot); r.Verdict.Sentence != want {
			t.Errorf("heat on node %d: %q, want %q", hot, r.Verdict.Sentence, want)
		}
		if len(r.Findings) != 2 {
			t.Errorf("heat on node %d: %d findings, want 2", hot, len(r.Findings))
		}
	}
	if r := Judge(ofDumps(t, map[string]string{"/a/list.txt": "NIC statistics:\n rx_packets: 50\n"}), rule.DefaultThresholds()); r.Verdict.Bound != finding.BoundUnknown {
		t.Errorf("nothing that can be judged: %s, %q", r.Verdict.Bound, r.Verdict.Sentence)
	}
}
