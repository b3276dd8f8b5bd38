package bench

import (
	"bytes"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// The names of producers whose results come from scripts of tuning guides.
const (
	weightSync = "SkyRL benchmark_weight_sync"
	nSampling  = "SkyRL benchmark_n_sampling"
	script     = "script of a guide"
	iperf      = "iperf3"

	sfllm    = "SFLLM benchmark"
	sfllmRun = "Running benchmark with concurrency="
)

var (
	reSampling  = lazyregexp.New(`^(?:n=(\d+) Parallel Sampling|(\d+) Separate Requests) \(\w+ prefill\):$`)
	reOneNumber = lazyregexp.New(`^(?:(Generation|Throughput): ([\d.]+) (tokens/sec|req/s)|Batch size (\d+): ([\d.]+) (GB|req/s))$`)
	reIperf     = lazyregexp.New(`^\[ *(\d+|SUM)\](?:\[[\w-]+\])? +[\d.]+-([\d.]+) +sec +[\d.]+ [KMGT]?Bytes +([\d.]+) ([KMGT]?)bits/sec(?: +\d+)? +(sender|receiver)$`)
)

// isScript reports whether a script may begin a result with a line.
func isScript(line []byte) bool {
	has := func(s string) bool { return bytes.HasPrefix(line, []byte(s)) }
	ends := func(s string) bool { return bytes.HasSuffix(line, []byte(s)) }
	switch line[len(line)-1] {
	case ':':
		return ends(" prefill):")
	case 'c', 's', 'B':
		if has("Generation: ") || has("Throughput: ") || has("Batch size ") {
			return true
		}
	case '-':
		return has("--- SUMMARY ---")
	case 'r':
		return bytes.Contains(line, []byte("bits/sec")) && (ends(" sender") || ends(" receiver"))
	}
	return has("Strategy: ") || has(sfllmRun)
}

// script opens a result if a line is the first one of a script's result, and reports whether
// it is.
func (f *Finder) script(text string, n int) bool {
	if rest, ok := strings.CutPrefix(text, sfllmRun); ok {
		f.close()
		f.concurrency, _, _ = strings.Cut(rest, ",")
		return true
	}
	switch {
	case strings.HasPrefix(text, "Strategy: ") && !strings.Contains(text, "|"):
		f.start(producerNamed(weightSync), n)
		f.row(text)
	case text == "--- SUMMARY ---" && f.samples != "":
		f.start(producerNamed(nSampling), n)
		f.setting("Samples/prompt", f.samples)
	case strings.HasSuffix(text, " prefill):"):
		m := reSampling().FindStringSubmatch(text)
		if m == nil {
			return false
		}
		f.start(producerNamed(nSampling), n)
		f.samples = m[1] + m[2]
		f.setting("Samples/prompt", f.samples)
	case strings.HasSuffix(text, "bits/sec") || strings.HasSuffix(text, " sender") || strings.HasSuffix(text, " receiver"):
		return f.iperf(text, n)
	default:
		return f.oneNumber(text, n)
	}
	return true
}

// setting adds a setting to the open result.
func (f *Finder) setting(name, value string) {
	f.out.Settings = append(f.out.Settings, logs.Label{Name: name, Value: value})
}

// oneNumber reads a line with one number. The lines of an end-to-end benchmark may follow it.
func (f *Finder) oneNumber(text string, n int) bool {
	m := reOneNumber().FindStringSubmatch(text)
	if m == nil || m[1] == "Generation" && m[3] != "tokens/sec" {
		return false
	}
	name, number := m[1], m[2]
	switch {
	case m[4] != "":
		name, number = "Batch size "+m[6], m[5]
	case name == "Throughput":
		name += " " + m[3]
	}
	v, ok := parseNumber(number)
	if !ok {
		return false
	}
	f.start(producerNamed(script), n)
	if m[4] != "" {
		f.setting("batch_size", m[4])
	}
	t, _ := f.open.find(name)
	add(&f.out, t, strings.SplitN(text, ":", 2)[0], v, t.factor)
	if name != "Generation" {
		f.close()
	}
	return true
}

// iperf reads one of the last lines of iperf3: the rate at which one stream, or all streams
// together, sent or received.
func (f *Finder) iperf(text string, n int) bool {
	m := reIperf().FindStringSubmatch(text)
	if m == nil {
		return false
	}
	v, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return false
	}
	for _, unit := range "KMGT" {
		if m[4] == "" {
			break
		}
		v *= 1000
		if m[4] == string(unit) {
			break
		}
	}
	f.start(producerNamed(iperf), n)
	f.setting("stream", m[1])
	f.setting("side", m[5])
	f.setting("seconds", m[2])
	t, _ := f.open.find("Bitrate")
	add(&f.out, t, "Bitrate", v, t.factor)
	f.close()
	return true
}
