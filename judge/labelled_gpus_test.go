package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// A sampled is what a monitor shows of one GPU in a sample.
type sampled struct{ util, traffic, watts, mib int }

// queried is the output of nvidia-smi --query-gpu of GPUs with 500 W and 40,000 MiB, a sample every two seconds. No
// limit is recorded if unlimited is true.
func queried(samples, gpus int, unlimited bool, of func(n, gpu int) sampled) string {
	var b strings.Builder
	b.WriteString("timestamp, index, utilization.gpu [%], utilization.memory [%], memory.used [MiB], memory.total [MiB], power.draw [W]")
	if !unlimited {
		b.WriteString(", power.limit [W]")
	}
	b.WriteString("\n")
	for n := range samples {
		for gpu := range gpus {
			s := of(n, gpu)
			fmt.Fprintf(&b, "2026/04/11 08:%02d:%02d.000, %d, %d %%, %d %%, %d MiB, 40000 MiB, %d.00 W", n/30, n%30*2, gpu, s.util, s.traffic, s.mib, s.watts)
			if !unlimited {
				b.WriteString(", 500.00 W")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// disks is the output of iostat -x: reports of a disk of the given use and queue between two idle ones.
func disks(reports int, util, queue float64) string {
	var b strings.Builder
	b.WriteString("Linux 6.8.0 (b) \t05/02/2026 \t_x86_64_\t(8 CPU)\n\n")
	for range reports {
		b.WriteString("Device            r/s     rkB/s   r_await     w/s     wkB/s   w_await  aqu-sz  %util\n")
		for _, d := range []string{"sdb", "md7", "sdc"} {
			u, q := 0.5, 0.0
			if d == "md7" {
				u, q = util, queue
			}
			fmt.Fprintf(&b, "%-8s %12.2f %9.2f %9.2f %7.2f %9.2f %9.2f %7.2f %6.2f\n", d, 90.0, 9000.0, 4.0, 0.0, 0.0, 0.0, q, u)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// loggedMFU is a log of NeMo RL with a utilization in percent.
func loggedMFU(mfu float64) string {
	var b strings.Builder
	for n := range 6 {
		fmt.Fprintf(&b, "========================= Step %d/9 =========================\n📊 Training Results:\n  • Loss: 1.5\n  • Training Model Floating Point Utilization: %.2f%%\n\n⏱️  Timing:\n  • Total step time: 100.00s\n  • policy_training: 99.00s (99.0%%)\n\n", n+1, mfu)
	}
	return b.String()
}

// limited is the output of a query of one GPU, whose clocks are reduced for a reason in some samples.
func limited(samples, util int, reason string, reduced, lanes int) string {
	var b strings.Builder
	b.WriteString("timestamp, index, utilization.gpu [%], clocks.sm [MHz], clocks_event_reasons.active, pcie.link.width.current, pcie.link.width.max\n")
	for n := range samples {
		active := "0x0000000000000000"
		if n%samples < reduced {
			active = reason
		}
		fmt.Fprintf(&b, "2026/04/11 08:00:%02d.000, 5, %d %%, 1410 MHz, %s, %d, 16\n", n, util, active, lanes)
	}
	return b.String()
}

// reportOf is the output of nvidia-smi -q of one GPU with a section.
func reportOf(section string) string {
	return "==============NVSMI LOG==============\n\nAttached GPUs : 1\nGPU 00000000:65:00.0\n    Utilization\n        Gpu : 40 %\n    " + section + "\n"
}

// labelledGPUs are monitors without a log, and a log whose utilization is impossible.
func labelledGPUs() []labelled {
	busy := sampled{97, 50, 400, 30000}
	at := func(from int, s sampled) func(n, gpu int) sampled {
		return func(n, gpu int) sampled {
			if n >= from {
				return s
			}
			return busy
		}
	}
	only := func(working ...int) func(n, gpu int) sampled {
		return func(_, gpu int) sampled {
			for _, w := range working {
				if gpu == w {
					return busy
				}
			}
			return sampled{0, 0, 60, 400}
		}
	}
	all := func(s sampled) func(n, gpu int) sampled { return at(0, s) }
	run := func(name, label, near, text string) labelled {
		return labelled{name: name, label: label, near: near, in: given(text)}
	}
	return []labelled{
		run("four GPUs that spin for the last 60 of 100 samples", rule.SpinningGPUs, "", queried(100, 4, false, at(40, sampled{100, 0, 80, 30000}))),
		run("GPUs that spin from a fifth of the power that they drew before", rule.SpinningGPUs, "", queried(60, 2, true, at(30, sampled{100, 1, 80, 30000}))),
		run("use of 100% at 80 W that moves memory for 40% of the time", "", rule.SpinningGPUs, queried(60, 2, false, at(30, sampled{100, 40, 80, 30000}))),
		run("use of 100% at 200 of 500 W without memory traffic", "", rule.SpinningGPUs, queried(60, 2, false, at(30, sampled{100, 0, 200, 30000}))),
		run("GPUs at low power that are not in use", "", rule.SpinningGPUs, queried(60, 2, false, at(30, sampled{0, 0, 80, 30000}))),

		run("two of eight GPUs work", rule.IdleGPUs, "", queried(30, 8, false, only(1, 6))),
		run("one of two GPUs works", rule.IdleGPUs, "", queried(30, 2, false, only(1))),
		run("no GPU works", "", rule.IdleGPUs, queried(30, 2, false, only())),
		run("each of two GPUs works in its half of the time", "", rule.IdleGPUs, queried(30, 2, false, func(n, gpu int) sampled {
			if n/15 == gpu {
				return busy
			}
			return sampled{0, 0, 60, 400}
		})),

		run("GPUs of a monitor at 45%", rule.LowGPUUse, "", queried(40, 2, false, all(sampled{45, 20, 250, 30000}))),
		run("GPUs of a monitor that runs before and after the program", "", rule.LowGPUUse, queried(90, 2, false, func(n, _ int) sampled {
			if n < 30 || n >= 60 {
				return sampled{0, 0, 60, 400}
			}
			return busy
		})),
		run("memory of a monitor at 95%", rule.MemoryPressure, "", queried(40, 2, false, all(sampled{97, 50, 400, 38000}))),
		run("memory of a monitor at 89%", "", rule.MemoryPressure, queried(40, 2, false, all(sampled{97, 50, 400, 35600}))),

		run("a disk with 40 operations at a time", rule.BusyDisk, "", disks(12, 99.6, 40)),
		run("a disk with 6 operations at a time", rule.BusyDisk, "", disks(30, 100, 6)),
		run("a disk in use with one operation at a time", "", rule.BusyDisk, disks(12, 100, 1)),
		run("a disk with a queue that is in use for 70%", "", rule.BusyDisk, disks(12, 70, 40)),

		run("a GPU too hot in 8 of 20 samples", rule.SlowedGPUs, "", limited(20, 95, "0x60", 8, 16)),
		run("a GPU whose power supply brakes it in 15 of 20 samples", rule.SlowedGPUs, "", limited(20, 95, "0x88", 15, 16)),
		run("a GPU at its power limit", "", rule.SlowedGPUs, limited(20, 95, "0x4", 20, 16)),
		run("an idle GPU that was too hot", "", rule.SlowedGPUs, limited(20, 0, "0x40", 20, 16)),
		run("a PCIe link with 8 of 16 lanes", rule.SlowLink, "", limited(20, 95, "0x0", 0, 8)),
		run("a PCIe link with 1 of 16 lanes", rule.SlowLink, "", limited(3, 80, "0x0", 0, 1)),
		run("an idle GPU with 8 of 16 lanes", "", rule.SlowLink, limited(20, 0, "0x0", 0, 8)),
		run("two memory errors", rule.GPUFault, "", reportOf("ECC Errors\n        Volatile\n            DRAM Uncorrectable : 2")),
		run("a row that could not be replaced", rule.GPUFault, "", reportOf("Remapped Rows\n        Remapping Failure Occurred : Yes")),
		run("errors of former days, and a row that was replaced", "", rule.GPUFault,
			reportOf("ECC Errors\n        Volatile\n            DRAM Uncorrectable : 0\n        Aggregate\n            DRAM Uncorrectable : 5\n    Remapped Rows\n        Uncorrectable Error : 1\n        Pending : No")),

		run("most of the GPU belongs to another process", rule.MemoryExhausted, "", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 700.00 MiB. GPU 3 has a total capacity of 23.50 GiB of which 300.00 MiB is free. "+
			"Process 31 has 16.00 GiB memory in use. Including non-PyTorch memory, this process has 7.20 GiB memory in use.\n"),
		run("a utilization of 140%", rule.ImpossibleMFU, "", loggedMFU(140)),
		run("a utilization of 271.9%", rule.ImpossibleMFU, "", loggedMFU(271.9)),
		run("a utilization of 61%", "", rule.ImpossibleMFU, loggedMFU(61)),

		run("a weight sync of 3 s", rule.WeightSyncTime, "", "Generation: 900 tokens/sec\nTraining: 4.5 samples/sec\nWeight sync: 3000.0 ms\nPeak memory: 20.0 GB\n"),
		run("a weight sync at its target", "", rule.WeightSyncTime, "Generation: 900 tokens/sec\nTraining: 4.5 samples/sec\nWeight sync: 2000.0 ms\nPeak memory: 20.0 GB\n"),
		run("a weight sync that is printed like its target", "", rule.WeightSyncTime, "Generation: 900 tokens/sec\nTraining: 4.5 samples/sec\nWeight sync: 2000.4 ms\nPeak memory: 20.0 GB\n"),
		run("a weight sync of 1.9 s", "", rule.WeightSyncTime, "Generation: 900 tokens/sec\nTraining: 4.5 samples/sec\nWeight sync: 1900.0 ms\nPeak memory: 20.0 GB\n"),
	}
}

// TestHowRunsEnd: an error after which the program goes on, and GPUs that spin for a while, do not decide the verdict.
func TestHowRunsEnd(t *testing.T) {
	const failed = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 3.00 GiB. GPU 5 has a total capacity of 64.00 GiB of which 1.00 GiB is free. Of the allocated memory 50.00 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but unallocated.\n"
	log := steady(24, func(int) float64 { return 0 }).VeRL()
	middle := strings.Index(log[len(log)/2:], "\n") + len(log)/2 + 1
	spinning := sampled{100, 0, 70, 30000}
	for _, c := range []struct {
		name, text string
		want       finding.Bound
		rule       string
	}{
		{"an error at the end", log + failed, finding.BoundOutOfMemory, rule.MemoryExhausted},
		{"an error before other steps", log[:middle] + failed + log[middle:], finding.BoundUnknown, rule.MemoryExhausted},
		{"nothing but an error", failed, finding.BoundOutOfMemory, rule.MemoryExhausted},
		{"an error of XLA", "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5368709120 bytes.\n", finding.BoundOutOfMemory, rule.MemoryExhausted},
		{"GPUs that spin at the end", queried(60, 2, false, func(n, _ int) sampled {
			if n > 30 {
				return spinning
			}
			return sampled{90, 40, 450, 30000}
		}), finding.BoundHang, rule.SpinningGPUs},
		{"GPUs that spin and go on", queried(60, 2, false, func(n, _ int) sampled {
			if n > 20 && n < 50 {
				return spinning
			}
			return sampled{90, 40, 450, 30000}
		}), finding.BoundUnknown, rule.SpinningGPUs},
	} {
		r := Judge(given(c.text)(t), rule.DefaultThresholds())
		if r.Verdict.Bound != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.name, r.Verdict.Bound, c.want, told(r))
		}
		find(t, r, c.rule)
	}
}

// TestFailedBatch: a batch size that does not fit is the answer of a benchmark of memory.
func TestFailedBatch(t *testing.T) {
	r := Judge(given("Batch size 3: 10.0 GB\nBatch size 6: 12.5 GB\nBatch size 12: OOM\n")(t), rule.DefaultThresholds())
	if f := find(t, r, rule.MemoryExhausted); f.Level != finding.Info || !strings.Contains(f.Title, "batch size 12; 6 is the largest that fits") {
		t.Errorf("%v: %s", f.Level, f.Title)
	}
	r = Judge(given("Batch size 3: 10.0 GB\nBatch size 6: 12.5 GB\n")(t), rule.DefaultThresholds())
	if len(r.Findings) > 0 {
		t.Errorf("findings without a failure:\n%s", told(r))
	}
}
