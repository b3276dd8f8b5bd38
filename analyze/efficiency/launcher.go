package efficiency

// A Launcher is the operator that launched some work, for analyses of the order of work.
type Launcher struct {
	Call        int32 // a number of the call; equal for all work of one call
	Name        string
	Dims, Types string // as recorded
}

// Launcher returns the operator that owns the work of a link, or false if none is known or the work is the replay of a
// graph.
func (o *Owners) Launcher(link int32) (l Launcher, ok bool) {
	if link < 0 || o.ofLink[link] == 0 || o.replays(link) {
		return l, false
	}
	at := o.ofLink[link] - 1
	c := &o.calls[at]
	s := o.t.Shape(c.op.Shape)
	return Launcher{Call: at, Name: o.t.Name(c.op.Name), Dims: o.t.Name(s.Dims), Types: o.t.Name(s.Types)}, true
}
