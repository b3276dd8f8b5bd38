package xplane

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/protoscan"
	"assay/trace"
)

// otherOps is the name of the operations over the limit of rows.
const otherOps = "(other operations)"

// halves matches the start and the end of an operation that runs at the same time as others. Neither takes the time of its
// work, so a rate would be wrong.
var halves = lazyregexp.New(`-(?:start|done)$`)

// An opKey distinguishes operations of a TPU: by their name, the operator of the framework and the line of the program.
type opKey struct{ name, framework, source string }

// state adds an operation that covers no other one. XLA states the work of a loop as that of its body, which has
// operations of its own.
func (r *reader) state(e *event) {
	f := &e.facts
	if e.dur <= 1 { // it was not measured: ends are rounded to 1 ns
		return
	}
	key := opKey{opName(e.name, f.category), f.tf, f.source}
	s := r.stated[key]
	if s == nil && len(r.stated) >= r.mostStated {
		key = opKey{name: otherOps}
		s = r.stated[key]
	}
	if s == nil {
		s = &profile.Stated{Name: key.name}
		for _, l := range []profile.Label{{Key: "operator", Text: key.framework}, {Key: "source", Text: key.source}} {
			if l.Text != "" {
				s.Labels = append(s.Labels, l)
			}
		}
		r.stated[key] = s
	}
	flops, bytes := max(0, f.flops), max(0, f.bytes)
	if flops == 0 {
		flops = max(0, f.model)
	}
	if halves().MatchString(key.name) || halves().MatchString(f.category) {
		flops, bytes = 0, 0
	}
	s.Add(1, e.dur, [2]float64{float64(flops), float64(bytes)}, [2]bool{flops > 0, bytes > 0})
}

// noFacts returns the facts of an event without stats.
func noFacts(operands string) *facts {
	return &facts{step: -1, graph: -1, flops: -1, model: -1, bytes: -1, hbm: -1, operands: operands}
}

// workOf returns the number of what XLA states of the work of an operation, or 0. Custom calls, which Pallas and libraries
// make, state 0 FLOPs, whatever they compute.
func (r *reader) workOf(e *event) uint32 {
	f := &e.facts
	s := trace.Stated{FLOPs: f.flops, Model: f.model, Bytes: f.bytes, Type: cmp.Or(f.operands, "c10::BFloat16"), Matrix: strings.Contains(f.category, "convolution") || f.category == "dot",
		Custom: strings.HasPrefix(f.category, "custom-call") || strings.HasPrefix(opName(e.name, ""), "custom-call")}
	if s.FLOPs < 0 {
		s.FLOPs = s.Model
	}
	if s.Model < 0 {
		s.Model = s.FLOPs
	}
	if f.hbm >= 0 {
		s.Bytes = f.hbm
	}
	if s.Custom && s.FLOPs == 0 || s.Matrix && s.FLOPs == 0 {
		s.FLOPs, s.Model = -1, -1
	}
	if s.Bytes == 0 && f.hbm < 0 {
		s.Bytes = -1
	}
	if s.FLOPs < 0 && s.Bytes < 0 {
		return 0
	}
	at := r.works[s]
	if at == 0 && len(r.works) < r.mostStated {
		at = uint32(len(r.works) + 1)
		r.works[s] = at
	}
	return at
}

// narrow returns the type of operands of 8 bits in the text of an instruction, or "". Matrix units of TPUs round wider ones
// to 16 bits.
func narrow(instruction string) string {
	_, operands, ok := strings.Cut(instruction, "(")
	switch {
	case !ok || instruction[0] != '%':
		return ""
	case strings.Contains(operands, "f8e"):
		return "Float8"
	case strings.Contains(operands, "s8["), strings.Contains(operands, "u8["):
		return "signed char"
	}
	return ""
}

// bytesInMemory returns the bytes that a breakdown by kinds of memory states for that of the device, or -1 if it is damaged.
func bytesInMemory(breakdown string) (sum int64) {
	const access, space, bytes, ofDevice = 1, 2, 3, 1
	whole := protoscan.Each([]byte(breakdown), func(f protoscan.Field) {
		if f.Number != access {
			return
		}
		var in, n int64
		protoscan.Each(f.Text, func(f protoscan.Field) {
			switch f.Number {
			case space:
				in = int64(f.Bits)
			case bytes:
				n = int64(f.Bits)
			}
		})
		if in == ofDevice && n > 0 {
			sum = profile.Plus(sum, n)
		}
	})
	if !whole || breakdown == "" {
		return -1
	}
	return sum
}

// tables returns the operations of TPUs with the work that XLA states of them, or nil if it states none.
func (r *reader) tables(whole bool) *profile.Tables {
	any := false
	for _, s := range r.stated {
		any = any || s.Amount != [2]float64{}
	}
	if !any {
		return nil
	}
	bandwidth := 0.0
	for _, h := range r.meta.Hardware { // the TPUs of a host are alike
		bandwidth = float64(h.Bandwidth) / 1e9
	}
	rows := slices.Collect(maps.Values(r.stated))
	return &profile.Tables{Tool: "xla", Complete: whole, Records: int64(len(rows)),
		List: []*profile.Table{profile.StatedTable("xla_ops", profile.OfOp, profile.Self, rows, bandwidth)}}
}
