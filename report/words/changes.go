package words

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// PathClass returns what a class of a critical path is.
func PathClass(id string) string {
	return wordOr(pathClasses, id, 30)
}

var pathClasses = map[string]string{
	"host_op": "operators on the CPU", "python": "Python and annotations", "host_gap": "CPU, nothing recorded",
	"runtime": "GPU runtime calls", "dataloader": "data loader", "launch_delay": "launch to start of work",
	"kernel_gap": "between kernels", "sync_return": "return of waiting calls", "compute": "compute", "comm": "communication",
	"copy": "copies", "unexplained": "not explained",
}

// changes has the words of changes without a name.
var changes = map[string]string{
	"--scale class:host_gap=0.5": "half the CPU time with nothing recorded", "--host 2x": "all CPU work twice as fast", "--launch 0.5": "launches in half the time", "--gap 0.5": "half the gaps between kernels",
	"--remove sync~.": "no waits of the CPU for the GPU", "--graph": "one launch a step, of a captured graph",
	"--hide-comm": "all communication hidden", "--host 0": "CPU work that takes no time", "--launch 0": "launches that take no time",
	"--scale class:copy=0": "all copies behind compute", "--scale class:dataloader=0": "no wait for the data loader",
}

// Change returns a change, as [summary.Forecast] has it, in words. A name in it is shortened to some
// columns.
func Change(text string, columns int) string {
	if w, ok := changes[text]; ok {
		return w
	}
	if rank, ok := strings.CutPrefix(text, "--on-time"); ok {
		return "no wait for the late rank" + rank
	}
	if view.Pinned(text) {
		return "copies with pinned memory"
	}
	if chain, ok := strings.CutPrefix(text, "--fuse "+view.FusedChain); ok {
		list := strings.Split(strings.ReplaceAll(chain[:max(0, strings.LastIndexByte(chain, '='))], "aten::", ""), ",")
		return "operators " + label.Clip(label.Clean(fmt.Sprintf("%s, %s", list[0], list[min(1, len(list)-1)])), columns) + more(len(list)-2) + " in one kernel"
	}
	what, fast := strings.CutSuffix(strings.TrimPrefix(text, "--scale "), "=0.5")
	if class, ok := strings.CutPrefix(what, "class:"); ok && fast {
		return PathClass(class) + " twice as fast"
	}
	for prefix, of := range map[string]string{"kernel~": "kernel", "op~": "operator"} {
		name, ok := strings.CutPrefix(what, prefix)
		if !ok || !fast {
			continue
		}
		form := label.Plain
		if of == "kernel" {
			form = label.Kernel
		}
		return of + " " + label.Short(form, []string{view.ChangedName(name + "=")}, columns)[0] + " twice as fast"
	}
	return label.Clip(label.Clean(text), columns)
}

// more says how many operators follow the first of a list.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// suggested has the words of what measurements suggest.
var suggested = map[string]string{
	summary.ByTF32: "float32 products in TF32", summary.ByEarly: "communication launched as early as its inputs are ready",
	summary.ByCopyKernels: "no kernels that only copy", summary.ByRoundTrips: "no copies to the CPU and back",
	summary.ByFewBlocks: "small grids on all multiprocessors", summary.ByFewWarps: "enough threads on each multiprocessor",
}

// Forecast returns the change of a forecast in words.
func Forecast(f *summary.Forecast, columns int) string {
	if w, ok := suggested[f.By]; ok {
		return w
	}
	return Change(f.Change, columns)
}
