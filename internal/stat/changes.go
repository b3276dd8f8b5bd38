package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A LevelChange is a place in a series of values after which their level is another one.
type LevelChange struct {
	At          int // index of the first value of the new level
	First, Last int // the place is in this range with a confidence of 95%
	// P is the probability that values in any order show as large a change by chance.
	P float64
	// Drift is true if a steady drift fits the values around the place as well as a change in one place.
	Drift bool
}

// Limits of the search for changes of level.
const (
	// FewestOfLevel is the smallest number of values of a level: fewer are outliers.
	FewestOfLevel = 3
	// FewestForChange is the smallest number of values in which changes are searched.
	FewestForChange = 8

	outlying       = 5        // standard deviations beyond which a value counts no further
	orders         = 20_000   // random orders of the values, at most
	orderWork      = 64 << 20 // values in all orders, at most
	ofPairs        = 0.2      // part of alpha for pairs of changes
	longestStretch = 64       // values between such a pair
	enoughBeyond   = 40       // orders with a larger change, after which P is known well enough
	likelihood95   = 7.35     // loss of fit, in variances, of places in the range of 95%: (1-exp(-7.35/2))^2 (Bai 1997)
	evident        = 2        // difference of the criterion from which a line is the better explanation (Kass and Raftery 1995)
	normalMAD      = 1.4826   // standard deviation of a normal distribution by its MAD
)

// LevelChanges returns the places at which the level of the values changes, in ascending order. A
// change is listed if fewer than alpha of all orders of the values show one as large; no
// distribution is assumed, but that values do not depend on their neighbours. Single outliers are
// no change.
//
// The search is by binary segmentation: the largest change first, then those in the stretches
// before and after it.
func LevelChanges(values []float64, alpha float64) []LevelChange {
	scale := 0.0
	for _, x := range values {
		scale = max(scale, math.Abs(x))
	}
	if scale == 0 || math.IsInf(scale, 0) || math.IsNaN(scale) {
		return nil
	}
	values = slices.Clone(values)
	for i := range values {
		values[i] /= scale // so that squares stay finite
	}
	s := levels{values: values, alpha: alpha, random: rand.New(rand.NewPCG(uint64(len(values)), 1))}
	s.search(0, len(values))
	slices.SortFunc(s.found, func(a, b LevelChange) int { return a.At - b.At })
	// A place was found in a stretch with further changes. Now the stretches are known.
	for i := range s.found {
		from, to := 0, len(values)
		if i > 0 {
			from = s.found[i-1].At
		}
		if i+1 < len(s.found) {
			to = s.found[i+1].At
		}
		if to-from >= 2*FewestOfLevel {
			s.place(&s.found[i], from, to)
		}
	}
	return s.found
}

type levels struct {
	values []float64
	alpha  float64
	random *rand.Rand
	found  []LevelChange
}

// search finds the changes between two indices: one that divides the values into two levels, else
// two, between which the level is another one.
func (s *levels) search(from, to int) {
	if to-from < FewestForChange {
		return
	}
	v := clipped(s.values[from:to])
	at, most := largestChange(v)
	if most == 0 {
		return
	}
	places := []int{at}
	p := s.chance(v, len(v), func(v []float64) float64 { _, most := largestChange(v); return most }, most)
	if p >= s.alpha*(1-ofPairs) {
		i, j, most := largestStretch(v)
		places = []int{i, j}
		p = s.chance(v, len(v)*min(len(v), longestStretch), func(v []float64) float64 { _, _, most := largestStretch(v); return most }, most)
		if p >= s.alpha*ofPairs {
			return
		}
	}
	before := from
	for _, i := range append(places, len(v)) {
		if from+i < to {
			c := LevelChange{At: from + i, First: from + i, Last: from + i, P: p}
			s.found = append(s.found, c)
		}
		s.search(before, from+i)
		before = from + i
	}
}

// place sets where the change between two indices is.
func (s *levels) place(c *LevelChange, from, to int) {
	v := clipped(s.values[from:to])
	at, _ := largestChange(v)
	lost := splitLoss(v)
	variance := lost[at] / float64(max(1, len(v)-2))
	first, last := at, at
	for k := FewestOfLevel; k <= len(v)-FewestOfLevel; k++ {
		if lost[k]-lost[at] <= likelihood95*variance {
			first, last = min(first, k), max(last, k)
		}
	}
	c.At, c.First, c.Last = from+at, from+first, from+last
	c.Drift = lineLoss(v) <= lost[at]
}

