package comm

import (
	"slices"
	"strconv"
	"strings"

	"assay/logs"
)

// A table is a table of nccl-tests or rccl-tests that is being read. Lines of NCCL may come
// between the lines of a row.
type table struct {
	open    bool
	name    string   // of the program: "all_reduce_perf"
	root    bool     // the table has a column "root"
	columns []string // of the values: "time", "algbw", "busbw", "#wrong" and others, out of place and then in place
	ranks   int
	nodes   map[string]bool
	row     []logs.Label // settings of the open row
	of      []logs.Label // type and reduction of the last row
	line    int
	values  []string
	counted int // number of rows
	left    int // number of further lines without a row after which the table ends
}

// maxGap is the maximum number of other lines between two rows, such as lines of NCCL.
const maxGap = 2000

const testsName = "nccl-tests"

// tableLine reads a line of a table, or a line that is printed before or after it.
func (f *Finder) tableLine(line string) {
	t := &f.table
	if i := strings.IndexByte(line[:min(len(line), 40)], '#'); i >= 0 {
		f.headLine(line[i:])
		return
	}
	if bareHead(line) {
		f.headLine(line)
		return
	}
	if !t.open {
		return
	}
	if t.left--; t.left <= 0 {
		f.closeTable()
		return
	}
	words := strings.Fields(mpiPrefix(line))
	if len(words) == 0 {
		return
	}
	if len(words) >= 3 && isInt(words[0]) && isInt(words[1]) && isType(words[2]) {
		f.closeRow()
		t.line, t.left = f.at.Line, maxGap
		t.row = []logs.Label{{Name: "bytes", Value: words[0]}, {Name: "count", Value: words[1]}, {Name: "type", Value: words[2]}}
		words = words[3:]
		if len(words) > 0 && !isNumber(words[0]) && words[0] != "N/A" {
			if w := words[0]; w != "none" {
				t.row = append(t.row, logs.Label{Name: "redop", Value: w})
			}
			words = words[1:]
		}
		values := numbers(words)
		if t.root && len(values) > 0 && isInt(values[0]) {
			if values[0] != "-1" {
				t.row = append(t.row, logs.Label{Name: "root", Value: values[0]})
			}
			values = values[1:]
		}
		t.values = values
	} else if t.row != nil {
		if values := numbers(words); len(values) >= 4 {
			t.values = append(t.values, values...)
		}
	}
	if len(t.values) >= len(t.columns) {
		f.closeRow()
	}
}

// bareHead reports whether a line is one of those of the test whose "#" was lost: Markdown takes it for a heading.
func bareHead(line string) bool {
	has := func(a, b string) bool { return strings.Contains(line, a) && strings.Contains(line, b) }
	return has(" algbw ", " busbw ") || has(" Avg bus bandwidth ", ": ") || has(" Rank ", " Group ") && has(" Pid ", " device ")
}

// headLine reads a line that begins with "#".
func (f *Finder) headLine(line string) {
	t := &f.table
	switch {
	case strings.Contains(line, "busbw") && strings.Contains(line, "algbw"):
		f.closeRow()
		t.open, t.root, t.counted, t.left = true, strings.Contains(line, " root "), 0, maxGap
		words := strings.Fields(line)
		t.columns = words[max(0, slices.Index(words, "time")):]
	case strings.Contains(line, "Collective test starting: "):
		f.closeTable()
		_, name, _ := strings.Cut(line, "Collective test starting: ")
		*t = table{name: strings.TrimSpace(name)}
	case strings.Contains(line, "Avg bus bandwidth"):
		f.closeRow()
		_, v, _ := strings.Cut(line, ":")
		if words := numbers(strings.Fields(v)); len(words) > 0 && t.counted > 0 {
			b := f.result()
			b.Title, b.Settings = "average of all sizes", append(b.Settings, t.of...)
			b.Metrics = []logs.Figure{figure("comm.busbw", "mean", "Avg bus bandwidth", words[0], 1e9)}
			f.b.Benchmark(b, f.at)
		}
		t.ranks, t.nodes, t.counted = 0, nil, 0
	case strings.Contains(line, "Rank ") && strings.Contains(line, " device "):
		if t.nodes == nil {
			t.nodes, t.ranks = map[string]bool{}, 0
		}
		t.ranks++
		if _, rest, ok := strings.Cut(line, " on "); ok && len(t.nodes) < 10_000 {
			node, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			t.nodes[node] = true
		}
	}
}

