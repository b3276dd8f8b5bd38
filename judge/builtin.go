// Code generated from the YAML files of this folder by go test ./judge -update. DO NOT EDIT.

package judge

// builtInRules returns the rules of thresholds.yaml, in their order.
func builtInRules() []Rule {
	return []Rule{
		{ID: "capture-quality", Meaning: "issues of severity suspect or data-loss, which can change numbers", Source: "all findings depend on a complete capture"},
		{ID: "no-gpu-time", Meaning: "the capture has no GPU events, or all of them have zero duration", Source: "no GPU time, so no shares"},
		{ID: "too-little-gpu-work", Meaning: "number of GPU events of all GPUs, and their windows over the spans of the captures; below either limit nothing is judged", Source: "a few kernels, or a corner of the capture, do not describe a step; captures of whole steps are far above both limits", MinEvents: 10, MinShare: 0.02},
		{ID: "clocks-implausible", Meaning: "the window of a GPU is longer than any capture, so nothing is judged", Source: "profilers record seconds to hours; a longer window mixes timestamps of two clocks"},
		{ID: "device-records-missing", Meaning: "launch calls without GPU work in the capture, over all launch calls of that kind (worst input). The verdict is withheld at the critical limit, or if the missing work can change it", Warn: 0.05, Critical: 0.25, Source: "the worst real capture checked lacks the work of 0.5% of its kernel launches, without those after the last record; with a quarter missing, medians and kernel tables are wrong"},
		{ID: "gpu-idle", Meaning: "time without kernel, copy or memset, over the window, summed over GPUs", Warn: 0.15, Critical: 0.5, Source: "TraceLens and nsys-ai flag idle time over 15% of the window; the PyTorch TensorBoard plugin and nsys flag GPU utilization under 50%"},
		{ID: "data-loading", Meaning: "idle time while the CPU was in a data loader or in a phase that loads data, over the window, summed over GPUs", Warn: 0.1, Critical: 0.2, Source: "traceml calls a step input-bound from 10%, critically from 20%; the PyTorch TensorBoard plugin flags a data loader over 5% of a step"},
		{ID: "allocating", Meaning: "idle time while the CPU was in a call that allocates or frees GPU memory, over the window, summed over GPUs", Warn: 0.05, Critical: 0.2, Source: "a warm caching allocator does not call the driver; the limits are half of, and equal to, those of traceml's other shares"},
		{ID: "launch-bound", Meaning: "time in gaps under 100 µs between two launches, or between a launch and its start on the GPU, over the window, summed over GPUs", Warn: 0.1, Critical: 0.3, Source: "traceml warns of an unexplained share of 10%; at 30% the GPU waits a third of the time for launches that CUDA graphs avoid"},
		{ID: "straggling-rank", Meaning: "time that the other ranks wait for the straggler, at most the exposed communication, over the window; replaces exposed-communication if it is at least half of it", Warn: 0.1, Critical: 0.2, Source: "traceml warns of a straggler that costs 10% of the step, critically of 20%"},
		{ID: "exposed-communication", Meaning: "time with communication and without compute kernels, over the window, summed over GPUs", Warn: 0.1, Critical: 0.2, Source: "the PyTorch TensorBoard plugin flags communication over 10% of a step, the nsys-ai book over 20% of an iteration; TraceLens flags exposed communication over 5%"},
		{ID: "exposed-copies", Meaning: "time with copies or memsets and without compute or communication, over the window, summed over GPUs", Warn: 0.05, Critical: 0.15, Source: "TraceLens flags copies in one direction over 5% of the time; nsys-ai flags host-to-device copies over 15% of the span"},
		{ID: "synchronizing-calls", Meaning: "time of launching threads in calls that wait for a stream or GPU (cudaStreamSynchronize, cudaDeviceSynchronize, HIP and driver equivalents), over the window, summed over GPUs", Warn: 0.1, Source: "the expert rule cuda_api_sync of nsys lists such calls without a limit; one wait at the end of each step takes less than a tenth of the window", MinShare: 0.05},
		{ID: "synchronous-copies", Meaning: "CPU time in synchronous copies (cudaMemcpy), over the window, summed over GPUs; copies within a GPU and copies of up to 64 KiB to a GPU do not count", Warn: 0.05, Source: "the expert rule cuda_memcpy_sync of nsys lists such copies without a limit; the limit is that of exposed copies", MinShare: 0.05},
		{ID: "pageable-async-copies", Meaning: "CPU time in asynchronous copies (cudaMemcpyAsync) from or to pageable memory, over the window, summed over GPUs", Warn: 0.05, Source: "the expert rule cuda_memcpy_async of nsys lists such copies without a limit; the limit is that of exposed copies", MinShare: 0.05},
		{ID: "synchronous-memsets", Meaning: "CPU time in synchronous memsets of pinned or managed memory (cudaMemset), over the window, summed over GPUs", Warn: 0.05, Source: "the expert rule cuda_memset_sync of nsys lists such memsets without a limit; the limit is that of exposed copies", MinShare: 0.05},
		{ID: "long-gaps", Meaning: "time in gaps of min_gap and longer, without profiler overhead, over the window, summed over GPUs; reported under gpu-idle if that is over its limit", Warn: 0.05, Info: 0.01, Source: "the expert rule gpu_gaps of nsys lists gaps over 500 ms", MinGapNS: 500000000},
		{ID: "low-utilization", Meaning: "chunks (1/30 of a GPU's window) that are busy for less than min_busy, over the window, summed over GPUs; reported under gpu-idle if that is over its limit", Info: 0.1, Source: "the expert rule gpu_time_util of nsys lists chunks in use for less than 50%; concurrent work counts once here", MinBusy: 0.5},
		{ID: "uneven-ranks", Meaning: "compute time of the rank with most, minus the mean of all ranks, over the former; for ranks with the same number of steps", Warn: 0.1, Critical: 0.25, Source: "HTA and the guides on expert and pipeline parallelism describe this imbalance without a limit; clocks vary by less than a tenth"},
		{ID: "opaque-graphs", Meaning: "time in CUDA graphs without node trace, or apparent idle time while such a graph may have run, over the window, summed over GPUs", Warn: 0.25, Info: 0.05, Source: "CUPTI traces a graph as one event by default; its kernels are unknown"},
		{ID: "dominant-kernel", Meaning: "total time of the kernels of one name, over total kernel time, overlap included", Warn: 0.5, Critical: 0.6, Source: "the nsys-ai book flags one kernel over 50%, nsys-ai over 60%"},
		{ID: "tiny-kernels", Meaning: "total time of kernels that run for less than the given time, over total kernel time; reported under launch-bound if that is over its limit", Warn: 0.3, Critical: 0.6, Source: "TraceLens and nsys-ai call kernels under 10 µs short; a launch takes the CPU about 5 µs, and such a kernel does not fill a GPU", Under: 10000},
		{ID: "memory-bandwidth", Meaning: "total time of memory-bound kernel types (elementwise, normalization, reduction, copy and similar kernels), over total compute kernel time without CUDA graphs traced as one event", Warn: 0.5, Source: "TraceLens expects such kernels at over 70% of the memory's bandwidth; from half of the time on they determine the speed"},
		{ID: "compute-bound", Meaning: "time with a compute kernel, over the window, summed over GPUs; the good case", Info: 0.9, Source: "traceml calls a step compute-bound from 90% compute on"},
		{ID: "warm-up-steps", Meaning: "time of warm-up steps and partial steps, over the time of all steps", Warn: 0.25, Info: 0.001, Source: "nsys-ai flags iterations over 1.5 times the median; the first ones belong to the start of the program", MinEvents: 3, Margin: 0.5},
		{ID: "warm-up-phases", Meaning: "GPU time in phases of setup, warm-up, compilation and graph capture, over the windows", Warn: 0.25, Info: 0.01, Source: "one-time work does not determine the speed of a run; a quarter of a window can change the verdict"},
		{ID: "slow-steps", Meaning: "number of steps that are margin or more over the median, over the number of all steps without warm-up and partial steps", Warn: 0.05, Critical: 0.2, Info: 0.001, Source: "nsys-ai flags iterations over 1.5 times the median", MinEvents: 4, Margin: 0.5},
		{ID: "periodic-stalls", Meaning: "number of slow steps at equal distances, at least three, over the number of all steps; replaces slow-steps", Warn: 0.05, Critical: 0.2, Info: 0.001, Source: "periodic slow steps have a periodic cause, for example checkpoints, evaluation or garbage collection"},
		{ID: "uneven-steps", Meaning: "MAD (median absolute deviation) of the step time of a GPU, over the median step, without warm-up and partial steps", Warn: 0.1, Critical: 0.25, Source: "the SkyRL guide names weight sync and data loading as causes of a varying load; clocks and kernels vary by less than a tenth", MinEvents: 4},
		{ID: "steady-steps", Meaning: "the bottleneck of the median step differs from that of the window", Source: "a warm-up step, a checkpoint or a pause between steps can dominate a short capture", MinEvents: 2},
		{ID: "weight-sync-time", Meaning: "the median run of a weight sync, over the time given", Warn: 1, Source: "the target of the SkyRL guide is under 2 s if training and inference share GPUs", Under: 2000000000},
		{ID: "weight-sync-share", Meaning: "weight sync, over the step", Warn: 0.15, Critical: 0.3, Source: "the SkyRL guide names 5% to 15% as typical", MinEvents: 2},
		{ID: "generation-share", Meaning: "generation of rollouts, over the step", Warn: 0.6, Critical: 0.75, Source: "the SkyRL guide names 40% to 60% as typical; papers on long tails report 70%", MinEvents: 2},
		{ID: "training-share", Meaning: "training, over the step", Info: 0.3, Source: "the SkyRL guide names 20% to 30% as typical", MinEvents: 2},
		{ID: "data-share", Meaning: "loading and preparing data, over the step; reported only if GPUs are idle in this phase for at least the warn limit of their windows", Warn: 0.05, Critical: 0.15, Source: "the SkyRL guide names 2% to 5% as typical; the PyTorch TensorBoard plugin flags a data loader over 5% of a step", MinEvents: 2},
		{ID: "wait-share", Meaning: "waiting of the trainer for rollouts, or of rollouts for the trainer, over the step", Warn: 0.1, Critical: 0.3, Source: "the SkyRL guide names 5% to 10% for everything except generation, training, sync and data", MinEvents: 2},
		{ID: "sleep-wake-share", Meaning: "putting the inference engine to sleep and waking it, over the step", Warn: 0.1, Critical: 0.3, Source: "the SkyRL guide names 5% to 10% for everything except generation, training, sync and data", MinEvents: 2},
		{ID: "rl-utilization", Meaning: "idle time of the GPUs over their windows, in runs of reinforcement learning; reported under gpu-idle if that is over its limit", Warn: 0.2, Source: "the target of the SkyRL guide is a GPU utilization over 80%"},
		{ID: "kernels-latency-bound", Meaning: "durations of kernels whose compute and memory shares are both under of_peak, over the total time of all profiled kernels", Warn: 0.25, Critical: 0.5, Source: "Nsight Compute names under 60% of both peaks as a sign of latency", OfPeak: 0.6},
		{ID: "kernels-memory-bound", Meaning: "durations of kernels whose memory share is the larger one, and neither latency-bound nor near peak, over the total time of all profiled kernels", Warn: 0.25, Critical: 0.5, Source: "the limits of kernels-latency-bound"},
		{ID: "kernels-compute-bound", Meaning: "durations of kernels whose compute share is the larger one, and neither latency-bound nor near peak, over the total time of all profiled kernels", Info: 0.25, Source: "compute-bound is the target state"},
		{ID: "kernels-balanced", Meaning: "durations of kernels whose shares differ by less than margin, and that are neither latency-bound nor near peak, over the total time of all profiled kernels", Info: 0.25, Source: "Nsight Compute calls % of peak balanced if they differ by less than 10 points", Margin: 0.1},
		{ID: "low-occupancy", Meaning: "total time of kernels with an achieved occupancy under of_peak that are far from both peaks, over the total time of all profiled kernels", Warn: 0.25, Critical: 0.5, Source: "with half of the warps a scheduler often has no warp that is ready", OfPeak: 0.5},
		{ID: "partial-waves", Meaning: "unused block slots in the last wave of kernels that are not near peak, times kernel time, over all block slots times kernel time", Warn: 0.1, Critical: 0.3, Source: "a grid of 1.4 waves leaves 30% of the block slots unused, one of just over 10 waves under 10%"},
		{ID: "kernels-near-limit", Meaning: "durations of kernels whose larger share is at least of_peak, over the total time of all profiled kernels; the good case", Info: 0.25, Source: "Nsight Compute names over 80% of peak as hard to improve", OfPeak: 0.8},
		{ID: "counters-missing", Meaning: "durations of kernels without measured % of peak, over the total time of all profiled kernels", Warn: 0.1, Critical: 0.5, Source: "kernels without these counters are not judged"},
		{ID: "tables-empty", Meaning: "no table has a row", Source: "nsys stats prints SKIPPED if a report has no such data"},
		{ID: "kernels-unrecorded", Meaning: "calls that launch kernels, although nsys reports that it has no kernels", Source: "only one profiler at a time can use CUPTI, and containers may forbid it"},
		{ID: "graphs-hide-kernels", Meaning: "total kernel time over the time of synchronizing calls, in runs that launch CUDA graphs; below the limit the kernels of graphs are missing", Source: "nsys traces a graph as one event by default, without its kernels; if the kernels take a tenth of the waiting or less, the CPU waits for other work", MinShare: 0.1},
		{ID: "waiting-calls", Meaning: "time of synchronizing CUDA calls, over the time of all CUDA calls, on all threads; for information if total GPU time is at least as long", Warn: 0.5, Critical: 0.8, Source: "nsys-ai flags synchronization over 20% of a run and decides from 40%; calls are only a part of a run, so both limits are doubled"},
		{ID: "communication-work", Meaning: "total time of communication kernels, over total kernel time, overlap included", Warn: 0.2, Critical: 0.4, Source: "the nsys-ai book flags NCCL over 20% of an iteration; tables do not show the overlap with compute, so the critical limit is twice that"},
		{ID: "copy-work", Meaning: "total time of copies and memsets, over total GPU time, in runs whose tables have both", Warn: 0.15, Critical: 0.5, Source: "nsys-ai flags host-to-device copies over 15% of the span; from half on the GPU copies more than it computes"},
		{ID: "allocation-calls", Meaning: "time of CUDA calls that allocate or free memory, over the time of all CUDA calls, on all threads", Warn: 0.1, Critical: 0.25, Source: "a caching allocator calls the driver only while it warms up, so a tenth of the time in calls is high"},
		{ID: "short-kernels", Meaning: "launches of kernels with a mean under the given duration, over the launches of all kernels", Warn: 0.5, Critical: 0.8, Source: "TraceLens and nsys-ai call kernels under 10 µs short; a launch takes the CPU about 5 µs", Under: 10000},
		{ID: "device-time-missing", Meaning: "no row of a table has GPU time", Source: "no GPU time, so no shares"},
		{ID: "host-work", Meaning: "self CPU time of all rows without synchronizing calls, over the same plus total GPU time; for all threads and streams", Warn: 0.6, Critical: 0.75, Source: "with one thread the GPU idles a third of the CPU time at 60% and two thirds at 75%; a backward pass has its own thread, so the limits exceed one half"},
		{ID: "copy-operators", Meaning: "self GPU time of aten::copy_, copies and conversion kernels, over total GPU time", Warn: 0.1, Critical: 0.25, Source: "about twice the limits of exposed copies, because compute may overlap some of it"},
		{ID: "largest-allocator", Meaning: "memory that the rows of one name allocated and did not free, over that of all rows; for information", Info: 0.1, Source: "it only names the row"},
		{ID: "sums-only", Meaning: "totals without a timeline, so window, idle time and overlap are unknown", Source: "the bottleneck of a run is a share of its window"},
		{ID: "waiting", Meaning: "self wall time of functions that wait (sleep, select, acquire, recv, ...), over that of all functions; with a CPU-clock profile too, wall minus CPU time of a function, over its wall time", Warn: 0.3, Critical: 0.6, Source: "NeMo Gym's guide calls synchronous external calls in hot paths a red flag without a number; both limits are defined by assay"},
		{ID: "function-total", Meaning: "total time of one function, over the time of the profile; if several exceed the critical limit, the innermost one, the program's own code first", Warn: 0.1, Critical: 0.5, Source: "NeMo Gym's profiling guide looks at functions over 10% and calls one over 50% a red flag"},
		{ID: "function-self", Meaning: "self time of one function, over that of all functions, without functions that wait", Warn: 0.2, Critical: 0.5, Source: "NeMo Gym's profiling guide looks for high self times without a number; half is its red flag for totals"},
		{ID: "many-cheap-calls", Meaning: "self time of functions with at least min_events calls and a mean under the given duration, over the self time of all functions", Warn: 0.2, Critical: 0.5, Source: "a call in Python costs about 50 ns, with a profiler several times that; NeMo Gym's guide advises to cache and vectorize such calls", MinEvents: 1000, Under: 10000},
		{ID: "nested-cost", Meaning: "time that the function of function-total spent in callees, over its total time", Warn: 0.9, Source: "NeMo Gym's profiling guide advises to inspect callees if the total is far above the self time, without a number"},
		{ID: "growing-average", Meaning: "growth of the mean call time of one function from the first profile to the second, over the first; for functions over the limit of function-total", Warn: 0.2, Critical: 1, Source: "NeMo Gym's profiling guide names means that grow with the data as a red flag, without a number"},
		{ID: "memory-exhausted", Meaning: "failed allocations of GPU memory in a memory snapshot; the value is the requested size over the memory that the allocator can reserve", Source: "a failed allocation ends most programs"},
		{ID: "memory-pressure", Meaning: "peak of reserved memory, over the memory that the allocator can reserve", Warn: 0.9, Critical: 0.97, Source: "the PyTorch TensorBoard plugin flags peak memory over 90% of the device's"},
		{ID: "memory-fragmented", Meaning: "free memory in partly used segments, which cannot be released or used for larger blocks, over reserved memory; judged from 256 MiB", Warn: 0.15, Critical: 0.3, Source: "PyTorch has no limit; its out-of-memory message advises expandable segments if reserved but unallocated memory is large; these limits are defined by assay"},
		{ID: "allocator-churn", Meaning: "memory released to the driver in the history, over the peak of reserved memory; judged from min_events cudaFree calls", Warn: 0.5, Critical: 1, Source: "each cudaFree waits for the device, and a steady program calls none; these limits are defined by assay", MinEvents: 10},
		{ID: "memory-growth", Meaning: "growth of allocated memory at the start of a step since the third step, without any decrease, over its value at the third step; judged from 4 steps and 16 MiB", Warn: 0.05, Critical: 0.25, Source: "a step that frees its allocations does not grow; these limits are defined by assay"},
		{ID: "memory-owner", Meaning: "memory of one allocation site at the peak, or of one category of a timeline, over all allocated memory; judged from 256 MiB", Warn: 0.5, Critical: 0.95, Source: "reducing the largest site saves most; a pool that is large on purpose, for example a KV cache, is not a problem"},
		{ID: "memory-unrecorded", Meaning: "the snapshot has no history, so no peak is known", Source: "memory at the time of the snapshot can differ from memory at the peak"},
	}
}

