package bench

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/textscan"
	"assay/logs"
)

const (
	locust        = "Locust"
	locustAll     = "Aggregated" // the name of the row for all requests
	locustTotals  = "Type,Name,Request Count,Failure Count,"
	locustHistory = "Timestamp,User Count,Type,Name,Requests/s,Failures/s,"

	maxLocustLine = 64 << 10
	maxLocustName = 256 // names in a history
)

// SniffLocust reports whether head begins a table of requests of Locust (NAME_stats.csv) or
// their history (NAME_stats_history.csv).
func SniffLocust(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	return bytes.HasPrefix(head, []byte(locustTotals)) || bytes.HasPrefix(head, []byte(locustHistory))
}

// A locustTable is a table of Locust that is being read.
type locustTable struct {
	b       *logs.Builder
	p       *producer
	cols    []string
	history bool
	last    map[string][]string // in a history: the last row of each name
	names   []string
	line    map[string]int
}

// ReadLocust reads a table of Locust. Each row of NAME_stats.csv is a result. A history has a
// row for each second: users and requests per second are values over time, and the totals of
// the last row of each name are its result.
func ReadLocust(in io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	t := &locustTable{b: logs.NewBuilder(limits), p: producerNamed(locust), last: map[string][]string{}, line: map[string]int{}}
	lines := textscan.NewReader(in, maxLocustLine)
	for {
		line, _, err := lines.Next()
		if line != "" {
			t.row(line, diag.Pos{File: name, Line: lines.N})
		}
		if errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			continue
		}
		t.finish(name)
		return t.b.Log(int64(lines.N), err == nil), err
	}
}

// row reads a line.
func (t *locustTable) row(line string, at diag.Pos) {
	r := csv.NewReader(strings.NewReader(line))
	r.LazyQuotes = true
	cells, err := r.Read()
	switch {
	case err != nil:
		return
	case t.cols == nil:
		t.cols, t.history = cells, cells[0] == "Timestamp"
		return
	case slices.Equal(cells, t.cols):
		return
	case len(cells) != len(t.cols):
		t.b.Note(diag.Issue{Code: "log-row-malformed", Severity: diag.DataLoss, First: at})
		return
	}
	t.b.Record(locust, false)
	if !t.history {
		t.b.Benchmark(t.result(cells, true, at.Line), at)
		return
	}
	name := t.cell(cells, "Type") + " " + t.cell(cells, "Name")
	if _, ok := t.last[name]; !ok {
		if len(t.names) >= maxLocustName {
			return
		}
		t.names = append(t.names, name)
	}
	t.last[name], t.line[name] = cells, at.Line
	t.second(cells, at)
}

// cell returns the cell of a column, or "".
func (t *locustTable) cell(cells []string, name string) string {
	if i := slices.Index(t.cols, name); i >= 0 {
		return cells[i]
	}
	return ""
}

// second adds the values of one row, which is one second, of a history.
func (t *locustTable) second(cells []string, at diag.Pos) {
	time := logs.NoTime
	if n, err := strconv.ParseInt(t.cell(cells, "Timestamp"), 10, 64); err == nil && n > 1e9 && n < 1<<33 {
		time = n * 1e9
		t.b.Clock(time, true, true)
	}
	var labels []logs.Label
	name := t.cell(cells, "Name")
	if name != locustAll {
		labels = []logs.Label{{Name: "request", Value: strings.TrimSpace(t.cell(cells, "Type") + " " + name)}}
	}
	for _, c := range []struct{ column, metric string }{{"User Count", "serving.concurrency"}, {"Requests/s", "throughput.requests"}, {"Failures/s", ""}} {
		metric, ok := logs.MetricOf(c.metric)
		if !ok {
			metric = logs.Unnamed(c.column)
		}
		if c.column == "User Count" && labels != nil {
			continue // equal in all rows of a second
		}
		id := t.b.Of(metric, locust, c.column, labels, at)
		if v, ok := parseNumber(t.cell(cells, c.column)); ok {
			t.b.Add(id, v, logs.NoStep, time, 0)
		} else {
			t.b.Missing(id)
		}
	}
}

// result returns the numbers of a row. In a history, totals count all requests so far, but
// rates are of the last ten seconds. So are percentiles if the history has rows for single
// names; then percentiles is false and they are dropped.
func (t *locustTable) result(cells []string, percentiles bool, line int) logs.Benchmark {
	out := logs.Benchmark{Producer: locust, Line: int64(line), Time: logs.NoTime}
	for i, name := range t.cols {
		if t.p.settings[name] {
			if cells[i] != "" {
				out.Settings = append(out.Settings, logs.Label{Name: name, Value: cells[i]})
			}
			continue
		}
		target, ok := t.p.find(name)
		v, number := parseNumber(cells[i])
		isPercentile := strings.HasSuffix(name, "%")
		if !ok || !number || name == "50%" || name == "100%" || isPercentile && !percentiles || t.history && name == "Requests/s" {
			continue
		}
		add(&out, target, name, v, target.factor)
	}
	return out
}

// finish adds the results of a history. It drops results without requests.
func (t *locustTable) finish(name string) {
	for _, n := range t.names {
		if count, ok := parseNumber(t.cell(t.last[n], "Total Request Count")); ok && count > 0 {
			t.b.Benchmark(t.result(t.last[n], len(t.names) == 1, t.line[n]), diag.Pos{File: name, Line: t.line[n]})
		}
	}
}
