package gate

import (
	"fmt"
	"slices"
	"strings"

	"assay/judge"
	"assay/summary"
	"assay/unit"
)

// A capture is the quality of a run's captures, which limits the results of gates.
type capture struct {
	doubt string // why numbers may be wrong or too low, or ""
	empty string // why there is too little device work to judge, or ""
	lost  bool   // numbers can only be too low
}

// small are the losses of single records. Under one record in a thousand they
// hide nothing that a gate looks at.
func small(is summary.Issue, events int64) bool {
	single := strings.HasPrefix(is.Code, "event-") || is.Code == "spans-not-paired"
	return single && is.Count <= events/1000
}

// repeated is the issue of inputs with equal ranks that are pooled. A gate treats them
// as separate runs.
const repeated = "rank-repeated"

// captureOf judges the quality of a run's captures.
func captureOf(s *summary.Summary, th judge.Thresholds) capture {
	var c capture
	var events int64
	for _, in := range s.Inputs {
		events = summary.Plus(events, in.Events)
	}
	c.lost = true
	for _, is := range s.Issues {
		if is.Severity == "info" || small(is, events) || is.Code == repeated || is.Code == launchesWithoutKernels {
			continue
		}
		if is.Severity != "data-loss" {
			c.lost = false
		}
		if c.doubt == "" {
			c.doubt = fmt.Sprintf("%s (%s, %s)", is.Code, is.Severity, times(is.Count))
			if is.First != "" {
				c.doubt += " at " + is.First
			}
		}
	}
	for _, in := range s.Inputs {
		if !in.Complete && c.doubt == "" {
			c.doubt = in.Path + " ends early"
		}
	}
	r := judge.Judge(s, th)
	for _, f := range r.Findings {
		if f.Rule == judge.RuleTooLittleWork || f.Rule == judge.RuleNoGPUTime {
			c.empty = f.Title
		}
	}
	if a := r.Unusable(); a != nil {
		c.empty = a.Reason
	}
	if c.empty == "" {
		c.empty = missing(s)
	}
	return c
}

// launchesWithoutKernels is the issue of device work that is missing. It concerns
// metrics of the device only, and its rows say more than its severity.
const launchesWithoutKernels = summary.LaunchesWithoutKernels

// missing says which launches have no device work, or returns "" where at most one
// in a thousand of their kind has none. Those at the end of a capture do not count:
// their work ran after the windows that are measured.
func missing(s *summary.Summary) string {
	for _, r := range s.LaunchLosses {
		few := !r.OfKernels() && r.Missing < summary.FewCopies
		if n, _ := r.InWindow(); !few && n > r.Calls/1000 {
			return fmt.Sprintf("rank %d: %s have no device work (%s)", r.Rank, r.Text(), launchesWithoutKernels)
		}
	}
	return ""
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}

// incomparable says why runs of the two sides do not compare, or returns "". Each
// run must be like the first one of the baseline.
func incomparable(base, now []Run) string {
	for _, q := range []struct {
		what string
		of   func(*summary.Summary) []string
	}{{"devices", deviceNames}, {"profilers", formats}} {
		want := q.of(base[0].Summary)
		for _, side := range []struct {
			runs  []Run
			where string
		}{{base, "in a later run of it"}, {now, "now"}} {
			for _, r := range side.runs {
				if got := q.of(r.Summary); !same(want, got) {
					return fmt.Sprintf("the %s differ: %s in the baseline, %s %s", q.what, tally(want), tally(got), side.where)
				}
			}
		}
	}
	return ""
}

// same reports whether two lists have the same elements, in any order.
func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// deviceNames returns what each device is.
func deviceNames(s *summary.Summary) []string {
	var out []string
	for _, d := range s.Devices {
		name := d.Name
		if name == "" {
			name = "GPU without a name"
		}
		out = append(out, name)
	}
	return out
}

// formats returns what wrote the captures: each profiler has its own overhead.
func formats(s *summary.Summary) []string {
	var out []string
	for _, in := range s.Inputs {
		name, _, _ := strings.Cut(in.Format, "-") // nsys-sqlite and nsys-json come from one profiler
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// tally lists equal names once, with their number: "8 × NVIDIA H100".
func tally(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	names = slices.Clone(names)
	slices.Sort(names)
	var parts []string
	for i := 0; i < len(names); {
		j := i
		for j < len(names) && names[j] == names[i] {
			j++
		}
		part := names[i]
		if j-i > 1 {
			part = fmt.Sprintf("%d × %s", j-i, names[i])
		}
		parts = append(parts, part)
		i = j
	}
	return few(parts)
}

// stepsDiffer says so where runs hold different numbers of steps: then sums over
// the whole capture do not compare.
func stepsDiffer(base, now []Run) string {
	a := len(base[0].Summary.Steps)
	for _, runs := range [][]Run{base, now} {
		for _, r := range runs {
			if b := len(r.Summary.Steps); a != b && a > 0 && b > 0 {
				return fmt.Sprintf("the captures hold different numbers of steps (%d in the baseline, %d in %s)", a, b, r.Name())
			}
		}
	}
	return ""
}
