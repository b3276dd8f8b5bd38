package words

import (
	"testing"

	"assay/summary/view"
)

// TestChoice: the sentence counts the GPUs and names the roles once each.
func TestChoice(t *testing.T) {
	for _, tc := range []struct {
		c    view.Choice
		want string
	}{
		{view.Choice{Devices: []int{0, 1}, Of: 2}, ""},
		{view.Choice{Devices: []int{0, 1}, Of: 64}, "2 of 64 GPUs (the first ones; the GPUs hardly differ)."},
		{view.Choice{Devices: []int{3, 4}, Of: 1000, Roles: map[int]view.Role{3: view.RoleIdle, 4: view.RoleIdle}}, "2 of 1,000 GPUs (those with the most idle time)."},
		{view.Choice{Devices: []int{1, 3, 4}, Of: 64, Roles: map[int]view.Role{1: view.RoleMedian, 3: view.RoleSlowest, 4: view.RoleFastest}},
			"3 of 64 GPUs (the slowest rank, the fastest rank and the median rank)."},
	} {
		if got := Choice(tc.c); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
