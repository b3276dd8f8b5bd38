package analyze_test

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assay/summary"
	"assay/trace"
)

// Why TraceLens has another number.
const (
	// On ROCm the arrow to a memset has two ends and no start, so TraceLens links
	// none; by correlation they all are. What it has is ours less the memsets,
	// which is checked.
	unlinkedMemset = "TraceLens links no memset on ROCm"

	// TraceLens takes the work of a graph apart with a second file, that of the
	// graph's capture, and gives it to the operators there. Here it belongs to the
	// call that launched the graph. The sums must agree, which is checked.
	splitGraph = "TraceLens splits the graph by the trace of its capture"
)

// A deviation is a number of TraceLens that is not ours, both in ns.
type deviation struct {
	trace, row, column string
	theirs, ours       int64
	reason             string
}

// deviations has all of them. The difference of each was looked up in its
// trace: ours is the sum of the durations by correlation.
var deviations = []deviation{
	{"mi300/resnet_act_checkpoint", "aten::convolution_backward", "direct", 5312844, 5436966, unlinkedMemset},
	{"mi300/resnet_act_checkpoint", "aten::convolution_backward", "subtree", 5312844, 5436966, unlinkedMemset},
	{"mi300/resnet_act_checkpoint", "aten::miopen_convolution", "direct", 4744226, 4947927, unlinkedMemset},
	{"mi300/resnet_act_checkpoint", "aten::miopen_convolution", "subtree", 4744226, 4947927, unlinkedMemset},
	{"mi300/resnet_act_checkpoint", "CONV_bwd", "category", 5312844, 5436966, unlinkedMemset},
	{"mi300/resnet_act_checkpoint", "CONV_fwd", "category", 4744226, 4947927, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::mean", "direct", 31323, 38171, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::mean", "subtree", 31323, 38171, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::miopen_batch_norm", "direct", 78422, 89078, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::miopen_batch_norm", "subtree", 78422, 89078, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::miopen_batch_norm_backward", "direct", 28718, 37851, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::miopen_batch_norm_backward", "subtree", 28718, 37851, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "aten::mse_loss", "subtree", 42656, 49505, unlinkedMemset}, // aten::mean is inside it
	{"perf_model/normalization/normalization_layer_test", "NORM_bwd", "category", 421011, 430146, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "NORM_fwd", "category", 373903, 384559, unlinkedMemset},
	{"perf_model/normalization/normalization_layer_test", "reduce", "category", 57314, 64163, unlinkedMemset},
	{"inference/sglang_decode/perf_csvs", "hipGraphLaunch", "runs", 0, 1, splitGraph},
	{"inference/sglang_decode/perf_csvs", "hipGraphLaunch", "direct", 0, 9656404, splitGraph},
	{"inference/sglang_decode/perf_csvs", "hipGraphLaunch", "subtree", 0, 9656404, splitGraph},
	{"inference/vllm_decode_full/perf_csvs", "hipGraphLaunch", "runs", 0, 1, splitGraph},
	{"inference/vllm_decode_full/perf_csvs", "hipGraphLaunch", "direct", 0, 10388482, splitGraph},
	{"inference/vllm_decode_full/perf_csvs", "hipGraphLaunch", "subtree", 0, 10388482, splitGraph},
}

// differs checks a number of TraceLens against ours. What differs must be in
// the table, and what is in the table must differ.
type differs struct {
	t     *testing.T
	trace string
	seen  map[deviation]bool
	rows  int
}

func (d *differs) check(row, column string, theirs float64, ours int64, tolerance float64) {
	d.t.Helper()
	d.rows++
	if math.Abs(theirs-float64(ours)) <= tolerance {
		return
	}
	for _, dev := range deviations {
		if dev.trace == d.trace && dev.row == row && dev.column == column && dev.ours == ours && math.Abs(float64(dev.theirs)-theirs) <= 0.5 {
			d.seen[dev] = true
			return
		}
	}
	d.t.Errorf("{%q, %q, %q, %.0f, %d, ...}: theirs is not ours, and it is not in the table", d.trace, row, column, theirs, ours)
}

// done checks that all deviations of the tables with these columns were met.
func (d *differs) done(columns string) {
	d.t.Helper()
	for _, dev := range deviations {
		if dev.trace == d.trace && strings.Contains(columns, dev.column) && !d.seen[dev] {
			d.t.Errorf("%+v: it agrees now", dev)
		}
	}
	d.t.Logf("%d numbers compared, %d of them differ", d.rows, len(d.seen))
}

