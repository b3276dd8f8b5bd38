package judge

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// dumpOf prints "nvidia-smi -q" of the first gpus of a host with as many attached; change has the changes of one report.
func dumpOf(stamp string, attached, gpus int, change ...func(*node)) string {
	n := &node{}
	for _, c := range change {
		c(n)
	}
	text := "==============NVSMI LOG==============\n\nTimestamp                                 : " + stamp + "\nDriver Version                            : 570.86.15\n" +
		fmt.Sprintf("CUDA Version                              : 12.8\n\nAttached GPUs                             : %d\n", attached)
	for gpu := range gpus {
		report := smiGPU(61, gpu)
		if n.smi != nil {
			report = n.smi(gpu, report)
		}
		text += report
	}
	return text
}

// machinesSay returns the findings on one host with files, with their levels: "warn GPU 2: ...".
func machinesSay(t *testing.T, files map[string]string) (out []string) {
	t.Helper()
	n := &node{name: "rack-9", files: files}
	if files["smi.txt"] == "" {
		n.files["smi.txt"] = "-"
	}
	for _, f := range Judge(ofNodes(t, []*node{n}), rule.DefaultThresholds()).Findings {
		if slices.Contains(hardware, f.Rule) {
			out = append(out, f.Level.String()+" "+strings.TrimPrefix(f.Title, "rack-9 "))
		}
	}
	return out
}

// TestNewestDump: the newest dump counts, whatever the files are called; what is repaired is said for information.
func TestNewestDump(t *testing.T) {
	const march, april = "Sun Mar  8 23:59:50 2026", "Thu Apr  2 07:00:00 2026"
	braked := onGPU(4, "HW Power Brake Slowdown", "Active")
	limited := onGPU(1, "Current Power Limit", "350.00 W")
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"repaired, the newest first": {map[string]string{"1.txt": dumpOf(april, 8, 8), "2.txt": dumpOf(march, 8, 8, limited)}, []string{
			"info GPU 1: power limit 350.00 W, default 700.00 W, in the dump of 2026-03-08 23:59:50; no longer in the dump of 2026-04-02 07:00:00"}},
		"repaired within one file": {map[string]string{"1.txt": dumpOf(march, 8, 8, braked) + dumpOf(april, 8, 8)}, []string{
			"info GPU 4: power brake slowdown active, SM 1920 MHz of 1980 MHz, in an earlier part of 1.txt; no longer in the dump of 2026-04-02 07:00:00"}},
		"new":            {map[string]string{"1.txt": dumpOf(april, 8, 8, limited), "2.txt": dumpOf(march, 8, 8)}, []string{"warn GPU 1: power limit 350.00 W, default 700.00 W"}},
		"in both":        {map[string]string{"1.txt": dumpOf(april, 8, 8, limited), "2.txt": dumpOf(march, 8, 8, limited)}, []string{"warn GPU 1: power limit 350.00 W, default 700.00 W"}},
		"idle, then not": {map[string]string{"1.txt": dumpOf(march, 8, 8, onGPU(3, "        SM   ", "210 MHz"), onGPU(3, "        GPU  ", "0 %")), "2.txt": dumpOf(april, 8, 8)}, nil},
		"errors that stay": {map[string]string{"1.txt": dumpOf(march, 8, 8, onGPU(2, "DRAM Uncorrectable", "3")), "2.txt": dumpOf(april, 8, 8, onGPU(2, "DRAM Uncorrectable", "3"))}, []string{
			"warn GPU 2: 3 uncorrectable ECC errors (DRAM) since the driver was loaded"}},
	} {
		if got := machinesSay(t, tt.files); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestOldXid: a message says when it was, and a later dump of the GPU that it answers.
func TestOldXid(t *testing.T) {
	const says119, text = "NVRM: Xid (PCI:0000:1a:00): 119, pid=9, name=ray, Timeout after 6s of waiting for RPC response", "GPU 2: Xid 119: the firmware of the GPU (GSP) did not answer"
	dump := dumpOf("Thu Apr  2 07:00:00 2026", 8, 8)
	for name, tt := range map[string]struct{ line, want string }{
		"a year before":       {"[Wed Apr  2 07:00:00 2025] " + says119, "info " + text + " (2025-04-02 07:00:00; the GPU answers in the dump of 2026-04-02 07:00:00)"},
		"the day before":      {"2026-04-01T22:15:00,125000+00:00 " + says119, "warn " + text + " (2026-04-01 22:15:00; the GPU answers in the dump of 2026-04-02 07:00:00)"},
		"after the dump":      {"2026-04-02T07:05:00+0000 rack-9 kernel: " + says119, "critical " + text + " (2026-04-02 07:05:00)"},
		"without a year":      {"Apr  1 22:15:00 rack-9 kernel: [88.5] " + says119, "critical " + text + " (Apr 1 22:15:00)"},
		"since the boot":      {"[ 7201.300] " + says119, "critical " + text},
		"of a GPU that is no": {"[Wed Apr  2 07:00:00 2025] " + strings.Replace(says119, "1a:00", "5d:00", 1), "critical GPU 0000:5d:00: Xid 119: the firmware of the GPU (GSP) did not answer (2025-04-02 07:00:00)"},
	} {
		if got := machinesSay(t, map[string]string{"smi.txt": dump, "messages.txt": tt.line + "\n"}); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, tt.want)
		}
	}
}

