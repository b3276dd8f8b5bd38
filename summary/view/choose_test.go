package view

import (
	"slices"
	"testing"

	"assay/summary"
)

// even returns GPUs of n ranks whose windows have 100 ns: rank r communicates for r ns, and
// none is idle.
func even(n int) *summary.Summary {
	s := &summary.Summary{}
	for r := range n {
		s.Inputs = append(s.Inputs, summary.Input{Format: "kineto", Rank: r, RankFrom: "trace"})
		d := summary.Device{Input: r, Rank: r, WindowNS: 100}
		d.Activity[summary.ClassCompute], d.Activity[summary.ClassComm] = int64(100-r), int64(r)
		s.Devices = append(s.Devices, d)
	}
	return s
}

// TestChoose: of GPUs without idle time, the slowest rank (the least exposed communication), the
// fastest and the median one are shown, and a named one before them. If their idle time differs,
// those with the most of it fill the rest.
func TestChoose(t *testing.T) {
	s := even(41)
	s.Devices[0].Activity[summary.ClassComm]++ // every rank communicates
	s.Devices[0].Activity[summary.ClassCompute]--
	all := make([]int, 41)
	for i := range all {
		all[i] = i
	}
	check := func(what string, c Choice, want []int, roles map[int]Role) {
		t.Helper()
		if !slices.Equal(c.Devices, want) || c.Of != 41 {
			t.Errorf("%s: %v of %d, want %v", what, c.Devices, c.Of, want)
		}
		for at, role := range roles {
			if c.Roles[at] != role {
				t.Errorf("%s: GPU %d is %d, want %d", what, at, c.Roles[at], role)
			}
		}
	}
	check("no idle time", Choose(s, all, nil, 15), []int{0, 20, 40}, map[int]Role{0: RoleSlowest, 20: RoleMedian, 40: RoleFastest})
	check("few", Choose(s, all, nil, 2), []int{0, 40}, map[int]Role{0: RoleSlowest, 40: RoleFastest})
	named := []summary.GPU{{Input: 7, Rank: 7}, {Input: 99, Rank: 99}}
	check("named", Choose(s, all, named, 15), []int{0, 7, 20, 40}, map[int]Role{7: RoleNamed})
	check("named and slowest", Choose(s, all, []summary.GPU{{}}, 15), []int{0, 20, 40}, map[int]Role{0: RoleSlowest})
	for i, at := range []int{3, 9} { // idle for 40 and 39 ns
		ns := int64(40 - i)
		s.Devices[at].Activity[summary.ClassCompute] -= ns
		s.Devices[at].Activity[0] += ns
	}
	check("few, idle", Choose(s, all, named, 2), []int{3, 7}, map[int]Role{3: RoleIdle, 7: RoleNamed})
	check("idle", Choose(s, all, nil, 5), []int{0, 3, 9, 20, 40}, map[int]Role{3: RoleIdle, 9: RoleIdle, 0: RoleSlowest})
	if c := Choose(s, all, named, 41); len(c.Devices) != 41 || len(c.Roles) > 0 {
		t.Errorf("of all: %+v", c)
	}
}

// TestChooseEven: of GPUs without any difference the first ones are shown; of stages of a
// pipeline, the longest compute time of each.
func TestChooseEven(t *testing.T) {
	s := &summary.Summary{}
	var all []int
	for r := range 20 {
		s.Inputs = append(s.Inputs, summary.Input{Format: "kineto", Rank: r, RankFrom: "trace"})
		d := summary.Device{Input: r, Rank: r, WindowNS: 100}
		d.Activity[summary.ClassCompute], d.Activity[summary.ClassComm] = 50, 50
		s.Devices = append(s.Devices, d)
		all = append(all, r)
	}
	if c := Choose(s, all, nil, 4); !slices.Equal(c.Devices, []int{0, 1, 2, 3}) || len(c.Roles) > 0 {
		t.Errorf("even ranks: %+v", c)
	}
	s.Collectives = []summary.Collective{{Op: summary.OpSendRecv}}
	for r := range 20 {
		stage := r / 5
		s.Ranks = append(s.Ranks, summary.RankWait{Input: r, Rank: r, TransferNS: 1, Stage: &stage})
	}
	for i, at := range []int{4, 8, 10, 17} { // the longest of each stage; stage 3 is the shortest
		s.Devices[at].Activity[summary.ClassCompute] += int64(9 - i)
		s.Devices[at].Activity[summary.ClassComm] -= int64(9 - i)
	}
	if c := Choose(s, all, nil, 15); !slices.Equal(c.Devices, []int{4, 8, 10, 17}) || c.Roles[4] != RoleStage {
		t.Errorf("stages: %+v", c)
	}
	if c := Choose(s, all, nil, 2); !slices.Equal(c.Devices, []int{4, 17}) {
		t.Errorf("the longest and the shortest stage: %+v", c)
	}
}

