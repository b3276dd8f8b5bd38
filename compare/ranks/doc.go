// Package ranks compares the ranks of two runs: the parts of a step, the waiting for other ranks,
// and which rank the others waited for.
//
// [Compare] takes the runs of two sides and returns a row for each rank and the totals of each
// side. The parts of a row sum to the step of its rank. Transfer and waiting are not parts of the
// step, because matched collectives may overlap compute.
//
// A rank is called a straggler only if ranks do the same work, if most of their communication is in
// matched collectives, and if they wait for a noticeable share of the step.
package ranks
