package rocm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/textscan"
)

// Formats of tables without a timeline.
const (
	FormatStats    = "rocprof-stats"
	FormatCounters = "rocprof-counters"
)

// v1Columns are the columns of rocprof v1 that are no counters.
var v1Columns = strings.Fields("index kernelname gpu-id queue-id queue-index pid tid grd wgr lds scr arch_vgpr vgpr accum_vgpr sgpr wave_size sig obj dispatchns beginns endns completens durationns")

// SniffTable returns the format of a table without a timeline that begins with head: totals by name, or counters of
// kernels, or "".
func SniffTable(head []byte) string {
	line, _, _ := strings.Cut(string(head), "\n")
	columns := columnsOf(strings.TrimRight(line, "\r"))
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { _, ok := columns[name]; return !ok })
	}
	switch {
	case has("name", "calls", "totaldurationns", "averagens", "percentage"):
		return FormatStats
	case has("counter_name", "counter_value", "dispatch_id", "kernel_name"):
		return FormatCounters
	case has("index", "kernelname", "gpu-id") && !has("beginns") && len(v1Counters(columns)) > 0:
		return FormatCounters
	}
	return ""
}

// v1Counters returns the columns of counters in a table of rocprof v1.
func v1Counters(columns map[string]int) (names []string) {
	for name := range columns {
		if name != "" && !slices.Contains(v1Columns, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A tableReader reads the rows of one table.
type tableReader struct {
	csvReader
	header []string // the names of columns as they are written
	file   string
	rows   int64
	most   int // kernels or other rows; further ones are added up
	issues diag.Ledger
}

// each calls row for each row of the table.
func (r *tableReader) each(in io.Reader, row func()) error {
	lines := textscan.NewReader(in, maxLine)
	header, _, err := lines.Next()
	header = strings.TrimRight(strings.TrimPrefix(header, "\ufeff"), "\r\n")
	r.header = textscan.Cells(nil, header)
	r.columns = columnsOf(header)
	for err == nil {
		var line string
		var cut bool
		line, cut, err = lines.Next()
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		r.rows++
		if r.cells = textscan.Cells(r.cells[:0], line); cut || len(r.cells) != len(r.header) {
			r.issues.Add(diag.Issue{Code: "row-malformed", Severity: diag.DataLoss, First: diag.Pos{File: r.file, Line: lines.N},
				Help: "Rows with another number of cells than the header were skipped. Their values are missing from every total. Copy the file again."})
			continue
		}
		row()
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// value returns a number that is not negative, and false for anything else.
func (r *tableReader) value(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(v >= 0) || v > math.MaxInt64/2 {
		r.issues.Add(diag.Issue{Code: "value-malformed", Severity: diag.DataLoss, First: diag.Pos{File: r.file}})
		return 0, false
	}
	return v, true
}

func cellOf(v float64, ok bool) profile.Cell {
	return profile.Cell{Value: int64(math.Round(v)), Known: ok}
}

// Names of rows by their kind. All rows of a file have the same kind.
var (
	callNames   = lazyregexp.New(`^(__)?(hip|hsa|roctx|rccl|nccl)[A-Z_]\w*$`)
	copyNames   = lazyregexp.New(`^(MEMORY_COPY_|Copy(Host|Device)To|FillBuffer$)`)
	domainNames = lazyregexp.New(`^(KERNEL_DISPATCH|MEMORY_(COPY|ALLOCATION)|SCRATCH_MEMORY|(HIP|HSA|MARKER|RCCL|ROCDECODE|ROCJPEG)_\w*API\w*)$`)
	markerFile  = lazyregexp.New(`(?i)marker|roctx`)
)

// kindOf returns the kind of the rows of a table of totals: by their names, which only kernels and markers choose
// themselves, and for those by the name of the file.
func kindOf(rows []profile.Row, file string) string {
	all := func(pattern interface{ MatchString(string) bool }) bool {
		return !slices.ContainsFunc(rows, func(r profile.Row) bool { return !pattern.MatchString(r.Name) })
	}
	switch {
	case all(domainNames()):
		return profile.OfRow
	case all(copyNames()):
		return profile.OfCopy
	case all(callNames()):
		return profile.OfCall
	case markerFile().MatchString(path.Base(strings.ReplaceAll(file, `\`, "/"))):
		return profile.OfRange
	}
	return profile.OfKernel
}

// ReadStats reads a table of totals by name.
func ReadStats(in io.Reader, file string, rows int) (*profile.Tables, error) {
	r := &tableReader{file: file, most: cmp.Or(rows, 1<<18)}
	const ns = "nanoseconds"
	t := &profile.Table{Name: "rocprof_stats", Columns: []profile.Heading{{Name: "total", Unit: ns, Adds: profile.Self},
		{Name: "count", Unit: "count", Adds: profile.Self}, {Name: "mean", Unit: ns}, {Name: "min", Unit: ns}, {Name: "max", Unit: ns}, {Name: "stddev", Unit: ns}}}
	percent := 0.0
	err := r.each(in, func() {
		row := profile.Row{Name: cut(string(kernelName([]byte(r.text("name"))))), Line: int(r.rows) + 1}
		for _, column := range []string{"totaldurationns", "calls", "averagens", "minns", "maxns", "stddev"} {
			text := r.text(column)
			if text == "" {
				row.Cells = append(row.Cells, profile.Cell{})
				continue
			}
			row.Cells = append(row.Cells, cellOf(r.value(text)))
		}
		if p, err := strconv.ParseFloat(strings.TrimSpace(r.text("percentage")), 64); err == nil {
			percent += p
		}
		if len(t.Rows) < r.most {
			t.Rows = append(t.Rows, row)
			return
		}
		r.pool(t, row.Cells)
	})
	if len(t.Rows) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Line: 1}, Msg: "the table of rocprof has no row; record again, and let the program end"}
	}
	if t.Of = kindOf(t.Rows, file); t.Of == profile.OfRow {
		for i := range t.Columns { // domains contain each other: a call waits for its kernel
			t.Columns[i].Adds = profile.Each
		}
	}
	const missing = 99 // percent, with rounding
	if percent > 0 && percent < missing {
		r.issues.Add(diag.Issue{Code: "rows-not-printed", Severity: diag.DataLoss, First: diag.Pos{File: file},
			Help: fmt.Sprintf("The shares in the file add up to %.1f%%, so rows are missing. Shares are relative to the rows that are there. Give the file as the profiler wrote it.", percent)})
	}
	return r.done(t, err), nil
}

// pool adds a row over the limit to the rest.
func (r *tableReader) pool(t *profile.Table, cells []profile.Cell) {
	if t.Rest == nil {
		t.Rest = make([]profile.Cell, len(t.Columns))
	}
	t.Left++
	for i, h := range t.Columns {
		if h.Adds != profile.Each {
			t.Rest[i] = t.Rest[i].Plus(cells[i])
		}
	}
	r.issues.Add(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
		Help: "A table reached its row limit. The rows counted here are added up in one: sums are correct, but names are missing. Raise --max-memory."})
}

func (r *tableReader) done(t *profile.Table, err error) *profile.Tables {
	if err != nil {
		r.issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
			Help: fmt.Sprintf("The table cannot be read to its end (%v). Its further rows are missing from every total. Copy the file again.", err)})
	}
	return &profile.Tables{Tool: "rocprof", List: []*profile.Table{t}, Records: r.rows, Complete: err == nil, Issues: r.issues.Issues()}
}
