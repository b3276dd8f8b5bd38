package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/compare/ranks"
	"assay/internal/unit"
	"assay/summary/view"
)

// rankReason describes what changed among the ranks: a rank that others wait for, now or before, or
// else waiting and transfers of all ranks. It returns "" if nothing changed or if the waits are
// unknown. Leads reports whether this explains most of the change of the step.
func (c *Comparison) rankReason() (text string, leads bool) {
	w := c.Waits
	if w == nil || !w.Base.Matched || !w.New.Matched {
		return "", false
	}
	was, is := w.Base.Stragglers, w.New.Stragglers
	delta := c.Budget.DeltaNS
	of := is
	if len(is) == 0 {
		of = was
	}
	waits := c.waitOfOthers(of)
	explains := !c.isStill(delta) && 2*size(waits) >= size(delta) && (waits > 0) == (delta > 0)
	switch {
	case len(of) == 0:
		text = c.waitReason(delta)
		return text, text != ""
	case slices.Equal(was, is) && !explains:
		return "", false
	case slices.Equal(was, is):
		text = fmt.Sprintf("%s still the straggler%s", rankNames(is, "is", "are"), plural(is))
	case len(is) == 0:
		text = fmt.Sprintf("%s longer the straggler%s", rankNames(was, "is no", "are no"), plural(was))
	case len(was) == 0:
		text = fmt.Sprintf("%s the straggler%s", rankNames(is, "became", "became"), plural(is))
	default:
		text = fmt.Sprintf("the straggler%s moved from %s to %s", plural(is), rankNames(was, "", ""), rankNames(is, "", ""))
	}
	return text + ": " + c.ownChange(of) + c.othersWait(of), explains || c.isStill(delta)
}

// waitReason distinguishes longer transfers from longer waiting, if no rank is late more often than
// others.
func (c *Comparison) waitReason(delta int64) string {
	part := c.mover(delta)
	if c.isStill(delta) || part == nil || part.Name != BudgetComm {
		return ""
	}
	waits, transfers := *c.Waits.New.Wait-*c.Waits.Base.Wait, *c.Waits.New.Transfer-*c.Waits.Base.Transfer
	explains := func(ns int64) bool { return (ns > 0) == (part.DeltaNS > 0) && 2*size(ns) >= size(part.DeltaNS) }
	switch {
	case explains(transfers):
		return fmt.Sprintf("transfers %s on each rank, waiting %s; %s", Signed(transfers), Signed(waits), c.because(part))
	case explains(waits):
		return fmt.Sprintf("ranks wait %s for each other, no rank is always last; transfers %s", Signed(waits),
			Signed(transfers))
	}
	return ""
}

// rankNames returns ranks as the subject of a sentence, with its verb in the singular or plural.
func rankNames(list []int, one, many string) string {
	var names []string
	for _, r := range list[:min(mostRanks, len(list))] {
		names = append(names, strconv.Itoa(r))
	}
	if more := len(list) - mostRanks; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(list) == 1 {
		return strings.TrimSpace("rank " + names[0] + " " + one)
	}
	last := len(names) - 1
	return strings.TrimSpace("ranks " + strings.Join(names[:last], ", ") + " and " + names[last] + " " + many)
}

// mostRanks is the number of ranks that a headline names.
const mostRanks = 4

// plural returns the ending of a noun.
func plural(list []int) string {
	if len(list) == 1 {
		return ""
	}
	return "s"
}

// ownChange describes which part of its step changed most on the first of some ranks, and how it
// compares with the other ranks: "compute +1.2 ms, its kernels take 25% longer than on the others".
func (c *Comparison) ownChange(list []int) string {
	i := slices.IndexFunc(c.Ranks, func(r ranks.Row) bool { return r.Rank == list[0] })
	if i < 0 || c.Ranks[i].Base == nil || c.Ranks[i].New == nil {
		return ""
	}
	base, new := c.Ranks[i].Base, c.Ranks[i].New
	var largest ranks.Part
	before := base.Parts()
	for k, p := range new.Parts() {
		if d := p.NS - before[k].NS; p.Name != BudgetComm && size(d) > size(largest.NS) {
			largest = ranks.Part{Name: p.Name, NS: d}
		}
	}
	if largest.NS == 0 {
		return ""
	}
	text := largest.Name + " " + Signed(largest.NS)
	if len(list) > 1 {
		text += fmt.Sprintf(" on rank %d", list[0])
	}
	if new.Straggler {
		text += whyLate(new, largest.Name)
	}
	return text + "; "
}

// whyLate describes how a late rank differs from the others in a part of the step.
func whyLate(of *ranks.Side, part string) string {
	o := of.Others
	switch {
	case o == nil:
	case part == BudgetIdle && o.IdleNS > o.IdleOthersNS && o.IdleState != "":
		text := ", host wait: " + view.State(o.IdleState)
		if o.IdleIn != "" {
			text += fmt.Sprintf(" in %q", o.IdleIn)
		}
		return text
	case part != BudgetCompute:
	case more(o.MoreNS, o.MoreOthersNS):
		return ", it runs more kernels than the others"
	case more(o.SameNS, o.SameOthersNS):
		return fmt.Sprintf(", its kernels take %s longer than on the others",
			unit.Share(o.SameNS-o.SameOthersNS, o.SameOthersNS))
	}
	return ""
}

// more reports whether a time exceeds that of others by more than 2%.
func more(ns, others int64) bool { return ns > others && ns-others > others/50 }

// othersWait describes the change of the waiting of the other ranks.
func (c *Comparison) othersWait(list []int) string {
	others := c.Waits.New.Ranks - len(list)
	if others == 1 {
		return "the other rank waits " + Signed(c.waitOfOthers(list))
	}
	return fmt.Sprintf("the other %d ranks wait %s", others, Signed(c.waitOfOthers(list)))
}

// waitOfOthers returns the change in ns of the mean wait of the ranks that are not in a list.
func (c *Comparison) waitOfOthers(list []int) int64 {
	mean := func(of func(ranks.Row) *ranks.Side) int64 {
		var ns, n int64
		for _, r := range c.Ranks {
			if side := of(r); side != nil && !slices.Contains(list, r.Rank) {
				ns, n = ns+side.Wait(), n+1
			}
		}
		return ns / max(1, n)
	}
	return mean(func(r ranks.Row) *ranks.Side { return r.New }) - mean(func(r ranks.Row) *ranks.Side { return r.Base })
}
