package logs

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report/plot"
	"assay/summary"
)

// TestLogServer: the panels have the values of samplerun.Served, one curve for each replica, on
// an axis of the time of the log.
func TestLogServer(t *testing.T) {
	c, ok := Server(samplerun.Served())
	if !ok {
		t.Fatal("there is no picture")
	}
	body := c.Body.(plot.Lines)
	if len(body.Panels) != 4 || body.X.From != 0 || body.X.To != float64(590*samplerun.Sec) || body.X.Title != "time" {
		t.Fatalf("%d panels from %g to %g", len(body.Panels), body.X.From, body.X.To)
	}
	for r := range 2 {
		running, queued := body.Panels[0].Lines[r].Points, body.Panels[1].Lines[r].Points
		if len(running) != 60 || running[59] != [2]float64{float64(590 * samplerun.Sec), float64(8 * (r + 1))} || queued[59][1] != float64(59*r) {
			t.Errorf("replica %d: running %v, queued %v", r, running[59], queued[59])
		}
	}
	if c.Legend[1].Text != "replica=1" || body.Panels[0].Lines[1].Color != c.Legend[1].Color {
		t.Errorf("the legend is %+v", c.Legend)
	}
	for _, p := range body.Panels {
		if last := p.Y.Ticks[len(p.Y.Ticks)-1]; p.Y.From != 0 || last.At > p.Y.To || p.Y.Ticks[0].At != 0 {
			t.Errorf("%s: ticks %+v of %g", p.Y.Title, p.Y.Ticks, p.Y.To)
		}
	}
}

// TestLogLinesLeftOut: values without times have no common axis unless there are as many of each,
// few values have no picture, and values whose clock goes back none either.
func TestLogLinesLeftOut(t *testing.T) {
	s := samplerun.Served()
	for i := range s.Series {
		s.Series[i].Strip.By = "index"
	}
	s.Series[1].N--
	c, _ := Server(s)
	if body := c.Body.(plot.Lines); len(body.Panels[1].Lines) != 1 || body.X.Title != "record" {
		t.Errorf("%d curves of queues over %s", len(body.Panels[1].Lines), body.X.Title)
	}
	s = samplerun.Served()
	for i := range s.Series {
		s.Series[i].Strip.X[7] = -1
	}
	if _, ok := Server(s); ok {
		t.Error("a clock that goes back has a picture")
	}
	s = samplerun.Served()
	for i := range s.Series {
		s.Series[i].Strip.X, s.Series[i].Strip.Values = s.Series[i].Strip.X[:4], s.Series[i].Strip.Values[:4]
	}
	if _, ok := Server(s); ok {
		t.Error("four values have a picture")
	}
	if _, ok := Monitor(samplerun.Served()); ok {
		t.Error("a server has a picture of GPUs")
	}
}

// TestLogMonitor: of more GPUs than there are colours, the first are drawn and counted.
func TestLogMonitor(t *testing.T) {
	c, ok := Monitor(samplerun.Monitored(16))
	body, _ := c.Body.(plot.Lines)
	if !ok || len(body.Panels) != 3 || len(body.Panels[0].Lines) != mostLines || c.Caption != "8 of 16 GPUs." {
		t.Fatalf("%d panels, caption %q", len(body.Panels), c.Caption)
	}
	if got := body.Panels[1].Lines[3].Points[0][1]; got != 32*(1<<30) {
		t.Errorf("GPU 3 has %g bytes", got)
	}
}

// TestLogLatency: bars have the percentiles as given, and no mean.
func TestLogLatency(t *testing.T) {
	c, ok := Latency(samplerun.Benchmarked(5))
	body, _ := c.Body.(plot.Titled)
	if !ok || len(body) != 2 {
		t.Fatalf("%+v", c)
	}
	for i, row := range body[0].Body.(plot.Nested).Rows {
		rate := int64(1) << i
		if row.Label != fmt.Sprintf("request rate %d", rate) || len(row.Parts) != 2 || row.Parts[0].NS != 50*rate*samplerun.MS || row.Parts[1].NS != 200*rate*samplerun.MS {
			t.Errorf("TTFT of result %d is %+v", i, row)
		}
	}
	if row := body[1].Body.(plot.Nested).Rows[4]; row.Value != "p50 20 ms, p90 25 ms, p99 30 ms" {
		t.Errorf("TPOT is %q", row.Value)
	}
	if len(c.Legend) != 3 {
		t.Errorf("the legend is %+v", c.Legend)
	}
}

