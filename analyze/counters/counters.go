package counters

import (
	"cmp"
	"math"
	"slices"
	"time"

	"assay/analyze/classify"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/nsys/ncu"
	"assay/summary"
)

// Limits of figures. Larger values come from damaged files and would distort the
// means.
const (
	maxSharePct = 1000
	maxFigure   = 1e12
)

// maxLaunch is the longest launch of a kernel, in ns, whose counters are
// used: ten years. A longer value is an error in the file.
const maxLaunch = 10 * 366 * 24 * int64(time.Hour)

// Measure adds up the launches of the kernels with one name on one device. Means are weighted by duration,
// so that they describe the time that the kernels took and not the number of launches.
func Measure(c *ncu.Capture, in summary.Input, rules *classify.Rules, most int, issues *diag.Ledger) *summary.Summary {
	in.Events, in.Complete = c.Rows, c.Complete
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}, Devices: []summary.Device{},
		Kernels: []summary.Kernel{}}
	g := grouping{Capture: c, figures: figures(), index: make(map[groupKey]int), issues: issues}
	budget := limits.NewBudget(most)
	g.table = budget.Table()
	for i := range c.Launches {
		g.add(&c.Launches[i])
	}
	slices.SortStableFunc(g.groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.row.TotalNS, a.row.TotalNS), cmp.Compare(a.row.Kernel, b.row.Kernel),
			cmp.Compare(a.row.Device, b.row.Device))
	})
	left := maxAdvice
	for _, group := range g.groups {
		row := group.finish(left)
		left -= len(row.Rules)
		m := rules.Kernel(row.Kernel)
		row.Class, row.Category, row.Rule = string(m.Class), m.Category, m.Rule
		s.Counters = append(s.Counters, row)
	}
	budget.Note(issues)
	return s
}

type groupKey struct {
	kernel string
	device int64
}

type grouping struct {
	*ncu.Capture
	table   limits.Table
	index   map[groupKey]int
	groups  []*group
	figures []figure
	issues  *diag.Ledger
}

// add adds a launch to the group of its kernel.
func (g *grouping) add(l *ncu.Launch) {
	key := groupKey{l.Kernel, l.Device}
	i, ok := g.index[key]
	if !ok && !g.table.Take(len(l.Kernel)) {
		key.kernel = limits.OtherKernels
		i, ok = g.index[key]
	}
	if !ok {
		i = len(g.groups)
		g.index[key] = i
		g.groups = append(g.groups, newGroup(l, key))
	}
	to := g.groups[i]
	ns, timed := g.value(l, ncu.Duration, float64(maxLaunch))
	if ns = math.Round(ns); !timed {
		ns = 0
	}
	to.launch(l, int64(ns), timed)
	for _, f := range g.figures {
		if v, ok := g.value(l, f.quantity, f.most); ok {
			to.mean(f.quantity, v)
		}
	}
	to.waves()
	to.occupancy(g.Limiters(l))
	to.stalls(g, l)
	if n, ok := g.bytes(l, ns); ok && timed {
		to.bytes, to.moved = to.bytes+float64(n*to.count), true
		to.row.BytesNS = summary.Plus(to.row.BytesNS, to.total)
	}
	to.works(g.Capture, l)
	to.shape(g.Capture, l)
	for i := range l.Rules {
		to.rule(&l.Rules[i], l)
	}
}

// value returns a figure of a launch. It returns false, and counts an issue, if the value is implausible.
func (g *grouping) value(l *ncu.Launch, q ncu.Quantity, most float64) (float64, bool) {
	v, ok := g.Value(l, q)
	if ok && !(v >= 0 && v <= most) {
		g.implausible()
		return 0, false
	}
	return v, ok
}

// bytes returns what a launch moved to and from memory during ns. It returns false if no memory is that
// fast.
func (g *grouping) bytes(l *ncu.Launch, ns float64) (float64, bool) {
	n, ok := g.Bytes(l)
	if ok && !(n >= 0 && n <= maxBandwidth*(ns+1)) {
		g.implausible()
		return 0, false
	}
	return n, ok
}

func (g *grouping) implausible() {
	g.issues.Add(diag.Issue{Code: "value-implausible", Severity: diag.Suspect,
		Help: "Values that no launch can have, such as shares over ten times the peak or durations of years, were left out. The file may be damaged, or its number format is not supported."})
}

// A figure is a quantity for which a row has a mean, with the largest plausible value.
type figure struct {
	quantity ncu.Quantity
	most     float64
}

func figures() (out []figure) {
	for _, q := range []ncu.Quantity{
		ncu.ComputeShare, ncu.MemoryShare, ncu.DRAMShare, ncu.L1Share, ncu.L2Share,
		ncu.L1Hits, ncu.L2Hits, ncu.Occupancy, ncu.TheoreticalOccupancy,
	} {
		out = append(out, figure{q, maxSharePct})
	}
	return append(out, figure{ncu.Registers, maxFigure}, figure{ncu.Waves, maxFigure}, figure{ncu.WarpCycles, maxFigure})
}
