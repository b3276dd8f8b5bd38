package metric

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view/bench"
)

// A Metric is a figure that gates can be set on.
type Metric struct {
	Name   string
	Was    string // an earlier name, which gates may use
	Unit   Unit
	Of     Unit     // unit of a share's numerator and denominator
	Higher bool     // higher values are better
	Steady bool     // the same in every run of a program, or nearly
	Host   bool     // can be measured without GPU events
	Rises  bool     // missing data can only lower it
	Sums   bool     // it adds up over the capture, so captures of different length cannot be compared
	Keys   []string // selectors that it accepts
	Needs  []string // selectors that a gate must have
	// Efficiency is true for metrics that need FLOPs and bytes of operators, which are measured
	// only for gates that use them.
	Efficiency bool
	Layers     bool   // true for metrics of the layers of a model, likewise
	Across     bool   // measures all runs of a side together, because it compares them
	Passes     bool   // true for metrics that need the passes of training, likewise
	Meaning    string // what it is; for shares and means the numerator
	Per        string // the denominator, or ""

	settings bool // settings of results of benchmarks select
	limits   bool // limits of other metrics select, and a gate must have one

	needsRows bool      // measures rows that a rolled-up summary has only in part
	rows      *row.Kind // the rows that it measures, whose keys select; nil if it has keys of its own
	measure   func(selection) (Value, error)
}

// key returns the name of a selector as it is listed, of any name that users may write, and whether it is a number.
func (m *Metric) key(name string) (key string, number, ok bool) {
	if m.rows != nil {
		c, ok := m.rows.Key(name)
		if !ok {
			return "", false, false
		}
		return c.Written(), m.rows.IsNumber(c), true
	}
	if _, ok := bench.SettingOf(name); ok && m.settings {
		return name, false, true
	}
	return name, name == "rank" || name == "device" || name == "stream" || name == "gpus", slices.Contains(m.Keys, name)
}

// selectors returns the names of all selectors.
func (m *Metric) selectors() []string {
	names := slices.Clone(m.Keys)
	if m.settings {
		for _, s := range bench.Settings() {
			names = append(names, s.Key())
		}
	}
	return names
}

// Listed describes the selectors for a list of metrics: SETTING stands for the settings of benchmarks, and
// LIMIT for a limit of another metric.
func (m *Metric) Listed() string {
	names := slices.Clone(m.Keys)
	if m.settings {
		names = append(names, "SETTING")
	}
	if m.limits {
		names = append(names, "LIMIT")
	}
	return strings.Join(names, ", ")
}

// A Value is the value of a metric in one run. Shares and means have a numerator and a denominator.
type Value struct {
	V        float64
	Num, Den int64
	Note     string // a caveat for readers, or ""
	// Missing is the share of the time for which the value is unknown: V is a lower bound then. It
	// is 0 if V is exact.
	Missing float64
	// Most is the upper bound of the value if V is a lower bound.
	Most float64
	// Below is an upper bound that the value does not reach, if V is the largest that was measured, or 0:
	// the capacity of a server is between two loads.
	Below float64
	// Bounded is true if only bounds of the value are known: V, which may be 0, and Most, which may be infinite.
	Bounded bool
	// Traced is true for a value of GPU events where the metric has other sources too.
	Traced bool
}

func ratio(num, den int64) Value { return Value{V: float64(num) / float64(den), Num: num, Den: den} }

func whole(n int64) Value { return Value{V: float64(n)} }

// A selection is the part of a run that a gate is about.
type selection struct {
	*summary.Summary
	sel Selector
}

// Measure returns the value of the metric in a run. It is an error if the run does not have the
// metric, or if the selector matches nothing: nothing is not zero.
func (m *Metric) Measure(s *summary.Summary, sel Selector) (Value, error) {
	if err := m.rolledUp(s, sel); err != nil {
		return Value{}, err
	}
	v, err := m.measure(selection{s, sel})
	if err == nil && (math.IsNaN(v.V) || math.IsInf(v.V, 0)) {
		err = errors.New("nothing to divide by")
	}
	return v, err
}