// TestMissingGPU: a GPU that is attached and not reported is missing; a report of chosen GPUs misses none.
func TestMissingGPU(t *testing.T) {
	const stamp = "Thu Apr  2 07:00:00 2026"
	const lost = "Unable to determine the device handle for GPU0000:5D:00.0: GPU is lost.  Reboot the system to recover this GPU\n"
	for name, tt := range map[string]struct {
		text, later string
		want        []string
	}{
		"one is missing":      {dumpOf(stamp, 4, 3), "", []string{"warn 3 of 4 attached GPUs are reported"}},
		"one does not answer": {dumpOf(stamp, 4, 3) + lost, "", []string{"critical GPU 0000:5D:00.0: the driver gets no answer from the GPU (2026-04-02 07:00:00)"}},
		"it answers again": {dumpOf(stamp, 4, 3) + strings.Replace(lost, "5D", "1B", 1), dumpOf("Sat Apr  4 07:00:00 2026", 4, 4), []string{
			"warn GPU 3: the driver gets no answer from the GPU (2026-04-02 07:00:00; the GPU answers in the dump of 2026-04-04 07:00:00)"}},
		"all":               {dumpOf(stamp, 4, 4), "", nil},
		"one was asked for": {dumpOf(stamp, 8, 1), "", nil},
		"one of two":        {dumpOf(stamp, 2, 1), "", nil},
	} {
		files := map[string]string{"smi.txt": tt.text}
		if tt.later != "" {
			files["2.txt"] = tt.later
		}
		got := machinesSay(t, files)
		for i := range got {
			got[i] = strings.Replace(strings.Replace(got[i], "The host: ", "", 1), "rack-9: ", "", 1)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestLevelsOfDiagnostics: only a failed test of the hardware is a fault; what was not run was not checked.
func TestLevelsOfDiagnostics(t *testing.T) {
	for name, tt := range map[string]struct {
		tests string // rows of the table, or tests of the JSON
		want  []string
	}{
		"a failed test":        {"| Memory Bandwidth | Fail - GPU: 6 |", []string{"critical GPU 6: dcgmi diag, test Memory Bandwidth: Fail"}},
		"one GPU of eight":     {"| GPU Memory | Pass - GPUs: 0, 1, 2, 4, 5, 6, 7 |\n|            | Fail - GPU: 3 |\n| Warning    | GPU 3 Thermal violations totaling 13.3 seconds |\n|            | Fail was seen |", []string{"critical GPU 3: dcgmi diag, test GPU Memory: Fail"}},
		"two GPUs":             {"| Targeted Stress | Fail - GPUs: 1, 5 |", []string{"critical GPUs 1, 5: dcgmi diag, test Targeted Stress: Fail"}},
		"the test Diagnostic":  {"| Diagnostic | Fail - GPU: 2 |\n| Info | GPU 2 GPU 2 Allocated 1 bytes |", []string{"critical GPU 2: dcgmi diag, test Diagnostic: Fail"}},
		"a warning":            {"| Targeted Power | Warn - GPU: 1 |", []string{"warn GPU 1: dcgmi diag, test Targeted Power: Warn"}},
		"skipped":              {"| SM Stress | Skip - All |", nil},
		"a library":            {"| CUDA Main Library | Fail |", []string{"info The host: dcgmi diag, software check CUDA Main Library: Fail"}},
		"a row to be remapped": {"| Page Retirement/Row Remap | Fail - GPU: 2 |", []string{"critical GPU 2: dcgmi diag, test Page Retirement/Row Remap: Fail"}},
		"not run":              {`{"name":"sm_stress","results":[{"entity_group":"GPU","entity_id":3,"status":"NOT_RUN"},{"entity_group":"GPU","entity_id":4,"status":"Skip"}]}`, nil},
		"one CPU of two":       {`{"name":"cpu_eud","results":[{"entity_group":"CPU","entity_id":0,"status":"Fail"},{"entity_group":"CPU","entity_id":1,"status":"Pass"}]}`, []string{"critical The host: dcgmi diag, test cpu_eud: Fail"}},
	} {
		text := strings.Replace(diagnostic, "| Denylist                  | Pass                                           |", tt.tests, 1)
		if strings.HasPrefix(tt.tests, "{") {
			text = `{"DCGM Diagnostic":{"test_categories":[{"category":"Stress","tests":[` + tt.tests + `]}]}}`
		}
		if got := machinesSay(t, map[string]string{"d.json": text}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestWhosePort: counters of one port grow between two moments of one host. Files that may be of two hosts, and outputs
// that may be of two interfaces, are no moments.
func TestWhosePort(t *testing.T) {
	counters := func(traffic, downed int) string {
		return fmt.Sprintf("link mlx5_bond_0/1 rx_read_requests %d link_downed %d\n", traffic, downed)
	}
	statistics := func(command string, packets, errors int) string {
		return fmt.Sprintf("%sNIC statistics:\n     tx_packets: %d\n     rx_crc_errors_phy: %d\n", command, packets, errors)
	}
	grew := []string{"warn mlx5_bond_0 port 1: link-down events: 6"}
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"before and after":           {map[string]string{"blade7-after.txt": counters(900, 8), "blade7-before.txt": counters(500, 2)}, grew},
		"of two days":                {map[string]string{"rdma_2026-05-30.txt": counters(500, 2), "rdma_2026-05-31.txt": counters(900, 8)}, grew},
		"of two hosts":               {map[string]string{"blade7-rdma.txt": counters(500, 2), "blade9-rdma.txt": counters(900, 8)}, nil},
		"of two numbered hosts":      {map[string]string{"rdma-node-7.txt": counters(500, 2), "rdma-node-9.txt": counters(900, 8)}, nil},
		"of two tasks or moments":    {map[string]string{"rdma.0.txt": counters(500, 2), "rdma.1.txt": counters(900, 8)}, nil},
		"a boot, and faults since":   {map[string]string{"x-before.txt": counters(500, 9), "x-after.txt": counters(20, 0)}, nil},
		"an interface at two times":  {map[string]string{"f.txt": statistics("# ethtool -S enp1s0\n", 10, 0) + statistics("# ethtool -S enp1s0\n", 20, 77)}, []string{"warn enp1s0: packets received with errors: 77"}},
		"interfaces without a name":  {map[string]string{"f.txt": statistics("", 10, 0) + statistics("", 20, 77)}, nil},
		"two interfaces of one host": {map[string]string{"ethtool-eno1.txt": statistics("", 10, 0), "ethtool-eno2.txt": statistics("", 20, 77)}, nil},
	} {
		if got := machinesSay(t, tt.files); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestBoards: cards of one model that are made by two firms have other versions and limits.
func TestBoards(t *testing.T) {
	vendor := func(id string) func(*node) {
		return func(n *node) {
			n.smi = func(gpu int, text string) string {
				if gpu == 0 {
					text = strings.Replace(text, "    PCI\n", "    PCI\n        Sub System Id                     : "+id+"\n", 1)
					return replaced(replaced(text, "VBIOS Version", "95.02.18.80.87"), "GSP Firmware", "N/A")
				}
				return strings.Replace(text, "    PCI\n", "    PCI\n        Sub System Id                     : 0x165310DE\n", 1)
			}
		}
	}
	const stamp = "Thu Apr  2 07:00:00 2026"
	if got := machinesSay(t, map[string]string{"smi.txt": dumpOf(stamp, 2, 2, vendor("0x88E51043"))}); len(got) != 0 {
		t.Errorf("cards of two firms: %q", got)
	}
	want := []string{"warn GPU 0: VBIOS 95.02.18.80.87, 96.00.74.00.01 on its peers"}
	if got := machinesSay(t, map[string]string{"smi.txt": dumpOf(stamp, 2, 2, vendor("0x165310DE"))}); !slices.Equal(got, want) {
		t.Errorf("cards of one firm: %q, want %q", got, want)
	}
}

// TestPortsOfOneHost: without another host to compare with, a port is only doubted if all others of its kind are up.
func TestPortsOfOneHost(t *testing.T) {
	ports := func(down ...int) string {
		text := ""
		for i := range 6 {
			state, rate := "Active", 200
			if slices.Contains(down, i) {
				state, rate = "Down", 10
			}
			text += port(fmt.Sprintf("mlx5_%d", i), state, map[string]string{"Active": "LinkUp", "Down": "Polling"}[state], "InfiniBand", rate)
		}
		return text
	}
	for _, tt := range []struct {
		down  []int
		level string
	}{{[]int{3}, "warn"}, {[]int{3, 5}, "info"}} {
		got := machinesSay(t, map[string]string{"ibstat.txt": ports(tt.down...)})
		if len(got) == 0 || slices.ContainsFunc(got, func(s string) bool { return !strings.HasPrefix(s, tt.level+" mlx5_") }) {
			t.Errorf("%d ports down: %q, want level %s", len(tt.down), got, tt.level)
		}
	}
}

// TestRatesByRole: adapters of one type for other work have another rate; one port that is slower alone is odd.
func TestRatesByRole(t *testing.T) {
	ports := func(slow ...int) string {
		text := ""
		for i := range 10 {
			rate := 800
			if slices.Contains(slow, i) {
				rate = 400
			}
			text += port(fmt.Sprintf("ibp%d", i), "Active", "LinkUp", "InfiniBand", rate)
		}
		return text
	}
	if got := machinesSay(t, map[string]string{"ibstat.txt": ports(8, 9)}); len(got) != 0 {
		t.Errorf("two ports for storage: %q", got)
	}
	if got, want := machinesSay(t, map[string]string{"ibstat.txt": ports(4)}), "warn ibp4 port 1: rate 400 Gbit/s, 800 on its peers"; !slices.Equal(got, []string{want}) {
		t.Errorf("one slow port: %q, want %q", got, want)
	}
	two := healthyNodes()[:2]
	for i, n := range two {
		n.files["ibstat.txt"] = strings.ReplaceAll(ports(9), "0x", fmt.Sprint("0x", i))
	}
	if got := found(ofNodes(t, two)); len(got) != 0 {
		t.Errorf("one port for storage on each node: %q", got)
	}
}

// TestGPUOfRank: the fault of a GPU explains a late rank only if it is certainly the GPU of this rank and was at work.
func TestGPUOfRank(t *testing.T) {
	i := slices.IndexFunc(labelledRuns(), func(l labelled) bool { return l.label == rule.StragglingRank })
	base := summary.Merge(labelledRuns()[i].in(t))
	ranks := len(base.Ranks)
	all := func(int) string { return "/j" }
	for name, tt := range map[string]struct {
		device func(rank int) int64
		folder func(rank int) string
		dump   string // its path; "" for the folder of the late rank
		use    []int  // of the GPUs of the dump
		fault  [2]string
		found  bool
	}{
		"all at work":               {func(r int) int64 { return int64(r) }, all, "/j/smi.txt", []int{97, 97, 97}, [2]string{"gpu.reason_power_brake", "Active"}, true},
		"idle, others at work":      {func(r int) int64 { return int64(r) }, all, "/j/smi.txt", []int{0, 0, 0, 97, 97, 97}, [2]string{"gpu.recovery_action", "Reset"}, false},
		"others at work as well":    {func(r int) int64 { return int64(r) }, all, "/j/smi.txt", []int{97, 97, 97, 97, 97, 97}, [2]string{"gpu.recovery_action", "Reset"}, false},
		"all idle, the same GPUs":   {func(r int) int64 { return int64(r) }, all, "/j/smi.txt", []int{0, 0, 0}, [2]string{"gpu.recovery_action", "Reset"}, true},
		"all idle, and other GPUs":  {func(r int) int64 { return int64(r) }, all, "/j/smi.txt", []int{0, 0, 0, 0}, [2]string{"gpu.recovery_action", "Reset"}, false},
		"each process sees one GPU": {func(int) int64 { return 0 }, func(r int) string { return fmt.Sprint("/j/host-", r/2) }, "", []int{97, 97}, [2]string{"gpu.recovery_action", "Reset"}, false},
		"a host for each rank":      {func(int) int64 { return 0 }, func(r int) string { return fmt.Sprint("/j/host-", r) }, "", []int{97}, [2]string{"gpu.recovery_action", "Reset"}, true},
		"one GPU of four is traced": {func(int) int64 { return 0 }, func(r int) string { return fmt.Sprint("/j/host-", r) }, "", []int{97, 97, 97, 97}, [2]string{"gpu.recovery_action", "Reset"}, false},
		"only information":          {func(r int) int64 { return int64(r) }, all, "/j/smi.txt", []int{97, 97, 97}, [2]string{"xid.45", "Ch 3"}, false},
	} {
		s := summary.Merge(labelledRuns()[i].in(t))
		late := base.Inputs[0].Rank
		for _, f := range Judge(base, rule.DefaultThresholds()).Findings {
			if f.Rule == rule.StragglingRank {
				late = f.Where[0].Rank
			}
		}
		for k := range s.Inputs {
			s.Inputs[k].Path = tt.folder(s.Inputs[k].Rank) + fmt.Sprintf("/rank%d.json", s.Inputs[k].Rank)
		}
		for k := range s.Devices {
			s.Devices[k].Device = tt.device(s.Devices[k].Rank)
		}
		for k := range s.Ranks {
			s.Ranks[k].Device = tt.device(s.Ranks[k].Rank)
		}
		if tt.dump == "" {
			tt.dump = path.Join(tt.folder(late), "smi.txt")
		}
		s.Inputs = append(s.Inputs, summary.Input{Path: tt.dump, Format: "log", Complete: true})
		add := func(gpu int64, property, value string) {
			s.Health = append(s.Health, summary.Health{Input: len(s.Inputs) - 1, Part: fmt.Sprint("GPU ", gpu), Property: property, Value: value, Times: 1})
		}
		for gpu, used := range tt.use {
			add(int64(gpu), "gpu.util", fmt.Sprint(used, " %"))
		}
		add(tt.device(late), tt.fault[0], tt.fault[1])
		found := slices.ContainsFunc(Judge(s, rule.DefaultThresholds()).Findings, func(f finding.Finding) bool {
			return f.Rule == rule.StragglingRank && strings.Contains(f.Cause, "its GPU")
		})
		if found != tt.found {
			t.Errorf("%s (%d ranks): found %t, want %t", name, ranks, found, tt.found)
		}
	}
}
