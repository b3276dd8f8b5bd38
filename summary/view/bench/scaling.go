package bench

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// A Scaled is the throughput of a program on a number of GPUs.
type Scaled struct {
	GPUs       int64
	Throughput float64
}

// gpusInName finds the number of GPUs in the name of a file that separates its words by "-".
var gpusInName = lazyregexp.New(`\b(?:n-?)?(?:gpus?|world-?size|nproc)-?(\d{1,6})\b|\b(\d{1,6})-?x?-?gpus?\b`)

// words separates the words of a file name: gpus_8.txt and world_size=16.log state numbers of GPUs too.
func words(name string) string {
	return strings.NewReplacer("_", "-", "=", "-").Replace(strings.ToLower(name))
}

// GPUsOf returns the number of GPUs that the name of a file or of its folder states, or 0. It returns 0
// too if the name states several.
func GPUsOf(path string) int64 {
	for _, part := range []string{filepath.Base(path), filepath.Base(filepath.Dir(path))} {
		found := gpusInName().FindAllStringSubmatch(words(part), -1)
		if len(found) > 1 {
			return 0
		}
		if len(found) == 1 {
			n, _ := strconv.ParseInt(found[0][1]+found[0][2], 10, 64)
			return n
		}
	}
	return 0
}

// totals are the metrics of throughput that count the whole job.
var totals = []string{"throughput.samples", "throughput.tokens", "throughput.steps"}

// Scaling returns the throughput on each number of GPUs, sorted, for inputs whose names differ in
// that number and that one program logged. It returns nil if an input states no number or another one
// states the same, and if throughput does not grow: it may then be that of one GPU.
func Scaling(s *summary.Summary) (out []Scaled) {
	rows := map[int][]*summary.Series{}
	for i := range s.Series {
		r := &s.Series[i]
		if slices.Contains(totals, r.Metric) && r.Pooled == 0 && r.Median != nil && *r.Median > 0 {
			rows[r.Input] = append(rows[r.Input], r)
		}
	}
	if len(s.Inputs) < 2 || len(rows) < len(s.Inputs) {
		return nil
	}
	first := rows[0][0]
	for i := range s.Inputs {
		r, gpus := rows[i][0], GPUsOf(s.Inputs[i].Path)
		if len(rows[i]) > 1 || r.Metric != first.Metric || r.Producer != first.Producer || gpus <= 0 ||
			apart(s.Inputs[0].Path, s.Inputs[i].Path) {
			return nil
		}
		out = append(out, Scaled{gpus, *r.Median})
	}
	slices.SortFunc(out, func(a, b Scaled) int { return cmp.Compare(a.GPUs, b.GPUs) })
	for i := 1; i < len(out); i++ {
		if out[i].GPUs == out[i-1].GPUs {
			return nil
		}
	}
	if last := out[len(out)-1]; last.Throughput < leastGrowth*out[0].Throughput {
		return nil
	}
	return out
}

// leastGrowth is the ratio of the throughput on the most to that on the fewest GPUs below which nothing
// shows that it counts all of them.
const leastGrowth = 1.1

// apart reports whether two names differ in more than the number of GPUs, for example in the model.
func apart(a, b string) bool {
	without := func(path string) string {
		return gpusInName().ReplaceAllString(words(filepath.Base(path)), "#")
	}
	return without(a) != without(b)
}

// Efficiencies returns the throughput per GPU relative to that on the fewest GPUs.
func Efficiencies(list []Scaled) (out []float64) {
	for _, p := range list {
		out = append(out, p.Throughput/float64(p.GPUs)/(list[0].Throughput/float64(list[0].GPUs)))
	}
	return out
}
