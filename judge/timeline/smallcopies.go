package timeline

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// smallCopies judges the idle time in many small copies to the GPU: in the calls, in the waits for
// them, and in PyTorch's copying operators. Waits for results are no sign of this problem, so there
// must be at least twice as many copies to the GPU as from it.
func (c *Evaluator) smallCopies() []tree.Reading {
	limits := c.Limits[rule.SmallCopies]
	var to, from, bytes, pageable int64
	for _, r := range c.CopyCalls {
		switch d := advice.DirectionOf(summary.Copy{Name: r.Name, Class: r.Class}); {
		case r.Large || !isCopyCall(r.Call):
		case d == advice.ToHost:
			from += r.Count
		case d == advice.FromPageable || d == advice.FromPinned || d == advice.FromHost:
			to += r.Count
			if r.Bytes != nil {
				bytes += *r.Bytes
			}
			if d == advice.FromPageable {
				pageable += r.Count
			}
		}
	}
	if to < limits.MinEvents || to < 2*from {
		return nil
	}
	ns, where := idleWithCause(c, isCopying)
	r := causeOfIdle(c, rule.SmallCopies, "Small copies to the GPU: ", ns)
	size := ""
	if bytes > 0 {
		size = fmt.Sprintf(", mean %s", unit.Bytes(bytes/to))
	}
	r.Evidence = []string{fmt.Sprintf("%s to the GPU of 64 KiB at most (%s from pageable memory)%s",
		label.Plural(to, "copy"), unit.Count(pageable), size)}
	r.Where, r.Next = where, []finding.Step{finding.Advise("pack-and-pin")}
	return r.IfReached()
}

// isCopying reports whether the CPU was copying or waiting during idle time.
func isCopying(r summary.Idle) bool {
	switch r.Owner {
	case summary.OwnerLaunch:
		return isCopyCall(r.Name)
	case summary.OwnerHost:
		return r.State == summary.StateCopy || r.State == summary.StateSync ||
			r.State == summary.StateOp && slices.Contains([]string{"aten::to", "aten::_to_copy", "aten::copy_"},
				strings.TrimSpace(r.Name))
	}
	return false
}
