package analyze_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"assay/trace"
)

// jsonOf returns a tuple as Python writes it, and a list as JSON has it, in one
// form without blanks: "((512,), ())" and "[[512], []]" are both "[[512],[]]".
var jsonOf = strings.NewReplacer(" ", "", "\n", "", ",)", "]", "(", "[", ")", "]", "'", `"`).Replace

// TestTraceLensShapes compares the work of each operator by the dimensions and
// types of its inputs. TraceLens has one row per strides and values too; these rows
// are summed up here. It links no memset on ROCm, which is added.
func TestTraceLensShapes(t *testing.T) {
	compared := 0
	eachTable(t, "ops_unique_args.csv", 10, func(t *testing.T, g golden, rows []map[string]string) {
		type key struct{ op, dims, types string }
		theirs, pieces := make(map[key]float64), make(map[key]float64)
		for _, rec := range rows {
			id := key{rec["name"], jsonOf(rec["Input Dims"]), jsonOf(rec["Input type"])}
			theirs[id] += number(t, rec["total_direct_kernel_time_sum"]) * 1000
		}
		in := load(t, g.trace)
		for _, l := range launchers(in.Trace, func(*trace.Activity) bool { return true }) {
			if l.op == nil {
				continue
			}
			shape := in.Trace.Shape(l.op.Shape)
			id := key{l.name, jsonOf(in.Trace.Name(shape.Dims)), jsonOf(in.Trace.Name(shape.Types))}
			for _, a := range l.direct {
				if pieces[id]++; a.Kind == trace.Memset && isROCm(in.Trace) {
					theirs[id] += float64(a.Dur)
				}
			}
		}
		ours := 0
		for _, o := range measure(t, g.trace).Ops {
			for _, s := range o.TopShapes {
				id := key{o.Name, jsonOf(s.Dims), jsonOf(s.Types)}
				if s.GPUSelfNS == 0 || o.Name == "record_param_comms" { // around NCCL, which TraceLens leaves out
					continue
				}
				ours++
				if math.Abs(theirs[id]-float64(s.GPUSelfNS)) > pieces[id] {
					t.Errorf("%+v: %d ns, TraceLens has %.0f", id, s.GPUSelfNS, theirs[id])
				}
			}
		}
		t.Logf("%d shapes agree", ours)
		compared += ours
	})
	if compared < 100 {
		t.Errorf("only %d shapes were compared", compared)
	}
}

// TestTraceLensShortKernels compares the kernels that are shorter than 10 µs. The
// histogram has all; the other table has a row for each operator and none for
// kernels without one, of which only Qwen has short ones.
func TestTraceLensShortKernels(t *testing.T) {
	eachTable(t, "short_kernel_histogram.csv", 8, func(t *testing.T, g golden, rows []map[string]string) {
		var all, count, total float64
		for _, rec := range rows {
			all += number(t, rec["count"])
		}
		if all > 0 { // else the other table is empty
			for _, rec := range readCSV(t, filepath.Join(g.tables, "short_kernels_summary.csv")) {
				count += number(t, rec["Short Kernel count"])
				total += number(t, rec["Short Kernel duration (µs) sum"]) * 1000
			}
		}
		var ours, ns int64
		for _, l := range measure(t, g.trace).Launches {
			ours, ns = ours+l.Short, ns+l.ShortNS
		}
		if float64(ours) != all {
			t.Errorf("%d short kernels, TraceLens has %.0f", ours, all)
		}
		if lacks := all != count; lacks != strings.HasPrefix(g.name, "h100/Qwen") {
			t.Errorf("%.0f of %.0f short kernels are in the table by operator", count, all)
		} else if !lacks && math.Abs(float64(ns)-total) > 1e-6*total {
			t.Errorf("short kernels take %d ns, TraceLens has %.0f", ns, total)
		}
	})
}

// TestTraceLensCollectives compares the kernels of each collective operation.
func TestTraceLensCollectives(t *testing.T) {
	eachTable(t, "coll_analysis.csv", 1, func(t *testing.T, g golden, rows []map[string]string) {
		type key struct{ name, dtype, ranks, group, in, out string }
		type sums struct{ count, total, least, most int64 }
		ours := make(map[key]sums)
		tr := load(t, g.trace).Trace
		for a := range tr.Activities.All() {
			c := tr.Detail(a.Detail).Collective
			if c.Name == 0 {
				continue
			}
			id := key{tr.Name(c.Name), tr.Name(c.Dtype), tr.Name(c.Ranks), fmt.Sprint(c.GroupSize), fmt.Sprint(c.In), fmt.Sprint(c.Out)}
			s, ok := ours[id]
			if !ok {
				s.least = a.Dur
			}
			ours[id] = sums{s.count + 1, s.total + a.Dur, min(s.least, a.Dur), max(s.most, a.Dur)}
		}
		if len(ours) != len(rows) {
			t.Errorf("%d collectives, TraceLens has %d", len(ours), len(rows))
		}
		for _, rec := range rows {
			whole := func(col string) string { return strings.TrimSuffix(rec[col], ".0") }
			ns := func(col string) int64 { return int64(math.Round(number(t, rec[col]) * 1000)) }
			id := key{rec["Collective name"], rec["dtype"], rec["Process Group Ranks"], whole("Group size"), whole("In msg nelems"), whole("Out msg nelems")}
			want := sums{int64(number(t, rec["operation_count"])), ns("dur_sum"), ns("dur_min"), ns("dur_max")}
			if ours[id] != want {
				t.Errorf("%+v: %+v, TraceLens has %+v", id, ours[id], want)
			}
		}
	})
}
