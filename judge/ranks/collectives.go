package ranks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// minGroupBytes is the size from which groups of one kind are compared. Latency limits smaller
// collectives.
const minGroupBytes = 1 << 20

// A slow is a row of collectives that takes longer than expected.
type slow struct {
	row  *summary.Collective
	lost int64 // ns, summed over all its ranks
	why  string
}

// slowCollectives judges how much longer transfers take than at a share of the peak of the link, or
// than in other groups of the same kind. Only complete rows count, and only sizes that bandwidth
// limits.
func (c *Evaluator) slowCollectives() []tree.Reading {
	var all []slow
	for i := range c.Collectives {
		row := &c.Collectives[i]
		a, b := c.belowPeak(row), c.belowGroups(row)
		if b.lost > a.lost {
			a = b
		}
		if a.lost > 0 {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b slow) int { return cmp.Compare(b.lost, a.lost) })
	lost := int64(0)
	var evidence []string
	for i, s := range all {
		if lost += s.lost; i < 3 {
			evidence = append(evidence, s.why)
		}
	}
	r := c.reading(rule.SlowCollectives, "Slow collectives: extra transfer takes %s", lost)
	evidence = append([]string{"additional transfer: " + c.perStep(min(lost, c.Judged.ExposedComm()), c.all())},
		evidence...)
	return complete(r, all[0].why, evidence, []finding.Step{finding.Advise("check-the-link"),
		finding.Advise("check-nccl-tests"), finding.Advise("transfer-less").For("late=none")})
}

// belowPeak compares the bus bandwidth of a row with the peak of its link. Collectives that would
// take less than the limit Under at the peak are left out, because latency limits them.
func (c *Evaluator) belowPeak(r *summary.Collective) slow {
	limits := c.Limits[rule.SlowCollectives]
	l, ok := c.link(r)
	if !ok || r.BusBWGBps == nil || r.Bytes == nil || r.TransferNS == nil ||
		float64(*r.Bytes)/l.peak < float64(limits.Under) || *r.BusBWGBps >= limits.OfPeak*l.peak {
		return slow{}
	}
	expected := int64(float64(*r.TransferNS) * *r.BusBWGBps / (limits.OfPeak * l.peak))
	return slow{r, (*r.TransferNS - expected) * int64(r.Ranks),
		fmt.Sprintf("%s: bus bandwidth %s GB/s; %s has a peak of %s GB/s, and at least %s of that is expected", nameOf(r),
			gbps(*r.BusBWGBps), l.name, gbps(l.peak), unit.Percent(limits.OfPeak))}
}

// belowGroups compares the transfer time of a row with that of other groups of its kind: same
// parallelism or name, operation, type, size, and number of ranks and machines.
func (c *Evaluator) belowGroups(r *summary.Collective) slow {
	if r.Bytes == nil || *r.Bytes < minGroupBytes || r.TransferNS == nil || r.Count == 0 || r.Partial ||
		r.Parallel == "" && r.Group == "" {
		return slow{}
	}
	var others []int64
	for i := range c.Collectives {
		o := &c.Collectives[i]
		if o != r && o.Job == r.Job && o.Op == r.Op && o.Dtype == r.Dtype && o.Bytes != nil && *o.Bytes == *r.Bytes &&
			o.GroupSize == r.GroupSize && o.Nodes == r.Nodes &&
			o.Parallel == r.Parallel && (r.Parallel != "" || o.Group == r.Group) && o.GroupRanks != r.GroupRanks &&
			o.TransferNS != nil && o.Count > 0 && !o.Partial {
			others = append(others, *o.TransferNS/o.Count)
		}
	}
	if len(others) == 0 {
		return slow{}
	}
	own, usual := *r.TransferNS/r.Count, stat.Median(others)
	if float64(own) < (1+c.Limits[rule.SlowCollectives].Margin)*float64(usual) {
		return slow{}
	}
	return slow{r, (*r.TransferNS - usual*r.Count) * int64(r.Ranks),
		fmt.Sprintf("%s takes %s; the median of %s of this kind is %s", nameOf(r),
			unit.Duration(own), label.Plural(int64(len(others)), "other group"), unit.Duration(usual))}
}

// nameOf returns the operation, size and ranks of a row.
func nameOf(r *summary.Collective) string {
	name := r.Op + " of " + unit.Bytes(*r.Bytes)
	if r.GroupRanks != "" {
		return name + " on ranks " + finding.Short(r.GroupRanks)
	}
	return name
}

func gbps(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
