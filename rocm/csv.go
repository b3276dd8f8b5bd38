package rocm

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"assay/internal/diag"
	"assay/internal/textscan"
	"assay/trace"
)

// A Part is one table of a capture in CSV: rocprofv3 writes a file for each kind of event.
type Part struct {
	Name string
	In   io.Reader
}

// maxLine is the number of bytes of a line that are read. Names of kernels are up to a few KiB long.
const maxLine = 1 << 20

// A csvForm is one kind of table.
type csvForm struct {
	format string
	has    string // columns that only this table has, in lower case and separated by bars
	row    func(*csvReader)
	work   bool // rows are work of GPUs
}

// csvForms are tried in this order. A nil row means that the table is no timeline.
var csvForms = []csvForm{
	{FormatCSV, "counter_name|counter_value|dispatch_id", nil, false},
	{FormatCSV, "kernel_name|start_timestamp|agent_id", (*csvReader).kernel, true},
	{FormatCSV, "direction|start_timestamp", (*csvReader).memcpy, true},
	{FormatCSV, "domain|function|start_timestamp", (*csvReader).call, false},
	{FormatCSV, "agent_type|node_id|wave_front_size", (*csvReader).agent, false},
	{FormatV1CSV, "index|kernelname|beginns|endns", (*csvReader).v1, true},
}

// columnsOf returns the columns of a header by their names in lower case.
func columnsOf(header string) map[string]int {
	columns := map[string]int{}
	for i, name := range textscan.Cells(nil, strings.TrimPrefix(header, "\ufeff")) {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	return columns
}

// formOf returns the form of a table by its first line, or nil.
func formOf(header string) (form *csvForm, columns map[string]int) {
	columns = columnsOf(header)
	for i := range csvForms {
		all := true
		for name := range strings.SplitSeq(csvForms[i].has, "|") {
			_, ok := columns[name]
			all = all && ok
		}
		if all {
			return &csvForms[i], columns
		}
	}
	return nil, nil
}

// SniffCSV returns the format of a table that begins with head, or "". Counters reports whether it has counters of kernels
// and no timeline.
func SniffCSV(head []byte) (format string, counters bool) {
	line, _, _ := strings.Cut(string(head), "\n")
	form, _ := formOf(strings.TrimRight(line, "\r"))
	if form == nil {
		return "", false
	}
	return form.format, form.row == nil
}

// ErrNoEvents means that a file has no event of a timeline.
var ErrNoEvents = errors.New("it has no event with a time")

// ReadCSV reads the tables of one capture. The file name is that of the capture. It returns [ErrNoEvents] if no row has a
// time.
func ReadCSV(parts []Part, file string, sel trace.Select) (*trace.Trace, error) {
	c := newCapture(file, sel)
	c.single = true
	r := &csvReader{capture: c, devices: map[int64]agent{}}
	for _, part := range parts {
		if err := r.read(part); err != nil {
			c.broken = true
			c.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: part.Name},
				Help: fmt.Sprintf("The table cannot be read to its end (%v). Its further rows are missing from every total. Copy the file again.", err)}, 1)
		}
	}
	if c.rows == 0 {
		return nil, ErrNoEvents
	}
	return c.trace(), nil
}

// A csvReader reads the rows of a table.
type csvReader struct {
	*capture
	columns map[string]int
	cells   []string
	devices map[int64]agent // by the number of their agent
	gpus    int64
}

