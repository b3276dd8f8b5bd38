package refused

import (
	"slices"

	"assay/internal/lazyregexp"
	"assay/trace/xplane"
)

// What to give instead.
const (
	giveTrace     = "give a trace of the same run: torch.profiler's export_chrome_trace writes one, and so does nsys export --type sqlite"
	giveKineto    = "record with torch.profiler, whose export_chrome_trace writes a trace that assay reads"
	giveSteps     = "give the log of a run that has finished at least one step"
	giveResult    = "give the result of a benchmark that has finished"
	giveDump      = "give the dump as PyTorch wrote it, complete"
	giveRecording = "give a recording with at least one sample"
	giveNCCL      = "give a log that has the first lines of each communicator: set NCCL_DEBUG=INFO"
	giveServed    = "give the log of a server that has processed requests"
	giveAgain     = "copy the file again from where it was written, or record again"
	giveTimeline  = "give the timeline of the same capture: trace_view.json or kernel_details.csv of torch_npu, msprof_*.json or op_summary_*.csv of msprof"
	giveFolded    = "give the same profile as folded stacks: py-spy record --format raw -o profile.folded"
	giveSampled   = "record while the program works, and let the profiler write the file to its end"
	giveProfile   = "give a profile with times of functions: cProfile (python -m cProfile -o profile.prof), pprof or folded stacks"
)

// formats is the table. Rows are tried in this order. A specific format comes
// before formats that its files may also contain, so a training log with lines of NCCL
// is a training log.
var formats = slices.Concat(recordings, csvs, documents, logs)

// recordings are the rows for binary files and databases.
var recordings = []Format{
	{Name: "xplane", Shape: shapeBinary, Read: true, Test: xplane.Sniff, Files: []string{"*.xplane.pb"},
		What: "an XSpace file (*.xplane.pb) of the JAX and TensorFlow profiler", Do: "give the *.trace.json.gz in the same directory (assay reads its CPU slices), or " + giveKineto},
	{Name: "perfetto", Shape: shapeBinary, Read: true, Test: isPerfetto, Files: []string{"*.pftrace", "*.perfetto-trace"},
		What: "a binary Perfetto trace", Do: giveAgain},
	{Name: "tfevents", Shape: shapeBinary, Read: true, Test: isTFEvents, Files: []string{"events.out.tfevents.*"},
		What: "an event file of TensorBoard, which holds metrics", Do: giveRecording},
	{Name: "parquet", Shape: shapeBinary, Marks: []string{"PAR1"}, Files: []string{"*.parquet"},
		What: "a Parquet file", Do: "if Nsight Systems wrote it, give the directory with its tables, named as nsys export --type parquetdir names them"},
	{Name: "arrow", Shape: shapeBinary, Marks: []string{"ARROW1\x00\x00"}, Files: []string{"*.arrow", "*.arrows"},
		What: "an Arrow file", Do: "if Nsight Systems wrote it, export the report as a database: nsys export --type sqlite REPORT"},
	{Name: "memray", Shape: shapeBinary, Marks: []string{"memray\x00"},
		What: "a memray recording, which has CPU memory", Do: giveProfile},
	{Name: "austin-mojo", Shape: shapeBinary, Marks: []string{"MOJ"},
		What: "a binary Austin profile", Do: "convert it to folded stacks: mojo2austin FILE profile.folded"},
	{Name: "safetensors", Shape: shapeBinary, Test: isSafetensors, Files: []string{"*.safetensors"},
		What: "a file of tensors (safetensors)", Do: giveTrace},
	{Name: "checkpoint", Shape: shapeBinary, Marks: []string{"PK\x03\x04", "data.pkl"},
		What: "a checkpoint that torch.save wrote", Do: giveTrace},

	{Name: "rpd", Shape: shapeSQLite, Read: true, Marks: []string{"rocpd_api_ops"}, Files: []string{"*.rpd"},
		What: "a database of rocmProfileData (RPD)", Do: giveAgain},
	{Name: "rocpd", Shape: shapeSQLite, Read: true, Pattern: lazyregexp.New("(?i)CREATE (TABLE|VIEW) [`\"]?rocpd_"),
		What: "a database of rocprofv3 (rocpd)", Do: giveAgain},
	{Name: "rocprof-v1-sqlite", Shape: shapeSQLite, Read: true, Pattern: lazyregexp.New(`CREATE TABLE (HIP|HSA|OPS|KERN|COPY) ?\(`),
		What: "a database of rocprof", Do: giveAgain},
	{Name: "ascend-sqlite", Shape: shapeSQLite, Read: true, Marks: []string{"STRING_IDS", "CANN_API"}, Files: []string{"msprof_*.db", "ascend_pytorch_profiler*.db"},
		What: "a database of Ascend's profiler", Do: giveTimeline},
}

