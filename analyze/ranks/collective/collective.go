package collective

// Columns have the collectives of one GPU of one input, in launch order.
type Columns struct {
	Runs   []Run
	Whats  []What
	Groups []Group
}

// A Run is one collective of one rank: one kernel. There are many, so it has 32
// bytes and no pointer.
type Run struct {
	Start, End int64  // ns; Unix time if the trace states its base time
	Seq        uint32 // its number within the group; NoSeq if it is not known
	What       uint32 // index of Columns.Whats
	Stream     int32
	Queued     uint32 // ns from the end of the launch call to Start, at most NoQueue-1; NoQueue if it is not known
}

// NoSeq and NoQueue represent values that were not recorded.
const (
	NoSeq   = 1<<32 - 1
	NoQueue = 1<<32 - 1
)

// A What has the properties that many runs share.
type What struct {
	Op      Op
	Dtype   string // as recorded, "BFloat16"; "" if it is not known
	In, Out int64  // elements of one rank; -1 if it is not known
	Message int64  // bytes that one rank sends or receives if the elements are not known, else 0
	Group   int32  // index of Columns.Groups
	Peer    int32  // the other rank of a send or receive, by its number in the job; -1 if it is not known
	Sends   bool   // the rank sends to the peer; otherwise it receives
}

// A Group is a communicator.
type Group struct {
	ID    uint64 // of the communicator, equal on all its ranks; 0 if it is not known
	Name  string // "" if it is not known
	Ranks string // as recorded, "[0, 1]"; long lists are cut by the profiler
	Size  int    // 0 if it is not known

	// Local says that the name is valid only in this process: a pointer, or a stream. Such groups are
	// matched over ranks by the order of their first use.
	Local bool
}

// Bytes returns the size S of a collective in bytes as nccl-tests defines it: the elements of the whole
// buffer times the size of one. That is the output of an all-gather and the input of a reduce-scatter. The
// result is 0 if it is not known.
func (w What) Bytes(groupSize int) int64 {
	size, n := DtypeBytes(w.Dtype), w.In
	if w.Message > 0 {
		ranks := int64(1)
		if w.Op == ReduceScatter || w.Op == AllGather {
			ranks = int64(max(1, groupSize))
		}
		if w.Message > 1<<62/ranks {
			return 0
		}
		return w.Message * ranks
	}
	switch w.Op {
	case AllGather:
		if n = w.Out; n <= 0 && w.In > 0 {
			n = w.In * int64(groupSize)
		}
		n = max(n, w.In)
	case ReduceScatter:
		n = max(w.In, w.Out)
	}
	if size == 0 || n <= 0 || n > 1<<62/size {
		return 0
	}
	return n * size
}

// BusFactor returns the factor from algorithm bandwidth to bus bandwidth, which does not depend on the
// number of ranks n. The factors are those of nccl-tests (PERFORMANCE.md); 0 means that there is none.
func (o Op) BusFactor(n int) float64 {
	if n < 2 {
		return 0
	}
	switch o {
	case AllReduce:
		return 2 * float64(n-1) / float64(n)
	case ReduceScatter, AllGather, AllToAll:
		return float64(n-1) / float64(n)
	case Broadcast, Reduce, SendRecv:
		return 1
	}
	return 0
}

// DtypeBytes returns the size of one element, or 0 for an unknown type. It knows the
// names of PyTorch, of C++ in traces of 2022 to 2024, and of NCCL's kernels.
func DtypeBytes(name string) int64 {
	switch name {
	case "Double", "Long", "ComplexFloat", "double", "long int", "long", "f64", "u64", "i64":
		return 8
	case "Float", "Int", "float", "int", "f32", "u32", "i32":
		return 4
	case "Half", "BFloat16", "Short", "c10::Half", "c10::BFloat16", "f16", "bf16":
		return 2
	case "Byte", "Char", "Bool", "unsigned char", "signed char", "bool", "u8", "i8",
		"Float8_e4m3fn", "Float8_e5m2", "Float8_e4m3fnuz", "Float8_e5m2fnuz":
		return 1
	}
	return 0
}
