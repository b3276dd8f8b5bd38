// Package bench reads results of benchmarks: of inference servers (SGLang, vLLM,
// SFLLM, GenAI-Perf and AIPerf, llmperf, trtllm-bench, MLPerf loadgen, k6), as
// objects of JSON and as the tables that programs print at their end. producers.txt maps
// the names that each producer uses to metrics.
//
// Every result is a [logs.Benchmark] of its own, with the numbers as they were reported.
// Percentiles are never computed from other numbers, and lists of single requests are not
// read.
//
// read.go and flat.go read JSON; table.go, scripts.go and mllog.go find results in the lines
// of a log; locust.go reads tables of Locust. producers.go parses producers.txt.
package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// Read reads JSON objects, one after the other, in one list or one per line. Objects that
// are not results are counted.
func Read(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	b := logs.NewBuilder(limits)
	lines := &lineCounter{r: r}
	err := flatten(lines, func(values []value, at int64) {
		where := diag.Pos{File: name, Offset: at}
		p := producerOf(values)
		if p == nil {
			b.Note(diag.Issue{Code: "benchmark-unknown", Severity: diag.Suspect, First: where,
				Help: "Some objects have no members of a benchmark that is known, so their numbers are missing here. " +
					"Results of bench_serving, vllm bench, GenAI-Perf, AIPerf, llmperf, trtllm-bench and k6 are read."})
			return
		}
		b.Record(p.name, false)
		b.Benchmark(p.result(values), where)
	})
	log := b.Log(lines.n, err == nil)
	if errors.Is(err, errSyntax) {
		log.Issues = append(log.Issues, diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: name},
			Help: fmt.Sprintf("The input cannot be read further (%v). Results after this position are missing. Write the file again.", err)})
		if !log.Empty() {
			err = nil
		}
	}
	return log, err
}

// A lineCounter is a reader that counts the lines read from another reader.
type lineCounter struct {
	r io.Reader
	n int64
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.n += int64(bytes.Count(p[:n], []byte("\n")))
	return n, err
}

// Sniff reports whether a file that begins with head has results in JSON.
func Sniff(head []byte) bool {
	trimmed := bytes.TrimLeft(head, " \t\r\n\ufeff[")
	if !bytes.HasPrefix(trimmed, []byte("{")) || isTrace(head) {
		return false
	}
	found := false
	flatten(bytes.NewReader(head), func(values []value, _ int64) {
		found = found || producerOf(values) != nil || beginsResult(values)
	})
	return found
}

// isTrace reports whether head has events of a Chrome trace. Sniff rejects them at once, to
// save the time of parsing them.
func isTrace(head []byte) bool {
	return bytes.Contains(head, []byte(`"ph"`)) && bytes.Contains(head, []byte(`"ts"`))
}

// beginsResult reports whether an object that is cut off after these members may be a result.
func beginsResult(values []value) bool {
	return slices.ContainsFunc(producers(), func(p *producer) bool {
		return len(p.beginsResult) > 0 && !slices.ContainsFunc(p.beginsResult, func(name string) bool {
			return !slices.ContainsFunc(values, func(v value) bool { return v.path == name })
		})
	})
}

// producerOf returns the producer of an object, or nil.
func producerOf(values []value) *producer {
	has := func(name string) bool {
		return slices.ContainsFunc(values, func(v value) bool { return v.path == name })
	}
	for _, p := range slices.Backward(producers()) { // the more specific ones come last
		if len(p.has) > 0 && !slices.ContainsFunc(p.has, func(n string) bool { return !has(n) }) && !slices.ContainsFunc(p.hasNot, has) {
			return p
		}
	}
	return nil
}

// result returns the numbers of an object.
func (p *producer) result(values []value) logs.Benchmark {
	out := logs.Benchmark{Producer: p.name, Time: logs.NoTime}
	units := map[string]string{}
	for _, v := range values {
		if name, ok := strings.CutSuffix(v.path, ".unit"); ok && v.kind == 's' {
			units[name] = v.text
		}
	}
	for _, v := range values {
		name := strings.TrimPrefix(v.path, "records.")
		if p.settings[name] {
			if v.kind != '0' {
				out.Settings = append(out.Settings, logs.Label{Name: name, Value: settingOf(v.text)})
			}
			continue
		}
		p.figure(&out, name, v, units)
	}
	return out
}

// figure adds v to out if it is a number and its name is known.
func (p *producer) figure(out *logs.Benchmark, name string, v value, units map[string]string) {
	t, ok := p.find(name)
	if !ok {
		return
	}
	number := v.number
	switch v.kind {
	case 's': // llmperf writes some numbers as text
		if number, ok = parseNumber(v.text); !ok {
			return
		}
	case 'n':
	default:
		return
	}
	factor := t.factor
	if factor == 0 {
		i := strings.LastIndexByte(v.path, '.')
		if i < 0 {
			return
		}
		if factor, ok = statedFactor(t.metric, units[v.path[:i]]); !ok {
			t.metric, factor = logs.Unnamed(name), 1
		}
	}
	add(out, t, v.path, number, factor)
}

// add adds a number unless it is the 0 that the producer writes for a missing value.
func add(out *logs.Benchmark, t target, as string, v, factor float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || t.noZero && v == 0 {
		return
	}
	out.Metrics = append(out.Metrics, logs.Figure{Metric: t.metric, Stat: t.stat, As: as, Value: v * factor})
}

// statedFactor returns the factor that converts a unit named in a result to the unit of m.
func statedFactor(m logs.Metric, unit string) (float64, bool) {
	unit = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(unit), "/user"), "/gpu")
	switch unit {
	case "requests/sec", "requests/second":
		unit = "request/s"
	case "tokens/sec", "tokens/second":
		unit = "token/s"
	case "seconds":
		unit = "s"
	}
	base, factor, ok := logs.ScaleOf(unit, false)
	return factor, ok && base == m.Unit
}

// settingOf returns a setting in a form that is equal in all results of a sweep.
func settingOf(text string) string {
	if text == "Infinity" {
		return "inf"
	}
	return text
}
