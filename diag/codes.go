package diag

import "slices"

// A Code describes one kind of issue, wherever it is emitted. It is the one place
// that says what an issue does to the numbers and what to do about it; an issue
// whose Help is left empty takes both from here.
type Code struct {
	Name     string   // as in Issue.Code
	Severity Severity // the worst that it is emitted with
	Means    string   // what was met, and what it does to the numbers
	Do       string   // the remedy; "" if there is nothing to do
}

// Help returns what the issue means and the remedy in one text, as Issue.Help
// has it.
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

// codes is the registry, one entry a code, by name. A test compares it with what
// the sources emit.
var codes = []Code{
	{"callers-left-out", Info, "Tables of callers and callees, which pstats prints without totals, were left out.", "Give the file that cProfile writes (python -m cProfile -o FILE), which has all of that."},
	{"callgrind-callee-unknown", Info, "Functions that are called have a number and no name, as yappi writes for functions that several threads ran. Their calls count for their callers only.", ""},
	{"callgrind-line-malformed", DataLoss, "Lines of a callgrind file that are neither costs nor names were skipped. Costs on them are missing from every sum.", "Write the profile again."},
	{"callgrind-name-unknown", Suspect, "Functions have a number that the file gives no name for, so they are shown by number. The file is cut at its beginning or was put together from several.", "Give the files as the profiler wrote them."},
	{"callgrind-totals-differ", Suspect, "The costs in the file do not add up to the totals that it states. Shares are of the costs that are there.", "Copy the file again, or let the profiler write it to its end."},
	{"calls-missing", Info, "Callers of a function state more time than the function and its callees have, because calls through built-in functions were not recorded. Totals are what the callers state.", ""},
	{"cell-unreadable", DataLoss, "Rows have values without a unit or that are not numbers. These values are left out; the others stand.", "Print the table again."},
	{"columns-swapped", Info, "PyTorch's profiler exchanges the columns Source Location and Total FLOPs when both are on. They were put right.", ""},
	{"correlation-ambiguous", Info, "Several launches have the correlation id of one piece of GPU work. The work was put down to the launch that was nearest before it.", ""},
	{"counters-denied", DataLoss, "ncu was not permitted to read the counters of a device, so launches are missing.", "Allow the counters (NVreg_RestrictProfilingToAdminUsers=0 or root) and record again."},
	{"counters-left-out", DataLoss, "Rules and metrics that no figure is computed from were left out, to stay within the limit on memory.", "Raise --max-memory."},
	{"counts-cut", DataLoss, "yappi cuts numbers of calls to the width of their column. These numbers are unknown.", "Print with wider columns."},
	{"derived-spans", Info, "Spans that repeat the time of others (totals, critical paths) were left out of the sums.", ""},
	{"device-assumed", Suspect, "Several processes call a GPU by the same number, and the export does not state whether it is one GPU. Each process was taken to have a GPU of its own.", "Export with Nsight Systems 2024.6 or later."},
	{"device-table-damaged", DataLoss, "A table of GPU work in the export cannot be read to its end. Its further rows are missing from every sum, so no verdict is given.", "Copy the export again, or export it again."},
	{"device-unreadable", Suspect, "GPU events have a device that is not a number. The number of their process was taken, so work of different GPUs may count as of one.", "Use the file that the profiler wrote."},
	{"device-without-number", Info, "GPU events name their device by a text. Each such device was given a number below -999.", ""},
	{"devices-left-out", DataLoss, "The input names more devices than a process can have, so the numbers may be ids. Events on further devices are missing from every sum.", "Check what wrote the trace."},
	{"event-bad-device", DataLoss, "Rows whose device is not a number were skipped. Their time is missing from every sum.", "Export again."},
	{"event-bad-time", DataLoss, "Events or rows without a usable time were skipped. Their time is missing from every sum.", "Record or export again."},
	{"event-malformed", DataLoss, "Events that are not JSON were skipped. Their time is missing from every sum.", "Copy the file again, or record with a newer profiler."},
	{"event-negative-duration", DataLoss, "Events with a negative duration were skipped. The clock of the profiler went backwards.", "Record again."},
	{"event-not-object", DataLoss, "Elements of the event array that are not objects were skipped.", "Check what wrote the trace."},
	{"event-too-long", DataLoss, "Events over the limit of size were skipped. Their time is missing from every sum.", "Record without shapes or stacks."},
	{"event-without-phase", DataLoss, "Events without a phase (ph) were skipped. Another program may have rewritten the file.", "Give the file as the profiler wrote it."},
	{"events-closed-early", Suspect, "The event array is closed and events follow it. They were read as well, but events may be missing between them.", "Give the file as the profiler wrote it."},
	{"events-not-closed", Info, "The event array has no closing bracket, as its format allows. The last events may be missing.", "If the program was stopped while it wrote, record again."},
	{"events-repeated", Suspect, "The file has several traceEvents arrays, and all were read as one. Two traces may have been pasted together.", "Pass the traces as separate files."},
	{"export-cut", DataLoss, "The export is shorter than its header states. Rows are missing from every table that has pages there, so no verdict is given.", "Copy the file again, or export it again."},
	{"export-damaged", DataLoss, "A table of the database cannot be read to its end. Rows behind this place are missing from every sum.", "Export the report again."},
	{"export-unfinished", Suspect, "A log of changes (-wal) exists for the database, so a program has it open or broke off. What the log holds was not read.", "Close that program, or export again."},
	{"folded-line-malformed", DataLoss, "Lines that are not folded stacks (names joined by semicolons, a space, a whole number) were skipped. Their values are missing from every sum.", "Remove other text from the file, or fold the stacks again."},
	{"folded-unit-unknown", Info, "Folded stacks do not state the unit of their numbers. They count as samples; shares hold in any unit.", ""},
	{"gpu-events-missing", Suspect, "Kernels were launched and none was recorded. Another profiler held the GPU, or the process was not allowed to trace it.", "Record again with that right and without a second profiler."},
	{"graphs-recorded-whole", DataLoss, "CUDA graphs were recorded without their nodes or not at all, so the kernels in them are in no table.", "Record with --cuda-graph-trace=node, which costs some overhead."},
	{"idle-not-attributed", Info, "The causes of idle time were not worked out for this input. Idle time itself stands.", ""},
	{"inflation-limit", DataLoss, "The compressed input grows out of proportion, so reading ended. What follows is missing from every sum.", "If the file is genuine, unpack it first, or give --max-input SIZE."},
	{"input-damaged", Suspect, "The compressed data is damaged: a checksum or a code in it is wrong. What was read before may be wrong, and what follows is missing.", "Copy the file again."},
	{"input-limit", DataLoss, "The input is over the limit of size. What follows is missing from every sum.", "Raise --max-input, or give a shorter capture."},
	{"input-truncated", DataLoss, "The input ends early. What would follow is missing from every sum.", "Copy the file again, or let the profiler write it to its end."},
	{"kernels-without-launch", Info, "No call is known that launched this GPU work, most often because it began before the capture did. The work is in every total and in no table of operators, modules or lines.", "Record CPU activities too, and start before the work is launched."},
	{"last-line-open", Info, "Nothing ends the last line. If the file was cut there, the value on it is too small and stacks behind it are missing.", "Compare the size of the file with the original."},
	{"launches-without-kernels", DataLoss, "Launches have no GPU work in the capture. This work is missing from every total, and its time counts as idle or as the time of other work.", "Record again with fewer activities or a shorter range, and let the profiler finish before the process ends."},
	{"line-malformed", DataLoss, "Lines that are not JSON were skipped. What they held is missing from every sum.", "Export again."},
	{"line-too-long", DataLoss, "Lines over the limit of length were cut there.", ""},
	{"lines-between-rows", Info, "Lines of other writers stand between the rows of a table. A row that one of them broke is missing.", "Print the table to a file of its own."},
	{"memory-action-unknown", Suspect, "Entries of the history with unknown actions were left out. If they change memory, what was in use is wrong.", "Use a newer assay."},
	{"memory-empty", Info, "The snapshot has no segment on any device: nothing had been allocated when it was taken.", "Take it later."},
	{"memory-entries-later", Info, "Entries for what happened after the segments were looked at were left out.", ""},
	{"memory-history-inconsistent", Suspect, "The history and the snapshot disagree: memory was given out twice, or is allocated in one of them only. What was in use may be wrong by that.", "Take the snapshot again."},
	{"memory-history-missing", Info, "The snapshot has no allocation history, so peaks and causes are unknown.", "Call torch.cuda.memory._record_memory_history() before the work."},
	{"memory-history-truncated", DataLoss, "The history has only the newest entries. Peaks before them are unknown.", "Record with a larger max_entries."},
	{"memory-limit", DataLoss, "The data takes more memory than it may, so reading ended. What follows is missing from every sum.", "Raise --max-memory."},
	{"memory-peak-unknown", DataLoss, "The history does not reach the moment of the snapshot, so the peak in it is unknown. Owners are those at the end.", "Take the snapshot again."},
	{"memory-record-unusable", DataLoss, "Blocks, segments and entries without a size or of an unknown shape were left out. Sums are too low by them.", "Take the snapshot again."},
	{"memory-steps-left-out", Info, "Steps that began before the history or overlap an earlier one were left out, and those over the limit.", ""},
	{"memory-times-missing", Info, "The entries have no times, as in PyTorch before 2.1. There is no picture over time, and there are no rates.", "Record with PyTorch 2.1 or later."},
	{"metadata-malformed", Info, "The part of the file behind its events is not JSON. Device names or ranks may be missing.", "Copy the file again."},
	{"metadata-too-long", Info, "Metadata over the limit of size was skipped. Device names or ranks may be missing.", ""},
	{"names-cut", Info, "The profiler cut names to the width of its column. Rows whose cut names are equal are kept as separate rows, and categories go by what is left.", "Print whole names: table(max_name_column_width=None), or nsys stats --format csv."},
	{"names-pooled", DataLoss, "The input has more distinct names than it may. Events counted here share one name: every sum stands, but rows by name and steps are incomplete.", "Raise --max-memory."},
	{"ncu-error", DataLoss, "ncu reported an error, so launches may be missing.", "Read the line, and run ncu again."},
	{"ncu-warning", Suspect, "ncu reported a warning that may concern the values.", "Read the line."},
	{"negative-time", DataLoss, "Times below zero, which clocks that are set back leave, do not count.", "Record again."},
	{"negative-values", Suspect, "Samples below zero, as the difference of two profiles has them, are in every sum and have no place in the picture of stacks.", "Compare the two profiles themselves."},
	{"nesting-too-deep", Info, "Host spans nest deeper than the limit. Time in the deepest counts for those above them.", ""},
	{"no-cuda", Suspect, "The export has no table of CUDA: it was not traced, or no process used it.", "Record with --trace=cuda,nvtx,osrt."},
	{"no-device-work", Suspect, "The export has calls of CUDA and no work of a device, so nothing of the GPU was recorded. This is not the same as an idle GPU.", "Record with --trace=cuda,nvtx,osrt, and end with cudaProfilerStop or a normal exit."},
	{"no-nvtx", Info, "The export has no NVTX ranges, so GPU work is put down to no operator, module or step.", "Annotate the program (torch.cuda.nvtx.range_push, torch.autograd.profiler.emit_nvtx), and record with --trace=cuda,nvtx,osrt."},
	{"nsys-error", DataLoss, "nsys itself reported an error, so tables may be missing.", "Read the line, and run nsys stats again."},
	{"number-format-assumed", Suspect, "Numbers such as 1,234 may have a fraction or thousands, and nothing in the input states which. A point was taken to be before fractions.", "Run ncu with LC_ALL=C."},
	{"phases-left-out", DataLoss, "There are more phases than are measured. The devices counted here have none; every other number stands.", "Give a shorter capture."},
	{"pprof-record-damaged", DataLoss, "Records of the profile that are damaged, or samples with another number of values than the profile has columns, were left out. Their values are missing from every sum.", "Copy the file again, or write it again."},
	{"pprof-reference-missing", DataLoss, "Samples and frames refer to locations, functions or texts that the profile does not have. Such frames are shown as [unknown]; values stand.", "Write the profile again with the tool that made it."},
	{"profile-rows-missing", DataLoss, "The profile has a header and no rows, or fewer than it states.", "Write it in another form, such as pstat or callgrind."},
	{"profiler-overhead", Info, "The profiler's own work falls between the first and last GPU work. Gaps that it falls into are not the program's.", "Record less (--sample=none --cpuctxsw=none), or a shorter range."},
	{"quotes-repaired", Info, "Quotes in names were not escaped, as PyTorch's profiler wrote them until 2026. The events were read with the quotes where they most likely belong.", ""},
	{"range-not-closed", Info, "NVTX ranges were open when the recording ended. Each was taken to last until the last recorded work.", ""},
	{"rank-repeated", Suspect, "Two inputs have the same rank. If they belong to different runs, figures of all devices mix them.", "Report each run by itself."},
	{"recursion-total-unknown", Info, "Functions call each other in a circle, so their totals do not follow from a callgrind file. Their own time stands.", ""},
	{"report-assumed", Info, "Several reports of nsys have the columns of this table, and nothing states which it is. Names of rows decided.", "Keep the line that nsys prints before the table, or the name that it gives the file."},
	{"row-malformed", DataLoss, "Rows of a table that do not fit its header were skipped. Their values are missing from every sum.", "Print or export the table again."},
	{"rows-left-out", DataLoss, "A table has more rows than it may. The rows counted here had the least time and were left out, or have no value to write.", "Raise --max-memory."},
	{"rows-not-printed", DataLoss, "The total below the table is more than its rows: rows are missing.", "Print with a larger row_limit."},
	{"rows-omitted", Info, "Dots replace rows that somebody left out.", "Give the whole table."},
	{"secrets-in-capture", Info, "Variables of the environment that look like secrets are stored in the capture. assay masks them in what it writes; the file still has them.", "Redact the file before you give it away, and record in a clean environment."},
	{"secrets-masked", Info, "Texts of the capture look like secrets. assay masks them in what it writes; the file still has them.", "Do not give the file away, and have the secrets replaced."},
	{"segment-unlike-its-blocks", Suspect, "The blocks of segments do not add up to their sizes. Sums over blocks and over segments differ by that.", "Take the snapshot again."},
	{"share-mismatch", Suspect, "Printed shares are not those of the table's own totals: values were changed, or have other units than their headers state. The totals count.", "Print the table again."},
	{"span-implausible", Suspect, "The events of the capture span more than 100 hours, so a timestamp is wrong. The length of the capture is not reported.", "Record again; if another program rewrote the trace, use the file that the profiler wrote."},
	{"spans-not-paired", DataLoss, "Begins without an end, or ends without a begin, have no duration and were left out. The recording began or ended within them.", ""},
	{"step-implausible", Suspect, "Markers of steps are longer than ten years and were left out. A time in the trace is wrong.", "Record again."},
	{"steps-overlap", Suspect, "Markers of different steps overlap. Each step was cut where the next one starts.", "Mark steps that follow each other."},
	{"stream-overlap", Info, "Events of one stream overlap in time, which programmatic dependent launch allows and clocks of whole microseconds show. Total kernel time exceeds wall time there.", ""},
	{"stream-without-number", Info, "GPU events name their stream by a text. Each such stream was given a number below -999.", ""},
	{"string-missing", DataLoss, "Names that rows refer to are not in the export. Such rows go by the number of their name.", "Export again."},
	{"strings-left-out", DataLoss, "The strings of the export take more memory than they may. Rows that refer to further ones go by the number of their name.", "Raise --max-memory."},
	{"sum-overflow", Suspect, "A sum has reached the largest 64-bit number, where they stop. A time or a size in the input is wrong.", "Record again."},
	{"table-cut", DataLoss, "The table is cut: its rows are fewer than it states, or too small to be all.", "Print it whole."},
	{"table-rows-pooled", DataLoss, "A table has more rows than it may. Those counted here are added up in one: every sum stands, but not which names they had.", "Raise --max-memory."},
	{"table-unfinished", DataLoss, "A table ends without its last rule: rows may be missing.", "Copy the text again."},
	{"table-unread", DataLoss, "Tables that nsys announced did not follow, or have a form that is not read.", "Print them with --format csv."},
	{"text-before-trace", Info, "Lines of text precede the trace and were skipped. A log and a trace may have been written to one file.", ""},
	{"text-cut", Info, "Very long names and other texts were cut. Every sum stands.", ""},
	{"time-backwards", Suspect, "Entries have a time before that of an earlier one. They count as of that one's time; their order stands.", ""},
	{"time-unit-unknown", DataLoss, "NVTX events whose times are not in nanoseconds were skipped.", "Export again with a newer nsys."},
	{"times-rounded", Info, "pstats prints times in whole milliseconds: what takes less than half of one is 0.000.", "Give the file that cProfile writes (python -m cProfile -o FILE), which is exact."},
	{"too-many-devices", Info, "Activity strips are kept for a limited number of devices. The devices counted here have none; every other number stands.", ""},
	{"too-many-memories", DataLoss, "Memory is measured on a limited number of devices. That of the devices counted here was left out.", "Give the devices as separate inputs."},
	{"too-many-rows", DataLoss, "A table has more rows than it may. The events counted here share rows: every sum stands, but not which names they had.", "Raise --max-memory."},
	{"too-many-steps", DataLoss, "The table of steps is full. The steps counted here were left out of it, and no other number is touched.", "Give a shorter capture."},
	{"too-many-streams", DataLoss, "The table of streams is full. The streams counted here were left out of it, and no other number is touched.", ""},
	{"too-many-tables", DataLoss, "Tables over the limit for one input were left out.", "Give them as separate inputs."},
	{"total-mismatch", Suspect, "The rows of a table add up to more than the total below it. Ranges may be among the kernels, or rows there twice.", "Print the table again without ranges."},
	{"trailing-data", DataLoss, "Something follows the end of the data and was not read. What was read before is whole.", "If several captures were joined, pass them as separate files."},
	{"unit-unknown", DataLoss, "Columns or metrics have a unit that is not known or is missing, and are not measured.", "Print with the standard units (ncu --print-units base)."},
	{"value-implausible", Suspect, "Figures that no launch can have, such as shares over ten times the peak, were left out. The file may be damaged.", "Export it again."},
	{"value-malformed", DataLoss, "Values that are not numbers, are negative or are beyond all bounds were left out.", "Export the table again."},
	{"values-unknown", DataLoss, "Values that are not known are written as 0.", ""},
	{"window-implausible", Suspect, "GPU events are more than ten years apart, so a time in the trace is wrong. Idle time of such devices means nothing; their gaps, steps and activity strips were left out.", "Record again."},
	{"work-before-launch", Suspect, "GPU work starts before the call that launched it: the clocks of host and device differ. Delays and causes of idle time are wrong by that.", "Record again, with a newer driver if it recurs."},
}
