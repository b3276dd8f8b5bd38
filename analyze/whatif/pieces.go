package whatif

import (
	"fmt"
	"slices"
	"strings"

	"assay/analyze/critical"
	"assay/trace"
)

// A Course is the critical path of one step, piece by piece.
type Course struct {
	Input, Rank int
	Step        string
	StartNS, NS int64 // on the clock of the first rank if ranks are joined, else of the capture
	Verdict     string
	Reasons     []string
	Pieces      []Piece // by start; they partition the time of the step. None if the path is withheld
}

// A Piece is a part of a critical path.
type Piece struct {
	StartNS, NS int64
	Class       string
	Name        string // of the activity, or of that which waited
	Operator    string
	Lane        string // "GPU 0 stream 7" or "CPU thread 7"
	Rank        int
	Device      int64 // of GPU work, with its stream
	Stream      int64
	GPU         bool
	Waits       bool // it is a delay before the activity

	// Cause is what the activity waited for at last, and Next what it would have waited for without
	// that, at most Slack earlier; "" for none.
	Cause, Next string
	Inferred    bool
	SlackNS     int64
}

// Courses returns the critical paths of the steps that were asked for, and why ranks are not joined.
func Courses(inputs []Input, q Question) (out []Course, apart string, err error) {
	if inputs, err = q.choose(inputs); err != nil {
		return nil, "", err
	}
	groups, apart := Graphs(inputs, q)
	for _, g := range groups {
		paths := g.Paths()
		for _, i := range g.chosen(paths) {
			out = append(out, g.Course(&paths[i]))
		}
	}
	return out, apart, nil
}

// chosen returns the paths of the steps that start in the parts of the inputs.
func (g *Group) chosen(paths []critical.Path) (out []int) {
	for i := range paths {
		in := &g.Inputs[paths[i].Rank]
		if at := g.Steps[i].Start + g.Offset(paths[i].Rank); in.Context {
			continue
		} else if in.Part.Empty() || at >= in.Part.Start && at < in.Part.End || len(paths) == 1 {
			out = append(out, i)
		}
	}
	return out
}

// Course returns the pieces of a path. Times are on the clock of the graph.
func (g *Group) Course(p *critical.Path) Course {
	in := &g.Inputs[p.Rank]
	c := Course{Input: in.Index, Rank: in.Rank, Step: label(p.Step), StartNS: p.Window.Start, NS: p.Window.Len(),
		Verdict: p.Verdict.Level.String(), Reasons: texts(p.Verdict.Reasons)}
	if p.Verdict.Level == critical.Abstain {
		return c
	}
	starts := critical.Starts{Program: g.Program}
	pieces := g.Pieces(p)
	c.Pieces = make([]Piece, 0, len(pieces))
	for i := range slices.Backward(pieces) {
		x := &pieces[i]
		s := starts.Stretch(x)
		track := &g.Inputs[s.Place.Input].Trace.Tracks[s.Place.Track]
		row := Piece{StartNS: x.Span.Start, NS: x.Span.Len(), Class: s.Class.String(), Name: s.Place.Name, Operator: s.Place.Operator,
			Rank: s.Place.Rank, GPU: s.Place.GPU, Device: track.Device, Stream: track.Stream, Waits: s.Delay, Lane: lane(track, s.Place.GPU)}
		if b := s.Bound; b != nil {
			row.Cause, row.Inferred = b.Kind, b.Inferred
		}
		if n := s.Next; n != nil {
			row.Next, row.SlackNS = n.Kind, n.Spare
		}
		c.Pieces = append(c.Pieces, row)
	}
	return c
}

// lane names a track as inspect does, without the name of a thread.
func lane(track *trace.Track, gpu bool) string {
	if gpu {
		return fmt.Sprintf("GPU %d stream %d", track.Device, track.Stream)
	}
	return "CPU thread " + strings.Clone(track.TID)
}
