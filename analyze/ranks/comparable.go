package ranks

import (
	"cmp"
	"fmt"
	"hash"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/summary"
)

// Ranks of one run overlap in time, record the same steps, and take about as long for a kernel of one name. The
// limits are far from what clocks and GPUs of a healthy run do, because a rank that is slow is no error.
const (
	// mostApart is the longest time between the captures of one run, in ns. Clocks of machines differ by
	// milliseconds, and users who start profilers by hand are seconds apart.
	mostApart = 60_000_000_000
	// unixTime tells wall clocks from times since the start of a machine, in ns: the year 2001.
	unixTime = 1_000_000_000_000_000_000
	// mostSlower is the largest ratio of the mean times of kernels with the same names. A GPU at its lowest
	// clock is 9 times slower than at its highest.
	mostSlower = 10
	// fewNames is the number of names of kernels below which they must differ by mostSlower twice, because one
	// name may stand for matrices of different sizes.
	fewNames = 3
)

// A capture has what decides whether the trace of one rank can be compared with those of others.
type capture struct {
	input       int
	rank        int
	path        string
	start, end  int64 // of the GPU work, on the wall clock; 0 if the trace has another clock
	first, last int64 // numbers of the steps that the program counts
	steps       bool
	kernels     map[string]cell // compute kernels by name
	times       hash.Hash64     // of its GPUs and steps
	process     string          // with its machine; "" if unknown
	jitter      int             // kernels whose times vary, above those whose times are all the same
}

// NoteIncomparable adds an issue if the traces of the ranks of one run cannot be compared, and reports whether they
// can.
func NoteIncomparable(s *summary.Summary, inputs []int) bool {
	list := capturesOf(s, inputs)
	if len(list) < 2 {
		return true
	}
	for _, test := range []func([]capture) *summary.Issue{apart, copied, otherUnit, otherSteps} {
		if is := test(list); is != nil {
			add(s, *is)
			return false
		}
	}
	return s.Issue("world-sizes-differ") == nil
}

// capturesOf returns the captures with GPU work among some inputs, which have different ranks.
func capturesOf(s *summary.Summary, inputs []int) (list []capture) {
	at := map[int]int{}
	for _, i := range inputs {
		at[i] = -1
	}
	for _, d := range s.Devices {
		n, ok := at[d.Input]
		if !ok || d.WindowNS <= 0 {
			continue
		}
		in := &s.Inputs[d.Input]
		if n < 0 {
			n = len(list)
			at[d.Input] = n
			c := capture{input: d.Input, rank: d.Rank, path: in.Path, kernels: map[string]cell{}, times: fnv.New64a()}
			if in.Process != "" {
				c.process = in.Host + " " + in.Process
			}
			list = append(list, c)
		}
		c := &list[n]
		start := d.StartNS
		if in.BaseTimeNS != nil {
			start = summary.Plus(start, *in.BaseTimeNS)
		}
		if end := summary.Plus(start, d.WindowNS); start >= unixTime {
			if c.end == 0 {
				c.start, c.end = start, end
			}
			c.start, c.end = min(c.start, start), max(c.end, end)
		}
		fmt.Fprint(c.times, d.Device, start, d.WindowNS, d.Events, d.Activity)
	}
	for _, k := range s.Kernels {
		if n, ok := at[k.Input]; ok && n >= 0 && k.Class == "compute" && k.Count > 0 && !k.Pooled() {
			sum := list[n].kernels[k.Name]
			list[n].kernels[k.Name] = cell{summary.Plus(sum.count, k.Count), summary.Plus(sum.ns, k.TotalNS)}
			if k.MinNS < k.MaxNS {
				list[n].jitter++
			} else if k.Count > 1 {
				list[n].jitter--
			}
		}
	}
	for _, st := range s.Steps {
		n, ok := at[st.Input]
		if !ok || n < 0 {
			continue
		}
		c := &list[n]
		fmt.Fprint(c.times, st.StartNS, st.WallNS, st.Activity)
		if !strings.HasPrefix(st.Name, "ProfilerStep#") {
			continue
		}
		if !c.steps {
			c.steps, c.first, c.last = true, st.Number, st.Number
		}
		c.first, c.last = min(c.first, st.Number), max(c.last, st.Number)
	}
	return list
}

// apart tests whether the captures were recorded at about the same time.
func apart(list []capture) *summary.Issue {
	timed := slices.DeleteFunc(slices.Clone(list), func(c capture) bool { return c.end == 0 })
	slices.SortStableFunc(timed, func(a, b capture) int { return cmp.Compare(a.start, b.start) })
	var runs [][]capture
	var gap, end int64
	for _, c := range timed {
		if len(runs) == 0 || c.start-end > mostApart {
			if len(runs) > 0 {
				gap = max(gap, c.start-end)
			}
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], c)
		end = max(end, c.end)
	}
	if len(runs) < 2 {
		return nil
	}
	small := runs[0]
	for _, r := range runs[1:] {
		if len(r) < len(small) || len(r) == len(small) && len(runs) == 2 {
			small = r
		}
	}
	slices.SortFunc(small, func(a, b capture) int { return cmp.Compare(a.input, b.input) })
	help := fmt.Sprintf("%s recorded %s from the other ranks, so these files are of %d runs.", were(small),
		unit.Duration(gap)+" apart", len(runs))
	return incomparable(small, help, "Give the files of one run, or name the runs with --group-by.")
}

