// Package nsysgen writes databases as Nsight Systems exports them, with sums that
// are known before they are read.
//
// [Write] makes one of any size, of kernels in turns. [Record] makes one of a run
// that package tracegen plays, beside the run's trace.
//
// The tables have the columns of schema 3.25.0 (Nsight Systems 2026.2), in its
// order and with its types, for what reading costs depends on them.
package nsysgen

import "fmt"

// A Plan says what to write.
type Plan struct {
	Kernels int  // on one stream of each device, in turns
	Devices int  // 1 if 0
	Calls   bool // a call launches each kernel
	Ranges  int  // each holds as many kernels as any other, give or take one; 0 for none
}

// The times of a plan in ns: a kernel starts every period, runs for some of it,
// and is launched lead before it starts by a call of some length.
const (
	Period     = 10_000
	lead       = 6_000
	callLength = 3_000
	first      = 1_000_000 // when the first kernel starts
)

// Names are the names of kernels, in turns.
var Names = []string{
	"void gemm_kernel<float, (int)128, (int)64>(T1 *, const T1 *, int)",
	"void elementwise_kernel<(int)4, AddFunctor>(int, T2)",
	"void softmax_warp_forward<float, (int)10>(T1 *, const T1 *, int)",
	"void layer_norm_kernel<float>(int, T1, const T1 *, T1 *)",
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
}

// Duration returns how long the kernel of an index runs.
func Duration(i int) int64 { return 1000 + int64(i%7)*1000 }

// Start returns when it starts.
func Start(i int) int64 { return first + int64(i)*Period }

// global returns the number of a thread among all processes, or with thread 0
// that of a process.
func global(process, thread int64) int64 { return 1<<48 | process<<24 | thread }

// pid is the process of a plan, and its only thread.
const pid = 4242

// Write makes the database at a path where there is none.
func Write(path string, p Plan) error {
	p.Devices = max(1, p.Devices)
	return write(path, func(db *database) error {
		for d := range p.Devices {
			if err := db.row("TARGET_INFO_GPU", d, "Generated GPU", int64(80<<30)); err != nil {
				return err
			}
		}
		if err := ranges(db, p); err != nil {
			return err
		}
		for i := range p.Kernels {
			if err := planned(db, p, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// planned writes the kernel of an index, and its call.
func planned(db *database, p Plan, i int) error {
	start, number := Start(i), int64(i)+1
	if p.Calls {
		if err := db.call("cudaLaunchKernel_v7000", 0, global(pid, pid), number, start-lead, callLength); err != nil {
			return err
		}
	}
	name := Names[i%len(Names)]
	return db.kernel(kernel{start: start, dur: Duration(i), device: i % p.Devices, stream: 7, correlation: number,
		process: global(pid, 0), name: name, short: name, grid: 64, block: 128, registers: 32, shared: 4096})
}

// ranges writes pushed and popped ranges, from the first call of each to the
// first of the next.
func ranges(db *database, p Plan) error {
	for i := range p.Ranges {
		from, to := Start(i*p.Kernels/p.Ranges)-lead, Start((i+1)*p.Kernels/p.Ranges)-lead
		if err := db.pushPop(fmt.Sprintf("step %d", i), global(pid, pid), from, to-from); err != nil {
			return err
		}
	}
	return nil
}
