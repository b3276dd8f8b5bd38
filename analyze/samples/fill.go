package samples

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/profile"
	"assay/internal/unit"
	"assay/summary"
)

// mostThreads is the number of threads of a sampler that are compared with a launching thread, those with most samples.
const mostThreads = 12

// noSample is the name of the idle time of a cause without a name that no sample has divided.
const noSample = "(no sample)"

// Join divides the idle time of one trace that waits for code which the trace does not record, by the samples of the
// threads of a file. The summary must be that of the trace alone. It adds an issue that says how, or why not, and reports
// whether it did.
func Join(s *summary.Summary, c *Capture, file string, threads []profile.Timed) bool {
	why := c.refuses(s, threads)
	if why == "" {
		if why = c.join(s, file, threads); why == "" {
			return true
		}
	}
	s.Issues = append(s.Issues, summary.Issue{Code: "samples-not-joined", Severity: diag.Info.String(), Count: 1, First: file,
		Help: "The samples name no functions in the idle time of " + s.Inputs[0].Path + ": " + why + ". With with_stack=True the trace has the functions itself."})
	s.Sort()
	return false
}

// refuses returns why samples cannot be joined whatever their times are, or "".
func (c *Capture) refuses(s *summary.Summary, threads []profile.Timed) string {
	waits := 0
	for i := range c.GPUs {
		waits += len(c.GPUs[i].Waits)
	}
	switch {
	case c.Python:
		return "the trace has Python functions of its own"
	case waits == 0:
		return fmt.Sprintf("no idle time of %s or longer waits for code that the trace does not record", unit.Duration(leastNS))
	case len(threads) == 0:
		return "the file has no times of samples"
	case len(ofProcess(s.Inputs[0].Process, threads)) == 0:
		return fmt.Sprintf("they are of process %d, and the trace is of process %s", threads[0].PID, s.Inputs[0].Process)
	}
	return ""
}

// ofProcess returns the threads that may be of a process, those with most samples first.
func ofProcess(pid string, threads []profile.Timed) (out []*profile.Timed) {
	for i := range threads {
		if t := &threads[i]; t.PID == 0 || pid == "" || strconv.FormatInt(t.PID, 10) == pid {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *profile.Timed) int { return cmp.Compare(len(b.At), len(a.At)) })
	return out[:min(len(out), mostThreads)]
}

// join finds the thread and the offset, and divides the idle time. It returns why it did not, or "".
func (c *Capture) join(s *summary.Summary, file string, threads []profile.Timed) (why string) {
	var fit Fit
	var thread *profile.Timed
	g := c.largest()
	for _, t := range ofProcess(s.Inputs[0].Process, threads) {
		f, not := Align(g, t)
		if not == "" && (thread == nil || f.Excess > fit.Excess) {
			fit, thread = f, t
		}
		why = cmp.Or(why, not)
	}
	if thread == nil {
		return why
	}
	of := functions(thread)
	first := hits(g, thread, of, &fit, fit.Offset)
	whole := splits(g, &fit, first)
	for _, offset := range fit.Others {
		if !sameParts(whole, splits(g, &fit, hits(g, thread, of, &fit, offset))) {
			return fmt.Sprintf("the program repeats itself, so that offsets that differ by %s fit as well, and the functions differ between them",
				unit.Duration(max(fit.Offset-offset, offset-fit.Offset)))
		}
	}
	in := 0
	for i := range c.GPUs {
		if c.GPUs[i].Process != g.Process {
			continue
		}
		list := hits(&c.GPUs[i], thread, of, &fit, fit.Offset)
		if fill(s, &c.GPUs[i], splits(&c.GPUs[i], &fit, list), list, thread, of, file) {
			in += len(list)
		}
	}
	if in == 0 {
		return fmt.Sprintf("%s in idle time that waits for code which the trace does not record, and %d of one cause are needed: record for longer",
			label.Plural(int64(len(first)), "sample"), fewestIn)
	}
	s.Issues = append(s.Issues, fit.issue(file, thread, s.Inputs[0].Path, in))
	s.Sort()
	return ""
}

// largest returns the GPU with the most time of waits.
func (c *Capture) largest() (g *GPU) {
	most := int64(-1)
	for i := range c.GPUs {
		ns := int64(0)
		for _, w := range c.GPUs[i].Waits {
			ns += w.Len()
		}
		if ns > most {
			g, most = &c.GPUs[i], ns
		}
	}
	return g
}

