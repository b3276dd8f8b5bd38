package view

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A CompiledFunction adds up the compilations of one function.
type CompiledFunction struct {
	Function, File string
	Line           int64

	Count, NS      int64
	MostAgain      int64 // how often one frame of it was compiled again
	Again, AgainNS int64 // those of a frame that was compiled before
	Hits, Misses   int64
	Guard          string // that failed at the longest of these, and its kind
	Kind           string
	longest        int64

	Failed string // kind of error of one that failed

	Step   *summary.CompiledStep // in which most of it was compiled
	InStep int64                 // ns of it in this step
	Breaks []summary.GraphBreak
}

// Compiled adds up compilations by function, the one with the most time first.
func Compiled(s *summary.Summary) (out []CompiledFunction) {
	type function struct {
		name, file string
		line       int64
	}
	at, inSteps := map[function]int{}, map[function]map[summary.CompiledStep]int64{}
	for i := range s.Compilations {
		c := &s.Compilations[i]
		key := function{c.Function, c.File, c.Line}
		k, ok := at[key]
		if !ok {
			k = len(out)
			at[key], inSteps[key] = k, map[summary.CompiledStep]int64{}
			out = append(out, CompiledFunction{Function: c.Function, File: c.File, Line: c.Line})
		}
		out[k].add(c, inSteps[key])
	}
	slices.SortStableFunc(out, func(a, b CompiledFunction) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Function, b.Function))
	})
	return out
}

func (f *CompiledFunction) add(c *summary.Compilation, inSteps map[summary.CompiledStep]int64) {
	f.Count, f.NS = f.Count+1, summary.Plus(f.NS, c.WallNS)
	f.Hits, f.Misses = f.Hits+c.CacheHits, f.Misses+c.CacheMisses
	f.MostAgain = max(f.MostAgain, c.Again)
	if c.Again > 0 {
		if f.Again, f.AgainNS = f.Again+1, summary.Plus(f.AgainNS, c.WallNS); c.Guard != "" && (f.Guard == "" || c.WallNS > f.longest) {
			f.Guard, f.Kind, f.longest = c.Guard, c.GuardKind, c.WallNS
		}
	}
	if f.Failed == "" {
		f.Failed = c.Failed
	}
	if c.Step != nil {
		step := summary.CompiledStep{Name: c.Step.Name, WallNS: c.Step.WallNS}
		inSteps[step] = summary.Plus(inSteps[step], c.Step.InNS)
		if ns := inSteps[step]; ns > f.InStep || ns == f.InStep && f.Step != nil && step.Name < f.Step.Name {
			f.Step, f.InStep = &step, ns
		}
	}
	for _, b := range c.Breaks {
		if !slices.Contains(f.Breaks, b) {
			f.Breaks = append(f.Breaks, b)
		}
	}
}
