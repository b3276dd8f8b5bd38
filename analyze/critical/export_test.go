package critical

import "slices"

// Reproduced reports whether an unchanged replay gives back every measured start.
func (g *Graph) Reproduced() bool {
	g.finish()
	return slices.Equal(g.replay(nil, false, g.plan).start, g.start)
}
