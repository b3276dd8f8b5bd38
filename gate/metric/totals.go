package metric

import "assay/summary"

// collectiveMetrics are the metrics of collectives that were matched over the ranks of a job.
func collectiveMetrics() []Metric {
	ranks := deviceKeys()
	kinds := []string{"op", "group", "parallel", "dtype"}
	return []Metric{
		{Name: "comm.wait_share", Of: Time, Keys: ranks, Meaning: "time in which GPUs waited in a collective for other ranks", Per: "window, summed over GPUs",
			measure: selection.waitShare},
		{Name: "comm.caused_share", Of: Time, Keys: ranks, Meaning: "waiting of the other ranks that one rank caused, because it came last; the rank that caused most counts", Per: "waiting of all ranks",
			measure: selection.causedShare},
		{Name: "comm.wait_total", Unit: Time, Rises: true, Sums: true, Keys: kinds, Meaning: "time in which GPUs waited in matched collectives for other ranks, summed over instances and ranks",
			measure: collectivesAs(collectives.wait)},
		{Name: "comm.transfer_total", Unit: Time, Rises: true, Sums: true, Keys: kinds, Meaning: "time of matched collectives without waiting: the shortest duration among the ranks, summed over instances",
			measure: collectivesAs(collectives.transferred)},
		{Name: "comm.count", Unit: Count, Steady: true, Rises: true, Sums: true, Keys: kinds, Meaning: "number of collectives that all given ranks recorded",
			measure: collectivesAs(func(c collectives) (Value, error) { return whole(c.count), nil })},
		{Name: "comm.bytes", Unit: Size, Steady: true, Rises: true, Sums: true, Keys: kinds, Meaning: "bytes of matched collectives, as nccl-tests counts them, summed over instances",
			measure: collectivesAs(collectives.size)},
		{Name: "comm.busbw", Unit: Rate, Higher: true, Keys: kinds, Meaning: "bus bandwidth as nccl-tests defines it; several sizes are averaged by time; of results of nccl-tests the highest counts", Per: "transfer time",
			measure: orResult(collectivesAs(collectives.bus), "comm.busbw")},
		{Name: "comm.algbw", Unit: Rate, Higher: true, Keys: kinds, Meaning: "bytes of matched collectives; of results of nccl-tests the highest counts", Per: "transfer time",
			measure: orResult(collectivesAs(collectives.alg), "comm.algbw")},
	}
}

// functionMetrics are the metrics of profiles of functions, and of other tables of totals.
func functionMetrics() []Metric {
	keys := []string{"function", "clock"}
	needs := []string{"function"}
	rows := []string{"table", "row", "column"}
	return []Metric{
		{Name: "function.self", Unit: Time, Host: true, Rises: true, Sums: true, Keys: keys, Needs: needs, Meaning: "time in the selected functions without the functions that they call; of several profiles the largest",
			measure: functionsAs("ns", functions.selfTime)},
		{Name: "function.total", Unit: Time, Host: true, Rises: true, Sums: true, Keys: keys, Needs: needs, Meaning: "time in one function with the functions that it calls; of several profiles the largest",
			measure: functionsAs("ns", functions.totalTime)},
		{Name: "function.share", Of: Time, Host: true, Keys: keys, Needs: needs, Meaning: "time in the selected functions without the functions that they call", Per: "time in all functions of the profile",
			measure: functionsAs("ns", functions.share)},
		{Name: "function.calls", Unit: Count, Host: true, Rises: true, Sums: true, Keys: keys, Needs: needs, Meaning: "number of calls of the selected functions",
			measure: functionsAs("ns", functions.called)},
		{Name: "function.bytes", Unit: Size, Host: true, Rises: true, Sums: true, Keys: keys, Needs: needs, Meaning: "bytes of the selected functions in a profile of memory, without the functions that they call",
			measure: functionsAs("bytes", functions.selfTime)},
		{Name: "profile.total", Unit: Time, Host: true, Rises: true, Sums: true, Keys: []string{"clock"}, Meaning: "time in all functions of a profile; of several profiles the largest",
			measure: functionsAs("ns", functions.all)},
		{Name: "profile.hottest_share", Of: Time, Host: true, Keys: []string{"clock"}, Meaning: "time in the function with the largest time of its own, without the functions that it calls", Per: "time in all functions of the profile",
			measure: functionsAs("ns "+samples, functions.hottestShare)},
		{Name: "table.time", Unit: Time, Host: true, Rises: true, Sums: true, Keys: rows, Needs: rows, Meaning: "value of a time in a table of another tool (nsys stats, key_averages); the selected rows add up where the column does",
			measure: cellsAs("ns")},
		{Name: "table.count", Unit: Count, Host: true, Rises: true, Sums: true, Keys: rows, Needs: rows, Meaning: "value of a number in a table of another tool; the selected rows add up where the column does",
			measure: cellsAs("count")},
		{Name: "table.bytes", Unit: Size, Host: true, Rises: true, Sums: true, Keys: rows, Needs: rows, Meaning: "value of a size in a table of another tool; the selected rows add up where the column does",
			measure: cellsAs("bytes")},
	}
}

