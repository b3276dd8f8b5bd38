package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// nights returns n values of a level with relative noise, after which each step multiplies the level.
func nights(r *rand.Rand, n int, noise float64, at int, factor float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1e8 * (1 + noise*r.NormFloat64())
		if i >= at {
			out[i] *= factor
		}
	}
	return out
}

// TestLevelChangesFindsSteps: forty values with noise of 2% and one change. Of 100 series, those
// with the change in the range that is stated, and those that place it within two runs.
func TestLevelChangesFindsSteps(t *testing.T) {
	for _, c := range []struct {
		factor        float64
		found, inside int // at least, of 100
	}{{1.03, 65, 60}, {1.05, 95, 90}, {1.10, 97, 95}, {0.95, 95, 90}} {
		r := rand.New(rand.NewPCG(7, uint64(c.factor*1000)))
		found, inside, exact := 0, 0, 0
		for range 100 {
			at := 8 + r.IntN(24)
			got := LevelChanges(nights(r, 40, 0.02, at, c.factor), 0.01)
			if len(got) != 1 {
				continue
			}
			found++
			if got[0].First <= at && at <= got[0].Last {
				inside++
			}
			if got[0].At == at {
				exact++
			}
		}
		t.Logf("factor %v: one change in %d of 100, in its range in %d, exact in %d", c.factor, found, inside, exact)
		if found < c.found || inside < c.inside {
			t.Errorf("factor %v: one change in %d of 100, in its range in %d; want %d and %d", c.factor, found, inside, c.found, c.inside)
		}
	}
}

// TestLevelChangesFalseAlarms: of 500 series without a change, no more have one than alpha says, for
// normal noise and for noise with outliers.
func TestLevelChangesFalseAlarms(t *testing.T) {
	const series, alpha = 500, 0.01
	for _, c := range []struct {
		name string
		most int
		next func(r *rand.Rand) float64
	}{
		{"normal", 11, func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() }},
		{"outliers", 14, func(r *rand.Rand) float64 {
			if r.IntN(15) == 0 {
				return 0.3 * r.Float64()
			}
			return 0.02 * r.NormFloat64()
		}},
	} {
		r := rand.New(rand.NewPCG(11, 3))
		alarms := 0
		for range series {
			v := make([]float64, 40)
			for i := range v {
				v[i] = 1e8 * (1 + c.next(r))
			}
			if len(LevelChanges(v, alpha)) > 0 {
				alarms++
			}
		}
		t.Logf("%s: %d of %d series", c.name, alarms, series)
		if alarms > c.most {
			t.Errorf("%s: a change in %d of %d series without one, want at most %d", c.name, alarms, series, c.most)
		}
	}
}

// TestLevelChangesOf: changes whose place is known, and what is none.
func TestLevelChangesOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	noisy := func(levels ...float64) (out []float64) {
		for _, l := range levels {
			out = append(out, l*(1+0.005*r.NormFloat64()))
		}
		return out
	}
	repeat := func(l float64, n int) (out []float64) {
		for range n {
			out = append(out, l)
		}
		return out
	}
	join := func(parts ...[]float64) (out []float64) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	for _, c := range []struct {
		name string
		v    []float64
		at   []int
	}{
		{"constant", repeat(4, 30), nil},
		{"constant, then another", join(repeat(4, 12), repeat(5, 12)), []int{12}},
		{"one outlier", join(noisy(repeat(1, 15)...), []float64{1.8}, noisy(repeat(1, 15)...)), nil},
		{"the last is an outlier", join(noisy(repeat(1, 20)...), []float64{1.5}), nil},
		{"up and down again", join(noisy(repeat(1, 15)...), noisy(repeat(1.2, 10)...), noisy(repeat(1, 15)...)), []int{15, 25}},
		{"few values", join(repeat(1, 3), repeat(2, 3)), nil},
		{"the last three", join(noisy(repeat(1, 25)...), noisy(repeat(1.1, 3)...)), []int{25}},
	} {
		got := LevelChanges(c.v, 0.01)
		same := len(got) == len(c.at)
		for i := range got {
			same = same && got[i].At == c.at[i] && !got[i].Drift
		}
		if !same {
			t.Errorf("%s: %+v, want changes at %v", c.name, got, c.at)
		}
	}
	drift := make([]float64, 40)
	for i := range drift {
		drift[i] = 1 + 0.01*float64(i) + 0.01*r.NormFloat64()
	}
	if got := LevelChanges(drift, 0.01); len(got) == 0 || !got[0].Drift {
		t.Errorf("a drift of 40%% in 40 values: %+v", got)
	}
}

func TestLevelChangesOfNothing(t *testing.T) {
	for _, v := range [][]float64{nil, {1}, {math.MaxFloat64, 0, 0, 0, 0, 0, 0, 0, 0}, {1e9, 0, 0, 0, 0, 0, 0, 0, 0}} {
		if got := LevelChanges(v, 0.01); len(got) != 0 {
			t.Errorf("%v: %+v", v, got)
		}
	}
}

// TestDrift: a line with little noise is a drift, from one end of it to the other; a step is none, and a line that the
// noise hides has no change at all.
func TestDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	drifts, steps := 0, 0
	for range 25 {
		var line, step []float64
		for i := range 40 {
			noise := 1 + 0.01*r.NormFloat64()
			line = append(line, noise*(100+0.5*float64(i)))
			step = append(step, noise*(100+10*float64(i/20)))
		}
		if from, to, ok := Drift(line, LevelChanges(line, 0.01)); ok && math.Abs(from-100) < 2 && math.Abs(to-119.5) < 2 {
			drifts++
		}
		if _, _, ok := Drift(step, LevelChanges(step, 0.01)); ok {
			steps++
		}
	}
	if drifts < 24 || steps > 0 {
		t.Errorf("%d of 25 lines and %d of 25 steps are drifts", drifts, steps)
	}
	if _, _, ok := Drift([]float64{1, 2, 1, 2, 1, 2, 1, 2, 1}, nil); ok {
		t.Error("values without a change drift")
	}
}
