package pictures

import (
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// maxStretch is how many times the longest window the aligned windows may span. Windows
// further apart do not show the same work.
const maxStretch = 2

// ranksActivity shows the lanes of the slowest, the median and the fastest rank on one
// axis of time.
func ranksActivity(s *summary.Summary) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	if devices == nil {
		return plot.Chart{}, false
	}
	pace, waits := view.PaceOf(s, devices), view.RankWaits(s, devices)
	if pace.Unknown != view.PaceKnown || waits == nil {
		return plot.Chart{}, false
	}
	var lanes plot.Timeline
	var starts []int64
	var residual int64
	for _, one := range []struct {
		name string
		at   int
	}{{"slowest", pace.Slowest}, {"median", pace.Median}, {"fastest", pace.Fastest}} {
		if one.at < 0 {
			continue
		}
		d, w := s.Devices[devices[one.at]], waits[one.at]
		p := lanePanel(s, d, one.name+": "+rankAt(places, one.at))
		if len(p.Tracks) == 0 || w == nil || w.OffsetNS == nil || w.ResidualNS == nil {
			return plot.Chart{}, false
		}
		residual = max(residual, *w.ResidualNS)
		starts = append(starts, summary.Plus(summary.Plus(d.StartNS, baseTime(s, d.Input)), -*w.OffsetNS))
		lanes.Panels = append(lanes.Panels, p)
	}
	if !onOneAxis(lanes.Panels, starts) {
		return plot.Chart{}, false
	}
	dropEmptyLanes(lanes.Panels)
	c := plot.Chart{
		Title:    "GPU activity of the slowest, median and fastest rank",
		Subtitle: "height: part of each bin in which the class ran; one axis of time, clocks aligned",
		Body:     lanes,
		Caption:  joinSentences(paceCaption(pace), alignedBy(residual)),
	}
	if pace.Median < 0 {
		c.Title = strings.Replace(c.Title, "slowest, median and", "slower and the", 1)
		c.Title = strings.Replace(c.Title, "fastest", "faster", 1)
	}
	c.Alt = "Activity over time of " + label.Plural(int64(len(lanes.Panels)), "GPU") + " with aligned clocks"
	return c, true
}

// alignedBy returns the sentence on the clocks of ranks.
func alignedBy(residual int64) string {
	return "Clocks are aligned by the ends of matched collectives; residual at most " + unit.Duration(residual) + "."
}

// oneClock returns the starts of the windows of GPUs on one clock: the clock of their input or, for several
// ranks of a job, the aligned clock, with the largest residual. It returns nil if they have no common
// clock.
func oneClock(s *summary.Summary, devices []int) (starts []int64, residual *int64) {
	sameInput := true
	for _, i := range devices {
		starts = append(starts, s.Devices[i].StartNS)
		sameInput = sameInput && s.Devices[i].Input == s.Devices[devices[0]].Input
	}
	if sameInput {
		return starts, nil
	}
	waits := view.RankWaits(s, devices)
	if waits == nil {
		return nil, nil
	}
	residual = new(int64)
	for n, i := range devices {
		w := waits[n]
		if w == nil || w.OffsetNS == nil || w.ResidualNS == nil || w.Job != waits[0].Job {
			return nil, nil
		}
		starts[n] = summary.Plus(summary.Plus(starts[n], baseTime(s, s.Devices[i].Input)), -*w.OffsetNS)
		*residual = max(*residual, *w.ResidualNS)
	}
	return starts, residual
}

// leastLane is the minimum height of a lane's highest bin, in units of [plot.Full], for the lane to be
// drawn.
const leastLane = plot.Full / 50

// dropEmptyLanes removes the lanes that are too low to be visible in any of the panels.
func dropEmptyLanes(panels []plot.TimePanel) {
	seen := map[string]bool{}
	for _, p := range panels {
		for _, t := range p.Tracks {
			seen[t.Name] = seen[t.Name] || t.Series[0].Values != nil && slices.Max(t.Series[0].Values) >= leastLane
		}
	}
	for i := range panels {
		panels[i].Tracks = slices.DeleteFunc(panels[i].Tracks, func(t plot.Track) bool { return !seen[t.Name] })
	}
}

// baseTime returns the base time of an input, 0 if it has none.
func baseTime(s *summary.Summary, input int) int64 {
	if input < 0 || input >= len(s.Inputs) || s.Inputs[input].BaseTimeNS == nil {
		return 0
	}
	return *s.Inputs[input].BaseTimeNS
}

// onOneAxis moves panels, which begin at 0, to their positions on one axis, which begins with the first. It
// reports whether they are close enough to each other.
func onOneAxis(panels []plot.TimePanel, starts []int64) bool {
	first, longest, span := starts[0], int64(0), int64(0)
	for i, p := range panels {
		first, longest = min(first, starts[i]), max(longest, p.SpanNS)
	}
	for i, p := range panels {
		if starts[i]-first > maxStretch*longest || starts[i] < first {
			return false
		}
		span = max(span, starts[i]-first+p.SpanNS)
	}
	if span > maxStretch*longest {
		return false
	}
	for i := range panels {
		p := &panels[i]
		p.FromNS = starts[i] - first
		p.ToNS, p.SpanNS = p.FromNS+p.SpanNS, span
		for j := range p.Marks {
			p.Marks[j].NS += p.FromNS
		}
	}
	return true
}
