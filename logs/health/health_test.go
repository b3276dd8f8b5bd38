package health

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/textscan"
	"assay/logs"
)

// read returns the readings of a text, as "node/part/property/name first last times".
func read(t *testing.T, text string) (out []string) {
	t.Helper()
	f := NewFinder("x", logs.Limits{})
	if _, err := textscan.Scan(strings.NewReader(text), f); err != nil {
		t.Fatal(err)
	}
	return texts(f.Log())
}

func texts(l *logs.Log) (out []string) {
	for _, r := range l.Readings {
		out = append(out, fmt.Sprintf("%s/%s/%s/%s %s %s %d", r.Node, r.Part, r.Property, r.Name, r.First, r.Last, r.Times))
	}
	return out
}

// TestForms: what each tool prints, and texts that only look like it.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"states of NVLink", "GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-1c)\n\t Link 0: 25 GB/s\n\t Link 11: <inactive>\n", []string{
			"/GPU 2/gpu.uuid/ GPU-1c GPU-1c 1", "/GPU 2/gpu.model/ NVIDIA A100-SXM4-40GB NVIDIA A100-SXM4-40GB 1", "/GPU 2 link 0/nvlink.state/ 25 GB/s 25 GB/s 1", "/GPU 2 link 11/nvlink.state/ <inactive> <inactive> 1"}},
		{"a list of GPUs", "GPU 2: NVIDIA A100-SXM4-40GB (UUID: GPU-1c)\nGPU 3: NVIDIA A100-SXM4-40GB (UUID: GPU-1d)\n", []string{
			"/GPU 2/gpu.uuid/ GPU-1c GPU-1c 1", "/GPU 2/gpu.model/ NVIDIA A100-SXM4-40GB NVIDIA A100-SXM4-40GB 1", "/GPU 3/gpu.uuid/ GPU-1d GPU-1d 1", "/GPU 3/gpu.model/ NVIDIA A100-SXM4-40GB NVIDIA A100-SXM4-40GB 1"}},
		{"errors of NVLink", "GPU 0: X (UUID: GPU-a)\n\t Link 5: Replay Errors: 7\n\t Link 5: Recovery Errors: 1\n\t Link 5: CRC FLIT Errors: 9\n", []string{
			"/GPU 0/gpu.uuid/ GPU-a GPU-a 1", "/GPU 0/gpu.model/ X X 1", "/GPU 0 link 5/nvlink.replays/Replay Errors 7 7 1", "/GPU 0 link 5/nvlink.recoveries/Recovery Errors 1 1 1", "/GPU 0 link 5/nvlink.crc/CRC FLIT Errors 9 9 1"}},
		{"a topology", "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\x1b[0m\nGPU0\t X \tPXB\tSYS\t0-7\nGPU1\tPXB\t X \tSYS\t0-7\nNIC0\tSYS\tSYS\t X \n\nLegend:\n", []string{"/GPU 0 - GPU 1/topo.pair/ PXB PXB 1", "/GPU 0/topo.adapter/ SYS SYS 1", "/GPU 1/topo.adapter/ SYS SYS 1"}},
		{"a topology with NUMA nodes", "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \tNV4\t0-7\t0\t\tN/A\nGPU1\tNV4\t X \t8-15\t1\t\tN/A\n", []string{"/GPU 0 - GPU 1/topo.pair/ NV4 NV4 1", "/GPU 0/topo.numa/ 0 0 1", "/GPU 1/topo.numa/ 1 1 1"}},
		{"a message of syslog", "2026-05-02T10:11:12.5+00:00 gpu07 kernel: NVRM: Xid (PCI:0000:41:00): 119, pid=5, name=ray::worker, Timeout after 6s of waiting for RPC response\n", []string{
			"gpu07/GPU 0000:41:00/xid.119/ Timeout after 6s of waiting for RPC response Timeout after 6s of waiting for RPC response 1"}},
		{"messages of dmesg", "[ 1.0] NVRM: Xid (PCI:0000:41:00): 45, Ch 1\n[ 2.0] NVRM: Xid (PCI:0000:41:00): 45, Ch 2\n[3.0] nvidia-nvswitch1: SXid (PCI:0000:c5:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n", []string{
			"/GPU 0000:41:00/xid.45/ Ch 1 Ch 2 2", "/NVSwitch 0000:c5:00.0/sxid.20034/ Fatal, Link 30 LTSSM Fault Up Fatal, Link 30 LTSSM Fault Up 1"}},
		{"interfaces that the commands name", "$ ethtool -S ens1f0\nNIC statistics:\n rx_errors: 7\n$ ethtool -S ens1f1\nNIC statistics:\n rx_errors: 9\n", []string{"/ens1f0/port.receive_errors/rx_errors 7 7 1", "/ens1f1/port.receive_errors/rx_errors 9 9 1"}},
		{"a log of the kernel without an Xid", "[    4.125] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.1\n[    5.5] nvidia-nvlink: Nvlink Core is being initialized\n", []string{"/host/kernel.log/ read read 2"}},
		{"a GPU that does not answer", "Unable to determine the device handle for GPU0000:5E:00.0: Unknown Error\n", []string{"/GPU 0000:5E:00.0/gpu.lost/ no answer no answer 1"}},
		{"a message with its host, by pdsh", "n012: [Fri Jul 18 09:08:07 2025] NVRM: Xid (PCI:0002:01:00): 74, NVLink: x\n", []string{"/GPU 0002:01:00/xid.74/ NVLink: x NVLink: x 1"}},
		{"a message with its level, by dmesg -x", "kern  :err   : [Fri Jul 18 09:08:07 2025] NVRM: Xid (PCI:0002:01:00): 32, x\n", []string{"/GPU 0002:01:00/xid.32/ x x 1"}},
		{"a message in a sentence", "The log of a host that fails says: NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\n", nil},
		{"a message in a script", "grep `NVRM: Xid (PCI:0000:41:00): 79, x` /var/log/messages\n", nil},
		{"a note that quotes a message", "look for it: dmesg | grep \"NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.\"\n", nil},
		{"a message without the name of the driver", "for example Xid (PCI:0000:41:00): 48, DBE\n", nil},
		{"a page about Xids", "Xid 79 means that the GPU has fallen off the bus. See Xid (PCI:...) in dmesg.\n", nil},
		{"a diagnostic of version 4", "+---+---+\n| Diagnostic | Result |\n+===+===+\n| memory | Fail |\n|  | GPU0: Pass |\n|  | GPU6: Fail |\n| pcie | Warn - GPU: 3 |\n+---+---+\n", []string{
			"/host/diag.result/memory Fail Fail 1", "/GPU 0/diag.result/memory Pass Pass 1", "/GPU 6/diag.result/memory Fail Fail 1", "/GPU 3/diag.result/pcie Warn Warn 1"}},
		{"the health of DCGM", "| Health Monitor Report |\n+===+===+\n| Overall Health | Warning |\n| GPU |  |\n| -> 4 | Warning |\n|    -> Errors |  |\n|       -> NVLINK system | Warning |\n|   | Detected 3 NvLink errors |\n", []string{
			"/host/dcgm.overall/ Warning Warning 1", "/GPU 4/dcgm.health/NVLINK system Warning Warning 1"}},
		{"an adapter", "CA 'ibp12s0'\n\tCA type: MT4131\n\tNumber of ports: 1\n\tFirmware version: 40.41.1000\n\tNode GUID: 0xab\n\tPort 1:\n\t\tState: Initializing\n\t\tPhysical state: LinkUp\n\t\tRate: 800\n", []string{
			"/ibp12s0/ib.type/ MT4131 MT4131 1", "/ibp12s0/ib.firmware/ 40.41.1000 40.41.1000 1", "/ibp12s0/ib.guid/ 0xab 0xab 1", "/ibp12s0 port 1/ib.state/ Initializing Initializing 1",
			"/ibp12s0 port 1/ib.physical/ LinkUp LinkUp 1", "/ibp12s0 port 1/ib.rate/ 800 800 1"}},
		{"statistics of ethtool of an unknown port, twice", "NIC statistics:\n     rx_packets: 5\n     tx_discards_phy: 3\nNIC statistics:\n     rx_packets: 9\n     tx_discards_phy: 90003\n", []string{
			"/network port/port.traffic/rx_packets 5 5 1", "/network port/port.discards/tx_discards_phy 3 3 1", "/network port 2/port.traffic/rx_packets 9 9 1", "/network port 2/port.discards/tx_discards_phy 90003 90003 1"}},
		{"statistics of ethtool of one port, twice", "$ ethtool -S eno7\nNIC statistics:\n     tx_discards_phy: 3\n$ ethtool -S eno7\nNIC statistics:\n     tx_discards_phy: 90003\n", []string{"/eno7/port.discards/tx_discards_phy 3 90003 2"}},
		{"perfquery", "# Port counters: Lid 7 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\nSymbolErrorCounter:..............12\nLinkDownedCounter:...............3\n", []string{
			"/Lid 7 port 1/port.symbol_errors/SymbolErrorCounter 12 12 1", "/Lid 7 port 1/port.link_downed/LinkDownedCounter 3 3 1"}},
		{"rdma statistic", "link rocep1/1 rx_read_requests 4 out_of_sequence 6\n", []string{"/rocep1 port 1/port.traffic/rx_read_requests 4 4 1", "/rocep1 port 1/port.out_of_sequence/out_of_sequence 6 6 1"}},
		{"a sentence", "link time optimization is 3 out_of_sequence 4\n", nil},
		{"processes that RAS does not reach", "  2 job processes are considered dead (unreachable via the RAS network)\n  Process 11 on node 10.0.0.7 managing GPU 5\n  Process 12 on node 10.0.0.7 managing GPU 6\nThe end\n", []string{
			"10.0.0.7/GPU 5/ras.dead/ yes yes 1", "10.0.0.7/GPU 6/ras.dead/ yes yes 1"}},
		{"a secret at the end of a long text", "[1.0] NVRM: Xid (PCI:0000:41:00): 31, " + strings.Repeat("x", 95) + " ghp_0123456789abcdefghijABCDEFGHIJKLMN\n", []string{"/GPU 0000:41:00/xid.31/ " + strings.Repeat("x", 95) + " " + strings.Repeat("x", 95) + " 1"}},
	} {
		if got := read(t, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// TestDiag: the JSON of version 3 has numbers of GPUs as text, that of version 4 as numbers of entities.
func TestDiag(t *testing.T) {
	for text, want := range map[string][]string{
		`{"DCGM GPU Diagnostic":{"test_categories":[{"category":"Hardware","tests":[{"name":"GPU Memory","results":[{"gpu_id":"0","status":"Pass"},{"gpu_id":"3","status":"Fail","warnings":"x"}]}]}]}}`:                       {"/GPU 0/diag.result/GPU Memory Pass Pass 1", "/GPU 3/diag.result/GPU Memory Fail Fail 1"},
		`{"DCGM Diagnostic":{"test_categories":[{"category":"Integration","tests":[{"name":"pcie","results":[{"entity_group":"GPU","entity_group_id":1,"entity_id":7,"status":"WARN"}],"test_summary":{"status":"Warn"}}]}]}}`: {"/GPU 7/diag.result/pcie Warn Warn 1"},
	} {
		if !SniffDiag([]byte(text)) {
			t.Errorf("not recognized: %s", text)
		}
		l, err := ReadDiag(strings.NewReader(text), "x", logs.Limits{})
		if err != nil || !slices.Equal(texts(l), want) {
			t.Errorf("got %q, %v, want %q", texts(l), err, want)
		}
	}
	l, err := ReadDiag(strings.NewReader(`{"DCGM Diagnostic":{"test_categories":[{"tests":[{"name":"pcie","results":[{"gpu_id":-1,"status":"FAIL"},{"gpu_id":1e308,"status":"FAIL"},{"gpu_id":"gpu2","status":"FAIL"}]}]}]}}`), "x", logs.Limits{})
	if want := []string{"/host/diag.result/pcie Fail Fail 1"}; err != nil || !slices.Equal(texts(l), want) {
		t.Errorf("numbers that no GPU has: %q, %v, want %q", texts(l), err, want)
	}
	if SniffDiag([]byte(`{"traceEvents":[]}`)) {
		t.Error("a trace is recognized as a diagnostic")
	}
	if _, err := ReadDiag(strings.NewReader(`{"DCGM Diagnostic":`), "x", logs.Limits{}); err == nil {
		t.Error("half of an output has no error")
	}
}

func FuzzReadings(f *testing.F) {
	f.Add("GPU 2: X (UUID: GPU-1c)\n\t Link 0: 25 GB/s\nCA 'a'\n\tPort 1:\n\t\tRate: 5\nNIC statistics:\n a: 1\n")
	f.Add("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\nlink a/1 out_of_sequence 3 x 4\nNVRM: Xid (PCI:0000:41:00): 45, pid=1, x\n")
	f.Add("| Diagnostic | Result |\n| m | Fail - GPU: 3 |\n| Health Monitor Report |\n| -> 4 | Warning |\n| -> A system | x |\n 1 job process is considered dead\n Process 1 on node a managing GPU 2\n")
	f.Add(`{"DCGM Diagnostic":{"test_categories":[{"tests":[{"name":"a","results":[{"entity_id":7,"status":"é"}]}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		read(t, text)
		if l, err := ReadDiag(strings.NewReader(text), "x", logs.Limits{}); err == nil {
			texts(l)
		}
	})
}
