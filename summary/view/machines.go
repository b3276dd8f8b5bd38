package view

import (
	"assay/summary"
)

// OnlyMachines reports whether all inputs are dumps of machines: they say what a GPU, a link or a port is like, and
// nothing of a program.
func OnlyMachines(s *summary.Summary) bool {
	dumps := map[int]bool{}
	for i := range s.Health {
		dumps[s.Health[i].Input] = true
	}
	for i := range s.Series {
		if !dumps[s.Series[i].Input] {
			return false
		}
	}
	return len(dumps) > 0 && len(s.Devices)+len(s.Tables)+len(s.Spans)+len(s.Snapshots)+len(s.MemoryTimelines)+len(s.Counters)+len(s.Groups)+
		len(s.Benchmarks)+len(s.Attempts) == 0
}
