package metric

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// efficiencyMetrics compare what GPUs did with their peaks. They are measured only if a gate uses
// one: see [Metric.Efficiency].
func efficiencyMetrics() []Metric {
	deviceSelectors, rowSelectors := deviceKeys("steps"), deviceKeys("op", "dtype")
	needs := []string{"op"}
	list := []Metric{
		{Name: "efficiency.mfu", Of: Time, Higher: true, Keys: deviceSelectors, Meaning: "model FLOPs utilization: the time that matrix FLOPs without recomputation take at the peak of their type", Per: "window; step time with the selector steps",
			measure: efficiencyAs(efficiency.MFU)},
		{Name: "efficiency.hfu", Of: Time, Higher: true, Keys: deviceSelectors, Meaning: "hardware FLOPs utilization: the time that all executed matrix FLOPs take at the peak of their type", Per: "window; step time with the selector steps",
			measure: efficiencyAs(efficiency.HFU)},
		{Name: "efficiency.known", Of: Time, Higher: true, Steady: true, Keys: deviceSelectors, Meaning: "GPU time of operators with known FLOPs", Per: "total GPU time of operators and other work, without communication",
			measure: selection.knownWork},
		{Name: "efficiency.recoverable", Of: Time, Keys: deviceSelectors, Meaning: "GPU time of operators above their roofline, where it is known: an upper bound of what faster kernels save", Per: "total GPU time of operators and other work, without communication",
			measure: selection.recoverable},
		{Name: "efficiency.decode", Of: Time, Higher: true, Keys: deviceSelectors, Meaning: "decode bandwidth utilization: the time that the memory takes for weights, the cache of keys and values that is read, and what is added to it", Per: "time of decode steps",
			measure: selection.decode},
		{Name: "decode.mbu", Of: Time, Higher: true, Keys: deviceSelectors, Meaning: "memory bandwidth utilization of decode steps, from recorded shapes or, with --model, from the configuration of the model", Per: "time of decode steps",
			measure: selection.decodeMBU},
		{Name: "op.tflops", Unit: FLOPRate, Higher: true, Keys: rowSelectors, Needs: needs, Meaning: "FLOPs of the selected operators", Per: "their GPU time",
			measure: operatorsAs(operators.tflops)},
		{Name: "op.gbps", Unit: Rate, Higher: true, Keys: rowSelectors, Needs: needs, Meaning: "bytes that the selected operators must read and write at least", Per: "their GPU time",
			measure: operatorsAs(operators.gbps)},
		{Name: "op.roofline", Of: Time, Higher: true, Keys: rowSelectors, Needs: needs, Meaning: "time that the peaks of the GPU allow for the work of the selected operators", Per: "their GPU time",
			measure: operatorsAs(operators.roofline)},
	}
	for i := range list {
		list[i].Efficiency = true
	}
	return list
}

var errNoEfficiency = errors.New("no FLOPs and bytes of operators: measure traces that have their input dimensions")

// efficiencySums returns the sums of the selected GPUs or, with steps, of the selected steps.
func (v selection) efficiencySums() (out []*summary.EfficiencySums, err error) {
	e := &v.Efficiency
	if len(e.Devices) == 0 {
		return nil, errNoEfficiency
	}
	if v.sel.Value("steps") != "" {
		for i := range e.Steps {
			if s := &e.Steps[i]; v.sel.hasDevice(s.Rank, s.Device) && v.sel.hasStep(s.Number) {
				out = append(out, &s.EfficiencySums)
			}
		}
		if out == nil {
			return nil, errors.New("no such step with operators")
		}
		return out, nil
	}
	for i := range e.Devices {
		if d := &e.Devices[i]; v.sel.hasDevice(d.Rank, d.Device) {
			out = append(out, &d.EfficiencySums)
		}
	}
	if out == nil {
		return nil, errors.New("no such GPU with operators")
	}
	return out, nil
}

// efficiencyAs returns a function that measures MFU or HFU: the mean over GPUs or steps, weighted
// by their time. It is an error if one of them has none. The value is a lower bound if FLOPs are
// missing.
func efficiencyAs(of func(*summary.Summary, []*summary.EfficiencySums) (efficiency.Range, bool)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		list, err := v.efficiencySums()
		if err != nil {
			return Value{}, err
		}
		var wall, all, known int64
		for _, s := range list {
			if s.MFU == nil && s.HFU == nil {
				return Value{}, errNoUtilization(s)
			}
			wall += s.WallNS
			all, known = all+efficiency.Work(s), known+s.FLOPsKnownNS
		}
		u, ok := of(v.Summary, list)
		if !ok {
			return Value{}, errNoUtilization(list[0])
		}
		out := Value{V: u.Least, Num: clamp(u.Least * float64(wall)), Den: wall}
		if u.Unknown > 0 {
			out.Missing, out.Most = u.Unknown, u.Most
			out.Note = fmt.Sprintf("FLOPs are known for %s of GPU time", unit.Share(known, all))
			if all < gpuNS(list) {
				out.Note += " outside of communication"
			}
			if u.Unrated {
				out.Note += ", and a type of its matrix operators has no known peak"
			}
		}
		return out, nil
	}
}