// builtInPages returns the pages of pages.yaml.
func builtInPages() map[string]pageEntry {
	return map[string]pageEntry{
		"allocating": {Line: "the GPU waits for cudaMalloc or cudaFree", Part: "idle time while the CPU was in a call that allocates or frees GPU memory", Whole: "the windows of all GPUs", Gain: "the idle time in which memory was allocated or freed", Confidence: "certain", Sure: []string{
			"record a memory snapshot with history, which shows the allocation sites",
		}, Changes: "it replaces gpu-idle if it is at least half of the idle time, and then decides the verdict (host-bound)"},
		"allocation-calls": {Line: "the CPU allocates GPU memory during the run", Part: "time of CUDA calls that allocate or free memory", Whole: "the time of all CUDA calls, on all threads", Gain: "the time of these calls, summed over threads", Confidence: "hint", Sure: []string{
			"record a timeline, which shows whether the calls are within steps",
		}, Changes: "it never names the bottleneck of the run"},
		"allocator-churn": {Line: "memory is released to the driver and reserved again", Part: "memory released to the driver in the history", Whole: "peak of reserved memory", Gain: "none", Confidence: "certain", Sure: []string{
			"record a timeline, which shows the cost of the calls",
		}, Changes: "the first finding of the highest level decides the verdict of a snapshot"},
		"capture-quality": {Line: "problems of the capture that can change numbers", Part: "kinds of issues of severity data-loss or suspect", Gain: "none", Confidence: "certain", Sure: []string{
			"record again without the problem, and compare",
		}, Changes: "info if single records were lost, warning if the input is cut or suspect; it never decides the verdict"},
		"clocks-implausible": {Line: "implausible GPU timestamps", Part: "GPUs whose window is longer than any capture", Gain: "none", Confidence: "certain", Sure: []string{
			"record again, and compare",
		}, Changes: "the verdict is withheld"},
		"communication-work": {Line: "communication takes much of the kernel time", Part: "total time of communication kernels", Whole: "total kernel time", Gain: "their total time; overlapped communication costs less, and the tables do not show the overlap", Confidence: "hint", Sure: []string{
			"record a timeline, which shows the exposed part, and all ranks, which show the waiting",
		}, Changes: "it never names the bottleneck of the run"},
		"compute-bound": {Line: "compute kernels run nearly all the time", Part: "time with a compute kernel", Whole: "the windows of all GPUs", Gain: "none", Confidence: "certain", Sure: []string{
			"ncu --set full on the largest kernels, to see their efficiency",
		}, Changes: "it decides the verdict only if no other part is over its limit"},
		"copy-operators": {Line: "operators that copy and convert", Part: "self GPU time of aten::copy_", Whole: "total GPU time", Gain: "their total time; overlapped work costs less, and the tables do not show the overlap", Confidence: "hint", Sure: []string{
			"with_stack=True and group_by_stack_n=5, which show the callers",
		}, Changes: "it never names the bottleneck of the run"},
		"copy-work": {Line: "copies take much of the GPU time", Part: "total time of copies and memsets", Whole: "total GPU time (kernels, copies, memsets)", Gain: "their total time; overlapped work costs less, and the tables do not show the overlap", Confidence: "hint", Sure: []string{
			"record a timeline, which shows the exposed part",
		}, Changes: "it never names the bottleneck of the run"},
		"counters-missing": {Line: "missing counters", Part: "total time of kernels without % of peak", Whole: "the total time of all profiled kernels", Gain: "none", Confidence: "certain", Sure: []string{
			"ncu --set full",
		}, Changes: "it decides the verdict (not enough data) if no kernel has % of peak"},
		"data-loading": {Line: "the GPU waits for a data loader", Part: "idle time while the CPU was in a data loader or in a phase that loads data", Whole: "the windows of all GPUs", Gain: "the idle time in which data was loaded", Confidence: "certain", Sure: []string{
			"run with a constant batch, without the loader",
		}, Changes: "it replaces gpu-idle if it is at least half of the idle time, and then decides the verdict (host-bound)"},
		"data-share": {Line: "loading data takes much of the step", Part: "loading and preparing data", Whole: "the step", Gain: "the phase's own time; work that overlaps it still takes its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"record more steps, with the GPUs of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"device-records-missing": {Line: "GPU work was launched and is missing from the capture", Part: "calls of one kind without GPU work", Whole: "all calls of that kind that launch GPU work", Gain: "none", Confidence: "certain", Sure: []string{
			"record fewer steps, and compare the number of kernels per step",
		}, Changes: "the verdict is withheld if the critical limit is reached, if the missing work could change it, or if the export is damaged"},
		"device-time-missing": {Line: "tables without GPU time", Part: "rows with GPU time", Gain: "none", Confidence: "certain", Sure: []string{
			"activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
		}, Changes: "any row with GPU time"},
		"dominant-kernel": {Line: "one kernel takes most of the kernel time", Part: "total time of the kernels of one name", Whole: "total kernel time", Gain: "its total time, at most the time in which only kernels of its class ran", Confidence: "certain", Sure: []string{
			"ncu --set full on this kernel, to see its % of peak",
		}, Changes: "it never decides the verdict of a timeline, and is not evaluated for CUDA graphs without node trace"},
		"exposed-communication": {Line: "communication that compute does not overlap", Part: "time with communication and without compute kernels, of all GPUs", Whole: "the windows of all GPUs", Gain: "the exposed time; overlapped communication is not included", Confidence: "certain", Sure: []string{
			"record all ranks; part of this time may be waiting for a straggler",
		}, Changes: "a critical level decides the verdict unless idle time is critical too"},
		"exposed-copies": {Line: "copies that compute and communication do not overlap", Part: "time with copies or memsets and without compute or communication, of all GPUs", Whole: "the windows of all GPUs", Gain: "the exposed time", Confidence: "certain", Sure: []string{
			"record with stacks, which show the lines that copy",
		}, Changes: "a critical level decides the verdict unless idle time or exposed communication is critical too"},
		"function-self": {Line: "hot function, by self time", Part: "self time of one function", Whole: "self time of all functions", Gain: "the function's own time", Bound: "numerator", Confidence: "certain", Sure: []string{
			"use a sampling profiler (py-spy, perf), because tracing profilers overstate small functions",
		}, Changes: "the first finding over its critical limit decides the verdict of a profile"},
		"function-total": {Line: "hot function, by total time", Part: "total time of one function, callees included", Whole: "the time of the profile", Gain: "the function's total", Bound: "numerator", Confidence: "certain", Sure: []string{
			"record a call graph (pstats, callgrind, pprof), which shows the callees",
		}, Changes: "the first finding over its critical limit decides the verdict of a profile"},
		"generation-share": {Line: "generation takes more of the step than is usual", Part: "generation of rollouts", Whole: "the step", Gain: "none", Confidence: "likely", Sure: []string{
			"check the lengths of responses, because a batch waits for its longest response",
		}, Changes: "it never decides the verdict"},
		"gpu-idle": {Line: "the GPU waits for work", Part: "time without any kernel, copy or memset, of all GPUs", Whole: "the windows of all GPUs", Gain: "the idle time without profiler overhead; the GPU still waits if the CPU is slower", Confidence: "certain", Sure: []string{
			"record CPU and GPU together, with stacks, so that every gap has a cause",
			"run once without a profiler and compare the step time, because a profiler slows the CPU",
		}, Changes: "a critical level decides the verdict (host-bound) before all others; at warning level the largest part decides"},
		"graphs-hide-kernels": {Line: "kernels inside CUDA graphs are missing from the tables", Part: "total kernel time", Whole: "the time of calls that synchronize", Gain: "none", Confidence: "likely", Sure: []string{
			"nsys profile --cuda-graph-trace=node",
		}, Changes: "a total kernel time of at least min_share of the waiting"},
		"growing-average": {Line: "calls that take longer than in the first profile", Part: "growth of the average call from the first profile to the second", Whole: "the average in the first", Gain: "none", Confidence: "hint", Sure: []string{
			"record both profiles with more calls, because a mean of few calls is noise",
		}, Changes: "it never decides the verdict"},
		"host-work": {Line: "CPU time exceeds GPU time", Part: "self CPU time of all rows without synchronizing calls", Whole: "that time plus total GPU time", Gain: "the CPU time, summed over threads", Confidence: "likely", Sure: []string{
			"record a timeline, because a sum does not show threads that run in parallel",
		}, Changes: "it never names the bottleneck of the run"},
		"kernels-balanced": {Line: "kernels with balanced compute and memory use", Part: "total time of kernels whose shares differ by less than margin", Whole: "the total time of all profiled kernels", Gain: "total kernel time times the distance from the larger peak, per kernel", Confidence: "hint", Sure: []string{
			"ncu --set full, and its source view",
		}, Changes: "among the sides with at least 25% of the time, the one with the largest estimated savings decides"},
		"kernels-compute-bound": {Line: "kernels that are limited by compute", Part: "total time of kernels whose compute share is the larger one", Whole: "the total time of all profiled kernels", Gain: "total kernel time times the distance from the larger peak, per kernel", Confidence: "likely", Sure: []string{
			"--section ComputeWorkloadAnalysis, which shows the busy pipeline",
		}, Changes: "among the sides with at least 25% of the time, the one with the largest estimated savings decides"},
		"kernels-latency-bound": {Line: "kernels that are far from both peaks", Part: "total time of kernels whose compute and memory shares are both under of_peak", Whole: "the total time of all profiled kernels", Gain: "total kernel time times the distance from the larger peak, per kernel", Confidence: "likely", Sure: []string{
			"--section WarpStateStats --section SourceCounters, which show the stall reasons",
		}, Changes: "among the sides with at least 25% of the time, the one with the largest estimated savings decides"},
		"kernels-memory-bound": {Line: "kernels that are limited by memory", Part: "total time of kernels whose memory share is the larger one", Whole: "the total time of all profiled kernels", Gain: "total kernel time times the distance from the larger peak, per kernel", Confidence: "likely", Sure: []string{
			"--section MemoryWorkloadAnalysis_Tables, which shows the limiting memory",
		}, Changes: "among the sides with at least 25% of the time, the one with the largest estimated savings decides"},
		"kernels-near-limit": {Line: "kernels near peak", Part: "total time of kernels whose larger share is at least of_peak", Whole: "the total time of all profiled kernels", Gain: "total kernel time times the distance from the larger peak, per kernel", Confidence: "certain", Sure: []string{
			"not needed; check how often they are launched",
		}, Changes: "among the sides with at least 25% of the time, the one with the largest estimated savings decides"},
		"kernels-unrecorded": {Line: "kernels were launched and none was recorded", Part: "calls that launch kernels", Gain: "none", Confidence: "likely", Sure: []string{
			"record again without any other profiler of this GPU",
		}, Changes: "any kernel in the tables"},
		"largest-allocator": {Line: "the row that allocated most memory", Part: "memory that the rows of one name allocated and did not free", Whole: "that of all rows", Gain: "none", Confidence: "certain", Sure: []string{
			"record a memory snapshot, which shows the peak",
		}, Changes: "it is for information"},
		"launch-bound": {Line: "the CPU launches more slowly than the GPU executes", Part: "idle time in short gaps between two launches", Whole: "the windows of all GPUs", Gain: "the idle time in these gaps", Confidence: "likely", Sure: []string{
			"run once without a profiler and compare the step time, because a profiler slows each launch",
		}, Changes: "it replaces gpu-idle if it is at least half of the idle time, and then decides the verdict (host-bound)"},
		"long-gaps": {Line: "gaps that are long enough to inspect one by one", Part: "time in gaps of min_gap and longer, without profiler overhead", Whole: "the windows of all GPUs", Gain: "the time in these gaps", Confidence: "certain", Sure: []string{
			"with_stack=True or NVTX ranges, to see what the CPU did in them",
		}, Changes: "it is reported under gpu-idle if that is over its limit"},
		"low-occupancy": {Line: "kernels with few warps that are far from both peaks", Part: "total time of kernels with an achieved occupancy under of_peak", Whole: "the total time of all profiled kernels", Gain: "none", Confidence: "hint", Sure: []string{
			"--section Occupancy --section WarpStateStats: more warps help only if the others wait",
		}, Changes: "it never decides the verdict"},
		"low-utilization": {Line: "stretches in which the GPU is mostly idle", Part: "chunks of the windows in which anything ran for less than min_busy of the chunk", Whole: "the windows of all GPUs", Gain: "the idle time in these chunks", Confidence: "certain", Sure: []string{
			"record only the steps that are to be judged",
		}, Changes: "it is reported under gpu-idle if that is over its limit"},
		"many-cheap-calls": {Line: "call overhead of small functions", Part: "self time of functions with at least min_events calls with a mean under the given duration", Whole: "the self time of all functions", Gain: "their self time, which profiler overhead increases", Bound: "numerator", Confidence: "hint", Sure: []string{
			"use a sampling profiler (py-spy, perf), because tracing profilers overstate small functions",
		}, Changes: "the first finding over its critical limit decides the verdict of a profile"},
		"memory-bandwidth": {Line: "memory-bound kernel types, by name", Part: "total time of kernels of categories with few operations per byte", Whole: "total time of all compute kernels, without CUDA graphs traced as one event", Gain: "none", Confidence: "hint", Sure: []string{
			"ncu --section SpeedOfLight on the largest of them: a memory share over 60% of the peak shows it",
		}, Changes: "it decides the verdict (memory-bound) only if the run is compute-bound otherwise"},
		"memory-exhausted": {Line: "an allocation of device memory failed", Part: "size of the failed allocation", Whole: "memory that the allocator can reserve", Gain: "none", Confidence: "certain", Sure: []string{
			"call torch.cuda.memory._record_memory_history() at the start, which records allocation sites",
		}, Changes: "it decides the verdict of a snapshot before all others"},
		"memory-fragmented": {Line: "free memory in partly used segments", Part: "free memory in partly used segments", Whole: "reserved memory", Gain: "none", Confidence: "likely", Sure: []string{
			"run once with PYTORCH_ALLOC_CONF=expandable_segments:True and compare",
		}, Changes: "the first finding of the highest level decides the verdict of a snapshot"},
		"memory-growth": {Line: "allocated memory grows from step to step", Part: "growth of allocated memory at the start of a step, since the third step", Whole: "allocated memory at the third step", Gain: "none", Confidence: "likely", Sure: []string{
			"record a history of more steps, because caches and pools fill only once",
		}, Changes: "the first finding of the highest level decides the verdict of a snapshot"},
		"memory-owner": {Line: "one allocation site has most of the memory", Part: "memory of one allocation site at the peak", Whole: "allocated memory at the peak", Gain: "none", Confidence: "certain", Sure: []string{
			"set stacks=\"all\" in _record_memory_history, which records more allocation sites",
		}, Changes: "the first finding of the highest level decides the verdict of a snapshot"},
		"memory-pressure": {Line: "GPU memory is almost full", Part: "peak of reserved memory", Whole: "memory that the allocator can reserve", Gain: "none", Confidence: "certain", Sure: []string{
			"take a snapshot at the peak, with history",
		}, Changes: "the first finding of the highest level decides the verdict of a snapshot"},
		"memory-unrecorded": {Line: "a snapshot without allocation history", Part: "entries of the history", Gain: "none", Confidence: "certain", Sure: []string{
			"call torch.cuda.memory._record_memory_history() before the code of interest",
		}, Changes: "with a history the peak is judged"},
		"nested-cost": {Line: "the hot function spends its time in callees", Part: "time that the function spent in callees", Whole: "its total time", Gain: "none", Confidence: "certain", Sure: []string{
			"record a call graph (pstats, callgrind, pprof)",
		}, Changes: "it never decides the verdict"},
		"no-gpu-time": {Line: "no GPU events were recorded", Part: "GPU events", Gain: "none", Confidence: "certain", Sure: []string{
			"record CPU and GPU together, for at least one whole step",
		}, Changes: "any kernel, copy or memset with a duration"},
		"opaque-graphs": {Line: "CUDA graphs without node trace", Part: "time in CUDA graphs without node trace", Whole: "the windows of all GPUs", Gain: "none", Confidence: "certain", Sure: []string{
			"nsys --cuda-graph-trace=node, or a torch.profiler with a CUPTI that records the nodes of graphs",
		}, Changes: "if it is at least half of the apparent idle time, the verdict is unknown, because the GPU may have been busy"},
		"pageable-async-copies": {Line: "asynchronous copies that block because their memory is pageable", Part: "CPU time in asynchronous copies from or to pageable memory", Whole: "the windows of all GPUs", Gain: "idle time that the calls may have caused", Confidence: "likely", Sure: []string{
			"with_stack=True (nsys --python-backtrace=cuda) to see which line copies",
		}, Changes: "it is reported only if both limits are exceeded, and under gpu-idle or exposed-copies if those are over their limits"},
		"partial-waves": {Line: "tail effect, the last wave of blocks is partly empty", Part: "unused block slots in the last wave, times kernel time, of kernels that are not near peak", Whole: "all block slots, times kernel time", Gain: "the time lost in partial waves if all blocks take equally long, per kernel at most its distance from the larger peak", Confidence: "hint", Sure: []string{
			"measure another grid or tile",
		}, Changes: "it never decides the verdict"},
		"periodic-stalls": {Line: "periodic slow steps", Part: "slow steps at equal distances", Whole: "all steps that count", Gain: "the time of these steps over the median", Confidence: "likely", Sure: []string{
			"a capture of at least three periods, with stacks, to see what only these steps do",
		}, Changes: "it never decides the verdict"},
		"rl-utilization": {Line: "GPU time utilization under the target for reinforcement learning", Part: "idle time of the GPUs", Whole: "the windows of all GPUs", Gain: "the idle time", Bound: "numerator", Confidence: "certain", Sure: []string{
			"record the trainer and the inference engines together",
		}, Changes: "it is reported under gpu-idle if that is over its limit"},
		"short-kernels": {Line: "kernels that are shorter than a launch call", Part: "launches of kernels with a mean under the given duration", Whole: "the launches of all kernels", Gain: "none", Confidence: "hint", Sure: []string{
			"record a timeline, which shows whether the GPU waits between them",
		}, Changes: "it never names the bottleneck of the run"},
		"sleep-wake-share": {Line: "engine sleep/wake takes much of the step", Part: "putting the inference engine to sleep and waking it", Whole: "the step", Gain: "the phase's own time; work that overlaps it still takes its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"record more steps, with the GPUs of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"slow-steps": {Line: "slow steps after warm-up", Part: "later steps that are margin or more over the median", Whole: "all steps without warm-up and partial steps", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, because one of few can be chance",
		}, Changes: "it never decides the verdict"},
		"steady-steps": {Line: "the bottleneck of the median step differs from the window's", Part: "bottleneck of the median step", Whole: "bottleneck of the window", Gain: "none", Confidence: "likely", Sure: []string{
			"record steady steps and nothing else",
		}, Changes: "it names the verdict without warm-up and without the time between steps"},
		"straggling-rank": {Line: "one rank is slower and the others wait for it", Part: "time that the other ranks wait for the straggler", Whole: "the windows of all GPUs", Gain: "the waiting time of the other ranks", Confidence: "likely", Sure: []string{
			"the traces of all ranks of the same steps",
			"a step without communication (no_sync), to see whether that rank is slower by itself",
		}, Changes: "it replaces exposed-communication if it is at least half of it, and then decides the verdict (communication-bound)"},
		"sums-only": {Line: "totals without a timeline", Part: "tables of totals", Gain: "none", Confidence: "certain", Sure: []string{
			"record a timeline: a trace of torch.profiler, or an export of Nsight Systems",
		}, Changes: "any timeline among the inputs"},
		"synchronizing-calls": {Line: "calls that wait for the GPU block the CPU", Part: "time in which a thread that launches work was in a call that synchronizes", Whole: "the windows of all GPUs", Gain: "idle time that the calls may have caused, at most the time of the calls", Confidence: "likely", Sure: []string{
			"with_stack=True (nsys --python-backtrace=cuda) to see which line waits",
			"remove the call and record again, because another wait may replace it",
		}, Changes: "it is reported only if both limits are exceeded, and under gpu-idle if that is over its limit"},
		"synchronous-copies": {Line: "copies that block the CPU", Part: "CPU time in synchronous copy calls", Whole: "the windows of all GPUs", Gain: "idle time that the calls may have caused", Confidence: "likely", Sure: []string{
			"with_stack=True (nsys --python-backtrace=cuda) to see which line copies",
		}, Changes: "it is reported only if both limits are exceeded, and under gpu-idle or exposed-copies if those are over their limits"},
		"synchronous-memsets": {Line: "memsets that block the CPU", Part: "CPU time in synchronous memsets of pinned or managed memory", Whole: "the windows of all GPUs", Gain: "idle time that the calls may have caused", Confidence: "likely", Sure: []string{
			"nsys --python-backtrace=cuda to see which line fills memory",
		}, Changes: "it is reported only if both limits are exceeded, and under gpu-idle or exposed-copies if those are over their limits"},
		"tables-empty": {Line: "tables without rows", Part: "rows", Gain: "none", Confidence: "certain", Sure: []string{
			"nsys profile --trace=cuda,nvtx,osrt",
		}, Changes: "any row"},
		"tiny-kernels": {Line: "kernels too short to fill the GPU", Part: "total time of kernels under the given time", Whole: "total kernel time", Gain: "none", Confidence: "likely", Sure: []string{
			"ncu --set full on the most frequent of them, to see their occupancy",
		}, Changes: "it never decides the verdict"},
		"too-little-gpu-work": {Line: "too little GPU work for meaningful shares", Part: "GPU events; windows of all GPUs", Whole: "the limit of events; the spans of the captures", Gain: "none", Confidence: "certain", Sure: []string{
			"record several whole steps after warm-up",
		}, Changes: "with at least min_events GPU events and min_share of the capture the verdict is given; otherwise all findings are for information"},
		"training-share": {Line: "training takes more of the step than is usual", Part: "training", Whole: "the step", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, with the GPUs of trainer and inference engines",
		}, Changes: "it is for information"},
		"uneven-ranks": {Line: "one rank computes more than the others", Part: "compute time of the rank with most, less the mean", Whole: "compute time of the rank with most", Gain: "that difference, because a step takes as long as its slowest rank", Confidence: "likely", Sure: []string{
			"the number of tokens or samples of each rank, and the clocks of each GPU (nvidia-smi)",
		}, Changes: "it never decides the verdict"},
		"uneven-steps": {Line: "step time varies", Part: "MAD (median absolute deviation) of the step time", Whole: "median step time, without warm-up and partial steps", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, because one of few can be chance",
		}, Changes: "it never decides the verdict"},
		"wait-share": {Line: "trainer and rollouts wait for each other", Part: "waiting of the trainer for rollouts, or of rollouts for the trainer", Whole: "the step", Gain: "the phase's own time; work that overlaps it still takes its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"record more steps, with the GPUs of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"waiting": {Line: "blocked functions", Part: "self wall time of functions that wait", Whole: "self time of all functions", Gain: "the waiting; less if other threads or tasks ran at the same time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"record a second profile with the CPU clock (yappi.set_clock_type), because waiting takes no CPU time",
			"check the number of active requests, because an idle server waits too",
		}, Changes: "the first finding over its critical limit decides the verdict of a profile"},
		"waiting-calls": {Line: "the CPU waits in synchronizing calls", Part: "time of synchronizing CUDA calls", Whole: "the time of all CUDA calls, on all threads", Gain: "the waiting without the total GPU time, if that is known; summed over threads", Confidence: "hint", Sure: []string{
			"record a timeline, which shows whether the GPU was busy",
		}, Changes: "it is for information if total GPU time is at least the waiting"},
		"warm-up-phases": {Line: "setup, compilation and graph capture within the trace", Part: "GPU time in phases of setup, warm-up, compilation and graph capture", Whole: "the windows of all GPUs", Gain: "none", Confidence: "likely", Sure: []string{
			"record after warm-up",
		}, Changes: "at its warn limit the verdict leaves this time out, if enough is left; it never decides the verdict itself"},
		"warm-up-steps": {Line: "warm-up steps in the capture", Part: "time of warm-up steps and partial steps", Whole: "the time of all steps", Gain: "none", Confidence: "likely", Sure: []string{
			"record more steps, after warm-up, and compare",
		}, Changes: "at its warn limit the verdict leaves this time out, if enough is left; it never decides the verdict itself"},
		"weight-sync-share": {Line: "weight sync takes much of the step", Part: "weight sync", Whole: "the step", Gain: "the phase's own time; work that overlaps it still takes its time", Bound: "numerator", Confidence: "likely", Sure: []string{
			"record more steps, with the GPUs of trainer and inference engines",
		}, Changes: "it never decides the verdict"},
		"weight-sync-time": {Line: "slow weight syncs", Part: "the median run of a weight sync", Whole: "the time given by under", Gain: "none", Confidence: "certain", Sure: []string{
			"record the trainer and the inference engines together",
		}, Changes: "it never decides the verdict"},
	}
}