// copied tests whether two ranks have the same times of the same process to the nanosecond.
func copied(list []capture) *summary.Issue {
	first := map[string]capture{}
	for _, c := range list {
		if c.process == "" || c.jitter <= 0 { // simulated ranks may be alike
			continue
		}
		times := fmt.Sprint(c.process, c.times.Sum64())
		d, again := first[times]
		if first[times] = c; !again || c.rank == d.rank {
			continue
		}
		return &summary.Issue{Code: rankCopied, Severity: diag.Suspect.String(), Count: 1, First: c.path,
			Help: fmt.Sprintf("The file of rank %d has the process and all times of %s of rank %d, so it is a copy with another rank. No ranks are compared. Give the trace of each rank.",
				c.rank, d.path, d.rank)}
	}
	return nil
}

// otherUnit tests whether kernels of the same names take about as long on all ranks.
func otherUnit(list []capture) *summary.Issue {
	means, of := map[string][]float64{}, map[string][]int{}
	for i, c := range list {
		for name, k := range c.kernels {
			means[name], of[name] = append(means[name], float64(k.ns)/float64(k.count)), append(of[name], i)
		}
	}
	ratios := make([][]float64, len(list))
	for name, own := range means {
		if len(own) < 2 {
			continue
		}
		for n, others := range stat.MediansOfOthers(own) {
			i := of[name][n]
			ratios[i] = append(ratios[i], max(1, own[n])/max(1, others))
		}
	}
	var odd []capture
	for i, c := range list {
		most := float64(mostSlower)
		if len(ratios[i]) < fewNames {
			most *= mostSlower
		}
		if len(ratios[i]) == 0 {
			continue
		}
		if ratio := stat.Median(ratios[i]); ratio > most || ratio < 1/most {
			odd = append(odd, c)
		}
	}
	if len(odd) == len(list) && len(odd) > 0 {
		odd = odd[len(odd)-1:] // none is the rule
	}
	if len(odd) == 0 {
		return nil
	}
	help := fmt.Sprintf("Kernels with the same names take over %d times as long or as short on %s as on the other ranks, so its times are in another unit, or it is of another run.",
		mostSlower, namesOf(odd))
	return incomparable(odd, help, "Give the file that the profiler wrote.")
}

// otherSteps tests whether each rank has a step of which another one has the number.
func otherSteps(list []capture) *summary.Issue {
	counted := slices.DeleteFunc(slices.Clone(list), func(c capture) bool { return !c.steps })
	slices.SortStableFunc(counted, func(a, b capture) int { return cmp.Compare(a.first, b.first) })
	var odd []capture
	before := int64(math.MinInt64) // the last step of the captures before
	for i, c := range counted {
		with := i > 0 && before >= c.first || i+1 < len(counted) && counted[i+1].first <= c.last
		if before = max(before, c.last); !with {
			odd = append(odd, c)
		}
	}
	if len(odd) == 0 || len(counted) < 2 {
		return nil
	}
	help := fmt.Sprintf("%s recorded step %s, and no other rank did.", were(odd[:1]), stepsText(odd[0]))
	return incomparable(odd, help, "Record the same steps on all ranks.")
}

func stepsText(c capture) string {
	if c.first == c.last {
		return fmt.Sprint(c.first)
	}
	return fmt.Sprintf("%d to %d", c.first, c.last)
}

// incomparable returns the issue that names the files that differ from the others.
func incomparable(odd []capture, why, do string) *summary.Issue {
	return &summary.Issue{Code: summary.RanksIncomparable, Severity: diag.Suspect.String(), Count: int64(len(odd)), First: odd[0].path,
		Help: why + " No ranks are compared. " + do}
}

// namesOf names the ranks of captures and the first file.
func namesOf(list []capture) string {
	ranks := map[int]bool{}
	for _, c := range list {
		ranks[c.rank] = true
	}
	var names []string
	for _, r := range slices.Sorted(maps.Keys(ranks)) {
		names = append(names, fmt.Sprint(r))
	}
	noun := "rank "
	if len(names) > 1 {
		noun = "ranks "
	}
	if n := len(names); n > 4 {
		names = append(names[:3:3], fmt.Sprintf("%d more", n-3))
	}
	return noun + strings.Join(names, ", ") + " (" + label.Clip(list[0].path, 80) + ")"
}

// were is namesOf as the subject of a sentence in the past.
func were(list []capture) string {
	name := namesOf(list)
	return strings.ToUpper(name[:1]) + name[1:]
}
