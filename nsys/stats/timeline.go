package stats

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/textscan"
	"assay/trace"
)

// This file reads reports of nsys stats that list events (cuda_gpu_trace, cuda_api_trace, nvtx_pushpop_trace), in CSV, as a
// timeline. A finder of tables adds them up by name.

// A Part is one report of a capture in CSV.
type Part struct {
	Name string
	In   io.Reader
}

// An eventTable is one kind of report, with the columns that only it has.
type eventTable struct {
	has string
	row func(*timeline)
}

var eventTables = []eventTable{
	{"start|duration|corrid|grdx|blkx|strm|name", (*timeline).work},
	{"start|duration|name|result|corrid|pid|tid", (*timeline).call},
	{"start|end|duration|durchild|name|pid|tid|lvl", (*timeline).rangeOf},
}

// A cell is a column of a report: where it is, and how much its unit is.
type cell struct {
	at   int
	size int64
}

// eventTableOf returns the kind of report that a header has, or nil.
func eventTableOf(header string) (*eventTable, map[string]cell, int) {
	cells, ok := csvCells(strings.TrimPrefix(header, "\ufeff"), ',')
	if !ok {
		return nil, nil, 0
	}
	columns := map[string]cell{}
	for i, text := range cells {
		name, unit := splitHeader(text)
		_, size := unitOf(unit)
		columns[name] = cell{i, max(1, size)}
		if size == 0 && (name == "start" || name == "duration") {
			return nil, nil, 0
		}
	}
	for i := range eventTables {
		all := true
		for name := range strings.SplitSeq(eventTables[i].has, "|") {
			_, ok := columns[name]
			all = all && ok
		}
		if all {
			return &eventTables[i], columns, len(cells)
		}
	}
	return nil, nil, 0
}

// SniffTimeline reports whether a file that begins with head is such a report, and whether it has work of GPUs.
func SniffTimeline(head []byte) (is, work bool) {
	line, _, _ := strings.Cut(string(head), "\n")
	table, _, _ := eventTableOf(strings.TrimRight(line, "\r"))
	return table != nil, table == &eventTables[0]
}

// ErrNoEvents means that a report has no event with a time.
var ErrNoEvents = errors.New("it has no event with a time")

// A timeline makes a trace of the rows.
type timeline struct {
	out     *trace.Assembler
	file    string
	meta    trace.Meta
	columns map[string]cell
	cells   []string
	pids    map[int64]bool // that made calls
	rows    int64
	kept    int64
	broken  bool
	linked  bool // one process made the calls, so that their numbers are unique
}

// ReadTimeline reads the reports of one capture. Calls come before the work that they launch, whatever the order of parts.
func ReadTimeline(parts []Part, file string, sel trace.Select) (*trace.Trace, error) {
	t := &timeline{out: trace.NewAssembler(file, sel), file: file, pids: map[int64]bool{}, linked: true,
		meta: trace.Meta{Devices: map[int64]string{}, Capacity: map[int64]int64{}, Hardware: map[int64]trace.Hardware{}}}
	for _, part := range parts {
		if err := t.read(part); err != nil {
			t.broken = true
			t.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: part.Name},
				Help: fmt.Sprintf("The table cannot be read to its end (%v). Its further rows are missing from every total. Copy the file again.", err)}, 1)
		}
	}
	if t.kept == 0 {
		return nil, ErrNoEvents
	}
	return t.out.Trace(t.meta, t.rows, !t.broken), nil
}

