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
	is := summary.Issue{Code: "samples-joined", Severity: diag.Info.String(), First: file}
	text, in, why := c.join(s, file, threads)
	if is.Help, is.Count = text, int64(in); why != "" {
		is.Code, is.Count = "samples-not-joined", 1
		is.Help = "The samples name no functions in the idle time of " + s.Inputs[0].Path + ": " + why + "."
	}
	s.Issues = append(s.Issues, is)
	s.Sort()
	return why == ""
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

// join finds the thread and the offset, and divides the idle time. It returns how it did, with the number of samples, or
// why it did not.
func (c *Capture) join(s *summary.Summary, file string, threads []profile.Timed) (text string, in int, why string) {
	g, list := c.largest(), ofProcess(s.Inputs[0].Process, threads)
	switch {
	case c.Python:
		return "", 0, "the trace has Python functions of its own"
	case g == nil:
		return "", 0, fmt.Sprintf("no idle time of %s or longer waits for code that the trace does not record", unit.Duration(leastNS))
	case len(list) == 0:
		return "", 0, fmt.Sprintf("they are of process %d, and the trace is of process %s", threads[0].PID, s.Inputs[0].Process)
	}
	var fit Fit
	var thread *profile.Timed
	for _, t := range list {
		f, not := Align(g, t)
		if not == "" && (thread == nil || f.Excess > fit.Excess) {
			fit, thread = f, t
		}
		why = cmp.Or(why, not)
	}
	if thread == nil {
		return "", 0, why + ". With with_stack=True the trace has the functions itself"
	}
	whole := splits(g, &fit, hits(g, thread, &fit, fit.Offset))
	for _, offset := range fit.Others {
		if !sameParts(whole, splits(g, &fit, hits(g, thread, &fit, offset))) {
			return "", 0, fmt.Sprintf("the program repeats itself, so that offsets that differ by %s fit as well, and the functions differ between them",
				unit.Duration(max(fit.Offset-offset, offset-fit.Offset)))
		}
	}
	for i := range c.GPUs {
		if c.GPUs[i].Process == g.Process {
			in += fill(s, &c.GPUs[i], &fit, thread, file)
		}
	}
	if in == 0 {
		return "", 0, fmt.Sprintf("fewer than %d samples are in idle time that waits for code which the trace does not record: record for longer", fewestIn)
	}
	return fit.text(thread, s.Inputs[0].Path, in), in, ""
}

// largest returns the GPU with the most time of waits, or nil if there are none.
func (c *Capture) largest() (g *GPU) {
	most := int64(0)
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

// text says how samples were joined.
func (f *Fit) text(t *profile.Timed, path string, in int) string {
	text := fmt.Sprintf("Samples name the functions in the idle time of %s that waits for code which the trace does not record. ", path)
	text += fmt.Sprintf("%s of thread %q are in its window, %s of them in such waits. ", label.Plural(int64(f.Samples), "sample"), cmp.Or(t.Thread, "(no name)"), unit.Count(int64(in)))
	text += fmt.Sprintf("The clocks were aligned by what both recordings show, within %s; wrong clocks fit %.0f standard deviations less. ", unit.Duration(f.Error), f.Excess)
	if len(f.Others) > 0 {
		text += "The program repeats itself, so the samples may be of other steps; the functions are the same for each step that fits. "
	}
	return text + fmt.Sprintf("Waits under %s have no functions. error_ns in the JSON is the standard error of a time.", unit.Duration(f.shortest()))
}

// fill divides the rows of one GPU and the causes of its steps. It returns the number of samples.
func fill(s *summary.Summary, g *GPU, f *Fit, t *profile.Timed, file string) (in int) {
	by := splits(g, f, hits(g, t, f, f.Offset))
	for cause := range g.Causes {
		x, of := by[cause], g.Causes[cause]
		at := slices.IndexFunc(s.Idle, func(r summary.Idle) bool {
			return r.Device == g.Device && r.Owner == summary.OwnerHost && of == Cause{r.State, r.Name}
		})
		if at < 0 || x == nil || x.samples < fewestIn || x.ns > s.Idle[at].NS {
			continue
		}
		in += int(x.samples)
		shares, whole := x.shares(), s.Idle[at]
		for _, sh := range shares {
			row, n := whole, max(1, int64(sh.count+0.5))
			row.State, row.Name, row.NS, row.Count, row.MaxNS = summary.StatePython, sh.name, sh.ns, n, min(sh.longest, sh.ns)
			row.ShortGapsNS, row.Sampler, row.ErrorNS = 0, file, sh.error
			s.Idle = append(s.Idle, row)
			s.Idle[at].NS, s.Idle[at].Count = s.Idle[at].NS-sh.ns, max(1, s.Idle[at].Count-n)
		}
		s.Idle[at].Name, s.Idle[at].MaxNS = cmp.Or(of.Name, noSample), min(whole.MaxNS, s.Idle[at].NS)
		divideSteps(s, g, of, shares, whole.NS-whole.ShortGapsNS)
	}
	s.Idle = slices.DeleteFunc(s.Idle, func(r summary.Idle) bool { return r.NS <= 0 })
	return in
}

// divideSteps divides the idle time of single steps in the same proportions: samples are too few for one step.
func divideSteps(s *summary.Summary, g *GPU, of Cause, shares []share, whole int64) {
	for i := range s.Steps {
		st := &s.Steps[i]
		at := slices.IndexFunc(st.Idle, func(r summary.StepIdle) bool {
			return r.Owner == summary.OwnerHost && of == Cause{r.State, r.Name}
		})
		if at < 0 || st.Device != g.Device {
			continue
		}
		for long, k := st.Idle[at].NS-st.Idle[at].ShortGapsNS, 0; k < len(shares); k++ {
			ns := int64(float64(shares[k].ns) / float64(whole) * float64(long))
			st.Idle = append(st.Idle, summary.StepIdle{Owner: summary.OwnerHost, State: summary.StatePython, Name: shares[k].name, NS: ns, Count: 1})
			st.Idle[at].NS -= ns
		}
		st.Idle[at].Name = cmp.Or(of.Name, noSample)
		st.Idle = slices.DeleteFunc(st.Idle, func(r summary.StepIdle) bool { return r.NS <= 0 })
		slices.SortStableFunc(st.Idle, func(a, b summary.StepIdle) int { return cmp.Compare(b.NS, a.NS) })
	}
}
