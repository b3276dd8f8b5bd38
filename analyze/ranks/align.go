package ranks

import "assay/summary"

// AlignDetails sets the offsets of the details of a run. An offset, in ns, converts times to the
// clock of the first detail's input. Ranks with matched collectives are aligned by the ends of
// these: see [summary.RankWait]. Other inputs are aligned by their base times, if both have one.
func AlignDetails(s *summary.Summary) {
	if len(s.Details) == 0 {
		return
	}
	ahead := make(map[summary.GPU]int64)
	for i := range s.Ranks {
		if r := &s.Ranks[i]; r.OffsetNS != nil {
			ahead[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}] = *r.OffsetNS
		}
	}
	first := s.Details[0].Input
	base := func(input int) (ns int64, known bool) {
		if b := s.Inputs[input].BaseTimeNS; b != nil {
			return *b, true
		}
		return 0, false
	}
	origin, known := base(first)
	for i := range s.Details {
		d := &s.Details[i]
		d.OffsetNS, d.OffsetFrom = 0, ""
		at, has := base(d.Input)
		clock, matched := ahead[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]
		switch {
		case matched:
			d.OffsetNS, d.OffsetFrom = summary.Plus(summary.Plus(at, -origin), -clock), summary.OffsetCollectives
		case d.Input == first || known && has:
			d.OffsetNS, d.OffsetFrom = summary.Plus(at, -origin), summary.OffsetCapture
		}
	}
}
