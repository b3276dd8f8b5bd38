package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/rule"
)

// bridged prints the links of GPUs with PCIe cards of 12 links, of which the first are active.
func bridged(active ...int) string {
	var b strings.Builder
	for gpu, n := range active {
		fmt.Fprintf(&b, "GPU %d: NVIDIA A100-PCIE-80GB (UUID: GPU-b%03d)\n", gpu, gpu)
		for link := range 12 {
			fmt.Fprintf(&b, "\t Link %d: %s\n", link, map[bool]string{true: "25 GB/s", false: "<inactive>"}[link < n])
		}
	}
	return b.String()
}

// matrix prints how pairs of GPUs are connected.
func matrix(gpus int, pair func(a, b int) string) string {
	var b strings.Builder
	for gpu := range gpus {
		fmt.Fprintf(&b, "\tGPU%d", gpu)
	}
	b.WriteString("\tCPU Affinity\n")
	for a := range gpus {
		fmt.Fprintf(&b, "GPU%d", a)
		for o := range gpus {
			text := " X "
			if a != o {
				text = pair(min(a, o), max(a, o))
			}
			b.WriteString("\t" + text)
		}
		b.WriteString("\t0-63\n")
	}
	return b.String()
}

// TestBuiltSo: machines that are built or set up so are not faulty, and the nearest fault is found.
func TestBuiltSo(t *testing.T) {
	eth := func(errors, down int) string {
		return fmt.Sprintf("NIC statistics:\n     rx_packets: 91\n     rx_errors: %d\n     link_down_events_phy: %d\n", errors, down)
	}
	port := func(name, state, physical, layer, rate string) string {
		return fmt.Sprintf("CA '%s'\n\tCA type: MT4129\n\tNode GUID: 0x%s\n\tPort 1:\n\t\tState: %s\n\t\tPhysical state: %s\n\t\tRate: %s\n\t\tLink layer: %s\n",
			name, name, state, physical, rate, layer)
	}
	up := port("mlx5_0", "Active", "LinkUp", "InfiniBand", "400") + port("mlx5_1", "Active", "LinkUp", "InfiniBand", "400")
	pairs := func(near string) func(a, b int) string {
		return func(a, b int) string {
			if a/2 == b/2 {
				return near
			}
			return "NODE"
		}
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // the beginning of the finding, "" for none
	}{
		{"no bridges", map[string]string{"n.txt": bridged(0, 0, 0, 0)}, ""},
		{"bridges of some pairs", map[string]string{"n.txt": bridged(4, 4, 0, 0)}, ""},
		{"a pair without a bridge", map[string]string{"n.txt": bridged(4, 4, 4, 4, 4, 4, 0, 0)}, ""},
		{"a link of a bridge", map[string]string{"n.txt": bridged(4, 4, 4, 3)}, rule.LinkFault + ": GPU 3 link 3: the NVLink is inactive"},
		{"a GPU without links among others with all", map[string]string{"n.txt": bridged(12, 12, 0, 12)}, rule.LinkFault + ": GPU 2 link"},
		{"pairs behind one switch", map[string]string{"t.txt": matrix(8, pairs("PIX"))}, ""},
		{"pairs with a bridge", map[string]string{"t.txt": matrix(6, pairs("NV4"))}, ""},
		{"a pair that lost its NVLinks", map[string]string{"t.txt": matrix(8, func(a, b int) string { return map[bool]string{true: "PHB", false: "NV12"}[a == 2 && b == 5] })},
			rule.UnlikePeers + ": GPU 2 - GPU 5: connected by PHB"},
		{"a disabled port", map[string]string{"i.txt": up + port("mlx5_2", "Down", "Disabled", "InfiniBand", "40")}, ""},
		{"a port of Ethernet", map[string]string{"i.txt": up + port("mlx5_2", "Active", "LinkUp", "Ethernet", "100")}, ""},
		{"a port without a link", map[string]string{"i.txt": up + port("mlx5_2", "Down", "Polling", "InfiniBand", "10")}, rule.LinkFault + ": mlx5_2 port 1: the port is Down"},
		{"two interfaces in a file", map[string]string{"e.txt": eth(12, 0) + eth(0, 1)}, ""},
		{"two interfaces in files", map[string]string{"ethtool-eth4.txt": eth(12, 0), "ethtool-eth5.txt": eth(0, 1)}, ""},
		{"one interface, before and after", map[string]string{"eth4-before.txt": eth(12, 0), "eth4-after.txt": eth(12, 2)}, rule.LinkFault + ": network port eth4: link-down events: 2"},
		{"counters that were reset", map[string]string{"rdma-1.txt": "link mlx5_0/1 link_downed 15 packet_seq_err 4000\n", "rdma-2.txt": "link mlx5_0/1 link_downed 0 packet_seq_err 0\n"}, ""},
		{"counters of two hosts", map[string]string{"a.txt": "link mlx5_0/1 link_downed 1 packet_seq_err 9\n", "b.txt": "link mlx5_0/1 link_downed 3 packet_seq_err 0\n"}, ""},
		{"a test that did not run", map[string]string{"d.json": `{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "pcie", "results": [{"gpu_id": "0", "status": "NOT RUN"}]}]}]}}`}, ""},
		{"a test that failed", map[string]string{"d.json": `{"DCGM Diagnostic": {"test_categories": [{"tests": [{"name": "pcie", "results": [{"gpu_id": "3", "status": "FAIL"}]}]}]}}`},
			rule.GPUFault + ": GPU 3: dcgmi diag, test pcie: Fail"},
		{"a quoted Xid", map[string]string{"x.txt": `see "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus."` + "\nor Xid (PCI:0000:18:00): 79, x\n"}, ""},
		{"an Xid with its time", map[string]string{"x.txt": "[Mon Mar  4 05:06:07 2024] NVRM: Xid (PCI:0000:18:00): 79, pid=1, GPU has fallen off the bus.\n"},
			rule.GPUFault + ": GPU 0000:18:00: Xid 79: the GPU fell off the bus (Mon Mar  4 05:06:07 2024)"},
		{"a GPU that does not answer", map[string]string{"s.txt": "Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error\n"}, rule.GPUFault + ": GPU 0000:3B:00.0: nvidia-smi cannot open the GPU"},
	} {
		n := &node{name: "worker", files: tt.files}
		n.files["smi.txt"] = "nothing"
		got := strings.Join(found(ofNodes(t, []*node{n})), "\n")
		if got == "" != (tt.want == "") || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestUnequalHosts: a host with other GPUs, a container with some, and a GPU that does heavier work are no exception; a
// host that lost one GPU is.
func TestUnequalHosts(t *testing.T) {
	hosts := func(others int, last func(text string) string) string {
		nodes := append(healthyNodes()[:others], healthyNodes()[3])
		n := nodes[others]
		text := "==============NVSMI LOG==============\n\nDriver Version                            : 550.90.07\nCUDA Version                              : 12.4\n\nAttached GPUs                             : 8\n"
		for gpu := range 8 {
			text += smiGPU(n.index, gpu)
		}
		n.files = map[string]string{"smi.txt": last(text)}
		return strings.Join(found(ofNodes(t, nodes)), "\n")
	}
	few := func(gpus int) func(string) string {
		return func(text string) string {
			parts := strings.SplitAfter(text, "Route Unhealthy               : False\n")
			return strings.Replace(strings.Join(parts[:gpus], ""), "Attached GPUs                             : 8", fmt.Sprintf("Attached GPUs                             : %d", gpus), 1)
		}
	}
	if got := hosts(2, func(text string) string { return strings.ReplaceAll(few(1)(text), "H100 80GB HBM3", "L4") }); got != "" {
		t.Errorf("a host with another GPU: %q", got)
	}
	if got := hosts(3, few(2)); got != "" {
		t.Errorf("a container with two GPUs: %q", got)
	}
	if got := hosts(3, few(7)); !strings.Contains(got, "worker-3: number of GPUs 7, 8 on its peers") {
		t.Errorf("a host that lost a GPU: %q", got)
	}
	if got := hosts(0, func(text string) string {
		text = strings.ReplaceAll(text, "SW Power Cap                      : Active", "SW Power Cap                      : Not Active")
		text = strings.Replace(text, "SW Power Cap                      : Not Active", "SW Power Cap                      : Active", 1)
		return replaced(text, "        SM   ", "1410 MHz")
	}); got != "" {
		t.Errorf("a GPU at its power limit among others: %q", got)
	}
}
