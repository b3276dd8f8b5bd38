package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
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
	text := outputOf(t, append([]string{"summary", "--format", "json"}, paths...)...)
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
			if strings.HasSuffix(k, "start_ns") || k == "end_ns" {
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
			in("inputs", "path", "format", "bytes", "events", "sha256", "recorder", "base_time_ns", "rank_from", "world_size", "host", "gpus", "process_groups")},
		{"gaps have a share of what the profiler of the trace did for itself, which no other does",
			in("largest_gaps", "profiler_ns")},
		{"only the trace has the grid of kernels, which distinguishes them",
			in("devices", "drift")},
		{"only PyTorch's profiler has a cost for each record of the host that is known",
			in("launches", "host_events", "host_events_per_step")},
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
func TestBothSummaries(t *testing.T) { eachBoth(t, compareSummaries) }

// TestBothRandom does the same with programs whose host is fast or slow, ahead or
// behind, and whose calls take a few nanoseconds or none at all.
func TestBothRandom(t *testing.T) {
	presets, tried := recordable(), 0
	for seed := range uint64(40 / test.Every(4)) {
		sc := varied(presets, rand.New(rand.NewPCG(seed, 1)))
		if _, err := tracegen.Generate(io.Discard, sc, 0); err != nil {
			continue // it leaves the host no time
		}
		tried++
		t.Run(fmt.Sprint(sc.Name, " ", seed), func(t *testing.T) { compareSummaries(t, sc) })
	}
	if tried < 20/test.Every(4) {
		t.Errorf("%d programs", tried)
	}
}

// varied returns one of some scenarios with other times, in which the driver
// launches some kernels, and some segments have no length.
func varied(presets []tracegen.Scenario, r *rand.Rand) tracegen.Scenario {
	sc := presets[r.IntN(len(presets))]
	unit := int64(1)
	if sc.Dialect.Era >= tracegen.Era2023 {
		unit = 1000
	}
	below := func(ns int64) int64 { return r.Int64N(ns) / unit * unit }
	sc.Seed, sc.Bytes, sc.Steps = r.Uint64(), 0, 1+r.IntN(4)
	sc.Pace, sc.Jitter = 1+r.Int64N(1000), r.Int64N(500)
	sc.HostNS = below([]int64{10, 100, 5000, 20_000}[r.IntN(4)])
	sc.LagNS, sc.GapNS = sc.HostNS+below(30_000), below(10_000)
	sc.Devices = slices.Clone(sc.Devices)
	for d := range sc.Devices {
		program := slices.Clone(sc.Devices[d].Program)
		for i := range program {
			if r.IntN(20) == 0 {
				program[i].NS = 0
			}
			program[i].Ops = slices.Clone(program[i].Ops)
			for k := range program[i].Ops {
				if op := &program[i].Ops[k]; op.Kind == tracegen.Compute && op.Graph == 0 && r.IntN(4) == 0 {
					op.Call = "cuLaunchKernelEx"
				}
			}
		}
		sc.Devices[d].Program = program
	}
	return sc
}

func compareSummaries(t *testing.T, sc tracegen.Scenario) {
	t.Helper()
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
	for _, key := range append(judged, "efficiency") { // exports have no types of arguments, so no bytes
		delete(a, key)
		delete(b, key)
	}
	for _, doc := range []document{a, b} { // an issue of efficiency
		if rows, ok := doc["layers"].([]any); ok {
			for _, r := range rows {
				delete(r.(map[string]any), "floor") // of recorded shapes
			}
		}
		list, _ := doc["issues"].([]any)
		doc["issues"] = slices.DeleteFunc(list, func(is any) bool { return is.(map[string]any)["code"] == "over-peak" })
		doc["tree"] = withoutTraceRules(doc["tree"])
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("trace(-) export(+)\n%s", diff)
	}
	if len(a["devices"].([]any)) == 0 || len(a["kernels"].([]any)) == 0 {
		t.Error("there is nothing to compare")
	}
}

// judged are the members of a document that judge wrote. Their sentences name
// times of the file.
var judged = []string{"verdict", "findings", "step_states", "step_groups", "phase_verdicts", "stacks"}

