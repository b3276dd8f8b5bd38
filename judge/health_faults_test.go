package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/ingest"
	"assay/judge/rule"
	"assay/summary"
)

// A node is what one machine says: files by name, and the values of its GPUs that a fault changes.
type node struct {
	name  string
	index int
	smi   func(gpu int, text string) string // changes the report of a GPU
	files map[string]string
}

// smiGPU is the report of one healthy GPU in use. Values are of no real machine.
func smiGPU(node, gpu int) string {
	return fmt.Sprintf(`GPU 00000000:%02X:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
    GPU UUID                              : GPU-%04d-%04d
    VBIOS Version                         : 96.00.74.00.01
    Inforom Version
        Image Version                     : G520.0200.00.05
    GPU Recovery Action                   : None
    GSP Firmware Version                  : 550.90.07
    PCI
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
            Link Width
                Max                       : 16x
                Current                   : 16x
        Replays Since Reset               : 3
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        Applications Clocks Setting       : Not Active
        SW Power Cap                      : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
    Utilization
        GPU                               : 97 %%
    ECC Mode
        Current                           : Enabled
    ECC Errors
        Volatile
            SRAM Correctable              : 0
            DRAM Correctable              : 1
            DRAM Uncorrectable            : 0
        Aggregate
            SRAM Threshold Exceeded       : No
        Channel Repair Pending            : No
        Unrepairable Memory               : No
    Remapped Rows
        Pending                           : No
        Remapping Failure Occurred        : No
        Bank Remap Availability Histogram
            None                          : 0 bank(s)
    GPU Power Readings
        Current Power Limit               : 700.00 W
        Default Power Limit               : 700.00 W
    Clocks
        SM                                : %d MHz
        Memory                            : 2619 MHz
    Applications Clocks
        Graphics                          : 1980 MHz
    Default Applications Clocks
        Graphics                          : 1980 MHz
    Max Clocks
        SM                                : 1980 MHz
        Memory                            : 2619 MHz
    Fabric
        State                             : Completed
        Status                            : Success
        Health
            Bandwidth                     : Full
            Route Unhealthy               : False
`, 0x18+gpu, node, gpu, 1905+15*(gpu%3))
}

// links prints what "nvidia-smi nvlink" says of the links of 8 GPUs, one line for each of the given texts.
func links(node int, texts ...string) string {
	var b strings.Builder
	for gpu := range 8 {
		fmt.Fprintf(&b, "GPU %d: NVIDIA H100 80GB HBM3 (UUID: GPU-%04d-%04d)\n", gpu, node, gpu)
		for link := range 18 {
			for _, text := range texts {
				fmt.Fprintf(&b, "\t Link %d: %s\n", link, text)
			}
		}
	}
	return b.String()
}

func topology() string {
	var b strings.Builder
	for gpu := range 8 {
		fmt.Fprintf(&b, "\tGPU%d", gpu)
	}
	b.WriteString("\tNIC0\tCPU Affinity\n")
	for a := range 8 {
		fmt.Fprintf(&b, "GPU%d", a)
		for o := range 8 {
			fmt.Fprint(&b, "\t", map[bool]string{true: " X ", false: "NV18"}[a == o])
		}
		b.WriteString("\tNODE\t0-47\n")
	}
	return b.String()
}

const diagnostic = `Successfully ran diagnostic for group.
+---------------------------+------------------------------------------------+
| Diagnostic                | Result                                         |
+===========================+================================================+
|-----  Metadata  ----------+------------------------------------------------|
| DCGM Version              | 3.3.6                                          |
|-----  Deployment  --------+------------------------------------------------|
| Denylist                  | Pass                                           |
|-----  Integration  -------+------------------------------------------------|
| PCIe                      | Pass - All                                     |
|-----  Hardware  ----------+------------------------------------------------|
| GPU Memory                | Pass - All                                     |
| Pulse Test                | Skip - All                                     |
+---------------------------+------------------------------------------------+
`

func adapters(node int) string {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "CA 'mlx5_%d'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.39.2048\n\tNode GUID: 0x%04x%04x\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n", i, node, i)
	}
	return b.String()
}

func portCounters() string {
	var b strings.Builder
	for i := range 4 {
		fmt.Fprintf(&b, "link mlx5_%d/1 rx_write_requests 81273 out_of_sequence 17 packet_seq_err 2 local_ack_timeout_err 0 out_of_buffer 30 link_downed 1\n", i)
	}
	return b.String()
}