func (t *timeline) read(part Part) error {
	lines := textscan.NewReader(part.In, textscan.MaxLine)
	header, _, err := lines.Next()
	table, columns, width := eventTableOf(strings.TrimRight(header, "\r"))
	if table == nil {
		return nil
	}
	t.columns = columns
	for err == nil && !t.out.Full() {
		var line string
		var cut bool
		line, cut, err = lines.Next()
		if line = strings.TrimRight(line, "\r"); line == "" {
			continue
		}
		t.rows++
		cells, ok := csvCells(line, ',')
		if len(cells) > width && columns["name"].at == width-1 { // commas in a name without quotes
			cells = append(cells[:width-1:width-1], strings.Join(cells[width-1:], ","))
		}
		if cut || !ok || len(cells) != width {
			t.bad("row-malformed", "Rows with another number of cells than the header were skipped. Their events are missing from every total. Print the report again.", lines.N)
			t.broken = t.broken || err != nil
			continue
		}
		t.cells = cells
		start, dur := t.number("start"), t.number("duration")
		if start < 0 || dur < 0 || dur > trace.MaxDuration || start > 1<<62-1 {
			t.bad("event-bad-time", "Rows without a start and a duration that can be true were left out. They are missing from every total. Print the report again.", lines.N)
			continue
		}
		t.kept++
		table.row(t)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (t *timeline) bad(code, help string, line int) {
	t.out.Issue(diag.Issue{Code: code, Severity: diag.DataLoss, First: diag.Pos{File: t.file, Line: line}, Help: help}, 1)
}

// text returns the cell of a column, "" without one.
func (t *timeline) text(name string) string {
	if c, ok := t.columns[name]; ok {
		return t.cells[c.at]
	}
	return ""
}

// number returns the cell of a column in base units, -1 without a number.
func (t *timeline) number(name string) int64 {
	text := t.text(name)
	if text == "" {
		return -1
	}
	size := t.columns[name].size
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/size {
		return n * size
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || v*float64(size) >= 1<<62 {
		return -1
	}
	return int64(math.Round(v * float64(size)))
}

// device matches the name of a GPU with its number.
var device = lazyregexp.New(`^(.*?) ?\((\d{1,4})\)$`)

// directions are the copies that nsys names, in all versions.
var directions = []struct{ words, name string }{
	{"hosttodevice|htod", "HtoD"}, {"devicetohost|dtoh", "DtoH"}, {"devicetodevice|dtod", "DtoD"}, {"peertopeer|ptop", "PtoP"}, {"hosttohost|htoh", "HtoH"},
}

// work reads a kernel, a copy or a memset.
func (t *timeline) work() {
	name, kind := t.text("name"), trace.Kernel
	switch plain := strings.ToLower(strings.ReplaceAll(name, "-", "")); {
	case strings.HasPrefix(plain, "[cuda memcpy"):
		kind = trace.Memcpy
		name = "Memcpy"
		for _, d := range directions {
			if slices.ContainsFunc(strings.Split(d.words, "|"), func(w string) bool { return strings.Contains(plain, w) }) {
				name = "Memcpy " + d.name
				break
			}
		}
		if from, to := t.text("srcmemkd"), t.text("dstmemkd"); from != "" && to != "" {
			name += " (" + from + " -> " + to + ")"
		}
	case strings.HasPrefix(plain, "[cuda memset"):
		kind, name = trace.Memset, "Memset (Device)"
	}
	gpu := int64(0)
	if m := device().FindStringSubmatch(t.text("device")); m != nil {
		gpu, _ = strconv.ParseInt(m[2], 10, 64)
		if len(t.meta.Devices) < 4096 && len(m[1]) <= 256 {
			t.meta.Devices[gpu] = strings.Clone(m[1])
		}
	}
	sym := t.out.Sym([]byte(name))
	d := trace.Detail{Registers: min(t.number("reg/trd"), 1<<16), SharedMemory: -1, Bytes: t.number("bytes"), GraphID: -1,
		Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	for i, axis := range []string{"x", "y", "z"} {
		d.Grid[i], d.Block[i] = max(0, t.number("grd"+axis)), max(0, t.number("blk"+axis))
	}
	if static, dynamic := t.number("stcsmem"), t.number("dymsmem"); static >= 0 && dynamic >= 0 && kind == trace.Kernel {
		d.SharedMemory = static + dynamic
	}
	a := trace.Activity{Start: t.number("start"), Dur: t.number("duration"), Kind: kind, Name: sym, Track: t.out.Stream(0, gpu, max(0, t.number("strm")))}
	if t.linked {
		a.Correlation = trace.IDOf(max(0, t.number("corrid")))
	}
	a.Detail = t.out.Detail(d, sym)
	t.out.Activity(a)
}

// call reads a call of the runtime or driver.
func (t *timeline) call() {
	name := t.text("name")
	pid := max(0, t.number("pid"))
	if !t.pids[pid] && len(t.pids) < 2 {
		t.pids[pid] = true
	}
	t.linked = len(t.pids) < 2
	kind := trace.Runtime
	if strings.HasPrefix(name, "cu") && !strings.HasPrefix(name, "cuda") {
		kind = trace.Driver
	}
	t.out.Call(trace.Call{Start: t.number("start"), Dur: t.number("duration"), Kind: kind, Name: t.out.Sym([]byte(name)),
		Track: t.out.Thread(pid, max(0, t.number("tid"))), Correlation: trace.IDOf(max(0, t.number("corrid")))})
}

// rangeOf reads a range of NVTX. Ranges of the default domain begin with a colon.
func (t *timeline) rangeOf() {
	name := strings.TrimPrefix(t.text("name"), ":")
	t.out.Span(trace.HostSpan{Start: t.number("start"), Dur: t.number("duration"), Kind: trace.Annotation, Name: t.out.Sym([]byte(name)),
		Category: t.out.Sym([]byte("nvtx")), Track: t.out.Thread(max(0, t.number("pid")), max(0, t.number("tid")))})
}
