package nsys

import (
	"bytes"
	"fmt"
	"strconv"

	"assay/internal/diag"
	"assay/internal/unit"
)

// collected is what nsys states about the CUDA events that it has collected, and the
// rows that the export has of them.
type collected struct {
	events    map[int64]int64 // by process
	rows      int64
	work      int64 // those of GPU work among rows
	uncertain bool  // nsys states that some may be missing
}

// collectedTables are those whose rows nsys counts as CUDA events. It does not count
// synchronizations and CUDA events in the sense of cudaEventRecord. Launches of graphs
// that were traced as a whole are not known to count, so their rows only lower the
// number of missing ones.
var collectedTables = map[string]bool{
	"CUPTI_ACTIVITY_KIND_KERNEL": true, "CUPTI_ACTIVITY_KIND_MEMCPY": true, "CUPTI_ACTIVITY_KIND_MEMSET": true,
	"CUPTI_ACTIVITY_KIND_RUNTIME": true, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": true,
}

// otherTables are those whose rows may count as CUDA events and are not read. With rows
// in them, the number that nsys states cannot be compared.
var otherTables = []string{
	"CUPTI_ACTIVITY_KIND_DRIVER", "CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER", "CUPTI_ACTIVITY_KIND_MEMORY",
}

// manyMissing is the share of the GPU work that may be missing from which on no verdict
// is given: the critical limit of lost launches.
const manyMissing = 0.25

// fewMissing is the share of the collected events from which on missing ones are a loss.
const fewMissing = 0.001

// diagnostic looks at one message of nsys about the collection.
func (l *loader) diagnostic(r row) {
	text, c := bytes.TrimSpace(r.text(0)), &l.seen.collected
	if bytes.HasPrefix(text, []byte("Not all CUDA events might have been collected")) {
		c.uncertain = true
	}
	number, ok := bytes.CutPrefix(text, []byte("Number of CUDA events collected:"))
	if !ok {
		return
	}
	n, err := strconv.ParseInt(string(bytes.Trim(number, " \t.")), 10, 64)
	if err != nil || n < 0 {
		return
	}
	if c.events == nil {
		c.events = make(map[int64]int64)
	}
	c.events[r.num(1)] = max(c.events[r.num(1)], n)
}

// read counts the rows of a table that was read.
func (c *collected) read(table string, rows int64) {
	if collectedTables[table] {
		c.rows += rows
		if table != "CUPTI_ACTIVITY_KIND_RUNTIME" {
			c.work += rows
		}
	}
}

// noteCollected adds an issue if the export has fewer rows than nsys has collected
// events. If reading stopped early, nothing is known.
func (l *loader) noteCollected() {
	c := &l.seen.collected
	if c.uncertain {
		l.out.Issue(diag.Issue{Code: "cuda-events-uncertain", Severity: diag.Info}, 1)
	}
	if len(c.events) == 0 || l.broken || l.out.Full() || !l.readsAll() {
		return
	}
	events := int64(0)
	for _, n := range c.events {
		events += n
	}
	missing := events - c.rows
	if missing <= 0 {
		return
	}
	severity := diag.Info
	if float64(missing) > fewMissing*float64(events) {
		severity = diag.DataLoss
	}
	l.out.Issue(diag.Issue{Code: "cuda-events-missing", Severity: severity,
		Help: fmt.Sprintf("nsys collected %s CUDA events, and %s of them are not in the export. They are missing from every sum. Export the report again, without a filter and to the end.", unit.Count(events), unit.Count(missing))}, missing)
	// Which events are missing is not known: all of them may be GPU work.
	if float64(missing) >= manyMissing*float64(c.work+missing) {
		l.out.Issue(diag.Issue{Code: "cuda-events-incomplete", Severity: diag.DataLoss, First: diag.Pos{File: l.file}}, missing)
	}
}

// readsAll reports whether every row that may be one of the collected events is counted.
func (l *loader) readsAll() bool {
	for i := range tables {
		if t := &tables[i]; collectedTables[t.name] && !t.wanted(l.out) {
			return false
		}
	}
	for _, name := range otherTables {
		rows := false
		if columns := l.src.columns(name); len(columns) > 0 {
			if err := l.src.scan(name, columns[:1], func(row) bool { rows = true; return false }); err != nil || rows {
				return false
			}
		}
	}
	return true
}
