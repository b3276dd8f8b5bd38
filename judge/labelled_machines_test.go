package judge

import "assay/judge/rule"

// machineRuns are dumps of machines.
func machineRuns() []labelled {
	run := func(name, label, near, text string) labelled {
		return labelled{name: name, label: label, near: near, in: given(text)}
	}
	gpu := func(value string) string {
		return "==============NVSMI LOG==============\n\nAttached GPUs : 1\nGPU 00000000:4B:00.0\n    Product Name : NVIDIA L40S\n    " + value + "\n"
	}
	port := func(state, rate string) string {
		return "CA 'mlx5_0'\n\tCA type: MT4123\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 200\nCA 'mlx5_1'\n\tCA type: MT4123\n\tPort 1:\n\t\tState: " + state + "\n\t\tPhysical state: LinkUp\n\t\tRate: " + rate + "\n"
	}
	pairs := func(odd string) string {
		return "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\t X \tNV4\tNV4\t0-31\nGPU1\tNV4\t X \t" + odd + "\t0-31\nGPU2\tNV4\t" + odd + "\t X \t0-31\n"
	}
	three := func(images ...string) string {
		text := "==============NVSMI LOG==============\n\nAttached GPUs : 3\n"
		for i, image := range images {
			text += "GPU 00000000:" + string(rune('1'+i)) + "B:00.0\n    Product Name : NVIDIA L40S\n    VBIOS Version : " + image + "\n"
		}
		return text
	}
	return []labelled{
		run("a GPU whose driver asks for a reset", rule.GPUFault, "", gpu("GPU Recovery Action : Drain and Reset")),
		run("a GPU that fell off the bus", rule.GPUFault, "", "May  2 10:11:12 gpu07 kernel: NVRM: Xid (PCI:0000:41:00): 79, pid=1, name=x, GPU has fallen off the bus.\n"),
		run("a power limit of 230 of 350 W", rule.GPUFault, "", gpu("GPU Power Readings\n        Current Power Limit : 230.00 W\n        Default Power Limit : 350.00 W")),
		run("a power limit at its default", "", rule.GPUFault, gpu("GPU Power Readings\n        Current Power Limit : 350.00 W\n        Default Power Limit : 350.00 W")),
		run("a port that is down", rule.LinkFault, "", port("Down", "200")),
		run("a port of half the rate", rule.LinkFault, "", port("Active", "100")),
		run("two equal ports", "", rule.LinkFault, port("Active", "200")),
		run("three GPUs with two images", rule.UnlikePeers, "", three("95.02.18.80.87", "95.02.18.80.87", "95.02.18.80.87")+"GPU 00000000:5B:00.0\n    Product Name : NVIDIA L40S\n    VBIOS Version : 95.02.18.00.01\n"),
		run("two hosts' drivers in one log", rule.UnlikePeers, "", "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\nGPU0\t X \tNV12\tNV12\tNV12\t0\nGPU1\tNV12\t X \tNV12\tNV12\t0\nGPU2\tNV12\tNV12\t X \tPHB\t0\nGPU3\tNV12\tNV12\tPHB\t X \t0\n"),
		run("three pairs, one of which is connected otherwise, and one is", "", rule.UnlikePeers, pairs("SYS")),
		run("three GPUs with three images", "", rule.UnlikePeers, three("95.02.18.80.87", "95.02.18.80.11", "95.02.18.00.01")),
	}
}

// machineRemedies are dumps whose remedies no labelled run gives.
func machineRemedies() (out []labelled) {
	report := func(attached, i int, value string) string {
		return "==============NVSMI LOG==============\n\nAttached GPUs : " + string(rune('0'+attached)) + "\nGPU 00000000:4B:00.0\n    Product Name : NVIDIA L40S\n    GPU UUID : GPU-" + string(rune('a'+i)) + "\n    " + value + "\n"
	}
	four := func(usual, odd string) (texts []string) {
		for i, value := range []string{usual, usual, usual, odd} {
			texts = append(texts, report(1, i, value))
		}
		return texts
	}
	xid := func(text string) string { return "[ 1.0] NVRM: Xid (PCI:0000:41:00): " + text + "\n" }
	for _, texts := range [][]string{
		{report(1, 0, "Fabric\n        State : In Progress")},
		{report(1, 0, "Applications Clocks\n        Graphics : 900 MHz\n    Default Applications Clocks\n        Graphics : 1800 MHz")},
		{xid("13, pid=1, name=a, Graphics Exception")}, {xid("63, pid=1, name=a, Row Remapper")}, {xid("74, NVLink error")}, {xid("999, of a later driver")},
		{report(1, 0, "PCI\n        Replays Since Reset : 70000")},
		{"| Diagnostic | Result |\n| memory | Fail - GPU: 1 |\n"},
		{" 1 job process is considered dead\n Process 5 on node n1 managing GPU 2\n"},
		{"link mlx5_0/1 out_of_sequence 1\nlink mlx5_0/1 out_of_sequence 90001\n"},
		{"| Diagnostic | Result |\n| Persistence Mode | Warn |\n"},
		four("MIG Mode\n        Current : Disabled", "MIG Mode\n        Current : Enabled"),
		four("GPU Power Readings\n        Current Power Limit : 350.00 W", "GPU Power Readings\n        Current Power Limit : 250.00 W"),
		four("Max Clocks\n        SM : 2520 MHz", "Max Clocks\n        SM : 1200 MHz"),
		four("PCI\n        GPU Link Info\n            Link Width\n                Max : 16x", "PCI\n        GPU Link Info\n            Link Width\n                Max : 8x"),
		{report(1, 0, "Utilization\n        GPU : 91 %\n    Clocks Event Reasons\n        HW Thermal Slowdown : Active")},
		{report(1, 0, "Utilization\n        GPU : 91 %\n    Clocks Event Reasons\n        HW Power Brake Slowdown : Active")},
		{report(4, 0, "x : y"), report(4, 1, "x : y"), report(4, 2, "x : y"), report(3, 3, "x : y")},
	} {
		out = append(out, labelled{in: given(texts...)})
	}
	return out
}
