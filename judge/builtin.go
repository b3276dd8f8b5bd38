// Code generated from the YAML files of this folder by go test ./judge -update. DO NOT EDIT.

package judge

// builtInRules returns the rules of thresholds.yaml, in their order.
func builtInRules() []Rule {
	return []Rule{
		{ID: "capture-quality", Meaning: "issues that were met while reading and that may change numbers (severity suspect or data-loss)", Source: "every other finding is only as true as the capture"},
		{ID: "no-gpu-time", Meaning: "the capture holds no GPU events, or events that span no time, so nothing can be judged", Source: "shares of nothing do not exist"},
		{ID: "too-little-gpu-work", Meaning: "number of GPU events of all devices, and their windows over the spans of the captures; below either limit nothing is judged", Source: "a few kernels, or a corner of the capture, say nothing about a step; both limits lie well under those of any capture of whole steps", MinEvents: 10, MinShare: 0.02},
		{ID: "clocks-implausible", Meaning: "the first and last GPU event of a device lie further apart than any capture lasts, so nothing is judged", Source: "profilers record seconds to hours; a longer window has timestamps of two clocks"},
		{ID: "device-records-missing", Meaning: "calls that launch device work (kernels, graphs; copies and memsets from 10 on) whose work is not in the capture, over all such calls of their kind, of the input that lost most; calls after the last recorded work do not count. Of kernels and graphs the critical limit withholds the verdict, and below it the verdict is withheld if the missing work could change it, or if the tables of an export are damaged", Warn: 0.05, Critical: 0.25, Source: "in 240 real captures at most 0.5% of the kernel launches lack their work; with a quarter of the kernels missing, medians and the table of kernels are no longer those of the program"},
		{ID: "gpu-idle", Meaning: "time in which no kernel, copy or memset ran, over the window, summed over devices", Warn: 0.15, Critical: 0.5, Source: "TraceLens and nsys-ai flag idle time over 15% of the window; the PyTorch TensorBoard plugin and nsys flag GPU utilization under 50%"},
		{ID: "data-loading", Meaning: "idle time in which the host was in a data loader or in a phase that loads data, over the window, summed over devices", Warn: 0.1, Critical: 0.2, Source: "traceml calls a step input-bound from 10%, critically from 20%; the PyTorch TensorBoard plugin flags a data loader over 5% of a step"},
		{ID: "allocating", Meaning: "idle time in which the host was in a call that takes or returns memory of the device, over the window, summed over devices", Warn: 0.05, Critical: 0.2, Source: "a caching allocator that is warm calls the driver no more; the limits are those of traceml's other shares, and half of the first"},
		{ID: "launch-bound", Meaning: "time in gaps under 100 µs in which the host was on its way from one launch to the next, or the launch to the device, over the window, summed over devices", Warn: 0.1, Critical: 0.3, Source: "traceml warns of a share of 10% that nothing else explains; at 30% a third of the device waits for launches that CUDA graphs would save"},
		{ID: "straggling-rank", Meaning: "time for which ranks communicate longer than the one that arrives last, and no more than is exposed, over the window, summed over devices; in the place of exposed-communication where it is half of that", Warn: 0.1, Critical: 0.2, Source: "traceml warns of a straggler that costs 10% of the step, critically of 20%"},
		{ID: "exposed-communication", Meaning: "time in which communication ran and no compute kernel did, over the window, summed over devices", Warn: 0.1, Critical: 0.2, Source: "the PyTorch TensorBoard plugin flags communication over 10% of a step, the nsys-ai book over 20% of an iteration; TraceLens flags exposed communication over 5%"},
		{ID: "exposed-copies", Meaning: "time in which a copy or memset ran and neither compute nor communication did, over the window, summed over devices", Warn: 0.05, Critical: 0.15, Source: "TraceLens flags copies in one direction over 5% of the time; nsys-ai flags host-to-device copies over 15% of the span"},
		{ID: "synchronizing-calls", Meaning: "time in which a thread that launches work was in a call that waits for all work of a stream or device (cudaStreamSynchronize, cudaDeviceSynchronize, those of HIP and the driver), over the window, summed over devices", Warn: 0.1, Source: "the expert rule cuda_api_sync of nsys lists such calls without a limit; a tenth of the window is more than a wait at the end of each step takes where the host is ahead", MinShare: 0.05},
		{ID: "synchronous-copies", Meaning: "host time in copies by calls that wait for them (cudaMemcpy), over the window, summed over devices; copies within a device and those of up to 64 KiB from the host to a device do not count", Warn: 0.05, Source: "the expert rule cuda_memcpy_sync of nsys lists such copies without a limit; the limit is that of exposed copies", MinShare: 0.05},
		{ID: "pageable-async-copies", Meaning: "host time in asynchronous copies (cudaMemcpyAsync) from or to pageable memory, over the window, summed over devices", Warn: 0.05, Source: "the expert rule cuda_memcpy_async of nsys lists such copies without a limit; the limit is that of exposed copies", MinShare: 0.05},
		{ID: "synchronous-memsets", Meaning: "host time in memsets of pinned or managed memory by calls that wait for them (cudaMemset), over the window, summed over devices", Warn: 0.05, Source: "the expert rule cuda_memset_sync of nsys lists such memsets without a limit; the limit is that of exposed copies", MinShare: 0.05},
		{ID: "long-gaps", Meaning: "time in gaps of min_gap and longer, less the profiler's own work, over the window, summed over devices; told with gpu-idle where that is over its limit", Warn: 0.05, Info: 0.01, Source: "the expert rule gpu_gaps of nsys lists gaps over 500 ms", MinGapNS: 500000000},
		{ID: "low-utilization", Meaning: "of 30 equal chunks of each device's window, those in which anything ran for less than min_busy of the chunk, over the window, summed over devices; told with gpu-idle where that is over its limit", Info: 0.1, Source: "the expert rule gpu_time_util of nsys lists chunks in use for less than 50%; it adds up work that runs at the same time, which counts once here", MinBusy: 0.5},
		{ID: "uneven-ranks", Meaning: "compute time of the rank that computes most, less the mean of all ranks, over the former; of ranks with the same number of steps", Warn: 0.1, Critical: 0.25, Source: "HTA and the guides on expert and pipeline parallelism look for such ranks and give no limit; a tenth is more than clocks vary"},
		{ID: "opaque-graphs", Meaning: "time in graphs that were recorded as one event each, or idle time in which a graph of which nothing was recorded may have run, over the window, summed over devices", Warn: 0.25, Info: 0.05, Source: "CUPTI records graphs as a whole unless it is asked for their nodes; what is not recorded is not judged"},
		{ID: "dominant-kernel", Meaning: "summed durations of the kernels of one name, over the summed durations of all kernels, whatever ran beside them", Warn: 0.5, Critical: 0.6, Source: "the nsys-ai book flags one kernel over 50%, nsys-ai over 60%"},
		{ID: "tiny-kernels", Meaning: "summed durations of kernels that run for less than the given time, over the summed durations of all kernels; told with launch-bound where that is over its limit", Warn: 0.3, Critical: 0.6, Source: "TraceLens and nsys-ai call kernels under 10 µs short; a launch takes the host some 5 µs, and a device is not filled in so little time", Under: 10000},
		{ID: "memory-bandwidth", Meaning: "summed durations of kernels whose category does few operations on each byte (elementwise, normalization, reduction, copies by kernels and their like), over those of all compute kernels but whole graphs", Warn: 0.5, Source: "TraceLens expects such kernels at over 70% of the memory's bandwidth; from half of the work on they decide over the pace"},
		{ID: "compute-bound", Meaning: "time in which a compute kernel ran, over the window, summed over devices; the good case", Info: 0.9, Source: "traceml calls a step compute-bound from 90% compute on"},
		{ID: "warm-up-steps", Meaning: "time of the steps of warm-up and of those that the profiler cut, over the time of all steps", Warn: 0.25, Info: 0.001, Source: "nsys-ai flags iterations over 1.5 times the median; the first ones are the program's start and say nothing of the rest", MinEvents: 3, Margin: 0.5},
		{ID: "warm-up-phases", Meaning: "time of the devices in phases of setup, warm-up, compilation and capture of graphs, over their windows", Warn: 0.25, Info: 0.01, Source: "what a program does once says nothing of how fast it runs; a quarter of a window can decide over it"},
		{ID: "slow-steps", Meaning: "number of later steps that are over the median by margin or more, over the number of all that are not warm-up or cut", Warn: 0.05, Critical: 0.2, Info: 0.001, Source: "nsys-ai flags iterations over 1.5 times the median", MinEvents: 4, Margin: 0.5},
		{ID: "periodic-stalls", Meaning: "number of slow steps, as above, that come at equal distances, three or more, over the number of all; in the place of slow-steps", Warn: 0.05, Critical: 0.2, Info: 0.001, Source: "what recurs has a cause that recurs; checkpoints, evaluation and Python's garbage collection do"},
		{ID: "uneven-steps", Meaning: "median of how far steps are from the median step of their device, over the median step, of steps that are not warm-up or cut", Warn: 0.1, Critical: 0.25, Source: "the SkyRL guide takes a fluctuating load for a sign of weight sync or data loading; a deviation of a tenth is more than clocks and kernels vary", MinEvents: 4},
		{ID: "steady-steps", Meaning: "the median step is bound by something else than the window is", Source: "a step of warm-up, a checkpoint or a pause between steps can decide over a short capture", MinEvents: 2},
		{ID: "weight-sync-time", Meaning: "the median run of a weight sync, over the time given", Warn: 1, Source: "the SkyRL guide aims at under 2 s where training and inference share devices", Under: 2000000000},
		{ID: "weight-sync-share", Meaning: "weight sync, over the step", Warn: 0.15, Critical: 0.3, Source: "the SkyRL guide has 5% to 15% as typical", MinEvents: 2},
		{ID: "generation-share", Meaning: "generation of rollouts, over the step", Warn: 0.6, Critical: 0.75, Source: "the SkyRL guide has 40% to 60% as typical; papers on long tails report 70%", MinEvents: 2},
		{ID: "training-share", Meaning: "training, over the step", Info: 0.3, Source: "the SkyRL guide has 20% to 30% as typical", MinEvents: 2},
		{ID: "data-share", Meaning: "loading and preparing data, over the step; a finding only if devices are idle meanwhile for as much of their windows as warn", Warn: 0.05, Critical: 0.15, Source: "the SkyRL guide has 2% to 5% as typical; the PyTorch TensorBoard plugin flags a data loader over 5% of a step", MinEvents: 2},
		{ID: "wait-share", Meaning: "waiting of the trainer for rollouts, or of rollouts for the trainer, over the step", Warn: 0.1, Critical: 0.3, Source: "the SkyRL guide has 5% to 10% for all that is not generation, training, sync and data", MinEvents: 2},
		{ID: "sleep-wake-share", Meaning: "putting the inference engine to sleep and waking it, over the step", Warn: 0.1, Critical: 0.3, Source: "the SkyRL guide has 5% to 10% for all that is not generation, training, sync and data", MinEvents: 2},
		{ID: "rl-utilization", Meaning: "idle time of the devices over their windows, of runs of reinforcement learning; told with gpu-idle where that is over its limit", Warn: 0.2, Source: "the SkyRL guide aims at a GPU utilization over 80%"},
		{ID: "kernels-latency-bound", Meaning: "durations of kernels whose compute and memory shares are both under of_peak, over the durations of all profiled kernels", Warn: 0.25, Critical: 0.5, Source: "Nsight Compute takes shares under 60% of both peaks for a sign of latency", OfPeak: 0.6},
		{ID: "kernels-memory-bound", Meaning: "durations of kernels whose memory share is the larger one, and neither of the above nor near the limit, over the durations of all profiled kernels", Warn: 0.25, Critical: 0.5, Source: "as for latency, for such kernels have as much to gain"},
		{ID: "kernels-compute-bound", Meaning: "durations of kernels whose compute share is the larger one, and neither of the above nor near the limit, over the durations of all profiled kernels", Info: 0.25, Source: "compute is what a device is bought for"},
		{ID: "kernels-balanced", Meaning: "durations of kernels whose shares differ by less than margin, and that are neither latency-bound nor near the limit, over the durations of all profiled kernels", Info: 0.25, Source: "Nsight Compute calls shares balanced that differ by less than 10 points", Margin: 0.1},
		{ID: "low-occupancy", Meaning: "durations of kernels that hold under of_peak of the warps that an SM can hold and reach neither peak as far as is known, over the durations of all profiled kernels", Warn: 0.25, Critical: 0.5, Source: "with half of the warps and neither peak in sight, a scheduler mostly has no warp that can go on", OfPeak: 0.5},
		{ID: "partial-waves", Meaning: "places for blocks that stay empty because the grid of a kernel that is not near the limit does not fill its last wave, times durations, over all places times durations", Warn: 0.1, Critical: 0.3, Source: "a grid of 1.4 waves leaves 30% of the places empty, one of 10 waves and a bit under 10%"},
		{ID: "kernels-near-limit", Meaning: "durations of kernels whose larger share is at least of_peak, over the durations of all profiled kernels; the good case", Info: 0.25, Source: "Nsight Compute takes a share over 80% for one that little can be gained on", OfPeak: 0.8},
		{ID: "counters-missing", Meaning: "durations of kernels of which the shares of the peaks were not collected, over the durations of all profiled kernels", Warn: 0.1, Critical: 0.5, Source: "what was not collected is not judged"},
		{ID: "tables-empty", Meaning: "no table has a row", Source: "nsys stats prints SKIPPED where a report holds nothing of the kind"},
		{ID: "kernels-unrecorded", Meaning: "calls that launch kernels, where nsys says that it has no kernels", Source: "only one profiler at a time can use CUPTI, and containers may forbid it"},
		{ID: "graphs-hide-kernels", Meaning: "summed durations of kernels, over the time of calls that synchronize, of runs that launch CUDA graphs; below the limit graphs ran what the table has not", Source: "nsys records a graph as a whole by default, without its kernels; a host that waits for a tenth of the kernels or less waits for something else", MinShare: 0.1},
		{ID: "waiting-calls", Meaning: "time of CUDA calls that synchronize, over the time of all CUDA calls, on all threads; worth knowing only where kernels and copies sum to as much", Warn: 0.5, Critical: 0.8, Source: "nsys-ai flags synchronization over 20% of a run and lets it decide from 40%; calls are but a part of a run, so both limits are doubled"},
		{ID: "communication-work", Meaning: "summed durations of communication kernels, over those of all kernels, whatever ran beside them", Warn: 0.2, Critical: 0.4, Source: "the nsys-ai book flags NCCL over 20% of an iteration; what compute hides of it no table says, so the critical limit is twice that"},
		{ID: "copy-work", Meaning: "summed durations of copies and memsets, over those of kernels, copies and memsets, of runs whose tables have both", Warn: 0.15, Critical: 0.5, Source: "nsys-ai flags host-to-device copies over 15% of the span; from half on the device copies more than it computes"},
		{ID: "allocation-calls", Meaning: "time of CUDA calls that allocate or free memory, over the time of all CUDA calls, on all threads", Warn: 0.1, Critical: 0.25, Source: "a caching allocator calls the driver only while it warms up, so a tenth of the time in calls is much"},
		{ID: "short-kernels", Meaning: "runs of kernels that are shorter than the given duration on average, over the runs of all kernels", Warn: 0.5, Critical: 0.8, Source: "TraceLens and nsys-ai call kernels under 10 µs short; a launch takes the host some 5 µs", Under: 10000},
		{ID: "device-time-missing", Meaning: "no row of a table has time of a device, so nothing in it says what a GPU did", Source: "shares of nothing do not exist"},
		{ID: "host-work", Meaning: "self CPU time of all rows but calls that synchronize, over that time and the device's work; both of all threads and streams", Warn: 0.6, Critical: 0.75, Source: "with one thread the device is idle for what the host works longer, from 60% on a third of the host's time, from 75% on two thirds; a backward pass has a thread of its own, so the limits are above one half"},
		{ID: "copy-operators", Meaning: "work of the device that aten::copy_ launched itself, copies and kernels that convert, over all work of the device", Warn: 0.1, Critical: 0.25, Source: "near twice the limits of exposed copies, for compute may hide some of it"},
		{ID: "largest-allocator", Meaning: "memory that the rows of one name allocated more than they gave back, over that of all rows that did; for information", Info: 0.1, Source: "it names the allocator and is no limit"},
		{ID: "sums-only", Meaning: "tables of sums and no timeline, so no window, no idle time and no overlap", Source: "what bounds a run is a share of its window"},
		{ID: "waiting", Meaning: "time by the wall clock that functions took by themselves which wait (sleep, select, acquire, recv, ...), over that of all functions; or, of a function that a profile by the CPU clock has too, its time by the wall clock less that by the CPU clock, over the former", Warn: 0.3, Critical: 0.6, Source: "NeMo Gym's guide calls synchronous external calls in hot paths a red flag and gives no number; both limits are ours"},
		{ID: "function-total", Meaning: "time of one function with all it called, over the time of the profile; of several functions over the critical limit the innermost, in the program's own code before libraries", Warn: 0.1, Critical: 0.5, Source: "NeMo Gym's profiling guide looks at functions over 10% and calls one over 50% a red flag"},
		{ID: "function-self", Meaning: "time of one function by itself, over that of all functions; functions that wait aside", Warn: 0.2, Critical: 0.5, Source: "NeMo Gym's profiling guide looks for high self times and gives no number; half of all is the red flag that it has for totals"},
		{ID: "many-cheap-calls", Meaning: "self time of functions with at least so many calls that are under the given duration on average, over the self time of all functions", Warn: 0.2, Critical: 0.5, Source: "a call in Python costs some 50 ns, with a profiler several times that; NeMo Gym's guide advises to call less, cache and vectorize such", MinEvents: 1000, Under: 10000},
		{ID: "nested-cost", Meaning: "time that the function which function-total names spent in what it called, over its own total", Warn: 0.9, Source: "NeMo Gym's profiling guide says to drill down where the total is far over the self time, and gives no number"},
		{ID: "growing-average", Meaning: "growth of the average call of one function from the first of two profiles to the second, over the first; functions with less than the limit of function-total aside", Warn: 0.2, Critical: 1, Source: "NeMo Gym's profiling guide calls averages that grow with the data a red flag and gives no number"},
		{ID: "memory-exhausted", Meaning: "allocations of device memory that failed, in a memory snapshot; the value is the memory that was wanted over all that the allocator could have had", Source: "an allocation that fails ends most programs"},
		{ID: "memory-pressure", Meaning: "the most memory that the allocator had taken from the driver, over all that it could have had", Warn: 0.9, Critical: 0.97, Source: "the PyTorch TensorBoard plugin flags peak memory over 90% of the device's"},
		{ID: "memory-fragmented", Meaning: "free memory in segments that something else is in, which can be neither given back nor used for larger blocks, over reserved memory; judged from 256 MiB of it on", Warn: 0.15, Critical: 0.3, Source: "PyTorch names no limit, its message on running out of memory advises expandable segments if reserved but unallocated memory is large; these limits are ours"},
		{ID: "allocator-churn", Meaning: "memory that was given back to the driver in the history, over the most that was ever reserved; judged from so many cudaFree calls on", Warn: 0.5, Critical: 1, Source: "each cudaFree waits for the device, and a steady program calls none; these limits are ours", MinEvents: 10},
		{ID: "memory-growth", Meaning: "by how much what is live when a step begins has grown since the third step, without ever falling, over what was live then; judged from 4 steps and 16 MiB on", Warn: 0.05, Critical: 0.25, Source: "a step that frees what it allocates leaves nothing behind; these limits are ours"},
		{ID: "memory-owner", Meaning: "memory of one place in the program at the peak, over all that was live then; of a timeline, memory of one category; judged from 256 MiB live on", Warn: 0.5, Critical: 0.95, Source: "halving what has over half of the memory makes the largest difference; a pool that is filled on purpose, as a KV cache, is no trouble"},
		{ID: "memory-unrecorded", Meaning: "the snapshot has no history, so no peak is known", Source: "what is live when a snapshot is taken need not be what was live when memory was short"},
	}
}