func (f *Finder) result() logs.Benchmark {
	t := &f.table
	b := logs.Benchmark{Producer: testsName, Line: int64(f.at.Line), Time: logs.NoTime}
	if t.name != "" {
		b.Settings = append(b.Settings, logs.Label{Name: "test", Value: t.name})
	}
	if t.ranks > 0 {
		b.Settings = append(b.Settings, logs.Label{Name: "ranks", Value: strconv.Itoa(t.ranks)},
			logs.Label{Name: "nodes", Value: strconv.Itoa(len(t.nodes))})
	}
	return b
}

// closeRow ends the open row. A row that has not one number for each column is dropped: which number is missing, or
// whose number is one more, is unknown.
func (f *Finder) closeRow() {
	t := &f.table
	row, v := t.row, t.values
	t.row, t.values = nil, nil
	if row == nil || len(v) != len(t.columns) {
		return
	}
	t.counted++
	t.of = nil
	for _, l := range row { // an old table does not name its test, but type and reduction differ between tests
		if l.Name == "type" || l.Name == "redop" {
			t.of = append(t.of, l)
		}
	}
	b := f.result()
	b.Line = int64(t.line)
	b.Settings = append(b.Settings, row...)
	seen := map[string]int{}
	for i, column := range t.columns {
		place := "out-of-place"
		if seen[column]++; seen[column] > 1 {
			place = "in-place"
		}
		m, known := figures[column]
		switch {
		case known && isNumber(v[i]):
			b.Metrics = append(b.Metrics, figure(m.metric, place, column, v[i], m.factor))
		case (column == "#wrong" || column == "error") && isInt(v[i]) && strings.Trim(v[i], "0.e+-") != "":
			b.Settings = append(b.Settings, logs.Label{Name: "wrong " + place, Value: v[i]})
		}
	}
	f.b.Record(testsName, false)
	f.b.Benchmark(b, f.at)
}

// figures are the metrics of columns, and what converts their values to base units.
var figures = map[string]struct {
	metric string
	factor float64
}{"time": {"comm.time", 1e3}, "algbw": {"comm.algbw", 1e9}, "busbw": {"comm.busbw", 1e9}}

func (f *Finder) closeTable() {
	f.closeRow()
	f.table.open = false
}

func figure(metric, stat, as, text string, factor float64) logs.Figure {
	m, _ := logs.MetricOf(metric)
	v, _ := strconv.ParseFloat(text, 64)
	return logs.Figure{Metric: m, Stat: stat, As: as, Value: v * factor}
}

// numbers returns the numbers at the beginning of a row, as they are written. Text directly
// after the last one is dropped, because another process may have written it.
func numbers(words []string) (out []string) {
	for _, w := range words {
		if w == "N/A" {
			out = append(out, w)
			continue
		}
		n := 0
		for n < len(w) && (w[n] >= '0' && w[n] <= '9' || w[n] == '.' || w[n] == '-' && n == 0 || w[n] == 'e' && n > 0 && n+1 < len(w) && (w[n+1] == '+' || w[n+1] == '-') || (w[n] == '+' || w[n] == '-') && n > 0 && w[n-1] == 'e') {
			n++
		}
		if !isNumber(w[:n]) {
			return out
		}
		out = append(out, w[:n])
		if n < len(w) {
			return out
		}
	}
	return out
}

func isInt(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }

func isNumber(s string) bool {
	v, err := strconv.ParseFloat(s, 64)
	return err == nil && v == v && v-v == 0
}

// isType reports whether a text is the name of a data type of nccl-tests.
func isType(s string) bool {
	switch s {
	case "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2":
		return true
	}
	return false
}

// mpiPrefix returns a line without the prefix of mpirun: "[1,0]<stdout>:".
func mpiPrefix(line string) string {
	if i := strings.Index(line[:min(len(line), 40)], ">:"); i >= 0 && line[0] == '[' {
		return line[i+2:]
	}
	return line
}
