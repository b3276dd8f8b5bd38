package page

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/words"
	"assay/summary"
)

// A path is the critical path of the steps of a rank. The columns have a value for each piece.
type path struct {
	spans
	Count []int32 `json:"count"` // pieces that are joined
	Class []int   `json:"class"` // names
	Kind  string  `json:"kind"`  // a digit: 0 compute, 1 comm, 2 copies, 3 the CPU, 4 a delay, 5 not explained, 6 data loader
	Name  []int   `json:"name"`
	Where []int   `json:"where"` // of Places
	Cause []int   `json:"cause"` // names, or -1
	Next  []int   `json:"next"`  // names, or -1
	Slack []int64 `json:"slack"`
	Waits []int   `json:"waits"` // 1: a delay before what Name names

	Places []pathPlace `json:"places"`
	Note   string      `json:"note,omitempty"` // what is withheld or joined
}

// A pathPlace is a stream of a device of the page, or the CPU of its rank.
type pathPlace struct {
	Device int   `json:"device"` // -1 for one that is not in the page
	Stream int64 `json:"stream"`
	Host   bool  `json:"host,omitempty"`
}

// pathOf returns the critical path of a detail, or nil if it has none or all of it is withheld.
func pathOf(d *summary.Detail, details []*summary.Detail, n *names) *path {
	if d.Path == nil || len(d.Path.Pieces) == 0 {
		return nil
	}
	out := &path{Note: pathNote(d.Path)}
	kinds := make([]byte, 0, len(d.Path.Pieces))
	where := map[pathPlace]int{}
	for _, p := range d.Path.Pieces {
		out.add(p.AtNS, p.NS)
		place := pathPlace{Host: p.Host, Device: slices.IndexFunc(details, func(o *summary.Detail) bool {
			return o.Input == p.Input && (p.Host || o.Device == p.Device)
		})}
		if !p.Host {
			place.Stream = p.Stream
		}
		at, ok := where[place]
		if !ok {
			at = len(out.Places)
			where[place], out.Places = at, append(out.Places, place)
		}
		cause, next, waits := -1, -1, 0
		if p.Cause != "" {
			text := words.WaitedFor(p.Cause)
			if p.Inferred {
				text += " (inferred)"
			}
			cause = n.number(text)
		}
		if p.Next != "" {
			next = n.number(words.WaitedFor(p.Next))
		}
		if p.Waits {
			waits = 1
		}
		name := n.number
		if !p.Host {
			name = n.kernel
		}
		out.Count, out.Class = append(out.Count, max(1, p.Count)), append(out.Class, n.number(words.PathClass(p.Class)))
		kinds = append(kinds, pathDigit(&p))
		out.Name, out.Where = append(out.Name, name(d.Names[p.Name])), append(out.Where, at)
		out.Cause, out.Next = append(out.Cause, cause), append(out.Next, next)
		out.Slack, out.Waits = append(out.Slack, p.SlackNS), append(out.Waits, waits)
	}
	out.Kind = string(kinds)
	return out
}

// pathDigit returns the digit of what a piece is drawn as.
func pathDigit(p *summary.PathPiece) byte {
	switch p.Class {
	case "compute":
		return '0'
	case "comm":
		return '1'
	case "copy":
		return '2'
	case "unexplained":
		return '5'
	case "dataloader":
		return '6'
	case "launch_delay", "kernel_gap", "sync_return":
		return '4'
	}
	return '3'
}

// pathNote says which steps have no path, and what is joined.
func pathNote(p *summary.DetailPath) string {
	text := ""
	if p.Withheld > 0 {
		text = fmt.Sprintf("The critical path of %d of %s is withheld: %s. ", p.Withheld, label.Plural(int64(p.Steps), "step"), prose(p.Reason))
	}
	if p.StepsLeft > 0 {
		text += fmt.Sprintf("That of the last %s is left out. ", label.Plural(int64(p.StepsLeft), "step"))
	}
	if p.ShortNS > 0 {
		text += fmt.Sprintf("On the critical path, pieces under %s are joined with their neighbours and described by the longest of them. ",
			unit.Duration(p.ShortNS))
	}
	return text
}
