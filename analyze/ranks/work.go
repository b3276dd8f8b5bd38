package ranks

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/summary"
)

func (m Member) gpu() summary.GPU { return summary.GPU{Input: m.Input, Rank: m.Rank, Device: m.Device} }

// work has the compute kernels and the idle time of the members of a job, by name.
type work struct {
	members  int
	cut      []bool            // inputs that ended early, by member
	kernels  map[string][]cell // by name: one cell a member
	launches []int64           // of compute kernels, by member
	experts  []int64           // ns of grouped matrix products
	idle     []int64
	late     map[[2]string][]cell // host-late idle time by state and name
}

// A cell has the sums of one member.
type cell struct{ count, ns int64 }

// workOf collects the work of the members of a job from the rows of a summary.
func (j *Job) workOf(s *summary.Summary) *work {
	w := &work{members: len(j.members), kernels: map[string][]cell{}, late: map[[2]string][]cell{},
		launches: make([]int64, len(j.members)), experts: make([]int64, len(j.members)), idle: make([]int64, len(j.members))}
	at := map[summary.GPU]int{}
	for i, m := range j.members {
		w.cut = append(w.cut, m.Cut)
		at[m.gpu()] = i
	}
	for i := range s.Kernels {
		k := &s.Kernels[i]
		m, ok := at[summary.GPU{Input: k.Input, Rank: k.Rank, Device: k.Device}]
		if !ok || k.Class != "compute" || k.Pooled() {
			continue
		}
		addCell(w.members, w.kernels, k.Name, m, k.Count, k.TotalNS)
		w.launches[m] = summary.Plus(w.launches[m], k.Count)
		if ofExperts(k.Name) {
			w.experts[m] = summary.Plus(w.experts[m], k.TotalNS)
		}
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		if m, ok := at[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]; ok {
			w.idle[m] = d.Activity.Idle()
		}
	}
	for i := range s.Idle {
		r := &s.Idle[i]
		if m, ok := at[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}]; ok && r.Owner == summary.OwnerHost {
			addCell(w.members, w.late, [2]string{r.State, r.Name}, m, r.Count, r.NS)
		}
	}
	return w
}

// addCell adds to the cell of a member.
func addCell[K comparable](members int, table map[K][]cell, key K, m int, count, ns int64) {
	row := table[key]
	if row == nil {
		row = make([]cell, members)
		table[key] = row
	}
	row[m].count, row[m].ns = summary.Plus(row[m].count, count), summary.Plus(row[m].ns, ns)
}

// grouped has parts of the names of kernels that multiply the matrices of several experts.
var grouped = []string{"grouped_gemm", "groupedgemm", "group_gemm", "groupgemm", "grouped_mm", "moe_gemm", "moegemm",
	"fused_moe_kernel"}

func ofExperts(kernel string) bool {
	name := strings.ToLower(kernel)
	return slices.ContainsFunc(grouped, func(word string) bool { return strings.Contains(name, word) })
}

// alike returns the similarity of the launches of two members, from 0 to 1: launches of kernels that
// both have, as a share of those that either has. A member without compute kernels is like all
// others. A member whose input ended early is compared only by the kernels that it has.
func (w *work) alike(a, b int) float64 {
	if w.launches[a] == 0 || w.launches[b] == 0 {
		return 1
	}
	both, any := int64(0), int64(0)
	for _, row := range w.kernels {
		both, any = both+min(row[a].count, row[b].count), any+max(row[a].count, row[b].count)
	}
	for _, m := range []int{a, b} {
		if w.cut[m] {
			any = min(any, w.launches[m])
		}
	}
	return float64(both) / float64(max(1, any))
}

// compare compares each member with the other members of its class. The result of a member alone in
// its class is nil.
func (w *work) compare(class []int) []*summary.Comparison {
	out := make([]*summary.Comparison, w.members)
	byClass := map[int][]int{}
	for m, c := range class {
		byClass[c] = append(byClass[c], m)
	}
	for _, members := range byClass {
		if len(members) > 1 {
			w.compareClass(members, out)
		}
	}
	return out
}

// compareClass sets the comparisons of the members of one class.
func (w *work) compareClass(members []int, out []*summary.Comparison) {
	sum := int64(0)
	for _, m := range members {
		out[m] = &summary.Comparison{With: len(members) - 1, IdleNS: w.idle[m], ExpertNS: w.experts[m]}
		sum = summary.Plus(sum, w.experts[m])
	}
	idle := mediansOfOthers(members, func(m int) int64 { return w.idle[m] })
	for i, m := range members {
		out[m].IdleOthersNS = idle[i]
		out[m].ExpertOthersNS = (sum - w.experts[m]) / int64(len(members)-1)
	}
	type ratio struct{ own, others int64 }
	same := make(map[int][]ratio, len(members))
	for _, row := range w.kernels {
		counts := mediansOfOthers(members, func(m int) int64 { return row[m].count })
		times := mediansOfOthers(members, func(m int) int64 { return row[m].ns })
		for i, m := range members {
			c := out[m]
			if row[m].count > 0 && row[m].count == counts[i] {
				c.SameNS, c.SameOthersNS = summary.Plus(c.SameNS, row[m].ns), summary.Plus(c.SameOthersNS, times[i])
				c.Kernels++
				same[m] = append(same[m], ratio{row[m].ns, times[i]})
				continue
			}
			c.MoreNS, c.MoreOthersNS = summary.Plus(c.MoreNS, row[m].ns), summary.Plus(c.MoreOthersNS, times[i])
		}
	}
	for _, m := range members {
		c := out[m]
		half := (float64(c.SameNS)/float64(max(1, c.SameOthersNS)) - 1) / 2
		for _, r := range same[m] {
			if half > 0 && float64(r.own)/float64(max(1, r.others))-1 >= half {
				c.Longer++
			}
		}
	}
	w.compareIdle(members, out)
}

// compareIdle finds, for each member with more idle time than the others, what its CPU did in the
// additional idle time.
func (w *work) compareIdle(members []int, out []*summary.Comparison) {
	keys := make([][2]string, 0, len(w.late))
	for key := range w.late {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, key := range keys {
		row := w.late[key]
		others := mediansOfOthers(members, func(m int) int64 { return row[m].ns })
		for i, m := range members {
			if c := out[m]; row[m].ns-others[i] > c.InNS-c.InOthersNS {
				c.IdleState, c.IdleIn, c.InNS, c.InOthersNS = key[0], key[1], row[m].ns, others[i]
			}
		}
	}
}

// mediansOfOthers returns for each of two or more members the median of the values of the others.
func mediansOfOthers(members []int, value func(m int) int64) []int64 {
	own := make([]int64, len(members))
	for i, m := range members {
		own[i] = value(m)
	}
	return stat.MediansOfOthers(own)
}
