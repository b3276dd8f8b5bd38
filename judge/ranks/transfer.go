package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// A transfers adds up the collectives of groups that differ only in their ranks.
type transfers struct {
	op     string
	bytes  int64
	ranks  int
	nodes  int // number of machines; 0 if unknown
	groups []string
	ns     int64   // transfer time in ns, over all groups
	gpuNS  int64   // transfer time in ns, over all GPUs
	moved  float64 // bytes over the bus
}

func (t *transfers) gbps() float64 { return t.moved / float64(max(1, t.ns)) }

func (t *transfers) name() string {
	text := fmt.Sprintf("%s of %s on %s", t.op, unit.Bytes(t.bytes), label.Plural(int64(t.ranks), "rank"))
	if t.nodes > 1 {
		text += fmt.Sprintf(" of %d nodes", t.nodes)
	}
	if n := len(t.groups) - 1; t.groups[0] != "" && n > 0 {
		text += fmt.Sprintf(" (%s and %s)", finding.Short(t.groups[0]), label.Plural(int64(n), "more group"))
	}
	return text
}

// transferKinds adds up the collectives with a bus bandwidth by kind, those with the most transfer
// time first.
func (c *Evaluator) transferKinds() []*transfers {
	type key struct {
		op           string
		bytes        int64
		ranks, nodes int
		parallel     string
	}
	byKind := map[key]*transfers{}
	var out []*transfers
	for i := range c.Collectives {
		r := &c.Collectives[i]
		if r.Bytes == nil || r.TransferNS == nil || r.BusBWGBps == nil || *r.TransferNS <= 0 || r.Partial {
			continue
		}
		k := key{r.Op, *r.Bytes, r.Ranks, r.Nodes, r.Parallel}
		t := byKind[k]
		if t == nil {
			t = &transfers{op: r.Op, bytes: *r.Bytes, ranks: r.Ranks, nodes: r.Nodes}
			byKind[k], out = t, append(out, t)
		}
		t.groups = append(t.groups, r.GroupRanks)
		t.ns += *r.TransferNS
		t.moved += *r.BusBWGBps * float64(*r.TransferNS)
		for range r.Ranks {
			t.gpuNS = summary.Plus(t.gpuNS, *r.TransferNS)
		}
	}
	slices.SortStableFunc(out, func(a, b *transfers) int { return cmp.Compare(b.gpuNS, a.gpuNS) })
	return out
}

// fasterBus is the factor by which another kind of collectives must be faster to be mentioned.
const fasterBus = 4

// Transfer describes the collectives whose transfer takes at least half of the communication time,
// with their bus bandwidth, and the fastest other kind if it is much faster. The two then use
// different links, such as within and between machines. It returns "" if there are no such
// collectives.
func (c *Evaluator) Transfer() string {
	all := c.transferKinds()
	comm := int64(0)
	for _, k := range c.Kernels {
		if k.Class == "comm" {
			comm += k.TotalNS
		}
	}
	if len(all) == 0 || all[0].gpuNS < comm-all[0].gpuNS {
		return ""
	}
	top := all[0]
	text := fmt.Sprintf("the transfer of %s is %s of the communication time, at a bus bandwidth of %s GB/s", top.name(),
		unit.Share(top.gpuNS, comm), gbps(top.gbps()))
	var best *transfers
	for _, t := range all[1:] {
		if t.bytes >= minGroupBytes && (t.ranks != top.ranks || t.nodes != top.nodes) &&
			(best == nil || t.gbps() > best.gbps()) {
			best = t
		}
	}
	if best != nil && best.gbps() >= fasterBus*top.gbps() {
		text += fmt.Sprintf("; %s reaches %s GB/s", best.name(), gbps(best.gbps()))
	}
	return text
}
