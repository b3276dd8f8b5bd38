package operations

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/analyze/critical/change"
	"assay/internal/interval"
	"assay/trace"
)

type object = map[string]any

// A timeline collects operations. Times are in µs.
type timeline struct {
	events  []object
	threads map[[2]int]bool
}

func (l *timeline) add(rank, stage int, name string, ts, dur float64) {
	if l.threads == nil {
		l.threads = make(map[[2]int]bool)
	}
	if !l.threads[[2]int{rank, stage}] {
		l.threads[[2]int{rank, stage}] = true
		l.events = append(l.events,
			object{"ph": "M", "name": "process_name", "pid": rank, "args": object{"name": fmt.Sprintf("DP rank [%d]", rank)}},
			object{"ph": "M", "name": "thread_name", "pid": rank, "tid": stage, "args": object{"name": fmt.Sprintf("PP rank %d, TP rank 0, all", stage)}})
	}
	l.events = append(l.events, object{"ph": "X", "cat": name, "name": name, "pid": rank, "tid": stage, "ts": ts, "dur": dur})
}

func (l *timeline) job(t *testing.T) (*Job, error) {
	t.Helper()
	text, err := json.Marshal(object{"traceEvents": l.events})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(strings.NewReader(string(text)), "x", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if !Is(tr) {
		t.Fatal("not recognized")
	}
	return Of(tr, interval.Span{})
}

func answer(t *testing.T, j *Job, args ...string) *Answer {
	t.Helper()
	var list []change.Change
	for i := 0; i+1 < len(args); i += 2 {
		list = append(list, change.Change{Kind: args[i], Value: args[i+1]})
	}
	a, err := j.Answer(list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// partIs compares a part with the truth: slowdown, and µs that are saved.
func partIs(t *testing.T, list []Part, name string, slowdown, saved float64) {
	t.Helper()
	for _, p := range list {
		if p.Name == name {
			if math.Abs(p.Slowdown-slowdown) > 1e-9 || float64(p.SavedNS) != 1000*saved {
				t.Errorf("%+v, want %g and %g µs", p, slowdown, saved)
			}
			return
		}
	}
	t.Errorf("no %s in %+v", name, list)
}

// replicas are two data-parallel ranks; the forward pass of rank 1 takes 30 instead of 10. Each step
// takes 60: 2 gather, 30 and 20 computations, 4 scatter, 1 clip, 3 optimizer.
func replicas(steps int) *timeline {
	l := &timeline{}
	for k := range steps {
		at := 100 * float64(k)
		for rank, pass := range []float64{10, 30} {
			l.add(rank, 0, "params-all-gather", at, 2)
			l.add(rank, 0, "forward-compute", at+2, pass)
			l.add(rank, 0, "backward-compute", at+2+pass, 20)
			l.add(rank, 0, "grads-reduce-scatter", at+52, 4)
			l.add(rank, 0, "optimizer-clip-main-grad", at+56, 1)
			l.add(rank, 0, "optimizer", at+57, 3)
		}
	}
	return l
}

func TestSlowReplica(t *testing.T) {
	j, err := replicas(3).job(t)
	if err != nil {
		t.Fatal(err)
	}
	a := answer(t, j)
	if a.Steps != 3 || a.MeasuredNS != 60_000 || a.ReplayedNS != 60_000 || a.TypicalNS != 50_000 || a.Slowdown != 1.2 || a.Verdict != "ok" {
		t.Errorf("%+v", a)
	}
	partIs(t, a.ByRank, "DP rank 1", 1.2, 10)
	partIs(t, a.ByRank, "DP rank 0", 1, 0)
	partIs(t, a.ByWorker, "DP rank 1, PP rank 0", 1.2, 10)
	partIs(t, a.ByOperation, "forward-compute", 1.2, 10)
	partIs(t, a.ByOperation, "backward-compute", 1, 0)
	for _, tt := range []struct {
		kind, value string
		ns          int64
	}{
		{"like", "0", 40_000}, {"like", "1", 60_000}, {"scale", "op~backward=0.5", 50_000}, {"hide-comm", "", 53_000},
		{"hide-comm", "scatter", 56_000}, {"scale", "class:comm=2", 67_000},
		{"scale", "class:compute=2x", 7_000 + 25_000 + 1_500}, // the optimizer computes, too
	} {
		if got := answer(t, j, tt.kind, tt.value).ForecastNS; got != tt.ns {
			t.Errorf("--%s %s: %d ns, want %d", tt.kind, tt.value, got, tt.ns)
		}
	}
	for _, c := range []change.Change{{Kind: "like", Value: "2"}, {Kind: "scale", Value: "kernel~x=2"}, {Kind: "host", Value: "2x"}, {Kind: "scale", Value: "op~nothing=2"}} {
		if _, err := j.Answer([]change.Change{c}); err == nil {
			t.Errorf("%s has an answer", c)
		}
	}
}

// pipeline has two stages and two micro-batches. Passes take 10 and 20, communication 1, clip 1 and
// the optimizer 2, but the first forward pass of stage 1 takes 30.
//
//	stage 0: F 0-10 10-20, gets gradients at 62 and 92, B 62-82 92-112, clip 112-113, optimizer to 115
//	stage 1: gets micro-batches at 11 and 42, F 11-41, B 41-61, F 61-71, B 71-91
//
// Typical forward passes take 15: F 16-31, B 31-51, F 51-66, B 66-86 on stage 1, B 87-107 on stage 0.
func pipeline() *timeline {
	l := &timeline{}
	for _, e := range []struct {
		stage int
		name  string
		ts    float64
		dur   float64
	}{
		{0, "forward-compute", 0, 10}, {0, "forward-compute", 10, 10}, {0, "forward-send", 10, 1}, {0, "forward-send", 41, 1},
		{0, "backward-recv", 61, 1}, {0, "backward-recv", 91, 1}, {0, "backward-compute", 62, 20}, {0, "backward-compute", 92, 20},
		{0, "optimizer-clip-main-grad", 112, 1}, {0, "optimizer", 113, 2},
		{1, "forward-recv", 10, 1}, {1, "forward-recv", 41, 1}, {1, "forward-compute", 11, 30}, {1, "forward-compute", 61, 10},
		{1, "backward-compute", 41, 20}, {1, "backward-compute", 71, 20}, {1, "backward-send", 61, 1}, {1, "backward-send", 91, 1},
		{1, "optimizer-clip-main-grad", 112, 1}, {1, "optimizer", 113, 2},
	} {
		l.add(0, e.stage, e.name, e.ts, e.dur)
	}
	return l
}

func TestSlowStage(t *testing.T) {
	j, err := pipeline().job(t)
	if err != nil {
		t.Fatal(err)
	}
	a := answer(t, j)
	if a.MeasuredNS != 115_000 || a.ReplayedNS != 115_000 || a.TypicalNS != 110_000 {
		t.Errorf("%+v", a)
	}
	partIs(t, a.ByStage, "PP rank 1", 120./110, 10) // with 15 on stage 1 only, 105
	partIs(t, a.ByStage, "PP rank 0", 105./110, -5)
	partIs(t, a.ByOperation, "forward-send/recv", 1, 0)
	// stage 1: B 1-21, 21-41; stage 0: B 22-42, gets the second gradient once that is over, B 43-63
	if got := answer(t, j, "scale", "op~^forward-compute$=0").ForecastNS; got != 66_000 {
		t.Errorf("without forward passes %d ns", got)
	}
}

// A timeline whose dependencies are not known has no answer.
func TestNotModelled(t *testing.T) {
	unknown := replicas(2)
	unknown.add(0, 0, "tp-allreduce", 12, 1)
	missing := pipeline()
	missing.add(1, 0, "forward-compute", 0, 10)
	chunks := pipeline()
	chunks.add(0, 1, "forward-send", 100, 1) // from the last stage
	unequal := replicas(3)
	unequal.add(1, 0, "optimizer", 300, 3)
	for what, l := range map[string]*timeline{"tp-allreduce": unknown, "are in the timeline": missing, "stage 1 has 1 of": chunks, "numbers of steps": unequal} {
		if _, err := l.job(t); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	odd := replicas(5) // a step in which one rank has another operation
	odd.add(1, 0, "gc", 233, 1)
	j, err := odd.job(t)
	if err != nil || j.Steps != 4 || j.LeftOut != 1 {
		t.Errorf("%v %v", j, err)
	}
}

// Gaps that no dependency explains make the replay shorter than the steps.
func TestUnexplainedGaps(t *testing.T) {
	for gap, want := range map[float64]string{0.5: "ok", 2: "warn", 6: "abstain"} {
		l := replicas(3)
		for _, e := range l.events {
			if e["name"] == "optimizer" {
				e["ts"] = e["ts"].(float64) + gap
			}
		}
		j, err := l.job(t)
		if err != nil {
			t.Fatal(err)
		}
		if a := answer(t, j); a.Verdict != want || a.ReplayedNS != 60_000 {
			t.Errorf("%g: %+v", gap, a)
		}
	}
}
