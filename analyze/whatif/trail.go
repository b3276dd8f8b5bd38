package whatif

import (
	"math/bits"
	"slices"
	"strings"

	"assay/analyze/critical"
	"assay/summary"
)

// Trails adds the critical paths of the chosen steps to the details of a summary, for each input to
// that of its first GPU.
func (g *Group) Trails(s *summary.Summary, paths []critical.Path) {
	chosen := g.chosen(paths)
	for r, in := range g.Inputs {
		at := slices.IndexFunc(s.Details, func(d summary.Detail) bool { return d.Input == in.Index })
		if at < 0 {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(chosen), func(i int) bool { return paths[i].Rank != r })
		slices.SortStableFunc(mine, func(a, b int) int { return int(min(1, max(-1, paths[a].Window.Start-paths[b].Window.Start))) })
		g.trail(&s.Details[at], paths, mine, min(summary.MaxDetailPath, summary.MaxRunPath/len(s.Inputs)))
	}
}

// A joint is a run of pieces of a path.
type joint struct {
	start, end int64
	longest    *critical.Piece
	count      int32
}

// trail sets the path of a detail, with at most a number of pieces.
func (g *Group) trail(d *summary.Detail, paths []critical.Path, steps []int, most int) {
	out := &summary.DetailPath{Steps: len(steps), Pieces: []summary.PathPiece{}}
	var shown [][]critical.Piece
	rank, sum := 0, int64(0)
	for _, i := range steps {
		p := &paths[i]
		if p.Verdict.Level != critical.Abstain && len(shown) < most {
			shown = append(shown, g.Pieces(p))
			rank, sum = p.Rank, sum+p.Window.Len()
		} else if p.Verdict.Level != critical.Abstain {
			out.StepsLeft++
		} else if out.Withheld++; out.Withheld == 1 {
			out.Reason = strings.Join(p.Verdict.Reasons, "; ")
		}
	}
	count := 0
	for count = joints(shown, 0, most, nil); count > most; count = joints(shown, out.ShortNS, most, nil) {
		if out.ShortNS *= 2; out.ShortNS == 0 { // below this, each row would be too short for so few
			out.ShortNS = 1 << bits.Len64(uint64(sum/int64(16*most)))
		}
	}
	list := make([]joint, 0, count)
	joints(shown, out.ShortNS, most, func(j joint) { list = append(list, j) })
	if len(shown) > 0 {
		origin := d.StartNS - g.Offset(rank)
		names := make(map[string]int32)
		for i, name := range d.Names {
			names[name] = int32(i)
		}
		for _, j := range list {
			x, name := g.pathPiece(&j)
			x.AtNS = j.start - origin
			n, ok := names[name]
			if !ok {
				name = label(name)
				n = int32(len(d.Names))
				d.Names, names[name] = append(d.Names, name), n
			}
			x.Name = n
			out.Pieces = append(out.Pieces, x)
		}
	}
	d.Path = out
}

// joints calls f, which may be nil, with the pieces of the paths by start, and returns how many there are, or more
// than most. Neighbours that are shorter than a length are joined until they have it together.
func joints(paths [][]critical.Piece, short int64, most int, f func(joint)) (n int) {
	for _, pieces := range paths {
		var j joint
		for i := range slices.Backward(pieces) {
			x := &pieces[i]
			if j.count > 0 && x.Span.Len() < short && j.end-j.start < short {
				j.end = x.Span.End
				j.count++
				if x.Span.Len() > j.longest.Span.Len() {
					j.longest = x
				}
				continue
			}
			if n++; n > most {
				return n
			} else if f != nil && j.count > 0 {
				f(j)
			}
			j = joint{x.Span.Start, x.Span.End, x, 1}
		}
		if f != nil && j.count > 0 {
			f(j)
		}
	}
	return n
}

// pathPiece describes the longest piece of a run, with the name of its activity.
func (g *Group) pathPiece(j *joint) (x summary.PathPiece, name string) {
	s := critical.Starts{Program: g.Program}.Stretch(j.longest)
	in := &g.Inputs[s.Place.Input]
	track := &in.Trace.Tracks[s.Place.Track]
	x = summary.PathPiece{NS: j.end - j.start, Class: s.Class.String(), Input: in.Index, Device: track.Device, Stream: track.Stream,
		Host: !s.Place.GPU, Waits: s.Delay}
	if j.count > 1 {
		x.Count = j.count
	}
	if b := s.Bound; b != nil {
		x.Cause, x.Inferred = b.Kind, b.Inferred
	}
	if n := s.Next; n != nil {
		x.Next, x.SlackNS = n.Kind, n.Spare
	}
	return x, s.Place.Name
}
