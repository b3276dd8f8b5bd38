package ingest

import (
	"bytes"
	"path/filepath"
	"strings"

	"assay/ingest/refused"
	"assay/internal/profile/pyprof"
	"assay/internal/profile/sampler"
	"assay/logs/bench"
	"assay/logs/comm"
	"assay/logs/forms"
	"assay/logs/health"
	"assay/logs/monitor"
	"assay/rocm"
	"assay/summary"
	"assay/torchprof/compile"
	"assay/torchprof/et"
	"assay/trace"
	"assay/trace/ascend"
	"assay/trace/perfetto"
	"assay/trace/proton"
	"assay/trace/unitrace"
	"assay/trace/xplane"
)

// A format is one kind of file that assay reads.
type format struct {
	name string

	// sniff reports whether a file may be of this format, by its first bytes or, if
	// they are not specific, by its name. It returns true for a broken file of the
	// format, so that load can explain what is wrong with it.
	sniff func(path string, head []byte) bool

	// load reads all of f into the model of the format, and sets the format and the
	// rank of the input if the file states them.
	load func(f *File, sel trace.Select, in *Input) error

	// listed reports whether a file found in a directory is read as this format. It
	// is stricter than sniff, because a directory has files that the user did not
	// name: most JSON is not a trace. Nil means always.
	listed func(path string, head []byte) bool
}

// textFormat is the name of the format of texts, which may contain tables and logs.
const textFormat = "text"