// builtInRemedies returns the remedies of remedies.yaml and their sources.
func builtInRemedies() remedyBook {
	return remedyBook{Sources: map[string]Source{
		"assay":                  {Title: "assay: what it measures", URL: "docs/measures.md"},
		"bitsandbytes":           {Title: "bitsandbytes: 8-bit optimizers", URL: "https://huggingface.co/docs/bitsandbytes/main/en/optimizers"},
		"cuda-best":              {Title: "NVIDIA: CUDA C++ Best Practices Guide", URL: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html"},
		"cuda-guide":             {Title: "NVIDIA: CUDA C++ Programming Guide", URL: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html"},
		"cuda-sync":              {Title: "NVIDIA: CUDA API synchronization behavior", URL: "https://docs.nvidia.com/cuda/cuda-runtime-api/api-sync-behavior.html"},
		"deepspeed":              {Title: "DeepSpeed: Configuration JSON", URL: "https://www.deepspeed.ai/docs/config-json/"},
		"jax-gpu":                {Title: "JAX: GPU performance tips", URL: "https://docs.jax.dev/en/latest/gpu_performance_tips.html"},
		"jax-memory":             {Title: "JAX: GPU memory allocation", URL: "https://docs.jax.dev/en/latest/201/gpu-memory.html"},
		"liger":                  {Title: "Liger Kernel: fused linear cross entropy", URL: "https://github.com/linkedin/Liger-Kernel"},
		"megatron":               {Title: "NVIDIA: Megatron Bridge, Communication Overlap", URL: "https://docs.nvidia.com/nemo/megatron-bridge/latest/training/communication-overlap.html"},
		"ncu":                    {Title: "NVIDIA: Nsight Compute Profiling Guide", URL: "https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html"},
		"ncu-cli":                {Title: "NVIDIA: Nsight Compute CLI", URL: "https://docs.nvidia.com/nsight-compute/NsightComputeCli/index.html"},
		"nemo-gym":               {Title: "NeMo Gym: Performance Profiling", URL: "https://docs.nvidia.com/nemo/gym/latest/index.html"},
		"nemo-rl-async":          {Title: "NeMo RL: Train with Async GRPO", URL: "https://docs.nvidia.com/nemo/rl/latest/guides/async-grpo.html"},
		"nemo-rl-refit":          {Title: "NeMo RL: Weight Refit, Choosing a Transport", URL: "https://docs.nvidia.com/nemo/rl/latest/guides/refit.html"},
		"nsys":                   {Title: "NVIDIA: Nsight Systems User Guide", URL: "https://docs.nvidia.com/nsight-systems/UserGuide/index.html"},
		"nsys-rules":             {Title: "NVIDIA: Nsight Systems Analysis Guide", URL: "https://docs.nvidia.com/nsight-systems/AnalysisGuide/index.html"},
		"nvidia-counters":        {Title: "NVIDIA: permission to use GPU performance counters", URL: "https://developer.nvidia.com/ERR_NVGPUCTRPERM"},
		"nvidia-smi":             {Title: "NVIDIA: nvidia-smi", URL: "https://docs.nvidia.com/deploy/nvidia-smi/index.html"},
		"py-spy":                 {Title: "py-spy: Sampling profiler for Python programs", URL: "https://github.com/benfred/py-spy"},
		"python-asyncio":         {Title: "Python: asyncio, Coroutines and Tasks", URL: "https://docs.python.org/3/library/asyncio-task.html"},
		"python-functools":       {Title: "Python: functools", URL: "https://docs.python.org/3/library/functools.html"},
		"python-gc":              {Title: "Python: gc, Garbage Collector interface", URL: "https://docs.python.org/3/library/gc.html"},
		"sfllm":                  {Title: "SFLLM: Performance Tuning Guide", URL: "https://github.com/wejoncy/sfllm/blob/HEAD/docs/performance-tuning.md"},
		"sglang-arguments":       {Title: "SGLang: Server Arguments", URL: "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/server_args.py"},
		"sglang-tuning":          {Title: "SGLang: Hyperparameter Tuning", URL: "https://docs.sglang.io/docs/advanced_features/hyperparameter_tuning"},
		"skyrl":                  {Title: "SkyRL: Benchmarking and Performance Tuning Guide", URL: "https://github.com/ai-blaise/SkyRL/blob/HEAD/skyrl-train/docs/BENCHMARKING_GUIDE.md"},
		"skyrl-async":            {Title: "SkyRL: Fully Async Training", URL: "https://docs.skyrl.ai/docs/tutorials/fully_async"},
		"skyrl-config":           {Title: "SkyRL: Configuration Overview", URL: "https://docs.skyrl.ai/docs/configuration/config"},
		"skyrl-inference":        {Title: "SkyRL: Inference Architecture", URL: "https://docs.skyrl.ai/docs/getting-started/inference_architecture"},
		"skyrl-placement":        {Title: "SkyRL: Model Placement and Colocation", URL: "https://docs.skyrl.ai/docs/configuration/placement"},
		"slime":                  {Title: "slime: Quick Start", URL: "https://github.com/THUDM/slime/blob/main/docs/en/get_started/quick_start.md"},
		"slime-arguments":        {Title: "slime: arguments", URL: "https://github.com/THUDM/slime/blob/main/slime/utils/arguments.py"},
		"slime-faq":              {Title: "slime: FAQ", URL: "https://github.com/THUDM/slime/blob/main/docs/en/get_started/qa.md"},
		"torch-amp":              {Title: "PyTorch: Automatic Mixed Precision", URL: "https://docs.pytorch.org/docs/stable/amp.html"},
		"torch-checkpoint":       {Title: "PyTorch: torch.utils.checkpoint", URL: "https://docs.pytorch.org/docs/stable/checkpoint.html"},
		"torch-compile":          {Title: "PyTorch: torch.compile", URL: "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"},
		"torch-cuda":             {Title: "PyTorch: CUDA semantics", URL: "https://docs.pytorch.org/docs/stable/notes/cuda.html"},
		"torch-data":             {Title: "PyTorch: torch.utils.data", URL: "https://docs.pytorch.org/docs/stable/data.html"},
		"torch-ddp":              {Title: "PyTorch: DistributedDataParallel", URL: "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html"},
		"torch-ddp-hooks":        {Title: "PyTorch: DDP Communication Hooks", URL: "https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html"},
		"torch-faq":              {Title: "PyTorch: Frequently Asked Questions", URL: "https://docs.pytorch.org/docs/stable/notes/faq.html"},
		"torch-fsdp":             {Title: "PyTorch: FSDP Notes", URL: "https://docs.pytorch.org/docs/stable/notes/fsdp.html"},
		"torch-fsdp-api":         {Title: "PyTorch: FullyShardedDataParallel", URL: "https://docs.pytorch.org/docs/stable/fsdp.html"},
		"torch-fsdp2":            {Title: "PyTorch: fully_shard", URL: "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html"},
		"torch-memory":           {Title: "PyTorch: Understanding CUDA Memory Usage", URL: "https://docs.pytorch.org/docs/stable/torch_cuda_memory.html"},
		"torch-meta":             {Title: "PyTorch: Meta device", URL: "https://docs.pytorch.org/docs/stable/meta.html"},
		"torch-pinned":           {Title: "PyTorch: pin_memory() and non_blocking", URL: "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"},
		"torch-profiler":         {Title: "PyTorch: torch.profiler", URL: "https://docs.pytorch.org/docs/stable/profiler.html"},
		"torch-sdpa":             {Title: "PyTorch: scaled_dot_product_attention", URL: "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html"},
		"torch-step-in-backward": {Title: "PyTorch: Optimizer step in backward", URL: "https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html"},
		"torch-tuning":           {Title: "PyTorch: Performance Tuning Guide", URL: "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"},
		"torch-views":            {Title: "PyTorch: Tensor Views", URL: "https://docs.pytorch.org/docs/stable/tensor_view.html"},
		"torch-zero":             {Title: "PyTorch: Distributed Optimizers", URL: "https://docs.pytorch.org/docs/stable/distributed.optim.html"},
		"verl":                   {Title: "veRL: Performance Tuning Guide", URL: "https://verl.readthedocs.io/en/latest/perf/perf_tuning.html"},
		"verl-async":             {Title: "veRL: V1 Async Trainer", URL: "https://verl.readthedocs.io/en/latest/advance/v1_async_trainer.html"},
		"verl-config":            {Title: "veRL: rollout.yaml", URL: "https://github.com/verl-project/verl/blob/main/verl/trainer/config/rollout/rollout.yaml"},
		"verl-weights":           {Title: "veRL: Checkpoint Engine", URL: "https://github.com/verl-project/verl/blob/main/verl/checkpoint_engine/README.md"},
		"vllm-memory":            {Title: "vLLM: Conserving Memory", URL: "https://docs.vllm.ai/en/stable/configuration/conserving_memory/"},
		"vllm-tuning":            {Title: "vLLM: Optimization and Tuning", URL: "https://docs.vllm.ai/en/stable/configuration/optimization/"},
		"yappi":                  {Title: "yappi: Yet Another Python Profiler", URL: "https://github.com/sumerc/yappi"},
	}, Remedies: map[string]*remedyEntry{
		"allocate-few-sizes": {Text: "Allocate long-lived tensors first, and pad sequences to a few lengths, so that sizes vary less.", From: "torch-tuning", Kept: []string{
			"memory-exhausted",
			"memory-fragmented",
		}},
		"allocate-less": {Text: "Warm up with the largest shapes and remove torch.cuda.empty_cache() from the loop, so that steps need no cudaMalloc or cudaFree.", From: "torch-cuda", Kept: []string{
			"gpu-idle",
			"allocation-calls",
			"allocating",
		}, Plain: "allocate-once"},
		"allocate-once": {Text: "Move cudaMalloc and cudaFree out of the loop: allocate once, or from a pool (cudaMallocAsync with a raised cudaMemPoolAttrReleaseThreshold).", From: "cuda-guide", Kept: []string{
			"gpu-idle",
			"allocation-calls",
			"allocating",
		}},
		"await-callees-together": {Text: "If its callees wait for something outside: make them asynchronous (asyncio.gather), or move them to Ray.", From: "python-asyncio", Kept: []string{
			"function-total",
			"nested-cost",
		}},
		"await-together": {Text: "Make synchronous calls to other services asynchronous and wait for all at once (asyncio.gather), or move them to Ray or a thread pool.", From: "python-asyncio", Kept: []string{
			"waiting",
		}},
		"balance-the-blocks": {Text: "Balance the work of the blocks: fewer warps are active than the limits allow, because blocks end early or the grid is small.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
			"low-occupancy",
		}},
		"balance-the-sides": {Text: "Give more GPUs to the side that does not wait, because it is the slow one, or allow more steps of staleness.", From: "skyrl-async", Kept: []string{
			"wait-share",
			"rl-utilization",
		}},
		"begin-earlier": {Text: "Begin the capture before the work is launched, with a warm-up step, so that its launches are recorded.", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}},
		"busy-is-not-efficient": {Text: "Compare achieved FLOP/s with the peak before adding GPUs: a busy GPU can still be inefficient.", From: "ncu", Kept: []string{
			"compute-bound",
		}},
		"cache-answers": {Text: "Cache repeated answers.", From: "nemo-gym", Kept: []string{
			"waiting",
		}},
		"cache-results": {Text: "Cache repeated results with functools.lru_cache, so that the function runs less often.", From: "python-functools", Kept: []string{
			"function-total",
			"function-self",
			"many-cheap-calls",
		}},
		"call-compiled-code-less": {Text: "Call this compiled function less often with more work per call, or use a faster one.", From: "nemo-gym", Kept: []string{
			"function-self",
			"function-total",
		}},
		"call-the-capture-range": {Text: "With --capture-range=cudaProfilerApi: call torch.cuda.profiler.start() and stop() in the program.", From: "nsys", Kept: []string{
			"tables-empty",
			"kernels-unrecorded",
			"too-little-gpu-work",
		}},
		"change-the-block-size": {Text: "Change the block size: 128 to 512 threads, so that the blocks fill the warps of an SM without remainder.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
			"low-occupancy",
		}},
		"check-by-sampling": {Text: "Check with a sampling profiler (py-spy) before you change code: a profiler adds time to each call, so the true share is smaller.", From: "py-spy", Kept: []string{
			"many-cheap-calls",
		}},
		"check-cupti": {Text: "Check that CUPTI is available to the process: only one profiler can use it at a time, and containers may forbid it.", From: "nvidia-counters", Kept: []string{
			"no-gpu-time",
		}},
		"check-for-two-models": {Text: "Check that the model is not loaded twice.", From: "torch-memory", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"check-the-caches": {Text: "Check ncu's memory tables for bank conflicts and unused sectors, because the caches or shared memory limit the kernel, not DRAM.", From: "ncu", Kept: []string{
			"kernels-memory-bound",
		}},
		"check-the-overlap": {Text: "Check how much of it overlaps with compute before you tune it: overlapped communication costs little.", From: "assay", Kept: []string{
			"dominant-kernel",
		}},
		"check-the-wait": {Text: "Check on a timeline that the GPU works while the CPU waits: a loop that waits only at its end is correct then.", From: "nsys-rules", Kept: []string{
			"waiting-calls",
		}},
		"check-throttling": {Text: "If the ranks have the same work: check for a throttled GPU with nvidia-smi -q -d PERFORMANCE.", From: "nvidia-smi", Kept: []string{
			"uneven-ranks",
			"straggling-rank",
		}},
		"check-tile-and-waves": {Text: "If it is a tensor-core kernel with large tiles: check the tile and the waves first, because such kernels have few warps by design.", From: "ncu", Kept: []string{
			"low-occupancy",
		}},
		"checkpoint-activations": {Text: "Use activation checkpointing: torch.utils.checkpoint, or gradient_checkpointing_enable() of Hugging Face.", From: "torch-checkpoint", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"checkpoint-smaller-regions": {Text: "Checkpoint smaller regions: all tensors that one checkpoint recomputes are allocated at once.", From: "torch-checkpoint", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"choose-window-or-steps": {Text: "Use the result of the steps if the program runs for long, and that of the window if it is as short as the capture.", From: "assay", Kept: []string{
			"steady-steps",
		}},
		"chunk-the-loss": {Text: "Compute the loss over the vocabulary in chunks.", From: "liger", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"coalesce-accesses": {Text: "Let neighboring threads read neighboring addresses, 16 bytes each: scattered accesses load sectors of 32 bytes for a few bytes.", From: "cuda-best", Kept: []string{
			"kernels-memory-bound",
		}},
		"collect-all-counters": {Text: "Profile again: ncu --set full --csv --log-file ncu.csv PROGRAM, with --kernel-name and --launch-count to keep it short.", From: "ncu-cli", Kept: []string{
			"counters-missing",
		}},
		"collect-memory-tables": {Text: "Profile again with --section MemoryWorkloadAnalysis_Tables, which shows the memory that limits the kernel.", From: "ncu", Kept: []string{
			"kernels-memory-bound",
		}},
		"collect-stall-reasons": {Text: "Profile again with --section WarpStateStats --section SourceCounters, and read the stall reasons.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
		}},
		"colocate-for-weight-sync": {Text: "Place training and inference on the same GPUs, so that weights are sent by CUDA IPC.", From: "skyrl-placement", Kept: []string{
			"weight-sync-time",
			"weight-sync-share",
			"rl-utilization",
		}},
		"compare-tables-of-ranks": {Text: "Compare the tables of all ranks: a straggler shows as long communication kernels on the other ranks.", From: "assay", Kept: []string{
			"communication-work",
		}},
		"compare-the-same-steps": {Text: "Record the same steps on every rank and compare them: a straggler shows as long communication kernels on the other ranks.", From: "assay", Kept: []string{
			"exposed-communication",
			"dominant-kernel",
		}},
		"compare-the-slowest-step": {Text: "Compare the slowest step with a median step in the trace. Typical causes: checkpoints, evaluation, garbage collection, recompilation for new shapes, longer sequences.", From: "assay", Kept: []string{
			"slow-steps",
		}},
		"compare-the-two-programs": {Text: "If both runs had the same data: compare the code and environment of the two runs.", From: "assay", Kept: []string{
			"growing-average",
		}},
		"compute-in-bfloat16": {Text: "Compute in bfloat16 (torch.autocast) with fused attention, which keeps no score matrix.", From: "torch-amp", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"convert-less": {Text: "Remove .to(dtype), .float(), .contiguous(), .clone() and autocast around many small operators from the step: keep the type and layout that the next operator needs.", From: "torch-tuning", Kept: []string{
			"copy-operators",
		}},
		"copy-and-go-on": {Text: "Copy asynchronously, with pinned memory (cudaMallocHost, cudaHostRegister) and cudaMemcpyAsync, and read results back only when they are needed.", From: "cuda-best", Kept: []string{
			"gpu-idle",
		}},
		"copy-asynchronously": {Text: "Use cudaMemcpyAsync on a stream with pinned memory (cudaMallocHost, cudaHostRegister); in PyTorch pin_memory=True and tensor.to(device, non_blocking=True).", From: "nsys-rules", Kept: []string{
			"synchronous-copies",
			"gpu-idle",
			"exposed-copies",
		}, Plain: "copy-by-streams"},
		"copy-by-streams": {Text: "Use cudaMemcpyAsync on a stream with pinned memory (cudaMallocHost or cudaHostRegister).", From: "nsys-rules", Kept: []string{
			"synchronous-copies",
			"gpu-idle",
			"exposed-copies",
		}},
		"copy-from-pinned": {Text: "Copy from pinned memory without waiting: cudaMallocHost or cudaHostRegister, then cudaMemcpyAsync. Copies from pageable memory are slow and block the CPU.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"copy-less-on-device": {Text: "Use views (view, expand, narrow, unbind), which share data, instead of .clone(), torch.cat and .contiguous(), which copy.", From: "torch-views", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "swap-buffers"},
		"copy-less-to-device": {Text: "Keep constants on the GPU, and send integers and raw images, which the GPU can convert.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "send-what-changes"},
		"copy-less-to-peers": {Text: "Keep consecutive layers on one GPU, so that fewer copies between devices are needed.", From: "torch-cuda", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "stay-on-one-device"},
		"copy-pinned": {Text: "Copy from pinned memory without waiting: pin_memory=True in the DataLoader and tensor.to(device, non_blocking=True).", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "copy-from-pinned"},
		"copy-pinned-not-pageable": {Text: "Copy from pinned memory without waiting: pin_memory=True in the DataLoader and tensor.to(device, non_blocking=True). Copies from pageable memory are slow and block the CPU.", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "copy-from-pinned"},
		"copy-the-file-again": {Text: "Copy or export the file again: profilers write it when they stop, and a job that is killed while they write leaves a part.", From: "assay", Kept: []string{
			"no-gpu-time",
		}},
		"copy-without-waiting": {Text: "Copy asynchronously, with pinned memory and non_blocking=True, and read results back only when they are needed.", From: "torch-pinned", Kept: []string{
			"gpu-idle",
		}, Plain: "copy-and-go-on"},
		"ddp-buckets": {Text: "With DDP: tune bucket_cap_mb, and set gradient_as_bucket_view=True and static_graph=True, so that gradients are reduced early and in large messages.", From: "torch-ddp", Of: "ddp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"ddp-no-sync": {Text: "With DDP and gradient accumulation: use no_sync(), which reduces gradients only in the last micro-batch.", From: "torch-ddp", Of: "ddp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"ddp-send-less": {Text: "With DDP: reduce gradients in bfloat16, with model.register_comm_hook(None, bf16_compress_hook) of torch.distributed.algorithms.ddp_comm_hooks.default_hooks.", From: "torch-ddp-hooks", Of: "ddp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"deepspeed-overlap": {Text: "With DeepSpeed: set \"overlap_comm\": true in zero_optimization, and tune reduce_bucket_size.", From: "deepspeed", With: []string{
			"deepspeed",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"deepspeed-stage3": {Text: "With DeepSpeed stage 3, if memory allows: raise stage3_prefetch_bucket_size, stage3_max_live_parameters and stage3_max_reuse_distance: small values communicate more.", From: "deepspeed", With: []string{
			"deepspeed",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"delete-and-collect": {Text: "Delete unused tensors at the end of the step (del); gc.collect() shows whether a reference cycle keeps them.", From: "python-gc", Kept: []string{
			"memory-growth",
		}},
		"delete-before-the-peak": {Text: "Delete tensors that are not needed at the peak (del), or allocate them later.", From: "torch-faq", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"dump-when-memory-runs-out": {Text: "If memory runs out: dump the snapshot in torch._C._cuda_attach_out_of_memory_observer, which records that moment.", From: "torch-memory", Kept: []string{
			"memory-unrecorded",
		}},
		"empty-cache-between-phases": {Text: "Between different phases (training, generation, evaluation): delete unused tensors (del) and call torch.cuda.empty_cache() once.", From: "torch-cuda", Kept: []string{
			"memory-exhausted",
			"memory-fragmented",
		}},
		"empty-cache-less": {Text: "Call torch.cuda.empty_cache() only between phases that need different sizes, not in the step.", From: "torch-cuda", Kept: []string{
			"allocator-churn",
		}},
		"even-out-the-work": {Text: "Give all ranks the same work: batches by tokens instead of samples (sequence packing, sorting by length), pipeline stages of equal time, balanced experts.", From: "torch-tuning", Kept: []string{
			"uneven-ranks",
			"straggling-rank",
		}},
		"expandable-segments": {Text: "Set PYTORCH_ALLOC_CONF=expandable_segments:True (older PyTorch: PYTORCH_CUDA_ALLOC_CONF), so that segments grow and free pages fit blocks of any size.", From: "torch-cuda", Kept: []string{
			"gpu-idle",
			"allocation-calls",
			"allocating",
			"memory-exhausted",
			"memory-fragmented",
			"allocator-churn",
		}, Plain: "none"},
		"export-the-report": {Text: "Pass the report itself: nsys export --type sqlite REPORT.nsys-rep, then assay report REPORT.sqlite.", From: "nsys", Kept: []string{
			"sums-only",
		}},
		"fill-asynchronously": {Text: "Use cudaMemsetAsync on the stream that uses the memory.", From: "nsys-rules", Kept: []string{
			"synchronous-memsets",
			"gpu-idle",
			"exposed-copies",
		}},
		"fill-less": {Text: "Use optimizer.zero_grad(set_to_none=True), torch.empty instead of torch.zeros where all is overwritten, and preallocated buffers.", From: "torch-tuning", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "fill-what-is-read"},
		"fill-on-the-host": {Text: "Fill pinned memory on the CPU (memset), and memory that only the GPU uses on the GPU.", From: "cuda-sync", Kept: []string{
			"synchronous-memsets",
			"gpu-idle",
			"exposed-copies",
		}},
		"fill-the-last-wave": {Text: "Make the number of blocks a multiple of the blocks that run at a time, or slightly less: change the tile, the block size or the work per block.", From: "ncu", Kept: []string{
			"partial-waves",
		}},
		"fill-what-is-read": {Text: "Remove memsets of memory that is overwritten before it is read.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"find-allocation-sites": {Text: "Find the allocation sites: torch.cuda.memory._record_memory_history() and torch.cuda.memory._dump_snapshot(\"snapshot.pickle\"), which assay reads.", From: "torch-memory", Kept: []string{
			"memory-pressure",
		}},
		"find-pauses-in-weight-sync": {Text: "Check the idle time of the weight sync: it is waiting for the engine, not a lack of bandwidth.", From: "assay", Kept: []string{
			"weight-sync-time",
			"weight-sync-share",
			"rl-utilization",
		}},
		"find-the-common-call": {Text: "Find the call that most gaps have in common: it is the cause.", From: "assay", Kept: []string{
			"gpu-idle",
		}},
		"find-the-dependency": {Text: "Find the event or stream that the GPU waited for (cudaStreamWaitEvent, a large copy, a host function), and start that work earlier.", From: "cuda-guide", Kept: []string{
			"gpu-idle",
		}},
		"find-the-late-rank": {Text: "Find why rank {rank} is late before you tune the network: more or longer inputs, a late CPU, a throttled GPU, or work that only this rank does (logging, checkpoints).", From: "assay", Kept: []string{
			"exposed-communication",
			"straggling-rank",
			"dominant-kernel",
		}},
		"find-the-phase-that-varies": {Text: "Find the phase that varies. Typical causes: data loading, weight sync, sequences of different lengths.", From: "assay", Kept: []string{
			"uneven-steps",
		}},
		"find-what-is-periodic": {Text: "Find what happens every {n} steps. Typical causes: a checkpoint, evaluation, logging with .item(), torch.cuda.empty_cache(), garbage collection of Python.", From: "assay", Kept: []string{
			"periodic-stalls",
		}},
		"find-what-keeps-tensors": {Text: "Find what keeps the tensors: a list or logger (append loss.item() or loss.detach(), not loss), a cache without a limit, hooks, exceptions with tracebacks.", From: "torch-faq", Kept: []string{
			"memory-growth",
		}},
		"find-what-limits-training": {Text: "Find what limits training in its row of the table of phases.", From: "assay", Kept: []string{
			"training-share",
			"rl-utilization",
		}},
		"find-what-runs-in-the-gaps": {Text: "Find in the trace what the CPU does in the gaps. Typical causes: checkpoints, evaluation, compilation, graph capture, the start of data loaders.", From: "nsys-rules", Kept: []string{
			"long-gaps",
		}},
		"find-what-runs-in-the-phase": {Text: "Find in the trace what the CPU does in phase {phase}.", From: "assay", Kept: []string{
			"rl-utilization",
		}},
		"find-what-runs-in-the-stretches": {Text: "Find in the trace what the CPU does in these stretches. Typical causes: data loading, evaluation, the start and the end of a capture.", From: "nsys-rules", Kept: []string{
			"low-utilization",
		}},
		"find-what-runs-outside-phases": {Text: "Find in the trace what the CPU does outside phases.", From: "assay", Kept: []string{
			"rl-utilization",
		}},
		"find-what-sleep-does": {Text: "Find in the trace whether memory is freed and mapped again, or weights are copied.", From: "assay", Kept: []string{
			"sleep-wake-share",
			"rl-utilization",
		}},
		"find-what-the-os-call-waits-for": {Text: "Find what the OS call waits for: pthread_cond_wait, futex and poll wait for another thread or process; read and write wait for storage or a socket.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"find-who-copies": {Text: "Find the operator that copies: in the trace, follow the arrow from the largest copy to its launch and to the operator around it.", From: "assay", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"follow-the-issue": {Text: "{issue_help}", From: "assay", Kept: []string{
			"capture-quality",
			"device-records-missing",
		}},
		"follow-the-rule-of-ncu": {Text: "Follow ncu's rule {rule} (estimated speedup up to {speedup}): {text}.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
			"kernels-memory-bound",
			"kernels-compute-bound",
			"kernels-balanced",
			"kernels-near-limit",
		}},
		"free-gradients-early": {Text: "Free gradients early: optimizer.zero_grad(set_to_none=True) before the forward pass.", From: "torch-tuning", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"free-other-memory": {Text: "Reduce memory outside the allocator: other processes, the CUDA context and NCCL (nvidia-smi shows the total).", From: "torch-memory", Kept: []string{
			"memory-pressure",
		}},
		"fsdp-forward-prefetch": {Text: "With FSDP, if layers run in the same order in each step: set forward_prefetch=True.", From: "torch-fsdp-api", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp-prefetch": {Text: "With FSDP: overlap collectives with backward_prefetch=BackwardPrefetch.BACKWARD_PRE and limit_all_gathers=True.", From: "torch-fsdp", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp-send-less": {Text: "With FSDP: reduce gradients in bfloat16, with MixedPrecision(reduce_dtype=torch.bfloat16).", From: "torch-fsdp-api", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp-shard-grad-op": {Text: "With FSDP, if memory allows: use ShardingStrategy.SHARD_GRAD_OP instead of FULL_SHARD, which sends less data.", From: "torch-fsdp-api", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp2-prefetch": {Text: "With FSDP2: prefetch with set_modules_to_forward_prefetch and set_modules_to_backward_prefetch.", From: "torch-fsdp2", Of: "fsdp", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fsdp2-reshard": {Text: "With FSDP2, if memory allows: set fully_shard(reshard_after_forward=False), which avoids the all-gather in backward.", From: "torch-fsdp2", With: []string{
			"fsdp",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"fuse-by-hand": {Text: "Fuse consecutive kernels, so that data passes through memory once.", From: "cuda-best", Kept: []string{
			"dominant-kernel",
			"tiny-kernels",
			"memory-bandwidth",
		}},
		"fuse-copies": {Text: "Use torch.compile or fused operators, which avoid intermediate tensors that are copied.", From: "torch-compile", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "none"},
		"fuse-short-launches": {Text: "If launches are short: fuse kernels.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
		}},
		"fuse-small-kernels": {Text: "Use torch.compile, which fuses chains of small kernels into fewer passes over memory.", From: "torch-compile", Kept: []string{
			"dominant-kernel",
			"tiny-kernels",
			"memory-bandwidth",
		}, Plain: "fuse-by-hand"},
		"fuse-with-neighbors": {Text: "Reduce both compute and memory traffic: fuse the kernel with its neighbors, or use smaller types.", From: "ncu", Kept: []string{
			"kernels-balanced",
		}},
		"fused-attention": {Text: "Use fused attention: torch.nn.functional.scaled_dot_product_attention with the flash backend, or FlashAttention.", From: "torch-sdpa", Kept: []string{
			"dominant-kernel",
		}},
		"gains-are-in-kernels": {Text: "Optimize the kernels: lower precision, fused kernels, less recomputation. The GPU is already busy.", From: "torch-tuning", Kept: []string{
			"compute-bound",
		}},
		"give-all-ranks": {Text: "Profile every rank and pass the directory to assay. If all ranks but one have long communication kernels, that one is the straggler.", From: "assay", Kept: []string{
			"exposed-communication",
			"dominant-kernel",
		}},
		"give-cores": {Text: "Raise the CPU limit of the container, or lower OMP_NUM_THREADS and the number of workers if they take all cores.", From: "torch-tuning", Kept: []string{
			"gpu-idle",
		}},
		"give-the-original-trace": {Text: "If another program rewrote the trace: pass the file that the profiler wrote.", From: "assay", Kept: []string{
			"clocks-implausible",
		}},
		"group-by-stack": {Text: "Find the callers: profile(with_stack=True) and key_averages(group_by_stack_n=5) group the rows by stack.", From: "torch-profiler", Kept: []string{
			"copy-operators",
		}},
		"jax-combine": {Text: "With JAX: combine small collectives with --xla_gpu_all_gather_combine_threshold_bytes, --xla_gpu_reduce_scatter_combine_threshold_bytes, --xla_gpu_all_reduce_combine_threshold_bytes.", From: "jax-gpu", With: []string{
			"jax",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"jax-memory": {Text: "With JAX: remove XLA_PYTHON_CLIENT_PREALLOCATE=false and XLA_PYTHON_CLIENT_ALLOCATOR=platform (very slow), so that JAX allocates once.", From: "jax-memory", With: []string{
			"jax",
		}, Rules: []string{
			"allocation-calls",
			"allocating",
			"memory-exhausted",
			"memory-pressure",
		}},
		"jax-memory-share": {Text: "With JAX, if other programs need the GPU: lower XLA_CLIENT_MEM_FRACTION (default .75; older JAX: XLA_PYTHON_CLIENT_MEM_FRACTION).", From: "jax-memory", With: []string{
			"jax",
		}, Rules: []string{
			"allocation-calls",
			"allocating",
			"memory-exhausted",
			"memory-pressure",
		}},
		"jax-overlap": {Text: "With JAX: set XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true, so that collectives overlap with compute.", From: "jax-gpu", With: []string{
			"jax",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"keep-more-in-flight": {Text: "Keep more in flight: several independent loads or accumulators per thread, vector loads of 16 bytes, asynchronous copies in stages.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
		}},
		"keep-pinned": {Text: "Keep pinned buffers and reuse them, because pinning memory takes long.", From: "cuda-best", Kept: []string{
			"pageable-async-copies",
			"gpu-idle",
			"exposed-copies",
		}},
		"keep-state-on-the-gpu": {Text: "If memory allows: keep the engine's state on the GPU while it trains.", From: "skyrl-placement", Kept: []string{
			"sleep-wake-share",
			"rl-utilization",
		}},
		"launch-less": {Text: "Use CUDA graphs: torch.compile(model, mode=\"reduce-overhead\") launches many kernels with one call.", From: "torch-compile", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"synchronizing-calls",
			"synchronous-copies",
			"pageable-async-copies",
			"synchronous-memsets",
		}, Plain: "launch-less-by-graphs"},
		"launch-less-by-graphs": {Text: "Use CUDA graphs: capture repeated launches once (cudaStreamBeginCapture) and replay them with one call (cudaGraphLaunch).", From: "cuda-guide", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"synchronizing-calls",
			"synchronous-copies",
			"pageable-async-copies",
			"synchronous-memsets",
		}},
		"launch-more-each": {Text: "Launch fewer, larger kernels: larger batches (activation checkpointing makes room), fused operators and attention, optimizers with fused=True.", From: "torch-tuning", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
			"synchronizing-calls",
			"synchronous-copies",
			"pageable-async-copies",
			"synchronous-memsets",
		}, Plain: "launch-more-work"},
		"launch-more-work": {Text: "Launch fewer, larger kernels: larger batches, and one kernel instead of several short consecutive ones.", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
			"synchronizing-calls",
			"synchronous-copies",
			"pageable-async-copies",
			"synchronous-memsets",
		}},
		"leave-out-compilation": {Text: "If it was compilation or graph capture: leave it out of the capture with warm-up steps, schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}, Nsys: "leave-out-compilation-nsys"},
		"leave-out-compilation-nsys": {Text: "If it was compilation or graph capture: leave it out with nsys profile --capture-range=cudaProfilerApi, and torch.cuda.profiler.start() or cudaProfilerStart after warm steps.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"leave-out-first-launches": {Text: "Leave first launches, which load code, out of the capture: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}, Nsys: "leave-out-first-launches-nsys"},
		"leave-out-first-launches-nsys": {Text: "Leave first launches, which load code, out of the capture: nsys profile --capture-range=cudaProfilerApi, with torch.cuda.profiler.start() or cudaProfilerStart after warm steps.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"leave-out-stretches": {Text: "If a stretch is not part of the work: leave it out of the capture.", From: "assay", Kept: []string{
			"low-utilization",
		}},
		"leave-out-the-context": {Text: "If single calls take most of it: leave the start out of the capture, because the first call creates the context. cudaFree waits for all work of the GPU.", From: "cuda-sync", Kept: []string{
			"allocation-calls",
		}},
		"leave-out-the-profiler": {Text: "Leave the profiler's own work out of the window: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}, Nsys: "leave-out-the-profiler-nsys"},
		"leave-out-the-profiler-nsys": {Text: "Leave the profiler's own work out of the window: nsys profile --capture-range=cudaProfilerApi around a few warm steps, with --sample=none --cpuctxsw=none.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"leave-out-the-start": {Text: "If the gaps belong to the program's start: leave them out of the capture, with schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).", From: "torch-profiler", Kept: []string{
			"long-gaps",
		}, Nsys: "leave-out-the-start-nsys"},
		"leave-out-the-start-nsys": {Text: "If the gaps belong to the program's start: leave them out with nsys profile --capture-range=cudaProfilerApi, and torch.cuda.profiler.start() or cudaProfilerStart after warm steps.", From: "nsys", Kept: []string{
			"long-gaps",
		}},
		"leave-out-warm-up-steps": {Text: "Leave such steps out of the capture: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).", From: "torch-profiler", Kept: []string{
			"warm-up-steps",
		}, Nsys: "leave-out-warm-up-steps-nsys"},
		"leave-out-warm-up-steps-nsys": {Text: "Leave such steps out of the capture: nsys profile --capture-range=cudaProfilerApi, with torch.cuda.profiler.start() or cudaProfilerStart after warm steps.", From: "nsys", Kept: []string{
			"warm-up-steps",
		}},
		"leave-room-for-the-allocator": {Text: "If nothing calls torch.cuda.empty_cache(): use a smaller batch or gpu_memory_utilization, because the allocator empties its cache if memory runs short.", From: "torch-cuda", Kept: []string{
			"allocator-churn",
		}},
		"let-the-profiler-finish": {Text: "Let the profiler finish before the process ends.", From: "torch-profiler", Kept: []string{
			"device-records-missing",
		}},
		"limit-waiting-times": {Text: "Set time limits (asyncio.timeout), because one slow service blocks all callers that wait for it.", From: "python-asyncio", Kept: []string{
			"waiting",
		}},
		"load-data-ahead": {Text: "Load the next batch in DataLoader workers: raise num_workers and prefetch_factor, and set pin_memory=True and persistent_workers=True.", From: "torch-data", Kept: []string{
			"gpu-idle",
			"data-loading",
			"data-share",
			"rl-utilization",
		}, Plain: "read-ahead"},
		"load-data-sooner": {Text: "If the CPU waits for data: load batches in DataLoader workers (num_workers, prefetch_factor, pin_memory=True, persistent_workers=True).", From: "torch-data", Kept: []string{
			"gpu-idle",
			"host-work",
		}, Plain: "read-sooner"},
		"load-through-meta": {Text: "Build the model on the meta device (torch.device(\"meta\")) and load into it, so that no second copy exists while it loads.", From: "torch-meta", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"look-around-the-events": {Text: "If the GPU was meant to be busy all the time: find in the trace what the CPU did before and after its few events.", From: "assay", Kept: []string{
			"too-little-gpu-work",
		}},
		"max-split-size": {Text: "If expandable segments cannot be used: set PYTORCH_ALLOC_CONF=max_split_size_mb:512, which keeps large segments whole.", From: "torch-cuda", Kept: []string{
			"memory-exhausted",
			"memory-fragmented",
		}},
		"measure-bandwidth": {Text: "Measure the memory bandwidth of the largest of these kernels: ncu --section SpeedOfLight --section MemoryWorkloadAnalysis.", From: "ncu", Kept: []string{
			"memory-bandwidth",
		}},
		"megatron-overlap": {Text: "With Megatron and the distributed optimizer: set overlap_grad_reduce and overlap_param_gather (--overlap-grad-reduce --overlap-param-gather).", From: "megatron", With: []string{
			"megatron",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"megatron-pipeline": {Text: "With Megatron, if pipeline stages wait: set a virtual pipeline size.", From: "megatron", With: []string{
			"megatron",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"megatron-tp-overlap": {Text: "With Megatron and sequence parallelism: set tp_comm_overlap (--tp-comm-overlap).", From: "megatron", With: []string{
			"megatron",
		}, Rules: []string{
			"exposed-communication",
			"communication-work",
		}},
		"more-blocks": {Text: "Launch more blocks, because the grid fills {waves} of one wave and some SMs are empty: larger batches, a finer split (split-K), or several streams.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
		}},
		"move-fewer-bytes": {Text: "Move fewer bytes: fuse the kernel with its neighbors (torch.compile), use smaller types, keep reused data in shared memory or registers.", From: "ncu", Kept: []string{
			"kernels-memory-bound",
		}},
		"move-less": {Text: "Move fewer bytes: bfloat16 instead of float32, fused losses and optimizers (fused=True), no layout copies (.contiguous(), transposes), recomputation where it is cheaper than reading.", From: "torch-tuning", Kept: []string{
			"memory-bandwidth",
		}, Plain: "move-less-by-hand"},
		"move-less-by-hand": {Text: "Move fewer bytes: smaller types if accuracy allows, coalesced accesses, recomputation where it is cheaper than reading.", From: "cuda-best", Kept: []string{
			"memory-bandwidth",
		}},
		"move-off-the-launching-thread": {Text: "Move {what} off the thread that launches kernels, run it after the next launches, or run it less often: the GPU gets no work while it runs.", From: "torch-tuning", Kept: []string{
			"gpu-idle",
			"long-gaps",
		}},
		"nemo-gym-servers": {Text: "With NeMo Gym: profile the resource servers, which rollouts wait for, with +profiling_enabled=true +profiling_results_dirpath=DIR, and pass DIR to assay.", From: "nemo-gym", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"wait-share",
			"rl-utilization",
			"generation-share",
		}},
		"nemo-rl-async": {Text: "With NeMo RL: set grpo.async_grpo.enabled=true, in_flight_weight_updates=true and first max_trajectory_age_steps=1, so that rollouts overlap with training.", From: "nemo-rl-async", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"nemo-rl-async-needs": {Text: "With asynchronous NeMo RL: set policy.generation.vllm_cfg.async_engine=true, policy.generation.colocated.enabled=false and loss_fn.use_importance_sampling_correction=true.", From: "nemo-rl-async", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"nemo-rl-refit": {Text: "With NeMo RL and policy.generation.colocated.enabled=true: set policy.refit_persistent_ipc_buffers=true, which keeps the CUDA IPC buffers (policy.refit_buffer_size_gb).", From: "nemo-rl-refit", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"nemo-rl-transport": {Text: "With NeMo RL and policy.generation.colocated.enabled=false: set policy.generation.refit_transport, nccl_reshard for very large models, nixl on a fast RDMA network.", From: "nemo-rl-refit", With: []string{
			"nemo-rl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"offload-less": {Text: "If parameters or the optimizer are offloaded to the CPU: offload fewer of them.", From: "torch-fsdp-api", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "none"},
		"one-batch-at-a-time": {Text: "Move batches to the GPU one at a time, and delete them after the step (del).", From: "torch-faq", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"open-the-flame-graph": {Text: "Open the flame graph: the widest box below this function is the callee with the most time.", From: "assay", Kept: []string{
			"nested-cost",
		}},
		"open-the-gap": {Text: "Open the trace at {time} (start of the largest gap). Typical causes: data loading, compilation, graph capture, checkpoints, synchronization.", From: "assay", Kept: []string{
			"gpu-idle",
		}},
		"open-the-gap-of-a-file": {Text: "Open {file} at {time} (start of the largest gap). Typical causes: data loading, compilation, graph capture, checkpoints, synchronization.", From: "assay", Kept: []string{
			"gpu-idle",
		}},
		"optimize-another-kernel-first": {Text: "Optimize {kernel} first: it is {side}-bound, takes {share} and reaches {peak} of its peak.", From: "ncu", Kept: []string{
			"kernels-near-limit",
		}},
		"optimize-compiled-code": {Text: "Optimize its own code: a better algorithm, less memory traffic, vectorized code.", From: "nemo-gym", Kept: []string{
			"function-self",
			"function-total",
		}},
		"optimize-gpu-operations": {Text: "Optimize the kernels and copies: they are what the CPU waits for.", From: "assay", Kept: []string{
			"waiting-calls",
		}},
		"optimize-python-code": {Text: "Optimize its own code: a better algorithm, sets and dicts instead of list searches, vectorized or compiled code (NumPy, Numba, C++).", From: "nemo-gym", Kept: []string{
			"function-self",
			"function-total",
		}},
		"overlap-copies": {Text: "Prefetch the next batch on a separate stream with tensor.to(device, non_blocking=True), so that the copy overlaps with compute.", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "overlap-copies-by-streams"},
		"overlap-copies-by-streams": {Text: "Copy the next part with cudaMemcpyAsync, from pinned memory and on a separate stream, while kernels process the current part.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"overlap-loads": {Text: "Find the instructions that stall in ncu's source view, and overlap loads with arithmetic (asynchronous copies, more stages).", From: "ncu", Kept: []string{
			"kernels-balanced",
		}},
		"pack-by-hand": {Text: "Gather small pieces in one buffer and copy once: each copy has a fixed overhead.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"pack-small-copies": {Text: "Gather small tensors into one (torch.cat, torch._utils._flatten_dense_tensors) and copy once: each copy has a fixed overhead.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "pack-by-hand"},
		"parallelize-callees": {Text: "If its callees compute: run independent ones in parallel (Ray, processes), or call them less often.", From: "nemo-gym", Kept: []string{
			"function-total",
		}},
		"permit-tracing": {Text: "If the profiler reports CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: run as administrator, load the driver with NVreg_RestrictProfilingToAdminUsers=0, or use --cap-add=SYS_ADMIN in a container.", From: "nvidia-counters", Kept: []string{
			"no-gpu-time",
			"kernels-unrecorded",
		}},
		"pin-by-hand": {Text: "Use pinned memory (cudaMallocHost or cudaHostRegister) for asynchronous copies: with pageable memory, cudaMemcpyAsync blocks the CPU and is much slower.", From: "cuda-sync", Kept: []string{
			"pageable-async-copies",
			"gpu-idle",
			"exposed-copies",
		}},
		"pin-for-async": {Text: "Use pinned memory for asynchronous copies: pin_memory=True in the DataLoader or in torch.empty, then non_blocking=True; in C++ cudaMallocHost or cudaHostRegister.", From: "cuda-sync", Kept: []string{
			"pageable-async-copies",
			"gpu-idle",
			"exposed-copies",
		}, Plain: "pin-by-hand"},
		"pin-to-the-numa-node": {Text: "Pin the process to the GPU's NUMA node: numactl --cpunodebind=N --membind=N.", From: "torch-tuning", Kept: []string{
			"gpu-idle",
		}},
		"prepare-data-outside-the-step": {Text: "Move tokenization and padding out of the step.", From: "torch-data", Kept: []string{
			"data-share",
			"rl-utilization",
		}},
		"print-graph-kernels": {Text: "Record the kernels inside CUDA graphs with nsys profile --cuda-graph-trace=node, and print the tables again: shares here cover only kernels outside graphs.", From: "nsys", Kept: []string{
			"graphs-hide-kernels",
		}},
		"print-the-gpu-rows": {Text: "Print the rows of the GPU, too: table(sort_by=\"self_cuda_time_total\", row_limit=-1), without top_level_events_only.", From: "torch-profiler", Kept: []string{
			"device-time-missing",
		}},
		"profile-one-kernel": {Text: "Profile this kernel with Nsight Compute (ncu --kernel-name NAME), which shows whether arithmetic, memory or latency limits it.", From: "ncu-cli", Kept: []string{
			"dominant-kernel",
		}},
		"read-accelerator-slices": {Text: "Start with the slices that have the most self time: the events of that accelerator are among them.", From: "assay", Kept: []string{
			"no-gpu-time",
		}},
		"read-ahead": {Text: "Read and prepare the next batch on another thread while the GPU works.", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"data-loading",
			"data-share",
			"rl-utilization",
		}},
		"read-allocation-stacks": {Text: "Read the stacks of the largest allocations in summary.json, under snapshots[].owners[].stack.", From: "assay", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"read-back-by-streams": {Text: "If the copies are needed: copy to pinned memory with cudaMemcpyAsync on a separate stream, and synchronize before the CPU reads them.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"read-back-less": {Text: "Keep metrics on the GPU and log every few steps: .item(), .cpu(), .tolist() and print(tensor) copy to the CPU and wait.", From: "torch-tuning", Kept: []string{
			"exposed-copies",
			"copy-work",
			"pageable-async-copies",
		}, Plain: "read-back-seldom"},
		"read-back-pinned": {Text: "If the copies are needed (offloading, checkpoints): copy to pinned memory with non_blocking=True on a separate stream, and synchronize before the CPU reads them.", From: "torch-pinned", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "read-back-by-streams"},
		"read-back-seldom": {Text: "Keep results on the GPU and read them every few iterations: each copy to the CPU waits for the work before it.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
			"pageable-async-copies",
		}},
		"read-cpu-operators": {Text: "If this was a run on the CPU: start with the operators that have the most self time.", From: "torch-profiler", Kept: []string{
			"device-time-missing",
		}},
		"read-cpu-slices": {Text: "Start with the CPU slices that have the most self time: they show where the program's own time goes.", From: "assay", Kept: []string{
			"no-gpu-time",
		}},
		"read-more-of-the-file": {Text: "Read more of the file with --max-memory SIZE or --max-input SIZE: many profilers write GPU events last.", From: "assay", Kept: []string{
			"no-gpu-time",
		}},
		"read-sooner": {Text: "If the CPU waits for data: read and prepare the next batch on another thread while the GPU works.", From: "cuda-best", Kept: []string{
			"gpu-idle",
			"host-work",
		}},
		"read-the-profilers-errors": {Text: "Read the standard error of the recorded process: Kineto prints why CUPTI refused to trace.", From: "torch-profiler", Kept: []string{
			"no-gpu-time",
		}},
		"read-the-stall-reason": {Text: "Find why warps stall: {reason} takes {cycles} cycles per instruction.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
		}},
		"read-the-whole-snapshot": {Text: "Pass the whole file: copy it again, or read more of it with --max-memory SIZE and --max-input SIZE; the capture's issues say which.", From: "assay", Kept: []string{
			"memory-unrecorded",
		}},
		"recompute-less": {Text: "Remove recomputation that memory does not require.", From: "torch-checkpoint", Kept: []string{
			"kernels-compute-bound",
		}},
		"record-a-timeline": {Text: "Record a timeline: torch.profiler with export_chrome_trace, or nsys profile and nsys export --type sqlite.", From: "torch-profiler", Kept: []string{
			"sums-only",
		}},
		"record-allocation-sites": {Text: "Call torch.cuda.memory._record_memory_history(stacks=\"python\") before the model is built, because earlier allocations have no stack.", From: "torch-memory", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"record-built-in-functions": {Text: "Record built-in functions (yappi.start(builtins=True)): they show where Python calls compiled code.", From: "yappi", Kept: []string{
			"nested-cost",
		}},
		"record-fewer-events": {Text: "Record fewer activities or fewer steps, so that the profiler's buffers do not overflow.", From: "torch-profiler", Kept: []string{
			"device-records-missing",
		}},
		"record-for-the-tables": {Text: "Record again with nsys profile --trace=cuda,nvtx,osrt -o run PROGRAM, and print the tables with nsys stats run.nsys-rep.", From: "nsys", Kept: []string{
			"tables-empty",
			"kernels-unrecorded",
			"too-little-gpu-work",
		}},
		"record-graph-nodes": {Text: "Record the kernels inside CUDA graphs: nsys profile --cuda-graph-trace=node, or torch.profiler with a newer CUPTI.", From: "nsys", Kept: []string{
			"gpu-idle",
			"opaque-graphs",
		}},
		"record-memory-history": {Text: "Call torch.cuda.memory._record_memory_history(max_entries=1000000) before the code to analyze, and torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") after it.", From: "torch-memory", Kept: []string{
			"memory-unrecorded",
		}},
		"record-memory-peaks": {Text: "Record peaks with torch.cuda.memory._record_memory_history() and _dump_snapshot(): these are totals over the run, not what was allocated at once.", From: "torch-memory", Kept: []string{
			"largest-allocator",
		}},
		"record-os-calls": {Text: "If the thread did not lack a core: record the OS calls that it waits in, with nsys profile --trace=osrt.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"record-the-cpu": {Text: "Record CPU activity: with_stack=True shows Python functions, and record_function names phases.", From: "torch-profiler", Kept: []string{
			"gpu-idle",
		}, Nsys: "record-the-cpu-nsys"},
		"record-the-cpu-nsys": {Text: "Record CPU activity: --trace=cuda,nvtx,osrt shows OS calls and NVTX ranges (nvtxRangePush, torch.cuda.nvtx.range_push), --python-sampling=true shows Python functions.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"record-the-gpu": {Text: "Record GPU work: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] in torch.profiler.profile.", From: "torch-profiler", Kept: []string{
			"no-gpu-time",
		}, Nsys: "record-the-gpu-nsys"},
		"record-the-gpu-for-tables": {Text: "If a GPU was meant to work: record activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and print with table(sort_by=\"self_cuda_time_total\").", From: "torch-profiler", Kept: []string{
			"device-time-missing",
		}},
		"record-the-gpu-nsys": {Text: "Record GPU work: nsys profile --trace=cuda,nvtx,osrt, and let the program end by itself or with cudaProfilerStop.", From: "nsys", Kept: []string{
			"no-gpu-time",
		}},
		"record-the-gpu-of-pytorch": {Text: "If this was a PyTorch run: record GPU work with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] in torch.profiler.profile.", From: "torch-profiler", Kept: []string{
			"no-gpu-time",
		}},
		"record-whole-steps": {Text: "Record whole steps: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3), prof.step() in every iteration, and export only after the active steps.", From: "torch-profiler", Kept: []string{
			"no-gpu-time",
			"too-little-gpu-work",
			"device-records-missing",
		}, Nsys: "record-whole-steps-nsys"},
		"record-whole-steps-nsys": {Text: "Record whole steps: nsys profile --capture-range=cudaProfilerApi, with cudaProfilerStart and cudaProfilerStop (torch.cuda.profiler.start() and stop()) around warm steps.", From: "nsys", Kept: []string{
			"no-gpu-time",
			"too-little-gpu-work",
			"device-records-missing",
		}},
		"record-with-warm-up": {Text: "Record again with schedule(warmup=2) in torch.profiler, or with the newest nsys.", From: "torch-profiler", Kept: []string{
			"clocks-implausible",
		}},
		"record-without": {Text: "Record again without {phases}, which hides what limits the rest: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3).", From: "torch-profiler", Kept: []string{
			"gpu-idle",
			"warm-up-phases",
			"exposed-communication",
			"exposed-copies",
		}, Nsys: "record-without-nsys"},
		"record-without-nsys": {Text: "Record again without {phases}, which hides what limits the rest: nsys profile --capture-range=cudaProfilerApi, with torch.cuda.profiler.start() or cudaProfilerStart after it.", From: "nsys", Kept: []string{
			"gpu-idle",
			"warm-up-phases",
			"exposed-communication",
			"exposed-copies",
		}},
		"reduce-allocations": {Text: "Reduce allocations there: reuse buffers, keep fewer objects alive, read in pieces.", From: "assay", Kept: []string{
			"function-self",
			"function-total",
		}},
		"reduce-callees": {Text: "Start with its callees: call them less often, reduce their work, or run independent ones in parallel.", From: "nemo-gym", Kept: []string{
			"function-total",
			"nested-cost",
		}},
		"reduce-the-kernels-work": {Text: "Call the kernel less often or reduce its work (fuse it, use a smaller type, cache its result), because it already runs close to the peak.", From: "ncu", Kept: []string{
			"kernels-near-limit",
		}},
		"remove-synchronization": {Text: "Remove .item(), .cpu(), .tolist(), print(tensor), torch.cuda.synchronize() and boolean masks from the step: each makes the CPU wait for the GPU.", From: "torch-tuning", Kept: []string{
			"gpu-idle",
			"synchronizing-calls",
			"waiting-calls",
			"data-loading",
			"allocating",
		}, Plain: "wait-less"},
		"replace-data-parallel": {Text: "Use DistributedDataParallel instead of nn.DataParallel.", From: "torch-cuda", Kept: []string{
			"exposed-copies",
			"copy-work",
		}, Plain: "none"},
		"reuse-pinned": {Text: "Keep pinned buffers and reuse them: tensor.pin_memory() just before a copy can take longer than the copy without it.", From: "torch-pinned", Kept: []string{
			"pageable-async-copies",
			"gpu-idle",
			"exposed-copies",
		}, Plain: "keep-pinned"},
		"round-up-sizes": {Text: "If sizes vary: set PYTORCH_ALLOC_CONF=roundup_power2_divisions:8, so that freed blocks fit again.", From: "torch-cuda", Kept: []string{
			"allocator-churn",
		}},
		"run-without-graphs": {Text: "To find their callers, run once without graphs: torch.compile without \"reduce-overhead\", SGLang --cuda-graph-backend-decode=disabled (older: --disable-cuda-graph), vLLM --enforce-eager.", From: "nsys", Kept: []string{
			"graphs-hide-kernels",
		}},
		"schedule-garbage-collection": {Text: "If it is Python's garbage collection: call gc.freeze() after warm-up, or gc.disable() and then gc.collect() at chosen steps.", From: "python-gc", Kept: []string{
			"periodic-stalls",
			"slow-steps",
		}},
		"send-less": {Text: "Use smaller tensor-parallel groups, and keep each within one node.", From: "megatron", Kept: []string{
			"exposed-communication",
			"communication-work",
		}},
		"send-more-requests": {Text: "If the wait is for requests: send more of them at the same time before you make the server faster.", From: "nemo-gym", Kept: []string{
			"waiting",
		}},
		"send-weights-in-buckets": {Text: "If weights are sent between nodes: use NCCL with large buckets.", From: "nemo-rl-refit", Kept: []string{
			"weight-sync-time",
			"weight-sync-share",
			"rl-utilization",
		}},
		"send-what-changes": {Text: "Keep constant data on the GPU, and send small types, which the GPU can convert.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"sfllm-graphs": {Text: "With SFLLM: run decode in CUDA graphs, without --disable-cuda-graph and with --cuda-graph-max-bs at least the batch size.", From: "sfllm", With: []string{
			"sfllm",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"sglang-fill": {Text: "With SGLang: send enough requests to keep 100 to 2000 in the queue (#queue-req in its log).", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"sglang-fill-memory": {Text: "With SGLang: raise --mem-fraction-static until 5 to 8 GB are left (available_gpu_mem in its log).", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"sglang-fill-schedule": {Text: "With SGLang, if token usage is below 0.9 while requests queue: set --schedule-conservativeness 0.3.", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"sglang-graphs": {Text: "With SGLang: run decode in CUDA graphs, without --cuda-graph-backend-decode=disabled and with --cuda-graph-max-bs-decode at least the batch size.", From: "sglang-arguments", With: []string{
			"sglang",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"sglang-graphs-old": {Text: "With older SGLang: run decode in CUDA graphs, without --disable-cuda-graph and with --cuda-graph-max-bs at least the batch size.", From: "sglang-arguments", With: []string{
			"sglang",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"sglang-less-memory": {Text: "With SGLang, if memory runs out in prefill: lower --chunked-prefill-size to 4096 or 2048.", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"sglang-less-memory-decode": {Text: "With SGLang, if memory runs out in decode: lower --max-running-requests.", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"sglang-less-memory-static": {Text: "With SGLang: lower --mem-fraction-static to 0.8 or 0.7, which makes the KV cache smaller.", From: "sglang-tuning", With: []string{
			"sglang",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"sglang-overlap": {Text: "With SGLang: keep the overlap scheduler on (no --disable-overlap-schedule).", From: "sglang-arguments", With: []string{
			"sglang",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"shard-gradients": {Text: "Shard gradients over ranks: FULL_SHARD or SHARD_GRAD_OP of FSDP, or ZeRO stage 2 or 3.", From: "torch-fsdp-api", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"shard-the-optimizer": {Text: "Shard the optimizer state over ranks: FSDP, ZeRO stage 1 or torch.distributed.optim.ZeroRedundancyOptimizer.", From: "torch-zero", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"shard-weights": {Text: "Shard or quantize the weights: FULL_SHARD of FSDP, tensor parallelism, bfloat16 or 8-bit weights.", From: "torch-fsdp-api", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"share-the-graph-pool": {Text: "Let CUDA graphs share a pool: pass pool=graph.pool() to torch.cuda.graph, and capture the largest shape first.", From: "torch-cuda", Kept: []string{
			"memory-exhausted",
			"memory-fragmented",
		}},
		"shorten-the-tail": {Text: "If generation has a long tail: limit response lengths, or use asynchronous rollouts.", From: "skyrl-async", Kept: []string{
			"generation-share",
			"rl-utilization",
		}},
		"shrink-the-kv-cache": {Text: "Lower gpu_memory_utilization (vLLM) or --mem-fraction-static (SGLang), because the KV cache takes all that it gets, or store it in fp8.", From: "vllm-memory", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"shrink-the-kv-cache-of-servers": {Text: "If this is an inference server: lower --gpu-memory-utilization (vLLM) or --mem-fraction-static (SGLang), which makes the KV cache smaller.", From: "vllm-memory", Kept: []string{
			"memory-pressure",
		}},
		"skyrl-async": {Text: "With SkyRL: use the fully async trainer on separate GPUs (trainer.placement.colocate_all=false), so that generation overlaps with training.", From: "skyrl-async", With: []string{
			"skyrl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"skyrl-async-staleness": {Text: "With SkyRL's fully async trainer: raise trainer.fully_async.max_staleness_steps and num_parallel_generation_workers, as far as the algorithm tolerates it.", From: "skyrl-async", With: []string{
			"skyrl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"skyrl-chunks": {Text: "With SkyRL: raise generator.inference_engine.weight_transfer_threshold_cuda_ipc_GB (default 1.0), which sends weights in larger chunks.", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"skyrl-graphs": {Text: "With SkyRL: set generator.inference_engine.enforce_eager=false to use CUDA graphs. The default is true for stability, so check convergence in long runs.", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"skyrl-micro-batches": {Text: "With SkyRL: raise trainer.micro_train_batch_size_per_gpu and trainer.micro_forward_batch_size_per_gpu (both 1 by default).", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"training-share",
		}},
		"skyrl-no-offload": {Text: "With SkyRL on separate GPUs: set optimizer_config.offload_after_step=false, which avoids copies of the optimizer state.", From: "skyrl-placement", With: []string{
			"skyrl",
		}, Rules: []string{
			"sleep-wake-share",
		}},
		"skyrl-no-sleep": {Text: "With SkyRL: run the engines on separate GPUs (trainer.placement.colocate_all=false), where they need neither sleep nor wake-up.", From: "skyrl-placement", With: []string{
			"skyrl",
		}, Rules: []string{
			"sleep-wake-share",
		}},
		"skyrl-packing": {Text: "With SkyRL: set trainer.use_sample_packing=true and trainer.gradient_checkpointing=true, which save memory for larger micro-batches.", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"training-share",
		}},
		"skyrl-rollout": {Text: "With SkyRL: raise gpu_memory_utilization, max_num_seqs and max_num_batched_tokens of generator.inference_engine (older SkyRL: of generator).", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"skyrl-rollout-engines": {Text: "With SkyRL: raise generator.inference_engine.num_engines, which gives more engines.", From: "skyrl-config", With: []string{
			"skyrl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"skyrl-weights": {Text: "With SkyRL: set trainer.placement.colocate_all=true, so that weights are sent by CUDA IPC instead of NCCL broadcasts.", From: "skyrl-inference", With: []string{
			"skyrl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"slime-context-parallel": {Text: "With slime, if one response alone is too long: raise --context-parallel-size.", From: "slime-faq", With: []string{
			"slime",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"slime-fewer-tokens": {Text: "With slime and --use-dynamic-batch-size: lower --max-tokens-per-gpu.", From: "slime-faq", With: []string{
			"slime",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"slime-less-memory": {Text: "With slime and --colocate: set --sglang-mem-fraction-static to 0.8 or less, which leaves memory to Megatron.", From: "slime", With: []string{
			"slime",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"slime-partial": {Text: "With slime: set --over-sampling-batch-size above --rollout-batch-size and add --partial-rollout, which keeps unfinished samples for the next rollout.", From: "slime", With: []string{
			"slime",
		}, Rules: []string{
			"generation-share",
			"wait-share",
		}},
		"slime-training": {Text: "With slime: set --use-dynamic-batch-size and raise --max-tokens-per-gpu up to the memory limit.", From: "slime-faq", With: []string{
			"slime",
		}, Rules: []string{
			"training-share",
		}},
		"slime-weights": {Text: "With slime, if memory allows: raise --update-weight-buffer-size (in bytes), above all for mixtures of experts.", From: "slime-arguments", With: []string{
			"slime",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"smaller-allocation": {Text: "Make this one allocation smaller, because it needs over half of all memory: check the shapes at its site, and compute in chunks there.", From: "torch-memory", Kept: []string{
			"memory-exhausted",
		}},
		"smaller-communication-buffers": {Text: "Reduce the buffers of collectives: limit_all_gathers=True, fewer prefetched layers, a smaller bucket_cap_mb, resharding after forward.", From: "torch-fsdp", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"smaller-micro-batches": {Text: "Use smaller micro-batches with gradient accumulation, or shorter sequences.", From: "torch-tuning", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"smaller-optimizer": {Text: "Use an 8-bit or factored optimizer (bitsandbytes, Adafactor), or offload its state to the CPU.", From: "bitsandbytes", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"sort-by-length": {Text: "If sequence lengths vary: sort batches by length, or limit their tokens.", From: "verl", Kept: []string{
			"uneven-steps",
		}},
		"speed-up-generation": {Text: "If generation is mostly idle in the table of phases: use larger batches and CUDA graphs.", From: "skyrl", Kept: []string{
			"generation-share",
			"rl-utilization",
		}},
		"start-awaited-work-earlier": {Text: "Give the work that the OS call waits for (data loader, queue, lock) to more workers, or start it earlier.", From: "nsys", Kept: []string{
			"gpu-idle",
		}},
		"start-nsys-first": {Text: "Start nsys in front of the launcher (torchrun, mpirun, ray) or of each worker, because it follows only child processes, and let them end by themselves.", From: "nsys", Kept: []string{
			"tables-empty",
			"kernels-unrecorded",
			"too-little-gpu-work",
		}},
		"stay-on-one-device": {Text: "Divide the work so that consecutive operations stay on one GPU.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"step-in-backward": {Text: "Run the optimizer step in backward (register_post_accumulate_grad_hook), which frees each gradient after its use.", From: "torch-step-in-backward", Kept: []string{
			"memory-exhausted",
			"memory-pressure",
			"memory-owner",
		}},
		"stop-other-profilers": {Text: "Stop every other profiler of this GPU (nsys, ncu, DCGM profiling metrics, a second torch.profiler) and record again: only one can use CUPTI at a time.", From: "nsys", Kept: []string{
			"no-gpu-time",
			"kernels-unrecorded",
		}},
		"swap-buffers": {Text: "Swap pointers instead of contents, and let kernels write where the next one reads.", From: "cuda-best", Kept: []string{
			"exposed-copies",
			"copy-work",
		}},
		"tensor-cores": {Text: "Check that it runs on tensor cores: bfloat16 or fp8 inputs, or torch.set_float32_matmul_precision(\"high\"), and dimensions that are multiples of 8.", From: "torch-tuning", Kept: []string{
			"dominant-kernel",
		}, Plain: "tensor-cores-by-type"},
		"tensor-cores-by-type": {Text: "Check that it runs on tensor cores: half, bfloat16 or TF32 inputs (CUBLAS_TF32_TENSOR_OP_MATH of cuBLAS), and dimensions that are multiples of 8.", From: "cuda-best", Kept: []string{
			"dominant-kernel",
		}},
		"try-other-kernels": {Text: "Try another tile or library kernel: torch.compile with mode=\"max-autotune\" measures several.", From: "torch-compile", Kept: []string{
			"kernels-compute-bound",
		}},
		"tune-the-communication": {Text: "No straggler: overlap communication with compute, or reduce it.", From: "assay", Kept: []string{
			"exposed-communication",
			"dominant-kernel",
		}},
		"use-a-persistent-kernel": {Text: "Use a persistent kernel or stream-K, whose blocks share the work of the last wave.", From: "ncu", Kept: []string{
			"partial-waves",
		}},
		"use-fewer-registers": {Text: "Use fewer registers: __launch_bounds__ or -maxrregcount, a smaller tile, in Triton other num_warps and num_stages.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
			"low-occupancy",
		}},
		"use-less-shared-memory": {Text: "Use less shared memory per block (a smaller tile or fewer stages), so that a second block fits on the SM.", From: "ncu", Kept: []string{
			"kernels-latency-bound",
			"low-occupancy",
		}},
		"use-sets-and-dicts": {Text: "If the second run had more data: replace lists that grow and are searched or copied with sets, dicts or indexes.", From: "nemo-gym", Kept: []string{
			"growing-average",
		}},
		"use-tensor-cores": {Text: "Use tensor cores: bf16, fp16 or fp8 inputs, dimensions that are multiples of 8 (16 with fp8), torch.set_float32_matmul_precision(\"high\") with fp32.", From: "torch-tuning", Kept: []string{
			"kernels-compute-bound",
		}},
		"verl-async": {Text: "With veRL: set trainer.use_v1=True and trainer.v1.trainer_mode=colocate_async (same GPUs) or separate_async (other GPUs), so that generation overlaps with training.", From: "verl-async", With: []string{
			"verl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"verl-async-staleness": {Text: "With asynchronous veRL: limit the age of samples with trainer.v1.sampler.max_off_policy_threshold.", From: "verl-async", With: []string{
			"verl",
		}, Rules: []string{
			"generation-share",
			"wait-share",
			"rl-utilization",
		}},
		"verl-buckets": {Text: "With veRL, if memory allows: raise actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes, which sends weights in larger buckets.", From: "verl-config", With: []string{
			"verl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"verl-less-memory": {Text: "With veRL: lower actor_rollout_ref.rollout.gpu_memory_utilization.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"verl-less-memory-graphs": {Text: "With veRL: shorten cudagraph_capture_sizes, because CUDA graphs stay on the GPU while it trains.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"verl-less-memory-training": {Text: "With veRL: set enable_gradient_checkpointing=True and enable_activation_offload=True of actor_rollout_ref.model, and actor_rollout_ref.actor.entropy_checkpointing=True.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"verl-rollout": {Text: "With veRL: raise actor_rollout_ref.rollout.gpu_memory_utilization (0.5 to 0.7 if the trainer shares the GPU).", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"verl-rollout-batch": {Text: "With veRL, if the KV cache is not full: raise max_num_seqs or max_num_batched_tokens (over 2048) of actor_rollout_ref.rollout.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"verl-rollout-replicas": {Text: "With veRL, if memory allows: lower actor_rollout_ref.rollout.tensor_model_parallel_size, which gives more replicas.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"gpu-idle",
			"low-utilization",
			"launch-bound",
			"generation-share",
			"rl-utilization",
		}},
		"verl-summon": {Text: "With veRL, if memory allows: leave layered_summon off, because it saves memory and is slower.", From: "verl-config", With: []string{
			"verl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"verl-training": {Text: "With veRL: set use_remove_padding=True, use_dynamic_bsz=True and actor_rollout_ref.actor.ppo_max_token_len_per_gpu at least twice prompt plus response.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"training-share",
		}},
		"verl-training-prefetch": {Text: "With veRL and FSDP: set actor_rollout_ref.actor.fsdp_config.forward_prefetch=True.", From: "verl", With: []string{
			"verl",
		}, Rules: []string{
			"training-share",
		}},
		"verl-weights": {Text: "With veRL: set actor_rollout_ref.rollout.checkpoint_engine.backend: naive if trainer and rollout share GPUs, nccl if not, nixl if the number of engines changes.", From: "verl-weights", With: []string{
			"verl",
		}, Rules: []string{
			"weight-sync-time",
			"weight-sync-share",
		}},
		"vllm-fewer-graphs": {Text: "With vLLM: use fewer cudagraph_capture_sizes or --enforce-eager, so that CUDA graphs take less memory.", From: "vllm-memory", With: []string{
			"vllm",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"vllm-fill": {Text: "With vLLM: raise --max-num-batched-tokens above 8192, which increases throughput.", From: "vllm-tuning", With: []string{
			"vllm",
		}, Rules: []string{
			"gpu-idle",
			"launch-bound",
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"vllm-graphs": {Text: "With vLLM: run decode in CUDA graphs, without --enforce-eager and with cudagraph_capture_sizes (--compilation-config) up to the batch size.", From: "vllm-memory", With: []string{
			"vllm",
		}, Rules: []string{
			"gpu-idle",
			"short-kernels",
			"host-work",
			"launch-bound",
			"tiny-kernels",
		}},
		"vllm-less-memory": {Text: "With vLLM: lower --max-model-len and --max-num-seqs, which limit context and batch.", From: "vllm-memory", With: []string{
			"vllm",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"vllm-preemption": {Text: "With vLLM, if it warns of preemption: raise --gpu-memory-utilization or --tensor-parallel-size, or lower --max-num-seqs or --max-num-batched-tokens.", From: "vllm-tuning", With: []string{
			"vllm",
		}, Rules: []string{
			"gpu-idle",
			"launch-bound",
			"low-utilization",
			"generation-share",
			"rl-utilization",
		}},
		"vllm-split-weights": {Text: "With vLLM: raise --tensor-parallel-size, which splits the weights.", From: "vllm-memory", With: []string{
			"vllm",
		}, Rules: []string{
			"memory-exhausted",
			"memory-pressure",
		}},
		"wait-for-an-event": {Text: "If a wait is needed: wait for an event (torch.cuda.Event, cudaEventSynchronize) instead of cudaDeviceSynchronize or cudaStreamSynchronize.", From: "nsys-rules", Kept: []string{
			"synchronizing-calls",
			"gpu-idle",
			"data-loading",
			"allocating",
		}},
		"wait-less": {Text: "Remove cudaDeviceSynchronize, cudaStreamSynchronize, cudaMemcpy and reads of results from the loop: each makes the CPU wait for the GPU.", From: "cuda-sync", Kept: []string{
			"gpu-idle",
			"synchronizing-calls",
			"waiting-calls",
			"data-loading",
			"allocating",
		}},
		"wait-on-the-gpu": {Text: "If only other GPU work must wait: use cudaStreamWaitEvent, which does not block the CPU.", From: "nsys-rules", Kept: []string{
			"synchronizing-calls",
			"gpu-idle",
			"data-loading",
			"allocating",
		}},
		"wait-where-it-is-used": {Text: "Launch all work that does not need the copy first, and wait for the copy with an event just before its data is used.", From: "cuda-best", Kept: []string{
			"synchronous-copies",
			"gpu-idle",
			"exposed-copies",
		}},
		"work-on-whole-arrays": {Text: "Work on whole arrays (NumPy, torch) instead of elements, or move the loop into compiled code.", From: "nemo-gym", Kept: []string{
			"many-cheap-calls",
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
