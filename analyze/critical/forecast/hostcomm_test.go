package forecast_test

import (
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
)

// atBarrier makes a rank that asks for a collective of the CPU and waits for it from then to 85. It ends at 80 on a thread
// of its own, and the operator that asked for it is from 10 to 14, or 50 µs later if the rank is late. asks says
// whether that is recorded.
func atBarrier(t *testing.T, rank int, late float64, asks bool) *graph.Graph {
	var p tape
	p.step(0, 100)
	p.launch(2, 3, 1)
	p.work("tanh_fwd", 7, 8, 2, 1)
	if late > 0 {
		p.host("user_annotation", "read shard", 5, late)
	}
	if asks {
		p.host("cpu_op", "c10d::_allgather_base_", 10+late, 4)
	}
	p.add("user_annotation", "gloo:all_gather", 9, 20+late, 60-late, object{})
	p.host("cpu_op", "unflatten", 85, 10)
	return p.rank(t, rank)
}

// The path of a rank goes through the collective, which has the time that it waited for the other. Joined, it goes to
// the rank that comes 50 µs late, and is as short without that.
func TestHostCollective(t *testing.T) {
	g := modelOf(atBarrier(t, 3, 0, true))
	p := pathIs(t, g, map[string]float64{"python": 7 + 5, "runtime": 3, "host_op": 4 + 10, "host_gap": 6 + 5, "comm": 60})
	if why := strings.Join(p.Verdict.Reasons, ";"); p.Verdict.Level == critical.OK || !strings.Contains(why, "includes waiting for other ranks") {
		t.Errorf("%v %s", p.Verdict.Level, why)
	}
	forecastIs(t, g, map[string]float64{"--host 2x": 5 + 2 + 6 + 60 + 5 + 5 + 2.5, "--scale class:comm=0.5": 70, "--remove op~gloo": 40})
	g, apart := joined([]*graph.Graph{atBarrier(t, 3, 0, true), atBarrier(t, 5, 50, true)})
	if g == nil {
		t.Fatal(apart)
	}
	pathIs(t, g, map[string]float64{"python": 2 + 50 + 5 + 5, "runtime": 3, "host_op": 4 + 10, "host_gap": 6 + 5, "comm": 10})
	f, _, err := g.Forecast(g.Paths(), changesOf([]string{"--remove", "op~shard"}))
	if err != nil || f[0].Forecast != 50_000 || f[1].Forecast != 50_000 {
		t.Errorf("%v %+v", err, f)
	}
	forecastIs(t, g, map[string]float64{"--scale class:comm=0.5": 95})
}

// If no rank waits for the late one, the others' step takes as long as theirs alone, and so does its own. That of a rank
// which is not late changes nothing, and one of several is late only if the others wait for it.
func TestOnTime(t *testing.T) {
	join := func(late float64) *forecast.Model {
		g, apart := joined([]*graph.Graph{atBarrier(t, 3, 0, true), atBarrier(t, 5, late, true)})
		if g == nil {
			t.Fatal(apart)
		}
		return g
	}
	g := join(50)
	paths := g.Paths()
	for change, want := range map[string]int64{"5": 50_000, "3": 100_000} {
		f, _, err := g.Forecast(paths, changesOf([]string{"--on-time", change}))
		if err != nil || f[0].Forecast != want {
			t.Errorf("rank %s on time: %v %d, want %d ns", change, err, f[0].Forecast, want)
		}
	}
	for i := range paths {
		if x, ok := forecast.NewReplayer(g, paths, i).OnTime(); !ok || x.Change.String() != "--on-time 5" || x.Forecast.Forecast != 50_000 || x.Measured != 100_000 {
			t.Errorf("step of rank %d: %t %+v", i, ok, x)
		}
	}
	g = join(1)
	if x, ok := forecast.NewReplayer(g, g.Paths(), 0).OnTime(); ok {
		t.Errorf("1 of 100 µs late: %+v", x)
	}
	for _, wrong := range []string{"7", "1"} {
		if _, _, err := g.Forecast(g.Paths(), changesOf([]string{"--on-time", wrong})); err == nil {
			t.Errorf("there is no rank %s", wrong)
		}
	}
}

// Without the operator that asked for it nothing tells who waits for a collective.
func TestHostCollectiveUnlinked(t *testing.T) {
	p := modelOf(atBarrier(t, 0, 0, false)).Paths()[0]
	if why := strings.Join(p.Verdict.Reasons, ";"); p.Verdict.Level == critical.OK || !strings.Contains(why, "collectives of the CPU is not known") {
		t.Errorf("%v %s", p.Verdict.Level, why)
	}
}
