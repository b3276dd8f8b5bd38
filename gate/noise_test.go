package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"assay/gate/metric"
	"assay/internal/test"
	"assay/internal/unit"
	"assay/judge/rule"
)

// The grid of the tables: drifts between runs (standard deviations of the logarithm of a
// run's times), runs of each side, and true changes.
var (
	drifts  = []float64{0.02, 0.03, 0.05, 0.10, 0.15}
	sides   = []int{1, 3, 5, 10}
	changes = []float64{0, 0.05, 0.10, 0.20, 0.30}
)

// promised reports whether the documentation promises rates for a drift and a number of
// runs, and from which share of failures on a change of 30 % is found.
func promised(drift float64, runs int) (found float64, ok bool) {
	switch {
	case runs == 1 && drift <= 0.05:
		return 0.85, true
	case runs == 5 && drift <= 0.05, runs == 10 && drift <= 0.10:
		return 0.95, true
	}
	return 0, false
}

// simulate returns how often a gate on one time has each result, where the time is
// log-normal with the given drift.
func simulate(rng *rand.Rand, comparisons, runs int, drift, change float64) map[Result]float64 {
	g := Gate{Metric: &metric.Metric{Name: "step.median", Unit: metric.Time}, Fail: Limits{MaxIncrease: &metric.Change{By: 0.05}}, Noise: metric.UsualNoise}
	side := func(center float64) *Sample {
		var values []metric.Value
		for range runs {
			values = append(values, metric.Value{V: center * math.Exp(drift*rng.NormFloat64())})
		}
		return newSample(values)
	}
	got := map[Result]float64{}
	for range comparisons {
		o := Outcome{Gate: &g, Base: side(1e8), Now: side(1e8 * (1 + change))}
		a, _ := o.relative(&g.Fail)
		got[a.result] += 1 / float64(comparisons)
	}
	return got
}

// TestNoiseTable prints how often a gate on a time with a limit of 5 % fails, and compares
// the rates with those that docs/ci.md promises. With one run of each side the rate is known in
// closed form: the difference of two logarithms has the standard deviation drift·√2.
func TestNoiseTable(t *testing.T) {
	comparisons := 1000
	if test.Long() {
		comparisons = 8_000
	}
	rng := seeded(20)
	documented := documentedRates(t)
	var table strings.Builder
	for _, drift := range drifts {
		for _, runs := range sides {
			rates := make([]float64, len(changes))
			for i, change := range changes {
				got := simulate(rng, comparisons, runs, drift, change)
				rates[i] = got[Fail]
				if runs > 1 {
					continue
				}
				over := math.Log((1+change)/(1+metric.UsualNoise)) / (drift * math.Sqrt2)
				exact := math.Erfc(-over/math.Sqrt2) / 2
				if far := 4*math.Sqrt(exact*(1-exact)/float64(comparisons)) + 1/float64(comparisons); math.Abs(got[Fail]-exact) > far {
					t.Errorf("drift %g, one run, change %g: %.3f fail, want %.3f ± %.3f", drift, change, got[Fail], exact, far)
				}
			}
			table.WriteString(tableRow(drift, runs, rates))
			for i, want := range documented[fmt.Sprint(drift, runs)] {
				delete(documented, fmt.Sprint(drift, runs))
				if far := 0.006 + 4*math.Sqrt(rates[i]*(1-rates[i])/float64(comparisons)); math.Abs(rates[i]-want) > far {
					t.Errorf("drift %g, %d runs, change %g: %.1f%% fail, docs/ci.md has %.1f%%", drift, runs, changes[i], 100*rates[i], 100*want)
				}
			}
			if found, ok := promised(drift, runs); ok && (rates[0] >= 0.01 || rates[len(rates)-1] < found) {
				t.Errorf("drift %g, %d runs: %.2f%% false alarms and %.1f%% found, want under 1%% and at least %.0f%%", drift, runs, 100*rates[0], 100*rates[len(rates)-1], 100*found)
			}
		}
	}
	if len(documented) > 0 {
		t.Errorf("docs/ci.md has rows that the table does not have: %v", documented)
	}
	t.Logf("share of comparisons in which a gate on a time fails; %d comparisons for each number\n%s%s", comparisons, tableHead(), table.String())
}

