package metric

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
)

// inPhase reports whether a phase is selected, or one that contains it.
func (s Selector) inPhase(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if s.hasPhase(name) {
			return path != ""
		}
	}
	return path != "" && s.hasPhase(path)
}

// phaseActivity adds up the windows of the devices while they were in a phase. A phase includes
// nested phases, and no time counts twice.
func (v selection) phaseActivity() (sum summary.Activity, err error) {
	if v.sel.Value("steps") != "" {
		return sum, errors.New("no activity of phases within steps; leave out steps=, or phase=")
	}
	if _, err := v.devices(); err != nil {
		return sum, err
	}
	names := make(map[string]bool)
	found := false
	for _, p := range v.Phases {
		if p.Path == "" || p.Source == summary.SourceLog || !v.sel.hasDevice(p.Rank, p.Device) {
			continue
		}
		names[strconv.Quote(p.Path)] = true
		if v.sel.inPhase(p.Path) {
			sum, found = sum.Plus(p.Activity), true
		}
	}
	switch {
	case len(names) == 0:
		return sum, errors.New(`no phases: mark them with record_function or NVTX ranges, with names that "assay help phases" lists or a file of your own does (--phases)`)
	case !found:
		return sum, fmt.Errorf("no phase %q; there is %s", v.sel.Value("phase"), few(sorted(names)))
	}
	return sum, nil
}

// A phase is the sum of the selected annotations.
type phase struct {
	count, host, gpu int64
	spans            bool // spans of a trace without device work
}

func (p phase) device() (Value, error) {
	if p.spans {
		return Value{}, errNoDevices
	}
	return whole(p.gpu), nil
}

// phaseAs returns a function that measures annotations or, in traces that have none, host spans.
func phaseAs(of func(phase) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		if v.sel.Value("phase") == "" {
			return Value{}, errors.New("no phase is selected: write phase.mean{phase=NAME}, with * in NAME for anything")
		}
		var sum phase
		names := make(map[string]bool)
		add := func(name string, rank int, count, host, gpu int64) {
			if !v.sel.hasNumber("rank", int64(rank)) {
				return
			}
			names[strconv.Quote(name)] = true
			if v.sel.hasPhase(name) {
				sum.count += count
				sum.host += host
				sum.gpu += gpu
			}
		}
		for _, a := range v.Annotations {
			add(a.Name, a.Rank, a.Count, a.CPUTotalNS, a.GPUTotalNS)
		}
		if sum.count == 0 {
			sum.spans = true
			for _, s := range v.Spans {
				add(s.Name, s.Rank, s.Count, s.TotalNS, 0)
			}
		}
		if sum.count == 0 {
			sum.spans = false
			v.tracedPhases(add)
		}
		if sum.count == 0 {
			sum.spans = true
			v.loggedPhases(add)
		}
		if sum.count == 0 {
			if len(names) == 0 {
				return Value{}, errors.New("no annotations: mark phases with record_function or NVTX ranges")
			}
			return Value{}, fmt.Errorf("no phase %q; there is %s", v.sel.Value("phase"), few(sorted(names)))
		}
		return of(sum)
	}
}

// tracedPhases calls add for the phases of a timeline. A phase of the host has a row for each
// device, but counts once. Of nested phases of one name the outermost counts.
func (v selection) tracedPhases(add func(name string, rank int, count, host, gpu int64)) {
	type onHost struct {
		input, rank int
		path        string
	}
	seen := map[onHost]bool{}
	for _, p := range v.Phases {
		parts := strings.Split(p.Path, "/")
		if p.Path == "" || p.Source == summary.SourceLog {
			continue
		}
		if i := slices.IndexFunc(parts[:len(parts)-1], v.sel.hasPhase); i >= 0 {
			add(parts[i], p.Rank, 0, 0, p.WorkNS) // the host's time is within that of the outer phase
			continue
		}
		name := p.Name()
		if v.sel.hasPhase(p.Path) {
			name = p.Path
		}
		count, host := p.Count, p.HostNS
		if at := (onHost{p.Input, p.Rank, p.Path}); seen[at] {
			count, host = 0, 0
		} else {
			seen[at] = true
		}
		add(name, p.Rank, count, host, p.WorkNS)
	}
}

// loggedPhases calls add for the phases that a program logged: for those of the selected name or,
// if there is none, for the timers of that name. Of nested phases of one name the outermost counts.
func (v selection) loggedPhases(add func(name string, rank int, count, host, gpu int64)) {
	found := false
	for _, p := range v.Phases {
		if p.Source != summary.SourceLog {
			continue
		}
		parts := strings.Split(p.Path, "/")
		if slices.ContainsFunc(parts[:len(parts)-1], v.sel.hasPhase) {
			continue // within a phase that counts
		}
		name := p.Name()
		if v.sel.hasPhase(p.Path) {
			name = p.Path
		}
		found = found || v.sel.hasPhase(name)
		add(name, p.Rank, p.Count, p.HostNS, 0)
	}
	if found {
		return
	}
	for _, r := range v.Series {
		if r.Metric == "step.phase" && r.Sum != nil && r.Pooled == 0 {
			add(r.Name, v.Inputs[r.Input].Rank, r.N, int64(*r.Sum), 0)
		}
	}
}
