package advice

import (
	"fmt"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// A lateness is the time in ns by which a late rank exceeds ranks that do the same work: in the
// same kernels, in additional ones, and in idle time.
type lateness struct{ longer, more, idle int64 }

func latenessOf(c *summary.Comparison) lateness {
	idle := c.IdleNS - c.IdleOthersNS
	if idle < 0 { // the others wait in calls of the CPU, which leaves their GPUs idle
		idle = c.InNS - c.InOthersNS
	}
	return lateness{max(0, c.SameNS-c.SameOthersNS), max(0, c.MoreNS-c.MoreOthersNS), max(0, idle)}
}

// A difference below the share notable of all differences of a rank is not mentioned. One above
// mainShare is taken as the cause.
const (
	notable   = 0.1
	mainShare = 0.6
)

// WhyLate returns why a rank is late compared with ranks that do the same work: the same kernels
// take longer, it runs other kernels, or it is idle because of its CPU. It returns false if the
// ranks were not compared.
func WhyLate(name string, r summary.RankWait) (evidence []string, ok bool) {
	c := r.Others
	if c == nil {
		return nil, false
	}
	l := latenessOf(c)
	least := int64(notable * float64(l.longer+l.more+l.idle))
	if l.longer > least {
		evidence = append(evidence, fmt.Sprintf("%s: the same kernels take %s, %s (%s longer)%s", name,
			unit.Duration(c.SameNS), onOthers(c, c.SameOthersNS), unit.Share(l.longer, max(1, c.SameOthersNS)), longerHint(c)))
	}
	if l.more > least {
		evidence = append(evidence, fmt.Sprintf("%s: kernels with another number of launches take %s, %s: more work", name,
			unit.Duration(c.MoreNS), onOthers(c, c.MoreOthersNS)))
	}
	switch {
	case l.idle <= least:
	case c.IdleNS < c.IdleOthersNS:
		evidence = append(evidence, fmt.Sprintf("%s: idle for %s in %s, %s: its CPU launches late", name,
			unit.Duration(c.InNS), inHost(c), onOthers(c, c.InOthersNS)))
	default:
		line := fmt.Sprintf("%s: idle for %s, %s: its CPU launches late", name, unit.Duration(c.IdleNS),
			onOthers(c, c.IdleOthersNS))
		switch in := c.InNS - c.InOthersNS; {
		case in > l.idle/2:
			line += fmt.Sprintf(", %s of it in %s", unit.Duration(in), inHost(c))
		case in > 0:
			line += fmt.Sprintf(" in many places, longest in %s (%s)", inHost(c), unit.Duration(in))
		}
		evidence = append(evidence, line)
	}
	return evidence, true
}

// onOthers returns a time of the other ranks: the median, of more than one.
func onOthers(c *summary.Comparison, ns int64) string {
	if c.With == 1 {
		return unit.Duration(ns) + " on the other"
	}
	return "a median of " + unit.Duration(ns) + " on the others"
}

// longerHint says what the number of slower kernels suggests: all of them point to a slower GPU, a
// part to longer inputs.
func longerHint(c *summary.Comparison) string {
	switch {
	case c.Kernels == 1:
		return ", as on a slower GPU"
	case c.Longer == c.Kernels:
		return fmt.Sprintf(": each of %d kernels, as on a slower GPU", c.Kernels)
	}
	return fmt.Sprintf(": %d of %s, as with longer inputs", c.Longer, label.Plural(int64(c.Kernels), "kernel"))
}

// inHost names what the CPU did during the additional idle time. Data loading is named by its state
// as well.
func inHost(c *summary.Comparison) string {
	name := strconv.Quote(finding.Short(c.IdleIn))
	switch {
	case c.IdleState == summary.StateData:
		return "data loading, " + name
	case c.IdleState == summary.StateCollector:
		return "garbage collection, " + name
	case c.IdleIn == "":
		return "code that was not recorded"
	}
	return name
}

// StepsWhenLate says in which steps a rank causes most of the waiting, or returns "" if that is
// unknown.
func StepsWhenLate(r summary.RankWait) string {
	l := r.Late
	switch {
	case l == nil || l.Of < 2:
		return ""
	case l.Count == l.Of:
		return fmt.Sprintf("late in all %s", label.Plural(int64(l.Of), "step"))
	case l.Count == 1:
		return fmt.Sprintf("late in step %d only (of %s)", l.First, label.Plural(int64(l.Of), "step"))
	case l.Count == l.FromFirst:
		return fmt.Sprintf("late from step %d on (%d of %s)", l.First, l.Count, label.Plural(int64(l.Of), "step"))
	}
	return fmt.Sprintf("late in %d of %s, from step %d to step %d", l.Count, label.Plural(int64(l.Of), "step"), l.First,
		l.Last)
}

// AgainstLate returns the fix for the cause that all late ranks have in common, and whether there
// is one.
func AgainstLate(names string, late []summary.RankWait) (step finding.Step, ok bool) {
	id := ""
	for i, r := range late {
		own := againstLate(r.Others)
		if own == "" || i > 0 && own != id {
			return step, false
		}
		id = own
	}
	switch id {
	case "compare-the-gpu":
		return finding.Advise("compare-the-gpu", "ranks", names), true
	case "compare-the-work":
		return finding.Advise("compare-the-work", "ranks", names).For("late-by=work"), true
	case "compare-the-input":
		return finding.Advise("compare-the-input", "ranks", names).For("late-by=input"), true
	}
	return finding.Advise("compare-the-host", "ranks", names).For("late-by=host"), true
}

// againstLate returns the id of the fix for the main cause of a late rank, or "" if no cause
// dominates.
func againstLate(c *summary.Comparison) string {
	if c == nil {
		return ""
	}
	l := latenessOf(c)
	least := int64(mainShare * float64(l.longer+l.more+l.idle))
	switch {
	case l.longer > least && c.Longer == c.Kernels:
		return "compare-the-gpu"
	case l.longer > least || l.more > least:
		return "compare-the-work"
	case l.idle > least && c.IdleState == summary.StateData && c.InNS-c.InOthersNS > l.idle/2:
		return "compare-the-input"
	case l.idle > least:
		return "compare-the-host"
	}
	return ""
}