// csvs are the rows for tables of comma-separated values, by their header.
var csvs = []Format{
	{Name: "ascend-kernel-details", Shape: shapeCSV, Read: true, Marks: []string{"Accelerator Core", "Start Time(us)"},
		What: "a table of kernels (kernel_details.csv) of Ascend's profiler", Do: giveTimeline},
	{Name: "ascend-op-summary", Shape: shapeCSV, Read: true, Marks: []string{"Task Type", "Task Duration(us)"},
		What: "a table of operators (op_summary.csv) of Ascend's profiler", Do: giveTimeline},
	{Name: "ascend-step-trace", Shape: shapeCSV, Read: true, Marks: []string{"Computing", "Communication(Not Overlapped)", "Stage", "Bubble"},
		What: "a table of steps (step_trace_time.csv) of Ascend's profiler", Do: giveTimeline},
	{Name: "rocprofv3-csv", Shape: shapeCSV, Read: true, Pattern: lazyregexp.New(`^"?(Guid"?,"?)?(Kind"?,"?(Agent_Id|Direction)|Domain"?,"?Function)`),
		What: "a table of rocprofv3", Do: giveAgain},
	{Name: "rocprofv3-allocations-csv", Shape: shapeCSV, Pattern: lazyregexp.New(`^"?(Guid"?,"?)?(Kind"?,"?Operation)`),
		What: "a table of allocations or scratch memory of rocprofv3", Do: "give the table of kernels in the same directory: *_kernel_trace.csv"},
	{Name: "rocprofv3-counters-csv", Shape: shapeCSV, Read: true, Pattern: lazyregexp.New(`^"?(Guid"?,"?)?Correlation_Id"?,"?Dispatch_Id"?,"?Agent_Id`),
		What: "a table of hardware counters of rocprofv3", Do: giveAgain},
	{Name: "rocprof-stats-csv", Shape: shapeCSV, Read: true, Pattern: lazyregexp.New(`^"?Name"?,"?Calls"?,"?TotalDurationNs"?,"?AverageNs"?,"?Percentage"?`),
		What: "a rocprof table of totals", Do: giveAgain},
	{Name: "rocprof-v1-csv", Shape: shapeCSV, Read: true, Pattern: lazyregexp.New(`^"?Index"?,"?KernelName"?,`),
		What: "a table of kernels of rocprof", Do: giveAgain},
	{Name: "dcgm-csv", Shape: shapeCSV, Read: true, Loose: true, Marks: []string{"GPUId,TimeStampUs,Field,Values"},
		What: "a recording of DCGM, a GPU monitor", Do: giveRecording},
	{Name: "locust-csv", Shape: shapeCSV, Read: true, Marks: []string{"User Count,Type,Name,Requests/s"},
		What: "a table of Locust, a load generator", Do: giveResult},
	{Name: "dstat-csv", Shape: shapeCSV, Read: true, Loose: true, Pattern: lazyregexp.New(`^"(Dstat|dool|pcp-dstat)\b.*CSV output`),
		What: "a recording of dstat, a host monitor", Do: giveRecording},
	{Name: "nvidia-smi-csv", Shape: shapeCSV, Read: true, Loose: true, Pattern: lazyregexp.New(`(^|, ?)(utilization\.(gpu|memory)|memory\.(used|total|free)|power\.draw|clocks\.[a-z.]+) \[`),
		What: "a recording of nvidia-smi --query-gpu, a GPU monitor", Do: giveRecording},
	{Name: "tracelens-csv", Shape: shapeCSV, Pattern: lazyregexp.New(`total_direct_kernel_time|^type,time ms,percent|Kernel Time \(µs\)_|Kernel duration \(µs\)|^(cumulative_|op )?category,Count|^bin_start,bin_end,count|^(rank,Process Group Name|Process Group Name|Collective name),|_kernel_time_sum`),
		What: "a table of a TraceLens report", Do: "give the trace that the report was made from"},
	{Name: "metrics-csv", Shape: shapeCSV, Read: true, Loose: true, Pattern: lazyregexp.New(`^(epoch|step|[a-z_/]+),([A-Za-z0-9_/. -]+,)*(step|epoch)\s*$|^(epoch|step),`),
		What: "a table of metrics by step, as loggers of trainers write", Do: giveSteps},
}

