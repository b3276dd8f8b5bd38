package efficiency

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/summary"
)

// Reasons that rows do not have: of GPU time without an operator, and of communication.
const (
	NoOperator    = "no operator"
	GraphReplay   = "graph replay"
	Communication = "communication"
)

// reason returns why FLOPs or bytes of a row are unknown.
func reason(r *summary.EfficiencyRow) string {
	if r.Op == "record_param_comms" || strings.HasPrefix(r.Op, "c10d::") {
		return Communication
	}
	return r.Unknown
}

// An Unknown is GPU time whose FLOPs or bytes are not known, for one reason.
type Unknown struct {
	Reason  string // as in the rows, or one of those above
	NS      int64
	FLOPsNS int64 // of it, with unknown FLOPs
	BytesNS int64 // of it, with unknown bytes
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
		u.NS = summary.Plus(u.NS, ns)
		return u
	}
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		if r.FLOPs != nil && r.Bytes != nil {
			continue
		}
		why := reason(r)
		u := add(why, r.GPUNS)
		if r.FLOPs == nil {
			u.FLOPsNS = summary.Plus(u.FLOPsNS, r.GPUNS)
		}
		if r.Bytes == nil {
			u.BytesNS = summary.Plus(u.BytesNS, r.GPUNS)
		}
		ops[why][r.Op] = summary.Plus(ops[why][r.Op], r.GPUNS)
	}
	for _, d := range s.Efficiency.Devices {
		graph := min(d.GraphNS, d.NoOperatorNS)
		for _, part := range []OpTime{{GraphReplay, graph}, {NoOperator, d.NoOperatorNS - graph}} {
			if part.NS > 0 {
				u := add(part.Op, part.NS)
				u.FLOPsNS, u.BytesNS = summary.Plus(u.FLOPsNS, part.NS), summary.Plus(u.BytesNS, part.NS)
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
