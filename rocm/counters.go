package rocm

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

// Counters of ROCm are of three kinds. FETCH_SIZE and WRITE_SIZE are KiB that a kernel read from and wrote to the
// memory of the GPU; shares are percents of the time of the kernel, or of lookups and lanes; all others count events.
// MemUnitBusy is a share; names in capitals, as GRBM_EA_BUSY, are counters of the hardware, which count clock cycles.
var shareCounter = lazyregexp.New(`Busy$|(?i:stalled|util|utilization|percent|l2cachehit|bankconflict|bylds)$`)

// means are counters that are neither shares nor sums.
var meanCounter = lazyregexp.New(`(?i)^(mean|average)|insts$|_avg$|rate$`)

// A counted is a kernel with its counters.
type counted struct {
	name     string
	launches map[string]bool // by their number; a launch has several rows
	n        int64
	ns       float64
	untimed  bool
	values   map[string]*counterSum
}

type counterSum struct {
	sum, n   float64 // over launches
	timed    float64 // over launches with a duration
	weighted float64 // by duration
	ns       float64
}

// A counterReader adds up counters by kernel.
type counterReader struct {
	tableReader
	kernels map[string]*counted
	names   map[string]bool // of counters
	order   []*counted
	other   int64 // launches over the limit
}

const (
	mostCounters = 256
	otherKernels = "(other kernels)"
)

// ReadCounters reads counters of kernels: one row for each counter of a launch (rocprofv3), or a column for each
// counter (rocprof v1).
func ReadCounters(in io.Reader, file string, rows int) (*profile.Tables, error) {
	r := newCounterReader(file, rows)
	var wide []string
	err := r.each(in, func() {
		if _, long := r.columns["counter_name"]; long {
			start, end := r.span()
			r.add(r.text("kernel_name"), r.text("dispatch_id")+" "+r.text("process_id"), r.text("counter_name"), r.text("counter_value"), float64(end-start))
			return
		}
		if wide == nil {
			wide = v1Counters(r.columns)
		}
		for _, name := range wide {
			i := r.columns[name]
			r.add(r.text("kernelname"), r.text("index"), r.header[i], r.cells[i], 0)
		}
	})
	if len(r.order) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Line: 1}, Msg: "the table of counters has no row with a value; record again: rocprofv3 --pmc COUNTER -- PROGRAM"}
	}
	return r.tables(err), nil
}

// tables returns the table of kernels, or nil if there is no counter. The error is the reason why rows are missing.
func (r *counterReader) tables(err error) *profile.Tables {
	if len(r.order) == 0 {
		return nil
	}
	r.issues.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: diag.Pos{File: r.file},
		Help: "A table reached its row limit. The rows counted here are added up in one: sums are correct, but names are missing. Raise --max-memory."}, r.other)
	return r.done(r.table(), err)
}

func newCounterReader(file string, rows int) *counterReader {
	return &counterReader{tableReader: tableReader{file: file, most: cmp.Or(rows, 1<<18)}, kernels: map[string]*counted{}, names: map[string]bool{}}
}

// add adds one counter of a launch.
func (r *counterReader) add(kernel, launch, counter, value string, ns float64) {
	if v, ok := r.value(value); ok {
		r.count(kernel, launch, counter, v, ns)
	}
}

// count adds the value of one counter of a launch.
func (r *counterReader) count(kernel, launch, counter string, v, ns float64) {
	counter = strings.TrimSpace(strings.TrimSuffix(counter, "_sum"))
	if !(v >= 0) || v > math.MaxInt64/2 || counter == "" || len(counter) > 128 || !r.names[counter] && len(r.names) >= mostCounters {
		return
	}
	r.names[counter] = true
	name := cut(string(kernelName([]byte(kernel))))
	k := r.kernels[name]
	if k == nil && len(r.order) >= r.most {
		name = otherKernels
		k = r.kernels[name]
		r.other++
	}
	if k == nil {
		k = &counted{name: name, launches: map[string]bool{}, values: map[string]*counterSum{}}
		r.kernels[name] = k
		r.order = append(r.order, k)
	}
	if !k.launches[launch] {
		if len(k.launches) > 1<<16 { // rows of a launch follow one another
			clear(k.launches)
		}
		k.launches[launch] = true
		k.n++
		if k.ns += max(0, ns); ns <= 0 {
			k.untimed = true
		}
	}
	c := k.values[counter]
	if c == nil {
		c = &counterSum{}
		k.values[counter] = c
	}
	c.sum, c.n = c.sum+v, c.n+1
	if ns > 0 {
		c.timed, c.weighted, c.ns = c.timed+v, c.weighted+v*ns, c.ns+ns
	}
}

