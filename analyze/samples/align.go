package samples

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/internal/profile"
)

// A Fit is an offset between the clock of a sampler and that of a trace.
type Fit struct {
	Origin  int64   // time of the first sample, on its clock, ns
	Offset  int64   // what is added to the time of the first sample, ns
	Rate    float64 // of the clock of the trace, over that of the sampler
	Error   int64   // how much Offset may be wrong, ns
	Others  []int64 // offsets that fit nearly as well: programs repeat themselves
	Samples int     // in the window of the trace
	fits    float64
	period  int64
	Excess  float64 // how far the fit is above those of wrong clocks, in standard deviations of these
}

const (
	fewest    = 100         // samples in the window
	symbols   = 16          // states and functions that are told apart; the last is all others
	effort    = 400_000_000 // updates of tables that a search may take
	mostLags  = 400_000
	least     = 11.0 // Fit.Excess
	clearly   = 1.5  // how many times the best fit of a wrong clock
	alike     = 0.8  // part of the best fit from which another offset may be the right one
	mostAlike = 8    // Fit.Others
	wander    = 12.0 // gain in log-likelihood from which a part of a recording has another offset
)

// Time returns the time of a sample on the clock of the trace, for the offset of the fit or one of the others.
func (f *Fit) Time(at, offset int64) int64 {
	return f.Origin + offset + int64(math.Round(float64(at-f.Origin)*f.Rate))
}

// drifts are the rates that two clocks of one machine may have, as parts per million of difference.
var drifts = []float64{0, -100, -75, -50, -25, 25, 50, 75, 100}

// wrongRates are the rates of the clocks at which no offset is right. They differ by so much that a few steps of a
// program are enough to lose the phase, and by irregular factors.
var wrongRates = func() (rates []float64) {
	for i := range 12 {
		r := 1.07 * math.Pow(1.36/1.07, float64(i)/11)
		rates = append(rates, r, 1/(r+0.011))
	}
	return rates
}()

// A search compares a thread of a sampler with a launching thread.
type search struct {
	states []uint8
	cell   int64
	period int64   // median distance of samples, ns
	origin int64   // time of the first sample
	at     []int64 // since the first sample, ns
	inner  []uint8 // innermost frames
	logs   []float64
}

// Align finds the offset of the clock of a sampler, if a thread of it is the launching thread of a GPU. Otherwise it
// returns why there is none.
func Align(g *GPU, t *profile.Timed) (f Fit, why string) {
	s, why := newSearch(g, t)
	if why != "" {
		return f, why
	}
	window, length := int64(len(s.states))*s.cell, s.at[len(s.at)-1]
	need := min(window, length) / 2
	step := max(1, s.period/4/s.cell)
	lags := ((window + length - 2*need) / s.cell) / step
	inside := float64(len(s.at)) * min(1, float64(window)/float64(length))
	if inside < fewest {
		return f, fmt.Sprintf("only %.0f samples can be in the window of the trace, and %d are needed: record for longer", inside, fewest)
	}
	if lags > mostLags {
		return f, "the recordings are too long to compare: give the part of the sampler's recording that has the trace"
	}
	thin := max(1, int(float64(lags)*inside*float64(1+len(wrongRates))/effort+1))
	if inside/float64(thin) < fewest {
		return f, "the recordings are too long to compare: give the part of the sampler's recording that has the trace"
	}
	fits, first := s.scan(1, thin, step, need)
	var wrong []float64
	for _, rate := range wrongRates {
		list, _ := s.scan(rate, thin, step, need)
		wrong = append(wrong, slices.Max(list))
	}
	best := 0
	for i := range fits {
		if fits[i] > fits[best] {
			best = i
		}
	}
	mean, deviation := meanOf(wrong)
	f.Excess = (fits[best] - mean) / max(deviation, 0.05*mean, 2)
	if f.Excess < least || fits[best] < clearly*slices.Max(wrong) {
		return f, fmt.Sprintf("no offset of the two clocks fits clearly better than a wrong one (%.1f standard deviations, and %.0f are needed)", max(0, f.Excess), least)
	}
	f.Origin, f.period, f.Rate = s.origin, s.period, s.tune(first+int64(best)*step, step)
	lag := s.refine(first+int64(best)*step, step, &f)
	f.Offset = g.Window.Start + lag*s.cell - s.origin
	for _, i := range s.others(fits, best, step) {
		f.Others = append(f.Others, g.Window.Start+s.refine(first+int64(i)*step, step, nil)*s.cell-s.origin)
	}
	if f.Error > s.period/4 {
		return f, fmt.Sprintf("the offset of the two clocks is uncertain by %d ms", f.Error/1e6)
	}
	if far := s.wanders(lag); far > 0 {
		return f, fmt.Sprintf("the times of its samples are not exact: parts of the recording fit at offsets that differ by %d ms", far/1e6)
	}
	return f, ""
}