// documentedRates returns the rows of the table in docs/ci.md, by drift and runs.
func documentedRates(t *testing.T) map[string][]float64 {
	t.Helper()
	text, err := os.ReadFile("../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]float64{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		var numbers []float64
		for _, c := range cells {
			c = strings.TrimSpace(c)
			if n, err := unit.ParseShare(c); err == nil {
				numbers = append(numbers, n)
			} else if n, err := strconv.ParseFloat(c, 64); err == nil {
				numbers = append(numbers, n)
			}
		}
		if len(numbers) == 2+len(changes) && len(cells) == len(numbers) {
			out[fmt.Sprint(numbers[0], numbers[1])] = numbers[2:]
		}
	}
	if len(out) < 8 {
		t.Fatalf("docs/ci.md has %d rows of the table", len(out))
	}
	return out
}

// TestNoisierMachines: with a noise of four times the drift, as docs/ci.md advises, single runs
// of equal programs fail in under 1 %.
func TestNoisierMachines(t *testing.T) {
	for _, drift := range []float64{0.02, 0.05, 0.08, 0.10} {
		if rate := math.Erfc(math.Log(1+4*drift)/(drift*2)) / 2; rate >= 0.01 {
			t.Errorf("drift %g: %.2f%% false alarms", drift, 100*rate)
		}
	}
}

// share returns how often each result comes out of comparisons of a program with
// a changed one, at the default gates, with n runs of each side.
func share(t *testing.T, p program, comparisons, n int, change func(*program)) map[Result]float64 {
	t.Helper()
	rng := seeded(uint64(n))
	gates, th := Default(), rule.DefaultThresholds()
	got := make(map[Result]float64)
	for range comparisons {
		base, changed := p.runs(rng, n), p
		change(&changed)
		rep, err := Check(gates, changed.runs(rng, n), base, Options{Thresholds: th})
		if err != nil {
			t.Fatal(err)
		}
		if rep.Count(Error) > 0 || rep.Count(Pass)+rep.Count(Fail)+rep.Count(Inconclusive) < timeGates || len(rep.Now) != n || len(rep.Base) != n {
			t.Fatalf("%d runs against %d, %+v", len(rep.Now), len(rep.Base), rep.Outcomes)
		}
		got[rep.Result] += 1 / float64(comparisons)
	}
	return got
}

// timeGates is how many of the default gates the simulated programs have metrics for,
// at least.
const timeGates = 8

func slower(by float64) func(*program) {
	return func(p *program) {
		for _, part := range []*float64{&p.compute, &p.overlap, &p.comm, &p.copies, &p.idle} {
			*part *= 1 + by
		}
	}
}

// TestFalseAlarms compares whole runs of equal programs, and of programs one of which is
// 30 % slower, at all built-in gates: one of them failing is a failure. A gate that fails
// where nothing changed is soon switched off, and one that never fails is of no use.
func TestFalseAlarms(t *testing.T) {
	comparisons := map[int]int{1: 60, 5: 20, 10: 10}
	if test.Long() {
		comparisons = map[int]int{1: 1000, 5: 200, 10: 300}
	}
	for _, together := range []float64{0.5, 1} {
		for _, drift := range []float64{0.05, 0.10} {
			for _, n := range []int{1, 5, 10} {
				found, ok := promised(drift, n)
				if !ok || n == 10 && drift < 0.10 && !test.Long() {
					continue
				}
				p := usualProgram()
				p.drift, p.together = drift, together
				equal, slow := share(t, p, comparisons[n], n, func(*program) {}), share(t, p, comparisons[n], n, slower(0.30))
				t.Logf("drift %2.0f%%, %3.0f%% of it of the machine, %2d runs a side: equal %.2f%% failures, %.1f%% inconclusive; 30%% slower %.1f%% failures, %.1f%% inconclusive, %.1f%% passes",
					100*drift, 100*together, n, 100*equal[Fail], 100*equal[Inconclusive], 100*slow[Fail], 100*slow[Inconclusive], 100*slow[Pass])
				// Few comparisons may be over a rate by chance.
				chance := func(rate float64) float64 {
					if test.Long() {
						return 0
					}
					return 3 * math.Sqrt(rate*(1-rate)/float64(comparisons[n]))
				}
				if equal[Fail] >= 0.01+chance(0.01) || slow[Fail] < found-chance(found) || slow[Pass] > 0.01+chance(0.01) {
					t.Errorf("drift %g, %d runs: %.2f%% false alarms and %.1f%% found, want under 1%% and at least %.0f%%", drift, n, 100*equal[Fail], 100*slow[Fail], 100*found)
				}
			}
		}
	}
}

