package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/summary"
	"assay/unit"
)

// An ownerShare is the idle time of all devices that has one owner, and of a late
// host one state.
type ownerShare struct {
	owner, state string
	ns, longest  int64
	count        int64  // pieces of it
	name         string // that with the most of it
	most         int64  // of which this much
}

// owners returns who owned the idle time, the largest share first.
func (c *court) owners() []ownerShare {
	type key struct{ owner, state string }
	index := map[key]int{}
	byName := map[summary.Idle]int64{}
	var out []ownerShare
	for _, r := range c.Idle {
		k := key{r.Owner, r.State}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, ownerShare{owner: r.Owner, state: r.State})
		}
		o := &out[i]
		o.ns, o.longest, o.count = summary.Plus(o.ns, r.NS), max(o.longest, r.MaxNS), summary.Plus(o.count, r.Count)
		name := summary.Idle{Owner: r.Owner, State: r.State, Name: r.Name}
		byName[name] = summary.Plus(byName[name], r.NS)
		if n := byName[name]; n > o.most || n == o.most && r.Name < o.name {
			o.name, o.most = r.Name, n
		}
	}
	slices.SortFunc(out, func(a, b ownerShare) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.owner, b.owner), cmp.Compare(a.state, b.state))
	})
	return out
}

// telling are the owners that decide on advice: those with a fifth of the idle
// time or more, at most three, and the largest in any case.
func telling(owners []ownerShare, total int64) []ownerShare {
	n := 0
	for n < min(3, len(owners)) && (n == 0 || owners[n].ns >= total/5) {
		n++
	}
	return owners[:n]
}

func ownerEvidence(owners []ownerShare, total int64) (out []string) {
	for _, o := range telling(owners, total) {
		line := o.owner
		if o.state != "" {
			line += ", " + o.state
		}
		line = fmt.Sprintf("%s: %s of the idle time (%s)", line, unit.Share(o.ns, total), fraction(o.ns, total))
		if o.name != "" {
			line += fmt.Sprintf(", most of it in %q (%s)", short(o.name), unit.Duration(o.most))
		}
		out = append(out, line)
	}
	return out
}

// ownerAdvice says what to do about the largest shares, in their order.
func ownerAdvice(owners []ownerShare, total int64, how *recorder) (out []string) {
	for _, o := range telling(owners, total) {
		for _, line := range o.advice(how) {
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

func (o ownerShare) advice(how *recorder) []string {
	switch o.owner {
	case summary.OwnerLaunch:
		if o.longest >= longGap {
			return []string{say("warm-up-first", "how", how.warmUp), say("launch-less")}
		}
		return []string{say("launch-less"), say("launch-more-each")}
	case summary.OwnerBetween:
		return []string{say("launch-more-each"), say("launch-less")}
	case summary.OwnerDependency:
		return []string{say("see-what-holds")}
	case summary.OwnerNothing:
		return []string{how.itself}
	case summary.OwnerOpaque:
		return []string{say("record-graph-nodes")}
	case summary.OwnerUnknown:
		return []string{say("begin-earlier")}
	}
	switch o.state {
	case summary.StateSync:
		return []string{say("remove-synchronization")}
	case summary.StateCopy:
		return []string{say("copy-without-waiting")}
	case summary.StateAlloc:
		return []string{say("allocate-less")}
	case summary.StateData:
		return []string{say("load-data-ahead")}
	case summary.StateOS:
		return []string{say("see-what-the-system-waits-for")}
	case summary.StateOff:
		return []string{say("give-cores")}
	case summary.StateUnrecorded:
		return []string{how.host}
	}
	if o.name != "" && o.count > 0 && o.ns/o.count >= longGap {
		// No launch takes so long: the host did something else.
		return []string{say("see-what-the-host-does", "what", strconv.Quote(short(o.name)))}
	}
	return []string{say("launch-less"), say("launch-more-each")}
}