// Text prints a value of the metric: "17.2% (9.046 ms of 52.74 ms)".
func (m *Metric) Text(v Value) string {
	text := m.Unit.Text(v.V)
	if v.Missing > 0 {
		text = "at least " + text
	}
	if v.Bounded {
		text = m.Unit.Range(v.V, v.Most)
	}
	if m.Unit == Share && v.Den > 0 {
		text += fmt.Sprintf(" (%s of %s)", m.Of.Text(float64(v.Num)), m.Of.Text(float64(v.Den)))
	}
	if v.Note != "" {
		text += ", " + v.Note
	}
	return text
}

// deviceKeys returns the selectors of rows of devices, and more.
func deviceKeys(more ...string) []string { return append([]string{"device", "rank"}, more...) }

// Metrics returns all metrics in the order in which they are listed.
func Metrics() []Metric { return slices.Clone(metrics()) }

// metrics is built only once, because each gate of a file looks up its metric.
var metrics = sync.OnceValue(func() []Metric {
	return slices.Concat(activityMetrics(), stepMetrics(), kernelMetrics(), efficiencyMetrics(), launchMetrics(), otherMetrics(), rowMetrics(),
		collectiveMetrics(), layerMetrics(), functionMetrics(), counterMetrics(), memoryMetrics(), loggedMetrics(), servingMetrics(), jobMetrics())
})

func activityMetrics() []Metric {
	keys := deviceKeys("steps", "phase")
	return []Metric{
		{Name: "gpu.busy_share", Of: Time, Higher: true, Keys: keys, Meaning: "time in which a kernel, copy or memset ran", Per: "window, summed over GPUs",
			measure: shareOf(summary.Activity.Busy)},
		{Name: "gpu.compute_share", Of: Time, Higher: true, Keys: keys, Meaning: "time in which a compute kernel ran", Per: "window, summed over GPUs",
			measure: shareOf(summary.Activity.Compute)},
		{Name: "comm.exposed_share", Of: Time, Keys: keys, Meaning: "time in which communication ran and no compute kernel did", Per: "window, summed over GPUs",
			measure: selection.exposedComm},
		{Name: "comm.overlap_share", Of: Time, Higher: true, Keys: keys, Meaning: "time in which communication overlapped compute", Per: "time in which it ran",
			measure: selection.overlap},
		{Name: "copy.exposed_share", Of: Time, Keys: keys, Meaning: "time in which a copy or memset ran and neither compute nor communication did", Per: "window, summed over GPUs",
			measure: shareOf(summary.Activity.ExposedCopy)},
		{Name: "idle.share", Of: Time, Keys: deviceKeys("steps", "phase", "owner", "state"), Meaning: "time in which nothing ran", Per: "window, summed over GPUs",
			measure: selection.idle},
		{Name: "sync.share", Of: Time, Keys: deviceKeys(), Meaning: "time in which a thread that launches work was in a call that waits for a stream or GPU", Per: "window, summed over GPUs",
			measure: selection.syncs},
	}
}

func stepMetrics() []Metric {
	keys := []string{"rank", "steps", "kind"}
	return []Metric{
		{Name: "step.median", Unit: Time, Host: true, Keys: keys, Meaning: "median step time of the marked steps (ProfilerStep#N and others, see assay help phases)",
			measure: stepsAs(func(ns []int64) Value { return Value{V: stat.MedianBy(ns, toFloat)} })},
		{Name: "step.mean", Unit: Time, Host: true, Keys: keys, Meaning: "total step time", Per: "number of steps",
			measure: stepsAs(func(ns []int64) Value { return ratio(sumOf(ns), int64(len(ns))) })},
		{Name: "step.max", Unit: Time, Host: true, Keys: keys, Meaning: "longest step time",
			measure: stepsAs(func(ns []int64) Value { return whole(slices.Max(ns)) })},
		{Name: "step.count", Unit: Count, Higher: true, Steady: true, Host: true, Keys: keys, Meaning: "number of steps",
			measure: stepsAs(func(ns []int64) Value { return whole(int64(len(ns))) })},
	}
}