// TestLogSweep: points have throughput and the highest percentile of the latency, in the order of
// the load. One result, and two with the same load, are no sweep.
func TestLogSweep(t *testing.T) {
	s := samplerun.Benchmarked(5)
	s.Benchmarks[0], s.Benchmarks[3] = s.Benchmarks[3], s.Benchmarks[0]
	c, ok := Sweep(s)
	body, _ := c.Body.(plot.Titled)
	if !ok || len(body) != 2 || body[0].Title != "TTFT: time to first token, p99" || len(c.Legend) != 0 {
		t.Fatalf("%+v", c)
	}
	want := [][2]float64{{400, 200e6}, {800, 400e6}, {1600, 800e6}, {3200, 1600e6}, {3200, 3200e6}}
	for i, p := range body[0].Body.(plot.Scatter).Curves[0].Points {
		if p != want[i] {
			t.Errorf("point %d is %v, want %v", i, p, want[i])
		}
	}
	other := samplerun.Benchmarked(3)
	for _, b := range other.Benchmarks {
		b.Settings["dataset_name"] = "sharegpt"
		s.Benchmarks = append(s.Benchmarks, b)
	}
	if c, _ := Sweep(s); len(c.Legend) != 2 || c.Legend[1].Text != "dataset sharegpt" {
		t.Errorf("the legend of two workloads is %+v", c.Legend)
	}
	if _, ok := Sweep(samplerun.Benchmarked(1)); ok {
		t.Error("one result is a sweep")
	}
	s = samplerun.Benchmarked(4)
	s.Benchmarks[1].Settings["request_rate"] = "1"
	if _, ok := Sweep(s); ok {
		t.Error("two results with the same load are a sweep")
	}
}

// logged returns a log of n steps in strips of at most 128. Each tenth step has an evaluation.
func logged(n int64, by string) *summary.Summary {
	s := samplerun.Logged()
	for i := range s.Series {
		r := &s.Series[i]
		every, value := int64(1), *r.Median
		if r.Labels["phase"] == "evaluation" {
			every = 10
		}
		st := &summary.SeriesStrip{By: by}
		for at := every; at <= n; at += every {
			x := at
			if by == "index" {
				x = at/every - 1
			}
			st.X, st.Values = append(st.X, x), append(st.Values, value)
		}
		r.N = n / every
		if len(st.X) > summary.MaxStrip {
			short := &summary.SeriesStrip{By: by}
			for g := range summary.MaxStrip {
				short.X, short.Values = append(short.X, st.X[g*len(st.X)/summary.MaxStrip]), append(short.Values, value)
			}
			short.Low, short.High = short.Values, short.Values
			st = short
		}
		r.Strip = st
	}
	return s
}

// TestLogPhasesOfGroups: a bar of several steps has the medians of the phases that all steps
// have, and all of the evaluation of its step.
func TestLogPhasesOfGroups(t *testing.T) {
	c, ok := Phases(logged(640, "step"))
	if !ok {
		t.Fatal("there is no picture")
	}
	body := c.Body.(plot.Columns)
	evaluations := 0
	for _, b := range body.Bars {
		for k, p := range b.Parts {
			if strings.HasPrefix(c.Legend[min(k, len(c.Legend)-1)].Text, "evaluation") && p.NS > 0 {
				if evaluations++; p.NS != 70_500*samplerun.MS { // the median of 70, 71, 72 and 70 s
					t.Errorf("an evaluation takes %d ns", p.NS)
				}
			}
		}
	}
	if len(body.Bars) != summary.MaxStrip || evaluations != 64 {
		t.Errorf("%d bars with %d evaluations", len(body.Bars), evaluations)
	}
	if !strings.HasPrefix(c.Caption, "Each bar has the medians of about 5 steps.") {
		t.Errorf("the caption is %q", c.Caption)
	}
	// Step 100 is the last but one of the five of bar 20, which begins with step 101-5.
	for _, tick := range body.Ticks {
		if tick.Text == "100" && (tick.At < 19.2 || tick.At > 19.4) {
			t.Errorf("step 100 is at %g", tick.At)
		}
	}
	if len(body.Ticks) < 5 {
		t.Errorf("ticks are %+v", body.Ticks)
	}
}

// TestLogPhasesWithoutSteps: without numbers of steps, a phase that few steps have cannot be
// placed.
func TestLogPhasesWithoutSteps(t *testing.T) {
	c, ok := Phases(logged(40, "index"))
	if !ok || c.Caption != "The log does not say which steps have these phases, so they are other time: evaluation." {
		t.Fatalf("the caption is %q", c.Caption)
	}
	for _, sw := range c.Legend {
		if strings.HasPrefix(sw.Text, "evaluation") {
			t.Error("the evaluation is drawn")
		}
	}
}

// TestLogPhasesRestarted: steps that go back after a restart are drawn in the order of the log.
func TestLogPhasesRestarted(t *testing.T) {
	s := logged(40, "step")
	for i := range s.Series {
		if x := s.Series[i].Strip.X; len(x) == 40 {
			copy(x[20:], x[:20])
		}
	}
	c, ok := Phases(s)
	if !ok || len(c.Body.(plot.Columns).Ticks) < 5 {
		t.Fatalf("%+v", c)
	}
}