// eachTable calls f with every golden that has a table of the given name.
func eachTable(t *testing.T, name string, least int, f func(t *testing.T, g golden, rows []map[string]string)) {
	tables := 0
	for _, g := range goldens(t) {
		file := filepath.Join(g.tables, name)
		if _, err := os.Stat(file); err != nil {
			continue
		}
		tables++
		t.Run(g.name, func(t *testing.T) { f(t, g, readCSV(t, file)) })
	}
	if tables < least {
		t.Errorf("only %d tables of %s", tables, name)
	}
}

// TestTraceLensKernelsByOp compares the kernel table by the operator that
// launched each. No number differs.
func TestTraceLensKernelsByOp(t *testing.T) {
	type key struct{ op, name, stream string }
	type sums struct {
		count              int64
		total, least, most float64
	}
	add := func(m map[key]sums, k key, count int64, total, least, most float64) {
		r, ok := m[k]
		if !ok {
			r.least = math.Inf(1)
		}
		m[k] = sums{r.count + count, r.total + total, min(r.least, least), max(r.most, most)}
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*b }
	eachTable(t, "kernel_summary.csv", 8, func(t *testing.T, g golden, rows []map[string]string) {
		ours, theirs := make(map[key]sums), make(map[key]sums)
		for _, k := range measure(t, g.trace).Kernels {
			add(ours, key{k.Op, k.Name, strconv.FormatInt(k.Stream, 10)}, k.Count, float64(k.TotalNS), float64(k.MinNS), float64(k.MaxNS))
		}
		for _, rec := range rows {
			col := func(what string) float64 { return number(t, rec["Kernel duration (µs)_"+what]) }
			add(theirs, key{rec["Parent cpu_op"], rec["Kernel name"], rec["Kernel stream"]}, int64(col("count")), col("sum")*1000, col("min")*1000, col("max")*1000)
		}
		if len(ours) != len(theirs) {
			t.Errorf("%d rows, TraceLens has %d", len(ours), len(theirs))
		}
		for id, want := range theirs {
			got := ours[id]
			if got.count != want.count || !near(got.total, want.total) || !near(got.least, want.least) || !near(got.most, want.most) {
				t.Errorf("%q: %.60q on stream %s: %+v, TraceLens has %+v", id.op, id.name, id.stream, got, want)
			}
		}
		t.Logf("%d rows agree", len(theirs))
	})
}

// An opSum is a row of TraceLens' tables of operators: those runs of an operator
// that launched something, how long any of their own work ran in each, and how
// long any of the work inside did.
type opSum struct {
	runs, pieces, direct, inside int64
	memsets, insideMemsets       int64
}

// opSums sums the launchers up by name. TraceLens leaves out NCCL and operators
// named "execute"; the inputs of this test have none.
func opSums(tr *trace.Trace) map[string]*opSum {
	out := make(map[string]*opSum)
	isMemset := func(list []*trace.Activity) (ns int64) {
		for _, a := range list {
			if a.Kind == trace.Memset {
				ns += a.Dur
			}
		}
		return ns
	}
	for _, l := range launchers(tr, func(a *trace.Activity) bool { return !strings.Contains(tr.Name(a.Name), "nccl") }) {
		r := out[l.name]
		if r == nil {
			r = new(opSum)
			out[l.name] = r
		}
		r.runs++
		r.pieces += int64(len(l.direct))
		r.direct += wall(l.direct)
		r.inside += wall(l.inside)
		r.memsets += isMemset(l.direct)
		r.insideMemsets += isMemset(l.inside)
	}
	return out
}

