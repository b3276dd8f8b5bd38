package logs

import (
	"slices"
	"strconv"
	"testing"

	"assay/internal/stat"
	"assay/summary"
	"assay/summary/view/comparability"
)

func number64(v float64) *float64 { return &v }

// bench is a result with a throughput and a latency.
func bench(settings map[string]string, tokens, ttft float64) summary.Benchmark {
	return summary.Benchmark{Producer: "B", Settings: settings, Metrics: []summary.Figure{
		{Metric: "throughput.output_tokens", Name: "tok/s", Unit: "token/s", Better: "higher", Role: "throughput", Value: tokens},
		{Metric: "serving.ttft", Stat: "p99", Name: "ttft", Unit: "ns", Better: "lower", Role: "latency", Value: ttft},
	}}
}

// side returns the results of several inputs.
func side(inputs ...[]summary.Benchmark) []comparability.Part {
	s := &summary.Summary{}
	for i, list := range inputs {
		s.Inputs = append(s.Inputs, summary.Input{})
		for n, b := range list {
			b.Input, b.Number = i, n
			s.Benchmarks = append(s.Benchmarks, b)
		}
	}
	return []comparability.Part{{Summary: s}}
}

func set(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// TestBenchmarksByWorkload: rows of a sweep are matched by their settings in any order, and
// those that one side lacks are not compared.
func TestBenchmarksByWorkload(t *testing.T) {
	one, two, four := set("rate", "1.0"), set("rate", "2"), set("rate", "4")
	base := side([]summary.Benchmark{bench(one, 100, 10), bench(two, 190, 20), bench(four, 300, 90)})
	new := side([]summary.Benchmark{bench(two, 209, 20), bench(set("rate", "1", "date", "later", "server_info.tp_size", "2"), 80, 8)})
	got := Benchmarks(base, new, false)
	if len(got) != 3 || got[2].Match != OnlyOld || got[2].Settings["rate"] != "4" {
		t.Fatalf("%+v", got)
	}
	if f := got[0].Figures[0]; *f.Delta != -20 || *f.Change != -0.2 || f.Effect != Worse {
		t.Errorf("%+v", f)
	}
	if f := got[0].Figures[1]; *f.Change != -0.2 || f.Effect != Better {
		t.Errorf("%+v", f)
	}
	if c := got[0].Changed; len(c) != 1 || c[0] != (Setting{"server_info.tp_size", "", "2"}) {
		t.Errorf("%+v", c)
	}
	if f := got[1].Figures; *f[0].Change != 0.1 || f[0].Effect != Better || f[1].Effect != Same {
		t.Errorf("%+v", f)
	}
}

// TestBenchmarksRepeated: one workload in several inputs is repeated; in one input the first result can be
// of a cold server, so results are matched in their order.
func TestBenchmarksRepeated(t *testing.T) {
	w := set("rate", "1")
	base := side([]summary.Benchmark{bench(w, 100, 90)}, []summary.Benchmark{bench(w, 104, 30)}, []summary.Benchmark{bench(w, 96, 60)})
	new := side([]summary.Benchmark{bench(w, 95, 50)}, []summary.Benchmark{bench(w, 90, 40)})
	got := Benchmarks(base, new, false)
	if len(got) != 1 || got[0].Base != 3 || got[0].New != 2 || *got[0].Figures[0].Base != 100 || *got[0].Figures[0].New != 92.5 {
		t.Fatalf("%+v", got)
	}
	if got[0].Figures[0].Effect != Worse || got[0].Figures[1].Effect != Unclear {
		t.Errorf("%+v", got[0].Figures)
	}
	got = Benchmarks(side([]summary.Benchmark{bench(w, 10, 900), bench(w, 100, 90)}), side([]summary.Benchmark{bench(w, 11, 900), bench(w, 100, 90)}), false)
	if len(got) != 2 || *got[0].Figures[0].Change != 0.1 || got[1].Figures[0].Effect != Same {
		t.Errorf("%+v", got)
	}
}

// TestBenchmarksOfOtherWork: without equal workloads nothing is compared, unless it is forced.
func TestBenchmarksOfOtherWork(t *testing.T) {
	base, new := side([]summary.Benchmark{bench(set("rate", "1", "dataset", "a"), 100, 90)}), side([]summary.Benchmark{bench(set("rate", "2", "dataset", "a"), 100, 90)})
	for _, b := range Benchmarks(base, new, false) {
		if b.Match == ByName || len(b.Figures) > 0 {
			t.Errorf("%+v", b)
		}
	}
	got := Benchmarks(base, new, true)
	if len(got) != 1 || len(got[0].Figures) != 2 || len(got[0].Changed) != 1 || got[0].Changed[0] != (Setting{"rate", "1", "2"}) || got[0].Settings["dataset"] != "a" {
		t.Errorf("%+v", got)
	}
}

// metric is a row with all of its values.
func metric(of, role, better string, from int64, values ...float64) summary.Series {
	r := summary.Series{Producer: "P", Metric: of, Name: of, Role: role, Better: better, N: int64(len(values)), Strip: &summary.SeriesStrip{By: "step"}}
	for i, v := range values {
		r.Strip.X, r.Strip.Values = append(r.Strip.X, from+int64(i)), append(r.Strip.Values, v)
	}
	last := from + int64(len(values)) - 1
	r.Median, r.FirstStep, r.LastStep = number64(stat.Median(values)), &from, &last
	return r
}

func logged(rows ...summary.Series) []comparability.Part {
	return []comparability.Part{{Summary: &summary.Summary{Inputs: []summary.Input{{}}, Series: rows}}}
}

func only(t *testing.T, base, new summary.Series) Metric {
	t.Helper()
	got := Metrics(logged(base), logged(new))
	if len(got) != 1 || got[0].Match != ByName {
		t.Fatalf("%+v", got)
	}
	return got[0]
}

// TestEffects: what a change means depends on the direction of the metric, and on whether the
// intervals of the medians overlap. With eight values the interval is from the first to the last but
// one of each end at most, so that values apart have intervals apart.
func TestEffects(t *testing.T) {
	low, high := []float64{10, 11, 12, 13, 10, 11, 12, 13}, []float64{20, 21, 22, 23, 20, 21, 22, 23}
	wide := []float64{5, 30, 8, 40, 9, 35, 6, 50}
	for _, tc := range []struct {
		better    string
		base, new []float64
		want      string
	}{
		{"lower", low, high, Worse}, {"lower", high, low, Better}, {"higher", low, high, Better}, {"", low, high, Changed},
		{"lower", low, wide, Unclear}, {"lower", low, low, Same}, {"lower", low[:2], high[:2], Unclear},
	} {
		if m := only(t, metric("x", "time", tc.better, 1, tc.base...), metric("x", "time", tc.better, 1, tc.new...)); m.Effect != tc.want {
			t.Errorf("%+v: %s, %+v, %+v", tc, m.Effect, *m.Base, *m.New)
		}
	}
}

// TestProgress: a loss is compared over the same steps, or not at all.
func TestProgress(t *testing.T) {
	falling := func(from int64) summary.Series {
		var v []float64
		for i := range int64(20) {
			v = append(v, 100-float64(from+i))
		}
		return metric("train.loss", "quality", "lower", from, v...)
	}
	if m := only(t, falling(1), falling(11)); m.Effect != Same || m.Base.N != 10 || *m.Delta != 0 {
		t.Errorf("%+v %+v %+v", m, *m.Base, *m.New)
	}
	if m := only(t, falling(1), falling(40)); m.Effect != "" || m.Note != OtherSteps || m.Delta != nil {
		t.Errorf("%+v", m)
	}
}

// TestWarmUpValues: values of warm-up steps are in no median.
func TestWarmUpValues(t *testing.T) {
	base := metric("x", "throughput", "higher", 1, 1, 10, 10, 10, 10, 10, 10, 10)
	parts := logged(base)
	for i := range 8 {
		wall := int64(100)
		if i == 0 {
			wall = 500
		}
		parts[0].Steps = append(parts[0].Steps, summary.Step{Number: int64(i + 1), WallNS: wall, Source: summary.SourceLog})
	}
	got := Metrics(parts, parts)
	if got[0].Base.WarmUp != 1 || got[0].Base.N != 7 || *got[0].Base.Low != 10 {
		t.Errorf("%+v", *got[0].Base)
	}
}

// TestLabels: ranks are compared with the same rank, and sums of different numbers of ranks are not
// judged.
func TestLabels(t *testing.T) {
	at := func(rank string, v float64) summary.Series {
		m := metric("x", "memory", "lower", 1, v, v, v, v, v, v, v, v)
		m.Labels = set("gpu", rank)
		return m
	}
	pooled := func(n int64, v float64) summary.Series {
		m := metric("x", "memory", "lower", 1, v, v, v, v, v, v, v, v)
		m.Pooled, m.Strip = n, nil
		return m
	}
	got := Metrics(logged(pooled(2, 15), at("0", 10), at("1", 20)), logged(pooled(3, 20), at("1", 30), at("0", 10), at("2", 40)))
	effects := map[string]string{}
	for _, m := range got {
		key := LabelText(m.Labels)
		if m.Base != nil && m.Base.Places > 0 {
			key = "all"
		}
		effects[key] = m.Match + " " + m.Effect + m.Note
	}
	want := map[string]string{"all": "name places", "gpu=0": "name same", "gpu=1": "name worse", "gpu=2": "new "}
	for k, v := range want {
		if effects[k] != v {
			t.Errorf("%s: %q, want %q", k, effects[k], v)
		}
	}
}

// TestOrderOfMetrics checks that rows which differ in nothing but their values come in one order:
// they are collected in maps. A pooled row can have the labels of a row of its places.
func TestOrderOfMetrics(t *testing.T) {
	row := func(phase string, pooled int64, v float64) summary.Series {
		m := metric("x", "memory", "lower", 1, v, v, v, v, v, v, v, v)
		m.Labels, m.Pooled = set("phase", phase), pooled
		return m
	}
	side := func() []comparability.Part {
		return logged(row("prefill", 0, 4), row("prefill", 2, 3), row("decode", 0, 2), row("decode", 2, 1))
	}
	for range 50 {
		var got []float64
		for _, m := range Metrics(side(), side()) {
			got = append(got, m.Base.Median)
		}
		if want := []float64{1, 2, 3, 4}; !slices.Equal(got, want) {
			t.Fatalf("medians of the rows in order: %v, want %v", got, want)
		}
	}
}

// TestManyPlaces checks the values of metrics of many places, whose rows are found by what they are
// pooled to: reading all rows for each pooled one took minutes.
func TestManyPlaces(t *testing.T) {
	const metrics, places = 300, 100
	side := func(factor float64) []comparability.Part {
		s := &summary.Summary{Inputs: []summary.Input{{Path: "m"}}}
		for m := range metrics {
			row := func(value float64, pooled int64, labels map[string]string) {
				s.Series = append(s.Series, summary.Series{Producer: "p", Metric: "m" + strconv.Itoa(m), Name: "n", Role: "latency", Better: "lower", N: max(1, pooled), Pooled: pooled,
					Median: &value, Min: &value, Max: &value, Mean: &value, Sum: &value, Labels: labels, Strip: &summary.SeriesStrip{By: "index", X: []int64{0}, Values: []float64{value}}})
			}
			row(factor, places, nil)
			for p := range places {
				row(factor, 0, map[string]string{"engine": strconv.Itoa(p)})
			}
		}
		return []comparability.Part{{Summary: s}}
	}
	got := Metrics(side(2), side(3))
	if len(got) != metrics*(places+1) {
		t.Fatalf("%d metrics, want %d", len(got), metrics*(places+1))
	}
	for _, m := range got {
		if m.Base == nil || m.New == nil || m.Base.Median != 2 || m.New.Median != 3 || m.Labels == nil && m.Base.Places != places {
			t.Fatalf("%+v: %+v %+v", m, m.Base, m.New)
		}
	}
}
