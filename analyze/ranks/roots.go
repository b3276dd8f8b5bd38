package ranks

// A rank that waits in one group is late in the next one: with tensor and data parallelism, one slow rank makes the
// ranks of its tensor group late in all their data groups. They came last, and are not the cause.

// A blame is the waiting that one member caused in one group, in ns, and where it passes it on.
type blame struct {
	group, list int
	member      int
	caused      float64
	passed      float64 // share that the member passes on, because it had waited itself
}

// leastExplained is the share of the delay of a rank that its own waiting must explain to be its reason. Ranks wait
// for many reasons, and only a cascade makes both alike.
const leastExplained = 0.75

// roots returns for each member the waiting that began with it, in ns, or nil if that is the waiting that it caused.
func (j *Job) roots(t *topology, facts []Facts) []int64 {
	counted := func(n int) bool {
		g := j.groups[n]
		return g.matched != byNothing && g.sends == noSends && (t.classes <= 1 || t.ofPeers(g))
	}
	waited := make([]float64, len(j.members)) // in all groups
	of := make([][]int, len(j.members))       // groups of each member
	for n, g := range j.groups {
		if !counted(n) {
			continue
		}
		for i, l := range g.lists {
			waited[l.member] += float64(facts[n].Lists[i].Wait)
			of[l.member] = append(of[l.member], n)
		}
	}
	blames, passes := map[[2]int]*blame{}, false
	for n, g := range j.groups {
		if !counted(n) || len(g.lists) < 2 {
			continue
		}
		elsewhere := 0.0
		for i, l := range g.lists {
			elsewhere += waited[l.member] - float64(facts[n].Lists[i].Wait)
		}
		for i, l := range g.lists {
			f, others := &facts[n].Lists[i], float64(len(g.lists)-1)
			if f.Caused == 0 {
				continue
			}
			b := &blame{group: n, list: i, member: l.member, caused: float64(f.Caused)}
			blames[[2]int{n, l.member}] = b
			own := waited[l.member] - float64(f.Wait)
			delay := b.caused / others
			if excess := own - (elsewhere-own)/others; excess >= leastExplained*delay {
				b.passed = min(1, excess/delay)
				passes = true
			}
		}
	}
	if !passes {
		return nil
	}
	return j.passOn(facts, of, blames)
}

// passOn moves what members pass on to those for whom they had waited, and returns the sums.
func (j *Job) passOn(facts []Facts, of [][]int, blames map[[2]int]*blame) []int64 {
	const rounds = 4 // kinds of parallelism that follow each other
	for range rounds {
		moved := map[*blame]float64{}
		for n := range j.groups { // in a fixed order, because sums of floats depend on it
			for _, l := range j.groups[n].lists {
				b := blames[[2]int{n, l.member}]
				if b == nil || b.passed == 0 || b.caused == 0 {
					continue
				}
				j.giveTo(facts, of, blames, b, moved)
			}
		}
		for b, ns := range moved {
			b.caused += ns
		}
	}
	out := make([]int64, len(j.members))
	for n := range j.groups {
		for _, l := range j.groups[n].lists {
			if b := blames[[2]int{n, l.member}]; b != nil {
				out[l.member] += int64(b.caused + 0.5)
			}
		}
	}
	return out
}

// giveTo adds to moved what a member passes on: by how long it waited in each other group, and by how much each
// member of these had caused.
func (j *Job) giveTo(facts []Facts, of [][]int, blames map[[2]int]*blame, b *blame, moved map[*blame]float64) {
	type share struct {
		to   *blame
		part float64
	}
	var shares []share
	whole := 0.0
	for _, h := range of[b.member] {
		if h == b.group {
			continue
		}
		wait, all := 0.0, 0.0
		var late []*blame
		for i, l := range j.groups[h].lists {
			if l.member == b.member {
				wait = float64(facts[h].Lists[i].Wait)
			} else if x := blames[[2]int{h, l.member}]; x != nil {
				late = append(late, x)
				all += float64(facts[h].Lists[i].Caused)
			}
		}
		for _, x := range late {
			part := wait * float64(facts[h].Lists[x.list].Caused) / all
			shares = append(shares, share{x, part})
			whole += part
		}
	}
	if whole <= 0 {
		return
	}
	give := b.caused * b.passed
	moved[b] -= give
	for _, s := range shares {
		moved[s.to] += give * s.part / whole
	}
}
