package samples

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"assay/internal/interval"
	"assay/internal/profile"
)

const (
	fewestIn = 20 // samples in waits of one cause
	fewestOf = 3  // samples of a function
	otherFns = "(other functions)"
)

// A share is the part of the waits of one cause that a function takes.
type share struct {
	name    string
	samples int64
	weight  float64 // time that the samples stand for, ns
	ns      int64
	error   int64   // standard error of ns
	count   float64 // estimated number of waits that it is in
	longest int64   // the longest wait that it is in
}

// A split divides the waits of one cause between functions.
type split struct {
	ns              int64 // of waits that are long enough
	samples         int64
	weight, squares float64 // sums of the weights of samples
	by              map[int]*share
}

// A hit is a sample within a wait.
type hit struct {
	at       int64   // on the clock of the trace
	weight   float64 // time that it stands for, ns
	function int
	wait     *Wait
}

// functions numbers the functions of a thread, whose frames differ by line too.
func functions(t *profile.Timed) (of []int) {
	type key struct{ name, file string }
	index := map[key]int{}
	for _, f := range t.Code {
		k := key{f.Name, f.File}
		if _, ok := index[k]; !ok {
			index[k] = len(index)
		}
		of = append(of, index[k])
	}
	return of
}

// hits returns the samples in the waits of a GPU, for one of the offsets of a fit. Next to the ends of a wait a sample
// may be in another one, so it counts only if its distance is more than the error of the offset.
func hits(g *GPU, t *profile.Timed, of []int, f *Fit, offset int64) (out []hit) {
	k := 0
	for i := range g.Waits {
		w := &g.Waits[i]
		if w.Len() < f.shortest() {
			continue
		}
		in := interval.Span{Start: w.Start + f.Error, End: w.End - f.Error}
		k += sort.Search(len(t.At)-k, func(n int) bool { return f.Time(t.At[k+n], offset) >= in.Start })
		for ; k < len(t.At); k++ {
			at := f.Time(t.At[k], offset)
			if at >= in.End {
				break
			}
			ns := weightOf(t, k, f.period)
			if t.Until != nil { // a thread that waits may have no samples, so that its stack is old
				ns = min(f.Time(t.Until[k], offset), w.End+f.period) - at
			}
			weight := float64(ns) * float64(w.Len()) / float64(in.Len())
			out = append(out, hit{at, weight, of[t.Stacks[k]], w})
		}
	}
	return out
}

// weightOf returns the time that a sample stands for: half of the time to the samples next to it. A sampler may be late, and
// then take several samples in a row; or it leaves samples out in which the thread waits, so that this time is limited.
func weightOf(t *profile.Timed, k int, period int64) int64 {
	const most = 4 // periods
	sum := int64(0)
	if k > 0 {
		sum += min(most*period, t.At[k]-t.At[k-1])
	}
	if k+1 < len(t.At) {
		sum += min(most*period, t.At[k+1]-t.At[k])
	}
	return sum / 2
}

// shortest is the length of a wait, in ns, from which its samples are known.
func (f *Fit) shortest() int64 { return max(leastNS, 3*f.Error) }

// splits divides the waits of a GPU, by cause.
func splits(g *GPU, f *Fit, list []hit) map[int]*split {
	out := map[int]*split{}
	for i := range g.Waits {
		w := &g.Waits[i]
		if out[w.Cause] == nil {
			out[w.Cause] = &split{by: map[int]*share{}}
		}
		if w.Len() >= f.shortest() {
			out[w.Cause].ns += w.Len()
		}
	}
	for _, h := range list {
		s := out[h.wait.Cause]
		of := s.by[h.function]
		if of == nil {
			of = &share{}
			s.by[h.function] = of
		}
		s.samples, s.weight, s.squares = s.samples+1, s.weight+h.weight, s.squares+h.weight*h.weight
		of.samples, of.weight = of.samples+1, of.weight+h.weight
		of.count += h.weight / float64(h.wait.Len())
		of.longest = max(of.longest, h.wait.Len())
	}
	return out
}

// part returns the part of the samples that a function takes, by weight, and its standard error.
func (s *split) part(function int) (share, sd float64) {
	if s.weight <= 0 {
		return 0, 0
	}
	if of := s.by[function]; of != nil {
		share = of.weight / s.weight
	}
	n := s.weight * s.weight / s.squares
	p := (share*n + 1) / (n + 2) // so that few samples are never certain
	return share, math.Sqrt(p * (1 - p) / n)
}

// scale returns the factor from the weights of samples to the time of waits. It is 1 if samples are missing: the sampler
// leaves out the time in which a thread sleeps or waits.
func (s *split) scale() float64 {
	const sds = 3
	if whole := float64(s.ns); s.weight > 0 && s.weight >= whole-sds*math.Sqrt(s.squares) {
		return whole / s.weight
	}
	return 1
}

// sameParts reports whether two splits of the same waits, by different samples, have the same functions within their
// errors.
func sameParts(a, b map[int]*split) bool {
	const sds = 3
	for cause, x := range a {
		y := b[cause]
		if x.samples < fewestIn {
			continue
		}
		if y == nil || y.samples < fewestIn {
			return false
		}
		for f := range x.by {
			p, dp := x.part(f)
			q, dq := y.part(f)
			if math.Abs(p-q) > sds*math.Hypot(dp, dq) {
				return false
			}
		}
	}
	return true
}

// shares returns the functions of waits, those with the most time first. Functions with too few samples are one.
func (s *split) shares(t *profile.Timed, of []int) (out []share) {
	lines := s.names(t, of)
	other := share{name: otherFns}
	scale := s.scale()
	for f, x := range s.by {
		_, sd := s.part(f)
		x.ns, x.error = int64(scale*x.weight), int64(math.Ceil(scale*s.weight*sd))
		if x.name, x.count = lines[f], x.count*scale; x.samples >= fewestOf {
			out = append(out, *x)
			continue
		}
		other.samples, other.ns, other.count = other.samples+x.samples, other.ns+x.ns, other.count+x.count
		other.error, other.longest = int64(math.Hypot(float64(other.error), float64(x.error))), max(other.longest, x.longest)
	}
	if other.ns > 0 {
		out = append(out, other)
	}
	slices.SortFunc(out, func(a, b share) int {
		if a.ns != b.ns {
			return int(min(1, max(-1, b.ns-a.ns)))
		}
		return slices.Compare([]byte(a.name), []byte(b.name))
	})
	return out
}

// names returns the names of the functions as PyTorch's profiler writes them, "file.py(12): name", with the line that
// most samples of the thread have.
func (s *split) names(t *profile.Timed, of []int) map[int]string {
	count := make([]int, len(t.Code))
	for _, stack := range t.Stacks {
		count[stack]++
	}
	lines, out, most := map[profile.Frame]int{}, map[int]string{}, map[int]int{}
	for stack, f := range t.Code {
		lines[f] += count[stack]
		if n := lines[f]; s.by[of[stack]] != nil && n > most[of[stack]] {
			most[of[stack]] = n
			switch {
			case f.File == "":
				out[of[stack]] = f.Name
			case f.Line == 0:
				out[of[stack]] = f.File + ": " + f.Name
			default:
				out[of[stack]] = fmt.Sprintf("%s(%d): %s", f.File, f.Line, f.Name)
			}
		}
	}
	return out
}