// table makes the table of kernels. Shares are means over the time of the launches, or over launches without times.
func (r *counterReader) table() *profile.Table {
	const ns = "nanoseconds"
	t := &profile.Table{Name: "rocprof_counters", Title: "Kernels with counters", Of: profile.OfKernel}
	timed := slices.ContainsFunc(r.order, func(k *counted) bool { return k.ns > 0 && !k.untimed })
	if timed {
		t.Columns = []profile.Heading{{Name: "total", Unit: ns, Adds: profile.Self}}
	}
	t.Columns = append(t.Columns, profile.Heading{Name: "count", Unit: "count", Adds: profile.Self})
	if timed {
		t.Columns = append(t.Columns, profile.Heading{Name: "mean", Unit: ns})
	}
	names := slices.Sorted(maps.Keys(r.names))
	rates := slices.DeleteFunc([]string{"FETCH_SIZE", "WRITE_SIZE"}, func(name string) bool { return !timed || !r.names[name] })
	for _, name := range rates {
		t.Columns = append(t.Columns, profile.Heading{Name: map[string]string{"FETCH_SIZE": "read rate", "WRITE_SIZE": "write rate"}[name], Unit: "GB/s"})
	}
	for _, name := range names {
		t.Columns = append(t.Columns, counterColumn(name))
	}
	slices.SortStableFunc(r.order, func(a, b *counted) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(b.n, a.n)) })
	for _, k := range r.order {
		row := profile.Row{Name: k.name}
		known := k.ns > 0 && !k.untimed
		if timed {
			row.Cells = append(row.Cells, cellOf(k.ns, known))
		}
		row.Cells = append(row.Cells, profile.Known(k.n))
		if timed {
			row.Cells = append(row.Cells, cellOf(k.ns/float64(k.n), known))
		}
		for _, name := range rates {
			row.Cells = append(row.Cells, k.values[name].rate())
		}
		for _, name := range names {
			row.Cells = append(row.Cells, k.values[name].cell(counterColumn(name)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// counterColumn returns the column of a counter.
func counterColumn(name string) profile.Heading {
	switch {
	case name == "FETCH_SIZE":
		return profile.Heading{Name: "read from memory", Unit: "bytes", Adds: profile.Self}
	case name == "WRITE_SIZE":
		return profile.Heading{Name: "written to memory", Unit: "bytes", Adds: profile.Self}
	case shareCounter().MatchString(name):
		return profile.Heading{Name: name, Unit: "%"}
	case meanCounter().MatchString(name):
		return profile.Heading{Name: name, Unit: "count"}
	}
	return profile.Heading{Name: name, Unit: "count", Adds: profile.Self}
}

// rate returns KiB over time in bytes/ns.
func (c *counterSum) rate() profile.Cell {
	if c == nil || c.ns <= 0 {
		return profile.Cell{}
	}
	return cellOf(1024*c.timed/c.ns, true)
}

// cell returns the value of a counter for a column.
func (c *counterSum) cell(h profile.Heading) profile.Cell {
	if c == nil {
		return profile.Cell{}
	}
	v := c.sum
	switch {
	case h.Unit == "bytes":
		v *= 1024
	case h.Adds == profile.Each && c.ns > 0:
		v = c.weighted / c.ns
	case h.Adds == profile.Each:
		v = c.sum / c.n
	}
	return cellOf(v, v < math.MaxInt64)
}