// documents are the rows for JSON.
var documents = []Format{
	{Name: "proton-hatchet", Shape: shapeJSON, Marks: []string{`"children"`, `"frame"`, `"metrics"`}, Files: []string{"*.hatchet"}, Read: true,
		What: "a profile (*.hatchet) of Proton, Triton's profiler", Do: "call proton.finalize() at the end of the program, which writes the tree"},
	{Name: "cuda-graph-annotations", Shape: shapeJSON, Pattern: lazyregexp.New(`^\s*\{\s*"\d+"\s*:\s*\[\s*(?:\{|")`), Files: []string{"kernel_annotations_rank*.json"},
		What: "the names of kernels in CUDA graphs (kernel_annotations_rank*.json of PyTorch)",
		Do:   "give the trace of the same rank: assay reads these names from its folder, or the one above"},
	{Name: "rocprofv3-json", Shape: shapeJSON, Read: true, Marks: []string{`"rocprofiler-sdk-tool"`},
		What: "a trace of rocprofv3 in its own JSON", Do: giveAgain},
	{Name: "speedscope", Shape: shapeJSON, Read: true, Marks: []string{"speedscope.app/file-format-schema.json"}, Files: []string{"*.speedscope.json"},
		What: "a speedscope profile", Do: giveSampled},
	{Name: "scalene", Shape: shapeJSON, Read: true, Marks: []string{`"elapsed_time_sec"`, `"alloc_samples"`},
		What: "a profile of Scalene", Do: giveSampled},
	{Name: "v8-cpuprofile", Shape: shapeJSON, Read: true, Marks: []string{`"callFrame"`, `"hitCount"`}, Files: []string{"*.cpuprofile"},
		What: "a CPU profile of V8 (Node.js, Chrome)", Do: giveSampled},
	{Name: "firefox-profile", Shape: shapeJSON, Marks: []string{`"meta"`, `"interval"`, `"markerSchema"`},
		What: "a Firefox profiler profile", Do: giveFolded},
	{Name: "nccl-flight-recorder", Shape: shapeJSON, Read: true, Marks: []string{`"pg_config"`, `"pg_status"`},
		What: "an NCCL flight recorder dump", Do: giveDump},
	{Name: "commcanary", Shape: shapeJSON, Marks: []string{`"collective_id"`, `"compute_before_us"`},
		What: "a merge of several ranks by CommCanary", Do: "give the traces of the ranks that it was made from"},
	{Name: "ascend-communication", Shape: shapeJSON, Read: true, Marks: []string{`"Communication Time Info"`},
		What: "a table of collectives (communication.json) of Ascend's profiler", Do: giveTimeline},
	{Name: "trainer-state", Shape: shapeJSON, Read: true, Marks: []string{`"global_step"`, `"is_world_process_zero"`}, Files: []string{"trainer_state.json"},
		What: "the state of a Hugging Face Trainer (trainer_state.json), which holds metrics", Do: giveTrace},
	{Name: "verl-jsonl", Shape: shapeJSON, Read: true, Marks: []string{`"step":`, `"data":`}, Pattern: lazyregexp.New(`^\s*\{"step": ?\d+, ?"data": ?\{`),
		What: "a training log of veRL in JSON lines", Do: giveSteps},
	{Name: "wandb-summary", Shape: shapeJSON, Read: true, Marks: []string{`"_runtime"`, `"_timestamp"`}, Files: []string{"wandb-summary.json"},
		What: "the last values of a run in Weights & Biases (wandb-summary.json)", Do: giveSteps},
	{Name: "sglang-bench", Shape: shapeJSON, Read: true, Pattern: lazyregexp.New(`"dataset_name": ?"[^"]*", ?"request_rate"|"run_name": ?[^,]*, ?"batch_size": ?\d+, ?"input_len"|"successful_requests": ?\d+, ?"total_latency"`),
		What: "an SGLang benchmark result", Do: giveResult},
	{Name: "vllm-bench", Shape: shapeJSON, Read: true, Marks: []string{`"tokenizer_id":`, `"request_rate"`}, Pattern: lazyregexp.New(`"tokenizer_id":[\s\S]*"request_rate"`),
		What: "a vLLM benchmark result", Do: giveResult},
	{Name: "llmperf", Shape: shapeJSON, Read: true, Marks: []string{`"mean_input_tokens"`, `"mean_output_tokens"`},
		What: "the result of LLMPerf, a load generator", Do: giveResult},
	{Name: "k6", Shape: shapeJSON, Read: true, Marks: []string{`"metrics"`, `"iteration_duration"`},
		What: "a summary of k6, a load generator", Do: giveResult},
	{Name: "sysstat-json", Shape: shapeJSON, Read: true, Marks: []string{`"sysstat"`}, Pattern: lazyregexp.New(`^\s*\{\s*"sysstat"\s*:`),
		What: "a recording of sysstat (iostat, mpstat), a host monitor", Do: giveRecording},
	{Name: "rocm-smi-json", Shape: shapeJSON, Read: true, Marks: []string{`"card`}, Pattern: lazyregexp.New(`^\s*\{\s*"card\d+"\s*:\s*\{`),
		What: "the output of rocm-smi, a GPU monitor", Do: giveRecording},
	{Name: "notebook", Shape: shapeJSON, Marks: []string{`"cells"`, `"cell_type"`},
		What: "a Jupyter notebook", Do: giveTrace},
}