// TestBothVerdicts: whichever of two profilers recorded a run, the same bounds
// it, and the same has to be seen to, in the same order.
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
		if a["verdict"].(map[string]any)["rule"] == "profiler-cost" {
			return // the cost of recording is known of PyTorch's profiler alone
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

// traceRules are rules that only a trace of PyTorch has the facts for: the grid of kernels, and records of the host
// whose cost is known.
var traceRules = []string{"few-blocks", "profiler-cost"}

// withoutTraceRules returns a tree without these rules.
func withoutTraceRules(tree any) any {
	list, _ := tree.([]any)
	list = slices.DeleteFunc(list, func(n any) bool {
		id, _ := n.(map[string]any)["rule"].(string)
		return slices.Contains(traceRules, id)
	})
	for _, n := range list {
		n := n.(map[string]any)
		if causes, ok := n["causes"]; ok {
			if n["causes"] = withoutTraceRules(causes); len(n["causes"].([]any)) == 0 {
				delete(n, "causes")
			}
		}
	}
	return list
}

// judgment returns the verdict and the findings in their order, as far as they do
// not name times of the file.
func (d document) judgment() (out []string) {
	verdict := d["verdict"].(map[string]any)
	out = append(out, fmt.Sprint("bound ", verdict["bound"], " by ", verdict["rule"], ": ", verdict["sentence"]))
	for _, f := range d["findings"].([]any) {
		f := f.(map[string]any)
		if slices.Contains(traceRules, f["rule"].(string)) {
			continue
		}
		out = append(out, fmt.Sprintf("%v %v %v, %v of %v ns, gain %v: %v",
			f["level"], f["rule"], f["value"], f["numerator_ns"], f["denominator_ns"], f["gain_ns"], f["title"]))
	}
	return out
}

// recordable returns the scenarios that both profilers can record on a device:
// each preset but that of AMD hardware, and one that is cut at a length.
func recordable() (out []tracegen.Scenario) {
	for _, p := range tracegen.Presets() {
		if sc := p.Make(); !sc.CPUOnly && sc.Dialect.Vendor == tracegen.CUDA {
			out = append(out, sc)
		}
	}
	return append(out, tracegen.Big(3_000_000))
}

func eachBoth(t *testing.T, test func(*testing.T, tracegen.Scenario)) {
	all := recordable()
	if len(all) < 9 {
		t.Errorf("%d scenarios", len(all))
	}
	for _, sc := range all {
		t.Run(sc.Name, func(t *testing.T) { test(t, sc) })
	}
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

// stamp gives a database a number of its user. Stories of ranks may be equal, but files of
// two ranks never are.
func stamp(t *testing.T, path string, n byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	const userVersion = 60 // offset in the header of SQLite's file format, 4 bytes
	_, err = f.WriteAt([]byte{0, 0, 0, n}, userVersion)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBothTroubles: what is wrong with a run is found whichever profiler recorded
// it, but for what one of the formats cannot say.
func TestBothTroubles(t *testing.T) {
	unsaid := map[string]string{
		"loader_by_its_stack":  "no export knows of Python, and only its functions show the data loader",
		"long_pauses":          "no export knows of Python, and only its functions have the name of the work",
		"graphs_not_recorded":  "the story's graphs are in no table of the export",
		"nearly_full":          "no export knows of PyTorch's allocator",
		"full":                 "no export knows of PyTorch's allocator",
		"host_alone":           "an export without calls and devices has no tables",
		"kernels_not_recorded": "Kineto's trace says by its calls what an export says by a table that is missing",
	}
	compared := 0
	for _, trouble := range tracegen.Troubles() {
		if slices.ContainsFunc(trouble.Ranks, func(s tracegen.Story) bool { return s.Damaged }) {
			continue
		}
		t.Run(trouble.Name, func(t *testing.T) {
			dir := t.TempDir()
			var traces, exports []string
			for rank, story := range trouble.Ranks {
				trace := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
				export := filepath.Join(dir, fmt.Sprintf("rank%d.sqlite", rank))
				if err := os.WriteFile(trace, story.JSON, 0o666); err != nil {
					t.Fatal(err)
				}
				if _, err := nsysgen.RecordStory(export, story); err != nil {
					t.Fatal(err)
				}
				stamp(t, export, byte(rank))
				traces, exports = append(traces, trace), append(exports, export)
			}
			args := []string{}
			if trouble.Limits != "" {
				limits := filepath.Join(dir, "limits.yaml")
				if err := os.WriteFile(limits, []byte(trouble.Limits), 0o666); err != nil {
					t.Fatal(err)
				}
				args = []string{"--thresholds", limits}
			}
			a, b := documentOf(t, append(traces, args...)...), documentOf(t, append(exports, args...)...)
			diff := cmp.Diff(a.judgment(), b.judgment())
			if why := unsaid[trouble.Name]; (why != "") != (diff != "") {
				t.Errorf("trace(-) export(+)\n%s", diff)
			}
			compared++
		})
	}
	if compared < 80 {
		t.Errorf("%d troubles were compared", compared)
	}
}
