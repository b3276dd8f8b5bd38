// Package nsysstats makes the reports of nsys stats of a trace, whatever
// profiler wrote it: the same columns, units, decimals and order of rows, so
// that what reads those of Nsight Systems reads these.
//
// There is one file per family of reports. A [Table] has its cells as text,
// since how many decimals a number has is part of the format; the command
// writes it as text, CSV or Markdown.
package nsysstats

import (
	"fmt"
	"slices"
	"strings"

	"assay/analyze"
	"assay/trace"
)

// A Table is one report on one trace.
type Table struct {
	Name    string // "cuda_gpu_kern_sum"
	Title   string // "CUDA GPU Kernel Summary"
	Columns []Column
	Rows    [][]string // cells by column, an empty one where there is no value
	Missing string     // what the trace does not contain where there are no rows
	Notes   []string   // what in the trace is in no row
}

// A Column is what the cells at one index are.
type Column struct {
	Head string
	Text bool // a name; else a number
}

// A report is one kind of table.
type report struct {
	name, old string // old is what it was called before 2023, "" if it is newer
	title     string
	missing   string
	kinds     trace.Kinds // what it looks at beside [always]
	columns   []Column
	rows      func(*maker, *Table)
}

// always are the kinds that are read for every report, so that what the capture
// lacks is told from what was not read.
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

// List returns a line for each report: its name, what it was called before, and
// its title.
func List() string {
	var b strings.Builder
	for _, r := range reports {
		fmt.Fprintf(&b, "  %-22s %-15s %s\n", r.name, r.old, r.title)
	}
	return b.String()
}

// Find returns the name of the report that is or was called so.
func Find(name string) (current string, ok bool) {
	for _, r := range reports {
		if name == r.name || name == r.old && name != "" {
			return r.name, true
		}
	}
	return "", false
}

// Needs returns what the named reports look at in a trace: reading less is
// faster.
func Needs(names []string) trace.Select {
	out := trace.Select{Kinds: always, FlowsIfNeeded: true}
	for _, r := range reports {
		if slices.Contains(names, r.name) {
			out.Kinds |= r.kinds
			out.Shapes = out.Shapes || r.name == "nvtx_sum" || r.name == "nvtx_gpu_proj_sum" // in the texts of operators
		}
	}
	return out
}

// Tables makes the named reports of a trace, each with at most so many rows:
// those that come first.
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

	linked *analyze.Launches // made when the first report asks for it
}

// launches links the device work of the trace to what launched it.
func (m *maker) launches() *analyze.Launches {
	if m.linked == nil {
		m.linked = analyze.LaunchesOf(m.t)
	}
	return m.linked
}
