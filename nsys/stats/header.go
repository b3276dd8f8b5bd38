package stats

import (
	"slices"
	"strings"
	"sync"

	"assay/internal/profile"
)

// A role is the meaning of a column for the reader.
type role uint8

const (
	ignored role = iota
	theShare
	theName
	aLabel
	aStart // in reports that list events: the start; rows with the same name are added up
	aNumber
)

// A column is one column of a printed table.
type column struct {
	role
	heading profile.Heading
	key     string // name of a label
	size    int64  // base units per printed unit; 0 if the unit is unknown
	whole   bool   // printed without decimals
}

// A layout is the information from the header of a table.
type layout struct {
	columns []column
	headers map[string]bool // their texts in lower case, without units
	trace   bool            // a row is one event
	spans   []span          // of a table in text: the positions of its columns
	prefix  int             // characters before the first column that are not part of the table
	comma   rune            // in other tables: the separator of cells
	at      int             // line of the header
}

// A meaning is the column that a header of nsys describes.
type meaning struct {
	role
	name  string
	adds  profile.Adds
	whole bool // no decimals if its unit is ns, or if it has none
}

// meanings lists the headers of all versions, in lower case and without units.
// Every line that may be a header is looked up in it.
var meanings = sync.OnceValue(func() map[string]meaning {
	m := map[string]meaning{
		"time": {role: theShare},

		"name": {role: theName}, "operation": {role: theName}, "range": {role: theName}, "kernel name": {role: theName},
		"event": {role: theName}, "mpi event": {role: theName},
		"nvtx range": {aLabel, "range", 0, false}, "style": {aLabel, "style", 0, false}, "category": {aLabel, "category", 0, false},
		"gridxyz": {aLabel, "grid", 0, false}, "blockxyz": {aLabel, "block", 0, false},
		"api name": {aLabel, "call", 0, false}, "api function": {aLabel, "call", 0, false},
		"srcmemkd": {aLabel, "from", 0, false}, "dstmemkd": {aLabel, "to", 0, false},

		"start": {role: aStart}, "projected start": {role: aStart}, "api start": {role: aStart},

		"total time": {aNumber, "total", profile.Self, true}, "total": {aNumber, "total", profile.Self, true},
		"total proj time": {aNumber, "total", profile.Self, true}, "duration": {aNumber, "total", profile.Self, true},
		"projected duration": {aNumber, "total", profile.Self, true}, "kernel dur": {aNumber, "total", profile.Self, true},
		"durnonchild":      {aNumber, "self", profile.Self, true},
		"total range time": {aNumber, "host_total", profile.Total, true}, "orig duration": {aNumber, "host_total", profile.Total, true},
		"api dur": {aNumber, "call_total", profile.Self, true}, "queue dur": {aNumber, "queue_total", profile.Self, true},
		"bytes": {aNumber, "bytes", profile.Self, false},

		"total gpu ops": {aNumber, "gpu_ops", profile.Total, true}, "numgpuops": {aNumber, "gpu_ops", profile.Total, true},
		"nvtx inst": {aNumber, "ranges", profile.Total, true}, "qcount": {aNumber, "queued", profile.Self, true},
	}
	for _, count := range []string{"instances", "num calls", "calls", "operations", "count", "range instances", "kern inst"} {
		m[count] = meaning{aNumber, "count", profile.Self, true}
	}
	for name, words := range map[string][]string{
		"mean": {"avg", "average"}, "median": {"med", "median"}, "min": {"min", "minimum"}, "max": {"max", "maximum"}, "stddev": {"stddev"},
	} {
		whole := name == "min" || name == "max"
		for _, w := range words {
			m[w] = meaning{aNumber, name, profile.Each, whole}
			m["proj "+w] = meaning{aNumber, name, profile.Each, whole}
			// Of cuda_kern_exec_sum: the total, the call, the queue, the
			// kernel.
			m["t"+w] = meaning{aNumber, "span_" + name, profile.Each, whole}
			m["a"+w] = meaning{aNumber, "call_" + name, profile.Each, whole}
			m["q"+w] = meaning{aNumber, "queue_" + name, profile.Each, whole}
			m["k"+w] = meaning{aNumber, name, profile.Each, whole}
		}
	}
	return m
})

