package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/nsysgen"
	"assay/internal/tracegen"
)

// A recorded is one run as two profilers saw it, in files of their formats.
type recorded struct {
	trace, export string
	shift         int64 // what times of the export have on top of those of the trace
}

func play(t *testing.T, sc tracegen.Scenario, rank int) recorded {
	t.Helper()
	dir := t.TempDir()
	r := recorded{trace: filepath.Join(dir, "run.json"), export: filepath.Join(dir, "run.sqlite")}
	f, err := os.Create(r.trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := nsysgen.Record(r.export, f, sc, rank)
	if err != nil {
		t.Fatal(err)
	}
	r.shift = rec.ShiftNS
	return r
}

// A document is what "assay summary --format json" prints.
type document map[string]any

func documentOf(t *testing.T, paths ...string) document {
	t.Helper()
	d := make(document)
	text := output(t, append([]string{"summary", "--format", "json"}, paths...)...)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a float64 cannot tell today's nanoseconds apart
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// eachObject calls f with every object in a value, with the key that it, or the
// list that it is in, has.
func eachObject(key string, value any, f func(key string, object map[string]any)) {
	switch value := value.(type) {
	case document:
		eachObject(key, map[string]any(value), f)
	case map[string]any:
		f(key, value)
		for k, v := range value {
			eachObject(k, v, f)
		}
	case []any:
		for _, v := range value {
			eachObject(key, v, f)
		}
	}
}

// shift adds ns to every point in time of a document.
func (d document) shift(ns int64) {
	eachObject("", d, func(_ string, o map[string]any) {
		for k, v := range o {
			if strings.HasSuffix(k, "start_ns") {
				o[k] = json.Number(fmt.Sprint(integer(v) + ns))
			}
		}
	})
}

func integer(number any) int64 {
	n, err := number.(json.Number).Int64()
	if err != nil {
		panic(err) // a time with a fraction
	}
	return n
}

// A formatGap is a difference that is right, because one of the formats cannot
// say it. It is taken out of
// the documents of both.
type formatGap struct {
	why  string
	drop func(key string, object map[string]any)
}

// in drops members of the objects under a key.
func in(key string, members ...string) func(string, map[string]any) {
	return func(k string, o map[string]any) {
		if k == key {
			for _, m := range members {
				delete(o, m)
			}
		}
	}
}

// formatGaps are all that may be different between a trace and an export of one
// run.
func formatGaps(sc tracegen.Scenario) []formatGap {
	out := []formatGap{
		{"the files are two, and each profiler has its own words about itself",
			in("inputs", "path", "format", "bytes", "events", "sha256", "recorder", "base_time_ns", "rank_from")},
		{"gaps have a share of what the profiler of the trace did for itself, which no other does",
			in("largest_gaps", "profiler_ns")},
		{"the ranges of operators have the shapes of inputs, and no types",
			in("top_shapes", "types")},
	}
	if sc.Dialect.Era == tracegen.Era2022 {
		out = append(out, formatGap{"traces of 2022 do not name the device", in("devices", "name")})
	}
	return out
}

// TestBothSummaries: a trace and an export of one run have the same of every
// figure that assay measures, at times that differ by one constant, but for the
// differences that are named.
func TestBothSummaries(t *testing.T) {
	eachBoth(t, func(t *testing.T, sc tracegen.Scenario) {
		// With functions of Python a trace has modules and lines, and one of them is
		// the innermost reason for some idle time; no export knows of Python.
		sc.Dialect.Stack = false
		r := play(t, sc, 0)
		a, b := documentOf(t, r.trace), documentOf(t, r.export)
		a.shift(r.shift)
		for _, d := range formatGaps(sc) {
			eachObject("", a, d.drop)
			eachObject("", b, d.drop)
		}
		for _, key := range judged {
			delete(a, key)
			delete(b, key)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("trace(-) export(+)\n%s", diff)
		}
		if len(a["devices"].([]any)) == 0 || len(a["kernels"].([]any)) == 0 || len(a["idle"].([]any)) == 0 {
			t.Error("there is nothing to compare")
		}
	})
}

// judged are the members of a document that judge wrote. Their sentences name
// times of the file.
var judged = []string{"verdict", "findings", "step_states", "step_groups", "phase_verdicts", "stacks"}

// TestBothVerdicts: whichever of two profilers recorded a run, the same bounds
// it, and the same has to be seen to first.
func TestBothVerdicts(t *testing.T) {
	eachBoth(t, func(t *testing.T, sc tracegen.Scenario) {
		r := play(t, sc, 0)
		a, b := documentOf(t, r.trace), documentOf(t, r.export)
		a.shift(r.shift)
		for _, d := range append(formatGaps(sc), formatGap{"no export knows of Python, which a trace has as the reason for some gaps", in("largest_gaps", "state", "name")}) {
			eachObject("", a, d.drop)
			eachObject("", b, d.drop)
		}
		for _, key := range []string{"devices", "step_groups"} {
			if diff := cmp.Diff(a[key], b[key]); diff != "" {
				t.Errorf("%s: trace(-) export(+)\n%s", key, diff)
			}
		}
		if diff := cmp.Diff(a.kernels(), b.kernels()); diff != "" {
			t.Errorf("kernels: trace(-) export(+)\n%s", diff)
		}
		if diff := cmp.Diff(a.judgment(), b.judgment()); diff != "" {
			t.Errorf("trace(-) export(+)\n%s", diff)
		}
	})
}

// kernels returns count and sum by name and stream.
func (d document) kernels() map[string][2]int64 {
	out := make(map[string][2]int64)
	for _, k := range d["kernels"].([]any) {
		k := k.(map[string]any)
		key := fmt.Sprint(k["rank"], k["device"], k["stream"], k["name"])
		sum := out[key]
		out[key] = [2]int64{sum[0] + integer(k["count"]), sum[1] + integer(k["total_ns"])}
	}
	return out
}

// judgment returns the verdict, and the first finding that is more than worth
// knowing, as far as they do not name times of the file.
func (d document) judgment() (out []string) {
	verdict := d["verdict"].(map[string]any)
	out = append(out, fmt.Sprint("bound ", verdict["bound"], " by ", verdict["rule"], ": ", verdict["sentence"]))
	for _, f := range d["findings"].([]any) {
		if f := f.(map[string]any); f["level"] != "info" {
			return append(out, fmt.Sprint(f["level"], " ", f["rule"], " ", f["value"], " of ", f["denominator_ns"]))
		}
	}
	return out
}

// eachBoth runs a test on all scenarios that both profilers can record on a
// device: each preset but that of AMD hardware, and one that is cut at a length.
func eachBoth(t *testing.T, test func(*testing.T, tracegen.Scenario)) {
	n := 0
	for _, p := range tracegen.Presets() {
		sc := p.Make()
		if sc.CPUOnly || sc.Dialect.Vendor != tracegen.CUDA {
			continue
		}
		n++
		t.Run(p.Name, func(t *testing.T) { test(t, sc) })
	}
	if n < 8 {
		t.Errorf("%d presets", n)
	}
	t.Run("big", func(t *testing.T) { test(t, tracegen.Big(3_000_000)) })
}

// TestBothRanks: the ranks of a job add up to the same, whichever profiler
// recorded them.
func TestBothRanks(t *testing.T) {
	for _, p := range []tracegen.Scenario{tracegen.CommBound(), tracegen.MultiDevice()} {
		var traces, exports []string
		for rank := range p.Ranks {
			r := play(t, p, rank)
			traces, exports = append(traces, r.trace), append(exports, r.export)
		}
		a, b := documentOf(t, traces...), documentOf(t, exports...)
		if diff := cmp.Diff(a.kernels(), b.kernels()); diff != "" {
			t.Errorf("%s: kernels: trace(-) export(+)\n%s", p.Name, diff)
		}
		if diff := cmp.Diff(a.judgment(), b.judgment()); diff != "" {
			t.Errorf("%s: trace(-) export(+)\n%s", p.Name, diff)
		}
		ranks := make(map[int64]int)
		for _, d := range b["devices"].([]any) {
			ranks[integer(d.(map[string]any)["rank"])]++
		}
		if len(ranks) != p.Ranks {
			t.Errorf("%s: ranks %v, want %d", p.Name, slices.Sorted(maps.Keys(ranks)), p.Ranks)
		}
	}
}
