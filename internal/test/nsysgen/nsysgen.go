// Package nsysgen writes databases in the format of Nsight Systems exports,
// with sums that are known in advance.
//
// [Write] creates a database of any size with kernels in turns. [Record]
// creates one of a run played by package tracegen, together with the run's
// trace.
//
// The tables have the columns of schema 3.25.0 (Nsight Systems 2026.2), in its
// order and with its types, because the cost of reading depends on them.
package nsysgen

import "fmt"

// A Plan defines the content of a database.
type Plan struct {
	Kernels int  // per device, on one stream, in turns
	Devices int  // 1 if 0
	Calls   bool // a call launches each kernel
	Ranges  int  // all have the same number of kernels, plus or minus one; 0 for none
}

// The times of a plan in ns: a kernel starts every period, runs for part of it,
// and is launched at time lead before it starts by a call of fixed length.
const (
	Period     = 10_000
	lead       = 6_000
	callLength = 3_000
	first      = 1_000_000 // start of the first kernel
)

// Names are the names of kernels, in turns.
var Names = []string{
	"void gemm_kernel<float, (int)128, (int)64>(T1 *, const T1 *, int)",
	"void elementwise_kernel<(int)4, AddFunctor>(int, T2)",
	"void softmax_warp_forward<float, (int)10>(T1 *, const T1 *, int)",
	"void layer_norm_kernel<float>(int, T1, const T1 *, T1 *)",
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
}

// Duration returns the duration of kernel i in ns.
func Duration(i int) int64 { return 1000 + int64(i%7)*1000 }

// Start returns the start of kernel i in ns.
func Start(i int) int64 { return first + int64(i)*Period }

// global returns the number of a thread that is unique among all processes.
// With thread 0 it is the number of the process.
func global(process, thread int64) int64 { return 1<<48 | process<<24 | thread }

// pid is the process of a plan, and its only thread.
const pid = 4242

// Write creates the database at a path that does not exist.
func Write(path string, p Plan) error {
	p.Devices = max(1, p.Devices)
	return write(path, func(db *database) error {
		for d := range p.Devices {
			db.row("TARGET_INFO_GPU", d, "Generated GPU", int64(80<<30))
		}
		ranges(db, p)
		for i := range p.Kernels {
			planned(db, p, i)
		}
		return nil
	})
}

// planned writes kernel i and its call.
func planned(db *database, p Plan, i int) {
	start, number := Start(i), int64(i)+1
	if p.Calls {
		db.call("cudaLaunchKernel_v7000", 0, global(pid, pid), number, start-lead, callLength)
	}
	name := Names[i%len(Names)]
	db.kernel(kernel{start: start, dur: Duration(i), device: i % p.Devices, stream: 7, correlation: number,
		process: global(pid, 0), name: name, short: name, grid: [3]int64{64, 1, 1}, block: [3]int64{128, 1, 1}, registers: 32, shared: 4096})
}

// ranges writes push/pop ranges. Each lasts from the first call of a range to
// the first call of the next one.
func ranges(db *database, p Plan) {
	for i := range p.Ranges {
		from, to := Start(i*p.Kernels/p.Ranges)-lead, Start((i+1)*p.Kernels/p.Ranges)-lead
		db.pushPop(fmt.Sprintf("step %d", i), global(pid, pid), from, to-from)
	}
}
