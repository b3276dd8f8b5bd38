package partial

import "assay/summary"

// joinCompilations names for each compilation the step of a timeline in which most of it was: of the same rank, by
// Unix time, which both state.
func joinCompilations(s *summary.Summary) {
	for i := range s.Compilations {
		c := &s.Compilations[i]
		if c.StartNS == 0 || c.WallNS == 0 {
			continue
		}
		for k := range s.Steps {
			st := &s.Steps[k]
			if st.Rank != c.Rank || st.Source != "" || st.Input >= len(s.Inputs) || s.Inputs[st.Input].BaseTimeNS == nil {
				continue
			}
			wall := max(st.WallNS, st.HostNS)
			start := summary.Plus(st.StartNS, *s.Inputs[st.Input].BaseTimeNS)
			in := min(c.StartNS+c.WallNS, start+wall) - max(c.StartNS, start)
			if in > 0 && (c.Step == nil || in > c.Step.InNS) {
				c.Step = &summary.CompiledStep{Name: st.Name, WallNS: wall, InNS: in}
			}
		}
	}
}
