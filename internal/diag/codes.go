package diag

import "slices"

// A Code describes one kind of issue for all places that emit it: its effect on the
// results and the remedy. [Ledger.AddN] uses both as the help of an issue without one.
type Code struct {
	Name     string   // as in Issue.Code
	Severity Severity // the worst that it is emitted with
	Means    string   // the condition and its effect on the results
	Do       string   // the remedy; "" if there is nothing to do
}

// Help returns the meaning and the remedy in one text, in the form of Issue.Help.
func (c Code) Help() string {
	if c.Do == "" {
		return c.Means
	}
	return c.Means + " " + c.Do
}

// Codes returns all codes by name.
func Codes() []Code { return slices.Clone(codes) }

// CodeOf returns the description of a code, or false.
func CodeOf(name string) (Code, bool) {
	i := slices.IndexFunc(codes, func(c Code) bool { return c.Name == name })
	if i < 0 {
		return Code{}, false
	}
	return codes[i], true
}

// HelpOf returns the text of a code, or "" if it is not described.
func HelpOf(name string) string {
	c, _ := CodeOf(name)
	return c.Help()
}

// OnlyRows reports whether issues of a code say only which rows of the JSON are missing, and nothing about what is shown.
func OnlyRows(code string) bool {
	return code == "layers-of-steps-left-out" || code == "layers-interleaved"
}