// TestChooseApart: the GPU that differs from the others of its process is shown, although the others have
// more idle time. GPUs of other processes, and a process with two GPUs, have no such GPU.
func TestChooseApart(t *testing.T) {
	run := func(process int, idle ...int64) (s *summary.Summary, all []int) {
		s = &summary.Summary{Inputs: []summary.Input{{Format: "kineto"}}}
		for i, ns := range idle {
			d := summary.Device{Device: int64(i), Process: process, WindowNS: 100}
			d.Activity[0], d.Activity[summary.ClassCompute] = ns, 100-ns
			s.Devices, all = append(s.Devices, d), append(all, i)
		}
		return s, all
	}
	for name, tt := range map[string]struct {
		process int
		idle    []int64
		want    []int
		role    Role
	}{
		"GPU 3 does more":       {1, []int64{60, 61, 60, 10, 60, 60}, []int{1, 3}, RoleApart},
		"GPU 0 does less":       {1, []int64{90, 20, 21, 20}, []int{0, 2}, RoleApart},
		"GPUs of six processes": {0, []int64{60, 61, 60, 10, 60, 60}, []int{0, 1}, RoleIdle},
		"hardly different":      {1, []int64{50, 50, 50, 50}, []int{0, 1}, RoleNone},
	} {
		s, all := run(tt.process, tt.idle...)
		c := Choose(s, all, nil, 2)
		role := RoleNone
		if c.Has(RoleIdle) {
			role = RoleIdle
		}
		if c.Has(RoleApart) {
			role = RoleApart
		}
		if !slices.Equal(c.Devices, tt.want) || role != tt.role {
			t.Errorf("%s: GPUs %v, roles %v", name, c.Devices, c.Roles)
		}
	}
}

// TestPipelines: two stages of two GPUs. Stage 1 computes 30 ns longer, so 30 ns of the waiting
// of each GPU of stage 0 are for it, and the rest is the bubble; waiting that is not exposed does
// not count.
func TestPipelines(t *testing.T) {
	s := &summary.Summary{}
	messages := int64(3)
	s.Topologies = []summary.Topology{{Stages: 2, Messages: &messages}}
	for r, one := range []struct{ compute, comm, wait int64 }{{40, 60, 55}, {40, 60, 65}, {70, 30, 20}, {70, 30, 10}} {
		d := summary.Device{Input: r, Rank: r, WindowNS: 100}
		d.Activity[summary.ClassCompute], d.Activity[summary.ClassComm] = one.compute, one.comm
		s.Devices = append(s.Devices, d)
		stage := r / 2
		s.Ranks = append(s.Ranks, summary.RankWait{Input: r, Rank: r, Stage: &stage, StageWaitNS: &one.wait})
	}
	p := Pipelines(s)
	if len(p) != 1 || len(p[0].Stages) != 2 || !p[0].Whole() || *p[0].Messages != 3 {
		t.Fatalf("%+v", p)
	}
	a, b := p[0].Stages[0], p[0].Stages[1]
	if !slices.Equal(a.Ranks, []int{0, 1}) || a.GPUs != 2 || a.Window != 200 || a.Compute != 80 || a.Wait != 55+60 || a.Uneven != 60 || b.Wait != 30 || b.Uneven != 0 {
		t.Errorf("%+v and %+v", a, b)
	}
	if p[0].Bubble() != 55+30 || p[0].Uneven() != 60 || p[0].Windows() != 400 || p[0].Longest().Number != 1 {
		t.Errorf("bubble %d, uneven %d of %d", p[0].Bubble(), p[0].Uneven(), p[0].Windows())
	}
	s.Topologies[0].Stages = 3 // one is missing
	if p := Pipelines(s); p[0].Whole() || p[0].Uneven() != 0 {
		t.Errorf("with a stage missing: %+v", p)
	}
}
