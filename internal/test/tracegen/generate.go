package tracegen

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Generate writes the trace of one rank of sc to w and returns its truth.
// Memory grows with the length of a step and the number of steps, not with the
// size of the trace. Equal arguments give equal bytes.
func Generate(w io.Writer, sc Scenario, rank int) (Truth, error) {
	return generate(w, noSink{}, sc, rank)
}

func generate(w io.Writer, sink Sink, sc Scenario, rank int) (Truth, error) {
	if err := sc.Validate(); err != nil {
		return Truth{}, err
	}
	sc = sc.normal()
	if rank < 0 || rank >= sc.Ranks {
		return Truth{}, fmt.Errorf("scenario %q: no rank %d among %d", sc.Name, rank, sc.Ranks)
	}
	g := newGenerator(w, sc, rank)
	g.sink = sink
	g.tellBegin()
	g.header()
	for n := 0; n < sc.Steps && (n == 0 || sc.Bytes == 0 || g.written() < sc.Bytes); n++ {
		if err := g.step(n); err != nil {
			return Truth{}, fmt.Errorf("scenario %q: step %d: %w", sc.Name, n, err)
		}
		if g.err != nil {
			return Truth{}, g.err
		}
	}
	g.footer()
	g.flush()
	if g.err != nil {
		return Truth{}, g.err
	}
	return g.truth(), nil
}

// A generator is one run of Generate.
type generator struct {
	emitter
	sink  Sink
	sc    Scenario
	rank  int
	unit  int64
	rnd   *rand.Rand
	begin int64 // of the trace
	now   int64 // start of the next step

	devices []*deviceRun
	steps   []Step
	setName [16]string // by bits of kindBit
	maxSeq  int64      // the highest Op.Seq
	group   string     // the ranks as in a kernel's arguments

	ids       ids
	root      int64   // Python id of the step's outermost function
	stack     []frame // open nn.Module calls
	allocated int64   // bytes, for [memory]
}

// ids counts the ids that must be unique in a trace.
type ids struct{ external, correlation, python int64 }

// A deviceRun is a device and the layout of its current step.
type deviceRun struct {
	Device
	*tally
	index  int
	stream int // the stream on which annotations are shown

	lens   []int64 // of the segments, in this step
	host   []int64 // the host's time at each segment; one more than lens
	starts []int64 // of the segments, from the step's start; one more than lens
	ops    []placed
	graphs map[int]int // Op.Graph to the index in ops that launches it
}

// A placed is an op with its times. All times are those of the file.
type placed struct {
	*Op
	segment       int
	slot, slotEnd int64 // the host's time for it; empty if another op launches it
	start, dur    int64 // on the device
	external      int64 // External id of the innermost host operator, or 0
	correlation   int64
	launched      bool // it has its own launch
}

// epoch returns the start times of an era: seconds since 1970 for eras with
// absolute times. Modern times are relative to a base some weeks earlier.
func epoch(e Era) (base, begin int64) {
	switch e {
	case Era2022:
		return 0, 1_665_536_373_657_908_000
	case Era2023:
		return 0, 1_695_835_572_943_623_000
	case Era2024:
		return 0, 1_712_195_495_505_582_988
	}
	return 1_751_410_836_000_000_000, 1_419_247_332_972_313
}