// newSearch prepares a search, or returns why there can be none.
func newSearch(g *GPU, t *profile.Timed) (*search, string) {
	if len(t.At) < fewest {
		return nil, fmt.Sprintf("the thread has %d samples, and %d are needed: record for longer", len(t.At), fewest)
	}
	s := &search{cell: g.Cell, origin: t.At[0]}
	var steps []int64
	for i, at := range t.At {
		s.at = append(s.at, at-t.At[0])
		if i > 0 {
			steps = append(steps, at-t.At[i-1])
		}
	}
	slices.Sort(steps)
	if s.period = steps[len(steps)/2]; s.period <= 0 {
		return nil, "its samples have no times that differ"
	}
	s.states = ranked(g.States, func(n uint16) uint16 { return n })
	s.inner = ranked(t.Stacks, func(n int32) profile.Frame { return t.Inner[n] })
	s.logs = make([]float64, len(s.at)+1)
	for n := 2; n < len(s.logs); n++ {
		s.logs[n] = float64(n) * math.Log(float64(n))
	}
	if slices.Max(s.inner) == 0 {
		return nil, "the thread shows one function all the time"
	}
	if len(s.states) == 0 || slices.Max(s.states) == 0 {
		return nil, "the launching thread of the trace is in one state all the time"
	}
	return s, ""
}

// ranked numbers values by how often they are, from 0, the most frequent. All rare ones have the last number.
func ranked[T any, K comparable](list []T, key func(T) K) []uint8 {
	count, first := map[K]int{}, map[K]int{}
	for i, v := range list {
		k := key(v)
		if count[k]++; count[k] == 1 {
			first[k] = i
		}
	}
	var order []K
	for k := range count {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b K) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(first[a], first[b])) })
	number := map[K]uint8{}
	for i, k := range order {
		number[k] = uint8(min(i, symbols-1))
	}
	out := make([]uint8, len(list))
	for i, v := range list {
		out[i] = number[key(v)]
	}
	return out
}

// scan returns how well each lag fits, in cells from first in distances of step. Samples count one in thin; their clock
// has a rate. At least need ns of both recordings overlap.
func (s *search) scan(rate float64, thin int, step, need int64) (fits []float64, first int64) {
	var at []int32
	var inner []uint8
	for i := 0; i < len(s.at); i += thin {
		at, inner = append(at, int32(float64(s.at[i])*rate/float64(s.cell))), append(inner, s.inner[i])
	}
	first = need/s.cell - int64(at[len(at)-1])
	last := int64(len(s.states)) - need/s.cell
	for lag := first; lag <= max(first, last); lag += step {
		fits = append(fits, s.fit(at, inner, lag))
	}
	return fits, first
}

// fit returns the G statistic of functions and states: twice the number of samples times their mutual information.
func (s *search) fit(at []int32, inner []uint8, lag int64) (g float64) {
	var table [symbols * symbols]int32
	from, _ := slices.BinarySearch(at, int32(max(-lag, -1)))
	n := 0
	for k := from; k < len(at); k++ {
		i := int64(at[k]) + lag
		if i >= int64(len(s.states)) {
			break
		}
		table[int(inner[k])*symbols+int(s.states[i])]++
		n++
	}
	var states [symbols]int32
	for row := 0; row < len(table); row += symbols {
		sum := int32(0)
		for c, v := range table[row : row+symbols] {
			if v != 0 {
				g += s.logs[v]
				sum += v
				states[c] += v
			}
		}
		g -= s.logs[sum]
	}
	for _, v := range states {
		g -= s.logs[v]
	}
	return 2 * (g + s.logs[n])
}

