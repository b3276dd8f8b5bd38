package nsys

import (
	"bytes"
	"strings"

	"assay/internal/diag"
	"assay/internal/redact"
	"assay/trace"
)

// A setting is a small table whose content is needed to read the others, with the
// function that handles a row.
type setting struct {
	name    string
	columns []string
	most    int // rows that are read; real exports have far fewer
	add     func(*loader, row)
}

const (
	maxStrings  = 1 << 24
	maxSettings = 1 << 20
	maxDevices  = 4096
)

// settings are read in this order, before all other tables.
var settings = []setting{
	{"StringIds", []string{"id", "value"}, maxStrings, func(l *loader, r row) { l.addString(r.Num(0), r.Text(1)) }},
	{"META_DATA_CAPTURE", []string{"name", "value"}, maxSettings, (*loader).option},
	{"META_DATA_EXPORT", []string{"name", "value"}, maxSettings, (*loader).option},
	{"EXPORT_META_DATA", []string{"name", "value"}, maxSettings, (*loader).option},
	{"TARGET_INFO_SYSTEM_ENV", []string{"name", "value"}, maxSettings, (*loader).system},
	{"TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, 1, (*loader).startTime},
	{"TARGET_INFO_GPU", []string{"id", "name", "totalMemory", "smCount", "computeMajor", "computeMinor", "clockRate", "memoryBandwidth", "l2CacheSize"}, maxDevices, (*loader).gpu},
	{"TARGET_INFO_CUDA_DEVICE", []string{"gpuId", "cudaId", "pid"}, maxDevices, func(l *loader, r row) {
		l.gpus[deviceKey{r.Num(2), r.Num(1)}] = r.Num(0)
	}},
	{"TARGET_INFO_CUDA_NULL_STREAM", contextColumns, maxThreads, (*loader).context},
	{"TARGET_INFO_CUDA_CONTEXT_INFO", contextColumns, maxThreads, (*loader).context},
	{"PROCESSES", []string{"globalPid", "name"}, maxThreads, func(l *loader, r row) {
		if name := r.Text(1); len(name) > 0 {
			l.out.NameProcess(l.thread(r.Num(0)).pid, printable(name))
		}
	}},
	{"ThreadNames", []string{"nameId", "globalTid"}, maxThreads, func(l *loader, r row) {
		t := l.thread(r.Num(1))
		l.out.NameThread(t.pid, t.tid, printable(l.string(r.Num(0))))
	}},
	{"DIAGNOSTIC_EVENT", []string{"text", "globalPid"}, maxSettings, (*loader).diagnostic},
	{"MPI_RANKS", []string{"globalPid", "rank"}, maxThreads, func(l *loader, r row) { l.ranks = append(l.ranks, int(r.Num(1))) }},
}

// settings reads the small tables: strings, processes, devices, and how the
// capture was made.
func (l *loader) settings() {
	for i := range settings {
		l.read(&settings[i])
	}
	if len(l.ranks) == 1 && l.ranks[0] >= 0 {
		l.meta.Rank = &l.ranks[0]
	}
	l.nvtxDomains()
}

// read reads a small table.
func (l *loader) read(s *setting) {
	if len(l.src.columns(s.name)) == 0 {
		return
	}
	l.captured[s.name] = true
	n := int64(0)
	err := l.src.scan(s.name, s.columns, func(r row) bool {
		n++
		s.add(l, r)
		return n < int64(s.most)
	})
	if err != nil {
		l.damaged(s.name, n, err)
	}
}

var contextColumns = []string{"processId", "contextId", "deviceId"}

// context notes the device of a context.
func (l *loader) context(r row) { l.contexts[contextKey{r.Num(0), r.Num(1)}] = r.Num(2) }

func (l *loader) startTime(r row) {
	if epoch := r.Num(0); epoch > 0 {
		l.meta.BaseTime = &epoch
	}
}

func (l *loader) gpu(r row) {
	id := r.Num(0)
	l.meta.Devices[id] = printable(r.Text(1))
	if n := r.Num(2); n > 0 {
		l.meta.Capacity[id] = n
	}
	positive := func(column int) int64 { return max(0, r.Num(column)) }
	h := trace.Hardware{SMs: positive(3), Major: positive(4), Minor: positive(5), ClockHz: positive(6), Bandwidth: positive(7), Cache: positive(8)}
	if h != (trace.Hardware{}) {
		l.meta.Hardware[id] = h
	}
}

// system handles one name and value of the properties of the machine.
func (l *loader) system(r row) {
	if strings.EqualFold(string(r.Text(0)), "DeviceEnvironment") {
		l.seen.secrets += secretsIn(r.Text(1))
	}
}

// option handles one option of the capture or export.
func (l *loader) option(r row) {
	switch name := string(r.Text(0)); {
	case name == "EXPORT_PRODUCT_VERSION" || name == "EXPORT_SCHEMA_VERSION":
		const most = 64
		value := r.Text(1)
		l.meta.Recorder[name] = printable(redact.CutBytes(value, most))
	case strings.HasSuffix(name, "CUDA_GRAPH_TRACE_OPTIONS:MODE"):
		l.seen.graphMode = string(r.Text(1))
	case strings.Contains(name, "ENVIRONMENT_VARIABLE"):
		l.seen.secrets += secretsIn(r.Text(1))
	}
}

// addString keeps the first part of a string, up to the length that is shown.
func (l *loader) addString(id int64, value []byte) {
	const most = 64 << 10
	value = redact.CutBytes(value, most)
	l.stringBytes += int64(len(value)) + perString
	if l.stringBytes > l.maxStringBytes {
		l.out.Issue(diag.Issue{Code: "strings-left-out", Severity: diag.DataLoss, First: diag.Pos{File: l.file}}, 1)
		return
	}
	l.strings[id] = append([]byte(nil), value...)
	l.graphs = l.graphs || bytes.Contains(value, []byte("GraphLaunch"))
	if l.nodes.requested && !l.nodes.updates {
		l.nodes.updates = changesGraphs(value)
	}
}

// perString is the memory for a string in addition to its bytes.
const perString = 100

// secretsIn counts the secrets in an environment with the code that masks them.
func secretsIn(environment []byte) int64 {
	const most = 1 << 20
	return redact.Count(string(environment[:min(len(environment), most)]))
}
