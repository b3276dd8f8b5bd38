package judge

import (
	"fmt"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// compiledLog returns the summary of a log of torch.compile: a function that is compiled for 3 s, and again some times
// for 1 s each, and another one that is compiled once for 6 s.
func compiledLog(again int, guard, breaks string) func(*testing.T) *summary.Summary {
	return func(*testing.T) *summary.Summary {
		s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "trace.log", Format: "torch-trace", Complete: true}}}
		for i := range again + 1 {
			c := summary.Compilation{ID: fmt.Sprintf("0/%d", i), Function: "forward", File: "model.py", Line: 12, Again: int64(i), WallNS: 3000 * ms}
			if i > 0 {
				c.WallNS, c.GuardKind, c.Guard = 1000*ms, guard, "tensor 'x' size mismatch at index 0. expected 8, actual 16"
			}
			s.Compilations = append(s.Compilations, c)
		}
		other := summary.Compilation{ID: "1/0", Function: "loss", File: "loss.py", Line: 3, WallNS: 6000 * ms}
		if breaks != "" {
			other.Breaks = []summary.GraphBreak{{Reason: "why", Kind: breaks, File: "loss.py", Line: 7}}
		}
		s.Compilations = append(s.Compilations, other)
		return s
	}
}

// labelledCompiled are logs of torch.compile.
func labelledCompiled() []labelled {
	return []labelled{
		{name: "compiled again for each of three sizes", label: rule.Recompiles, num: 3000 * ms, den: 12000 * ms, in: compiledLog(3, summary.GuardSize, "")},
		{name: "compiled again twice for a value", label: rule.Recompiles, num: 2000 * ms, den: 11000 * ms, in: compiledLog(2, summary.GuardValue, "")},
		{name: "compiled again nine times for an object", label: rule.Recompiles, num: 9000 * ms, den: 18000 * ms, in: compiledLog(9, summary.GuardOther, "")},
		{name: "compiled again once, to find out that a size changes", label: "", near: rule.Recompiles, in: compiledLog(1, summary.GuardSize, "")},
		{name: "one of two compilations breaks at a branch", label: rule.GraphBreaks, in: compiledLog(0, "", summary.BreakData)},
		{name: "one of three breaks at a call", label: rule.GraphBreaks, in: compiledLog(1, summary.GuardSize, summary.BreakOther)},
		{name: "no break", label: "", near: rule.GraphBreaks, in: compiledLog(0, "", "")},
	}
}

// compiledToggle makes a kind of failed checks or breaks that of all compilations.
func compiledToggle(word, value string) toggle {
	set := func(value string) func(*summary.Summary) {
		return func(s *summary.Summary) {
			for i := range s.Compilations {
				c := &s.Compilations[i]
				if word == "recompiled" && c.Again > 0 {
					c.GuardKind = value
				}
				for k := range c.Breaks {
					if word == "breaks" {
						c.Breaks[k].Kind = value
					}
				}
			}
		}
	}
	off := map[string]string{"size": "value", "value": "other", "other": "size"}[value]
	if word == "breaks" {
		off = map[string]string{"data": "other", "other": "data"}[value]
	}
	return toggle{word: word, value: value, on: func(s *summary.Summary) {
		if len(s.Compilations) == 0 {
			s.Compilations = []summary.Compilation{{ID: "9/1", Again: 1, WallNS: 1, GuardKind: value, Breaks: []summary.GraphBreak{{Kind: value}}}}
		}
		set(value)(s)
	}, off: set(off)}
}
