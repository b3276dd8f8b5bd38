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
	Offset  int64   // what is added to times of samples, ns
	Error   int64   // how much Offset may be wrong, ns
	Others  []int64 // offsets that fit nearly as well: programs repeat themselves
	Samples int     // in the window of the trace
	Excess  float64 // how far the fit is above those of wrong clocks, in standard deviations of these
	period  int64   // median distance of samples, ns
}

const (
	fewest    = 100         // samples in the window
	symbols   = 16          // states and functions that count by themselves; the last is all others
	effort    = 400_000_000 // updates of tables that a search may take
	least     = 11.0        // Fit.Excess
	clearly   = 1.5         // how many times the best fit of a wrong clock
	alike     = 0.8         // part of the best fit from which another offset may be the right one
	mostAlike = 8           // Fit.Others
)

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
	at     []int64   // times of samples since the first one, ns
	inner  []uint8   // innermost frames of samples
	logs   []float64 // n ln n
	step   int64     // between lags, in cells
	need   int64     // of both recordings that overlap, in cells
	thin   int       // one in so many samples counts
}

// Align finds the offset of the clock of a sampler, if a thread of it is the launching thread of a GPU. Otherwise it
// returns why there is none.
func Align(g *GPU, t *profile.Timed) (f Fit, why string) {
	if len(t.At) < fewest {
		return f, fmt.Sprintf("the thread has %d samples, and %d are needed: record for longer", len(t.At), fewest)
	}
	s, period := newSearch(g, t)
	f.period = period
	switch inside := s.plan(period); {
	case slices.Max(s.inner) == 0:
		return f, "the thread shows one function all the time"
	case len(s.states) == 0 || slices.Max(s.states) == 0:
		return f, "the launching thread of the trace is in one state all the time"
	case inside < fewest:
		return f, fmt.Sprintf("only %.0f samples can be in the window of the trace, and %d are needed: record for longer", inside, fewest)
	case inside/float64(s.thin) < fewest:
		return f, "the recordings are too long to compare: give the part of the sampler's recording that has the trace"
	}
	fits, first := s.scan(1)
	most, mean, squares := 0.0, 0.0, 0.0
	for _, rate := range wrongRates {
		list, _ := s.scan(rate)
		wrong := slices.Max(list)
		most, mean, squares = max(most, wrong), mean+wrong/float64(len(wrongRates)), squares+wrong*wrong/float64(len(wrongRates))
	}
	best := slices.Index(fits, slices.Max(fits))
	f.Excess = (fits[best] - mean) / max(math.Sqrt(squares-mean*mean), 0.05*mean, 2)
	if f.Excess < least || fits[best] < clearly*most {
		return f, fmt.Sprintf("no offset of the two clocks fits clearly better than a wrong one (%.1f standard deviations, and %.0f are needed)", max(0, f.Excess), least)
	}
	for _, i := range append(s.others(fits, best, period), best) {
		lag := s.refine(first+int64(i)*s.step, &f)
		f.Offset = g.Window.Start + lag*s.cell - t.At[0]
		f.Others = append(f.Others, f.Offset)
	}
	f.Others = f.Others[:len(f.Others)-1] // the last one is the best
	if f.Error > period/4 {
		return f, fmt.Sprintf("the offset of the two clocks is uncertain by %.1f ms", float64(f.Error)/1e6)
	}
	return f, ""
}

// newSearch prepares a search. It also returns the median distance of samples.
func newSearch(g *GPU, t *profile.Timed) (s *search, period int64) {
	s = &search{cell: max(1, g.Cell)}
	var distances []int64
	for i, at := range t.At {
		s.at = append(s.at, at-t.At[0])
		distances = append(distances, at-t.At[max(0, i-1)])
	}
	slices.Sort(distances)
	s.states = ranked(g.States, func(n uint16) uint16 { return n })
	s.inner = ranked(t.Stacks, func(n int32) profile.Frame { return t.Inner[n] })
	s.logs = make([]float64, len(s.at)+1)
	for n := 2; n < len(s.logs); n++ {
		s.logs[n] = float64(n) * math.Log(float64(n))
	}
	return s, max(s.cell, distances[len(distances)/2])
}

