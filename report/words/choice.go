package words

import (
	"fmt"
	"strings"

	"assay/summary/view"
	"assay/unit"
)

// Choice returns which of all GPUs are shown, or "" if all are: "3 of 64 GPUs (the
// slowest rank, the fastest rank and the median rank)."
func Choice(c view.Choice) string {
	if len(c.Devices) >= c.Of {
		return ""
	}
	var parts []string
	for _, one := range []struct {
		role view.Role
		text string
	}{
		{view.RoleNamed, "those that a finding names"}, {view.RoleSlowest, "the slowest rank"}, {view.RoleFastest, "the fastest rank"}, {view.RoleMedian, "the median rank"},
		{view.RoleStage, "those that compute longest in their pipeline stage"}, {view.RoleIdle, "those with the most idle time"},
	} {
		if c.Has(one.role) {
			parts = append(parts, one.text)
		}
	}
	head := fmt.Sprintf("%s of %s GPUs (", unit.Count(int64(len(c.Devices))), unit.Count(int64(c.Of)))
	switch n := len(parts); n {
	case 0:
		return head + "the first ones; the GPUs hardly differ)."
	case 1:
		return head + parts[0] + ")."
	default:
		return head + strings.Join(parts[:n-1], ", ") + " and " + parts[n-1] + ")."
	}
}

// Role returns the word for the GPU of a choice, or "".
func Role(r view.Role) string {
	return map[view.Role]string{view.RoleSlowest: "slowest", view.RoleFastest: "fastest", view.RoleMedian: "median"}[r]
}
