package timeline

import (
	"fmt"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// neighborIdle returns the idle time in ns during which another GPU of the same process worked.
func neighborIdle(c *Evaluator) int64 {
	ns, _ := idleWithCause(c, func(r summary.Idle) bool { return r.Owner == summary.OwnerNeighbor })
	return ns
}

// mostlyNeighbors reports whether another GPU of the process works during most of the idle time, and
// the GPUs divide the work badly: they take turns, or one of them does more than the others. Two GPUs
// with work of their own may be idle at any time of each other; then the CPU is the cause.
func mostlyNeighbors(c *Evaluator) bool {
	ns := neighborIdle(c)
	return ns > 0 && ns >= c.Total.Idle()-ns && (takeTurns(c) || uneven(c) != nil)
}

// Limits of the division of work.
const (
	mostShared = 0.10 // of the busy time, in which GPUs that take turns work at the same time
	leastUnion = 0.90 // of the window, in which one of the GPUs that take turns works
	moreBusy   = 0.15 // by how much more of its window the busiest GPU works than the least busy one
)

// takeTurns reports whether GPUs of one process hardly ever work at the same time, and one of them
// works nearly always.
func takeTurns(c *Evaluator) bool {
	busy, shared := c.Total.Window()-c.Total.Idle(), int64(0)
	for _, d := range c.Devices {
		shared += d.SharedNS
	}
	return float64(shared) <= mostShared*float64(busy) &&
		float64(busy+neighborIdle(c)) >= leastUnion*float64(c.Total.Window())
}

// uneven returns the busiest GPU of the only input if another GPU works much less; else nil.
func uneven(c *Evaluator) *summary.Device {
	if len(c.Inputs) != 1 || len(c.Devices) < 2 {
		return nil
	}
	most, least := &c.Devices[0], &c.Devices[0]
	for i := range c.Devices {
		d := &c.Devices[i]
		if busyShare(d) > busyShare(most) {
			most = d
		}
		if busyShare(d) < busyShare(least) {
			least = d
		}
	}
	if busyShare(most)-busyShare(least) < moreBusy {
		return nil
	}
	return most
}

func busyShare(d *summary.Device) float64 {
	return float64(d.Activity.Busy()) / float64(max(1, d.WindowNS))
}

// neighborEvidence says how GPUs of one process divide the work.
func neighborEvidence(c *Evaluator) string {
	busy, ns := c.Total.Window()-c.Total.Idle(), neighborIdle(c)
	if d := uneven(c); !takeTurns(c) && d != nil {
		return fmt.Sprintf("GPU %d works more than the other GPUs of its process: it is busy %s of its window; mean of %d GPUs: %s",
			d.Device, unit.Share(d.Activity.Busy(), d.WindowNS), len(c.Devices), unit.Share(busy, c.Total.Window()))
	}
	return fmt.Sprintf("the GPUs take turns: one of them works during %s of the time, and each GPU %s on average",
		unit.Share(busy+ns, c.Total.Window()), unit.Share(busy, c.Total.Window()))
}

// neighborAdvice returns the fixes for GPUs of one process that wait for each other; next has those
// for the other causes of idle time.
func neighborAdvice(c *Evaluator, next []finding.Step) []finding.Step {
	switch {
	case !mostlyNeighbors(c):
		return next
	case takeTurns(c):
		return []finding.Step{finding.Advise("work-at-the-same-time"), finding.Advise("use-fewer-gpus")}
	}
	return []finding.Step{finding.Advise("one-process-per-gpu"), finding.Advise("use-fewer-gpus")}
}
