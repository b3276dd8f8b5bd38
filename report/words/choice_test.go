package words

import (
	"testing"

	"assay/summary"
	"assay/summary/view"
)

// TestChoice: the sentence counts the GPUs and names the roles once each, with their ranks.
func TestChoice(t *testing.T) {
	devices := []summary.Device{{Rank: 0}, {Rank: 1}, {Rank: 2}, {Rank: 3}, {Rank: 4}}
	for _, tc := range []struct {
		c    view.Choice
		want string
	}{
		{view.Choice{Devices: []int{0, 1}, Of: 2}, ""},
		{view.Choice{Devices: []int{0, 1}, Of: 64}, "2 of 64 GPUs (the first ones; the GPUs hardly differ)."},
		{view.Choice{Devices: []int{3, 4}, Of: 1000, Roles: map[int]view.Role{3: view.RoleIdle, 4: view.RoleIdle}}, "2 of 1,000 GPUs (most idle time)."},
		{view.Choice{Devices: []int{1, 3, 4}, Of: 64, Roles: map[int]view.Role{1: view.RoleMedian, 3: view.RoleSlowest, 4: view.RoleFastest}},
			"3 of 64 GPUs (the slowest rank: 3; the fastest rank: 4; the median rank: 1)."},
		{view.Choice{Devices: []int{0, 2}, Of: 6, Roles: map[int]view.Role{0: view.RoleSlowest, 2: view.RoleSlowest}}, "2 of 6 GPUs (the slowest rank of each run: 0, 2)."},
	} {
		if got := Choice(tc.c, devices); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