// codes is the registry, sorted by name. A test compares it with the codes that the
// sources emit.
var codes = []Code{
	{"benchmark-implausible", Suspect, "Numbers of a benchmark contradict each other (negative, percentiles out of order, first token after the last, a rate that is not requests over time) and were left out.", "Check their units, and the program that wrote them."},
	{"benchmark-unknown", Suspect, "Objects among results of benchmarks have no members of a benchmark that is known, so their numbers are missing.", "Give results of bench_serving, vllm bench, GenAI-Perf, AIPerf, llmperf, trtllm-bench or k6."},
	{"benchmarks-left-out", DataLoss, "Results of benchmarks over the limit of one input were left out.", "Give the input in parts."},
	{"callers-left-out", Info, "Tables of callers and callees, which pstats prints without totals, were left out.", "Give the file that cProfile writes (python -m cProfile -o FILE); it is complete."},
	{"callgrind-callee-unknown", Info, "Called functions have a number and no name, because several threads ran them under yappi. Their calls count for their callers only.", ""},
	{"callgrind-line-malformed", DataLoss, "Lines of a callgrind file that are neither costs nor names were skipped. Costs on them are missing from every total.", "Write the profile again."},
	{"callgrind-name-unknown", Suspect, "Functions have a number that the file gives no name for, so they are shown by number. The beginning of the file is missing, or several files were joined.", "Give the files as the profiler wrote them."},
	{"callgrind-totals-differ", Suspect, "The costs in the file do not add up to the totals that it states. Shares are relative to the costs in the file.", "Copy the file again, or let the profiler write it to its end."},
	{"calls-missing", Info, "The callers of a function state more time than the function and its callees have, because calls through built-in functions were not recorded. Totals are those of the callers.", ""},
	{"captures-mixed", Suspect, "Calls of one process have the same correlation ids, so the file has the events of several captures under one process and one GPU, which cannot be separated.", "Give each capture as a file of its own, as the profiler wrote it."},
	{"cell-unreadable", DataLoss, "Rows have values without a unit or that are not numbers. These values were left out; all others are correct.", "Print the table again."},
	{"clocks-differ", Info, "The times of GPU work fit its launches only if all of it is moved by a constant: the clocks of CPU and GPU differ. Times within the GPU are right. Queue times and causes of idle time are not reported.", "Update PyTorch and the driver, and record again."},
	{"collectives-incomplete", Suspect, "A rank recorded far fewer collectives of a group than another rank. Collectives that not every rank recorded are in no sum of transfer or waiting.", "Record the same steps on all ranks."},
	{"columns-swapped", Info, "PyTorch's profiler exchanges the columns Source Location and Total FLOPs if both are on. The order was corrected.", ""},
	{"correlation-ambiguous", Info, "Several launch calls have the correlation id of one GPU operation. The call of the process that fits the GPU was taken, else the last call before the operation.", ""},
	{"correlations-unmatched", Suspect, "No GPU operation has the correlation id of a recorded launch call. Launch sites, queue times and causes of idle time are unknown, and lost records cannot be counted.", "Use the file that the profiler wrote, or record again."},
	{"counters-denied", DataLoss, "ncu was not permitted to read the counters of a device, so launches are missing.", "Allow the counters (NVreg_RestrictProfilingToAdminUsers=0 or root) and record again."},
	{"counters-left-out", DataLoss, "Rules and metrics that no result depends on were left out to stay within the memory limit.", "Raise --max-memory."},
	{"counts-cut", DataLoss, "yappi cuts numbers of calls to the width of their column. These numbers are unknown.", "Print with wider columns."},
	{"critical-path-left-out", Info, "The report has no critical path and no forecasts of this capture, because the graph of its events, or of those of all ranks, takes too much memory.", "Raise --max-memory, or ask for a few ranks: assay whatif --rank."},
	{"cuda-events-incomplete", DataLoss, "The export has far fewer CUDA events than nsys collected. A quarter of the GPU work or more may be missing, so no verdict is given.", "Export the report again, without a filter and to the end."},
	{"cuda-events-missing", DataLoss, "The export has fewer rows of CUDA calls and GPU work than nsys collected. They are missing from every total.", "Export the report again, without a filter and to the end."},
	{"cuda-events-uncertain", Info, "nsys states that it may not have collected all CUDA events.", "Call cudaProfilerStop, or let the program end by itself, before the collection stops."},
	{"derived-spans", Info, "Spans that repeat the time of others (totals, critical paths) were left out of the sums.", ""},
	{"device-assumed", Suspect, "Several processes use the same GPU number, and the export does not identify the GPU. Each process is assumed to have its own GPU.", "Export with Nsight Systems 2024.6 or later."},
	{"device-implausible", Suspect, "GPU events have a device number that no GPU has: a negative one, or one over a million. They are reported as a GPU of that number.", "Use the file that the profiler wrote."},
	{"device-table-damaged", DataLoss, "A table of GPU operations cannot be read to its end. Its further rows are missing from every total, so no verdict is given.", "Copy the export again, or export it again."},
	{"device-unreadable", Suspect, "GPU events have a device that is not a number. The number of their process was taken, so work of several GPUs may count for one.", "Use the file that the profiler wrote."},
	{"device-without-number", Info, "The device of GPU events is a text. Each such device was assigned a number below -999.", ""},
	{"devices-left-out", DataLoss, "The input names more devices than a process can have, so the numbers may be ids. Events on further devices are missing from every total.", "Check what wrote the trace."},
	{"dumps-mixed", Suspect, "A rank has several dumps of the flight recorder in one run, so they are of several hangs. They are not compared.", "Put the dumps of each hang into a directory of its own, or name the runs with --group-by."},
	{"duration-overruns", Suspect, "A GPU record outlasts several later records of its stream, which runs one operation at a time. It was clipped at the start of the next one.", "Use the file that the profiler wrote, or record again."},
	{"durations-too-short", Suspect, "GPU work is shorter than any GPU can make it: kernels shorter than an empty one, copies faster than any link, or kernels that all take the same part of the time to the next. No verdict is given.", "Use the file that the profiler wrote, or record again."},
	{"device-not-read", DataLoss, "The file has work of devices that assay does not read. It is in no number.", "Give a capture of GPUs."},
	{"event-bad-device", DataLoss, "Rows whose device is not a number were skipped. Their time is missing from every total.", "Export again."},
	{"event-bad-time", DataLoss, "Events or rows without a usable time were skipped. Their time is missing from every total.", "Record or export again."},
	{"event-malformed", DataLoss, "Events that are not JSON were skipped. Their time is missing from every total.", "Copy the file again, or record with a newer profiler."},
	{"event-negative-duration", DataLoss, "Events with a negative duration were skipped. The profiler set its clock back.", "Record again."},
	{"event-damaged", DataLoss, "Damaged events or lines, or such with impossible times, were skipped. Their time is missing from every total.", "Copy the file again, as binary."},
	{"event-not-object", DataLoss, "Elements of the event array that are not objects were skipped.", "Check what wrote the trace."},
	{"event-too-long", DataLoss, "Events over the limit of size were skipped. Their time is missing from every total.", "Record without shapes or stacks."},
	{"event-without-phase", DataLoss, "Events without a phase (ph) were skipped. Another program may have rewritten the file.", "Give the file as the profiler wrote it."},
	{"events-closed-early", Suspect, "The event array is closed and events follow it. They were read as well, but events may be missing between them.", "Give the file as the profiler wrote it."},
	{"events-not-closed", Info, "The event array has no closing bracket, as its format allows. The last events may be missing.", "If the program was stopped while it wrote, record again."},
	{"events-repeated", Suspect, "The file has several traceEvents arrays, and all were read as one. Two traces may have been pasted together.", "Pass the traces as separate files."},
	{"export-cut", DataLoss, "The export is shorter than its header states. Rows are missing from every table that has pages there, so no verdict is given.", "Copy the file again, or export it again."},
	{"export-damaged", DataLoss, "A table of the database cannot be read to its end. Rows after this position are missing from every total.", "Export the report again."},
	{"export-unfinished", Suspect, "The database has a log of changes (-wal), so a program has it open or was stopped. The changes in the log were not read.", "Close that program, or export again."},
	{"folded-line-malformed", DataLoss, "Lines that are not folded stacks (names joined by semicolons, a space, a whole number) were skipped. Their values are missing from every total.", "Remove other text from the file, or fold the stacks again."},
	{"folded-unit-unknown", Info, "Folded stacks do not state the unit of their numbers. They count as samples; shares hold in any unit.", ""},
	{"gpu-events-missing", Suspect, "Kernels were launched and none was recorded. Another profiler used CUPTI, or tracing was not permitted.", "Record again with permission to trace and without a second profiler."},
	{"gpu-events-without-time", DataLoss, "GPU records have neither a start nor a duration: the profiler lost their times. They are in no total.", "Use the file that the profiler wrote, or record again with a newer profiler."},
	{"gpu-events-repeated", Suspect, "Records of GPU work occur more than once, with the same correlation id (or none), stream, times and name. Each counts once. The file was changed or joined after the profiler wrote it.", "Use the file that the profiler wrote."},
	{"graph-capture-only", Info, "Launches between cudaStreamBeginCapture and cudaStreamEndCapture make nodes of CUDA graphs and run nothing. At least ten of eleven launches of this capture are such.", "Start the profiler after the graphs are captured, when they are replayed."},
	{"graph-source", Info, "The trace only captures CUDA or HIP graphs, and another one replays graphs. Replays take their operators from it. It is not counted as a GPU or as a rank.", ""},
	{"graphs-recorded-whole", DataLoss, "CUDA graphs were recorded without their nodes or not at all, so the kernels in them are in no table.", "Record with --cuda-graph-trace=node, which costs some overhead."},
	{"group-calls-left-out", DataLoss, "Calls of NCCL of more kinds than the limit for one communicator were left out, so sends without a receive may be missing or wrong.", "Give the logs of fewer steps."},
	{"groups-left-out", DataLoss, "Communicators and process groups over the limit of one input were left out.", "Give the logs of fewer ranks at once."},
	{"idle-not-attributed", Info, "The causes of idle time were not determined for this input. Idle time itself is measured.", ""},
	{"inflation-limit", DataLoss, "The compressed input expands too much, so reading stopped. The rest is missing from every total.", "If the file is genuine, unpack it first, or give --max-input SIZE."},
	{"input-damaged", Suspect, "The compressed data is damaged: a checksum or a code in it is wrong. Data before this position may be wrong, and data after it is missing.", "Copy the file again."},
	{"input-copied", Info, "A trace has the same bytes and the same rank as another one, so it is a copy. It counts once.", "Leave the copy out."},
	{"input-limit", DataLoss, "The input exceeds the size limit. The rest is missing from every total.", "Raise --max-input, or give a shorter capture."},
	{"input-truncated", DataLoss, "The input ends early. The rest is missing from every total.", "Copy the file again, or let the profiler write it to its end."},
	{"input-unreadable", Suspect, "Files that a pipeline was to measure could not be read. A missing rank may be the one that the others wait for.", "Copy or record these files again."},
	{"kernels-without-duration", Suspect, "Kernels have a duration of 0. Their time is missing from every total and counts as idle. From 5% of all kernels on, no verdict is given.", "Use the file that the profiler wrote, or record again."},
	{"kernels-without-launch", Info, "The launch call of this GPU work is unknown, usually because it ran before the capture started. The work is in every total and outside phases, but in no table of operators, modules or lines.", "Record CPU activities too, and start before the work is launched."},
	{"kernels-without-name", Suspect, "Kernels have no name, so they are one row of the table of kernels, and their category is unknown. Their time is in every total.", "Use the file that the profiler wrote."},
	{"last-line-open", Info, "The last line has no line end. If the file was cut there, its value is too small and further stacks are missing.", "Compare the size of the file with the original."},
	{"layers-interleaved", Info, "Kernels of forward and backward passes alternate on one stream of these GPUs, as where two micro-batches overlap, so their order does not tell the layers of the model apart. All other numbers include them.", "Record a step without this overlap, or record modules (with_modules=True)."},
	{"layers-of-steps-left-out", Info, "Layers of the model are found in 64 steps of each GPU, evenly spread. The other steps have no rows of layers; all other numbers cover all steps.", "Give a shorter capture, or select steps."},
	{"launches-missing", DataLoss, "Kernels were launched during the capture, and their launch calls were not recorded. Counts of launches are too small, and this work is in no table of operators, modules or lines.", "Record again with fewer activities or a shorter range."},
	{"launches-with-several-kernels", Suspect, "Launch calls of one kernel have several records of GPU work. The further records are counted here; they are in every total and cannot all be true. From 5% of all records on, no verdict is given.", "Use the file that the profiler wrote."},
	{"launches-without-kernels", DataLoss, "The GPU work of some launches is not in the capture. Totals omit this work, and its time counts as idle or as other work.", "Record again with fewer activities or a shorter range, and let the profiler finish before the process ends."},
	{"line-malformed", DataLoss, "Lines that are not JSON were skipped. Their data is missing from every total.", "Export again."},
	{"line-too-long", DataLoss, "Lines over the length limit were shortened to it.", ""},
	{"lines-between-rows", Info, "Lines of other programs are between the rows of a table. Rows that they interrupt are missing.", "Print the table to a file of its own."},
	{"log-clock-back", Info, "Times in a log go back by more than two seconds. Several machines wrote it, a clock was set, or several runs were joined. Values keep the order of the log.", ""},
	{"log-cut", Suspect, "The last line of the log has no end: the log was cut there, or copied while the program wrote it. The number at the end may be incomplete and was left out.", "Give the whole log."},
	{"log-form-unverified", Info, "The form of these records is known from the source of the program, and was not compared with real logs.", "Compare some numbers with the log."},
	{"log-hole", DataLoss, "Parts of the log are null characters: blocks of the file were lost, or the log was emptied while the program wrote it. The values of these parts are missing.", "Copy the log again, and check the disk of the program."},
	{"log-keys-unknown", Info, "Lines have keys that the form of the program does not list. Their values are shown under these names and are in no verdict.", "If they matter, give a form of your own with --series-forms."},
	{"log-lines-merged", Info, "Ray merged similar lines of other workers (\"repeated across cluster\"). Their values are not in the log.", "Set RAY_DEDUP_LOGS=0 to have all lines."},
	{"log-restarted", Info, "The steps of a log go back, or a server says again that it starts: the program was started several times. Statistics are over all starts.", "Give the part of one start to see it alone."},
	{"log-row-malformed", DataLoss, "Rows of a table of metrics have more or fewer cells than its heading, so the metrics of their values are unknown. These rows were left out.", "Give the file that the program wrote."},
	{"log-steps-missing", Suspect, "A log with a record at each step, or at equal distances, has gaps. Lines were lost or filtered out, so counts and sums over all steps are too small.", "Give the whole log."},
	{"logs-end-apart", Suspect, "Logs of the processes of a run end at different places: many sends and receives have no counterpart. Whether a process hangs is not judged.", "Give the whole logs of all processes, copied at the same time."},
	{"memory-action-unknown", Suspect, "Entries of the history with unknown actions were left out. If they change memory, the allocated memory is wrong.", "Use a newer assay."},
	{"memory-empty", Info, "The snapshot has no segment on any device: nothing had been allocated when it was taken.", "Take the snapshot later."},
	{"memory-entries-later", Info, "Entries after the snapshot of the segments were left out.", ""},
	{"memory-frees-unmatched", Suspect, "Blocks were freed twice, or freed without an allocation although the history has that of their segment. Entries are missing or false, so the allocated memory may be wrong.", "Take the snapshot again."},
	{"memory-history-inconsistent", Suspect, "The history and the snapshot disagree: memory was allocated twice, or is allocated in only one of them. The allocated memory may be wrong.", "Take the snapshot again."},
	{"memory-history-missing", Info, "The snapshot has no allocation history, so peaks and allocation sites are unknown.", "Call torch.cuda.memory._record_memory_history() before the work."},
	{"memory-history-truncated", DataLoss, "The history has only the newest entries. Peaks before them are unknown.", "Record with a larger max_entries."},
	{"memory-limit", DataLoss, "The data exceeds the memory limit, so reading stopped. The rest is missing from every total.", "Raise --max-memory."},
	{"memory-peak-unknown", DataLoss, "The history ends before the snapshot, so the peak is unknown. Allocation sites are those at the end.", "Take the snapshot again."},
	{"memory-record-unusable", DataLoss, "Blocks, segments and entries without a size or of an unknown shape were left out. Sums are too small.", "Take the snapshot again."},
	{"memory-steps-left-out", Info, "Steps that began before the history or overlap an earlier one were left out, and those over the limit.", ""},
	{"memory-times-missing", Info, "The entries have no times, as in PyTorch before 2.1. There is no picture over time, and there are no rates.", "Record with PyTorch 2.1 or later."},
	{"metadata-malformed", Info, "The part of the file after its events is not JSON. Device names or ranks may be missing.", "Copy the file again."},
	{"metadata-too-long", Info, "Metadata over the limit of size was skipped. Device names or ranks may be missing.", ""},
	{"names-cut", Info, "The profiler cut names to the width of its column. Rows with equal cut names are separate rows, and categories are derived from the cut names.", "Print whole names: table(max_name_column_width=None), or nsys stats --format csv."},
	{"names-pooled", DataLoss, "The input exceeds the limit of distinct names. Further events share one name: sums are correct, but rows by name and steps are incomplete.", "Raise --max-memory."},
	{"nccl-warning", Suspect, "NCCL printed warnings. If the job failed or hung, the cause is often the first warning of the first process that has one.", "Read the line of the log."},
	{"ncu-error", DataLoss, "ncu reported an error, so launches may be missing.", "Read the line, and run ncu again."},
	{"ncu-warning", Suspect, "ncu reported a warning that may concern the values.", "Read the line."},
	{"negative-time", DataLoss, "Times below zero are not counted. They occur if a clock is set back.", "Record again."},
	{"negative-values", Suspect, "Samples below zero, for example from the difference of two profiles, are in every total but not in the picture of stacks.", "Compare the two profiles themselves."},
	{"nesting-too-deep", Info, "CPU slices nest deeper than the limit. The time of the deepest counts for those above them.", ""},
	{"no-cuda", Suspect, "The export has no CUDA table: CUDA was not traced, or no process used it.", "Record with --trace=cuda,nvtx,osrt."},
	{"no-device-work", Suspect, "The export has CUDA API calls and no GPU work, so the GPU was not recorded. This is not an idle GPU.", "Record with --trace=cuda,nvtx,osrt, and end with cudaProfilerStop or a normal exit."},
	{"no-nvtx", Info, "The export has no NVTX ranges, so GPU work is not attributed to operators, modules or steps.", "Annotate the program (torch.cuda.nvtx.range_push, torch.autograd.profiler.emit_nvtx), and record with --trace=cuda,nvtx,osrt."},
	{"nsys-error", DataLoss, "nsys itself reported an error, so tables may be missing.", "Read the line, and run nsys stats again."},
	{"number-format-assumed", Suspect, "Numbers such as 1,234 may have a decimal or a thousands separator. A point was read as the decimal separator.", "Run ncu with LC_ALL=C."},
	{"plane-repeated", DataLoss, "Planes of an XSpace file with the name of an earlier one were left out. Files of several hosts or captures were joined.", "Give each file by itself."},
	{"numbers-implausible", Suspect, "The numbers of an input add up to more than any job can have (36 years, 1 EiB), so a time or a size in it is wrong. Its rows were left out.", "Use the original file, or record again."},
	{"operators-without-calls", Info, "For a tenth of the capture or more, operators that launch GPU work elsewhere make no CUDA or HIP call. Their work was probably not recorded; the GPU counts as idle.", "Record again with fewer activities or a shorter range."},
	{"packets-lost", DataLoss, "Packets of the trace were lost while it was recorded, and others need the names in them. The slices of these are missing from every total.", "Record again with a larger buffer, or a shorter range."},
	{"over-peak", Info, "Operators or transfers are faster than the peaks of the GPU, or MFU would be over 100%. Their sizes, times or peaks are wrong, so they have no roofline and no share of the peak.", "Check the name of the GPU, or give its peaks with --set-peak or --peaks."},
	{"phases-left-out", DataLoss, "The input exceeds the limit of phases. The GPUs counted here have none; all other numbers are correct.", "Give a shorter capture."},
	{"pprof-record-damaged", DataLoss, "Records of the profile that are damaged, or samples with another number of values than the profile has columns, were left out. Their values are missing from every total.", "Copy the file again, or write it again."},
	{"pprof-reference-missing", DataLoss, "Samples and frames refer to locations, functions or texts that the profile does not have. Such frames are shown as [unknown]; values are correct.", "Write the profile again with the tool that made it."},
	{"profile-rows-missing", DataLoss, "The profile has a header and no rows, or fewer than it states.", "Write it in another form, such as pstat or callgrind."},
	{"profiler-overhead", Info, "The profiler worked between the first and last GPU work. Idle time during that is not caused by the program.", "Record less (--sample=none --cpuctxsw=none), or a shorter range."},
	{"quotes-repaired", Info, "Quotes in names were not escaped, as PyTorch's profiler wrote them until 2026. The events were read with the quotes at the most likely positions.", ""},
	{"range-not-closed", Info, "NVTX ranges were open when the recording ended. Each is assumed to last until the last recorded work.", ""},
	{"rank-copied", Suspect, "Files of different ranks have the same bytes, so they are copies of one. Comparisons of ranks are meaningless, and totals count the same work several times.", "Give the trace of each rank."},
	{"rank-implausible", Suspect, "The rank of a trace is not a number of a process of its job: it is negative, not a whole number, or not below the number of ranks.", "Use the file that the profiler wrote, or name the file by its rank, as in rank3.json."},
	{"rank-raised", Info, "A rank printed an exception, and the watchdog of other ranks ended a call that it did not make. The exception is the likely cause of the hang.", "Read it first."},
	{"rank-repeated", Suspect, "Two inputs have the same rank. If they belong to different runs, totals mix the runs.", "Report each run by itself."},
	{"rank-without-events", Suspect, "The trace of a rank has no event, and traces of other ranks have GPU work. Totals and comparisons of ranks are without this rank.", "Record it again."},
	{"ranks-incomparable", Suspect, "The traces of the ranks cannot be compared: other times, steps or units, or a rank leaves collectives before others have come. No ranks are compared, and nothing is judged.", "Give the files of one run as the profiler wrote them."},
	{"ranks-missing", Info, "The traces state more ranks than were given. A rank that is not here may be the one that the others wait for.", "Give the traces of all ranks."},
	{"recursion-total-unknown", Info, "Functions call each other recursively, so their totals are unknown in a callgrind file. Their self time is correct.", ""},
	{"report-assumed", Info, "Several reports of nsys have the columns of this table. The report was chosen by the names of the rows.", "Keep the line that nsys prints before the table, or the file name that it chooses."},
	{"row-malformed", DataLoss, "Rows of a table that do not fit its header were skipped. Their values are missing from every total.", "Print or export the table again."},
	{"rows-left-out", DataLoss, "A table exceeds the row limit. The rows with the least time were left out, or the rows counted here have no value.", "Raise --max-memory."},
	{"rows-not-printed", DataLoss, "The total below the table is more than its rows: rows are missing.", "Print with a larger row_limit."},
	{"rows-omitted", Info, "Dots replace rows that were left out.", "Give the whole table."},
	{"same-capture", Info, "An input has the capture of another one in another form: the same GPU work at the same times, or the same counters of the same launches. The form that says most counts, the other one does not.", ""},
	{"secrets-in-capture", Info, "Environment variables that look like secrets are stored in the capture. assay masks them in its output; the file still has them.", "Redact the file before you share it, and record in a clean environment."},
	{"steps-left-out", Info, "The first steps of a log were left out, as --ignore-first asks for.", ""},
	{"secrets-masked", Info, "Texts of the capture look like secrets. assay masks them in its output; the file still has them.", "Do not share the file, and replace the secrets."},
	{"secrets-not-searched", Info, "Tables of an export were not searched for secrets to their end, because they exceed a limit of the search or are damaged.", "Remove secrets from them before you share the file."},
	{"segment-unlike-its-blocks", Suspect, "The blocks of segments do not add up to their sizes. Sums over blocks and over segments differ.", "Take the snapshot again."},
	{"series-left-out", DataLoss, "Values of metrics over the limit of series of one input were left out.", "Raise --max-memory, or give the input in parts."},
	{"series-sampled", Suspect, "The values of a log need more than the memory limit, so only a sample of them was kept. Numbers of values, sums, means, minima and maxima are exact; medians and pictures are of the sample.", "Raise --max-memory."},
	{"share-mismatch", Suspect, "Printed shares do not match the table's totals: values were changed, or units differ from the headers. The totals are used.", "Print the table again."},
	{"span-implausible", Suspect, "The events of the capture span more than 100 hours, so a timestamp is wrong. The length of the capture is not reported.", "Record again; if another program rewrote the trace, use the file that the profiler wrote."},
	{"spans-left-out", Suspect, "The log tells when more phases ended than there is room for. GPU use by phase is of the first ones.", "Give the log in parts, or raise --max-memory."},
	{"spans-not-paired", DataLoss, "Begins without an end, or ends without a begin, have no duration and were left out. The recording began or ended within them.", ""},
	{"step-implausible", Suspect, "Markers of steps are longer than ten years and were left out. A time in the trace is wrong.", "Record again."},
	{"steps-missing", DataLoss, "Numbers of ProfilerStep are skipped, and time for these steps is between the markers. The work of these steps is in every total and in no step.", "Use the file that the profiler wrote."},
	{"steps-overlap", Suspect, "Markers of different steps overlap. Each step was cut where the next one starts.", "Mark steps that follow each other."},
	{"steps-without-calls", DataLoss, "Steps have no CUDA or HIP call, although their operators launch GPU work in other steps: collection was off, and their GPU work is missing. Idle time in them is \"not recorded\".", "Record all steps with GPU activities."},
	{"stream-overlap", Info, "Events of one stream overlap in time, which programmatic dependent launch allows and clocks of whole microseconds show. Total kernel time exceeds wall time there.", ""},
	{"stream-without-number", Info, "The stream of GPU events is a text. Each such stream was assigned a number below -999.", ""},
	{"string-missing", DataLoss, "Strings that rows refer to are not in the export. Such rows are named by the number of the string.", "Export again."},
	{"step-times-apart", Suspect, "Part of the steps take hundreds of times as long as the others, so the unit changed, or logs of different programs were joined.", "Give the log of one run."},
	{"step-times-exceed-log", Suspect, "The steps together take many times as long as the log was written, so their times are in another unit. Phases and steps are not judged.", "Check the unit of the timers."},
	{"steps-with-two-times", Suspect, "Most steps have two times that differ: logs of several runs were written to one file. The last time of each step counts.", "Give the log of one run."},
	{"strings-left-out", DataLoss, "The strings of the export exceed the memory limit. Rows that refer to further strings are named by their number.", "Raise --max-memory."},
	{"sum-overflow", Suspect, "A sum has reached the largest 64-bit number. A time or a size in the input is wrong.", "Record again."},
	{"table-cut", DataLoss, "The table is cut: its rows are fewer than it states, or too small to be all.", "Print the whole table."},
	{"table-rows-pooled", DataLoss, "A table exceeds the row limit. The rows counted here are added up in one: sums are correct, but names are missing.", "Raise --max-memory."},
	{"table-unfinished", DataLoss, "A table ends without its last rule: rows may be missing.", "Copy the text again."},
	{"table-unread", DataLoss, "Tables that nsys announced did not follow, or have a form that is not read.", "Print them with --format csv."},
	{"text-before-trace", Info, "Lines of text precede the trace and were skipped. A log and a trace may have been written to one file.", ""},
	{"text-cut", Info, "Very long names and other texts were shortened. All sums are correct.", ""},
	{"time-backwards", Suspect, "Entries have a time before that of an earlier one. They count at that time; their order is kept.", ""},
	{"tables-joined", Info, "Tables of the same capture, which lie beside the input, were read with it.", ""},
	{"time-unit-unknown", DataLoss, "NVTX events whose times are not in nanoseconds were skipped.", "Export again with a newer nsys."},
	{"timer-exceeds-step", Suspect, "Timers of phases state more time than the steps that they are in. A phase that is longer than its step is not among the phases of the step, and shares of step time over 100% are not shown.", "Check the unit of the timer, and whether it measures something outside of the steps."},
	{"timer-impossible", Suspect, "Times of steps or phases are negative, not a number or infinite. They are in no share of step time, so the shares of the other phases are not the whole.", "Check the program that logs them."},
	{"times-rounded", Info, "pstats prints times in whole milliseconds, so times under 0.5 ms are 0.000.", "Give the file that cProfile writes (python -m cProfile -o FILE), which is exact."},
	{"too-many-devices", Info, "Activity strips are kept for a limited number of devices. The GPUs counted here have none; all other numbers are correct.", ""},
	{"too-many-memories", DataLoss, "Memory is measured on a limited number of devices. The devices counted here were left out.", "Give the devices as separate inputs."},
	{"too-many-rows", DataLoss, "A table exceeds the row limit. The events counted here share rows: sums are correct, but names are missing.", "Raise --max-memory."},
	{"too-many-steps", DataLoss, "The table of steps is full. The steps counted here were left out; all other numbers are correct.", "Give a shorter capture."},
	{"too-many-streams", DataLoss, "The table of streams is full. The streams counted here were left out; all other numbers are correct.", ""},
	{"too-many-tables", DataLoss, "Tables over the limit for one input were left out.", "Give them as separate inputs."},
	{"total-mismatch", Suspect, "The rows of a table add up to more than the total below it. The kernels may include ranges, or rows occur twice.", "Print the table again without ranges."},
	{"trailing-data", DataLoss, "The data after the end of the input was not read. The data before it is complete.", "If several captures were joined, pass them as separate files."},
	{"unit-unknown", DataLoss, "Columns or metrics with an unknown or missing unit were left out.", "Print with the standard units (ncu --print-units base)."},
	{"value-implausible", Suspect, "Values that no launch can have, such as shares over ten times the peak, were left out. The file may be damaged.", "Export it again."},
	{"value-malformed", DataLoss, "Values that are not numbers, are negative or are implausibly large were left out.", "Export the table again."},
	{"values-impossible", Suspect, "Values of a log or monitor cannot be true: shares below 0 or over 110%, or negative rates and numbers of requests. They were left out.", "Check their unit, and the program that logs them."},
	{"values-rounded", Info, "Pages of Nsight Compute in text form have values with two decimals.", "Print them with ncu --csv --print-units base."},
	{"values-unknown", DataLoss, "Unknown values are written as 0.", ""},
	{"window-implausible", Suspect, "GPU events are more than ten years apart, so a time in the trace is wrong. Idle time of these GPUs is meaningless; their gaps, steps and activity strips were left out.", "Record again."},
	{"work-before-launch", Suspect, "GPU work starts before the call that launched it: the clocks of CPU and GPU differ. Queue times and causes of idle time are wrong.", "Record again, with a newer driver if it recurs."},
	{"work-time-implausible", Suspect, "GPU work has impossible times: it starts after a call that had waited for it or after the profiler had stopped, is far outside of all CPU calls, or overlaps on one stream. Idle time has no meaning.", "Use the original file, or record again."},
	{"world-sizes-differ", Suspect, "Traces state different numbers of ranks, so they belong to different runs. Totals and comparisons of ranks mix the runs.", "Report each run by itself."},
}
