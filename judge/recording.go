package judge

import (
	"slices"
	"strings"

	"assay/summary"
)

// A recorder has what to tell the users of one profiler about how to record.
type recorder struct {
	noWork     string // title of the finding that there is no device work
	devices    string // how to record device work
	wholeSteps string // how to record what can be judged
	warmUp     string // how to leave out what runs only once
	host       string // how to see what the host does
	itself     string // how to leave out the profiler's own work
}

var torchRecorder = recorder{
	noWork:     "the capture holds no GPU events: record with ProfilerActivity.CUDA",
	devices:    "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] in torch.profiler.profile",
	wholeSteps: "record whole steps: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3), prof.step() in every iteration, and export only after the active steps have ended",
	warmUp:     "schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)",
	host:       "record what the host does: with_stack=True shows Python functions, record_function names phases",
	itself:     "leave the profiler's own work out of the window: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)",
}

const nsysRange = "nsys profile --capture-range=cudaProfilerApi with cudaProfilerStart and cudaProfilerStop (torch.cuda.profiler.start() and stop()) around a few warm steps"

var nsysRecorder = recorder{
	noWork:     "the export holds no work of a device: record with --trace=cuda,nvtx,osrt",
	devices:    "record with nsys profile --trace=cuda,nvtx,osrt, and let the program end by itself or with cudaProfilerStop",
	wholeSteps: "record whole steps: " + nsysRange,
	warmUp:     nsysRange,
	host:       "record what the host does: --trace=cuda,nvtx,osrt shows calls of the operating system, --python-sampling=true Python functions, and NVTX ranges (nvtxRangePush, torch.cuda.nvtx.range_push) name phases",
	itself:     "leave the profiler's own work out of the window: " + nsysRange + ", and --sample=none --cpuctxsw=none",
}

// recorder returns the profiler that the inputs come from: PyTorch's, unless
// all are of Nsight Systems.
func (c *court) recorder() *recorder {
	other := func(in summary.Input) bool { return !strings.HasPrefix(in.Format, "nsys-") }
	if len(c.Inputs) == 0 || slices.ContainsFunc(c.Inputs, other) {
		return &torchRecorder
	}
	return &nsysRecorder
}
