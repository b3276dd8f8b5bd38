package ascend

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/redact"
	"assay/internal/textscan"
	"assay/trace"
)

// columns are the names of the columns of kernel_details.csv and op_summary_*.csv.
var columns = map[string][]string{
	"name":   {"Name", "Op Name"},
	"type":   {"Type", "OP Type"},
	"core":   {"Accelerator Core", "Task Type"},
	"start":  {"Start Time(us)", "Task Start Time(us)"},
	"dur":    {"Duration(us)", "Task Duration(us)"},
	"stream": {"Stream ID"},
	"device": {"Device_id", "Device ID"},
	"step":   {"Step Id"},
}

// maxLine is the number of bytes of a row that are read: it has the shapes of all inputs.
const maxLine = 1 << 20

// maxName is the number of bytes of a name that is kept.
const maxName = 16 << 10

// SniffCSV reports whether a file that begins with head is a table of tasks.
func SniffCSV(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	at := columnsOf(string(line))
	return at["name"] >= 0 && at["core"] >= 0 && at["start"] >= 0 && at["dur"] >= 0
}

// columnsOf returns the number of each column, or -1.
func columnsOf(header string) map[string]int {
	at := make(map[string]int)
	cells := split(nil, strings.TrimPrefix(header, "\ufeff"))
	for key, names := range columns {
		at[key] = -1
		for i, cell := range cells {
			for _, name := range names {
				if cell == name && at[key] < 0 {
					at[key] = i
				}
			}
		}
	}
	return at
}

const withoutCalls = "A table of tasks has no calls, so there are no operators and no causes of idle time. Give the timeline of the same capture: trace_view.json of torch_npu, msprof_*.json of msprof."

// ErrNoTasks means that no row of a table has a time.
var ErrNoTasks = errors.New("no row of the table has a time")

// ReadCSV reads a table of tasks as a timeline without the host.
func ReadCSV(in io.Reader, file string, sel trace.Select) (*trace.Trace, error) {
	r := &table{out: trace.NewAssembler(file, sel), file: file, devices: make(map[int64]string), groups: make(map[string]int64), steps: make(map[int64]interval.Span)}
	lines := textscan.NewReader(in, maxLine)
	header, _, err := lines.Next()
	r.at = columnsOf(header)
	for err == nil && !r.out.Full() {
		var line string
		var cut bool
		if line, cut, err = lines.Next(); strings.TrimSpace(line) != "" {
			r.row(line, cut)
		}
	}
	whole := errors.Is(err, io.EOF) || err == nil
	if !whole {
		r.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file},
			Help: fmt.Sprintf("The table cannot be read to its end (%v). Its further rows are missing from every total. Copy the file again.", err)}, 1)
	}
	if r.tasks == 0 {
		return nil, ErrNoTasks
	}
	r.addSteps()
	return r.out.Trace(trace.Meta{Tool: FormatCSV, Devices: r.devices, WithoutCalls: withoutCalls}, r.rows, whole && r.bad == 0), nil
}

// A table reads rows.
type table struct {
	file             string
	out              *trace.Assembler
	at               map[string]int
	cells            []string
	devices          map[int64]string
	groups           map[string]int64        // streams of collectives
	steps            map[int64]interval.Span // from the first to the last task of a step
	rows, tasks, bad int64
}

// cell returns a cell, without the tab that keeps spreadsheets from rounding it.
func (r *table) cell(key string) string {
	if i := r.at[key]; i >= 0 && i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

func (r *table) row(line string, cut bool) {
	r.rows++
	r.cells = split(r.cells[:0], line)
	start, ok := nanoseconds(r.cell("start"))
	dur, timed := nanoseconds(r.cell("dur"))
	if cut || !ok || !timed || dur > trace.MaxDuration || start > math.MaxInt64/4 {
		r.bad++
		r.out.Issue(diag.Issue{Code: "row-malformed", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Line: int(r.rows) + 1},
			Help: "Rows of the table without a usable time, or cut, were left out. Their time is missing from every total. Copy the file again."}, 1)
		return
	}
	is := taskOf(redact.Cut(r.cell("name"), maxName), r.cell("type"))
	if is.Kind == trace.Sync {
		return
	}
	r.tasks++
	if step, err := strconv.ParseInt(r.cell("step"), 10, 32); err == nil {
		if s, known := r.steps[step]; known {
			r.steps[step] = interval.Span{Start: min(s.Start, start), End: max(s.End, start+dur)}
		} else if len(r.steps) < mostSteps {
			r.steps[step] = interval.Span{Start: start, End: start + dur}
		}
	}
	device, _ := strconv.ParseInt(r.cell("device"), 10, 16)
	device = max(0, device)
	r.devices[device] = DeviceName
	stream, err := strconv.ParseInt(r.cell("stream"), 10, 32)
	if is.Collective != "" || err != nil {
		n, ok := r.groups[is.Group]
		if !ok {
			n = firstGroup + int64(len(r.groups))
			r.groups[is.Group] = n
		}
		stream = n
	}
	addTask(r.out, is, trace.Activity{Start: start, Dur: dur, Track: r.out.Stream(0, device, stream)})
}

// addTask adds a task with known times and a known place.
func addTask(out *trace.Assembler, is trace.Meaning, row trace.Activity) {
	d := trace.Detail{Registers: -1, SharedMemory: -1, Bytes: -1, GraphID: -1, Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}
	if is.Bytes > 0 {
		d.Bytes = is.Bytes
	}
	if is.Collective != "" {
		d.Collective.Name, d.Collective.Group = out.Sym([]byte(is.Collective)), out.Sym([]byte(is.Group))
	}
	row.Name, row.Kind = out.Sym([]byte(is.Name)), is.Kind
	row.Detail = out.Detail(d, row.Name)
	out.Activity(row)
}

// mostSteps is the number of steps that are kept.
const mostSteps = 1 << 16

// addSteps adds the steps that the rows name. A task that outlasts its step belongs to it, and the next one begins with
// its first task.
func (r *table) addSteps() {
	numbers := slices.SortedFunc(maps.Keys(r.steps), func(a, b int64) int {
		return cmp.Or(cmp.Compare(r.steps[a].Start, r.steps[b].Start), cmp.Compare(a, b))
	})
	for i, n := range numbers {
		s := r.steps[n]
		if i+1 < len(numbers) {
			s.End = min(s.End, r.steps[numbers[i+1]].Start)
		}
		r.out.Span(trace.HostSpan{Start: s.Start, Dur: s.End - s.Start, Kind: trace.Annotation, Name: r.out.Sym(fmt.Appendf(nil, "ProfilerStep#%d", n)),
			Track: r.out.Thread(0, stepsThread)})
	}
}

// split appends the cells of a line, which may end in a tab.
func split(out []string, line string) []string {
	out = textscan.Cells(out, strings.TrimRight(line, "\r\n"))
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// nanoseconds returns decimal microseconds in ns. It returns false for another text, or a negative number.
func nanoseconds(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	us, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || us < 0 || us > math.MaxInt64/2000 || strings.Trim(fraction, "0123456789") != "" {
		return 0, false
	}
	ns, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	if len(fraction) > 3 && fraction[3] >= '5' {
		ns++
	}
	return us*1000 + ns, true
}
