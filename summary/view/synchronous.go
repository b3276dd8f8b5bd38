package view

import "assay/summary"

// Limits of [Synchronous]: the least number of kernels, and the least share of them.
const (
	leastHeld = 10
	mostHeld  = 0.9
)

// Synchronous returns the number of kernels that ran within their launch call, of those long enough to
// tell, and whether these are so many that launches wait for their kernels. A full launch queue is no
// such wait: the call then returns when an earlier kernel ends, before its own starts.
func Synchronous(s *summary.Summary) (held, of int64, ok bool) {
	for _, l := range s.Launches {
		held, of = held+l.Held, of+l.Long
	}
	return held, of, of >= leastHeld && float64(held) >= mostHeld*float64(of)
}
