package ingest

import (
	"bytes"
	"path/filepath"
	"strings"

	"assay/internal/profile/pyprof"
	"assay/logs/bench"
	"assay/logs/comm"
	"assay/logs/forms"
	"assay/logs/monitor"
	"assay/trace"
)

// A format is one kind of file that assay reads.
type format struct {
	name string

	// sniff reports whether a file may be of this format, by its first bytes and,
	// where they do not tell, its name. "Not mine" differs from "mine but broken":
	// a broken file still is of its format.
	sniff func(path string, head []byte) bool

	// load reads all of f into the model that the format has and fills in what
	// the file says of its format and rank.
	load func(f *File, sel trace.Select, in *Input) error

	// listed reports whether a file of this format in a directory is to be read. It
	// is for formats whose files may be something else: most JSON is not a trace.
	// Nil means always.
	listed func(path string, head []byte) bool
}

// textFormat is the name of the format of texts that may hold tables and logs.
const textFormat = "text"

// formats has all formats. The first whose sniff says so has the file, so those
// with a magic number come first and those that guess come last.
var formats = []format{
	{name: "nsys-sqlite", sniff: isSQLite, load: loadSQLite, listed: isNamedExport},
	{name: "nsys-rep", sniff: isNsysReport, load: loadNsysReport},
	{name: "ncu-rep", sniff: isNcuReport, load: loadNcuReport},
	{name: "assay-summary", sniff: isSaved, load: loadSaved, listed: isNamedSaved},
	{name: "nsys-json", sniff: isNsysJSON, load: loadNsysJSON},
	{name: "ncu", sniff: isCounters, load: loadCounters},
	{name: "pstats-file", sniff: isProf, load: tablesOf(pyprof.ReadProf)},
	{name: "pprof", sniff: isPprof, load: loadPprof},
	{name: "callgrind", sniff: isCallgrind, load: tablesOf(pyprof.ReadCallgrind)},
	{name: "yappi", sniff: isYappi, load: tablesOf(pyprof.ReadYappi), listed: isWantedYappi},
	{name: "pstats", sniff: isPstats, load: tablesOf(pyprof.ReadPstats)},
	{name: "nsys-stats", sniff: isStats, load: loadStats, listed: isNamedStats},
	{name: "benchmark", sniff: isBenchmark, load: loadDocument(bench.Read)},
	{name: "tensorboard", sniff: isEvents, load: loadDocument(monitor.ReadEvents)},
	{name: "monitor", sniff: isMonitor, load: loadDocument(monitor.ReadJSON)},
	{name: "flight-recorder", sniff: isFlight, load: loadDocument(comm.ReadFlight)},
	{name: "log-lines", sniff: isLines, load: loadLines},
	{name: "locust", sniff: isLocust, load: loadDocument(bench.ReadLocust)},
	{name: "metrics-jsonl", sniff: isMetricsJSONL, load: loadDocument(forms.ReadMetricsJSONL)},
	{name: "wandb-summary", sniff: isWandbSummary, load: loadDocument(forms.ReadWandbSummary)},
	{name: "trainer-state", sniff: isTrainerState, load: loadDocument(forms.ReadTrainerState)},
	{name: "metrics-csv", sniff: isMetricsCSV, load: loadDocument(forms.ReadMetricsCSV)},
	{name: "torch-memory-snapshot", sniff: isSnapshot, load: loadSnapshot, listed: isNamedSnapshot},
	{name: "torch-memory-timeline", sniff: isTimeline, load: loadTimeline},
	{name: "chrome-trace", sniff: isChromeTrace, load: loadChromeTrace, listed: isNamedTrace},
	{name: "folded", sniff: isFolded, load: loadFolded, listed: isNamedFolded},
	{name: textFormat, sniff: isPlainText, load: loadText, listed: beginsWithTable},
}

// formatOf returns the format of a file, or nil. A file that begins as one of
// another program does is of none, whatever a reader that guesses takes it for.
func formatOf(path string, head []byte) *format {
	if strictForeign(path, head) != nil {
		return nil
	}
	for i := range formats {
		if formats[i].sniff(path, head) {
			return &formats[i]
		}
	}
	return nil
}

// format returns the format of a file by its head, or nil. An object of metrics may be longer than the
// head, and then looks like the beginning of a trace: more of the file tells.
func (f *File) format(head []byte) *format {
	it := formatOf(f.Path, head)
	if it == nil || it.name != "chrome-trace" || len(head) < sniffLen || bytes.IndexByte(bytes.TrimSpace(head), '\n') >= 0 || bytes.Contains(head, []byte(`"ph"`)) {
		return it
	}
	for i := range formats {
		if formats[i].name == "metrics-jsonl" && formats[i].sniff(f.Path, f.sample(bufferSize)) {
			return &formats[i]
		}
	}
	return it
}

func isChromeTrace(_ string, head []byte) bool {
	return trace.Sniff(head) && !isExecutionTrace(head) && !isPythonObject(head)
}

func loadChromeTrace(f *File, sel trace.Select, in *Input) error {
	sample := f.sample(jsonSample)
	t, err := trace.Read(f, f.Path, sel)
	if err != nil {
		return namedOr(f.Path, sample, err)
	}
	if !hasEvents(t, sample) {
		return namedOr(f.Path, sample, &Refusal{f.Path, "is a JSON array whose objects are not events of a trace", "give what export_chrome_trace of torch.profiler writes"})
	}
	in.Trace = t
	if t.Meta.Kineto || t.Activities.Len() > 0 {
		in.Format = "kineto"
	}
	return nil
}

// hasEvents reports whether t has anything of a trace. An array of other objects
// reads as one without events.
func hasEvents(t *trace.Trace, sample []byte) bool {
	return !bytes.HasPrefix(bytes.TrimSpace(sample), []byte("[")) || bytes.Contains(sample, []byte(`"ph"`)) || t.Events == 0 ||
		t.Activities.Len() > 0 || t.Spans.Len() > 0 || t.Ops.Len() > 0 || t.Calls.Len() > 0 || len(t.Async) > 0 || t.Python.Len() > 0
}

// isNamedTrace reports whether JSON in a directory is a trace: it has events, or, where
// long metadata may hide them, is named like one or has members that only Kineto writes.
// The process groups of a job of 1,000 ranks take more than the head of a file.
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
