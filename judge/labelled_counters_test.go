package judge

import (
	"fmt"
	"strings"

	"assay/judge/rule"
)

// A probed is a kernel as Nsight Compute measured it: how long it took in
// milliseconds, its shares of the peaks and of the warps in percent, and the waves
// of its grid. What is 0 was not collected.
type probed struct {
	kernel          string
	ms              int64
	compute, memory float64
	occupancy       float64
	waves           float64
}

// figures returns what was collected of a kernel, by the names on the page of
// details and on the raw page.
func (k probed) figures() (out []struct {
	section, name, raw, unit string
	value                    float64
}) {
	add := func(section, name, raw, unit string, value float64) {
		if value > 0 {
			out = append(out, struct {
				section, name, raw, unit string
				value                    float64
			}{section, name, raw, unit, value})
		}
	}
	add("GPU Speed Of Light Throughput", "Duration", "gpu__time_duration.sum", "ms", float64(k.ms))
	add("GPU Speed Of Light Throughput", "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", k.compute)
	add("GPU Speed Of Light Throughput", "Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", k.memory)
	add("Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%", k.occupancy)
	add("Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor", "", k.waves)
	return out
}

// ncuDetails is the page of details that ncu --csv prints of the kernels, a launch
// each.
func ncuDetails(kernels ...probed) string {
	var b strings.Builder
	b.WriteString(`"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n")
	for i, k := range kernels {
		for _, f := range k.figures() {
			fmt.Fprintf(&b, `"%d","41","python","127.0.0.1","%s","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0","%s","%s","%s","%.2f"`+"\n", i, k.kernel, f.section, f.name, f.unit, f.value)
		}
	}
	return b.String()
}

// ncuRaw is the raw page of the same. Its columns are those of the first kernel.
func ncuRaw(kernels ...probed) string {
	header, units := `"ID","Process ID","Process Name","Kernel Name","Device","CC"`, `"","","","","",""`
	for _, f := range kernels[0].figures() {
		header, units = header+`,"`+f.raw+`"`, units+`,"`+f.unit+`"`
	}
	var b strings.Builder
	b.WriteString(header + "\n" + units + "\n")
	for i, k := range kernels {
		fmt.Fprintf(&b, `"%d","41","python","%s","0","9.0"`, i, k.kernel)
		for _, f := range k.figures() {
			fmt.Fprintf(&b, `,"%.2f"`, f.value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// A counterRuns gathers runs of kernels whose hardware counters were read, of
// 100 ms each.
type counterRuns []labelled

// add adds a run that reads a page of the kernels. Of the 100 ms the label has num.
func (c *counterRuns) add(label, near, name string, num int64, page func(...probed) string, kernels ...probed) {
	*c = append(*c, labelled{name: name, label: label, near: near, num: num * ms, den: 100 * ms, in: given(page(kernels...))})
}

// fine is a kernel that fills up what others leave of the 100 ms: it is near the
// limit of the device, in whole waves.
func fine(ms int64) probed { return probed{"gemm_near", ms, 90, 40, 50, 16} }

// labelledCounters are kernels that each count for one side.
func labelledCounters() []labelled {
	var c counterRuns
	others := []probed{{"gather", 24, 20, 30, 80, 16}, {"elementwise_add", 24, 10, 75, 80, 16}}
	c.add(rule.LatencyBound, "", "most kernels reach neither peak", 60, ncuDetails, probed{"gather", 60, 20, 30, 80, 16}, fine(40))
	c.add(rule.LatencyBound, "", "grids that give one SM in four a block", 100, ncuRaw, probed{"decode", 100, 10, 15, 60, 0.25})
	c.add(rule.LatencyBound, "", "a quarter of the time", 25, ncuDetails, probed{"gather", 25, 59, 59, 80, 16}, fine(75))
	c.add(rule.MemoryBound, rule.LatencyBound, "60% of the memory's peak is no latency", 100, ncuDetails, probed{"gather", 100, 20, 60, 80, 16})
	c.add(rule.NearLimit, rule.LatencyBound, "24 ms of latency beside kernels near the limit", 76, ncuDetails, probed{"gather", 24, 20, 30, 80, 16}, fine(76))

	c.add(rule.MemoryBound, "", "one elementwise kernel", 70, ncuDetails, probed{"elementwise_add", 70, 10, 75, 80, 16}, fine(30))
	c.add(rule.MemoryBound, "", "three small ones together", 25, ncuRaw, probed{"layer_norm", 10, 20, 70, 80, 16}, probed{"softmax", 10, 30, 65, 80, 16},
		probed{"rope", 5, 25, 78, 80, 16}, fine(75))
	c.add(rule.NearLimit, rule.MemoryBound, "a copy at 85% of the memory's peak", 100, ncuDetails, probed{"elementwise_add", 100, 10, 85, 80, 16})
	c.add(rule.Balanced, rule.MemoryBound, "memory is ahead by 9 points", 100, ncuDetails, probed{"attention", 100, 61, 70, 80, 16})

	c.add(rule.ComputeLimited, "", "one kernel that computes", 100, ncuDetails, probed{"gemm", 100, 75, 20, 50, 16})
	c.add(rule.ComputeLimited, "", "a bit of everything, of which computing is most", 30, ncuRaw, probed{"gemm", 30, 70, 55, 50, 16}, others[0], others[1], fine(22))
	c.add(rule.Balanced, rule.ComputeLimited, "compute is ahead by 9 points", 100, ncuDetails, probed{"attention", 100, 70, 61, 80, 16})
	c.add(rule.NearLimit, rule.ComputeLimited, "24 ms of computing, as of latency and memory", 28, ncuDetails, probed{"gemm", 24, 75, 20, 50, 16}, others[0], others[1], fine(28))

	c.add(rule.Balanced, "", "an attention that uses both", 100, ncuDetails, probed{"attention", 100, 70, 65, 80, 16})
	c.add(rule.Balanced, "", "two kernels of different work, together", 28, ncuRaw, probed{"attention", 16, 70, 65, 80, 16}, probed{"conv", 12, 62, 71, 80, 16}, others[0], others[1], fine(24))
	c.add(rule.ComputeLimited, rule.Balanced, "10 points are not alike", 100, ncuDetails, probed{"attention", 100, 70, 60, 80, 16})
	c.add(rule.NearLimit, rule.Balanced, "both at 85%", 100, ncuDetails, probed{"attention", 100, 85, 85, 80, 16})
	c.add(rule.NearLimit, rule.Balanced, "24 ms of both, as of latency and memory", 28, ncuDetails, probed{"attention", 24, 70, 65, 80, 16}, others[0], others[1], fine(28))

	c.add(rule.NearLimit, "", "a large gemm", 100, ncuDetails, probed{"gemm", 100, 92, 40, 50, 16})
	c.add(rule.NearLimit, "", "copies near the memory's peak, beside a bit of latency", 80, ncuRaw, probed{"copy", 80, 5, 93, 80, 16}, probed{"gather", 20, 20, 30, 80, 16})
	c.add(rule.ComputeLimited, rule.NearLimit, "79.9% is not near", 100, ncuDetails, probed{"gemm", 100, 79.9, 40, 50, 16})
	c.add(rule.CountersMissing, rule.NearLimit, "24 ms of each, and of 4 ms nothing is known", 4, ncuDetails, probed{"gemm", 24, 75, 20, 50, 16}, others[0], others[1],
		probed{"scan", 4, 0, 0, 80, 16}, fine(24))
	c.ofLaunches()
	return append(c, labelled{name: "no durations, so launches count", label: rule.LatencyBound,
		in: given(ncuRaw(probed{"gather", 0, 20, 30, 80, 16}, probed{"gemm_near", 0, 90, 40, 50, 16}))})
}

// ofLaunches adds runs of which occupancy, waves or what is missing decides.
func (c *counterRuns) ofLaunches() {
	// Where the peaks are known, kernels of few warps that reach neither peak
	// are also reported by kernels-latency-bound, which has the same limits and comes first.
	c.add(rule.LowOccupancy, "", "half has few warps, and its peaks are not known", 60, ncuDetails, probed{"gather", 60, 0, 0, 20, 16}, fine(40))
	c.add(rule.LowOccupancy, "", "some reach neither peak, of some the peaks are not known", 28, ncuDetails, probed{"gather", 20, 20, 30, 49, 16},
		probed{"scan", 8, 0, 0, 45, 16}, fine(72))
	c.add(rule.CountersMissing, rule.LowOccupancy, "24 ms of few warps", 24, ncuDetails, probed{"scan", 24, 0, 0, 20, 16}, fine(76))
	c.add(rule.CountersMissing, rule.LowOccupancy, "occupancy alone was collected, so nothing is known", 100, ncuDetails, probed{"gather", 100, 0, 0, 20, 16})
	c.add(rule.CountersMissing, rule.LowOccupancy, "half of the warps are enough", 60, ncuDetails, probed{"scan", 60, 0, 0, 50, 16}, fine(40))
	c.add(rule.NearLimit, rule.LowOccupancy, "tensor cores near the limit need few warps", 100, ncuRaw, probed{"gemm", 100, 92, 40, 12.5, 16})

	// 1.4 waves take the time of 2, of which 0.6 are empty; 9.04 take that of 10.
	c.add(rule.PartialWaves, "", "grids of 1.4 waves", 30, ncuDetails, probed{"gemm", 100, 75, 20, 50, 1.4})
	c.add(rule.PartialWaves, "", "half a wave in 20 ms of 100", 10, ncuRaw, probed{"conv", 20, 61, 30, 50, 0.5}, fine(80))
	c.add(rule.ComputeLimited, rule.PartialWaves, "the last of ten waves is empty in part", 100, ncuDetails, probed{"gemm", 100, 75, 20, 50, 9.04})
	c.add(rule.ComputeLimited, rule.PartialWaves, "one whole wave", 100, ncuDetails, probed{"gemm", 100, 75, 20, 50, 1})
	c.add(rule.NearLimit, rule.PartialWaves, "half a wave saturates the memory", 100, ncuDetails, probed{"copy", 100, 5, 93, 50, 0.5})

	c.add(rule.CountersMissing, "", "durations and little else", 100, ncuRaw, probed{"gemm", 60, 0, 0, 50, 16}, probed{"attention", 40, 0, 0, 80, 16})
	c.add(rule.CountersMissing, "", "the peaks of 12 ms are missing", 12, ncuDetails, probed{"gemm", 88, 75, 20, 50, 16}, probed{"attention", 12, 0, 0, 80, 16})
	c.add(rule.ComputeLimited, rule.CountersMissing, "the peaks of 9 ms are missing", 91, ncuDetails, probed{"gemm", 91, 75, 20, 50, 16}, probed{"attention", 9, 0, 0, 80, 16})
	c.add(rule.ComputeLimited, rule.CountersMissing, "all peaks and no occupancy", 100, ncuRaw, probed{"gemm", 100, 75, 20, 0, 0})
}
