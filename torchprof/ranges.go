package torchprof

import (
	"math/bits"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
)

// A range that was recorded on the device looks like a kernel, but contains kernels. As long as the
// CPU's row of the same name was printed, kinds recognizes it by that. With a row limit that row is
// often cut off, so ranges are also recognized by how frameworks name them and by the printed total.

// findRanges marks ranges among the rows of the device. self is the column of their time.
func (o *openTable) findRanges(kinds []kind, self int) {
	took := o.operatorTimes(kinds, self)
	var unsure []int
	var sum int64
	for i := range o.rows {
		r := &o.rows[i]
		if kinds[i] != ofDevice {
			continue
		}
		if isRange(r.name) {
			kinds[i] = ofRange
			continue
		}
		sum = unit.Plus(sum, r.cells[self].Value)
		if !isKernel(r.name) && !took[r.cells[self].Value] {
			unsure = append(unsure, i)
		}
	}
	printed, ok := o.totalOf(o.device)
	if !ok || printed.cell.Value <= 0 || len(unsure) > maxUnsure {
		return
	}
	most := printed.cell.Value + printed.res + o.rounding(o.device)
	if sum <= most {
		return
	}
	for _, i := range o.surplus(unsure, self, sum, most) {
		kinds[i] = ofRange
	}
}

// maxUnsure bounds the rows that surplus tries in all combinations.
const maxUnsure = 12

// surplus returns the rows without which the sum comes closest to the most that it can be. It
// returns none if no combination is enough, or if several are equally good.
func (o *openTable) surplus(unsure []int, self int, sum, most int64) (out []int) {
	best, choice, ties := int64(-1), 0, 0
	for set := 1; set < 1<<len(unsure); set++ {
		rest := sum
		for s := set; s != 0; s &= s - 1 {
			rest -= o.rows[unsure[bits.TrailingZeros(uint(s))]].cells[self].Value
		}
		switch {
		case rest > most || rest < best:
		case rest == best:
			ties++
		default:
			best, choice, ties = rest, set, 0
		}
	}
	if best < 0 || ties > 0 {
		return nil
	}
	for s := choice; s != 0; s &= s - 1 {
		out = append(out, unsure[bits.TrailingZeros(uint(s))])
	}
	return out
}

// operatorTimes has the device times of operators themselves. A row of the device with such a time
// has the kernels of that operator.
func (o *openTable) operatorTimes(kinds []kind, self int) map[int64]bool {
	out := make(map[int64]bool)
	for i := range o.rows {
		if r := &o.rows[i]; kinds[i] == ofCPU && !label.IsCall(r.name) {
			out[r.cells[self].Value] = true
		}
	}
	return out
}

// dropCallTimes removes the device time of runtime and driver calls: it is that of the kernels that
// they launched, which have rows of their own. Only some versions print it. It returns the sum.
func (o *openTable) dropCallTimes(kinds []kind) (sum int64) {
	self := o.deviceTime(true)
	for i := range o.rows {
		r := &o.rows[i]
		if kinds[i] != ofCPU || !label.IsCall(r.name) {
			continue
		}
		if self >= 0 {
			sum = unit.Plus(sum, r.cells[self].Value)
		}
		for j, c := range o.columns {
			if c.role == aTime && c.place == o.device && o.device != "" {
				r.cells[j].Value = 0
			}
		}
	}
	return sum
}

// countedTwice returns sums by which the printed total may exceed that of the kernels: some versions
// add up ranges, profiler steps or calls too.
func (o *openTable) countedTwice(kinds []kind, calls int64) []int64 {
	self := o.deviceTime(true)
	if self < 0 {
		return nil
	}
	var ranges, steps int64
	for i := range o.rows {
		r := &o.rows[i]
		switch {
		case kinds[i] != ofRange:
		case strings.HasPrefix(r.name, "ProfilerStep"):
			steps = unit.Plus(steps, r.cells[self].Value)
		default:
			ranges = unit.Plus(ranges, r.cells[self].Value)
		}
	}
	return []int64{ranges, calls, unit.Plus(ranges, calls), unit.Plus(ranges, steps), unit.Plus(ranges, unit.Plus(calls, steps))}
}

// isRange reports whether a name can only be that of a range: those of collectives ("nccl:all_reduce"),
// of optimizers and modules ("Optimizer.step#AdamW.step"), of operators ("FSDP::all_gather") and
// texts of several words.
func isRange(name string) bool {
	if isKernel(name) || strings.HasSuffix(name, "...") || strings.HasPrefix(name, "void ") {
		return false
	}
	for _, owner := range []string{"ProfilerStep", "Optimizer.", "DistributedDataParallel.", "FullyShardedDataParallel."} {
		if strings.HasPrefix(name, owner) {
			return true
		}
	}
	space, rest, ok := strings.Cut(name, ":")
	return ok && space != "" && rest != "" || strings.ContainsAny(name, " #")
}