// formats has all formats, those with a magic number first: the first whose sniff returns true reads the file.
var formats = []format{
	{name: "nsys-sqlite", sniff: isSQLite, load: loadSQLite, listed: isNamedExport},
	{name: "nsys-parquet", sniff: isParquetExport, load: loadParquet},
	{name: "nsys-rep", sniff: isNsysReport, load: loadNsysReport},
	{name: "ncu-rep", sniff: isNcuReport, load: loadNcuReport},
	{name: "assay-summary", sniff: isSaved, load: loadSaved, listed: isNamedSaved},
	{name: "nsys-json", sniff: isNsysJSON, load: loadNsysJSON},
	{name: "ncu", sniff: isCounters, load: loadCounters},
	{name: rocm.FormatCSV, sniff: isRocmCSV, load: loadRocmCSV, listed: isFirstOfCSV},
	{name: rocm.FormatJSON, sniff: isRocmJSON, load: loadRocmJSON, listed: isBestForm},
	{name: rocm.FormatV1JSON, sniff: isRocmChrome, load: loadRocmChrome, listed: isBestForm},
	{name: ascend.FormatCSV, sniff: isAscendCSV, load: loadAscendCSV},
	{name: ascend.FormatSteps, sniff: func(_ string, head []byte) bool { return ascend.SniffSteps(head) }, load: rowTable(ascend.ReadSteps)},
	{name: ascend.FormatCollectives, sniff: func(_ string, head []byte) bool { return ascend.SniffCollectives(head) }, load: rowTable(ascend.ReadCollectives)},
	{name: rocm.FormatStats, sniff: isRocmTable(rocm.FormatStats), load: rowTable(rocm.ReadStats), listed: isRocmTableAlone},
	{name: rocm.FormatCounters, sniff: isRocmTable(rocm.FormatCounters), load: rowTable(rocm.ReadCounters)},
	{name: "pstats-file", sniff: isProf, load: tablesOf(pyprof.ReadProf)},
	{name: "pprof", sniff: isPprof, load: loadPprof},
	{name: "callgrind", sniff: isCallgrind, load: tablesOf(pyprof.ReadCallgrind)},
	{name: "yappi", sniff: isYappi, load: tablesOf(pyprof.ReadYappi), listed: isWantedYappi},
	{name: "pstats", sniff: isPstats, load: tablesOf(pyprof.ReadPstats)},
	{name: summary.FormatProtonTree, sniff: func(_ string, head []byte) bool { return proton.SniffTree(head) }, load: loadProtonTree},
	{name: summary.FormatProtonTree, sniff: func(_ string, head []byte) bool { return proton.SniffPacked(head) }, load: loadProtonPacked},
	{name: summary.FormatProton, sniff: func(_ string, head []byte) bool { return proton.SniffTrace(head) }, load: loadProtonTrace},
	{name: et.Format, sniff: func(_ string, head []byte) bool { return et.Sniff(head) }, load: loadExecutionTrace,
		listed: func(string, []byte) bool { return false }}, // beside a trace, which has times
	{name: "speedscope", sniff: func(_ string, head []byte) bool { return sampler.SniffSpeedscope(head) }, load: stacksOf(sampler.ReadSpeedscope)},
	{name: "py-spy", sniff: func(_ string, head []byte) bool { return sampler.SniffPySpy(head) }, load: stacksOf(sampler.ReadPySpy)},
	{name: "cpuprofile", sniff: func(_ string, head []byte) bool { return sampler.SniffV8(head) }, load: stacksOf(sampler.ReadV8)},
	{name: "perf-script", sniff: func(_ string, head []byte) bool { return sampler.SniffPerf(head) }, load: stacksOf(sampler.ReadPerf)},
	{name: "scalene", sniff: func(_ string, head []byte) bool { return sampler.SniffScalene(head) }, load: loadScalene},
	{name: "nsys-csv", sniff: isNsysTrace, load: loadNsysTrace, listed: isFirstReport},
	{name: "nsys-stats", sniff: isStats, load: loadStats, listed: isNamedStats},
	{name: "benchmark", sniff: isBenchmark, load: loadDocument(bench.Read)},
	{name: "k6-points", sniff: isK6Points, load: loadDocument(bench.ReadK6Points)},
	{name: summary.FormatXPlane, sniff: func(_ string, head []byte) bool { return xplane.Sniff(head) }, load: loadXPlane},
	{name: perfetto.Format, sniff: func(_ string, head []byte) bool { return perfetto.Sniff(head) }, load: loadPerfetto, listed: isBestForm},
	{name: "torch-trace", sniff: func(_ string, head []byte) bool { return compile.Sniff(head) }, load: loadCompiled},
	{name: "tensorboard", sniff: isEvents, load: loadDocument(monitor.ReadEvents)},
	{name: "dcgmi-diag", sniff: func(_ string, head []byte) bool { return health.SniffDiag(head) }, load: loadDocument(health.ReadDiag)},
	{name: "monitor", sniff: isMonitor, load: loadDocument(monitor.ReadJSON)},
	{name: "monitor-xml", sniff: isMonitorXML, load: loadDocument(monitor.ReadXML)},
	{name: "nccl-tests", sniff: isCommJSON, load: loadDocument(comm.ReadResults)},
	{name: "flight-recorder", sniff: isFlight, load: loadDocument(comm.ReadFlight)},
	{name: "log-lines", sniff: isLines, load: loadLines},
	{name: "locust", sniff: isLocust, load: loadDocument(bench.ReadLocust)},
	{name: "metrics-jsonl", sniff: isMetricsJSONL, load: loadDocument(forms.ReadMetricsJSONL)},
	{name: "wandb-summary", sniff: isWandbSummary, load: loadDocument(forms.ReadWandbSummary)},
	{name: "trainer-state", sniff: isTrainerState, load: loadDocument(forms.ReadTrainerState)},
	{name: "metrics-csv", sniff: isMetricsCSV, load: loadDocument(forms.ReadMetricsCSV)},
	{name: "torch-memory-snapshot", sniff: isSnapshot, load: loadSnapshot, listed: isNamedSnapshot},
	{name: "torch-memory-timeline", sniff: isTimeline, load: loadTimeline},
	{name: summary.FormatXLA, sniff: func(_ string, head []byte) bool { return xplane.SniffTrace(head) }, load: loadXLATrace},
	{name: "chrome-trace", sniff: isChromeTrace, load: loadChromeTrace, listed: isNamedTrace},
	{name: "folded", sniff: isFolded, load: loadFolded, listed: isNamedFolded},
	{name: textFormat, sniff: isPlainText, load: loadText, listed: beginsWithTable},
}

// formatOf returns the format of a file, or nil, also for one that [refused.Strict] recognizes.
func formatOf(path string, head []byte) *format {
	if refused.Strict(path, head) != nil && !isParquetExport(path, head) {
		return nil
	}
	for i := range formats {
		if formats[i].sniff(path, head) {
			return &formats[i]
		}
	}
	return nil
}

// format returns the format of a file by its head, or nil. A long JSON object of metrics looks like a trace, so that
// more of the file decides.
func (f *File) format(head []byte) *format {
	it := formatOf(f.Path, head)
	if it == nil || it.name != "chrome-trace" || len(head) < sniffLen ||
		bytes.IndexByte(bytes.TrimSpace(head), '\n') >= 0 || bytes.Contains(head, []byte(`"ph"`)) {
		return it
	}
	for i := range formats {
		if formats[i].name == "metrics-jsonl" && formats[i].sniff(f.Path, f.sample(bufferSize)) {
			return &formats[i]
		}
	}
	return it
}

// recasts give the spans of traces of other profilers than Kineto their meaning, and report whether the trace is of theirs.
var recasts = []func(path string, t *trace.Trace) bool{recastAscend, func(_ string, t *trace.Trace) bool { return unitrace.Recast(t) }}