// errNoUtilization says why there is no MFU.
func errNoUtilization(s *summary.EfficiencySums) error {
	if s.MFUFrom == summary.MFUOver {
		return errors.New("it would be over 100%: the FLOPs, the times or the peak are not those of the GPU; give its peaks with --set-peak or --peaks")
	}
	if s.MatrixFLOPs == 0 {
		return errors.New("no FLOPs of matrix operators are known: record with record_shapes=True, without CUDA graphs")
	}
	return errors.New("no peak of the GPU is known for the types of its matrix operators: give --set-peak or --peaks")
}

func (v selection) knownWork() (Value, error) {
	return v.efficiencyShare(func(s *summary.EfficiencySums) int64 { return s.FLOPsKnownNS })
}

func (v selection) recoverable() (Value, error) {
	out, err := v.efficiencyShare(func(s *summary.EfficiencySums) int64 { return s.RecoverableNS })
	if err != nil {
		return out, err
	}
	roof, err := v.efficiencyShare(func(s *summary.EfficiencySums) int64 { return s.RooflineNS })
	if err == nil && roof.Num == 0 {
		return Value{}, errors.New("no operator has a roofline: FLOPs and bytes, or the peaks of the GPU, are not known")
	}
	return out, err
}

func gpuNS(list []*summary.EfficiencySums) (sum int64) {
	for _, s := range list {
		sum += s.GPUNS
	}
	return sum
}

// efficiencyShare divides a part of the GPU time by all GPU time that is not communication.
func (v selection) efficiencyShare(part func(*summary.EfficiencySums) int64) (Value, error) {
	list, err := v.efficiencySums()
	if err != nil {
		return Value{}, err
	}
	var sum, all int64
	for _, s := range list {
		sum, all = sum+part(s), all+efficiency.Work(s)
	}
	return ratio(sum, all), nil
}

// errTooLarge is for sums that stopped at the largest number.
var errTooLarge = errors.New("the sum is too large: it does not fit into 63 bits")

// operators is the sum of the selected operators.
type operators struct {
	all             int64 // ns of all of them
	flops, bytes    summary.Sum
	flopsNS, byteNS int64
	roof, roofNS    int64
	arithmetic      bool   // one of them may have FLOPs
	missing         string // why FLOPs or bytes of some are unknown, or ""
	name            string // of the first operator
}

// operatorsAs returns a function that measures operators. Those whose work is unknown are left out,
// and the note says so.
func operatorsAs(of func(operators) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		if len(v.Efficiency.Devices) == 0 {
			return Value{}, errNoEfficiency
		}
		var sum operators
		names, types, found := map[string]bool{}, map[string]bool{}, false
		for i := range v.Efficiency.Rows {
			r := &v.Efficiency.Rows[i]
			if !v.sel.hasDevice(r.Rank, r.Device) {
				continue
			}
			names[r.Op] = true
			if v.sel.has("op", r.Op) {
				types[cmp.Or(r.Dtype, "an unknown type")] = true
			}
			if v.sel.has("op", r.Op) && v.sel.has("dtype", r.Dtype) {
				sum.add(r)
				found = true
			}
		}
		if !found && len(types) > 0 {
			return Value{}, fmt.Errorf("%s ran in %s", v.sel.Value("op"), few(sorted(types)))
		}
		if !found {
			return Value{}, fmt.Errorf("no such operator; there is %s", few(sorted(names)))
		}
		return of(sum)
	}
}

func (o *operators) add(r *summary.EfficiencyRow) {
	o.all += r.GPUNS
	o.name, o.arithmetic = cmp.Or(o.name, r.Op), o.arithmetic || r.FLOPs == nil || *r.FLOPs > 0
	if r.FLOPs != nil {
		o.flops, o.flopsNS = o.flops.Plus(*r.FLOPs), o.flopsNS+r.GPUNS
	}
	if r.Bytes != nil {
		o.bytes, o.byteNS = o.bytes.Plus(*r.Bytes), o.byteNS+r.GPUNS
	}
	if r.RooflineNS != nil {
		o.roof, o.roofNS = o.roof+*r.RooflineNS, o.roofNS+r.GPUNS
	}
	if o.missing == "" {
		o.missing = r.Unknown
	}
}

func (o operators) tflops() (Value, error) {
	if !o.arithmetic {
		return Value{}, fmt.Errorf("%s has no FLOPs", o.name)
	}
	if !o.flops.Fits() {
		return Value{}, errTooLarge
	}
	return o.over(float64(o.flops)*1e9/float64(o.flopsNS), o.flopsNS, "FLOPs")
}

func (o operators) gbps() (Value, error) {
	if !o.bytes.Fits() {
		return Value{}, errTooLarge
	}
	return o.over(float64(o.bytes)*1e9/float64(o.byteNS), o.byteNS, "bytes")
}

func (o operators) roofline() (Value, error) {
	v, err := o.over(float64(o.roof)/float64(o.roofNS), o.roofNS, "the roofline")
	v.Num, v.Den = o.roof, o.roofNS
	return v, err
}

// over returns a rate, with a note if its bytes or FLOPs are known for only a part of the time.
func (o operators) over(rate float64, known int64, what string) (Value, error) {
	switch {
	case known == 0 && o.missing != "":
		return Value{}, fmt.Errorf("these operators have no known %s: %s", strings.TrimPrefix(what, "the "), o.missing)
	case known == 0:
		return Value{}, fmt.Errorf("these operators have no known %s", strings.TrimPrefix(what, "the "))
	}
	v := Value{V: rate}
	if known < o.all {
		v.Note = fmt.Sprintf("%s known for %s of their GPU time", what, unit.Share(known, o.all))
	}
	return v, nil
}