// kernel prints harmless messages and one more.
func kernel(name, more string) string {
	return "Nov 12 03:00:01 " + name + " kernel: [  12.1] nvidia-nvlink: Nvlink Core is being initialized\nNov 12 03:04:05 " + name + " kernel: [ 900.2] " + more + "\n"
}

// healthyNodes are four nodes of eight GPUs. Files of a later moment begin with "later".
func healthyNodes() []*node {
	var out []*node
	for i := range 4 {
		n := &node{name: fmt.Sprintf("worker-%d", i), index: i, files: map[string]string{
			"links.txt": links(i, "26.562 GB/s"), "errors.txt": links(i, "Replay Errors: 2", "Recovery Errors: 0", "CRC Errors: 1"),
			"topo.txt": topology(), "diag.txt": diagnostic, "ibstat.txt": adapters(i), "rdma.txt": portCounters(), "rdma-later.txt": portCounters(),
		}}
		n.files["dmesg.txt"] = kernel(n.name, "nvidia 0000:18:00.0: enabling device")
		out = append(out, n)
	}
	return out
}

// ofDumps reads texts by their paths.
func ofDumps(t *testing.T, dumps map[string]string) *summary.Summary {
	t.Helper()
	var sums []*summary.Summary
	for _, path := range slices.Sorted(maps.Keys(dumps)) {
		f, err := ingest.Open(ingest.Stdin, strings.NewReader(dumps[path]))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.Path = path
		if in, err := ingest.Load(f, analyze.Needs()); err == nil { // else a file without readings
			sums = append(sums, measuredAs(in))
		}
	}
	return summary.Merge(sums...)
}

// ofNodes reads the files of nodes.
func ofNodes(t *testing.T, nodes []*node) *summary.Summary {
	t.Helper()
	dumps := map[string]string{}
	for _, n := range nodes {
		text := "==============NVSMI LOG==============\n\nDriver Version                            : 550.90.07\nCUDA Version                              : 12.4\n\nAttached GPUs                             : 8\n"
		for gpu := range 8 {
			report := smiGPU(n.index, gpu)
			if n.smi != nil {
				report = n.smi(gpu, report)
			}
			text += report
		}
		n.files["smi.txt"] = cmp.Or(n.files["smi.txt"], text)
		for _, name := range slices.Sorted(maps.Keys(n.files)) {
			dumps["/logs/"+n.name+"/"+name] = n.files[name]
		}
	}
	return ofDumps(t, dumps)
}

// onGPU replaces a text in the report of one GPU. The text must be there.
func onGPU(gpu int, old, new string) func(*node) {
	return func(n *node) {
		n.smi = func(g int, text string) string {
			if g != gpu {
				return text
			}
			return replaced(text, old, new)
		}
	}
}

// replaced replaces the value of the first line whose name is old.
func replaced(text, old, new string) string {
	i := strings.Index(text, old)
	if i < 0 {
		panic("no " + old)
	}
	end := i + strings.IndexByte(text[i:], '\n')
	colon := i + strings.Index(text[i:end], ": ") + 2
	return text[:colon] + new + text[end:]
}

// inFile replaces the nth text of a file.
func inFile(name, old, new string, nth int) func(*node) {
	return func(n *node) {
		at := 0
		for range nth + 1 {
			i := strings.Index(n.files[name][at:], old)
			if i < 0 {
				panic("no " + old)
			}
			at += i + len(old)
		}
		n.files[name] = n.files[name][:at-len(old)] + new + n.files[name][at:]
	}
}

func says(text string) func(*node) {
	return func(n *node) { n.files["dmesg.txt"] = kernel(n.name, text) }
}

// hardware are the rules on machines.
var hardware = []string{rule.GPUFault, rule.LinkFault, rule.UnlikePeers, rule.SlowedGPUs, rule.SlowLink, rule.MemoryErrors}

// found returns the findings on machines, as "rule: title".
func found(s *summary.Summary) (out []string) {
	for _, f := range Judge(s, rule.DefaultThresholds()).Findings {
		if slices.Contains(hardware, f.Rule) {
			out = append(out, f.Rule+": "+f.Title)
		}
	}
	return out
}

