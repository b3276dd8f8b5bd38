package analyze

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"assay/analyze/classify"
	"assay/analyze/efficiency"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/ranks/collective"
	"assay/internal/lazyregexp"
	"assay/summary"
	"assay/trace"
)

// Which collectives did each GPU take part in, and when did their kernels run?
//
// Since 2024 the arguments of a collective are recorded with its kernel. Before that, they are
// those of the operator record_param_comms that was open on the launching thread. Otherwise the call of a
// communication library that launched the kernel tells, or made the node of a graph, or only its name.

// maxCollectives is the maximum number of collectives kept per GPU.
const maxCollectives = 4 << 20

// collectivesOf returns the collectives of a device in launch order, or nil if it
// has none.
func collectivesOf(tl *gpu.Timeline, d *gpu.Device, l *launches.Links) *collective.Columns {
	b := collectiveBuilder{tl: tl, links: l, whats: make(map[collective.What]uint32),
		groups: make(map[collective.Group]int32), exchanges: map[exchange][]int{}}
	if tl.Trace.Meta.BaseTime != nil {
		b.base = *tl.Trace.Meta.BaseTime
	}
	for _, w := range d.Work {
		if a := tl.Activity(w); a.Kind == trace.Kernel && tl.Classes[a.Name].Class == classify.Comm && tl.Starts(w) &&
			len(b.out.Runs) < maxCollectives {
			w.Dur = a.Dur // not clipped: the window of another rank may end later
			b.add(w, a)
		}
	}
	if len(b.out.Runs) == 0 {
		return nil
	}
	b.nameUnlinked()
	return b.sorted()
}

// CollectiveOf returns a function that finds the collective of kernels whose names do not tell: see
// [gpu.CollectiveOf].
func CollectiveOf(tl *gpu.Timeline, l *launches.Links) gpu.CollectiveOf {
	b := collectiveBuilder{tl: tl, links: l}
	return func(number int, k *trace.Activity) collective.Op {
		category := tl.Classes[k.Name].Category
		if category != "send-recv" && category != "comm-other" {
			return collective.Other
		}
		if b.onThread == nil {
			b.index()
		}
		call, note, _ := b.recorded(gpu.Work{Number: int32(number)}, k)
		what, _ := b.described(k, call, note)
		if what.Op == collective.SendRecv && category == "send-recv" || what.Op == collective.Wait {
			return collective.Other
		}
		return what.Op
	}
}

// leastOf returns the function that [layers.Measured] has: of operators by their shapes, of collectives by their sizes.
func leastOf(tl *gpu.Timeline, l *launches.Links, o *efficiency.Owners, peaks hardware.Catalog) func(*gpu.Device, gpu.Work) (int32, summary.PartFloor, bool) {
	b, ofOperator := collectiveBuilder{tl: tl, links: l}, o.Least(peaks)
	return func(d *gpu.Device, w gpu.Work) (call int32, f summary.PartFloor, ok bool) {
		a := tl.Activity(w)
		if tl.Classes[a.Name].Class != classify.Comm {
			if ofOperator == nil {
				return 0, f, false
			}
			return ofOperator(d, int(w.Number))
		}
		if b.onThread == nil {
			b.index()
		}
		recorded, note, _ := b.recorded(w, a)
		what, group := b.described(a, recorded, note)
		f, ok = efficiency.LeastOf(tl.Trace, d.Ordinal, peaks, &what, &group)
		return ^w.Number, f, ok // each is a call of its own
	}
}

// A collectiveBuilder collects the collectives of one GPU.
type collectiveBuilder struct {
	tl    *gpu.Timeline
	links *launches.Links
	base  int64 // ns, added to every time
	out   collective.Columns

	whats     map[collective.What]uint32
	groups    map[collective.Group]int32
	exchanges map[exchange][]int // runs of each kind of sends and receives
	launched  []int64            // launch time of each run, or its start if the launch is unknown

	onThread map[trace.TrackID][]*trace.CollectiveCall // operators by start
	ofKernel map[trace.ID]*trace.CollectiveCall        // by correlation
	byID     map[trace.ID]*trace.CollectiveCall        // operators by External id
	calls    commCalls
}

