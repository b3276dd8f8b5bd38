// Package monitor reads the output of monitors of GPUs and hosts: nvidia-smi (dmon, pmon,
// query CSV, the panel, -q as text and as XML), DCGM, rocm-smi, amd-smi; iostat, vmstat, mpstat, pidstat, sar, top and dstat;
// scrapes of Prometheus and event files of TensorBoard.
//
// Columns are found by name, because their order differs by version and options;
// columns.txt maps the names to metrics. A value that a monitor does not have ("-",
// "N/A", "[Not Supported]") is missing, not 0: a MIG device without a utilization is not
// idle. The first report of iostat and vmstat is the mean since the start of the machine;
// it is dropped if other reports follow.
//
// Start with this file, which recognizes tables and dispatches their rows to gpu.go,
// amd.go, host.go, top.go, dstat.go and prom.go. columns.go parses columns.txt, and time.go the times of all
// monitors. report.go reads nvidia-smi -q. json.go, amdjson.go, reportxml.go and tfevents.go read whole files.
package monitor

import (
	"bytes"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// A Finder finds the tables of monitors in a text. It is a finder of package textscan.
type Finder struct {
	name     string
	b        *logs.Builder
	at       diag.Pos
	kind     kind
	cols     []string
	units    []string // of cols, of a query
	ids      map[string]int
	miss     int // number of lines since the last row
	time     int64
	day      int64 // midnight of the date in the heading of sysstat, or NoTime
	clock    int64 // the last time of the day, in ns
	first    map[string]bool
	held     []held        // values of the first report
	round    int           // reports of iostat
	topRound int           // reports of top
	dstat    []dstatColumn // of the open table of dstat
	widths   []int         // columns of each of its groups
	tick     tick
	panel    panel
	report   report
	prom     prometheus
}

// A held value is a value of a first report. It is used only if no other report follows.
type held struct {
	id   int
	v    float64
	time int64
	key  string
}

// A kind is one sort of table.
type kind uint8

const (
	none kind = iota
	dmon
	pmon
	query
	dcgmLong
	dcgmDmon
	avgCPU
	iostat
	vmstat
	sysstat // mpstat, pidstat, sar
	amdCSV
	rocmCSV
	rocmTable
	rocmList
	panelRows
	smiLog // nvidia-smi -q
	top
	dstat
	dstatCSV
	exposition
)

// maxMiss is the number of lines without a row after which a table ends.
const maxMiss = 100

// maxLine is the maximum length of a row: no monitor prints longer ones.
const maxLine = 64 << 10

// NewFinder returns a finder for an input of the given name.
func NewFinder(name string, limits logs.Limits) *Finder {
	return &Finder{name: name, b: logs.NewBuilder(limits), ids: map[string]int{}, time: logs.NoTime, day: logs.NoTime, first: map[string]bool{}}
}

// Open reports whether a table is being read.
func (f *Finder) Open() bool { return f.kind != none }

// Log returns what was found. The finder must not be used afterwards.
func (f *Finder) Log() *logs.Log {
	f.endPanel()
	f.endReport()
	f.endProm()
	for _, h := range f.held {
		if !f.first[h.key] { // there was only one report
			f.b.Add(h.id, h.v, logs.NoStep, h.time, 0)
		}
	}
	f.b.DropSeries(isQuiet)
	f.b.Settings(f.report.list)
	return f.b.Log(0, true)
}

// Hint reports whether a table may begin with a line.
func (f *Finder) Hint(line []byte) bool {
	if len(line) == 0 || len(line) > maxLine {
		return false
	}
	trimmed := bytes.TrimLeft(line[:min(len(line), 256)], " \t")
	trimmed = bytes.TrimPrefix(trimmed, []byte("> "))
	if len(trimmed) < 5 {
		return false
	}
	has := func(s string) bool { return bytes.HasPrefix(trimmed, []byte(s)) }
	switch trimmed[0] {
	case '#':
		rest := bytes.TrimLeft(trimmed[1:], " ")
		return bytes.HasPrefix(rest, []byte("gpu")) || bytes.HasPrefix(rest, []byte("Date")) || bytes.HasPrefix(rest, []byte("Time")) || bytes.HasPrefix(rest, []byte("Entity")) || bytes.HasPrefix(rest, []byte("HELP ")) || bytes.HasPrefix(rest, []byte("TYPE "))
	case '=':
		return isReport(string(trimmed))
	case '-', '"':
		return isDstat(string(trimmed))
	case 'a':
		return has("avg-cpu")
	case 'D':
		return has("Device")
	case 'd':
		if has("device,") {
			return isRocmCSV(line)
		}
	case 'g', 't':
		if has("top - ") {
			return true
		}
		if isAmdCSV(line) {
			return true
		}
	case 'L':
		return has("Linux ") && bytes.Contains(trimmed, []byte(" CPU)"))
	case 'r':
		return has("r  b ") || has("r b ")
	case 'G':
		return has("GPUId,TimeStamp") || has("GPU[") || isRocmTable(line)
	case '|':
		return bytes.Contains(trimmed, []byte("NVIDIA-SMI"))
	case 'v', 's':
		if has("vllm:") || has("sglang:") {
			return true
		}
	}
	if trimmed[0] >= 'a' && trimmed[0] <= 'z' && bytes.IndexByte(trimmed, ',') > 0 {
		for _, name := range queryNames {
			if bytes.Contains(line, name) {
				return true
			}
		}
	}
	return false
}

// queryNames are columns. The header of a query has at least one of them.
var queryNames = [][]byte{[]byte("utilization.gpu"), []byte("memory.used"), []byte("power.draw"), []byte("temperature.gpu"), []byte("clocks.")}

// Line receives a line.
func (f *Finder) Line(n int, line string) {
	if len(line) > maxLine {
		return
	}
	f.at = diag.Pos{File: f.name, Line: n}
	if strings.HasPrefix(line, ">") { // a quotation in Markdown
		line = strings.TrimPrefix(line[1:], " ")
	}
	if f.header(line) {
		f.miss = 0
		return
	}
	if f.kind == none { // the date of a panel is in a line above it
		if len(line) < 60 {
			if m := rePanelDay().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				f.panelTime(m)
			}
		}
		return
	}
	if f.row(line) {
		f.miss = 0
	} else if f.miss++; f.miss > maxMiss {
		f.kind = none
	}
}