// splitHeader splits "Total Time (ns)" into name and unit.
func splitHeader(text string) (name, unit string) {
	text = strings.TrimSpace(text)
	if open := strings.LastIndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") {
		text, unit = strings.TrimSpace(text[:open]), text[open+1:len(text)-1]
	}
	return strings.ToLower(text), strings.TrimSpace(unit)
}

// unitOf returns the base unit of a printed unit, and the number of base units
// in one printed unit. MB are 10^6 bytes: 104857600 bytes are printed as
// 104.858.
func unitOf(unit string) (base string, size int64) {
	switch strings.ToLower(unit) {
	case "ns", "nsec", "nanoseconds":
		return nanoseconds, 1
	case "us", "µs", "μs", "usec", "microseconds":
		return nanoseconds, 1e3
	case "ms", "msec", "milliseconds":
		return nanoseconds, 1e6
	case "s", "sec", "seconds":
		return nanoseconds, 1e9
	case "b", "bytes":
		return "bytes", 1
	case "kb":
		return "bytes", 1e3
	case "mb":
		return "bytes", 1e6
	case "gb":
		return "bytes", 1e9
	case "kib":
		return "bytes", 1 << 10
	case "mib":
		return "bytes", 1 << 20
	case "gib":
		return "bytes", 1 << 30
	}
	return "", 0
}

const nanoseconds = "nanoseconds"

// newLayout parses a header. It returns nil if the header is not one of nsys,
// which has a unit in parentheses in at least one header or in the title. A
// column of values without a unit has the unit of the other columns, as the
// versions until 2021 print them, or of the title.
func newLayout(cells []string, titleUnit string) *layout {
	// Every line of any file is passed here, so most are refused before meanings is built.
	marked := titleUnit != "" ||
		slices.ContainsFunc(cells, func(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), ")") })
	if !marked || len(cells) < 3 {
		return nil
	}
	marked = titleUnit != ""
	l := &layout{headers: make(map[string]bool)}
	known, first := meanings(), titleUnit
	var named, valued bool
	for _, text := range cells {
		name, unit := splitHeader(text)
		m, ok := known[name]
		if _, size := unitOf(unit); size > 0 && first == "" && ok {
			first = unit
		}
		if m.role == theShare && unit != "%" {
			m.role = ignored
		}
		l.headers[name] = true
		marked = marked || unit != ""
		named = named || m.role == theName
		valued = valued || m.role == aNumber && m.name != "count"
		l.trace = l.trace || m.role == aStart
		l.columns = append(l.columns, columnOf(m, unit))
	}
	if !named || !valued || !marked {
		return nil
	}
	for i := range l.columns {
		l.columns[i].finalize(first)
	}
	l.drop()
	return l
}

func columnOf(m meaning, unit string) column {
	c := column{role: m.role, key: m.name, whole: m.whole}
	if m.role != aNumber {
		return c
	}
	c.heading = profile.Heading{Name: m.name, Adds: m.adds}
	switch m.name {
	case "count", "gpu_ops", "ranges", "queued":
		c.heading.Unit, c.size = "count", 1
		return c
	}
	c.heading.Unit, c.size = unitOf(unit)
	if unit != "" && c.size == 0 {
		c.role = ignored // a rate, or a column of another tool
	}
	return c
}

// finalize sets the unit of a column of values without a unit.
func (c *column) finalize(unit string) {
	if c.role != aNumber {
		return
	}
	if c.size == 0 {
		c.heading.Unit, c.size = unitOf(unit)
	}
	c.whole = c.whole && c.size == 1
}

// drop keeps only the first column of each kind.
func (l *layout) drop() {
	seen := make(map[string]bool)
	for i := range l.columns {
		c := &l.columns[i]
		key := c.heading.Name
		switch c.role {
		case ignored:
			continue
		case theShare, theName, aStart:
			key = [...]string{theShare: "%", theName: "name", aStart: "start"}[c.role]
		case aLabel:
			key = "label " + c.key
		}
		if seen[key] {
			c.role = ignored
		}
		seen[key] = true
	}
}
