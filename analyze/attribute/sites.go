package attribute

import (
	"cmp"
	"slices"

	"assay/internal/label"
	"assay/internal/profile"
	"assay/summary"
	"assay/trace"
)

// A SiteID identifies a [Site]. Ids of one Attribution can be compared: equal places have
// equal ids.
type SiteID struct {
	context, forward, note contextID
	pass                   pass
}

// A Site is a place in the program that launches GPU work. For work of a backward pass, the
// module and the functions are those of the forward operator.
type Site struct {
	Op, Module string
	Range      string          // the innermost annotation; "" if only a step's is open
	Pass       string          // "forward", "backward", ...
	Lines      []profile.Frame // Python functions, innermost first, at most MaxSiteLines
}

// MaxSiteLines is the maximum number of functions of a site.
const MaxSiteLines = 8

// SiteID returns the place that launched the activity of the given number, and whether its
// launch is known.
func (a *Attribution) SiteID(number int) (id SiteID, ok bool) {
	i := a.Links.Of[number]
	if i < 0 {
		return SiteID{}, false
	}
	o := &a.origins[i]
	return SiteID{o.context, o.forward, o.note, o.pass}, true
}

// Site returns the place of an id.
func (a *Attribution) Site(id SiteID) Site {
	at := cmp.Or(id.forward, id.context)
	return Site{Op: a.ctx.name(a.ctx.at(id.context).op), Module: a.modulePath(at), Range: a.ctx.name(id.note),
		Pass: id.pass.String(), Lines: a.lineFrames(at)}
}

// lineFrames returns the Python functions that enclose a context, innermost first. It leaves
// out functions of libraries, unless there is no other.
func (a *Attribution) lineFrames(id contextID) (out []profile.Frame) {
	for nearest := a.ctx.at(id).line; id != 0 && len(out) < MaxSiteLines; id = a.ctx.at(id).parent {
		name := a.ctx.name(id)
		if a.ctx.at(id).kind == trace.Python && (id == nearest || label.IsUserCode(name)) {
			out = append(out, FrameOf(name))
		}
	}
	return out
}

// ShapeOf returns the dimensions and types of an operator's arguments as JSON lists. They are
// "" if they were not recorded.
func ShapeOf(t *trace.Trace, o *trace.Op) (dims, types string) {
	s := t.Shape(o.Shape)
	return compact(t.Name(s.Dims)), compact(t.Name(s.Types))
}

// Explain makes [Work] find the causes of one more gap, besides the longest ones, for
// [Attribution.GapAt]. The device is an index into Timeline.Devices, start the gap's start in
// ns. It must be called before Work.
func (h *Host) Explain(device int, start int64) {
	if h.explained == nil {
		h.explained = make(map[int][]int64)
	}
	h.explained[device] = append(h.explained[device], start)
}

// A Gap is a gap with all its causes: see [Host.Explain].
type Gap struct {
	Before, After *trace.Activity // the activities around the gap; nil if there is none
	Call          *trace.Call     // the launch call of After; nil if it is unknown
	Causes        []summary.Idle  // Owner, State, Name and NS, longest first
}

// GapAt returns the gap that begins at the given time, and whether its causes are known.
func (a *Attribution) GapAt(device int, start int64) (out Gap, ok bool) {
	for _, g := range a.idle.shown[device] {
		if g.gap.Start != start {
			continue
		}
		out.Before, out.After = g.gap.Before, g.gap.After
		if g.gap.Link >= 0 {
			out.Call = a.Links.Call(g.gap.Link)
		}
		rows := &a.idle.rows[device]
		for number, ns := range g.shares {
			if ns > 0 {
				r := rows.rows[number]
				out.Causes = append(out.Causes, summary.Idle{Owner: r.Owner, State: r.State, Name: r.Name, NS: ns})
			}
		}
		slices.SortFunc(out.Causes, func(x, y summary.Idle) int {
			return cmp.Or(cmp.Compare(y.NS, x.NS), cmp.Compare(x.Owner, y.Owner), cmp.Compare(x.State, y.State),
				cmp.Compare(x.Name, y.Name))
		})
		return out, true
	}
	return out, false
}
