package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
	"assay/summary/view"
)

// fewRanks is the number of ranks up to which a timeline shows all by default. Eight are
// the GPUs of one machine.
const fewRanks = 8

// choose returns the files of the timeline: those of --rank, or else all if there are few,
// or else those of the ranks that stand out.
func (conv *conversion) choose(e env, c *command, s *summary.Summary, files []*timelineFile) ([]*timelineFile, error) {
	var given []int
	for _, f := range files {
		given = append(given, f.rank())
	}
	given = slices.Compact(given)
	wanted := given
	switch {
	case conv.window.rank != "": // no others were read
	case len(given) > fewRanks:
		var why string
		wanted, why = standOut(s, given)
		e.say("assay %s: %d ranks were given; the timeline has %s; choose others with --rank", c.name, len(given), why)
	}
	return slices.DeleteFunc(slices.Clone(files), func(f *timelineFile) bool { return !slices.Contains(wanted, f.rank()) }), nil
}

// standOut returns the slowest, the median and the fastest rank, and their names. If the
// ranks have no order, it returns the first ones.
func standOut(s *summary.Summary, given []int) (ranks []int, why string) {
	devices := view.RankDevices(s)
	if devices == nil {
		return given[:fewRanks], "ranks " + rankList(given[:fewRanks])
	}
	p := view.PaceOf(s, devices)
	if p.Unknown != view.PaceKnown {
		return given[:fewRanks], "ranks " + rankList(given[:fewRanks])
	}
	var names []string
	for _, of := range []struct {
		at   int
		name string
	}{{p.Slowest, "slowest"}, {p.Median, "median"}, {p.Fastest, "fastest"}} {
		if of.at >= 0 {
			rank := s.Devices[devices[of.at]].Rank
			ranks = append(ranks, rank)
			names = append(names, fmt.Sprintf("rank %d (%s)", rank, of.name))
		}
	}
	return ranks, strings.Join(names, ", ")
}

// parseRanks reads a list such as "0,3,5-7", and reports whether it is one. The ranks are in
// order.
func parseRanks(text string) (ranks []int, ok bool) {
	const most = 1 << 20
	for _, part := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		a, err1 := strconv.ParseUint(low, 10, 24)
		b, err2 := strconv.ParseUint(high, 10, 24)
		if err1 != nil || err2 != nil || b < a || len(ranks)+int(b-a) >= most {
			return nil, false
		}
		for n := a; n <= b; n++ {
			ranks = append(ranks, int(n))
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks), true
}

// rankList returns ascending ranks as text: "0, 3, 5-7".
func rankList(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		switch {
		case k > i+1:
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[k]))
		default:
			k = i
			parts = append(parts, strconv.Itoa(ranks[i]))
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}
