package analyze

import (
	"strings"

	"assay/summary"
	"assay/trace"
)

// streamWaits counts the calls that let a stream wait for an event, and those that no record
// tells what the event is of. Where waits are recorded, a call without a record waits for nothing.
// AMD's calls do not count: no option of a profiler records more of them.
func streamWaits(t *trace.Trace, in *summary.Input) {
	names := make([]int8, t.Names())
	var calls []trace.ID
	for c := range t.Calls.All() {
		if names[c.Name] == 0 {
			names[c.Name] = -1
			if n := t.Name(c.Name); strings.HasPrefix(n, "cudaStreamWaitEvent") || strings.HasPrefix(n, "cuStreamWaitEvent") {
				names[c.Name] = 1
			}
		}
		if names[c.Name] > 0 && t.Window.Starts(c.Start) {
			calls = append(calls, c.Correlation)
		}
	}
	if in.StreamWaits = int64(len(calls)); len(calls) == 0 {
		return
	}
	told := make(map[trace.ID]bool)
	for s := range t.Syncs.All() {
		told[s.Correlation] = s.WaitsOn >= 0 || s.WaitsOn == trace.WaitsOnNothing
	}
	recorded := int64(0)
	for _, id := range calls {
		if tells, ok := told[id]; ok {
			recorded++
			if !tells {
				in.StreamWaitsUnknown++
			}
		}
	}
	if recorded == 0 {
		in.StreamWaitsUnknown = in.StreamWaits
	}
}
