package rule

import "assay/summary"

// The rules about the log of torch.compile.
const (
	Recompiles  = "recompiles"
	GraphBreaks = "graph-breaks"
)

// guardOf returns what most of the time of compiling again is about: the kind of the checks that failed, or "".
func guardOf(s *summary.Summary) (kind string) {
	ns := map[string]int64{}
	for _, c := range s.Compilations {
		if c.Again > 0 && c.GuardKind != "" {
			ns[c.GuardKind] = summary.Plus(ns[c.GuardKind], c.WallNS)
		}
	}
	for _, k := range []string{summary.GuardSize, summary.GuardValue, summary.GuardOther} {
		if ns[k] > 0 && (kind == "" || ns[k] > ns[kind]) {
			kind = k
		}
	}
	return kind
}

// breaksOf returns the kind of most graph breaks, or "".
func breaksOf(s *summary.Summary) string {
	n := map[string]int{}
	for _, c := range s.Compilations {
		for _, b := range c.Breaks {
			n[b.Kind]++
		}
	}
	switch {
	case n[summary.BreakData] > 0 && n[summary.BreakData] >= n[summary.BreakOther]:
		return summary.BreakData
	case n[summary.BreakOther] > 0:
		return summary.BreakOther
	}
	return ""
}
