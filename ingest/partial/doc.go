// Package partial measures inputs one at a time, and joins the results to the summary of a run: in the
// same process, or later from saved files.
//
// A [Part] is the result for one input: all rows, and the collectives of its GPUs. Parts can be saved
// and read again ([Part.Encode], [Measure]). A saved run is the set of the files of its parts, so
// merging saved runs is the union of sets. Ranks are compared and summaries are joined only for a
// report ([Join]). The result therefore does not depend on where, or in how many steps, the parts were
// brought together.
//
// Start with part.go, then file.go (the saved form), arrange.go (the order of parts) and join.go (the
// comparison of ranks). window.go selects a part of a timeline, placing.go the rank and the run of an
// input. copies.go, repeated.go and sources.go handle inputs that would be counted twice. plan.go
// joins more parts than fit into memory.
package partial
