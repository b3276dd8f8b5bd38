package collective

import "strings"

// An Op is a kind of collective.
type Op uint8

// The kinds.
const (
	Other Op = iota // communication whose kind the name does not show
	AllReduce
	ReduceScatter
	AllGather
	AllToAll
	Broadcast
	Reduce
	SendRecv
	Barrier
	Dispatch // sends tokens to experts
	Combine  // collects the experts' results
	Wait     // for a collective; it has no kernel
	ops
)

var names = [ops]string{
	Other: "other", AllReduce: "all-reduce", ReduceScatter: "reduce-scatter", AllGather: "all-gather",
	AllToAll: "all-to-all", Broadcast: "broadcast", Reduce: "reduce", SendRecv: "send/recv", Barrier: "barrier",
	Dispatch: "dispatch", Combine: "combine", Wait: "wait",
}

// String returns the name of o: "all-reduce".
func (o Op) String() string { return names[o] }

// Synchronizes reports whether no rank can leave the collective before all have arrived. Then the shortest
// duration among the ranks is the transfer, and the rest is waiting.
func (o Op) Synchronizes() bool {
	switch o {
	case AllReduce, ReduceScatter, AllGather, AllToAll, Barrier:
		return true
	}
	return false
}

// opWords are parts of names, the specific before the general, without "_" and "-", which
// XLA writes, and in lower case.
var opWords = []struct {
	word string
	op   Op
}{
	{"allreduce", AllReduce}, {"crossdevicereduce", AllReduce}, {"multimemallreduce", AllReduce},
	{"reducescatter", ReduceScatter}, {"allgather", AllGather}, {"alltoall", AllToAll}, {"all2all", AllToAll},
	{"sendrecv", SendRecv}, {"broadcast", Broadcast}, {"barrier", Barrier},
	{"dispatch", Dispatch}, {"combine", Combine},
	{"c10d::send", SendRecv}, {"c10d::recv", SendRecv}, {"nccl:send", SendRecv}, {"nccl:recv", SendRecv}, {"ncclsend", SendRecv}, {"ncclrecv", SendRecv},
	{"reduce", Reduce},
}

var dashes = strings.NewReplacer("_", "", "-", "")

// OpOf returns the kind that a name shows: the name of a kernel, of an annotation ("nccl:all_reduce"), or
// the profiler's "Collective name".
func OpOf(name string) Op {
	if i := strings.IndexAny(name, "(<"); i > 0 {
		name = name[:i]
	}
	switch name {
	case "wait":
		return Wait
	case "send", "recv":
		return SendRecv
	}
	name = strings.ToLower(dashes.Replace(name))
	for _, w := range opWords {
		if strings.Contains(name, w.word) {
			return w.op
		}
	}
	return Other
}

// libraries are the beginnings of names of calls and operators of communication libraries.
var libraries = []string{"nccl", "rccl", "xccl", "oneccl", "c10d::", "_c10d_functional::", "c10d_functional::"}

// onCPU are the beginnings of names of ranges of collectives that the CPU runs: process groups of PyTorch whose
// threads copy the data to the CPU and back.
var onCPU = []string{"gloo:", "mpi:", "ucc:"}

// OnCPU reports whether an annotation is a collective that the CPU runs, as PyTorch's process groups of Gloo, MPI
// and UCC name theirs, or a call of MPI that exchanges data.
func OnCPU(name string) bool {
	for _, backend := range onCPU {
		if strings.HasPrefix(name, backend) {
			return true
		}
	}
	call, ok := strings.CutPrefix(name, "MPI_")
	return ok && !strings.HasPrefix(call, "Init") && !strings.HasPrefix(call, "Finalize") && !strings.HasPrefix(call, "Comm_")
}

// CallOf returns the kind of the collective that a call, an operator or an annotation of the host names, or
// Other. Words that other programs use for other work ("reduce", "dispatch") count only in the names of
// communication libraries.
func CallOf(name string) Op {
	op := OpOf(name)
	switch op {
	case AllReduce, ReduceScatter, AllGather, AllToAll:
		return op
	case Wait:
		return Other
	}
	for _, library := range libraries {
		if strings.HasPrefix(name, library) {
			return op
		}
	}
	return Other
}
