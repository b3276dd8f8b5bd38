package nsys

import (
	"bytes"
	"fmt"
	"strconv"

	"assay/internal/diag"
	"assay/internal/unit"
)

// collected compares the number of CUDA events that nsys states to have collected with the
// number of their rows in the export.
type collected struct {
	events    map[int64]int64 // by process
	rows      int64
	work      int64 // those of GPU work among rows
	uncertain bool  // nsys states that it may have lost some
}

// collectedTables are the tables whose rows nsys counts as CUDA events. It does not count
// synchronizations or calls of cudaEventRecord. Whether it counts graph launches that were
// traced as a whole is not known; they are in the list, which can only make the number of
// missing events too small.
var collectedTables = map[string]bool{
	"CUPTI_ACTIVITY_KIND_KERNEL": true, "CUPTI_ACTIVITY_KIND_MEMCPY": true, "CUPTI_ACTIVITY_KIND_MEMSET": true,
	"CUPTI_ACTIVITY_KIND_RUNTIME": true, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": true,
}

// otherTables are tables that are not read although nsys may count their rows as CUDA events.
// If one has rows, the number that nsys states cannot be checked.
var otherTables = []string{
	"CUPTI_ACTIVITY_KIND_DRIVER", "CUDA_GPU_MEMORY_USAGE_EVENTS", "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
	"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER", "CUPTI_ACTIVITY_KIND_MEMORY",
}

// manyMissing is the share of GPU operations, recorded or missing, above which missing events
// prevent a verdict. It equals the critical limit of the rule for lost launches.
const manyMissing = 0.25

// fewMissing is the share of the collected events above which missing events are data loss.
const fewMissing = 0.001

// diagnostic handles one message of nsys about the collection.
func (l *loader) diagnostic(r row) {
	text, c := bytes.TrimSpace(r.Text(0)), &l.seen.collected
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
	c.events[r.Num(1)] = max(c.events[r.Num(1)], n)
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

// noteCollected adds an issue if the export has fewer rows than nsys has collected events. It
// adds none if reading stopped early, because then the number of rows is unknown.
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
		Help: fmt.Sprintf("nsys collected %s CUDA events, and %s of them are not in the export. They are missing from every sum. Export the report again, without a filter and to the end.",
			unit.Count(events), unit.Count(missing))}, missing)
	// It is not known which events are missing: all of them may be GPU work.
	if float64(missing) >= manyMissing*float64(c.work+missing) {
		l.out.Issue(diag.Issue{Code: "cuda-events-incomplete", Severity: diag.DataLoss, First: diag.Pos{File: l.file}}, missing)
	}
}

// readsAll reports whether the loader counts every row that may be a collected event.
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