// header begins a table if a line is a heading.
func (f *Finder) header(line string) bool {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	text := strings.TrimSpace(line)
	switch {
	case text[0] == '#' && f.gpuHeader(strings.Fields(strings.TrimLeft(text, "# "))):
	case strings.HasPrefix(text, "# HELP "), strings.HasPrefix(text, "# TYPE "), strings.HasPrefix(text, "vllm:"), strings.HasPrefix(text, "sglang:"):
		if f.kind != exposition {
			f.kind = exposition
		}
		f.promLine(text)
	case strings.HasPrefix(text, "avg-cpu:"):
		f.kind, f.cols = avgCPU, words[1:]
		f.round++
	case isRocmTable([]byte(text)):
		f.kind, f.cols = rocmTable, words
	case words[0] == "Device" || words[0] == "Device:" || words[len(words)-1] == "Device" && f.kind != none && len(words) > 2:
		if !strings.Contains(text, "/s") && !strings.Contains(text, "%util") && !strings.Contains(text, " tps") {
			return false
		}
		f.kind, f.cols = iostat, words
		f.cols[0] = strings.TrimSuffix(f.cols[0], ":")
	case len(words) > 12 && words[0] == "r" && words[1] == "b" && words[2] == "swpd":
		f.kind, f.cols = vmstat, words
	case strings.HasPrefix(text, "Linux ") && strings.HasSuffix(text, "CPU)"):
		f.kind, f.cols, f.day, f.clock = sysstat, nil, dateOf(words), 0
	case isReport(text):
		f.endReport()
		f.kind, f.time = smiLog, logs.NoTime
	case strings.HasPrefix(text, "GPUId,TimeStamp"):
		f.kind = dcgmLong
	case f.amdHeader(line, text), f.topHeader(text), f.dstatHeader(text):
	case strings.Contains(text, "NVIDIA-SMI") && text[0] == '|':
		if f.kind != panelRows {
			f.kind = panelRows
		}
		f.panel.gpu = -1
	case f.Hint([]byte(line)) && strings.Contains(text, ", "):
		return f.queryHeader(text)
	case f.kind == sysstat || f.kind == iostat || f.kind == avgCPU:
		return f.sysHeader(words)
	default:
		return false
	}
	return true
}