// TestTraceLensOps compares the tables of operators. TraceLens counts only runs
// that launched something and unites what each launched, which a summary does
// not do, so the numbers are made again from the tables of the trace; where the
// work of no run overlaps, as nearly everywhere, the summary's own are the
// same. It works in float64 µs: each end of an event is off by up to 0.5 ns.
func TestTraceLensOps(t *testing.T) {
	eachTable(t, "ops_summary.csv", 10, func(t *testing.T, g golden, rows []map[string]string) {
		tr := load(t, g.trace).Trace
		ours := opSums(tr)
		selves := make(map[string]summary.Op)
		for _, o := range measure(t, g.trace).Ops {
			selves[o.Name] = o
		}
		type sum struct{ runs, direct, inside float64 }
		theirs := make(map[string]sum)
		graphs := 0.0 // what TraceLens has of graphs
		for _, rec := range rows {
			name, direct := rec["name"], number(t, rec["total_direct_kernel_time_sum"])*1000
			if rec["parent_module"] != "" && !ofLaunch(ours, rec, direct) {
				graphs += direct
				continue
			}
			s := theirs[name]
			theirs[name] = sum{s.runs + number(t, rec["Count"]), s.direct + direct, s.inside + number(t, rec["total_subtree_kernel_time_sum"])*1000}
		}
		d := differs{t: t, trace: g.name, seen: make(map[deviation]bool)}
		for name, r := range ours {
			want, tolerance := theirs[name], float64(r.pieces)
			if strings.HasSuffix(name, "GraphLaunch") {
				want, tolerance = sum{0, 0, 0}, float64(r.pieces)
				if math.Abs(graphs-float64(r.direct)) > tolerance {
					t.Errorf("operators of graphs: %.0f ns, those of the launch are %d", graphs, r.direct)
				}
			}
			d.check(name, "runs", want.runs, r.runs, 0)
			d.check(name, "direct", want.direct, r.direct, tolerance)
			d.check(name, "subtree", want.inside, r.inside, 2*tolerance)
			if o, ok := selves[name]; ok && o.GPUSelfNS != r.direct {
				t.Errorf("%s: the summary has %d, the union is %d", name, o.GPUSelfNS, r.direct)
			}
			delete(theirs, name)
		}
		for name, want := range theirs {
			t.Errorf("%s: only TraceLens has it: %+v", name, want)
		}
		checkMemsets(t, g.name, tr, ours)
		d.done("runs direct subtree")
	})
}

// ofLaunch reports whether a row of an inference trace is of the trace itself:
// of no module, or the one row of its operator and as long as ours.
func ofLaunch(ours map[string]*opSum, rec map[string]string, direct float64) bool {
	if rec["parent_module"] == "NA" {
		return true
	}
	r := ours[rec["name"]]
	return r != nil && math.Abs(float64(r.direct)-direct) <= float64(r.pieces)
}

// checkMemsets holds the deviations with this reason against it.
func checkMemsets(t *testing.T, name string, tr *trace.Trace, ours map[string]*opSum) {
	for _, dev := range deviations {
		if dev.trace != name || dev.reason != unlinkedMemset || dev.column == "category" {
			continue
		}
		memsets := ours[dev.row].memsets
		if dev.column == "subtree" {
			memsets = ours[dev.row].insideMemsets
		}
		pieces := float64(ours[dev.row].pieces)
		if !isROCm(tr) || memsets == 0 || math.Abs(float64(dev.ours-dev.theirs-memsets)) > 2*pieces {
			t.Errorf("%+v: memsets took %d ns", dev, memsets)
		}
	}
}

// TestTraceLensCategories compares the table of categories. Which operator is of
// which is TraceLens' own affair and taken from its table of operators.
func TestTraceLensCategories(t *testing.T) {
	eachTable(t, "ops_summary_by_category.csv", 10, func(t *testing.T, g golden, rows []map[string]string) {
		if rows[0]["parent_module"] != "" {
			t.Skip("a graph is split by modules of another file: see splitGraph")
		}
		category := make(map[string]string)
		for _, rec := range readCSV(t, filepath.Join(g.tables, "ops_summary.csv")) {
			category[rec["name"]] = strings.Trim(rec["Categories"], "[']")
		}
		type sum struct{ runs, pieces, direct int64 }
		ours := make(map[string]sum)
		for name, r := range opSums(load(t, g.trace).Trace) {
			s := ours[category[name]]
			ours[category[name]] = sum{s.runs + r.runs, s.pieces + r.pieces, s.direct + r.direct}
		}
		type their struct{ runs, direct float64 }
		theirs := make(map[string]their)
		for _, rec := range rows { // one row each for what is computed twice
			s := theirs[rec["op category"]]
			theirs[rec["op category"]] = their{s.runs + number(t, rec["Count"]), s.direct + number(t, rec["total_direct_kernel_time_ms"])*1e6}
		}
		if len(theirs) != len(ours) {
			t.Errorf("%d categories, TraceLens has %d", len(ours), len(theirs))
		}
		d := differs{t: t, trace: g.name, seen: make(map[deviation]bool)}
		for name, want := range theirs {
			d.check(name, "runs", want.runs, ours[name].runs, 0)
			d.check(name, "category", want.direct, ours[name].direct, float64(ours[name].pieces))
		}
		d.done("category")
	})
}