// index builds the maps of recorded arguments, on first use.
func (b *collectiveBuilder) index() {
	b.onThread = make(map[trace.TrackID][]*trace.CollectiveCall)
	b.ofKernel, b.byID = make(map[trace.ID]*trace.CollectiveCall), make(map[trace.ID]*trace.CollectiveCall)
	for c := range b.tl.Trace.Collectives.All() {
		if b.tl.Trace.Tracks[c.Track].OnDevice {
			b.ofKernel[c.Correlation] = c
			continue
		}
		b.onThread[c.Track] = append(b.onThread[c.Track], c)
		if c.External != 0 {
			b.byID[c.External] = c
		}
	}
	for _, list := range b.onThread {
		slices.SortStableFunc(list, func(a, b *trace.CollectiveCall) int { return cmp.Compare(a.Start, b.Start) })
	}
	b.calls = commCallsOf(b.tl.Trace)
}

func (b *collectiveBuilder) add(w gpu.Work, a *trace.Activity) {
	if b.onThread == nil {
		b.index()
	}
	run := collective.Run{Start: summary.Plus(b.base, w.Start), End: summary.Plus(b.base, w.End()),
		Seq: collective.NoSeq, Queued: collective.NoQueue, Stream: int32(clamp32(b.tl.Stream(w)))}
	launched := w.Start
	call, note, at := b.recorded(w, a)
	if at.known {
		launched = at.start
		if q := w.Start - at.end; q < collective.NoQueue {
			run.Queued = uint32(max(0, q))
		}
	}
	what, group := b.described(a, call, note)
	if call != nil {
		if call.Seq >= 0 && call.Seq < collective.NoSeq {
			run.Seq = uint32(call.Seq)
		}
		b.fromArguments(call, &what, &group, &run)
	}
	if group == (collective.Group{}) {
		group = collective.Group{Name: "stream " + strconv.FormatInt(b.tl.Stream(w), 10), Local: true}
	}
	if what.Op == collective.AllToAll || what.Op == collective.SendRecv {
		kind := exchange{run.Stream, what.Op, !at.known && call == nil && note.op == collective.Other}
		b.exchanges[kind] = append(b.exchanges[kind], len(b.out.Runs))
	}
	what.Group = number(b.groups, &b.out.Groups, group)
	run.What = number(b.whats, &b.out.Whats, what)
	b.out.Runs = append(b.out.Runs, run)
	b.launched = append(b.launched, launched)
}

// An exchange is a kind of kernels of sends and receives.
type exchange struct {
	stream  int32
	op      collective.Op
	unknown bool // neither its launch nor its arguments are recorded
}

// leastAlike is the number of all-to-alls of a stream after which its kernels of unknown sends and receives are taken
// for all-to-alls too, if it has no other ones.
const leastAlike = 3

// nameUnlinked takes kernels of sends and receives whose launch is not recorded for what all others of their stream
// are.
func (b *collectiveBuilder) nameUnlinked() {
	byStream := func(a, b exchange) int { return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.op, b.op)) }
	for _, kind := range slices.SortedFunc(maps.Keys(b.exchanges), byStream) {
		alike := b.exchanges[exchange{kind.stream, collective.AllToAll, false}]
		if !kind.unknown || len(alike) < leastAlike || len(b.exchanges[exchange{kind.stream, collective.SendRecv, false}]) > 0 {
			continue
		}
		for _, i := range b.exchanges[kind] {
			what := b.out.Whats[b.out.Runs[i].What]
			what.Op, what.Group = collective.AllToAll, b.out.Whats[b.out.Runs[alike[0]].What].Group
			b.out.Runs[i].What = number(b.whats, &b.out.Whats, what)
		}
	}
}

