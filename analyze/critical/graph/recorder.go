package graph

import (
	"assay/internal/profilercost"
	"assay/trace"
)

// eventCost returns the cost of a trace. Only the newest name the options of its profiler; without any shape, and
// without frames of Python, it recorded neither.
func eventCost(t *trace.Trace) profilercost.Cost {
	o := profilercost.OptionsOf(t.Meta.Recorder)
	o.Stacks = o.Stacks || t.Python.Len() > 0
	ops := 0
	for x := range t.Ops.All() {
		if ops++; x.Shape != 0 {
			o.Shapes = true
			break
		}
	}
	o.Plain = t.Meta.Kineto && ops >= fewOps
	return profilercost.Of(o)
}

// fewOps is how many operators without shapes tell that none were recorded.
const fewOps = 20