// tune finds the rate of the sampler's clock at which the samples fit best, and gives them the times of that rate.
func (s *search) tune(near, step int64) (rate float64) {
	const enough = 20 // of G, for a rate other than 1
	exact, best := s.at, 0.0
	var tuned []int64
	for _, ppm := range drifts {
		s.at = make([]int64, len(exact))
		for i, at := range exact {
			s.at[i] = at + int64(math.Round(float64(at)*ppm/1e6))
		}
		var f Fit
		s.refine(near, step, &f)
		if tuned == nil || f.fits > best+enough {
			tuned, best, rate = s.at, f.fits, 1+ppm/1e6
		}
	}
	s.at = tuned
	return rate
}

// refine returns the best lag near another one, by all samples, and sets the error and the samples of a fit.
func (s *search) refine(near, step int64, f *Fit) (lag int64) {
	at := make([]int32, len(s.at))
	for i := range s.at {
		at[i] = int32(s.at[i] / s.cell)
	}
	wide := max(2*step, s.period/s.cell)
	fits := make([]float64, 2*wide+1)
	for i := range fits {
		if fits[i] = s.fit(at, s.inner, near-wide+int64(i)); fits[i] > fits[lag] {
			lag = int64(i)
		}
	}
	const drop = 16 // of G: four standard deviations, because the times of samples are not exact
	from, to := lag, lag
	for i := range fits {
		if fits[i] >= fits[lag]-drop {
			from, to = min(from, int64(i)), max(to, int64(i))
		}
	}
	if f != nil {
		f.fits, f.Samples = fits[lag], 0
		f.Error = max(lag-from, to-lag, 1) * s.cell
		for _, a := range at {
			if i := int64(a) + near - wide + lag; i >= 0 && i < int64(len(s.states)) {
				f.Samples++
			}
		}
	}
	return near - wide + lag
}

// others returns the indices of lags that fit nearly as well as the best and are no neighbours of it.
func (s *search) others(fits []float64, best int, step int64) (out []int) {
	apart := int(max(4, 2*s.period/(step*s.cell)))
	taken := []int{best}
	for len(out) < mostAlike {
		next := -1
		for i := range fits {
			if fits[i] < alike*fits[best] || next >= 0 && fits[i] <= fits[next] || i > 0 && fits[i-1] > fits[i] || i+1 < len(fits) && fits[i+1] > fits[i] {
				continue
			}
			if !slices.ContainsFunc(taken, func(t int) bool { return max(t-i, i-t) < apart }) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		taken, out = append(taken, next), append(out, next)
	}
	return out
}

// wanders returns by how many ns the offsets of parts of the recording differ, if that is more than half a period: samplers
// that write the mean distance of samples instead of their times. It is 0 if all parts fit at one offset.
func (s *search) wanders(lag int64) (ns int64) {
	var table [symbols * symbols]float64
	var inside []int
	for i := range s.at {
		if at := s.at[i]/s.cell + lag; at >= 0 && at < int64(len(s.states)) {
			table[int(s.inner[i])*symbols+int(s.states[at])]++
			inside = append(inside, i)
		}
	}
	for c := range symbols { // the probability of a function in each state
		sum := 0.0
		for r := range symbols {
			table[r*symbols+c] += 0.5
			sum += table[r*symbols+c]
		}
		for r := range symbols {
			table[r*symbols+c] = math.Log(table[r*symbols+c] / sum)
		}
	}
	parts := max(1, min(8, len(inside)/150))
	from, to := int64(0), int64(0)
	for p := range parts {
		part := inside[p*len(inside)/parts : (p+1)*len(inside)/parts]
		likely := func(shift int64) (sum float64) {
			for _, i := range part {
				at := min(max(0, s.at[i]/s.cell+lag+shift), int64(len(s.states))-1)
				sum += table[int(s.inner[i])*symbols+int(s.states[at])]
			}
			return sum
		}
		at, base, most := int64(0), likely(0), wander
		for shift := -8 * s.period / s.cell; shift <= 8*s.period/s.cell; shift++ {
			if gain := likely(shift) - base; gain > most {
				at, most = shift, gain
			}
		}
		from, to = min(from, at), max(to, at)
	}
	if ns = (to - from) * s.cell; ns <= s.period/2 {
		return 0
	}
	return ns
}

func meanOf(list []float64) (mean, deviation float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		deviation += (v - mean) * (v - mean) / float64(len(list)-1)
	}
	return mean, math.Sqrt(deviation)
}