// number returns the index of v in list, to which it adds v if it is new.
func number[T comparable, N int32 | uint32](index map[T]N, list *[]T, v T) N {
	n, ok := index[v]
	if !ok {
		n = N(len(*list))
		index[v] = n
		*list = append(*list, v)
	}
	return n
}

// A launchTime is the time of the call that launched a kernel, if it is known.
type launchTime struct {
	start, end int64
	known      bool
}

// recorded returns the recorded arguments of a kernel's collective, or nil; the call of a communication
// library around its launch, or the zero call; and the time of the launch.
func (b *collectiveBuilder) recorded(w gpu.Work, a *trace.Activity) (call *trace.CollectiveCall, note commCall,
	at launchTime) {
	var thread trace.TrackID
	if i := b.links.Of[w.Number]; i >= 0 {
		call := b.links.Time(i)
		at, thread = launchTime{call.Start, call.End, true}, b.links.List[i].Track
	}
	if c := b.ofKernel[a.Correlation]; c != nil && a.Correlation != 0 {
		return c, commCall{}, at
	}
	if at.known {
		note = b.calls.at(thread, at.start)
		if c := openAt(b.onThread[thread], at.start,
			func(c *trace.CollectiveCall) (int64, int64) { return c.Start, c.Dur }); c != nil {
			return c, note, at
		}
	}
	if a.External != 0 && a.External != a.Correlation {
		call = b.byID[a.External]
	}
	if note.op == collective.Other {
		note = b.calls.ofNode(b.tl.Trace, a)
	}
	return call, note, at
}

// openAt returns the innermost of a thread's events, sorted by start, that was open at time ns,
// or nil. It looks back only a few events: those of a collective hardly nest.
func openAt[T any](list []*T, ns int64, span func(*T) (start, dur int64)) *T {
	const levels = 8
	i, _ := slices.BinarySearchFunc(list, ns, func(e *T, ns int64) int {
		if start, _ := span(e); start <= ns {
			return -1
		}
		return 1
	})
	for j := i - 1; j >= max(0, i-levels); j-- {
		if start, dur := span(list[j]); ns <= start+dur {
			return list[j]
		}
	}
	return nil
}

// described returns the collective and its group from the arguments of the kernel, or else from
// those of its operator, or else from names.
func (b *collectiveBuilder) described(a *trace.Activity, call *trace.CollectiveCall, note commCall) (collective.What,
	collective.Group) {
	t := b.tl.Trace
	args := t.Detail(a.Detail).Collective
	if args.Name == 0 && call != nil {
		args = call.Args
	}
	what := collective.What{Op: collective.OpOf(t.Name(a.Name)), In: -1, Out: -1, Peer: -1}
	if args.Name == 0 {
		if note.overrides(what.Op) {
			what.Op = note.op
		}
		what.Dtype = dtypeOf(t.Name(a.Name))
		return what, collective.Group{}
	}
	if op := collective.OpOf(t.Name(args.Name)); op != collective.Other {
		what.Op = op
	}
	what.Dtype, what.In, what.Out = cmp.Or(t.Name(args.Dtype), dtypeOf(t.Name(a.Name))), args.In, args.Out
	group := collective.Group{Name: t.Name(args.Group), Ranks: t.Name(args.Ranks), Size: int(max(0, args.GroupSize))}
	if call != nil {
		if call.Comms != 0 {
			group.ID, _ = strconv.ParseUint(t.Name(call.Comms), 10, 64)
		}
		what.Message = call.Bytes
		if what.Op == collective.SendRecv {
			what.Peer, what.Sends = peerOf(t.Name(args.Name), call)
		}
	}
	return what, group
}

