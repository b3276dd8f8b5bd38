package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

const mostLanes = 4 // GPUs with an activity panel

const mostMarks = 400 // steps per activity panel

// activity shows the lanes of GPUs, unless [ranksActivity] shows the same GPUs.
func activity(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	names := view.DeviceLabels(s)
	panels := make([]plot.TimePanel, len(s.Devices))
	var drawable []int
	for i, d := range s.Devices {
		if panels[i] = lanePanel(s, d, names[i]); len(panels[i].Tracks) > 0 {
			drawable = append(drawable, i)
		}
	}
	if len(drawable) == 0 {
		return plot.Chart{}, false
	}
	choice := choose(s, r, drawable, mostLanes)
	if len(choice.Devices) < choice.Of && onlyPaced(choice) {
		if _, again := ranksActivity(s); again {
			return plot.Chart{}, false
		}
	}
	var lanes plot.Timeline
	for _, i := range choice.Devices {
		lanes.Panels = append(lanes.Panels, panels[i])
	}
	c := plot.Chart{
		Title:    "GPU activity over time",
		Subtitle: "height: part of each bin in which the class ran; time from the start of the GPU window",
	}
	clocks := ""
	if starts, residual := oneClock(s, choice.Devices); len(lanes.Panels) > 1 && starts != nil && onOneAxis(lanes.Panels, starts) {
		c.Subtitle = "height: part of each bin in which the class ran; one axis of time"
		if residual != nil {
			clocks = alignedBy(*residual)
		}
	}
	c.Body = lanes
	c.Caption = joinSentences(joinSentences(words.Choice(choice, s.Devices), inputCaption(s, choice.Devices)), clocks)
	if left := r.Judged(s).UnrecordedNS; left > 0 {
		c.Caption = joinSentences(c.Caption, fmt.Sprintf("For %s the GPU ran work that is not in the capture; shares of the window leave this time out.",
			unit.Duration(perGPU(left, view.GPUs(s)))))
	}
	c.Alt = fmt.Sprintf("Activity over time of %s", label.Plural(int64(len(lanes.Panels)), "GPU"))
	return c, true
}

// onlyPaced reports whether the choice consists of only the slowest, the fastest and the median rank.
func onlyPaced(c view.Choice) bool {
	for _, at := range c.Devices {
		if words.Role(c.Roles[at]) == "" {
			return false
		}
	}
	return true
}

// binShares returns the busy part of each bin of the window, in units of [plot.Full].
// The last bin may be shorter than the others.
func binShares(bins []int64, length, window int64) (out []int64) {
	for i, ns := range bins {
		own := min(length, window-int64(i)*length)
		if own <= 0 {
			break
		}
		out = append(out, int64(plot.Full*max(0, min(1, float64(ns)/float64(own)))))
	}
	return out
}

// lanePanel returns the lanes of a GPU. It has none if the strip is empty.
func lanePanel(s *summary.Summary, d summary.Device, name string) plot.TimePanel {
	p := plot.TimePanel{Title: name, SpanNS: d.WindowNS}
	if product := label.Clean(d.Name); product != "" {
		p.Title += ", " + product
	}
	p.Title += ", window " + unit.Duration(d.WindowNS)
	if d.Strip == nil || d.Strip.BinNS <= 0 || d.WindowNS <= 0 {
		return p
	}
	p.Title += ", bins of " + unit.Duration(d.Strip.BinNS)
	for _, class := range []string{"compute", "comm", "copy", "memset"} {
		if bins := d.Strip.NS[class]; slices.ContainsFunc(bins, func(ns int64) bool { return ns > 0 }) {
			p.Tracks = append(p.Tracks, plot.Track{Lane: true, Name: class, Series: []plot.Series{
				{Color: classColor(class), BinNS: d.Strip.BinNS, Values: binShares(bins, d.Strip.BinNS, d.WindowNS)},
			}})
		}
	}
	end, last := int64(-1), false
	for _, st := range s.Steps {
		if st.Input != d.Input || st.Rank != d.Rank || st.Device != d.Device || len(p.Marks) == mostMarks {
			continue
		}
		from := st.StartNS - d.StartNS
		end, last = from+st.WallNS, true
		if from < 0 && end > 0 {
			from = 0 // the step began on the CPU before the GPU's window
		}
		p.Marks = append(p.Marks, plot.Mark{NS: from, Label: stepLabel(st.Name, st.Kind, st.Number)})
	}
	if last {
		p.Marks = append(p.Marks, plot.Mark{NS: end, Label: ""})
	}
	return p
}
