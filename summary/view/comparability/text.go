package comparability

import (
	"cmp"
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/summary"
)

// Text returns the sentence of the reason, without an initial capital and a full stop.
func (r Reason) Text() string {
	f := r.New
	if f == nil {
		f = r.Base
	}
	switch r.Code {
	case ClocksImplausible:
		return fmt.Sprintf("%s has GPU timestamps that are not plausible (%s): record the run again", f.named(), f.Issue)
	case RanksIncomparable:
		return fmt.Sprintf("%s has traces of ranks that cannot be compared (%s): give the files of one run", f.named(), f.Issue)
	case DeviceRecordsMissing:
		if f.Loss == nil {
			return fmt.Sprintf("%s is a damaged export, and GPU records are missing from it (%s): record the run again", f.named(), f.Issue)
		}
		why := "have no device work"
		if f.Loss.AtEnd {
			why += ", because the capture ends before it"
		}
		return fmt.Sprintf("%s is incomplete: rank %d: %s %s: record the run again", f.named(), f.Loss.Row.Rank, f.Loss.Row.Text(), why)
	case DataLoss:
		return fmt.Sprintf("%s has lost data (%s): missing events look like saved time", f.run(), strings.Join(f.Names, ", "))
	case DoubtfulValues:
		return fmt.Sprintf("%s has values in doubt (%s)", f.run(), strings.Join(f.Names, ", "))
	}
	return r.difference()
}

// difference returns the sentence of a reason about two runs.
func (r Reason) difference() string {
	a, b := r.Base, r.New
	full := func(verb, base, now, then string) string {
		return fmt.Sprintf("%s %s %s and %s %s %s%s", a.subject(), verb, base, b.subject(), verb, now, then)
	}
	short := func(verb, base, now, then string) string { // like full, without repeating the verb
		return fmt.Sprintf("%s %s %s and %s %s%s", a.subject(), verb, base, b.subject(), now, then)
	}
	list := func(f *Fact, by string) string { return strings.Join(f.Names, by) }
	switch r.Code {
	case OtherHardware:
		return short("ran on", list(a, ", "), "on "+list(b, ", "), ": the GPU models differ, so time differences do not show the effect of the program")
	case HardwareUnknown:
		known, unknown := a, b
		if len(known.Names) == 0 {
			known, unknown = b, a
		}
		return fmt.Sprintf("%s ran on %s and the GPU model of %s is not recorded", known.subject(), list(known, ", "), unknown.subject())
	case OtherDeviceCount:
		return short("ran on", devices(a.Count), "on "+devices(b.Count), ": each does a different part of the work")
	case TooLittleWork:
		return full("has", unit.Count(a.Count)+" operations of GPUs", unit.Count(b.Count), ": single operations are no run")
	case OtherRanks:
		return full("has", ranksText(a.Ranks), ranksText(b.Ranks), ", which may do different parts of the work")
	case OtherClock:
		return short("is a profile of", clockText(a.Names), "of "+clockText(b.Names), ": wall time includes waiting, CPU time does not; give two profiles with the same clock")
	case StepDefinition:
		return fmt.Sprintf("steps of %s are cut by %s and those of %s by %s: times of steps are not compared", a.subject(), list(a, " and "), b.subject(), list(b, " and "))
	case OtherFormat:
		return fmt.Sprintf("the formats are %s (%s) and %s (%s): profilers differ in the events they record and in their overhead",
			list(a, " and "), a.short(), list(b, " and "), b.short())
	}
	return short("has", unit.Count(a.Count)+" step windows", unit.Count(b.Count), "; times per step can be compared, sums over the capture cannot")
}

// clockText names the times of a profile.
func clockText(clocks []string) string {
	words := map[string]string{summary.ClockWall: "wall time", summary.ClockCPU: "CPU time"}
	var list []string
	for _, c := range clocks {
		list = append(list, cmp.Or(words[c], c))
	}
	return strings.Join(list, " and ")
}

// subject names the run as the subject of a sentence.
func (f *Fact) subject() string {
	if f.Run > 0 {
		return fmt.Sprintf("%s run %d", f.Side, f.Run+1)
	}
	return map[string]string{"base": "the base", "new": "the new run"}[f.Side]
}

// run names the run: "the base run".
func (f *Fact) run() string {
	if f.Run == 0 && f.Side == "base" {
		return "the base run"
	}
	return f.subject()
}

// named names the run and its file.
func (f *Fact) named() string { return fmt.Sprintf("%s (%s)", f.run(), f.Path) }

// short names the run for parentheses.
func (f *Fact) short() string {
	if f.Run > 0 {
		return f.subject()
	}
	return f.Side
}

func ranksText(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	return fmt.Sprintf("%d ranks from %d to %d", len(list), list[0], list[len(list)-1])
}

func devices(n int64) string {
	if n == 1 {
		return "1 device"
	}
	return unit.Count(n) + " devices"
}