// builtInPages returns the pages of pages.yaml.
func builtInPages() map[string]pageEntry {
	return map[string]pageEntry{
		"allocating": {Line: "the GPU waits for memory to be taken from the driver or given back", Part: "idle time in which the host was in a call that allocates or frees device memory", Whole: "the windows of all devices", Gain: "the idle time in which memory was allocated or freed", Confidence: "certain", Sure: []string{
			"a memory snapshot with its history, for who allocates and why the cache does not have it",
		}, Changes: "it stands in the place of gpu-idle where it is half of the idle time or more, and decides the verdict (host-bound) as that does"},
		"allocation-calls": {Line: "the host allocates within the run", Part: "time of CUDA calls that allocate or free memory", Whole: "the time of all CUDA calls, on all threads", Gain: "the time of these calls, a sum over threads", Confidence: "hint", Sure: []string{
			"a timeline, for whether the calls are in steps or in the start",
		}, Changes: "it never says what bounds the run"},
		"allocator-churn": {Line: "memory is given back to the driver and taken again", Part: "memory that was given back to the driver in the history", Whole: "the most that was ever reserved", Gain: "none", Confidence: "certain", Sure: []string{
			"a timeline, for what the calls cost",
		}, Changes: "of a snapshot the first of the worst level decides"},
		"capture-quality": {Line: "trouble with the capture that may change numbers", Part: "kinds of issues of severity data-loss or suspect", Gain: "none", Confidence: "certain", Sure: []string{
			"record again without the trouble, and compare",
		}, Changes: "it is info where single records were lost, and warn where the input breaks off or is suspect; it never decides the verdict"},
		"clocks-implausible": {Line: "GPU timestamps that cannot be true", Part: "devices whose window is longer than any capture", Gain: "none", Confidence: "certain", Sure: []string{
			"record again, and compare",
		}, Changes: "the verdict is withheld"},
		"communication-work": {Line: "much of the kernel work is communication", Part: "summed durations of communication kernels", Whole: "the summed durations of all kernels", Gain: "the durations; what compute hides of them costs little, and no table tells how much that is", Confidence: "hint", Sure: []string{
			"a timeline, for what of it is exposed; the tables of all ranks, for what of it is waiting",
		}, Changes: "it never says what bounds the run"},
		"compute-bound": {Line: "compute kernels run nearly all the time", Part: "time in which a compute kernel ran", Whole: "the windows of all devices", Gain: "none", Confidence: "certain", Sure: []string{
			"ncu --set full on the largest kernels: busy is not efficient",
		}, Changes: "it decides the verdict only where no other part is over its limit"},
		"copy-operators": {Line: "operators that copy and convert", Part: "work of the device that aten::copy_ launched itself", Whole: "all work of the device", Gain: "the durations; what runs beside them costs little, and no table tells how much that is", Confidence: "hint", Sure: []string{
			"with_stack=True and group_by_stack_n=5, for who calls it",
		}, Changes: "it never says what bounds the run"},
		"copy-work": {Line: "much of the device's work is copies", Part: "summed durations of copies and memsets", Whole: "those of kernels, copies and memsets", Gain: "the durations; what runs beside them costs little, and no table tells how much that is", Confidence: "hint", Sure: []string{
			"a timeline, for what of it is exposed",
		}, Changes: "it never says what bounds the run"},
		"counters-missing": {Line: "counters that a verdict needs were not collected", Part: "durations of kernels without shares of the peaks", Whole: "the durations of all profiled kernels", Gain: "none", Confidence: "certain", Sure: []string{
			"ncu --set full",
		}, Changes: "it decides (cannot tell) where no kernel has the shares"},
		"data-loading": {Line: "the GPU waits for a data loader", Part: "idle time in which the host was in a data loader or in a phase that loads data", Whole: "the windows of all devices", Gain: "the idle time in which data was loaded", Confidence: "certain", Sure: []string{
			"the same run on a batch that stays the same, without the loader",
		}, Changes: "it stands in the place of gpu-idle where it is half of the idle time or more, and decides the verdict (host-bound) as that does"},
		"data-share": {Line: "loading data takes much of the step", Part: "loading and preparing data", Whole: "the step", Gain: "the phase's own time; what went on beside it would still take its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"the same phases over more steps, and with the devices of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"device-records-missing": {Line: "GPU work was launched and is missing from the capture", Part: "calls of one kind whose device work is missing", Whole: "all calls of that kind that launch device work", Gain: "none", Confidence: "certain", Sure: []string{
			"record fewer steps, and compare the number of kernels per step",
		}, Changes: "the verdict is withheld if the critical limit is reached, if the missing work could change it, or if the export is damaged"},
		"device-time-missing": {Line: "a table without time of a device", Part: "rows with time of a device", Gain: "none", Confidence: "certain", Sure: []string{
			"activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
		}, Changes: "any row with time of a device"},
		"dominant-kernel": {Line: "one kernel is most of the work", Part: "summed durations of the kernels of one name", Whole: "the summed durations of all kernels", Gain: "its durations, and no more than the time in which nothing but kernels of its class ran; what runs beside it would still take its time", Confidence: "certain", Sure: []string{
			"ncu --set full on this kernel, to see how near it comes to the peaks of the device",
		}, Changes: "it never decides the verdict of a timeline; of graphs recorded whole it is not asked"},
		"exposed-communication": {Line: "the GPU communicates and computes nothing meanwhile", Part: "time in which communication ran and no compute kernel did, of all devices", Whole: "the windows of all devices", Gain: "the exposed time; what hides under compute costs little and is not in it", Confidence: "certain", Sure: []string{
			"the traces of all ranks, for much of it may be waiting for a late rank",
		}, Changes: "critical decides the verdict unless idle time is critical, too"},
		"exposed-copies": {Line: "the GPU copies and does nothing else meanwhile", Part: "time in which a copy or memset ran and neither compute nor communication did, of all devices", Whole: "the windows of all devices", Gain: "the exposed time", Confidence: "certain", Sure: []string{
			"the calls that copy, with stacks, to see which lines of the program copy",
		}, Changes: "critical decides the verdict unless idle time or exposed communication is critical, too"},
		"function-self": {Line: "one function by itself has much of the time", Part: "time of one function by itself", Whole: "that of all functions", Gain: "the function's own time", Bound: "numerator", Confidence: "certain", Sure: []string{
			"a sampling profiler (py-spy, perf), for profilers that trace calls make small functions look dear",
		}, Changes: "of a profile the first finding over its critical limit decides"},
		"function-total": {Line: "one function, with all it calls, has much of the time", Part: "time of one function with all it called", Whole: "the time of the profile", Gain: "the function's total", Bound: "numerator", Confidence: "certain", Sure: []string{
			"a profile with who called whom (pstats, callgrind, pprof), for where within it",
		}, Changes: "of a profile the first finding over its critical limit decides"},
		"generation-share": {Line: "generation takes more of the step than is usual", Part: "generation of rollouts", Whole: "the step", Gain: "none", Confidence: "likely", Sure: []string{
			"the lengths of responses, for a long tail keeps a batch waiting",
		}, Changes: "it never decides the verdict"},
		"gpu-idle": {Line: "the GPU waits for work", Part: "time in which no kernel, copy or memset ran, of all devices", Whole: "the windows of all devices", Gain: "the idle time, less what the profiler itself was at work for; a run without it would still wait for its host where the host is slower than the device", Confidence: "certain", Sure: []string{
			"record the host beside the device, with stacks, so that every gap has an owner",
			"run once without a profiler and compare the step time, for a profiler slows the host",
		}, Changes: "critical decides the verdict (host-bound) before all others; at warn the largest part does"},
		"graphs-hide-kernels": {Line: "CUDA graphs ran kernels that the tables do not have", Part: "summed durations of kernels", Whole: "the time of calls that synchronize", Gain: "none", Confidence: "likely", Sure: []string{
			"nsys profile --cuda-graph-trace=node",
		}, Changes: "kernels worth min_share of the waiting"},
		"growing-average": {Line: "calls that take longer than in the profile before", Part: "growth of the average call from the first profile to the second", Whole: "the average in the first", Gain: "none", Confidence: "hint", Sure: []string{
			"both profiles again with more calls, for an average of few is chance",
		}, Changes: "it never decides the verdict"},
		"host-work": {Line: "the host works longer than the device", Part: "self CPU time of all rows but calls that synchronize", Whole: "that time and the device's work", Gain: "the host's work, a sum over threads", Confidence: "likely", Sure: []string{
			"a timeline, for threads work side by side and a sum does not tell",
		}, Changes: "it never says what bounds the run"},
		"kernels-balanced": {Line: "kernels that use compute and memory alike", Part: "durations of kernels whose shares differ by less than margin", Whole: "the durations of all profiled kernels", Gain: "for each of these kernels the share of its larger peak that is missing, times its durations", Confidence: "hint", Sure: []string{
			"ncu --set full, and its source view",
		}, Changes: "of the sides with a quarter of the time the one with the most gain decides"},
		"kernels-compute-bound": {Line: "kernels that arithmetic holds back", Part: "durations of kernels whose compute share is the larger one", Whole: "the durations of all profiled kernels", Gain: "for each of these kernels the share of its larger peak that is missing, times its durations", Confidence: "likely", Sure: []string{
			"--section ComputeWorkloadAnalysis, for which pipeline is busy",
		}, Changes: "of the sides with a quarter of the time the one with the most gain decides"},
		"kernels-latency-bound": {Line: "kernels that leave both peaks of the device unused", Part: "durations of kernels whose compute and memory shares are both under of_peak", Whole: "the durations of all profiled kernels", Gain: "for each of these kernels the share of its larger peak that is missing, times its durations", Confidence: "likely", Sure: []string{
			"--section WarpStateStats --section SourceCounters, for what the warps wait for",
		}, Changes: "of the sides with a quarter of the time the one with the most gain decides"},
		"kernels-memory-bound": {Line: "kernels that memory holds back", Part: "durations of kernels whose memory share is the larger one", Whole: "the durations of all profiled kernels", Gain: "for each of these kernels the share of its larger peak that is missing, times its durations", Confidence: "likely", Sure: []string{
			"--section MemoryWorkloadAnalysis_Tables, for which memory it is",
		}, Changes: "of the sides with a quarter of the time the one with the most gain decides"},
		"kernels-near-limit": {Line: "kernels near what the device can do", Part: "durations of kernels whose larger share is at least of_peak", Whole: "the durations of all profiled kernels", Gain: "for each of these kernels the share of its larger peak that is missing, times its durations", Confidence: "certain", Sure: []string{
			"nothing more; look at how often they are called",
		}, Changes: "of the sides with a quarter of the time the one with the most gain decides"},
		"kernels-unrecorded": {Line: "kernels were launched and none was recorded", Part: "calls that launch kernels", Gain: "none", Confidence: "likely", Sure: []string{
			"record again without any other profiler of this GPU",
		}, Changes: "any kernel in the tables"},
		"largest-allocator": {Line: "who allocated most memory", Part: "memory that the rows of one name allocated more than they gave back", Whole: "that of all rows that did", Gain: "none", Confidence: "certain", Sure: []string{
			"a memory snapshot, for what was live at once",
		}, Changes: "it is for information"},
		"launch-bound": {Line: "the host launches more slowly than the GPU works", Part: "idle time in short gaps in which the host was on its way from one launch to the next", Whole: "the windows of all devices", Gain: "the idle time in these gaps", Confidence: "likely", Sure: []string{
			"run once without a profiler and compare the step time, for a profiler makes each launch slower",
		}, Changes: "it stands in the place of gpu-idle where it is half of the idle time or more, and decides the verdict (host-bound) as that does"},
		"long-gaps": {Line: "gaps so long that each is worth a look", Part: "time in gaps of min_gap and longer, less the profiler's own work", Whole: "the windows of all devices", Gain: "the time in these gaps", Confidence: "certain", Sure: []string{
			"with_stack=True or NVTX ranges, to see what the host did in them",
		}, Changes: "with gpu-idle over its limit it is told there"},
		"low-occupancy": {Line: "kernels with few warps that reach neither peak", Part: "durations of kernels that hold under of_peak of the warps an SM can hold", Whole: "the durations of all profiled kernels", Gain: "none", Confidence: "hint", Sure: []string{
			"--section Occupancy --section WarpStateStats: more warps help only where the others wait",
		}, Changes: "it never decides the verdict"},
		"low-utilization": {Line: "stretches in which the GPU is mostly idle", Part: "chunks of the windows in which anything ran for less than min_busy of the chunk", Whole: "the windows of all devices", Gain: "the idle time in these chunks", Confidence: "certain", Sure: []string{
			"record only the steps that are to be judged",
		}, Changes: "with gpu-idle over its limit it is told there"},
		"many-cheap-calls": {Line: "small functions that are called very often", Part: "self time of functions with at least min_events calls that are under the given duration on average", Whole: "the self time of all functions", Gain: "their own time, which the profiler itself makes longer", Bound: "numerator", Confidence: "hint", Sure: []string{
			"a sampling profiler (py-spy, perf), for profilers that trace calls make small functions look dear",
		}, Changes: "of a profile the first finding over its critical limit decides"},
		"memory-bandwidth": {Line: "kernels that move data rather than calculate", Part: "summed durations of kernels of categories that do few operations on each byte", Whole: "those of all compute kernels but whole graphs", Gain: "none", Confidence: "hint", Sure: []string{
			"ncu --section SpeedOfLight on the largest of them: a memory share over 60% of the peak shows it",
		}, Changes: "it decides the verdict (memory-bound) only where the run would be compute-bound"},
		"memory-exhausted": {Line: "an allocation of device memory failed", Part: "memory that was wanted", Whole: "all that the allocator could have had", Gain: "none", Confidence: "certain", Sure: []string{
			"torch.cuda.memory._record_memory_history() from the start, for who had the memory",
		}, Changes: "it decides the verdict of a snapshot before all else"},
		"memory-fragmented": {Line: "free memory that cannot be used", Part: "free memory in segments that something else is in", Whole: "reserved memory", Gain: "none", Confidence: "likely", Sure: []string{
			"run once with PYTORCH_ALLOC_CONF=expandable_segments:True and compare",
		}, Changes: "of a snapshot the first of the worst level decides"},
		"memory-growth": {Line: "every step leaves more memory behind", Part: "growth of what is live when a step begins, since the third step", Whole: "what was live then", Gain: "none", Confidence: "likely", Sure: []string{
			"a history of more steps, for caches and pools fill only once",
		}, Changes: "of a snapshot the first of the worst level decides"},
		"memory-owner": {Line: "one place in the program has most of the memory", Part: "memory of one place at the peak", Whole: "all that was live then", Gain: "none", Confidence: "certain", Sure: []string{
			"stacks=\"all\" in _record_memory_history, for who allocates what has no stack",
		}, Changes: "of a snapshot the first of the worst level decides"},
		"memory-pressure": {Line: "nearly all device memory is taken", Part: "the most memory that the allocator had taken from the driver", Whole: "all that it could have had", Gain: "none", Confidence: "certain", Sure: []string{
			"a snapshot at the peak, with history",
		}, Changes: "of a snapshot the first of the worst level decides"},
		"memory-unrecorded": {Line: "a snapshot without a history", Part: "entries of the history", Gain: "none", Confidence: "certain", Sure: []string{
			"torch.cuda.memory._record_memory_history() before what is to be looked at",
		}, Changes: "with a history the peak is judged; without, nothing is"},
		"nested-cost": {Line: "the time is in what a function calls", Part: "time that the function spent in what it called", Whole: "its own total", Gain: "none", Confidence: "certain", Sure: []string{
			"a profile with who called whom (pstats, callgrind, pprof)",
		}, Changes: "it never decides the verdict"},
		"no-gpu-time": {Line: "nothing of a device was recorded", Part: "GPU events", Gain: "none", Confidence: "certain", Sure: []string{
			"record the device beside the host, for at least one whole step",
		}, Changes: "any kernel, copy or memset that takes time"},
		"opaque-graphs": {Line: "graphs of which nothing but their length was recorded", Part: "time in graphs whose inside was not recorded", Whole: "the windows of all devices", Gain: "none", Confidence: "certain", Sure: []string{
			"nsys --cuda-graph-trace=node, or a torch.profiler with a CUPTI that records the nodes of graphs",
		}, Changes: "where it is half of what seems idle the verdict is unknown, for the device may have been busy"},
		"pageable-async-copies": {Line: "copies that are asynchronous by name only", Part: "host time in asynchronous copies from or to pageable memory", Whole: "the windows of all devices", Gain: "idle time that not waiting could have saved at best", Confidence: "likely", Sure: []string{
			"with_stack=True (nsys --python-backtrace=cuda) to see which line copies",
		}, Changes: "it is a finding only over both limits; with gpu-idle or exposed-copies over theirs it is told there"},
		"partial-waves": {Line: "the last wave of blocks leaves places empty", Part: "empty places of last waves of kernels that are not near the limit, times durations", Whole: "all places, times durations", Gain: "the time for which places are empty, if all blocks take equally long, and of each kernel no more than it lacks to its nearer peak", Confidence: "hint", Sure: []string{
			"another grid or tile, measured",
		}, Changes: "it never decides the verdict"},
		"periodic-stalls": {Line: "a slow step every few steps", Part: "number of slow steps that come at equal distances", Whole: "number of all steps that count", Gain: "by how much these steps are over the median", Confidence: "likely", Sure: []string{
			"a capture of at least three periods, with stacks, to see what these steps do that others do not",
		}, Changes: "it never decides the verdict"},
		"rl-utilization": {Line: "devices idle more than a run of reinforcement learning should", Part: "idle time of the devices", Whole: "their windows", Gain: "the idle time", Bound: "numerator", Confidence: "certain", Sure: []string{
			"traces of trainer and inference engines together",
		}, Changes: "with gpu-idle over its limit it is told there"},
		"short-kernels": {Line: "kernels that run no longer than a launch takes", Part: "runs of kernels that are shorter than the given duration on average", Whole: "the runs of all kernels", Gain: "none", Confidence: "hint", Sure: []string{
			"a timeline, for whether the GPU waits between them",
		}, Changes: "it never says what bounds the run"},
		"sleep-wake-share": {Line: "sleeping and waking takes much of the step", Part: "putting the inference engine to sleep and waking it", Whole: "the step", Gain: "the phase's own time; what went on beside it would still take its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"the same phases over more steps, and with the devices of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"slow-steps": {Line: "later steps that are far over the median", Part: "later steps that are over the median by margin or more", Whole: "all steps that are not warm-up or cut", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, for of few one is chance",
		}, Changes: "it never decides the verdict"},
		"steady-steps": {Line: "the median step is bound by something else than the window", Part: "what bounds the median step", Whole: "what bounds the window", Gain: "none", Confidence: "likely", Sure: []string{
			"record steady steps and nothing else",
		}, Changes: "it says what would decide without warm-up and what lies between steps"},
		"straggling-rank": {Line: "one rank keeps the others waiting", Part: "time for which ranks communicate longer than the rank that arrives last", Whole: "the windows of all devices", Gain: "the time for which the others waited", Confidence: "likely", Sure: []string{
			"the traces of all ranks of the same steps",
			"a step without communication (no_sync), to see whether that rank is slower by itself",
		}, Changes: "it stands in the place of exposed-communication where it is half of that or more, and decides the verdict (communication-bound) as that does"},
		"sums-only": {Line: "sums without a timeline", Part: "tables of sums", Gain: "none", Confidence: "certain", Sure: []string{
			"a timeline: a trace of torch.profiler, or an export of Nsight Systems",
		}, Changes: "any timeline among the inputs"},
		"synchronizing-calls": {Line: "calls that wait for the device hold the host back", Part: "time in which a thread that launches work was in a call that synchronizes", Whole: "the windows of all devices", Gain: "idle time that not waiting could have saved at best; of idle time that ends with late work as much as the call took, none twice", Confidence: "likely", Sure: []string{
			"with_stack=True (nsys --python-backtrace=cuda) to see which line waits",
			"remove the call and record again, for another wait may take its place",
		}, Changes: "it is a finding only over both limits; with gpu-idle over its limit it is told there"},
		"synchronous-copies": {Line: "copies that make the host wait", Part: "host time in copies by calls that wait for them", Whole: "the windows of all devices", Gain: "idle time that not waiting could have saved at best", Confidence: "likely", Sure: []string{
			"with_stack=True (nsys --python-backtrace=cuda) to see which line copies",
		}, Changes: "it is a finding only over both limits; with gpu-idle or exposed-copies over theirs it is told there"},
		"synchronous-memsets": {Line: "memsets that make the host wait", Part: "host time in memsets of pinned or managed memory by calls that wait for them", Whole: "the windows of all devices", Gain: "idle time that not waiting could have saved at best", Confidence: "likely", Sure: []string{
			"nsys --python-backtrace=cuda to see which line fills memory",
		}, Changes: "it is a finding only over both limits; with gpu-idle or exposed-copies over theirs it is told there"},
		"tables-empty": {Line: "tables without rows", Part: "rows", Gain: "none", Confidence: "certain", Sure: []string{
			"nsys profile --trace=cuda,nvtx,osrt",
		}, Changes: "any row"},
		"tiny-kernels": {Line: "kernels too short to fill the device", Part: "summed durations of kernels under the given time", Whole: "the summed durations of all kernels", Gain: "none", Confidence: "likely", Sure: []string{
			"ncu --set full on the most frequent of them, for how much of the device they fill",
		}, Changes: "it never decides the verdict"},
		"too-little-gpu-work": {Line: "too few GPU events for shares to mean anything", Part: "GPU events; windows of all devices", Whole: "the limit of events; the spans of the captures", Gain: "none", Confidence: "certain", Sure: []string{
			"record several whole steps after warm-up",
		}, Changes: "min_events GPU events and min_share of the capture, both; until then all other findings are for information"},
		"training-share": {Line: "training takes more of the step than is usual", Part: "training", Whole: "the step", Gain: "none", Confidence: "likely", Sure: []string{
			"the same phases over more steps, and with the devices of trainer and inference engines",
		}, Changes: "it is for information"},
		"uneven-ranks": {Line: "one rank computes more than the others", Part: "compute time of the rank with most, less the mean", Whole: "compute time of the rank with most", Gain: "that difference, for a step is as long as its slowest rank", Confidence: "likely", Sure: []string{
			"the number of tokens or samples of each rank, and the clocks of each device (nvidia-smi)",
		}, Changes: "it never decides the verdict"},
		"uneven-steps": {Line: "steps that vary", Part: "median of how far steps are from their median", Whole: "that median, of steps that are not warm-up or cut", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, for of few one is chance",
		}, Changes: "it never decides the verdict"},
		"wait-share": {Line: "trainer and rollouts wait for each other", Part: "waiting of the trainer for rollouts, or of rollouts for the trainer", Whole: "the step", Gain: "the phase's own time; what went on beside it would still take its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"the same phases over more steps, and with the devices of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"waiting": {Line: "functions that wait", Part: "time by the wall clock that functions took by themselves which wait", Whole: "that of all functions", Gain: "the waiting; where other threads or tasks worked meanwhile, less", Bound: "numerator", Confidence: "likely", Sure: []string{
			"a profile by the CPU clock beside that by the wall clock (yappi.set_clock_type), for what waits has no CPU time",
			"the number of requests under way, for a server that has none waits, too",
		}, Changes: "of a profile the first finding over its critical limit decides"},
		"waiting-calls": {Line: "the host waits in calls that synchronize", Part: "time of CUDA calls that synchronize", Whole: "the time of all CUDA calls, on all threads", Gain: "the waiting, less what kernels and copies sum to, where these are known; sums over threads", Confidence: "hint", Sure: []string{
			"a timeline, for only it tells whether the GPU worked meanwhile",
		}, Changes: "it is info where kernels and copies sum to as much as the waiting"},
		"warm-up-phases": {Line: "setup, compilation and capture of graphs in the capture", Part: "time of the devices in phases of setup, warm-up, compilation and capture of graphs", Whole: "the windows of all devices", Gain: "none", Confidence: "likely", Sure: []string{
			"record after warm-up",
		}, Changes: "from its warn limit on the verdict is of the rest, if enough is left; it never decides the verdict itself"},
		"warm-up-steps": {Line: "steps of warm-up in the capture", Part: "time of the steps of warm-up and of those that the profiler cut", Whole: "the time of all steps", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, after warm-up, and compare",
		}, Changes: "from its warn limit on the verdict is of the rest, if enough is left; it never decides the verdict itself"},
		"weight-sync-share": {Line: "weight sync takes much of the step", Part: "weight sync", Whole: "the step", Gain: "the phase's own time; what went on beside it would still take its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"the same phases over more steps, and with the devices of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"weight-sync-time": {Line: "weight syncs that take long", Part: "the median run of a weight sync", Whole: "the time given by under", Gain: "none", Confidence: "certain", Sure: []string{
			"the spans of the trainer beside those of the inference engines",
		}, Changes: "it never decides the verdict"},
	}
}

// builtInRemedies returns the remedies of remedies.yaml and their sources.
func builtInRemedies() remedyBook {
	return remedyBook{Sources: map[string]Source{
		"assay":            {Title: "assay: what it measures", URL: "README.md"},
		"cuda-best":        {Title: "NVIDIA: CUDA C++ Best Practices Guide", URL: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html"},
		"cuda-sync":        {Title: "NVIDIA: CUDA API synchronization behavior", URL: "https://docs.nvidia.com/cuda/cuda-runtime-api/api-sync-behavior.html"},
		"deepspeed":        {Title: "DeepSpeed: Configuration JSON", URL: "https://www.deepspeed.ai/docs/config-json/"},
		"jax-gpu":          {Title: "JAX: GPU performance tips", URL: "https://docs.jax.dev/en/latest/gpu_performance_tips.html"},
		"jax-memory":       {Title: "JAX: GPU memory allocation", URL: "https://docs.jax.dev/en/latest/201/gpu-memory.html"},
		"megatron":         {Title: "NVIDIA: Megatron Bridge, Communication Overlap", URL: "https://docs.nvidia.com/nemo/megatron-bridge/latest/training/communication-overlap.html"},
		"ncu":              {Title: "NVIDIA: Nsight Compute Profiling Guide", URL: "https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html"},
		"ncu-cli":          {Title: "NVIDIA: Nsight Compute CLI", URL: "https://docs.nvidia.com/nsight-compute/NsightComputeCli/index.html"},
		"nemo-gym":         {Title: "NeMo Gym: Performance Profiling", URL: "https://docs.nvidia.com/nemo/gym/latest/index.html"},
		"nemo-rl-async":    {Title: "NeMo RL: Train with Async GRPO", URL: "https://docs.nvidia.com/nemo/rl/latest/guides/async-grpo.html"},
		"nemo-rl-refit":    {Title: "NeMo RL: Weight Refit, Choosing a Transport", URL: "https://docs.nvidia.com/nemo/rl/latest/guides/refit.html"},
		"nsys":             {Title: "NVIDIA: Nsight Systems User Guide", URL: "https://docs.nvidia.com/nsight-systems/UserGuide/index.html"},
		"nsys-rules":       {Title: "NVIDIA: Nsight Systems Analysis Guide", URL: "https://docs.nvidia.com/nsight-systems/AnalysisGuide/index.html"},
		"nvidia-counters":  {Title: "NVIDIA: permission to use GPU performance counters", URL: "https://developer.nvidia.com/ERR_NVGPUCTRPERM"},
		"python-gc":        {Title: "Python: gc, Garbage Collector interface", URL: "https://docs.python.org/3/library/gc.html"},
		"sfllm":            {Title: "SFLLM: Performance Tuning Guide", URL: "https://github.com/wejoncy/sfllm/blob/HEAD/docs/performance-tuning.md"},
		"sglang":           {Title: "SGLang: Benchmark and Profiling", URL: "https://docs.sglang.io/docs/developer_guide/benchmark_and_profiling"},
		"sglang-arguments": {Title: "SGLang: Server Arguments", URL: "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/server_args.py"},
		"sglang-tuning":    {Title: "SGLang: Hyperparameter Tuning", URL: "https://docs.sglang.io/docs/advanced_features/hyperparameter_tuning"},
		"skyrl":            {Title: "SkyRL: Benchmarking and Performance Tuning Guide", URL: "https://github.com/ai-blaise/SkyRL/blob/HEAD/skyrl-train/docs/BENCHMARKING_GUIDE.md"},
		"skyrl-async":      {Title: "SkyRL: Fully Async Training", URL: "https://docs.skyrl.ai/docs/tutorials/fully_async"},
		"skyrl-config":     {Title: "SkyRL: Configuration Overview", URL: "https://docs.skyrl.ai/docs/configuration/config"},
		"skyrl-inference":  {Title: "SkyRL: Inference Architecture", URL: "https://docs.skyrl.ai/docs/getting-started/inference_architecture"},
		"skyrl-placement":  {Title: "SkyRL: Model Placement and Colocation", URL: "https://docs.skyrl.ai/docs/configuration/placement"},
		"slime":            {Title: "slime: Quick Start", URL: "https://github.com/THUDM/slime/blob/main/docs/en/get_started/quick_start.md"},
		"slime-arguments":  {Title: "slime: arguments", URL: "https://github.com/THUDM/slime/blob/main/slime/utils/arguments.py"},
		"slime-faq":        {Title: "slime: FAQ", URL: "https://github.com/THUDM/slime/blob/main/docs/en/get_started/qa.md"},
		"torch-compile":    {Title: "PyTorch: torch.compile", URL: "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"},
		"torch-cuda":       {Title: "PyTorch: CUDA semantics", URL: "https://docs.pytorch.org/docs/stable/notes/cuda.html"},
		"torch-data":       {Title: "PyTorch: torch.utils.data", URL: "https://docs.pytorch.org/docs/stable/data.html"},
		"torch-ddp":        {Title: "PyTorch: DistributedDataParallel", URL: "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html"},
		"torch-fsdp":       {Title: "PyTorch: FSDP Notes", URL: "https://docs.pytorch.org/docs/stable/notes/fsdp.html"},
		"torch-fsdp-api":   {Title: "PyTorch: FullyShardedDataParallel", URL: "https://docs.pytorch.org/docs/stable/fsdp.html"},
		"torch-fsdp2":      {Title: "PyTorch: fully_shard", URL: "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html"},
		"torch-memory":     {Title: "PyTorch: Understanding CUDA Memory Usage", URL: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html"},
		"torch-pinned":     {Title: "PyTorch: pin_memory() and non_blocking", URL: "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"},
		"torch-profiler":   {Title: "PyTorch: torch.profiler", URL: "https://docs.pytorch.org/docs/stable/profiler.html"},
		"torch-sdpa":       {Title: "PyTorch: scaled_dot_product_attention", URL: "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html"},
		"torch-tuning":     {Title: "PyTorch: Performance Tuning Guide", URL: "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
		"torch-views":      {Title: "PyTorch: Tensor Views", URL: "https://docs.pytorch.org/docs/stable/tensor_view.html"},
		"verl":             {Title: "veRL: Performance Tuning Guide", URL: "https://verl.readthedocs.io/en/latest/perf/perf_tuning.html"},
		"verl-async":       {Title: "veRL: V1 Async Trainer", URL: "https://verl.readthedocs.io/en/latest/advance/v1_async_trainer.html"},
		"verl-config":      {Title: "veRL: rollout.yaml", URL: "https://github.com/verl-project/verl/blob/main/verl/trainer/config/rollout/rollout.yaml"},
		"verl-weights":     {Title: "veRL: Checkpoint Engine", URL: "https://github.com/verl-project/verl/blob/main/verl/checkpoint_engine/README.md"},
		"vllm":             {Title: "vLLM: Profiling vLLM", URL: "https://docs.vllm.ai/en/stable/contributing/profiling/"},
		"vllm-memory":      {Title: "vLLM: Conserving Memory", URL: "https://docs.vllm.ai/en/stable/configuration/conserving_memory/"},
		"vllm-tuning":      {Title: "vLLM: Optimization and Tuning", URL: "https://docs.vllm.ai/en/stable/configuration/optimization/"},
	}, Otherwise: map[string]string{
		"allocating":             "torch-cuda",
		"allocation-calls":       "torch-cuda",
		"allocator-churn":        "torch-cuda",
		"capture-quality":        "assay",
		"clocks-implausible":     "torch-profiler",
		"communication-work":     "assay",
		"compute-bound":          "torch-tuning",
		"copy-operators":         "torch-tuning",
		"copy-work":              "torch-pinned",
		"counters-missing":       "ncu-cli",
		"data-loading":           "torch-data",
		"data-share":             "skyrl",
		"device-records-missing": "torch-profiler",
		"device-time-missing":    "torch-profiler",
		"dominant-kernel":        "ncu",
		"exposed-communication":  "assay",
		"exposed-copies":         "torch-pinned",
		"function-self":          "nemo-gym",
		"function-total":         "nemo-gym",
		"generation-share":       "skyrl",
		"gpu-idle":               "torch-tuning",
		"graphs-hide-kernels":    "nsys",
		"growing-average":        "nemo-gym",
		"host-work":              "torch-tuning",
		"kernels-balanced":       "ncu",
		"kernels-compute-bound":  "ncu",
		"kernels-latency-bound":  "ncu",
		"kernels-memory-bound":   "ncu",
		"kernels-near-limit":     "ncu",
		"kernels-unrecorded":     "nsys",
		"largest-allocator":      "torch-memory",
		"launch-bound":           "torch-tuning",
		"long-gaps":              "nsys-rules",
		"low-occupancy":          "ncu",
		"low-utilization":        "nsys-rules",
		"many-cheap-calls":       "nemo-gym",
		"memory-bandwidth":       "ncu",
		"memory-exhausted":       "torch-memory",
		"memory-fragmented":      "torch-cuda",
		"memory-growth":          "torch-memory",
		"memory-owner":           "torch-memory",
		"memory-pressure":        "torch-memory",
		"memory-unrecorded":      "torch-memory",
		"nested-cost":            "nemo-gym",
		"no-gpu-time":            "torch-profiler",
		"opaque-graphs":          "nsys",
		"pageable-async-copies":  "nsys-rules",
		"partial-waves":          "ncu",
		"periodic-stalls":        "skyrl",
		"rl-utilization":         "skyrl",
		"short-kernels":          "cuda-best",
		"sleep-wake-share":       "skyrl",
		"slow-steps":             "skyrl",
		"steady-steps":           "torch-profiler",
		"straggling-rank":        "assay",
		"sums-only":              "assay",
		"synchronizing-calls":    "nsys-rules",
		"synchronous-copies":     "nsys-rules",
		"synchronous-memsets":    "nsys-rules",
		"tables-empty":           "nsys",
		"tiny-kernels":           "cuda-best",
		"too-little-gpu-work":    "torch-profiler",
		"training-share":         "skyrl",
		"uneven-ranks":           "assay",
		"uneven-steps":           "skyrl",
		"wait-share":             "skyrl",
		"waiting":                "nemo-gym",
		"waiting-calls":          "torch-tuning",
		"warm-up-phases":         "torch-profiler",
		"warm-up-steps":          "torch-profiler",
		"weight-sync-share":      "skyrl",
		"weight-sync-time":       "skyrl",
	}, Remedies: map[string]*remedyEntry{
		"allocate-less": {Text: "keep the allocator from calling the driver within steps: warm up with the largest shapes, PYTORCH_ALLOC_CONF=expandable_segments:True (in older PyTorch PYTORCH_CUDA_ALLOC_CONF), no torch.cuda.empty_cache() in the loop", From: "torch-cuda", Kept: []string{
			"gpu-idle",
			"allocation-calls",
			"allocating",
		}, Plain: "allocate-once"},
		"allocate-once": {Text: "keep cudaMalloc and cudaFree out of the loop: allocate once, or from a pool (cudaMallocAsync, with cudaMemPoolAttrReleaseThreshold raised)", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"allocation-calls",
			"allocating",
		}},
		"begin-earlier": {Text: "begin the capture before the work is launched, with a step of warm-up, so that its launches are known", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}},
		"busy-is-not-efficient": {Text: "busy is not efficient: compare the achieved FLOP/s with the device's peak before adding hardware", From: "ncu", Kept: []string{
			"compute-bound",
		}},
		"compare-tables-of-ranks": {Text: "compare the tables of all ranks: a straggler shows as long communication kernels on the others", From: "assay", Kept: []string{
			"communication-work",
		}},
		"compare-the-same-steps": {Text: "compare the same steps of all ranks: a straggler shows as long communication kernels on the others", From: "assay", Kept: []string{
			"exposed-communication",
		}},
		"copy-and-go-on": {Text: "do not let the host wait for copies: pinned memory (cudaMallocHost, cudaHostRegister) with cudaMemcpyAsync, and read results back only when they are needed", From: "cuda-best", Kept: []string{
			"gpu-idle",
		}},
		"copy-asynchronously": {Text: "copy asynchronously, on a stream, from and to pinned memory: cudaMemcpyAsync with memory of cudaMallocHost or cudaHostRegister; in PyTorch pin_memory=True and tensor.to(device, non_blocking=True)", From: "nsys-rules", Kept: []string{
			"synchronous-copies",
		}, Plain: "copy-by-streams"},
		"copy-by-streams": {Text: "copy asynchronously, on a stream, from and to pinned memory: cudaMemcpyAsync with memory of cudaMallocHost or cudaHostRegister", From: "nsys-rules", Kept: []string{
			"synchronous-copies",
		}},
		"copy-from-pinned": {Text: "copy from pinned memory and do not wait: cudaMallocHost or cudaHostRegister, then cudaMemcpyAsync; copies from pageable memory are slow and hold the host", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"copy-less-on-device": {Text: "copy less within the device: views (view, expand, narrow, unbind) share the data and cost nothing; .contiguous() of what is not, .clone() and torch.cat copy", From: "torch-views", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "swap-buffers"},
		"copy-less-to-device": {Text: "send less: keep constants on the GPU, send integers and raw images and convert them there; if parameters or the optimizer are offloaded to the host, offload less", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "send-what-changes"},
		"copy-less-to-peers": {Text: "move less between devices: keep the layers that follow each other on one device, and use DistributedDataParallel in place of nn.DataParallel", From: "torch-cuda", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "stay-on-one-device"},
		"copy-pinned": {Text: "copy from pinned memory and do not wait: pin_memory=True in the DataLoader, tensor.to(device, non_blocking=True)", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "copy-from-pinned"},
		"copy-pinned-not-pageable": {Text: "copy from pinned memory and do not wait: pin_memory=True in the DataLoader, tensor.to(device, non_blocking=True); copies from pageable memory are slow and block the host", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "copy-from-pinned"},
		"copy-without-waiting": {Text: "do not let the host wait for copies: pinned memory and non_blocking=True, and read results back only when they are needed", From: "torch-pinned", Kept: []string{
			"gpu-idle",
		}, Plain: "copy-and-go-on"},
		"ddp-buckets": {Text: "with DDP, reduce early and in good sizes: tune bucket_cap_mb, set gradient_as_bucket_view=True and static_graph=True, use no_sync() while accumulating gradients", From: "torch-ddp", Of: "ddp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"ddp-send-less": {Text: "with DDP, send less: model.register_comm_hook(None, bf16_compress_hook), of torch.distributed.algorithms.ddp_comm_hooks.default_hooks, reduces gradients in bfloat16", From: "torch-ddp", Of: "ddp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"deepspeed-overlap": {Text: "in DeepSpeed, set \"overlap_comm\": true in zero_optimization and tune reduce_bucket_size; of stage 3 raise stage3_prefetch_bucket_size, stage3_max_live_parameters and stage3_max_reuse_distance where memory allows, for smaller values communicate more", From: "deepspeed", With: []string{
			"deepspeed",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"even-out-the-work": {Text: "give all ranks the same work: batches by their number of tokens in place of samples (sequence packing, sorting by length), pipeline stages of equal time, experts that are balanced; if the work is the same, look for a throttled device (nvidia-smi -q -d PERFORMANCE)", From: "torch-tuning", Kept: []string{
			"uneven-ranks",
		}},
		"fill-asynchronously": {Text: "fill asynchronously: cudaMemsetAsync on the stream that uses the memory", From: "nsys-rules", Kept: []string{
			"synchronous-memsets",
		}},
		"fill-less": {Text: "fill less: optimizer.zero_grad(set_to_none=True), torch.empty in place of torch.zeros where all is overwritten, preallocated buffers", From: "torch-tuning", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "fill-what-is-read"},
		"fill-on-the-host": {Text: "fill pinned memory on the host (memset), or fill on the device what the device alone uses", From: "cuda-sync", Kept: []string{
			"synchronous-memsets",
		}},
		"fill-what-is-read": {Text: "fill less: no memset of what is overwritten before it is read", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"find-the-late-rank": {Text: "find what makes rank {rank} late before tuning the network: more or longer inputs, a host that is late (data loading, synchronization), a slower or throttled GPU, work that only it does (logging, checkpoints)", From: "assay", Kept: []string{
			"exposed-communication",
			"straggling-rank",
		}},
		"find-what-is-periodic": {Text: "see what happens every {n} steps: a checkpoint, evaluation, logging with .item(), torch.cuda.empty_cache(), garbage collection of Python (gc.freeze() after warm-up, or gc.disable() and gc.collect() at set steps)", From: "python-gc", Kept: []string{
			"periodic-stalls",
		}},
		"find-who-copies": {Text: "find who copies: in the trace, follow the arrow from the largest copy to its launch and to the operator around that", From: "assay", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"fsdp-prefetch": {Text: "with FSDP, overlap collectives: keep backward_prefetch=BackwardPrefetch.BACKWARD_PRE and limit_all_gathers=True, and set forward_prefetch=True where layers run in the same order each time; with FSDP2 set_modules_to_forward_prefetch and set_modules_to_backward_prefetch", From: "torch-fsdp", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp-send-less": {Text: "with FSDP, send less: MixedPrecision(reduce_dtype=torch.bfloat16), and ShardingStrategy.SHARD_GRAD_OP in place of FULL_SHARD where memory allows", From: "torch-fsdp-api", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp2-reshard": {Text: "with FSDP2, keep parameters between forward and backward where memory allows: fully_shard(reshard_after_forward=False) spares the all-gather in backward", From: "torch-fsdp2", With: []string{
			"fsdp",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fuse-by-hand": {Text: "fuse kernels that follow each other, so that data passes through memory once", From: "cuda-best", Kept: []string{
			"dominant-kernel",
			"tiny-kernels",
			"memory-bandwidth",
		}},
		"fuse-copies": {Text: "fuse: torch.compile and fused operators leave out the intermediate tensors that are copied", From: "torch-compile", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "none"},
		"fuse-small-kernels": {Text: "torch.compile fuses chains of small kernels into fewer passes over memory", From: "torch-compile", Kept: []string{
			"dominant-kernel",
			"tiny-kernels",
			"memory-bandwidth",
		}, Plain: "fuse-by-hand"},
		"fused-attention": {Text: "use a fused attention: torch.nn.functional.scaled_dot_product_attention with the flash backend, or FlashAttention", From: "torch-sdpa", Kept: []string{
			"dominant-kernel",
		}},
		"gains-are-in-kernels": {Text: "the GPU is kept busy; further gains are in the kernels: lower precision, fused kernels, less recomputation", From: "torch-tuning", Kept: []string{
			"compute-bound",
		}},
		"give-all-ranks": {Text: "give assay the traces of all ranks: a straggler shows as long communication kernels on the others", From: "assay", Kept: []string{
			"exposed-communication",
		}},
		"give-cores": {Text: "give the thread a core: raise the CPU limit of the container, pin the process to the GPU's NUMA node (numactl --cpunodebind=N --membind=N), and lower OMP_NUM_THREADS and the number of workers where they take all cores; if it waited instead, record the calls it waits in (nsys --trace=osrt)", From: "torch-tuning", Kept: []string{
			"gpu-idle",
		}},
		"hidden-is-cheap": {Text: "see how much of it compute hides; hidden communication costs little", From: "assay", Kept: []string{
			"dominant-kernel",
		}},
		"jax-memory": {Text: "in JAX, let it allocate once: no XLA_PYTHON_CLIENT_PREALLOCATE=false and no XLA_PYTHON_CLIENT_ALLOCATOR=platform, which is very slow; XLA_CLIENT_MEM_FRACTION (in older versions XLA_PYTHON_CLIENT_MEM_FRACTION) is the share of memory that it takes, .75 by default: lower it where others need the GPU", From: "jax-memory", With: []string{
			"jax",
		}, Rules: []string{
			"allocation-calls",
			"allocating",
			"memory-exhausted",
			"memory-pressure",
		}},
		"jax-overlap": {Text: "in JAX, let collectives overlap with compute: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true, and combine small ones by --xla_gpu_all_gather_combine_threshold_bytes, --xla_gpu_reduce_scatter_combine_threshold_bytes and --xla_gpu_all_reduce_combine_threshold_bytes", From: "jax-gpu", With: []string{
			"jax",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"keep-pinned": {Text: "keep pinned buffers and reuse them: to pin memory takes long", From: "cuda-best", Kept: []string{
			"pageable-async-copies",
		}},
		"launch-less": {Text: "launch less: torch.compile(model, mode=\"reduce-overhead\") replays many kernels with one launch, by CUDA graphs; inference servers capture them for each batch size up to a limit", From: "torch-compile", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
		}, Plain: "launch-less-by-graphs"},
		"launch-less-by-graphs": {Text: "launch less: capture launches that come again and again in a CUDA graph (cudaStreamBeginCapture), and replay them with one call (cudaGraphLaunch)", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
		}},
		"launch-more-each": {Text: "give each launch more work: larger batches (checkpointed activations make room for them), fused operators for activations, optimizers (fused=True) and attention", From: "torch-tuning", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}, Plain: "launch-more-work"},
		"launch-more-work": {Text: "give each launch more work: larger batches, and one kernel in place of several short ones that follow each other", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"leave-out-the-start": {Text: "if they belong to the program's start: leave them out of the capture, {how}", From: "torch-profiler", Kept: []string{
			"long-gaps",
		}},
		"load-data-ahead": {Text: "load data ahead of its use: raise num_workers and prefetch_factor of the DataLoader, set pin_memory=True and persistent_workers=True", From: "torch-data", Kept: []string{
			"gpu-idle",
			"data-loading",
		}, Plain: "read-ahead"},
		"load-data-sooner": {Text: "if the host waits for data: raise num_workers and prefetch_factor of the DataLoader, set pin_memory=True and persistent_workers=True", From: "torch-data", Kept: []string{
			"gpu-idle",
			"host-work",
		}, Plain: "read-ahead"},
		"measure-bandwidth": {Text: "measure how near they come to the memory's bandwidth: ncu --section SpeedOfLight --section MemoryWorkloadAnalysis on the largest of them", From: "ncu", Kept: []string{
			"memory-bandwidth",
		}},
		"megatron-overlap": {Text: "in Megatron, set overlap_grad_reduce and overlap_param_gather (with the distributed optimizer) and tp_comm_overlap (with sequence parallelism), on the command line --overlap-grad-reduce --overlap-param-gather --tp-comm-overlap; where pipeline stages wait, a virtual pipeline size", From: "megatron", With: []string{
			"megatron",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"move-less": {Text: "move less: bfloat16 in place of float32, fused optimizers (fused=True) and losses, no copies that only change a layout (.contiguous(), transposes), recompute what is cheaper than reading it", From: "torch-tuning", Kept: []string{
			"memory-bandwidth",
		}, Plain: "move-less-by-hand"},
		"move-less-by-hand": {Text: "move less: smaller types where accuracy allows, accesses that coalesce, and recompute what is cheaper than reading it", From: "cuda-best", Kept: []string{
			"memory-bandwidth",
		}},
		"need-less-memory": {Text: "need less: smaller micro batches with gradient accumulation, activation checkpointing (torch.utils.checkpoint), sharded optimizer states (FSDP, ZeRO); in servers a smaller KV cache (vLLM --gpu-memory-utilization, SGLang --mem-fraction-static)", From: "torch-tuning", Kept: []string{
			"memory-pressure",
		}},
		"nemo-gym-servers": {Text: "in NeMo Gym, profile the resource servers, which rollouts wait for: +profiling_enabled=true +profiling_results_dirpath=DIR writes where their CPU time goes, and assay reads it", From: "nemo-gym", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"wait-share",
			"rl-utilization",
			"generation-share",
		}},
		"nemo-rl-async": {Text: "in NeMo RL, let rollouts go on while it trains: grpo.async_grpo.enabled=true and in_flight_weight_updates=true, with policy.generation.vllm_cfg.async_engine=true, policy.generation.colocated.enabled=false and loss_fn.use_importance_sampling_correction=true; begin with max_trajectory_age_steps=1", From: "nemo-rl-async", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"nemo-rl-refit": {Text: "in NeMo RL, with policy.generation.colocated.enabled=true weights go by CUDA IPC: policy.refit_persistent_ipc_buffers=true keeps the buffers, of policy.refit_buffer_size_gb; without, set policy.generation.refit_transport: nccl_reshard for very large models, nixl on a fast RDMA network", From: "nemo-rl-refit", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"overlap-copies": {Text: "overlap them with compute: prefetch the next batch on a stream of its own, tensor.to(device, non_blocking=True)", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "overlap-copies-by-streams"},
		"overlap-copies-by-streams": {Text: "overlap them with compute: copy the next part with cudaMemcpyAsync, from pinned memory and on a stream of its own, while kernels work on this one", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"pack-by-hand": {Text: "copy once in place of many times: gather small pieces in one buffer and send that; each copy has an overhead however small it is", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"pack-small-copies": {Text: "copy once in place of many times: gather small tensors into one (torch.cat, torch._utils._flatten_dense_tensors) and send that; each copy has an overhead however small it is", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "pack-by-hand"},
		"permit-tracing": {Text: "give the process the permission to trace, where the profiler says that it lacks it (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES): run it as administrator, load the driver with NVreg_RestrictProfilingToAdminUsers=0, or start the container with --cap-add=SYS_ADMIN", From: "nvidia-counters", Kept: []string{
			"no-gpu-time",
			"kernels-unrecorded",
		}},
		"pin-by-hand": {Text: "give asynchronous copies pinned memory, of cudaMallocHost or cudaHostRegister: from and to pageable memory cudaMemcpyAsync holds the host and runs at a fraction of the speed", From: "cuda-sync", Kept: []string{
			"pageable-async-copies",
		}},
		"pin-for-async": {Text: "give asynchronous copies pinned memory: pin_memory=True in the DataLoader or torch.empty(..., pin_memory=True), then non_blocking=True, both ways; in C++ cudaMallocHost or cudaHostRegister; from and to pageable memory cudaMemcpyAsync holds the host and runs at a fraction of the speed", From: "cuda-sync", Kept: []string{
			"pageable-async-copies",
		}, Plain: "pin-by-hand"},
		"profile-one-kernel": {Text: "profile this one kernel with Nsight Compute (ncu --kernel-name) to see whether it is bound by arithmetic, memory or latency", From: "ncu-cli", Kept: []string{
			"dominant-kernel",
		}},
		"read-ahead": {Text: "if the host waits for data: read and prepare the next on another thread while the GPU works", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"host-work",
			"data-loading",
		}},
		"read-back-by-streams": {Text: "if the copies are needed: into pinned memory, with cudaMemcpyAsync on a stream of their own, and synchronized before the host reads them", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"read-back-less": {Text: "read results back less often: .item(), .cpu(), .tolist() and print of a tensor copy to the host and wait for it; log every few steps, and keep metrics on the GPU until then", From: "torch-tuning", Kept: []string{
			"exposed-copies",
			"copy-work",
			"pageable-async-copies",
		}, Plain: "read-back-seldom"},
		"read-back-pinned": {Text: "if the copies are needed (offloading, checkpoints): into pinned memory with non_blocking=True, on a stream of their own, and synchronized before the host reads them", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "read-back-by-streams"},
		"read-back-seldom": {Text: "read results back less often: a copy to the host waits for the work before it; keep results on the GPU and read them every few iterations", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
			"pageable-async-copies",
		}},
		"record-graph-nodes": {Text: "record the nodes of graphs: with Nsight Systems --cuda-graph-trace=node, with PyTorch a newer CUPTI", From: "nsys", Kept: []string{
			"gpu-idle",
			"opaque-graphs",
		}},
		"remove-synchronization": {Text: "remove synchronization from the step: .item(), .cpu(), .tolist(), print of a tensor, torch.cuda.synchronize() and boolean masks make the host wait for the GPU", From: "torch-tuning", Kept: []string{
			"gpu-idle",
			"synchronizing-calls",
			"waiting-calls",
		}, Plain: "wait-less"},
		"reuse-pinned": {Text: "keep pinned buffers and reuse them: tensor.pin_memory() just before a copy can take longer than the copy without it", From: "torch-pinned", Kept: []string{
			"pageable-async-copies",
		}, Plain: "keep-pinned"},
		"see-the-long-gaps": {Text: "see in the trace what the host does in them: a checkpoint, evaluation, compilation, graph capture and the start of data loaders are the usual ones", From: "nsys-rules", Kept: []string{
			"long-gaps",
		}},
		"see-the-low-stretches": {Text: "see in the trace what the host does there: the start and end of a capture, data loading and evaluation are the usual ones; what is no part of the work to be judged is best left out of the capture", From: "nsys-rules", Kept: []string{
			"low-utilization",
		}},
		"see-what-holds": {Text: "see what the work waited for: a copy or collective on another stream (cudaStreamWaitEvent), a large copy on its own stream, or a host function; start that earlier, or let other work run meanwhile", From: "cuda-best", Kept: []string{
			"gpu-idle",
		}},
		"see-what-the-host-does": {Text: "see what the host does in {what}, for it launches nothing meanwhile: do that beside the GPU's work (another thread or process, or after the next launches), less often, or not at all; a checkpoint, logging, evaluation, compilation and the program's start are the usual ones", From: "torch-tuning", Kept: []string{
			"gpu-idle",
			"long-gaps",
		}},
		"see-what-the-system-waits-for": {Text: "see what the call of the operating system waits for: pthread_cond_wait, futex and poll wait for another thread or process (workers of a data loader, a queue, a lock), read and write for storage or a socket; give that work to more workers, or start it earlier", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"see-who-has-memory": {Text: "see who has it: torch.cuda.memory._record_memory_history() and torch.cuda.memory._dump_snapshot(\"snapshot.pickle\"), which assay reads", From: "torch-memory", Kept: []string{
			"memory-pressure",
		}},
		"send-less": {Text: "send less: smaller tensor-parallel groups, kept within one node", From: "megatron", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"send-what-changes": {Text: "send less: keep on the GPU what does not change, send small types and convert them there", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"sfllm-graphs": {Text: "in SFLLM, see that decode runs in CUDA graphs: no --disable-cuda-graph, and --cuda-graph-max-bs at least the batch size that runs", From: "sfllm", With: []string{
			"sfllm",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"sglang-fill": {Text: "in SGLang, keep the batch large: a queue of 100 to 2000 requests (#queue-req in its log), --mem-fraction-static raised until 5 to 8 GB are left (available_gpu_mem), and --schedule-conservativeness 0.3 where token usage is below 0.9 and requests queue", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"sglang-graphs": {Text: "in SGLang, see that decode runs in CUDA graphs: no --cuda-graph-backend-decode=disabled, and --cuda-graph-max-bs-decode at least the batch size that runs (in older versions no --disable-cuda-graph, and --cuda-graph-max-bs); keep the overlap scheduler on (no --disable-overlap-schedule)", From: "sglang-arguments", With: []string{
			"sglang",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"sglang-less-memory": {Text: "in SGLang, if memory runs out in prefill lower --chunked-prefill-size (4096 or 2048), in decode --max-running-requests, in both --mem-fraction-static (0.8 or 0.7), which leaves the KV cache less", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"skyrl-async": {Text: "in SkyRL, let generation go on while it trains: the fully async trainer, on GPUs of its own (trainer.placement.colocate_all=false), with trainer.fully_async.max_staleness_steps and num_parallel_generation_workers as large as the algorithm bears", From: "skyrl-async", With: []string{
			"skyrl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"skyrl-chunks": {Text: "in SkyRL, send weights by CUDA IPC in larger chunks: generator.inference_engine.weight_transfer_threshold_cuda_ipc_GB, 1.0 by default", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"skyrl-graphs": {Text: "in SkyRL, let engines use CUDA graphs: generator.inference_engine.enforce_eager=false; it is true by default, for stability, so watch convergence in long runs", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"skyrl-micro-batches": {Text: "in SkyRL, larger micro batches: trainer.micro_train_batch_size_per_gpu and trainer.micro_forward_batch_size_per_gpu, both 1 by default, with trainer.use_sample_packing=true and trainer.gradient_checkpointing=true for the memory", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"training-share",
		}},
		"skyrl-no-sleep": {Text: "in SkyRL, engines on GPUs of their own (trainer.placement.colocate_all=false) need neither sleep nor wake up; there optimizer_config.offload_after_step=false spares the copies of its state", From: "skyrl-placement", With: []string{
			"skyrl",
		}, Rules: []string{
			"sleep-wake-share",
		}},
		"skyrl-rollout": {Text: "in SkyRL, raise gpu_memory_utilization, max_num_seqs and max_num_batched_tokens of generator.inference_engine, and num_engines for more engines (in older versions these stand under generator)", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"skyrl-weights": {Text: "in SkyRL, let trainer and engines share GPUs (trainer.placement.colocate_all=true), so that weights go by CUDA IPC; on GPUs of their own they are broadcast by NCCL", From: "skyrl-inference", With: []string{
			"skyrl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"slime-fewer-tokens": {Text: "in slime, lower --max-tokens-per-gpu, which needs --use-dynamic-batch-size; where one response alone is too long raise --context-parallel-size", From: "slime-faq", With: []string{
			"slime",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"slime-less-memory": {Text: "in slime with --colocate, leave Megatron room: --sglang-mem-fraction-static of 0.8 or less", From: "slime", With: []string{
			"slime",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"slime-partial": {Text: "in slime, sample more than is needed and keep what is not done for the next rollout: --over-sampling-batch-size above --rollout-batch-size, with --partial-rollout", From: "slime", With: []string{
			"slime",
		}, Rules: []string{
			"generation-share",
			"wait-share",
		}},
		"slime-training": {Text: "in slime, batch by tokens: --use-dynamic-batch-size with --max-tokens-per-gpu as large as memory allows", From: "slime-faq", With: []string{
			"slime",
		}, Rules: []string{
			"training-share",
		}},
		"slime-weights": {Text: "in slime, send weights in larger buckets where memory allows: --update-weight-buffer-size, in bytes, above all for mixtures of experts", From: "slime-arguments", With: []string{
			"slime",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"stay-on-one-device": {Text: "move less between devices: divide the work so that what follows each other stays on one", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"stop-other-profilers": {Text: "stop every other profiler of this GPU (nsys, ncu, DCGM profiling metrics, a second torch.profiler) and record again: {why}", From: "nsys", Kept: []string{
			"no-gpu-time",
		}},
		"swap-buffers": {Text: "copy less within the device: swap pointers in place of contents, and let kernels write where the next one reads", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"tensor-cores": {Text: "check that it runs on tensor cores: bfloat16 or fp8 inputs, or torch.set_float32_matmul_precision(\"high\"), and dimensions that are multiples of 8", From: "torch-tuning", Kept: []string{
			"dominant-kernel",
		}, Plain: "tensor-cores-by-type"},
		"tensor-cores-by-type": {Text: "check that it runs on tensor cores: half, bfloat16 or TF32 inputs (of cuBLAS CUBLAS_TF32_TENSOR_OP_MATH), and dimensions that are multiples of 8", From: "cuda-best", Kept: []string{
			"dominant-kernel",
		}},
		"tune-the-communication": {Text: "the ranks wait about equally, so tune the communication itself: overlap it, or send less", From: "assay", Kept: []string{
			"exposed-communication",
		}},
		"verl-async": {Text: "in veRL, let generation go on while it trains: trainer.use_v1=True with trainer.v1.trainer_mode=colocate_async on the same GPUs, or separate_async on others; trainer.v1.sampler.max_off_policy_threshold bounds how old samples may be", From: "verl-async", With: []string{
			"verl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"verl-buckets": {Text: "in veRL, send weights in larger buckets where memory allows: actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes; and leave layered_summon off, which saves memory and is slower", From: "verl-config", With: []string{
			"verl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"verl-less-memory": {Text: "in veRL, lower actor_rollout_ref.rollout.gpu_memory_utilization; of the trainer enable_gradient_checkpointing=True and enable_activation_offload=True under actor_rollout_ref.model, and actor_rollout_ref.actor.entropy_checkpointing=True; shorter cudagraph_capture_sizes, for graphs stay on the GPU while it trains", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"verl-rollout": {Text: "in veRL, fill the rollout's GPU: raise actor_rollout_ref.rollout.gpu_memory_utilization (0.5 to 0.7 where the trainer shares it) and, where the KV cache is not full, max_num_seqs or max_num_batched_tokens (over 2048); where memory allows a smaller tensor_model_parallel_size gives more replicas", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"verl-training": {Text: "in veRL, pack and batch by tokens: use_remove_padding=True, use_dynamic_bsz=True and actor_rollout_ref.actor.ppo_max_token_len_per_gpu at least twice prompt and response; with FSDP actor_rollout_ref.actor.fsdp_config.forward_prefetch=True", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"training-share",
		}},
		"verl-weights": {Text: "in veRL, choose the way of the weights by actor_rollout_ref.rollout.checkpoint_engine.backend: naive where trainer and rollout share GPUs, nccl on GPUs of their own, nixl where engines come and go", From: "verl-weights", With: []string{
			"verl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"vllm-fill": {Text: "in vLLM, batch more: --max-num-batched-tokens over 8192 for throughput; if it warns of preemption, give the KV cache more by --gpu-memory-utilization or --tensor-parallel-size, or lower --max-num-seqs or --max-num-batched-tokens", From: "vllm-tuning", With: []string{
			"vllm",
		}, Rules: []string{
			"gpu-idle",
			"launch-bound",
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"vllm-graphs": {Text: "in vLLM, see that decode runs in CUDA graphs: no --enforce-eager, and cudagraph_capture_sizes of --compilation-config that reach the batch size that runs", From: "vllm-memory", With: []string{
			"vllm",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"vllm-less-memory": {Text: "in vLLM, need less memory: --max-model-len and --max-num-seqs limit context and batch, fewer cudagraph_capture_sizes (or --enforce-eager) the graphs, and --tensor-parallel-size splits the weights", From: "vllm-memory", With: []string{
			"vllm",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"wait-for-an-event": {Text: "where a wait is needed, wait for what is needed: an event (torch.cuda.Event, cudaEventRecord, then cudaEventSynchronize or cudaStreamWaitEvent, which does not hold the host) in place of cudaDeviceSynchronize and cudaStreamSynchronize", From: "nsys-rules", Kept: []string{
			"synchronizing-calls",
		}},
		"wait-less": {Text: "remove synchronization from the loop: cudaDeviceSynchronize, cudaStreamSynchronize, cudaMemcpy and reading results make the host wait for the GPU", From: "cuda-sync", Kept: []string{
			"gpu-idle",
			"synchronizing-calls",
			"waiting-calls",
		}},
		"wait-of-peers": {Text: "a communication kernel runs for as long as it waits for its peers; {peers}", From: "assay", Kept: []string{
			"dominant-kernel",
		}},
		"wait-where-it-is-used": {Text: "launch what does not need the copy before it, and wait for the copy only where its data is used: an event in place of the call itself", From: "cuda-best", Kept: []string{
			"synchronous-copies",
		}},
		"warm-up-first": {Text: "leave first launches out of the capture: they load code; warm up before recording, {how}", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}},
	}}
}

// builtInStacks returns the stacks of stacks.yaml, in their order.
func builtInStacks() []stackEntry {
	return []stackEntry{
		{Name: "PyTorch", Ops: []string{
			"aten::",
		}, Files: []string{
			"torch/nn/modules/",
			"torch/autograd/",
		}, Kernels: []string{
			"at::native::",
		}, id: "torch"},
		{Name: "JAX", Family: "parallel", Annotations: []string{
			"XlaModule",
			"TSL:",
			"PjitFunction",
		}, Files: []string{
			"jax/_src/",
		}, Kernels: []string{
			"input_reduce_fusion",
			"loop_multiply_fusion",
			"loop_add_fusion",
			"input_concatenate_fusion",
		}, id: "jax"},
		{Name: "vLLM", Family: "server", Ops: []string{
			"vllm::",
			"_vllm_fa",
			"_C_cache_ops::",
		}, Files: []string{
			"/vllm/v1/",
			"/vllm/worker/",
			"/vllm/engine/",
			"/vllm/model_executor/",
			"vllm/v1/",
		}, id: "vllm"},
		{Name: "SGLang", Family: "server", Ops: []string{
			"sgl_kernel::",
			"sglang::",
		}, Annotations: []string{
			"step[DECODE",
			"step[EXTEND",
		}, Files: []string{
			"sglang/srt/",
		}, Kernels: []string{
			"sgl_hip",
			"sgl_kernel",
		}, id: "sglang"},
		{Name: "SFLLM", Family: "server", Files: []string{
			"sfllm/",
		}, id: "sfllm"},
		{Name: "TensorRT-LLM", Family: "server", Ops: []string{
			"trtllm::",
		}, Files: []string{
			"tensorrt_llm/",
		}, Kernels: []string{
			"tensorrt_llm::",
		}, id: "tensorrt-llm"},
		{Name: "Megatron", Family: "parallel", Files: []string{
			"megatron/core/",
			"megatron/training/",
		}, id: "megatron"},
		{Name: "DeepSpeed", Family: "parallel", Annotations: []string{
			"DeepSpeedZeroOptimizer",
			"DeepSpeedEngine",
		}, Files: []string{
			"deepspeed/runtime/",
		}, Modules: []string{
			"DeepSpeedEngine",
		}, id: "deepspeed"},
		{Name: "FSDP", Family: "parallel", Ops: []string{
			"fsdp::",
		}, Annotations: []string{
			"FullyShardedDataParallel",
			"FSDP::",
		}, Files: []string{
			"torch/distributed/fsdp/",
			"torch/distributed/_composable/fsdp/",
		}, Modules: []string{
			"FullyShardedDataParallel",
		}, id: "fsdp"},
		{Name: "DDP", Family: "parallel", Annotations: []string{
			"DistributedDataParallel",
		}, Files: []string{
			"torch/nn/parallel/distributed.py",
		}, Modules: []string{
			"DistributedDataParallel",
		}, id: "ddp"},
		{Name: "veRL", Annotations: []string{
			"old_log_prob",
			"compute_ref_log_prob",
			"timing_s/",
		}, Files: []string{
			"/verl/workers/",
			"/verl/trainer/",
			"/verl/experimental/",
			"/verl/checkpoint_engine/",
			"verl/utils/",
		}, id: "verl"},
		{Name: "SkyRL", Annotations: []string{
			"fwd_logprobs_values_reward",
			"train_critic_and_policy",
			"convert_to_training_input",
			"sync_weights_to_inference_engines",
		}, Files: []string{
			"skyrl_train/",
			"skyrl/train/",
			"skyrl/backends/",
		}, id: "skyrl"},
		{Name: "NeMo RL", Annotations: []string{
			"policy_and_reference_logprobs",
			"logprob_inference_prep",
			"transfer_and_update_weights",
			"prepare_for_generation/",
		}, Files: []string{
			"nemo_rl/",
		}, id: "nemo-rl"},
		{Name: "slime", Annotations: []string{
			"actor_train",
			"ref_log_probs",
		}, Files: []string{
			"slime/backends/",
			"slime/ray/",
			"slime/rollout/",
			"slime/utils/",
		}, id: "slime"},
		{Name: "torch DataLoader", Annotations: []string{
			"enumerate(DataLoader)",
		}, Files: []string{
			"torch/utils/data/dataloader.py",
		}, id: "dataloader"},
		{Name: "torch.compile", Annotations: []string{
			"## Call CompiledFxGraph",
			"Torch-Compiled Region",
		}, Kernels: []string{
			"triton_poi_",
			"triton_red_",
			"triton_per_",
		}, id: "compile"},
	}
}

// builtInQuestions returns the questions of questions.yaml, in their order.
func builtInQuestions() []questionEntry {
	return []questionEntry{
		{Question: "which kernels took the GPU's time", Torch: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", Nsys: "nsys profile --trace=cuda,nvtx,osrt", SGLang: "python -m sglang.bench_serving --profile, with SGLANG_TORCH_PROFILER_DIR set for server and client", VLLM: "--profiler-config '{\"profiler\": \"torch\", \"torch_profiler_dir\": \"/ABSOLUTE/DIR\"}' (before 0.13: VLLM_TORCH_PROFILER_DIR), then vllm bench serve --profile", id: "kernels"},
		{Question: "what of the time is compute, exposed communication, copies and idle", Torch: "prof.export_chrome_trace(\"trace.json.gz\") over whole steps; tables have no timeline", Nsys: "nsys export --type sqlite REPORT.nsys-rep; nsys stats has no timeline", id: "budget"},
		{Question: "why the GPU was idle", Torch: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] and with_stack=True, begun a step before the work", Nsys: "nsys profile --trace=cuda,nvtx,osrt --python-sampling=true", id: "idle"},
		{Question: "which operator launched the work", Torch: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", Nsys: "NVTX ranges around what launches (with PyTorch torch.autograd.profiler.emit_nvtx() around the steps), and --trace=cuda,nvtx", SGLang: "--cuda-graph-backend-decode=disabled (in older versions --disable-cuda-graph) for one run: what a graph launches has no operator", VLLM: "--enforce-eager for one run: what a graph launches has no operator", id: "operators"},
		{Question: "which module and line of Python launched it", Torch: "with_stack=True, with_modules=True, experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True)", Nsys: "nsys profile --python-backtrace=cuda --python-sampling=true", SGLang: "SGLANG_PROFILE_WITH_STACK=true", VLLM: "\"torch_profiler_with_stack\": true in --profiler-config (before 0.13: VLLM_TORCH_PROFILER_WITH_STACK=1)", Setting: "with_stack", id: "lines"},
		{Question: "which shapes cost most", Torch: "record_shapes=True", Nsys: "torch.autograd.profiler.emit_nvtx(record_shapes=True)", SGLang: "SGLANG_PROFILE_RECORD_SHAPES=true", VLLM: "\"torch_profiler_record_shapes\": true in --profiler-config (before 0.13: VLLM_TORCH_PROFILER_RECORD_SHAPES=1)", Setting: "record_shapes", id: "shapes"},
		{Question: "who had the memory", Torch: "profile_memory=True; for the peak and who was live: torch.cuda.memory._record_memory_history() and _dump_snapshot(\"snapshot.pickle\")", Nsys: "nsys profile --cuda-memory-usage=true", VLLM: "\"torch_profiler_with_memory\": true in --profiler-config (before 0.13: VLLM_TORCH_PROFILER_WITH_PROFILE_MEMORY=1)", Setting: "profile_memory", id: "memory"},
		{Question: "how steps differ", Torch: "schedule=torch.profiler.schedule(wait=1, warmup=1, active=3) and prof.step() in every iteration", Nsys: "an NVTX range around each step: nvtxRangePush, or torch.cuda.nvtx.range_push(f\"ProfilerStep#{i}\") and range_pop()", id: "steps"},
		{Question: "which phase of the program took the time", Torch: "with torch.profiler.record_function(\"PHASE\")", Nsys: "--trace=cuda,nvtx and nvtx.annotate(\"PHASE\") or torch.cuda.nvtx.range_push", id: "phases"},
		{Question: "what ran within CUDA graphs", Torch: "a newer CUPTI (CUDA 12.4 or later)", Nsys: "nsys profile --cuda-graph-trace=node", SGLang: "--cuda-graph-backend-decode=disabled (in older versions --disable-cuda-graph) for one run, to see operators; with nsys --cuda-graph-trace=node", VLLM: "--enforce-eager for one run, to see operators; with nsys --cuda-graph-trace=node", id: "graphs"},
		{Question: "which rank keeps the others waiting", Torch: "export_chrome_trace on every rank, into one directory: assay report DIR", Nsys: "nsys profile -o run.%q{RANK} on every rank, and all exports in one directory", id: "ranks"},
		{Question: "how near kernels come to what the device can do", NCU: "ncu --set full --csv --log-file ncu.csv --kernel-name NAME --launch-count 5 PROGRAM", id: "efficiency"},
		{Question: "whether the window stands for the run", Torch: "schedule=torch.profiler.schedule(wait=5, warmup=2, active=5), for several steady steps and nothing else", Nsys: "nsys profile --capture-range=cudaProfilerApi, with cudaProfilerStart and cudaProfilerStop (torch.cuda.profiler.start() and stop()) around a few warm steps", SGLang: "--num-prompts for a steady load, and start_profile after warm-up", id: "whole"},
		{Question: "whether the times can be trusted", Torch: "record again with schedule(warmup=2): the first step of a profiler is where clocks go wrong", Nsys: "record again with the newest nsys", id: "clocks"},
		{Question: "whether all that was recorded is here", Torch: "let export_chrome_trace end before the job does, and copy the file whole", Nsys: "let nsys end by itself, and export again with the newest nsys", id: "complete"},
		{Question: "whether it can be given away", Torch: "start the program without tokens in its environment (env -u HF_TOKEN -u WANDB_API_KEY ...), and send what assay report --redact writes in place of the trace", Nsys: "nsys profile --env-var=NAME=REDACTED for what the environment holds, and send what assay report --redact writes in place of the export", id: "sharing"},
	}
}
