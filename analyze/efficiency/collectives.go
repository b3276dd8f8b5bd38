package efficiency

import (
	"encoding/json"
	"math"

	"assay/analyze/efficiency/hardware"
	"assay/analyze/gpu"
	"assay/analyze/ranks/collective"
	"assay/summary"
	"assay/trace"
)

// A collectiveKey is a kind of collective of a GPU.
type collectiveKey struct {
	op   collective.Op
	size int
	link bool
}

// Collectives adds the collectives of a GPU with known sizes, relative to the peak of the link
// between GPUs of a machine. A kernel also waits for other ranks, so the bandwidths are lower
// bounds.
func (o *Owners) Collectives(s *summary.Summary, d *gpu.Device, c *collective.Columns, peaks hardware.Catalog, rank int) {
	p := peaks.Peaks(PropertiesOf(o.t, d.Ordinal))
	index := map[collectiveKey]int{}
	out := s.Efficiency.Transfers
	for _, run := range c.Runs {
		what := c.Whats[run.What]
		g := c.Groups[what.Group]
		n := what.Bytes(g.Size)
		if n <= 0 || run.End <= run.Start {
			continue
		}
		key := collectiveKey{what.Op, g.Size, oneMachine(g.Ranks, g.Size, len(o.t.Meta.Devices))}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			row := summary.EfficiencyTransfer{Rank: rank, Device: d.Ordinal, Kind: "collective", Name: what.Op.String(), Group: g.Size, Lower: true}
			if key.link {
				row.Link, row.PeakGBPS = hardware.Link.String(), known64(&p, hardware.Link)
			}
			out = append(out, row)
		}
		t := &out[at]
		t.Count++
		t.NS, t.Bytes = summary.Plus(t.NS, run.End-run.Start), t.Bytes.Plus(n)
	}
	for key, at := range index {
		t := &out[at]
		if !t.Bytes.Fits() {
			continue
		}
		alg := float64(t.Bytes) / float64(t.NS)
		t.AlgGBPS = &alg
		if factor := key.op.BusFactor(key.size); factor > 0 {
			bus := alg * factor
			t.BusGBPS = &bus
			if t.PeakGBPS != nil && bus > *t.PeakGBPS && !summary.MayReduceInSwitch(t.Name) {
				t.Over = summary.OverLink
			}
		}
	}
	s.Efficiency.Transfers = out
}

// LeastOf returns the least time of a collective of a GPU: each GPU sends or receives its part once, which is less than in a ring, over
// the link between GPUs of a machine. It returns false if the size, the group or the link is not known.
func LeastOf(t *trace.Trace, device int64, peaks hardware.Catalog, what *collective.What, group *collective.Group) (f summary.PartFloor, ok bool) {
	p, n, factor := peaks.Peaks(PropertiesOf(t, device)), what.Bytes(group.Size), what.Op.BusFactor(group.Size)
	uneven := what.Op == collective.AllToAll && what.In != what.Out // which part each rank keeps is not known
	if n <= 0 || factor <= 0 || uneven || !p.Known(hardware.Link) || !oneMachine(group.Ranks, group.Size, len(t.Meta.Devices)) {
		return f, false
	}
	moved := float64(n) * min(factor, 1)
	return summary.PartFloor{Bytes: int64(moved), NS: int64(math.Ceil(moved / p.Figures[hardware.Link])), Bound: summary.BoundLink}, true
}

// oneMachine reports whether the ranks of a group, "[0, 1]", must be on one machine, if machines
// have the given number of GPUs and ranks are numbered consecutively.
func oneMachine(ranks string, size, gpus int) bool {
	var list []int
	if gpus < 2 || json.Unmarshal([]byte(ranks), &list) != nil || len(list) != size || size < 2 {
		return false
	}
	for _, r := range list {
		if r < 0 || r/gpus != list[0]/gpus {
			return false
		}
	}
	return true
}
