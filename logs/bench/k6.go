package bench

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/logs"
)

const k6 = "k6"

// reK6 is a line of the summary that k6 prints at its end. The name is followed by dots, and
// a mark before it says whether its threshold was kept.
var reK6 = lazyregexp.New(`^(?:[✓✗] )?([a-z][a-z0-9_]*)\.{2,}: +(\S.*)$`)

// isK6 reports whether a line may be the first of such a summary that is read.
func isK6(line []byte) bool {
	i := bytes.Index(line, []byte("..: "))
	return i > 0 && (bytes.Contains(line[:i], []byte("http_req")) || bytes.Contains(line[:i], []byte("vus")))
}

// k6Row reads a line of the summary, and reports whether it is one. A name that comes again
// begins another result.
func (f *Finder) k6Row(text string, n int) bool {
	m := reK6().FindStringSubmatch(text)
	if m == nil || f.open == nil && !isK6([]byte(text)) {
		return false
	}
	if f.open == nil || f.open.name != k6 || f.k6Seen[m[1]] {
		f.start(producerNamed(k6), n)
		f.k6Seen = map[string]bool{}
	}
	f.k6Seen[m[1]] = true
	words := strings.Fields(m[2])
	add := func(stat string, v float64) {
		if t, ok := f.open.find("metrics." + m[1] + "." + stat); ok {
			add(&f.out, t, m[1]+" "+stat, v, t.factor)
		}
	}
	for i, w := range words {
		stat, value, isStat := strings.Cut(w, "=")
		number, isNumber := parseNumber(strings.TrimSuffix(w, "/s"))
		switch d, err := time.ParseDuration(value); {
		case isStat && err == nil:
			add(stat, float64(d)/1e6)
		case isStat:
			if v, ok := parseNumber(value); ok {
				add(stat, v)
			}
		case i == 0 && strings.HasSuffix(w, "%") && isNumber:
			add("value", number/100)
		case i == 0 && isNumber && !strings.HasSuffix(w, "/s"):
			add("count", number)
		case i == 1 && isNumber && strings.HasSuffix(w, "/s"):
			add("rate", number)
		}
	}
	return true
}

// k6Points are the metrics of single requests, by their names in k6's JSON.
var k6Points = map[string]struct {
	metric string
	factor float64
}{
	"http_req_duration": {"serving.e2e", 1e6}, "http_req_waiting": {"serving.ttfb", 1e6}, "http_req_failed": {"requests.failed_share", 1},
	"vus": {"serving.concurrency", 1},
}

// SniffK6Points reports whether head begins what "k6 run --out json=FILE" writes.
func SniffK6Points(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"metric":"`)) && bytes.Contains(line, []byte(`"data":{`)) &&
		(bytes.Contains(line, []byte(`"type":"Metric"`)) || bytes.Contains(line, []byte(`"type":"Point"`)))
}

// maxSeconds is the number of seconds whose requests are counted.
const maxSeconds = 1 << 17

// ReadK6Points reads the points of k6: each request, and the number of users, over time.
func ReadK6Points(in io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	b := logs.NewBuilder(limits)
	lines := &lineCounter{r: in}
	requests := map[int64]float64{} // by second
	err := flatten(lines, func(values []value, at int64) {
		var metric, when string
		var v *value
		for i := range values {
			switch values[i].path {
			case "metric":
				metric = values[i].text
			case "data.time":
				when = values[i].text
			case "data.value":
				v = &values[i]
			}
		}
		t, timeErr := time.Parse(time.RFC3339Nano, when)
		if v == nil || v.kind != 'n' || timeErr != nil {
			return
		}
		ns := t.UnixNano()
		b.Clock(ns, true, true)
		if metric == "http_reqs" {
			if _, ok := requests[t.Unix()]; ok || len(requests) < maxSeconds {
				requests[t.Unix()] += v.number
			}
		}
		if p, ok := k6Points[metric]; ok {
			m, _ := logs.MetricOf(p.metric)
			b.Record(k6, false)
			b.Add(b.Of(m, k6, metric, nil, diag.Pos{File: name, Offset: at}), v.number*p.factor, logs.NoStep, ns, 0)
		}
	})
	addRates(b, requests, diag.Pos{File: name})
	return b.Log(lines.n, err == nil), err
}

// addRates adds the requests of each second, without the first and the last second, which
// are not complete. A second without requests has a rate of 0.
func addRates(b *logs.Builder, requests map[int64]float64, at diag.Pos) {
	seconds := slices.Sorted(maps.Keys(requests))
	if len(seconds) < 3 || seconds[len(seconds)-1]-seconds[0] > maxSeconds {
		return
	}
	m, _ := logs.MetricOf("throughput.requests")
	id := b.Of(m, k6, "http_reqs", nil, at)
	for s := seconds[0] + 1; s < seconds[len(seconds)-1]; s++ {
		b.Add(id, requests[s], logs.NoStep, s*1e9, 0)
	}
}
