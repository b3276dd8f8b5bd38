package view

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/stat"
	"assay/summary"
)

// A Role is why a GPU is shown when not all GPUs can be.
type Role uint8

// The roles, the most important first.
const (
	RoleNone    Role = iota
	RoleNamed        // a finding names it
	RoleSlowest      // the slowest rank, see [PaceOf]
	RoleFastest
	RoleMedian
	RoleApart // its time differs most from that of the other GPUs of its process
	RoleStage // the longest compute time of its stage of the pipeline
	RoleIdle  // a large share of idle time
)

// A Choice has the GPUs that a table or picture shows.
type Choice struct {
	Devices []int        // their indices, ascending
	Roles   map[int]Role // by index; empty if all GPUs are shown, or if they hardly differ
	Of      int          // number of GPUs to choose from
	// Captures reports whether several of the devices are captures of one GPU.
	Captures bool
}

// Has reports whether a GPU was chosen for a role.
func (c *Choice) Has(r Role) bool {
	for _, role := range c.Roles {
		if role == r {
			return true
		}
	}
	return false
}

// Limits of a choice.
const (
	fewGPUs = 4 // up to this many places, GPUs with much idle time take precedence over the slowest rank
	// leastIdleSpread is the difference between shares of idle time above which GPUs count as different.
	leastIdleSpread = 0.01
)

// Choose returns at most n of the GPUs: those that are named, the one that differs most from the others of
// its process, the slowest, fastest and median rank of each run, one GPU of each stage of a pipeline, and
// those with the most idle time unless all have about the same.
func Choose(s *summary.Summary, devices []int, named []summary.GPU, n int) Choice {
	c := Choice{Of: len(devices), Roles: map[int]Role{}, Captures: len(devices) == len(s.Devices) && GPUs(s) < len(devices)}
	if len(devices) <= n {
		c.Devices = slices.Sorted(slices.Values(devices))
		return c
	}
	take := func(at int, role Role) {
		switch _, ok := c.Roles[at]; {
		case ok && role != RoleIdle:
			c.Roles[at] = role // more specific than RoleNamed
		case !ok && len(c.Devices) < n:
			c.Devices, c.Roles[at] = append(c.Devices, at), role
		}
	}
	index := positions(s, devices)
	for _, key := range named {
		if i, ok := index[key]; ok {
			take(devices[i], RoleNamed)
		}
	}
	for _, at := range apart(s, devices) {
		take(at, RoleApart)
	}
	idle := WorstOf(s, devices, len(devices))
	slices.SortStableFunc(idle, func(i, j int) int {
		return cmp.Compare(IdleShare(s.Devices[j].Activity), IdleShare(s.Devices[i].Activity))
	})
	differ := IdleShare(s.Devices[idle[0]].Activity)-IdleShare(s.Devices[idle[len(idle)-1]].Activity) >= leastIdleSpread
	if n > fewGPUs || !differ {
		for _, one := range paced(s, devices) {
			take(one.at, one.role)
		}
	}
	if differ {
		for _, at := range idle {
			take(at, RoleIdle)
		}
	}
	if len(c.Devices) == 0 {
		c.Devices = slices.Clone(devices[:n])
	}
	slices.Sort(c.Devices)
	return c
}

// apart returns the GPU of each process whose time breakdown differs most from the medians of the GPUs that
// the process drives, if one of its shares differs clearly.
func apart(s *summary.Summary, devices []int) (out []int) {
	type key struct{ input, process int }
	byProcess := map[key][]int{}
	for _, at := range devices {
		if d := &s.Devices[at]; d.Process > 0 {
			k := key{d.Input, d.Process}
			byProcess[k] = append(byProcess[k], at)
		}
	}
	for _, list := range byProcess {
		most, far := -1, leastIdleSpread
		for _, part := range []func(summary.Activity) int64{summary.Activity.Compute, summary.Activity.ExposedComm, summary.Activity.Idle} {
			share := func(at int) float64 {
				a := s.Devices[at].Activity
				return float64(part(a)) / float64(max(1, a.Window()))
			}
			median := stat.MedianBy(list, share)
			for _, at := range list {
				if d := math.Abs(share(at) - median); d > far && len(list) > 2 {
					most, far = at, d
				}
			}
		}
		if most >= 0 {
			out = append(out, most)
		}
	}
	slices.Sort(out)
	return out
}

type inRole struct {
	at   int
	role Role
}

// paced returns the slowest rank of each run, then the fastest ones, then the median ones. For a pipeline
// it returns the GPUs of the stages with the longest compute time, the longest stage first and the shortest
// second.
func paced(s *summary.Summary, devices []int) (out []inRole) {
	byInput := map[int][]int{}
	for _, at := range devices {
		byInput[s.Devices[at].Input] = append(byInput[s.Devices[at].Input], at)
	}
	var roles [RoleIdle + 1][]int
	for _, run := range Runs(Captures(s)).Runs {
		var of []int
		for _, in := range run.Inputs {
			of = append(of, byInput[in]...)
		}
		if len(of) < 2 {
			continue
		}
		slices.SortStableFunc(of, func(i, j int) int {
			a, b := &s.Devices[i], &s.Devices[j]
			return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
		})
		switch pace := PaceOf(s, of); pace.Unknown {
		case PaceKnown:
			roles[RoleSlowest] = append(roles[RoleSlowest], of[pace.Slowest])
			roles[RoleFastest] = append(roles[RoleFastest], of[pace.Fastest])
			if pace.Median >= 0 {
				roles[RoleMedian] = append(roles[RoleMedian], of[pace.Median])
			}
		case PaceStages:
			roles[RoleStage] = append(roles[RoleStage], longestOfStages(s, of)...)
		}
	}
	for role, list := range roles {
		for _, at := range list {
			out = append(out, inRole{at, Role(role)})
		}
	}
	return out
}

// longestOfStages returns the GPU of each stage that computes longest. Among these, the one with the most
// compute time is first, the one with the least second, and the others follow.
func longestOfStages(s *summary.Summary, devices []int) (out []int) {
	stage := map[summary.GPU]int{}
	for i := range s.Ranks {
		if r := &s.Ranks[i]; r.Stage != nil {
			stage[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}] = *r.Stage
		}
	}
	best := map[int]int{}
	compute := func(at int) int64 { return s.Devices[at].Activity.Compute() }
	for _, at := range devices {
		d := &s.Devices[at]
		n, ok := stage[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]
		if !ok {
			continue
		}
		if of, seen := best[n]; !seen || compute(at) > compute(of) {
			best[n] = at
		}
	}
	for _, at := range best {
		out = append(out, at)
	}
	slices.SortFunc(out, func(i, j int) int { return cmp.Or(cmp.Compare(compute(j), compute(i)), cmp.Compare(i, j)) })
	if n := len(out); n > 2 {
		out = slices.Insert(out[:n-1], 1, out[n-1])
	}
	return out
}
