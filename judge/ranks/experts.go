package ranks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// unevenExperts judges the waiting for ranks whose experts get more tokens than those of other
// ranks. The sizes of all-to-alls show the tokens of a rank. If they were not recorded, it is the
// time by which grouped matrix products take longer on the rank.
func (c *Evaluator) unevenExperts() []tree.Reading {
	var splits summary.Splits
	experts, sized := slices.ContainsFunc(c.Kernels, func(k summary.Kernel) bool { return k.Category == "moe" }), false
	for i := range c.Collectives {
		r := &c.Collectives[i]
		experts = experts || r.Parallel == summary.ParallelExpert
		sized = sized || r.Op == "all-to-all" && (r.Bytes != nil || r.Splits != nil)
		if s := r.Splits; s != nil && !r.Partial {
			splits.Count, splits.WaitNS = splits.Count+s.Count, splits.WaitNS+s.WaitNS
			splits.MaxBytes, splits.MeanBytes = splits.MaxBytes+s.MaxBytes,
				splits.MeanBytes+s.MeanBytes
		}
	}
	busiest := c.busiest(func(r *summary.RankWait) int64 { return r.SplitBytes })
	products := c.busiest(func(r *summary.RankWait) int64 {
		if r.Others == nil {
			return 0
		}
		return r.Others.ExpertNS
	})
	experts = experts || products.most > 0
	margin := c.Limits[rule.UnevenExperts].Margin
	var ns int64
	var evidence []string
	var cause, most string
	switch {
	case !experts:
		return nil // programs without experts exchange different sizes too
	case splits.Count > 0 && over(splits.MaxBytes, splits.MeanBytes, margin):
		ns = splits.WaitNS
		cause = fmt.Sprintf("sizes of all-to-alls: largest rank %s times the mean, over %s collectives",
			times(splits.MaxBytes, splits.MeanBytes), unit.Count(splits.Count))
		evidence = append(evidence, cause)
		if over(busiest.most, busiest.mean, margin) {
			most = advice.RankName(busiest.rank)
			cause = fmt.Sprintf("most tokens: rank %d with %s, mean %s (%s times)", busiest.rank, unit.Bytes(busiest.most),
				unit.Bytes(busiest.mean), times(busiest.most, busiest.mean))
			evidence = append(evidence, cause)
		}
	case !sized && over(products.most, products.mean, margin) && !c.slower(products.rank, margin/2):
		ns, most = min(products.less, c.waiting()), advice.RankName(products.rank)
	default:
		return nil
	}
	if products.most > 0 {
		line := fmt.Sprintf("grouped matrix products: %s on rank %d, mean %s (%s times)", unit.Duration(products.most),
			products.rank, unit.Duration(products.mean), times(products.most, products.mean))
		cause, evidence = cmp.Or(cause, line), append(evidence, line)
	}
	r := c.reading(rule.UnevenExperts, "Uneven experts: waiting for "+cmp.Or(most, "the busiest ranks")+" takes %s", ns)
	if splits.Count > 0 && over(busiest.most, busiest.mean, margin) {
		r.Subject = advice.RankName(busiest.rank)
	}
	evidence = append([]string{"waiting: " + c.perStep(min(ns, c.Judged.ExposedComm()), c.all())}, evidence...)
	return complete(r, cause, evidence, []finding.Step{finding.Advise("balance-experts"),
		finding.Advise("replicate-experts")})
}

// slower reports whether the kernels of a rank that are not experts take longer than on other ranks
// by at least margin. Longer grouped matrix products are no sign of more tokens then.
func (c *Evaluator) slower(rank int, margin float64) bool {
	return slices.ContainsFunc(c.Ranks, func(r summary.RankWait) bool {
		o := r.Others
		return r.Rank == rank && o != nil && over(o.SameNS+o.MoreNS-o.ExpertNS,
			o.SameOthersNS+o.MoreOthersNS-o.ExpertOthersNS, margin)
	})
}

// A load is the rank with the largest value, compared with the mean.
type load struct {
	rank       int
	most, mean int64
	less       int64 // sum over all ranks of most - value
}

// busiest returns the load of the ranks whose value is positive.
func (c *Evaluator) busiest(value func(*summary.RankWait) int64) (out load) {
	var all []int64
	for i := range c.Ranks {
		if n := value(&c.Ranks[i]); n > 0 {
			all = append(all, n)
			if n > out.most {
				out.rank, out.most = c.Ranks[i].Rank, n
			}
		}
	}
	sum := int64(0)
	for _, n := range all {
		sum += n
		out.less = summary.Plus(out.less, out.most-n)
	}
	out.mean = sum / int64(max(1, len(all)))
	return out
}

// waiting returns the ns that all ranks wait in matched collectives.
func (c *Evaluator) waiting() (ns int64) {
	for _, r := range c.Ranks {
		ns += r.WaitNS
	}
	return ns
}

// over reports whether the largest value exceeds the mean by at least the share margin.
func over(most, mean int64, margin float64) bool {
	return mean > 0 && float64(most) >= (1+margin)*float64(mean)
}

// times returns the ratio of two numbers with two decimals.
func times(a, b int64) string {
	return strconv.FormatFloat(float64(a)/float64(cmp.Or(b, 1)), 'f', 2, 64)
}
