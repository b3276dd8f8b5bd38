package rocm

import (
	"fmt"
	"strings"

	"assay/internal/diag"
)

// An agent is a CPU or a GPU.
type agent struct {
	isGPU  bool
	device int64
}

// A stranger is an agent of a process that its table of agents does not have, or that is no GPU and ran kernels.
type stranger struct {
	process string
	id      int64
}

// Strangers are GPUs of their own, with numbers from firstStranger. Those beyond mostStrangers share the last number.
const (
	firstStranger = 1000
	mostStrangers = 64
)

// gpu returns the GPU of a kernel. A capture without agents has their numbers as GPUs.
func (c *capture) gpu(known map[int64]agent, process string, id int64) int64 {
	if a, ok := known[id]; ok && a.isGPU {
		return a.device
	}
	if len(known) == 0 {
		return id
	}
	key := stranger{process, id}
	n, ok := c.strangers[key]
	if !ok {
		if n = int64(len(c.strangers)); n < mostStrangers {
			c.strangers[key] = n
		} else {
			n = mostStrangers - 1
		}
	}
	c.strange++
	return firstStranger + n
}

// copied returns the GPU to which a copy belongs: its source, or its target if only that is a GPU.
func (c *capture) copied(known map[int64]agent, process string, from, to int64, name string) int64 {
	source, isSource := known[from]
	target, isTarget := known[to]
	switch {
	case source.isGPU:
		return source.device
	case target.isGPU || isSource && isTarget: // or between CPUs
		return target.device
	case isSource, len(known) == 0 && toDevice(name):
		return c.gpu(known, process, to)
	}
	return c.gpu(known, process, from)
}

// noteGPUs says which rows of work of GPUs say nothing of a GPU.
func (c *capture) noteGPUs() {
	at := diag.Pos{File: c.file}
	if c.strange > 0 {
		c.out.Issue(diag.Issue{Code: "agent-unknown", Severity: diag.Suspect, First: at,
			Help: fmt.Sprintf("The table of agents does not have the GPUs of this work. They are shown as GPUs from number %d on. Use the file that the profiler wrote, or record again.",
				firstStranger)}, c.strange)
	}
	// One bad row costs some µs. Of many, nobody knows what they would have changed.
	if bad := c.strange + c.untimed; bad*20 >= c.works && bad > 0 {
		var why []string
		if c.untimed > 0 {
			why = append(why, fmt.Sprintf("%d have times that cannot be true, or could not be read, and were left out", c.untimed))
		}
		if c.strange > 0 {
			why = append(why, fmt.Sprintf("%d are of GPUs that the capture does not list", c.strange))
		}
		c.out.Issue(diag.Issue{Code: "gpu-rows-unusable", Severity: diag.DataLoss, First: at,
			Help: fmt.Sprintf("Of %d rows of GPU work, %s, so no verdict is given. Use the file that the profiler wrote, or record again.",
				c.works, strings.Join(why, ", and "))}, bad)
	}
}
