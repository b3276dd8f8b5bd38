package analyze

import "assay/trace"

// Measures is a set of what is measured for some outputs only. Everything else is
// measured for every output, because the verdict depends on it.
//
// To add a measure: add a constant here, and ask Options.measures where it is measured.
// Then name it in the table of outputs in cmd/assay (needs.go) and say in
// measures_test.go what a summary lacks without it. An issue is part of the verdict: what
// may add one, such as "rows-left-out" by a table with a limit of rows, is no Measure. An
// issue on nothing but the rows of a measure ("over-peak") is of severity info.
type Measures uint32

// The measures.
const (
	Shapes     Measures = 1 << iota // operators by the shapes of their arguments
	Passes                          // GPU work by the passes of training
	Strips                          // activity of GPUs, launch queues and memory over time
	Efficiency                      // FLOPs, bytes and rooflines of operators
	Layers                          // layers of the model, from the order of kernels
	LayerSteps                      // those of more steps than show the typical one

	end
)

// AllMeasures is the set of all measures.
const AllMeasures = end - 1

// Has reports whether all measures of one are in the set.
func (m Measures) Has(one Measures) bool { return m&one == one }

// measures reports whether none of the measures in one is skipped.
func (o Options) measures(one Measures) bool { return o.Without&one == 0 }

// Needs returns the parts of a trace that [Trace] needs with these options. Reading less is
// faster.
func (o Options) Needs() trace.Select {
	return trace.Select{Kinds: trace.Every, Shapes: o.measures(Shapes) || o.measures(Efficiency),
		Arguments: o.measures(Efficiency), GraphNodes: o.measures(Efficiency), FlowsIfNeeded: true}
}

// Needs returns the parts of a trace that [Trace] needs to measure everything.
func Needs() trace.Select { return Options{}.Needs() }