// peerOf returns the other rank of a send or receive, or -1, and whether this rank sends.
func peerOf(name string, call *trace.CollectiveCall) (peer int32, sends bool) {
	switch {
	case call.Target >= 0 && (call.Source < 0 || name == "send"):
		return call.Target, true
	case call.Source >= 0 && (call.Target < 0 || name == "recv"):
		return call.Source, false
	}
	return -1, false
}

// fromArguments adds what operators of 2023 and 2024 have only in their positional arguments:
//
//	[tensors, number, pointer of the group, rank, op, in splits, out splits, ranks of the group]
func (b *collectiveBuilder) fromArguments(c *trace.CollectiveCall, what *collective.What, group *collective.Group,
	run *collective.Run) {
	t := b.tl.Trace
	if dims := gjson.Parse(t.Name(c.Dims)).Get("0"); dims.IsArray() && what.In < 0 {
		if n := elements(dims, 0); n > 0 {
			what.In = n
		}
	}
	args := gjson.Parse(t.Name(c.Concrete)).Array()
	if first := gjson.Parse(t.Name(c.Types)).Get("0").String(); len(args) != 8 || first != "TensorList" &&
		first != "GenericList" {
		return
	}
	if seq, err := strconv.ParseUint(args[1].String(), 10, 32); err == nil && run.Seq == collective.NoSeq &&
		seq < collective.NoSeq {
		run.Seq = uint32(seq)
	}
	if *group == (collective.Group{}) && args[2].String() != "" {
		size, _ := strconv.ParseUint(args[7].String(), 10, 31)
		*group = collective.Group{Name: args[2].String(), Size: int(size), Local: true}
	}
}

// elements returns the number of elements of a tensor, "[4, 2048]", or of a list of tensors. It
// returns -1 if dims is neither.
func elements(dims gjson.Result, level int) int64 {
	list := dims.Array()
	if len(list) == 0 || level > 2 {
		return -1
	}
	if list[0].IsArray() {
		sum := int64(0)
		for _, d := range list {
			if n := elements(d, level+1); n > 0 {
				sum = summary.Plus(sum, n)
			}
		}
		return sum
	}
	n := int64(1)
	for _, d := range list {
		size := d.Int()
		if d.Type != gjson.Number || size < 0 || size > 0 && n > math.MaxInt64/size {
			return -1
		}
		n *= size
	}
	return n
}

// dtypeName matches the element type in the name of an NCCL kernel:
// "ncclDevKernel_AllReduce_Sum_f16_RING_LL".
var dtypeName = lazyregexp.New(`_(bf16|f16|f32|f64|u64|i64|i32|u32|i8|u8)(?:_|\(|$)`)

// dtypeOf returns the element type in a kernel's name, or "". Only reductions tell: broadcasts
// and all-gathers of any type run as bytes.
func dtypeOf(kernel string) string {
	if !strings.Contains(kernel, "Reduce") {
		return ""
	}
	if m := dtypeName().FindStringSubmatch(kernel); m != nil {
		return m[1]
	}
	return ""
}

// sorted returns the collectives in launch order. They stay in memory until all ranks are read,
// so they must not refer to the builder, which holds the timeline. Strings are cloned, because
// those of a trace are parts of large blocks.
func (b *collectiveBuilder) sorted() *collective.Columns {
	order := make([]int32, len(b.out.Runs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(b.launched[i], b.launched[j]) })
	runs := make([]collective.Run, len(order))
	for at, i := range order {
		runs[at] = b.out.Runs[i]
	}
	out := collective.Columns{Runs: runs, Whats: slices.Clone(b.out.Whats), Groups: slices.Clone(b.out.Groups)}
	for i := range out.Whats {
		out.Whats[i].Dtype = strings.Clone(out.Whats[i].Dtype)
	}
	for i := range out.Groups {
		g := &out.Groups[i]
		g.Name, g.Ranks = strings.Clone(g.Name), strings.Clone(g.Ranks)
	}
	return &out
}

func clamp32(n int64) int64 { return max(math.MinInt32, min(math.MaxInt32, n)) }