func (r *csvReader) read(part Part) error {
	lines := textscan.NewReader(part.In, maxLine)
	header, _, err := lines.Next()
	header = strings.TrimRight(header, "\r\n")
	form, columns := formOf(header)
	width := len(textscan.Cells(nil, header)) // two columns may have the same name
	if form == nil || form.row == nil {
		return nil
	}
	r.columns, r.table, r.row = columns, part.Name, 0
	for err == nil && !r.out.Full() {
		var line string
		var cut bool
		line, cut, err = lines.Next()
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		r.row++
		if r.cells = textscan.Cells(r.cells[:0], line); cut || len(r.cells) != width {
			r.bad("row-malformed", "another number of cells than the header") // also a last row that is cut
			r.broken = r.broken || err != nil
			if form.work && err == nil {
				r.unread()
			}
			continue
		}
		form.row(r)
	}
	r.rows += r.row
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// text returns the cell of the first of these columns that the table has.
func (r *csvReader) text(names ...string) string {
	for _, name := range names {
		if i, ok := r.columns[name]; ok && i < len(r.cells) {
			return r.cells[i]
		}
	}
	return ""
}

// num returns a number, or otherwise if there is none.
func (r *csvReader) num(otherwise int64, names ...string) int64 {
	return number(r.text(names...), otherwise)
}

// span returns the times of a row.
func (r *csvReader) span() (start, end int64) {
	return r.num(0, "start_timestamp", "start"), r.num(0, "end_timestamp", "end")
}

// device returns the GPU of an agent: "Agent 4", "GPU 0", or its number alone.
func (r *csvReader) device(text string) int64 {
	n, isGPU := agentOf(text)
	if isGPU {
		return n
	}
	return r.gpu(r.devices, "", n)
}

// agentOf returns the number in the name of an agent, and whether it is that of a GPU among GPUs.
func agentOf(text string) (n int64, isGPU bool) {
	word, digits, ok := strings.Cut(text, " ")
	if !ok {
		digits = text
	}
	return number(digits, 0), word == "GPU"
}

func (r *csvReader) kernel() {
	w := newWork(trace.Kernel)
	w.start, w.end = r.span()
	w.device = r.device(r.text("agent_id"))
	w.stream, w.queue = r.num(0, "stream_id"), r.num(-1, "queue_id")
	w.name, w.correlation = kernelName([]byte(r.text("kernel_name"))), r.num(0, "correlation_id")
	w.shared = r.num(-1, "lds_block_size", "group_segment_size")
	w.block = [3]int64{r.num(0, "workgroup_size_x"), r.num(0, "workgroup_size_y"), r.num(0, "workgroup_size_z")}
	w.grid = blocks([3]int64{r.num(0, "grid_size_x"), r.num(0, "grid_size_y"), r.num(0, "grid_size_z")}, w.block)
	r.add(&w)
}

func (r *csvReader) memcpy() {
	w := newWork(trace.Memcpy)
	w.start, w.end = r.span()
	w.name, w.stream, w.correlation = memcpyName([]byte(r.text("direction"))), r.num(0, "stream_id"), r.num(0, "correlation_id")
	from, isGPU := agentOf(r.text("source_agent_id"))
	to, _ := agentOf(r.text("destination_agent_id"))
	switch {
	case toDevice(string(w.name)):
		w.device = r.device(r.text("destination_agent_id"))
	case isGPU:
		w.device = from
	default:
		w.device = r.copied(r.devices, "", from, to, string(w.name))
	}
	r.add(&w)
}

func (r *csvReader) call() {
	start, end := r.span()
	r.host(r.domainOf(r.text("domain")), []byte(r.text("function")), r.num(0, "process_id"), r.num(0, "thread_id"), start, end, r.num(0, "correlation_id"))
}

// agent reads what agent_info.csv says about a CPU or a GPU.
func (r *csvReader) agent() {
	if r.row--; r.text("agent_type") != "GPU" { // not an event
		r.devices[r.num(0, "node_id")] = agent{}
		return
	}
	device := r.num(r.gpus, "logical_node_type_id")
	r.gpus++
	r.devices[r.num(0, "node_id")] = agent{true, device}
	name := r.text("product_name", "name")
	if name != "" && len(name) <= 256 && len(r.meta.Devices) < 4096 {
		r.meta.Devices[device] = name
		r.meta.Hardware[device] = trace.Hardware{SMs: between(r.num(0, "cu_count"), 1<<16),
			ClockHz: between(r.num(0, "max_engine_clk_fcompute"), 1<<20) * 1_000_000}
	}
}

// v1 reads a kernel of rocprof v1.
func (r *csvReader) v1() {
	w := newWork(trace.Kernel)
	w.start, w.end = r.num(0, "beginns"), r.num(0, "endns")
	w.device, w.queue, w.pid = r.num(0, "gpu-id"), r.num(-1, "queue-id"), r.num(0, "pid")
	w.name, w.shared = v1Name(&w.kind, r.text("kernelname")), r.num(-1, "lds")
	if threads, block := r.num(0, "grd"), r.num(0, "wgr"); threads > 0 && block > 0 { // of all dimensions together
		w.block = [3]int64{block, 1, 1}
		w.grid = blocks([3]int64{threads, 1, 1}, w.block)
	}
	r.add(&w)
}

// between returns n, or 0 if it is implausible.
func between(n, most int64) int64 {
	if n < 0 || n > min(most, math.MaxInt64) {
		return 0
	}
	return n
}
