package ncu

import "strings"

// A what is what the cells of a column are to the reader.
type what uint8

const (
	ignored what = iota
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
func columnNames() map[string]what {
	return map[string]what{
		"id": anID, "process id": aPID, "process name": aProcess, "host name": aHost, "kernel name": aKernel, "context": aContext,
		"stream": aStream, "block size": aBlock, "grid size": aGrid, "device": aDevice, "cc": aCapability, "invocations": invocations,
		"section name": aSection, "metric name": aMetric, "metric unit": aUnit, "metric value": aValue, "average": theAverage,
		"rule name": aRule, "rule type": aRuleType, "rule description": aRuleText,
		"estimated speedup type": aSpeedupKind, "estimated speedup": aSpeedup,
	}
}

// A page is how a table of ncu is laid out.
type page uint8

const (
	details page = iota // a row for each metric or rule of a launch
	raw                 // a row for each launch, a column for each metric
	totals              // --print-summary: a row for each metric of several launches
)

// maxColumns is how many columns a header may have: raw pages have thousands.
const maxColumns = 1 << 16

// A layout is what the header of a table says.
type layout struct {
	page
	comma   byte
	prefix  int // bytes before each row that are not of the table, as those of a log
	columns int
	where   [aWideMetric]int
	same    []int // columns that tell launches apart

	// Of a raw page: the metrics with their columns, and the row of units, which
	// follows the header.
	wide  []int
	names []string
	units []string
}

// layoutOf understands a header, or returns nil if a line is none.
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

// headerStart returns where the header of a table begins in a line, or -1.
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
	has := func(list ...what) bool {
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

// cell returns the cell of a column, "" if the row or the table has none.
func (l *layout) cell(row []string, w what) string {
	if i := l.where[w]; i >= 0 && i < len(row) {
		return row[i]
	}
	return ""
}

// isRow reports whether a line is meant as a row. ncu sets every cell in quotes;
// other programs that write such tables only those that need it, and then a line
// must look like a row to be none of the program's.
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

// least is how many cells a row of the table has at least: rows of metrics have
// fewer than the header where there are columns for rules.
func (l *layout) least() int {
	switch l.page {
	case raw:
		return l.wide[0] + 1
	case totals:
		return l.where[theAverage] + 1
	}
	return l.where[aValue] + 1
}
