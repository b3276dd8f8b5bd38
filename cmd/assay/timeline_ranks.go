package main

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view"
	"assay/trace/window"
)

// fewRanks is the number of ranks up to which a timeline shows all by default: the usual number of
// GPUs in one machine.
const fewRanks = 8

// choose returns the files of the timeline: those of --rank, all of them if there are few, or
// otherwise those of the ranks that stand out.
func (conv *conversion) choose(e env, c *command, s *summary.Summary, files []*timelineFile) ([]*timelineFile, error) {
	var given []int
	for _, f := range files {
		given = append(given, f.rank())
	}
	given = slices.Compact(given)
	wanted := given
	switch {
	case conv.window.rank != "": // only these ranks were read
	case len(given) > fewRanks:
		var why string
		wanted, why = standOut(s, given)
		e.say("assay %s: %d ranks were given; the timeline has %s; choose others with --rank", c.name, len(given), why)
	}
	return slices.DeleteFunc(slices.Clone(files), func(f *timelineFile) bool { return !slices.Contains(wanted, f.rank()) }), nil
}

// standOut returns the slowest, the median and the fastest rank, and a text that names them. If the
// ranks cannot be ordered by pace, it returns the first ones.
func standOut(s *summary.Summary, given []int) (ranks []int, why string) {
	devices := view.RankDevices(s)
	if devices == nil {
		return given[:fewRanks], "ranks " + window.ListNumbers(given[:fewRanks])
	}
	p := view.PaceOf(s, devices)
	if p.Unknown != view.PaceKnown {
		return given[:fewRanks], "ranks " + window.ListNumbers(given[:fewRanks])
	}
	var names []string
	for _, place := range []struct {
		at   int
		name string
	}{{p.Slowest, "slowest"}, {p.Median, "median"}, {p.Fastest, "fastest"}} {
		if place.at >= 0 {
			rank := s.Devices[devices[place.at]].Rank
			ranks = append(ranks, rank)
			names = append(names, fmt.Sprintf("rank %d (%s)", rank, place.name))
		}
	}
	return ranks, strings.Join(names, ", ")
}