func kernelMetrics() []Metric {
	keys := deviceKeys("category", "class", "kernel", "op")
	return []Metric{
		{Name: "kernels.count", Was: "kernel.count", Unit: Count, Steady: true, Rises: true, Sums: true, Keys: keys, Meaning: "number of kernels",
			measure: kernelsAs(func(k kernels) (Value, error) { return whole(k.count), nil })},
		{Name: "kernels.count_per_step", Was: "kernel.count_per_step", Unit: Count, Steady: true, Keys: keys, Meaning: "number of kernels", Per: "number of steps of the GPUs",
			measure: kernelsAs(func(k kernels) (Value, error) { return k.perStep(k.count) })},
		{Name: "kernels.mean", Was: "kernel.mean", Unit: Time, Keys: keys, Meaning: "total kernel time", Per: "number of kernels",
			measure: kernelsAs(func(k kernels) (Value, error) { return ratio(k.total, k.count), nil })},
		{Name: "kernels.max", Was: "kernel.max", Unit: Time, Keys: keys, Rises: true, Meaning: "duration of the longest kernel",
			measure: kernelsAs(func(k kernels) (Value, error) { return whole(k.longest), nil })},
		{Name: "kernels.total", Unit: Time, Keys: keys, Rises: true, Sums: true, Meaning: "total kernel time, all streams; kernels that run at the same time count fully each",
			measure: kernelsAs(func(k kernels) (Value, error) { return whole(k.total), nil })},
		{Name: "kernels.total_per_step", Unit: Time, Keys: keys, Meaning: "total kernel time", Per: "number of steps of the GPUs",
			measure: kernelsAs(func(k kernels) (Value, error) { return k.perStep(k.total) })},
		{Name: "kernels.share", Of: Time, Keys: keys, Meaning: "total time of the selected kernels", Per: "total kernel time of the GPUs",
			measure: kernelsAs(func(k kernels) (Value, error) { return ratio(k.total, k.all), nil })},
	}
}

func launchMetrics() []Metric {
	return []Metric{
		{Name: "launches.per_step", Unit: Count, Steady: true, Keys: deviceKeys("steps"), Meaning: "median over steps and GPUs of the number of calls that launched work; a graph is one",
			measure: selection.launchesPerStep},
		{Name: "launches.count", Unit: Count, Steady: true, Rises: true, Sums: true, Keys: deviceKeys(), Meaning: "number of calls that launched work; a graph is one",
			measure: selection.launches},
		{Name: "graph.launches", Unit: Count, Higher: true, Steady: true, Rises: true, Sums: true, Keys: []string{"rank"}, Meaning: "number of launches of CUDA or HIP graphs; 0 if all is eager",
			measure: selection.graphLaunches},
		{Name: "graph.share", Of: Count, Higher: true, Steady: true, Keys: []string{"rank"}, Meaning: "GPU operations launched by graphs", Per: "all GPU operations with a known launch",
			measure: selection.graphShare},
	}
}