// TestOneFault: each fault on one of four nodes is found at its place, without other findings.
func TestOneFault(t *testing.T) {
	for _, tt := range []struct {
		name, rule string
		fault      func(*node)
		says       []string
	}{
		{"heat", rule.GPUFault, onGPU(5, "HW Thermal Slowdown", "Active"), []string{"worker-2 GPU 5: thermal slowdown active"}},
		{"power brake", rule.GPUFault, onGPU(2, "HW Power Brake Slowdown", "Active"), []string{"worker-2 GPU 2: power brake slowdown active (SM 1935 MHz of 1980 MHz)"}},
		{"uncorrectable error", rule.GPUFault, onGPU(7, "DRAM Uncorrectable", "4"), []string{"worker-2 GPU 7: 4 uncorrectable ECC errors (DRAM)"}},
		{"pending remap", rule.GPUFault, onGPU(3, "        Pending", "Yes"), []string{"worker-2 GPU 3: row remap pending"}},
		{"a far adapter", rule.UnlikePeers, inFile("topo.txt", "NODE", "SYS", 5), []string{"worker-2 GPU 5: nearest network adapter at SYS, NODE for other GPUs"}},
		{"a GPU that does not answer", rule.GPUFault, func(n *node) {
			n.files["more.txt"] = "Unable to determine the device handle for GPU0000:1C:00.0: Unknown Error\n"
		}, []string{"worker-2 GPU 4: the driver gets no answer"}},
		{"an inactive GPU", rule.LinkFault, func(n *node) {
			for link := range 18 {
				inFile("links.txt", fmt.Sprintf("Link %d: 26.562 GB/s", link), fmt.Sprintf("Link %d: <inactive>", link), 6)(n)
			}
		}, []string{"worker-2 GPU 6 link 0, GPU 6 link 1", "inactive"}},
		{"failed remap", rule.GPUFault, onGPU(0, "Remapping Failure Occurred", "Yes"), []string{"GPU 0"}},
		{"SRAM threshold", rule.GPUFault, onGPU(3, "SRAM Threshold Exceeded", "Yes"), []string{"worker-2 GPU 3", "SRAM"}},
		{"recovery action", rule.GPUFault, onGPU(1, "GPU Recovery Action", "Reset"), []string{"worker-2 GPU 1", `"Reset"`}},
		{"no spare row", rule.GPUFault, onGPU(6, "            None  ", "2 bank(s)"), []string{"worker-2 GPU 6", "spare"}},
		{"power limit", rule.GPUFault, onGPU(4, "Current Power Limit", "500.00 W"), []string{"worker-2 GPU 4", "500.00 W", "700.00 W"}},
		{"application clock", rule.GPUFault, onGPU(4, "        Graphics", "1410 MHz"), []string{"worker-2 GPU 4", "1410 MHz"}},
		{"slow clock", rule.GPUFault, func(n *node) {
			n.smi = func(gpu int, text string) string {
				if text = replaced(text, "        SW Power Cap", "Not Active"); gpu == 2 {
					text = replaced(text, "        SM   ", "1200 MHz")
				}
				return text
			}
		}, []string{"worker-2 GPU 2", "1200 MHz in use", "1912 MHz on the median"}},
		{"narrow link", rule.LinkFault, onGPU(1, "                Current                   : 16x\n", "8x"), []string{"GPU 1", "8 of 16"}},
		{"replays", rule.LinkFault, onGPU(1, "Replays Since Reset", "48211"), []string{"worker-2 GPU 1", "48,211 PCIe replays"}},
		{"fabric", rule.LinkFault, onGPU(0, "        State ", "In Progress"), []string{"worker-2 GPU 0", "In Progress"}},
		{"old VBIOS", rule.UnlikePeers, onGPU(6, "VBIOS Version", "96.00.30.00.01"), []string{"worker-2 GPU 6", "96.00.30.00.01", "96.00.74.00.01"}},
		{"MIG", rule.UnlikePeers, onGPU(6, "        Current                           : Disabled", "Enabled"), []string{"worker-2 GPU 6", "MIG"}},
		{"inactive NVLink", rule.LinkFault, inFile("links.txt", "Link 3: 26.562 GB/s", "Link 3: <inactive>", 4), []string{"worker-2 GPU 4 link 3", "inactive"}},
		{"slow NVLink", rule.LinkFault, inFile("links.txt", "Link 11: 26.562 GB/s", "Link 11: 13.281 GB/s", 2), []string{"worker-2 GPU 2 link 11", "13.281"}},
		{"errors of NVLink", rule.LinkFault, inFile("errors.txt", "Link 9: Recovery Errors: 0", "Link 9: Recovery Errors: 212", 1), []string{"worker-2 GPU 1 link 9", "NVLink recoveries: 212"}},
		{"topology", rule.UnlikePeers, inFile("topo.txt", "NV18", "SYS", 3), []string{"worker-2 GPU 0 - GPU 4", "SYS", "NV18"}},
		{"fell off the bus", rule.GPUFault, says("NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, name=python, GPU has fallen off the bus."), []string{"worker-2 GPU 3", "Xid 79"}},
		{"NVLink's Xid", rule.LinkFault, says("NVRM: Xid (PCI:0000:1a:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 6"), []string{"worker-2 GPU 2", "Xid 74"}},
		{"diagnostic", rule.GPUFault, inFile("diag.txt", "GPU Memory                | Pass - All    ", "GPU Memory                | Fail - GPU: 5 ", 0), []string{"worker-2 GPU 5", "GPU Memory", "Fail"}},
		{"port down", rule.LinkFault, inFile("ibstat.txt", "State: Active", "State: Down", 2), []string{"worker-2 mlx5_2 port 1", "Down"}},
		{"slow port", rule.LinkFault, inFile("ibstat.txt", "Rate: 400", "Rate: 200", 1), []string{"worker-2 mlx5_1 port 1", "200 Gbit/s", "400"}},
		{"firmware of an adapter", rule.UnlikePeers, inFile("ibstat.txt", "28.39.2048", "28.37.1014", 0), []string{"worker-2 mlx5_0", "28.37.1014"}},
		{"flapping link", rule.LinkFault, inFile("rdma-later.txt", "link_downed 1", "link_downed 4", 3), []string{"worker-2 mlx5_3 port 1", "link-down events: 3"}},
		{"lost packets", rule.LinkFault, inFile("rdma-later.txt", "out_of_sequence 17", "out_of_sequence 91017", 0), []string{"worker-2 mlx5_0 port 1", "91,000"}},
	} {
		nodes := healthyNodes()
		tt.fault(nodes[2])
		got := found(ofNodes(t, nodes))
		if len(got) != 1 || !strings.HasPrefix(got[0], tt.rule+": ") {
			t.Errorf("%s: got %q, want one of %s", tt.name, got, tt.rule)
			continue
		}
		for _, text := range tt.says {
			if !strings.Contains(got[0], text) {
				t.Errorf("%s: %q is not in %q", tt.name, text, got[0])
			}
		}
	}
}

