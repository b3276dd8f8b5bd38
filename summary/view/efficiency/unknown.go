package efficiency

import (
	"cmp"
	"maps"
	"slices"

	"assay/summary"
)

// Reasons for GPU time without an operator and for communication. Rows do not have these reasons.
const (
	NoOperator    = "no operator"
	GraphReplay   = "graph replay"
	Communication = "communication"
	OverPeak      = "over a peak"
)

// Reason returns why a row has no FLOPs, no bytes or no roofline, or false if it has all.
func Reason(r *summary.EfficiencyRow) (string, bool) {
	counted := r.FLOPs != nil && r.Bytes != nil
	switch {
	case counted && r.RooflineNS != nil:
		return "", false
	case counted && summary.IsOver(r.Over):
		return OverPeak, true
	case counted:
		return summary.NoPeak, true // summaries of earlier versions do not state it
	}
	return r.Unknown, true
}

// An Unknown is GPU time whose FLOPs, bytes or roofline are not known, for one reason.
type Unknown struct {
	Reason  string // as in the rows, or one of those above
	NS      int64
	FLOPsNS int64 // part of NS with unknown FLOPs
	BytesNS int64 // part of NS with unknown bytes
	Ops     []OpTime
}

// An OpTime is the GPU time of an operator.
type OpTime struct {
	Op string
	NS int64
}

// Unknowns returns the reasons, those with the most GPU time first. Each has its
// operators, with the most time first.
func Unknowns(s *summary.Summary) []Unknown {
	at := map[string]*Unknown{}
	ops := map[string]map[string]int64{}
	add := func(reason string, ns int64) *Unknown {
		u := at[reason]
		if u == nil {
			u = &Unknown{Reason: reason}
			at[reason], ops[reason] = u, map[string]int64{}
		}
		u.NS += ns
		return u
	}
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		why, ok := Reason(r)
		if !ok {
			continue
		}
		u := add(why, r.GPUNS)
		if r.FLOPs == nil {
			u.FLOPsNS += r.GPUNS
		}
		if r.Bytes == nil {
			u.BytesNS += r.GPUNS
		}
		ops[why][r.Op] += r.GPUNS
	}
	for _, d := range s.Efficiency.Devices {
		comm := min(d.NoOperatorCommNS, d.NoOperatorNS)
		graph := min(d.GraphNS, d.NoOperatorNS-comm)
		for _, part := range []OpTime{{GraphReplay, graph}, {Communication, comm}, {NoOperator, d.NoOperatorNS - graph - comm}} {
			if part.NS > 0 {
				u := add(part.Op, part.NS)
				u.FLOPsNS, u.BytesNS = u.FLOPsNS+part.NS, u.BytesNS+part.NS
			}
		}
	}
	var out []Unknown
	for _, reason := range slices.Sorted(maps.Keys(at)) {
		u := *at[reason]
		for _, op := range slices.Sorted(maps.Keys(ops[reason])) {
			u.Ops = append(u.Ops, OpTime{op, ops[reason][op]})
		}
		slices.SortStableFunc(u.Ops, func(a, b OpTime) int { return cmp.Compare(b.NS, a.NS) })
		out = append(out, u)
	}
	slices.SortStableFunc(out, func(a, b Unknown) int { return cmp.Compare(b.NS, a.NS) })
	return out
}
