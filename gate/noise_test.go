package gate

import (
	"testing"

	"assay/internal/longtest"
	"assay/judge/rule"
)

// share returns how often each result comes out of comparisons of a program with
// a changed one, at the default gates, with n runs of each side. Each program
// has a drift of its own, of 5 to 15 %.
func share(t *testing.T, comparisons, n int, change func(*program)) map[Result]float64 {
	t.Helper()
	rng := seeded(uint64(n))
	gates, th := Default(), rule.DefaultThresholds()
	got := make(map[Result]float64)
	for range comparisons {
		p := usualProgram()
		p.drift = 0.05 + 0.10*rng.Float64()
		base := p.runs(rng, n)
		change(&p)
		rep, err := Check(gates, p.runs(rng, n), base, Options{Thresholds: th})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Count(Error)+rep.Count(Skipped) > 0 || len(rep.Now) != n || len(rep.Base) != n {
			t.Fatalf("%d runs against %d, %+v", len(rep.Now), len(rep.Base), rep.Outcomes)
		}
		got[rep.Result] += 1 / float64(comparisons)
	}
	return got
}

// TestFalseAlarms compares runs of equal programs. A gate that fails where
// nothing changed is soon switched off.
func TestFalseAlarms(t *testing.T) {
	comparisons := 200
	if longtest.Wanted() {
		comparisons = 1000
	}
	for _, n := range []int{1, 3, 5, 10} {
		got := share(t, comparisons, n, func(*program) {})
		t.Logf("equal programs, %2d runs a side: %.1f%% failures, %.1f%% inconclusive, %.1f%% passes", n, 100*got[Fail], 100*got[Inconclusive], 100*got[Pass])
		if got[Fail] >= 0.01 {
			t.Errorf("%d runs a side: %.1f%% of %d comparisons of equal programs fail, want under 1%%", n, 100*got[Fail], comparisons)
		}
	}
}

// TestPower compares programs one of which is slower, to prove that a gate can fail.
func TestPower(t *testing.T) {
	comparisons := 100
	if longtest.Wanted() {
		comparisons = 200
	}
	slower := func(by float64) func(*program) {
		return func(p *program) {
			for _, part := range []*float64{&p.compute, &p.overlap, &p.comm, &p.copies, &p.idle} {
				*part *= 1 + by
			}
		}
	}
	for _, tc := range []struct {
		what   string
		change func(*program)
		runs   int
		least  float64 // share of failures
	}{
		{"10% slower", slower(0.10), 1, 0.01},
		{"10% slower", slower(0.10), 5, 0.05},
		{"10% slower", slower(0.10), 10, 0.3},
		{"10% slower", slower(0.10), 20, 0.6},
		{"25% slower", slower(0.25), 10, 0.8},
		{"twice as slow", slower(1), 1, 0.95},
		{"10% more kernels", func(p *program) { p.kernels += p.kernels / 10 }, 1, 1},
		{"10% more launches", func(p *program) { p.launches += p.launches / 10 }, 1, 1},
		{"15% more memory", func(p *program) { p.peak += p.peak * 15 / 100 }, 1, 1},
	} {
		got := share(t, comparisons, tc.runs, tc.change)
		t.Logf("%s, %2d runs a side: %.1f%% failures, %.1f%% inconclusive, %.1f%% passes", tc.what, tc.runs, 100*got[Fail], 100*got[Inconclusive], 100*got[Pass])
		if got[Fail]+1e-9 < tc.least {
			t.Errorf("%s, %d runs a side: %.1f%% fail, want %.0f%% or more", tc.what, tc.runs, 100*got[Fail], 100*tc.least)
		}
		if got[Pass] > 0.5 {
			t.Errorf("%s, %d runs a side: %.1f%% pass, want half or less", tc.what, tc.runs, 100*got[Pass])
		}
	}
}