// issue says how samples were joined.
func (f *Fit) issue(file string, t *profile.Timed, path string, in int) summary.Issue {
	help := fmt.Sprintf("Samples name the functions in the idle time of %s that waits for code which the trace does not record: %s of thread %q are in its window, %s in such waits. ",
		path, label.Plural(int64(f.Samples), "sample"), cmp.Or(t.Thread, "(no name)"), unit.Count(int64(in)))
	help += fmt.Sprintf("The clocks were aligned by what both recordings show, within %s; wrong clocks fit %.0f standard deviations less. ",
		unit.Duration(f.Error), f.Excess)
	if f.Rate != 1 {
		help += fmt.Sprintf("The clock of the sampler was corrected by %.0f parts per million. ", (f.Rate-1)*1e6)
	}
	if len(f.Others) > 0 {
		help += "The program repeats itself, so the samples may be of other steps; the functions are the same for each step that fits. "
	}
	help += fmt.Sprintf("Waits under %s have no functions. Times are the part of the samples; error_ns in the JSON is their standard error.", unit.Duration(f.shortest()))
	return summary.Issue{Code: "samples-joined", Severity: diag.Info.String(), Count: int64(in), First: file, Help: help}
}

// fill divides the rows of one GPU, its gaps, and the causes of its steps. It reports whether there were enough samples
// for any of them.
func fill(s *summary.Summary, g *GPU, by map[int]*split, list []hit, t *profile.Timed, of []int, file string) (any bool) {
	for cause, x := range by {
		at := slices.IndexFunc(s.Idle, func(r summary.Idle) bool {
			return r.Device == g.Device && r.Owner == summary.OwnerHost && Cause{r.State, r.Name} == g.Causes[cause]
		})
		if at < 0 || x.samples < fewestIn || x.ns > s.Idle[at].NS {
			continue
		}
		any = true
		shares := x.shares(t, of)
		rest := s.Idle[at]
		for _, sh := range shares {
			row := summary.Idle{Input: rest.Input, Rank: rest.Rank, Device: rest.Device, Owner: summary.OwnerHost, State: summary.StatePython,
				Name: sh.name, NS: sh.ns, Count: max(1, int64(sh.count+0.5)), MaxNS: min(sh.longest, sh.ns), Sampler: file, ErrorNS: sh.error}
			s.Idle = append(s.Idle, row)
		}
		divideSteps(s, g, cause, shares, rest.NS)
		r := &s.Idle[at]
		for _, sh := range shares {
			r.NS -= sh.ns
			r.Count = max(1, r.Count-int64(sh.count+0.5))
		}
		if r.MaxNS = min(r.MaxNS, r.NS); r.Name == "" {
			r.Name = noSample
		}
		names := x.names(t, of)
		nameGaps(s, g, cause, list, names)
	}
	s.Idle = slices.DeleteFunc(s.Idle, func(r summary.Idle) bool { return r.NS <= 0 && r.Device == g.Device && r.Owner == summary.OwnerHost })
	return any
}

// divideSteps divides the idle time of single steps in the same proportions: samples are too few for one step.
func divideSteps(s *summary.Summary, g *GPU, cause int, shares []share, whole int64) {
	for i := range s.Steps {
		st := &s.Steps[i]
		at := slices.IndexFunc(st.Idle, func(r summary.StepIdle) bool {
			return r.Owner == summary.OwnerHost && Cause{r.State, r.Name} == g.Causes[cause]
		})
		if at < 0 || st.Device != g.Device {
			continue
		}
		rest := st.Idle[at]
		for _, sh := range shares {
			part := float64(sh.ns) / float64(whole)
			ns := int64(part * float64(rest.NS-rest.ShortGapsNS))
			if ns == 0 {
				continue
			}
			st.Idle = append(st.Idle, summary.StepIdle{Owner: summary.OwnerHost, State: summary.StatePython, Name: sh.name, NS: ns, Count: 1})
			st.Idle[at].NS -= ns
		}
		if st.Idle[at].Name == "" {
			st.Idle[at].Name = noSample
		}
		st.Idle = slices.DeleteFunc(st.Idle, func(r summary.StepIdle) bool { return r.NS <= 0 })
		slices.SortStableFunc(st.Idle, func(a, b summary.StepIdle) int { return cmp.Compare(b.NS, a.NS) })
	}
}

// nameGaps gives long gaps the function of most of the samples in them.
func nameGaps(s *summary.Summary, g *GPU, cause int, list []hit, names map[int]string) {
	for i := range s.Devices {
		if s.Devices[i].Device != g.Device {
			continue
		}
		gaps := s.Devices[i].LargestGaps
		for k := range gaps {
			gap := &gaps[k]
			if gap.Owner != summary.OwnerHost || (Cause{gap.State, gap.Name}) != g.Causes[cause] {
				continue
			}
			count, all := map[int]int{}, 0
			from, _ := slices.BinarySearchFunc(list, gap.StartNS, func(h hit, at int64) int { return cmp.Compare(h.at, at) })
			for _, h := range list[from:] {
				if h.at >= gap.StartNS+gap.NS {
					break
				}
				count[h.function]++
				all++
			}
			for f, n := range count {
				if n >= fewestOf && 2*n > all {
					gap.State, gap.Name = summary.StatePython, names[f]
				}
			}
		}
	}
}