// chance returns the share of random orders of v whose measure is at least most. Work is what the
// measure costs.
func (s *levels) chance(v []float64, work int, measure func([]float64) float64, most float64) float64 {
	mixed := slices.Clone(v)
	beyond, tries := 1, 1 // the order that was measured
	for tries < min(orders, orderWork/work) && beyond <= enoughBeyond {
		s.random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if measure(mixed) >= most*(1-1e-12) {
			beyond++
		}
		tries++
	}
	return float64(beyond) / float64(tries)
}

// largestChange returns the index that divides v into the two levels that differ most, and how
// much, in a unit that only the order of the values changes. A change of 0 means that all are equal.
func largestChange(v []float64) (at int, most float64) {
	n := float64(len(v))
	mean := mean64(v)
	sum := 0.0
	at = len(v) / 2
	for i, x := range v[:max(0, len(v)-FewestOfLevel)] {
		sum += x - mean
		if k := float64(i + 1); i+1 >= FewestOfLevel {
			if d := math.Abs(sum) / math.Sqrt(k*(n-k)/n); d > most {
				at, most = i+1, d
			}
		}
	}
	if most <= 1e-12*math.Abs(mean)*math.Sqrt(n) { // rounding
		return at, 0
	}
	return at, most
}

// largestStretch returns the indices of the first value of a stretch and of the first one after it,
// whose level differs most from that of all other values, and how much.
func largestStretch(v []float64) (from, to int, most float64) {
	n, mean := len(v), mean64(v)
	sums := make([]float64, n+1)
	for i, x := range v {
		sums[i+1] = sums[i] + x - mean
	}
	for i := FewestOfLevel; i < n; i++ {
		for j := i + FewestOfLevel; j <= min(n-FewestOfLevel, i+longestStretch); j++ {
			k := float64(j - i)
			if d := math.Abs(sums[j]-sums[i]) / math.Sqrt(k*(float64(n)-k)/float64(n)); d > most {
				from, to, most = i, j, d
			}
		}
	}
	return from, to, most
}

// splitLoss returns for each index the sum of squares around the means before and after it.
func splitLoss(v []float64) []float64 {
	mean := mean64(v)
	var sum, square float64
	for _, x := range v {
		square += (x - mean) * (x - mean)
	}
	out := make([]float64, len(v))
	n := float64(len(v))
	for i, x := range v {
		if k := float64(i); i > 0 {
			out[i] = max(0, square-sum*sum*n/(k*(n-k)))
		}
		sum += x - mean
	}
	return out
}

// lineLoss returns the sum of squares around the best line.
func lineLoss(v []float64) (loss float64) {
	mean, middle, slope := mean64(v), float64(len(v)-1)/2, slopeOf(v)
	for i, y := range v {
		d := y - mean - slope*(float64(i)-middle)
		loss += d * d
	}
	return loss
}

// slopeOf returns the slope of the best line.
func slopeOf(v []float64) float64 {
	mean, middle := mean64(v), float64(len(v)-1)/2
	var xx, xy float64
	for i, y := range v {
		x := float64(i) - middle
		xx, xy = xx+x*x, xy+x*(y-mean)
	}
	return xy / xx
}

// Drift returns the values of the best line at both ends. It reports whether the line explains the values better
// than the changes of level that were found in them, by the Bayesian information criterion.
func Drift(values []float64, found []LevelChange) (from, to float64, ok bool) {
	if len(found) == 0 || len(values) < FewestForChange {
		return 0, 0, false
	}
	v, n := clipped(values), float64(len(values))
	loss := 0.0
	for _, x := range residuals(v, found) {
		loss += x * x
	}
	places := float64(len(found))
	line := max(lineLoss(v), 1e-12*loss) // of values on a line exactly
	if loss <= 0 || n*math.Log(line)+2*math.Log(n)+evident > n*math.Log(loss)+(2*places+1)*math.Log(n) {
		return 0, 0, false
	}
	mean, slope := mean64(v), slopeOf(v)
	return mean - slope*(n-1)/2, mean + slope*(n-1)/2, true
}

// residuals returns the differences from the means of the levels.
func residuals(v []float64, found []LevelChange) []float64 {
	out, from := make([]float64, 0, len(v)), 0
	for i := range len(found) + 1 {
		to := len(v)
		if i < len(found) {
			to = found[i].At
		}
		mean := mean64(v[from:to])
		for _, x := range v[from:to] {
			out = append(out, x-mean)
		}
		from = to
	}
	return out
}

// clipped returns a copy in which outliers are nearer to the others.
func clipped(v []float64) []float64 {
	out := slices.Clone(v)
	middle, mad := MAD(v)
	if mad == 0 {
		return out
	}
	far := outlying * normalMAD * mad
	for i, x := range out {
		out[i] = min(max(x, middle-far), middle+far)
	}
	return out
}

func mean64(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