func newGenerator(w io.Writer, sc Scenario, rank int) *generator {
	g := &generator{
		sc: sc, rank: rank, unit: sc.Dialect.Era.unit(),
		rnd:   rand.New(rand.NewPCG(sc.Seed, uint64(rank))),
		ids:   ids{external: 1, correlation: 1000},
		group: ranksText(sc.Ranks),
	}
	g.w, g.layout, g.dialect = w, sc.Dialect.Layout, sc.Dialect
	g.base, g.begin = epoch(sc.Dialect.Era)
	g.begin += int64(rank) * 137_000 // ranks do not start at the same time
	g.now = g.begin
	g.pid = 4217 + int64(rank)
	for set := range g.setName {
		for k, name := range [...]string{Comm.class(), Compute.class(), Copy.class(), Memset.class()} {
			if set&(1<<k) == 0 {
				continue
			}
			if g.setName[set] != "" {
				g.setName[set] += "+"
			}
			g.setName[set] += name
		}
	}
	for i, d := range sc.Devices {
		g.devices = append(g.devices, &deviceRun{
			Device: d, tally: newTally(d.Ordinal), index: i, stream: mainStream(d),
			lens: make([]int64, len(d.Program)), starts: make([]int64, len(d.Program)+1),
			host: make([]int64, len(d.Program)+1), graphs: map[int]int{},
		})
		for _, seg := range d.Program {
			for _, op := range seg.Ops {
				g.maxSeq = max(g.maxSeq, int64(op.Seq))
			}
		}
	}
	return g
}

// kindBit returns k's bit in an index of setName, in the order of the names.
func kindBit(k Kind) int {
	switch k {
	case Comm:
		return 0
	case Compute:
		return 1
	case Copy:
		return 2
	}
	return 3
}

// mainStream returns the stream of the first kernel or, without kernels, of the
// first op.
func mainStream(d Device) int {
	stream := -1
	for _, seg := range d.Program {
		for _, op := range seg.Ops {
			if op.Kind == Compute {
				return op.Stream
			}
			if op.Kind != HostOnly && stream < 0 {
				stream = op.Stream
			}
		}
	}
	return max(stream, 0)
}

// step lays out step n on all devices, adds it to the truth and writes its
// events.
func (g *generator) step(n int) error {
	length := int64(0)
	for _, d := range g.devices {
		g.stretch(d)
		length = max(length, d.starts[len(d.lens)])
	}
	wall := length - g.sc.GapNS
	if wall <= g.sc.LagNS {
		return fmt.Errorf("its %d ns leave no room for a lag of %d ns and a gap of %d ns", length, g.sc.LagNS, g.sc.GapNS)
	}
	step := Step{Name: fmt.Sprintf("ProfilerStep#%d", g.sc.FirstStep+n), StartNS: g.now, WallNS: wall}
	g.steps = append(g.steps, step)
	for _, d := range g.devices {
		g.place(d)
		for i := range d.ops {
			if late := d.ops[i].slotEnd - g.now - wall; late > 0 {
				return fmt.Errorf("segment %d: the host is busy until %d ns after the marker's end", d.ops[i].segment, late)
			}
		}
		g.account(d, step, length)
	}
	g.write(n, step)
	g.now += length
	return nil
}

// stretch draws the lengths of d's segments for one step.
func (g *generator) stretch(d *deviceRun) {
	at := int64(0)
	for i, seg := range d.Program {
		ns := seg.NS
		if most := ns * g.sc.Jitter / 1000; most > 0 {
			ns += g.rnd.Int64N(2*most+1) - most
			ns -= ns % g.unit
		}
		d.starts[i], d.lens[i] = at, ns
		at += ns
	}
	d.starts[len(d.lens)] = at
}

// pace computes when the host finishes each segment of d. Launches take their
// share of a segment; an op that keeps the host busy takes all of it; and a
// host that waits for the device has no lead afterwards. Therefore the host is
// never behind the plan.
func (g *generator) pace(d *deviceRun) {
	at := int64(0)
	for i, seg := range d.Program {
		d.host[i] = g.now + at
		share := g.sc.Pace
		for k := range seg.Ops {
			op := &seg.Ops[k]
			if op.Kind != HostOnly {
				continue
			}
			share = 1000
			if strings.HasSuffix(op.Call, "Synchronize") {
				at = d.starts[i+1] - d.lens[i]
				break
			}
		}
		ns := d.lens[i] * share / 1000
		at += ns - ns%g.unit
	}
	d.host[len(d.lens)] = g.now + at
}

