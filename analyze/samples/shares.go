package samples

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

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
	weight, squares float64 // sums over the samples
	by              map[string]*share
}

// A hit is a sample within a wait.
type hit struct {
	weight float64 // time that it stands for, ns
	name   string  // of the function
	wait   *Wait
}

// functions returns the name of the function of each stack as PyTorch's profiler writes it, "file.py(12): name", with the
// line of the function that has the most samples.
func functions(t *profile.Timed) (names []string) {
	type key struct{ name, file string }
	count, most, line := map[profile.Frame]int{}, map[key]int{}, map[key]int64{}
	for _, stack := range t.Stacks {
		f := t.Code[stack]
		if k := (key{f.Name, f.File}); count[f] >= most[k] {
			most[k], line[k] = count[f]+1, f.Line
		}
		count[f]++
	}
	for _, f := range t.Code {
		switch n := line[key{f.Name, f.File}]; {
		case f.File == "":
			names = append(names, f.Name)
		case n == 0:
			names = append(names, f.File+": "+f.Name)
		default:
			names = append(names, fmt.Sprintf("%s(%d): %s", f.File, n, f.Name))
		}
	}
	return names
}

// shortest is the length of a wait, in ns, from which its samples are known.
func (f *Fit) shortest() int64 { return max(leastNS, 3*f.Error) }

// hits returns the samples in the waits of a GPU, for one of the offsets of a fit. Next to the ends of a wait a sample
// may be in another one, so it counts only if its distance is more than the error of the offset.
func hits(g *GPU, t *profile.Timed, f *Fit, offset int64) (out []hit) {
	names, k := functions(t), 0
	for i := range g.Waits {
		w := &g.Waits[i]
		from, to := w.Start+f.Error, w.End-f.Error
		if w.Len() < f.shortest() {
			continue
		}
		k += sort.Search(len(t.At)-k, func(n int) bool { return t.At[k+n]+offset >= from })
		for ; k < len(t.At) && t.At[k]+offset < to; k++ {
			ns := f.weight(t, k)
			if t.Until != nil { // a thread that waits may have no samples, so that its stack is old
				ns = min(t.Until[k]+offset, w.End+f.period) - t.At[k] - offset
			}
			out = append(out, hit{float64(ns) * float64(w.Len()) / float64(to-from), names[t.Stacks[k]], w})
		}
	}
	return out
}

// weight returns the time that a sample stands for: half of the time to the samples next to it. A sampler may be late, and
// then take several samples in a row; or it leaves samples out in which the thread waits, so that this time is limited.
func (f *Fit) weight(t *profile.Timed, k int) int64 {
	most := 4 * f.period
	return (min(most, t.At[k]-t.At[max(0, k-1)]) + min(most, t.At[min(k+1, len(t.At)-1)]-t.At[k])) / 2
}

// splits divides the waits of a GPU, by cause.
func splits(g *GPU, f *Fit, list []hit) map[int]*split {
	out := map[int]*split{}
	for _, w := range g.Waits {
		if out[w.Cause] == nil {
			out[w.Cause] = &split{by: map[string]*share{}}
		}
		if w.Len() >= f.shortest() {
			out[w.Cause].ns += w.Len()
		}
	}
	for _, h := range list {
		s := out[h.wait.Cause]
		of := s.by[h.name]
		if of == nil {
			of = &share{name: h.name}
			s.by[h.name] = of
		}
		s.samples, s.weight, s.squares = s.samples+1, s.weight+h.weight, s.squares+h.weight*h.weight
		of.samples, of.weight, of.count = of.samples+1, of.weight+h.weight, of.count+h.weight/float64(h.wait.Len())
		of.longest = max(of.longest, h.wait.Len())
	}
	return out
}

// part returns the part of the samples that a function takes, by weight, and its standard error.
func (s *split) part(name string) (part, sd float64) {
	if of := s.by[name]; of != nil {
		part = of.weight / max(1, s.weight)
	}
	n := s.weight * s.weight / max(1, s.squares)
	p := (part*n + 1) / (n + 2) // so that few samples are never certain
	return part, math.Sqrt(p * (1 - p) / max(1, n))
}

// sameParts reports whether two splits of waits by different samples have the same functions within their errors.
func sameParts(a, b map[int]*split) bool {
	const sds = 3
	for cause, x := range a {
		for name := range x.by {
			p, dp := x.part(name)
			q, dq := b[cause].part(name)
			if math.Abs(p-q) > sds*math.Hypot(dp, dq) && x.samples >= fewestIn {
				return false
			}
		}
	}
	return true
}

// shares returns the functions of waits, those with the most time first. Functions with too few samples are one. Weights
// are scaled to the time of the waits, unless samples are missing: samplers leave out the time in which a thread sleeps.
func (s *split) shares() (out []share) {
	const sds = 3
	scale, other := 1.0, share{name: otherFns}
	if whole := float64(s.ns); s.weight >= whole-sds*math.Sqrt(s.squares) {
		scale = whole / s.weight
	}
	for _, name := range slices.Sorted(maps.Keys(s.by)) {
		x := *s.by[name]
		_, sd := s.part(name)
		x.ns, x.error, x.count = int64(scale*x.weight), int64(math.Ceil(scale*s.weight*sd)), scale*x.count
		if x.samples >= fewestOf {
			out = append(out, x)
			continue
		}
		other.ns, other.count, other.longest = other.ns+x.ns, other.count+x.count, max(other.longest, x.longest)
		other.error = int64(math.Hypot(float64(other.error), float64(x.error)))
	}
	if other.ns > 0 {
		out = append(out, other)
	}
	slices.SortStableFunc(out, func(a, b share) int { return cmp.Compare(b.ns, a.ns) })
	return out
}