func isChromeTrace(_ string, head []byte) bool {
	return trace.Sniff(head) && !et.Sniff(head) && !isPythonObject(head)
}

func loadChromeTrace(f *File, sel trace.Select, in *Input) error {
	sample := f.sample(jsonSample)
	sel.NodeNames = nodeNamesBeside(f.Path)
	var noteExecuted func(*trace.Trace)
	sel.Executed, noteExecuted = executedBeside(f.Path)
	t, err := trace.Read(f, f.Path, sel)
	switch {
	case err != nil && forms.IsObjectLines(sample):
		return namedOr(f.Path, sample, &Refusal{f.Path, "is JSON lines of an unknown form",
			`give lines with a step and its numbers, as {"step": 1, "loss": 0.5, "step_time": 1.2}, or the result of a benchmark that assay knows (assay help formats)`})
	case err != nil:
		return namedOr(f.Path, sample, err)
	}
	if !hasEvents(t, sample) {
		return namedOr(f.Path, sample, &Refusal{f.Path,
			"is a JSON array whose objects are not events of a trace", "give what export_chrome_trace of torch.profiler writes"})
	}
	in.Trace = t
	noteExecuted(t)
	for _, recast := range recasts {
		if recast(f.Path, t) {
			break
		}
	}
	if t.Meta.Tool != "" {
		in.Format = t.Meta.Tool
	} else if t.Meta.Kineto || t.Activities.Len() > 0 {
		in.Format = "kineto"
	}
	return nil
}

func loadCompiled(f *File, sel trace.Select, in *Input) (err error) {
	in.Compiled, err = compile.Read(f, f.Path, compile.Limits{Rows: rowLimit(sel)})
	return err
}

func loadExecutionTrace(f *File, sel trace.Select, in *Input) (err error) {
	in.Tables, err = et.Read(f, f.Path, et.Limits{Rows: rowLimit(sel)})
	return err
}

func loadProtonTree(f *File, sel trace.Select, in *Input) (err error) {
	in.Tables, err = proton.ReadTree(f, f.Path, proton.Limits{Nodes: rowLimit(sel)})
	return err
}

func loadProtonPacked(f *File, sel trace.Select, in *Input) (err error) {
	in.Tables, err = proton.ReadPacked(f, f.Path, proton.Limits{Nodes: rowLimit(sel)})
	return err
}

func loadProtonTrace(f *File, sel trace.Select, in *Input) (err error) {
	in.Trace, in.Tables, err = proton.ReadTrace(f, f.Path, sel, proton.Limits{Nodes: rowLimit(sel)})
	return err
}

func loadPerfetto(f *File, sel trace.Select, in *Input) (err error) {
	in.Trace, in.Format, err = perfetto.Read(f, f.Path, sel)
	return err
}

func loadXPlane(f *File, sel trace.Select, in *Input) (err error) {
	in.Trace, in.Tables, err = xplane.Read(f, f.Path, sel)
	return err
}

// loadXLATrace reads a trace of XLA. To cut a part out of it, the events must be read as they are in the file.
func loadXLATrace(f *File, sel trace.Select, in *Input) (err error) {
	if sel.Index {
		return loadChromeTrace(f, sel, in)
	}
	in.Trace, in.Tables, err = xplane.ReadTrace(f, f.Path, sel)
	return err
}

// hasEvents returns false for a JSON array of other objects, which reads as a trace without any usable event.
func hasEvents(t *trace.Trace, sample []byte) bool {
	return !bytes.HasPrefix(bytes.TrimSpace(sample), []byte("[")) || bytes.Contains(sample, []byte(`"ph"`)) || t.Events == 0 ||
		t.Activities.Len() > 0 || t.Spans.Len() > 0 || t.Ops.Len() > 0 || t.Calls.Len() > 0 || len(t.Async) > 0 || t.Python.Len() > 0
}

// isNamedTrace reports whether JSON in a directory is a trace: its head has an event, or it is
// named like a trace or has members that only Kineto writes. Long metadata may push the events
// out of the head: the process groups of a job of 1,000 ranks are longer than that.
func isNamedTrace(path string, head []byte) bool {
	if bytes.Contains(head, []byte(`"traceEvents"`)) || bytes.Contains(head, []byte(`"ph"`)) {
		return true
	}
	if len(head) < sniffLen {
		return false
	}
	return strings.Contains(strings.ToLower(filepath.Base(path)), "trace") ||
		bytes.Contains(head, []byte(`"deviceProperties"`)) || bytes.Contains(head, []byte(`"distributedInfo"`))
}
