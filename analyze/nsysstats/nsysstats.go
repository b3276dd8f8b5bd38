package nsysstats

import (
	"fmt"
	"slices"
	"strings"

	"assay/analyze/launches"
	"assay/trace"
)

// A Table is one report on one trace.
type Table struct {
	Name    string // "cuda_gpu_kern_sum"
	Title   string // "CUDA GPU Kernel Summary"
	Columns []Column
	Rows    [][]string // cells by column, empty if there is no value
	Missing string     // what the trace does not contain, if there are no rows
	Notes   []string   // what the rows do not include
}

// A Column describes the cells at one index.
type Column struct {
	Head string
	Text bool // a name; otherwise a number
}

// A report is one kind of table.
type report struct {
	name, old string // old is the name before 2023, "" if the report is newer
	title     string
	missing   string
	kinds     trace.Kinds // the kinds that it reads in addition to [always]
	columns   []Column
	rows      func(*maker, *Table)
}

// always are the kinds that are read for every report, to distinguish data
// missing in the capture from data that was not read.
const always = 1<<trace.Kernel | 1<<trace.Memcpy | 1<<trace.Memset | 1<<trace.Runtime | 1<<trace.Driver | 1<<trace.Annotation

// reports has all reports.
var reports = []report{
	{"cuda_gpu_kern_sum", "gpukernsum", "CUDA GPU Kernel Summary", "CUDA kernel data", 0, timed("Instances", "Name"), kernelRows},
	{"cuda_gpu_mem_time_sum", "gpumemtimesum", "CUDA GPU MemOps Summary (by Time)", "GPU memory data", 0, timed("Count", "Operation"), copyTimeRows},
	{"cuda_gpu_mem_size_sum", "gpumemsizesum", "CUDA GPU MemOps Summary (by Size)", "GPU memory data", 0, sized, copySizeRows},
	{"cuda_api_sum", "cudaapisum", "CUDA API Summary", "CUDA trace data", 0, timed("Num Calls", "Name"), callRows},
	{"nvtx_sum", "nvtxsum", "NVTX Range Summary", "NV Tools Extension (NVTX) data", 1 << trace.CPUOp, timed("Instances", "Style", "Range"), rangeRows},
	{"nvtx_gpu_proj_sum", "", "NVTX GPU Projection Summary", "NV Tools Extension (NVTX) ranges that launched GPU work", 1<<trace.CPUOp | 1<<trace.Flow, projected, projectedRows},
	{"osrt_sum", "osrtsum", "OS Runtime Summary", "OS Runtime trace data", 1 << trace.OSCall, timed("Num Calls", "Name"), osCallRows},
	{"cuda_kern_exec_sum", "kernexecsum", "CUDA Kernel Launch & Exec Time Summary", "CUDA kernels whose launch is known", 1 << trace.Flow, executed, executedRows},
}

// timed returns the columns of a report on durations.
func timed(count string, names ...string) []Column {
	out := []Column{{"Time (%)", false}, {"Total Time (ns)", false}, {count, false}, {"Avg (ns)", false},
		{"Med (ns)", false}, {"Min (ns)", false}, {"Max (ns)", false}, {"StdDev (ns)", false}}
	for _, name := range names {
		out = append(out, Column{name, true})
	}
	return out
}

// Names returns the names of all reports.
func Names() (names []string) {
	for _, r := range reports {
		names = append(names, r.name)
	}
	return names
}

// List returns a line for each report: its name, its former name, and its
// title.
func List() string {
	var b strings.Builder
	for _, r := range reports {
		fmt.Fprintf(&b, "  %-22s %-15s %s\n", r.name, r.old, r.title)
	}
	return b.String()
}

// Find returns the current name of the report with the given current or former
// name.
func Find(name string) (current string, ok bool) {
	for _, r := range reports {
		if name == r.name || name == r.old && name != "" {
			return r.name, true
		}
	}
	return "", false
}

// Needs returns the parts of a trace that the named reports use. Reading less
// is faster.
func Needs(names []string) trace.Select {
	out := trace.Select{Kinds: always, FlowsIfNeeded: true}
	for _, r := range reports {
		if slices.Contains(names, r.name) {
			out.Kinds |= r.kinds
			out.Shapes = out.Shapes || r.name == "nvtx_sum" || r.name == "nvtx_gpu_proj_sum" // used in the texts of operators
		}
	}
	return out
}

// Tables makes the named reports of a trace, each with at most maxRows rows:
// the first ones.
func Tables(t *trace.Trace, names []string, maxRows int) (out []Table) {
	m := &maker{t: t, most: maxRows}
	for _, name := range names {
		for _, r := range reports {
			if r.name == name {
				table := Table{Name: r.name, Title: r.title, Columns: r.columns, Missing: r.missing}
				r.rows(m, &table)
				out = append(out, table)
			}
		}
	}
	return out
}

// A maker makes the reports of one trace.
type maker struct {
	t    *trace.Trace
	most int // rows

	linked *launches.Launches // made when the first report needs it
}

// launches returns the links from the trace's device work to its launches.
func (m *maker) launches() *launches.Launches {
	if m.linked == nil {
		m.linked = launches.LaunchesOf(m.t)
	}
	return m.linked
}
