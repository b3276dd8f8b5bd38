package words

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/unit"
	"assay/summary"
	"assay/summary/view"
)

// Choice states which GPUs are shown, or returns "" if all are: "3 of 64 GPUs (the slowest rank: 17; the
// fastest rank: 3; the median rank: 40)."
func Choice(c view.Choice, devices []summary.Device) string {
	if len(c.Devices) >= c.Of {
		return ""
	}
	var parts []string
	for _, one := range []struct {
		role          view.Role
		text, several string
		ranks         bool
	}{
		{view.RoleNamed, "named by a finding", "", false},
		{view.RoleSlowest, "the slowest rank", "the slowest rank of each run", true},
		{view.RoleFastest, "the fastest rank", "the fastest rank of each run", true},
		{view.RoleMedian, "the median rank", "the median rank of each run", true},
		{view.RoleApart, "differs most from the other GPUs of its process", "", false},
		{view.RoleStage, "longest compute time in the pipeline stage", "", false},
		{view.RoleIdle, "most idle time", "", false},
	} {
		var ranks []string
		for _, at := range c.Devices {
			if c.Roles[at] == one.role && at < len(devices) {
				ranks = append(ranks, strconv.Itoa(devices[at].Rank))
			}
		}
		switch {
		case len(ranks) == 0:
		case !one.ranks:
			parts = append(parts, one.text)
		case len(ranks) > 1:
			parts = append(parts, one.several+": "+strings.Join(ranks, ", "))
		default:
			parts = append(parts, one.text+": "+ranks[0])
		}
	}
	noun := "GPUs"
	if c.Captures {
		noun = "captures"
	}
	head := fmt.Sprintf("%s of %s %s (", unit.Count(int64(len(c.Devices))), unit.Count(int64(c.Of)), noun)
	if len(parts) == 0 {
		return head + "the first ones; the GPUs hardly differ)."
	}
	return head + strings.Join(parts, "; ") + ")."
}

// Role returns the display name of a role of a GPU, or "".
func Role(r view.Role) string {
	return map[view.Role]string{view.RoleSlowest: "slowest", view.RoleFastest: "fastest", view.RoleMedian: "median"}[r]
}