// plan sets how closely the search looks, so that its effort is limited. It returns the number of samples that can be in
// the window of the trace.
func (s *search) plan(period int64) (inside float64) {
	window, length := int64(len(s.states)), s.at[len(s.at)-1]/s.cell+1
	s.step, s.need = max(1, period/4/s.cell), min(window, length)/2
	inside = float64(len(s.at)) * min(1, float64(window)/float64(length))
	lags := float64(window+length-2*s.need) / float64(s.step)
	s.thin = 1 + int(min(1e9, lags*inside*float64(1+len(wrongRates))/effort))
	return inside
}

// ranked numbers values by how often they are, from 0, the most frequent. All rare ones have the last number.
func ranked[T any, K comparable](list []T, key func(T) K) []uint8 {
	count, order, number := map[K]int{}, []K{}, map[K]uint8{}
	for _, v := range list {
		k := key(v)
		if count[k]++; count[k] == 1 {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b K) int { return cmp.Compare(count[b], count[a]) })
	for i, k := range order {
		number[k] = uint8(min(i, symbols-1))
	}
	out := make([]uint8, len(list))
	for i, v := range list {
		out[i] = number[key(v)]
	}
	return out
}

// scan returns how well each lag fits, in cells from first in distances of step, for a rate of the clock of the samples.
func (s *search) scan(rate float64) (fits []float64, first int64) {
	at, inner := s.cells(rate, s.thin)
	first = s.need - int64(at[len(at)-1])
	for lag := first; lag <= max(first, int64(len(s.states))-s.need); lag += s.step {
		fits = append(fits, s.fit(at, inner, lag))
	}
	return fits, first
}

// cells returns the times of samples in cells, and their functions.
func (s *search) cells(rate float64, thin int) (at []int32, inner []uint8) {
	for i := 0; i < len(s.at); i += thin {
		at, inner = append(at, int32(min(1<<30, float64(s.at[i])*rate/float64(s.cell)))), append(inner, s.inner[i])
	}
	return at, inner
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
			g, sum, states[c] = g+s.logs[v], sum+v, states[c]+v
		}
		g -= s.logs[sum]
	}
	for _, v := range states {
		g -= s.logs[v]
	}
	return 2 * (g + s.logs[n])
}

// refine returns the best lag near another one, by all samples, and sets the error and the samples of a fit.
func (s *search) refine(near int64, f *Fit) (lag int64) {
	const drop = 16 // of G, for offsets that may be right
	at, _ := s.cells(1, 1)
	near -= max(2*s.step, f.period/s.cell)
	fits := make([]float64, 2*max(2*s.step, f.period/s.cell)+1)
	for i := range fits {
		fits[i] = s.fit(at, s.inner, near+int64(i))
	}
	top := slices.Max(fits)
	best := slices.Index(fits, top)
	from, to := best, best
	for i, v := range fits {
		if v >= top-drop {
			from, to = min(from, i), max(to, i)
		}
	}
	lag, f.Error = near+int64(best), int64(max(1, best-from, to-best))*s.cell
	first, _ := slices.BinarySearch(at, int32(-lag))
	last, _ := slices.BinarySearch(at, int32(int64(len(s.states))-lag))
	f.Samples = last - first
	return lag
}

// others returns the indices of lags that fit nearly as well as the best and are no neighbours of it or of each other.
func (s *search) others(fits []float64, best int, period int64) (out []int) {
	apart := int(max(4, 2*period/(s.step*s.cell)))
	var near []int
	for i, v := range fits {
		if v >= alike*fits[best] {
			near = append(near, i)
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return cmp.Compare(fits[b], fits[a]) })
	for _, i := range near {
		if len(out) < mostAlike && !slices.ContainsFunc(append(out, best), func(t int) bool { return max(t-i, i-t) < apart }) {
			out = append(out, i)
		}
	}
	return out
}