// TestHealthy: what looks odd and is no fault.
func TestHealthy(t *testing.T) {
	idle := func(n *node) {
		n.smi = func(gpu int, text string) string {
			if gpu == 3 {
				text = replaced(text, "        GPU  ", "0 %")
				text = replaced(text, "        SM   ", "345 MHz")
				text = replaced(text, "        Idle", "Active")
				text = replaced(text, "                Current                   : 5", "1")
			}
			return text
		}
	}
	for name, change := range map[string]func([]*node){
		"healthy":                     func([]*node) {},
		"an idle GPU with low clocks": func(n []*node) { idle(n[1]) },
		"one corrected memory error":  func(n []*node) { onGPU(2, "DRAM Correctable", "1")(n[0]) },
		"GPUs of another model": func(n []*node) {
			n[3].smi = func(_ int, text string) string {
				for _, line := range [][2]string{{"Product Name", "NVIDIA A100-SXM4-80GB"}, {"VBIOS Version", "92.00.45.00.03"}, {"        SM   ", "1410 MHz"}, {"Current Power Limit", "400.00 W"},
					{"Default Power Limit", "400.00 W"}, {"                Max                       : 5", "4"}, {"                Current                   : 5", "4"}, {"GSP Firmware", "550.54.14"}} {
					text = replaced(text, line[0], line[1])
				}
				text = strings.ReplaceAll(text, ": 1980 MHz", ": 1410 MHz")
				return text
			}
		},
		"a power limit that all have": func(n []*node) {
			for _, it := range n {
				it.smi = func(_ int, text string) string {
					return replaced(replaced(text, "Current Power Limit", "650.00 W"), "Default Power Limit", "650.00 W")
				}
			}
		},
		"counters that stay": func(n []*node) {
			for _, name := range []string{"rdma.txt", "rdma-later.txt"} {
				inFile(name, "out_of_sequence 17", "out_of_sequence 700017", 1)(n[0])
			}
		},
		"half of the nodes with another driver of their GSP": func(n []*node) {
			for _, it := range n[:2] {
				it.smi = func(_ int, text string) string { return replaced(text, "GSP Firmware", "550.54.14") }
			}
		},
	} {
		nodes := healthyNodes()
		change(nodes)
		if got := found(ofNodes(t, nodes)); len(got) != 0 {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
