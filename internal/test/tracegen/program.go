package tracegen

// A builder appends segments. An opened op continues through the following
// segments until it is closed.
type builder struct {
	segments []Segment
	phase    string
	waiting  []Op // start with the next segment
	open     map[int]opened
	seq      int
}

// An opened is the position at which a running op was started.
type opened struct{ segment, op int }

func newBuilder() *builder { return &builder{open: map[int]opened{}} }

func (b *builder) segment(ns int64, ops ...Op) {
	b.segments = append(b.segments, Segment{NS: ns, Phase: b.phase, Ops: append(b.waiting, ops...)})
	b.waiting = nil
}

// idle adds a segment in which nothing new starts.
func (b *builder) idle(ns int64) { b.segment(ns) }

// host adds a segment that keeps the host busy with operators and a call.
func (b *builder) host(ns int64, call string, ops ...string) {
	b.segment(ns, Op{Kind: HostOnly, Host: ops, Call: call})
}

// kernel adds a compute kernel on stream 7 for as long as the segment lasts.
func (b *builder) kernel(ns int64, name string, host ...string) {
	b.segment(ns, Op{Kind: Compute, Name: name, Stream: 7, Host: host})
}

// start makes op begin with the next segment and run until its stream is
// stopped.
func (b *builder) start(op Op) {
	b.open[op.Stream] = opened{len(b.segments), len(b.waiting)}
	b.waiting = append(b.waiting, op)
}

// stop ends the op started on stream, with the newest segment.
func (b *builder) stop(stream int) {
	at := b.open[stream]
	delete(b.open, stream)
	b.segments[at.segment].Ops[at.op].Spans = len(b.segments) - at.segment
}

// stopAll ends all running ops.
func (b *builder) stopAll() {
	for stream := range b.open {
		b.stop(stream)
	}
}

// Streams that PyTorch typically uses: the default stream in CUPTI's numbering,
// and those of copies and of NCCL.
const (
	computeStream = 7
	copyStream    = 16
	commStream    = 20
)

func copyOp(name string, stream int, bytes int64) Op {
	return Op{Kind: Copy, Name: name, Stream: stream, Bytes: bytes, Host: []string{"aten::to", "aten::_to_copy", "aten::copy_"}}
}

func memsetOp(bytes int64) Op {
	return Op{Kind: Memset, Name: "Memset (Device)", Stream: computeStream, Bytes: bytes, Host: []string{"aten::zeros", "aten::zero_"}}
}

const (
	hostToDevicePinned   = "Memcpy HtoD (Pinned -> Device)"
	hostToDevicePageable = "Memcpy HtoD (Pageable -> Device)"
	deviceToHostPinned   = "Memcpy DtoH (Device -> Pinned)"
	deviceToHostPageable = "Memcpy DtoH (Device -> Pageable)"
	deviceToDevice       = "Memcpy DtoD (Device -> Device)"
)

func allReduce(n names, elems int64) Op {
	return Op{
		Kind: Comm, Name: n.allReduce, Stream: commStream,
		Host:       []string{"c10d::allreduce_", "record_param_comms"},
		Collective: &Collective{"allreduce", elems, "BFloat16"},
	}
}

func allGather(n names, elems int64) Op {
	return Op{
		Kind: Comm, Name: n.allGather, Stream: commStream,
		Host:       []string{"c10d::_allgather_base_", "record_param_comms"},
		Collective: &Collective{"_allgather_base", elems, "BFloat16"},
	}
}

func reduceScatter(n names, elems int64) Op {
	return Op{
		Kind: Comm, Name: n.reduceScatter, Stream: commStream,
		Host:       []string{"c10d::_reduce_scatter_base_", "record_param_comms"},
		Collective: &Collective{"_reduce_scatter_base", elems, "BFloat16"},
	}
}
