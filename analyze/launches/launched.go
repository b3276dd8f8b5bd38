package launches

import "assay/trace"

// Launches relates the device work of a trace to the host calls that launched it,
// for analyses that only ask for one or the other. Launches are
// numbered from 0.
type Launches struct{ l *Links }

// LaunchesOf links the device work of a trace to what launched it.
func LaunchesOf(t *trace.Trace) *Launches { return &Launches{Of(t)} }

// Len returns how many launches there are.
func (l *Launches) Len() int { return len(l.l.List) }

// Of returns the launch of the activity with the given number in its table, and
// whether any is known. A launch of a graph has many activities.
func (l *Launches) Of(number int) (launch int, ok bool) {
	i := l.l.Of[number]
	return int(i), i >= 0
}

// Call returns the call that a launch is. It is nil where calls were not
// recorded and an operator replaces them.
func (l *Launches) Call(launch int) *trace.Call { return l.l.Call(int32(launch)) }

// ByCall returns the launch that a call is, if it launched anything.
func (l *Launches) ByCall(c trace.Ref) (launch int, ok bool) {
	i, ok := l.l.OfCall(c)
	return int(i), ok
}

// ByOp returns the launch that an operator represents.
func (l *Launches) ByOp(o trace.Ref) (launch int, ok bool) {
	i, ok := l.l.OfOp(o)
	return int(i), ok
}