// counterMetrics are the metrics of hardware counters.
func counterMetrics() []Metric {
	keys := []string{"device", "category", "class", "kernel"}
	const mean = "; of several kernels the mean by time"
	pct := func(name string, higher bool, meaning, per string, of func(*summary.Counter) *float64) Metric {
		return Metric{Name: name, Of: Count, Higher: higher, Host: true, Keys: keys, Meaning: meaning + mean, Per: per, measure: counterMean(of)}
	}
	return []Metric{
		{Name: "counters.time", Unit: Time, Host: true, Rises: true, Sums: true, Keys: keys, Meaning: "total time of the launches that a profiler of counters ran alone, mostly at a fixed clock",
			measure: countersAs(func(c counted) (Value, error) { return c.time(whole) })},
		{Name: "counters.time_mean", Unit: Time, Host: true, Keys: keys, Meaning: "total time of these launches", Per: "number of launches with a time",
			measure: countersAs(func(c counted) (Value, error) {
				return c.time(func(ns int64) Value { return ratio(ns, c.timed) })
			})},
		{Name: "counters.launches", Unit: Count, Steady: true, Host: true, Rises: true, Sums: true, Keys: keys, Meaning: "number of launches with counters",
			measure: countersAs(func(c counted) (Value, error) { return whole(c.launches), nil })},
		pct("counters.sm_share", true, "use of the busiest part of the SMs", "its peak", func(c *summary.Counter) *float64 { return c.ComputePct }),
		pct("counters.memory_share", true, "use of the busiest part of caches and DRAM", "its peak", func(c *summary.Counter) *float64 { return c.MemoryPct }),
		pct("counters.dram_share", true, "bandwidth of DRAM", "its peak", func(c *summary.Counter) *float64 { return c.DRAMPct }),
		pct("counters.l1_hit_share", true, "hits of the L1 cache", "its lookups", func(c *summary.Counter) *float64 { return c.L1HitPct }),
		pct("counters.l2_hit_share", true, "hits of the L2 cache", "its lookups", func(c *summary.Counter) *float64 { return c.L2HitPct }),
		pct("counters.occupancy", true, "resident warps", "the most that an SM can have", func(c *summary.Counter) *float64 { return c.OccupancyPct }),
		pct("counters.theoretical_occupancy", true, "resident warps that the limits of the launch permit", "the most that an SM can have", func(c *summary.Counter) *float64 { return c.TheoreticalPct }),
		{Name: "counters.registers", Unit: Count, Steady: true, Host: true, Keys: keys, Meaning: "registers of a thread; the kernel with the most counts",
			measure: countersAs(func(c counted) (Value, error) { return c.registers, known(c.registers.V > 0, "registers") })},
		{Name: "counters.dram_bytes", Unit: Size, Steady: true, Host: true, Rises: true, Sums: true, Keys: keys, Meaning: "bytes that the launches moved to and from DRAM",
			measure: countersAs(func(c counted) (Value, error) { return whole(c.dram), known(c.hasDRAM, "bytes of DRAM") })},
		{Name: "counters.tail_share", Of: Time, Host: true, Keys: keys, Meaning: "unused part of all waves of blocks, in time", Per: "time of the launches with waves",
			measure: countersAs(func(c counted) (Value, error) { return ratio(c.tail, c.waves), nil })},
	}
}

// memoryMetrics are the metrics of the allocator in addition to its peaks.
func memoryMetrics() []Metric {
	keys := deviceKeys()
	kind := func(key string) []string { return append([]string{key}, keys...) }
	return []Metric{
		{Name: "memory.kind", Unit: Size, Steady: true, Host: true, Rises: true, Keys: kind("kind"), Needs: []string{"kind"}, Meaning: "memory of one purpose (parameters, activations, optimizer, ...) at the peak; the GPU with the most counts",
			measure: selection.memoryKind},
		{Name: "memory.site", Unit: Size, Steady: true, Host: true, Rises: true, Keys: kind("site"), Needs: []string{"site"}, Meaning: "memory of the selected allocation sites at the peak; the GPU with the most counts",
			measure: selection.memorySite},
		{Name: "memory.free_share", Of: Size, Host: true, Keys: keys, Meaning: "free memory that the allocator keeps, at the end of a snapshot", Per: "memory reserved from the driver, summed over GPUs",
			measure: selection.memoryFree},
		{Name: "memory.growth_per_step", Unit: Size, Host: true, Keys: keys, Meaning: "growth of the memory that is allocated at the start of a step; the GPU with the most counts", Per: "steps, of the snapshot's history",
			measure: selection.memoryGrowth},
		{Name: "memory.driver_allocs", Unit: Count, Host: true, Rises: true, Sums: true, Keys: keys, Meaning: "calls that took memory from the driver (cudaMalloc) in the history of a snapshot",
			measure: selection.driverAllocs},
		{Name: "memory.failed_allocs", Unit: Count, Steady: true, Host: true, Rises: true, Sums: true, Keys: keys, Meaning: "allocations that failed (out of memory) in the history of a snapshot",
			measure: selection.failedAllocs},
	}
}