// place assigns every op of d its times on the host and on the device.
func (g *generator) place(d *deviceRun) {
	g.pace(d)
	d.ops = d.ops[:0]
	clear(d.graphs)
	for i := range d.Program {
		seg := &d.Program[i]
		from, to := d.host[i], d.host[i+1]
		launches := 0
		for k := range seg.Ops {
			op := &seg.Ops[k]
			p := placed{Op: op, segment: i, launched: op.Kind != HostOnly}
			if op.Kind != HostOnly {
				p.start = g.now + g.sc.LagNS + d.starts[i]
				p.dur = d.starts[i+max(op.Spans, 1)] - d.starts[i]
			}
			if op.Graph != 0 {
				if _, replayed := d.graphs[op.Graph]; replayed {
					p.launched = false
				} else {
					d.graphs[op.Graph] = len(d.ops)
				}
			}
			if p.launched {
				launches++
			}
			d.ops = append(d.ops, p)
		}
		g.slots(d.ops[len(d.ops)-len(seg.Ops):], launches, from, to)
	}
}

// slots distributes the host's time [from, to) over the ops of a segment:
// launches first, within the time that the scenario permits, then host-only
// ops.
func (g *generator) slots(ops []placed, launches int, from, to int64) {
	if launches > 0 {
		each := min(to-from, g.sc.HostNS) / int64(launches)
		each -= each % g.unit
		for i := range ops {
			if ops[i].launched {
				ops[i].slot, ops[i].slotEnd = from, from+each
				from += each
			}
		}
	}
	for i := range ops {
		if ops[i].Kind == HostOnly {
			ops[i].slot, ops[i].slotEnd = from, to
			from = to
		}
	}
}

// account adds d's step to the truth, computed only from the lengths of the
// segments.
func (g *generator) account(d *deviceRun, step Step, length int64) {
	at := step.StartNS + g.sc.LagNS
	end, next := step.StartNS+step.WallNS, step.StartNS+length
	d.step()
	if len(d.steps) == 1 { // the device is idle until the first work reaches it
		d.stepSegment(step.StartNS, g.sc.LagNS, "", end, next)
	}
	until := [4]int{} // by kindBit: the first segment without that class
	for i := range d.Program {
		set := 0
		for k := range d.Program[i].Ops {
			op := &d.Program[i].Ops[k]
			if op.Kind != HostOnly {
				bit := kindBit(op.Kind)
				until[bit] = max(until[bit], i+max(op.Spans, 1))
			}
		}
		for bit, u := range until {
			if u > i {
				set |= 1 << bit
			}
		}
		name := g.setName[set]
		d.segment(at+d.starts[i], d.lens[i], name)
		d.stepSegment(at+d.starts[i], d.lens[i], name, end, next)
	}
	if rest := length - d.starts[len(d.lens)]; rest > 0 { // another device's step is longer
		d.segment(next-rest, rest, "")
		d.stepSegment(at+d.starts[len(d.lens)], rest, "", end, next)
	}
	for i := range d.ops {
		if p := &d.ops[i]; p.Kind != HostOnly {
			d.event(p.Op, p.dur, g.bytesShown(p.Op))
		}
	}
}

// bytesShown returns the bytes of op that the trace contains. A trace from AMD
// hardware does not contain the size of a memset.
func (g *generator) bytesShown(op *Op) int64 {
	if g.dialect.Vendor == ROCm && op.Kind == Memset {
		return 0
	}
	return op.Bytes
}

func (g *generator) truth() Truth {
	t := Truth{Rank: g.rank, BaseNS: g.base, Events: g.events, Steps: g.steps}
	if g.dialect.Layout == Array { // the array form has no place for it
		t.BaseNS = 0
	}
	if g.sc.CPUOnly {
		return t
	}
	for _, d := range g.devices {
		if d.started {
			t.Devices = append(t.Devices, d.truth())
		}
	}
	return t
}