// TestPower compares programs one of which is worse, to prove that a gate can fail.
func TestPower(t *testing.T) {
	comparisons := 20
	if test.Long() {
		comparisons = 200
	}
	for _, tc := range []struct {
		what   string
		change func(*program)
		runs   int
		drift  float64
		least  float64 // share of failures
	}{
		{"20% slower", slower(0.20), 1, 0.05, 0.3},
		{"20% slower", slower(0.20), 10, 0.05, 0.95},
		{"10% slower", slower(0.10), 10, 0.05, 0.5},
		{"30% slower", slower(0.30), 10, 0.15, 0.8},
		{"twice as slow", slower(1), 1, 0.15, 0.95},
		{"10% more kernels", func(p *program) { p.kernels += p.kernels / 10 }, 1, 0.15, 1},
		{"10% more launches", func(p *program) { p.launches += p.launches / 10 }, 1, 0.15, 1},
		{"15% more memory", func(p *program) { p.peak += p.peak * 15 / 100 }, 1, 0.15, 1},
		{"communication exposed", func(p *program) { p.comm, p.overlap = p.comm+p.overlap, 0 }, 1, 0.05, 0.95},
	} {
		p := usualProgram()
		p.drift = tc.drift
		got := share(t, p, comparisons, tc.runs, tc.change)
		t.Logf("%s, drift %2.0f%%, %2d runs a side: %.1f%% failures, %.1f%% inconclusive, %.1f%% passes", tc.what, 100*tc.drift, tc.runs, 100*got[Fail], 100*got[Inconclusive], 100*got[Pass])
		if got[Fail]+1e-9 < tc.least {
			t.Errorf("%s, %d runs a side: %.1f%% fail, want %.0f%% or more", tc.what, tc.runs, 100*got[Fail], 100*tc.least)
		}
	}
}

func tableHead() string {
	text := "drift  runs a side"
	for _, c := range changes {
		text += fmt.Sprintf("  %+5.0f%%", 100*c)
	}
	return text + "\n"
}

func tableRow(drift float64, runs int, rates []float64) string {
	text := fmt.Sprintf("%4.0f%%  %11d", 100*drift, runs)
	for _, r := range rates {
		text += fmt.Sprintf("  %5.1f%%", 100*r)
	}
	return text + "\n"
}

// TestMeasuredNoise: a baseline of ten runs or more shows by how much runs differ. One new run is
// compared with that, if it is less than the usual noise of single runs.
func TestMeasuredNoise(t *testing.T) {
	g := Gate{Metric: &metric.Metric{Name: "step.median", Unit: metric.Time}, Fail: Limits{MaxIncrease: &metric.Change{By: 0.05, Text: "5%"}}, Noise: metric.UsualNoise}
	side := func(values ...float64) *Sample {
		var list []metric.Value
		for _, v := range values {
			list = append(list, metric.Value{V: v})
		}
		return newSample(list)
	}
	ten := []float64{98, 99, 99, 100, 100, 100, 100, 101, 101, 103} // median 100, the farthest at 3
	for _, c := range []struct {
		base []float64
		now  float64
		want Result
	}{
		{ten, 105, Pass}, {ten, 106, Inconclusive}, {ten, 106.5, Fail}, {ten, 119, Fail},
		{ten[:9], 119, Inconclusive}, {ten[:9], 121, Fail},
		{[]float64{60, 80, 90, 95, 100, 100, 105, 110, 130, 140}, 119, Inconclusive}, // 20% is less than the noise
		{[]float64{60, 80, 90, 95, 100, 100, 105, 110, 130, 140}, 121, Fail},
	} {
		o := Outcome{Gate: &g, Base: side(c.base...), Now: side(c.now)}
		if a, _ := o.relative(&g.Fail); a.result != c.want {
			t.Errorf("%v against %d runs: %v, want %v: %s", c.now, len(c.base), a.result, c.want, a.why)
		}
	}
}