// gpuHeader begins a table of nvidia-smi or dcgmi if the words after "#" are a heading.
func (f *Finder) gpuHeader(words []string) bool {
	if len(words) < 2 {
		return false
	}
	has := func(name string) bool {
		for _, w := range words {
			if w == name {
				return true
			}
		}
		return false
	}
	switch {
	case words[0] == "Entity":
		f.kind, f.cols = dcgmDmon, words[1:]
	case has("gpu") && has("pid"):
		f.kind, f.cols = pmon, words
	case has("gpu"):
		f.kind, f.cols = dmon, words
		f.tick = tick{}
	case words[0] == "Time" && (has("PID") || has("TGID")):
		f.kind, f.cols = sysstat, words
	case words[0] == "Idx" || words[0] == "ID" || words[0] == "YYYYMMDD":
		return f.kind == dmon || f.kind == pmon || f.kind == dcgmDmon
	default:
		return false
	}
	return true
}

// row reads a row of the open table, and reports whether the line is one.
func (f *Finder) row(line string) bool {
	switch f.kind {
	case dmon:
		return f.dmonRow(strings.Fields(line))
	case pmon:
		return f.pmonRow(strings.Fields(line))
	case query:
		return f.queryRow(line)
	case dcgmLong:
		return f.dcgmRow(strings.Split(strings.TrimSpace(line), ","))
	case dcgmDmon:
		return f.dcgmDmonRow(strings.Fields(line))
	case avgCPU, iostat:
		return f.iostatRow(line)
	case vmstat:
		return f.vmstatRow(strings.Fields(line))
	case sysstat:
		return f.sysRow(line)
	case panelRows:
		return f.panelRow(line)
	case smiLog:
		return f.reportRow(line)
	case top:
		return f.topRow(line)
	case dstat:
		return f.dstatRow(line)
	case dstatCSV:
		return f.dstatCSVRow(line)
	case exposition:
		return f.promLine(strings.TrimSpace(line))
	case amdCSV, rocmCSV:
		return f.amdRow(line)
	case rocmTable:
		return f.rocmTableRow(strings.Fields(line))
	case rocmList:
		return f.rocmListRow(line)
	}
	return false
}

// add adds a value of a column. A text for a missing value is counted as missing.
func (f *Finder) add(producer, table, name, text string, labels ...logs.Label) {
	id, c, ok := f.series(producer, table, name, text, labels)
	if !ok {
		return
	}
	v, ok := parse(text)
	if !ok || overLimit(c.metric, v*c.factor) {
		f.b.Missing(id)
		return
	}
	f.b.Add(id, v*c.factor, logs.NoStep, f.time, 0)
}

// overLimit reports whether a value exceeds all CPU time of a host. If a counter of the
// kernel goes back, vmstat prints the negative difference as an unsigned number. Rounding
// can give up to 101%.
func overLimit(m logs.Metric, v float64) bool {
	switch m.Name {
	case "host.iowait", "host.cpu_idle", "host.cpu_util":
		return v > 1.02
	}
	return false
}

// series returns the series of a column, or false if the column is not read. An unknown
// column has a series only if its values are numbers.
func (f *Finder) series(producer, table, name, text string, labels []logs.Label) (int, column, bool) {
	c := columnOf(table, name)
	if c.skip {
		return -1, c, false
	}
	var key strings.Builder
	key.WriteString(producer + "\x00" + table + "\x00" + name)
	for _, l := range labels {
		key.WriteString("\x00" + l.Value)
	}
	id, ok := f.ids[key.String()]
	if !ok {
		if _, number := parse(text); !number && c.metric.Role == logs.Other {
			return -1, c, false
		}
		id = f.b.Of(c.metric, producer, name, labels, f.at)
		if len(f.ids) < 1<<16 {
			f.ids[key.String()] = id
		}
	}
	return id, c, true
}

// addAfterFirst adds a value. It holds back the values of the first report of a key, which
// are used only if no other report follows.
func (f *Finder) addAfterFirst(producer, table, name, text, key string, isFirst bool, labels ...logs.Label) {
	if !isFirst {
		f.first[key] = true
		f.add(producer, table, name, text, labels...)
		return
	}
	id, c, ok := f.series(producer, table, name, text, labels)
	if v, number := parse(text); ok && number && !overLimit(c.metric, v*c.factor) && len(f.held) < 1<<16 {
		f.held = append(f.held, held{id, v * c.factor, f.time, key})
	}
}

// parse reads a number, with a percent sign or the prefix of a unit of iostat -h, and with
// a decimal comma.
func parse(s string) (float64, bool) {
	s = strings.TrimSuffix(s, "%")
	factor := 1.0
	if n := len(s); n > 1 {
		switch s[n-1] {
		case 'k':
			s = s[:n-1]
		case 'M':
			s, factor = s[:n-1], 1024
		case 'G':
			s, factor = s[:n-1], 1024*1024
		}
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	if s == "" || !(s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '.' || s[0] == '+') {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * factor, err == nil
}
