package ncu

import "strings"

// A role is the meaning of a column for the reader.
type role uint8

const (
	ignored role = iota
	anID
	aPID
	aProcess
	aHost
	aKernel
	aContext
	aStream
	aBlock
	aGrid
	aDevice
	aCapability
	invocations
	aSection
	aMetric
	aUnit
	aValue
	theAverage
	aRule
	aRuleType
	aRuleText
	aSpeedupKind
	aSpeedup
	aWideMetric // of a raw page: the header is the metric's name
)

// columnNames are the headers of all versions, in lower case.
func columnNames() map[string]role {
	return map[string]role{
		"id": anID, "process id": aPID, "process name": aProcess, "host name": aHost, "kernel name": aKernel, "context": aContext,
		"stream": aStream, "block size": aBlock, "grid size": aGrid, "device": aDevice, "cc": aCapability, "invocations": invocations,
		"section name": aSection, "metric name": aMetric, "metric unit": aUnit, "metric value": aValue, "average": theAverage,
		"rule name": aRule, "rule type": aRuleType, "rule description": aRuleText,
		"estimated speedup type": aSpeedupKind, "estimated speedup": aSpeedup,
	}
}

// A page is a layout of ncu's tables.
type page uint8

const (
	details page = iota // a row for each metric or rule of a launch
	raw                 // a row for each launch, a column for each metric
	totals              // --print-summary: a row for each metric of several launches
)

// maxColumns is the maximum number of columns of a header. Raw pages have
// thousands.
const maxColumns = 1 << 16

// A layout is the information from the header of a table.
type layout struct {
	page
	comma   byte
	prefix  int // bytes before each row that do not belong to the table, such as a log prefix
	columns int
	where   [aWideMetric]int
	same    []int // columns that identify a launch: equal in all its rows

	// For a raw page: the metrics with their columns, and the row of units,
	// which follows the header.
	wide  []int
	names []string
	units []string
}

// layoutOf parses a header. It returns nil if the line is not a header.
func layoutOf(line string) *layout {
	from := headerStart(line)
	if from < 0 {
		return nil
	}
	for _, comma := range []byte{',', ';', '\t'} {
		if list, whole := cells(line[from:], comma, nil); whole && len(list) > 3 && len(list) <= maxColumns {
			if l := newLayout(list); l != nil {
				l.comma, l.prefix = comma, from
				return l
			}
		}
	}
	return nil
}

// headerStart returns the index at which a table header begins in a line, or
// -1.
func headerStart(line string) int {
	if len(line) < 20 || !strings.Contains(line, "Process") && !strings.Contains(line, "Metric") {
		return -1
	}
	for _, first := range []string{`"ID"`, `"Domain"`, `"Process ID"`, `"Device"`, `"Kernel Name"`} {
		if at := strings.Index(line, first); at >= 0 {
			return at
		}
	}
	for _, first := range []string{"ID", "Domain", "Process ID"} {
		if strings.HasPrefix(line, first) {
			return 0
		}
	}
	return -1
}

func newLayout(header []string) *layout {
	l := &layout{columns: len(header)}
	for i := range l.where {
		l.where[i] = -1
	}
	known := columnNames()
	for i, name := range header {
		w, ok := known[strings.ToLower(name)]
		switch {
		case ok && l.where[w] < 0:
			l.where[w] = i
			if w <= invocations {
				l.same = append(l.same, i)
			}
		case !ok && strings.Contains(name, "__"):
			l.wide, l.names = append(l.wide, i), append(l.names, name)
		}
	}
	has := func(list ...role) bool {
		for _, w := range list {
			if l.where[w] < 0 {
				return false
			}
		}
		return true
	}
	switch {
	case has(aMetric, aUnit, aValue) && has(aKernel, anID):
		l.page = details
	case has(aMetric, theAverage):
		l.page = totals
		l.where[aValue] = l.where[theAverage]
	case has(aKernel, anID) && len(l.wide) > 0:
		l.page = raw
	default:
		return nil
	}
	return l
}

// cell returns the cell of a column, or "" if the row or the table does not
// have it.
func (l *layout) cell(row []string, w role) string {
	if i := l.where[w]; i >= 0 && i < len(row) {
		return row[i]
	}
	return ""
}

// isRow reports whether a line is a row of the table. ncu quotes every cell;
// other programs that write such tables quote only the cells that need it. A
// line without quotes must look like a row, because it may be output of the
// profiled program.
func (l *layout) isRow(line string, row []string) bool {
	if strings.HasPrefix(line, `"`) {
		return true
	}
	if len(row) < l.least() || len(row) > l.columns {
		return false
	}
	id := l.cell(row, anID)
	return strings.Trim(id, "0123456789") == "" && (id != "" || l.where[anID] < 0 || l.page == raw && l.units == nil)
}

// least returns the minimum number of cells of a row. Rows of metrics have
// fewer cells than the header if there are columns for rules.
func (l *layout) least() int {
	switch l.page {
	case raw:
		return l.wide[0] + 1
	case totals:
		return l.where[theAverage] + 1
	}
	return l.where[aValue] + 1
}
