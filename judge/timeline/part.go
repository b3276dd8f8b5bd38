package timeline

import (
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/summary"
)

// A Part is the part of the windows that the verdict is about: without a long warm-up, and without the time
// in which the GPUs ran work that is missing from the capture. What is drawn and listed beside the verdict
// shows this part.
type Part struct {
	GPUs         []summary.Activity // of each device
	UnrecordedNS int64              // left out, of all GPUs: work that is missing
	OnceNS       int64              // left out, of all GPUs: Once
	Once         string             // "warm-up", or the phases that a program runs only once; "" if nothing

	// Idle is the idle time by cause, and IdleGPUs the activity that it is of: of GPUs, or of the windows with
	// the warm-up where causes are not known without it. IdleOnce is then "", and else Once.
	Idle     []summary.Idle
	IdleGPUs []summary.Activity
	IdleOnce string

	Gaps [][]summary.Gap // the largest gaps of each device
}

// WholeWindows returns the part that is all of the windows of a summary.
func WholeWindows(s *summary.Summary) Part {
	p := Part{Idle: s.Idle}
	for _, d := range s.Devices {
		p.GPUs, p.Gaps = append(p.GPUs, d.Activity), append(p.Gaps, d.LargestGaps)
	}
	p.IdleGPUs = p.GPUs
	return p
}

// Name returns the name of the windows that are left: "the recorded window without warm-up".
func (p Part) Name() string { return p.window(p.Once) }

// IdleName returns the name of the windows that Idle is a part of.
func (p Part) IdleName() string { return p.window(p.IdleOnce) }

func (p Part) window(once string) string {
	text := "window"
	if p.UnrecordedNS > 0 {
		text = "recorded window"
	}
	if once != "" {
		text += " without " + once
	}
	return text
}

// LeftOut says which time of n GPUs is in no row of a breakdown, or returns "". Window is the time of all
// their windows.
func (p Part) LeftOut(window int64, n int64) string {
	if p.UnrecordedNS+p.OnceNS == 0 || n == 0 {
		return ""
	}
	each := ""
	if n > 1 {
		each = " per GPU"
	}
	var list []string
	if p.UnrecordedNS > 0 {
		list = append(list, unit.Duration(unit.Mean(p.UnrecordedNS, n))+each+" in which the GPU ran work that is not in the capture")
	}
	if p.OnceNS > 0 {
		list = append(list, unit.Duration(unit.Mean(p.OnceNS, n))+each+" of "+p.Once)
	}
	return "Left out: " + strings.Join(list, ", and ") + " (of a window of " + unit.Duration(unit.Mean(window, n)) + ")."
}

// judgedPart returns the part of the windows of a summary that is judged, or all that was recorded of them.
func judgedPart(c *Evaluator, of *summary.Summary, judged bool) Part {
	p := WholeWindows(of)
	at := make(map[summary.GPU]int)
	for i, d := range of.Devices {
		at[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = i
	}
	if c.Unrecorded > 0 {
		p.GPUs = slices.Clone(p.GPUs)
		for _, r := range of.Idle {
			if i, ok := at[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}]; ok && r.Owner == summary.OwnerNotRecorded {
				ns := min(r.NS, p.GPUs[i].Idle())
				p.GPUs[i][0], p.UnrecordedNS = p.GPUs[i][0]-ns, summary.Plus(p.UnrecordedNS, ns)
			}
		}
		p.Idle, p.IdleGPUs = withoutUnrecorded(of.Idle), p.GPUs
	}
	if c.Left == "" || !judged {
		return p
	}
	rest, sum := slices.Clone(p.GPUs), summary.Activity{}
	for gpu, once := range onceOf(c) {
		if i, ok := at[gpu]; ok {
			for set, ns := range once {
				rest[i][set] -= ns
			}
		}
	}
	for _, a := range rest {
		if sum = sum.Plus(a); slices.ContainsFunc(a[:], isNegative) {
			return p
		}
	}
	if sum != c.Judged {
		return p
	}
	p.GPUs, p.Once, p.OnceNS = rest, c.Left, c.recorded.Window()-c.Judged.Window()
	if c.Placed {
		p.Idle, p.IdleGPUs, p.IdleOnce, p.Gaps = withoutUnrecorded(c.Idle), rest, c.Left, nil
		for _, d := range c.Devices {
			p.Gaps = append(p.Gaps, d.LargestGaps)
		}
	}
	return p
}

// onceOf returns the activity of each GPU in the warm-up steps, or else in the phases that a program runs once.
func onceOf(c *Evaluator) map[summary.GPU]summary.Activity {
	out := map[summary.GPU]summary.Activity{}
	if c.leftSteps {
		for i, st := range c.Steps {
			if gpu := (summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}); c.states[i] == StepWarmUp {
				out[gpu] = out[gpu].Plus(withinWindow(c, st))
			}
		}
		return out
	}
	for _, p := range c.Phases {
		if slices.ContainsFunc(strings.Split(p.Path, "/"), runsOnce) {
			gpu := summary.GPU{Input: p.Input, Rank: p.Rank, Device: p.Device}
			out[gpu] = out[gpu].Plus(p.Activity)
		}
	}
	return out
}

func withoutUnrecorded(list []summary.Idle) []summary.Idle {
	return slices.DeleteFunc(slices.Clone(list), func(r summary.Idle) bool { return r.Owner == summary.OwnerNotRecorded })
}