func otherMetrics() []Metric {
	copyKeys := deviceKeys("class", "copy")
	phaseKeys, needs := []string{"phase", "rank"}, []string{"phase"}
	return []Metric{
		{Name: "copies.count", Unit: Count, Steady: true, Rises: true, Sums: true, Keys: copyKeys, Meaning: "number of copies and memsets on the GPU",
			measure: copiesAs(func(c copies) (Value, error) { return whole(c.count), nil })},
		{Name: "copies.total", Unit: Time, Rises: true, Sums: true, Keys: copyKeys, Meaning: "total time of copies and memsets",
			measure: copiesAs(func(c copies) (Value, error) { return whole(c.total), nil })},
		{Name: "copies.bytes", Unit: Size, Steady: true, Rises: true, Sums: true, Keys: copyKeys, Meaning: "bytes that copies and memsets moved, if the capture has them",
			measure: copiesAs(copies.moved)},
		{Name: "memory.peak", Unit: Size, Steady: true, Host: true, Rises: true, Keys: deviceKeys(), Meaning: "peak of the memory allocated on one GPU",
			measure: orLogged(peakOf(allocated), "memory.peak")},
		{Name: "memory.peak_reserved", Unit: Size, Steady: true, Host: true, Rises: true, Keys: deviceKeys(), Meaning: "peak of the memory reserved on one GPU",
			measure: orLogged(peakOf(reserved), "memory.peak_reserved")},
		{Name: "memory.peak_share", Of: Size, Steady: true, Host: true, Rises: true, Keys: deviceKeys(), Meaning: "peak of the reserved memory (allocated, if that is not recorded)", Per: "memory of the GPU, of the fullest GPU",
			measure: selection.memoryShare},
		{Name: "phase.mean", Unit: Time, Host: true, Keys: phaseKeys, Needs: needs, Meaning: "CPU time in an annotation (record_function, NVTX) or in a phase of \"assay help phases\"", Per: "its number of runs",
			measure: phaseAs(func(p phase) (Value, error) { return ratio(p.host, p.count), nil })},
		{Name: "phase.total", Unit: Time, Host: true, Rises: true, Sums: true, Keys: phaseKeys, Needs: needs, Meaning: "CPU time in an annotation or phase, summed over runs",
			measure: phaseAs(func(p phase) (Value, error) { return whole(p.host), nil })},
		{Name: "phase.gpu_total", Unit: Time, Rises: true, Sums: true, Keys: phaseKeys, Needs: needs, Meaning: "total time of the GPU work launched in an annotation",
			measure: phaseAs(phase.device)},
		{Name: "phase.count", Unit: Count, Steady: true, Host: true, Rises: true, Sums: true, Keys: phaseKeys, Needs: needs, Meaning: "number of runs of an annotation",
			measure: phaseAs(func(p phase) (Value, error) { return whole(p.count), nil })},
	}
}

// Of returns the metric with a name, or an error that names the nearest ones.
func Of(name string) (*Metric, error) {
	all := metrics()
	for i := range all {
		if all[i].Name == name || all[i].Was == name && name != "" {
			m := all[i]
			m.Name = name // results have the name that the gate has, so that the records of a gate go on
			return &m, nil
		}
	}
	const lists = "\"assay help gates\" lists all"
	near, family := nearest(name, all)
	switch {
	case near != nil:
		return nil, fmt.Errorf("unknown metric %q, did you mean %s; %s", name, strings.Join(near, ", "), lists)
	case family != nil:
		more := ""
		if n := len(family) - mostNearest; n > 0 {
			family, more = family[:mostNearest], fmt.Sprintf(" and %d more", n)
		}
		return nil, fmt.Errorf("unknown metric %q; metrics that begin alike are %s%s; %s", name, strings.Join(family, ", "), more, lists)
	}
	return nil, fmt.Errorf("unknown metric %q; %s", name, lists)
}

// mostNearest is how many names an error lists.
const mostNearest = 6

// nearest returns the metrics whose names differ from a name by few letters, the nearest first, and
// those of its family, which is the part before the period.
func nearest(name string, all []Metric) (near, family []string) {
	of := func(name string) string {
		return strings.TrimSuffix(name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz0123456789"))], "s")
	}
	cost := map[string]int{}
	most, start := max(1, len(name)/4), name[:min(len(name), longestCompared)]
	for _, m := range all {
		cost[m.Name] = label.EditsOfStart(start, m.Name)
		_, short, _ := strings.Cut(m.Name, ".")
		switch {
		case strings.HasPrefix(name, m.Name):
			cost[m.Name] = 0
		case !strings.Contains(name, "."):
			cost[m.Name] = min(cost[m.Name], label.EditsOfStart(start, short))
		}
		if cost[m.Name] <= most && len(name) > 2 {
			near = append(near, m.Name)
		}
		if of(m.Name) == of(name) {
			family = append(family, m.Name)
		}
	}
	byCost := func(a, b string) int { return cmp.Compare(cost[a], cost[b]) }
	slices.SortStableFunc(near, byCost)
	slices.SortStableFunc(family, byCost)
	return near[:min(mostNearest, len(near))], family
}

// longestCompared is the length of the part of a name that is compared with others.
const longestCompared = 64
