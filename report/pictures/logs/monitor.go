package logs

import (
	"assay/report/plot"
	"assay/summary"
)

// Monitor shows use, memory and power of each GPU over time, as a monitor recorded them.
func Monitor(s *summary.Summary) (plot.Chart, bool) {
	c, ok := linesOf(s, []lineMetric{
		{"gpu.util", "GPU use: share of the time in which a kernel ran"}, {"gpu.sm_active", "SMs with a warp"},
		{"memory.used", "Memory in use"}, {"memory.usage", "Memory in use, share"}, {"gpu.power", "Power draw"},
	}, "GPU")
	c.Title = "GPUs over time"
	return c, ok
}
