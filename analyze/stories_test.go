package analyze_test

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// TestStories holds attribution to traces whose truth is known because they were
// made to have it: every owner of idle time, threads, graphs, processes.
func TestStories(t *testing.T) {
	stories := tracegen.Stories()
	for _, p := range stories {
		t.Run(p.Name, func(t *testing.T) { checkStory(t, p.Make()) })
	}
	for seed := range uint64(5) {
		t.Run("mixture", func(t *testing.T) { checkStory(t, tracegen.Mixture(seed)) })
	}
	for _, trouble := range tracegen.Troubles() {
		for _, story := range trouble.Ranks {
			if !story.Damaged {
				t.Run(story.Name, func(t *testing.T) { checkStory(t, story) })
			}
		}
	}
}

func checkStory(t *testing.T, story tracegen.Story) {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(story.JSON), story.Name, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	want := story.Truth
	compare := func(what string, want, got any) {
		t.Helper()
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", what, diff)
		}
	}
	compare("devices", want.Devices, storyDevices(s))
	compare("idle", oneStep(want.Idle), storyIdle(s))
	if want.Ops != nil {
		compare("ops", want.Ops, storyOps(s))
	}
	if want.Calls != nil {
		compare("calls", want.Calls, storyCalls(s))
	}
	if want.Launches != nil {
		compareLaunches(t, want.Launches, s.Launches)
	}
	if want.Graphs != nil {
		compare("graphs", want.Graphs, storyGraphs(s))
	}
	if want.Memory != nil {
		compare("memory", want.Memory, storyMemory(s))
	}
	if want.Phases != nil {
		compare("phases", want.Phases, storyPhases(want.Phases, s))
	}
	if want.Served != nil {
		compare("steps", want.Served, storySteps(s))
	}
	if want.Owners != nil {
		compareOwners(t, want.Owners, s)
	}
}

func storyDevices(s *summary.Summary) (out []tracegen.DeviceWindow) {
	for _, d := range s.Devices {
		w := tracegen.DeviceWindow{Device: int(d.Device), StartNS: d.StartNS, WindowNS: d.WindowNS, IdleNS: d.Activity.Idle()}
		for _, st := range s.Streams {
			if st.Device == d.Device {
				w.WorkNS += st.WorkNS
			}
		}
		out = append(out, w)
	}
	return out
}

// oneStep adds up the rows of all steps, which the summary has as one.
func oneStep(rows []tracegen.IdleTime) (out []tracegen.IdleTime) {
	at := map[int]int{}
	for _, r := range rows {
		if strings.HasPrefix(r.Name, "ProfilerStep#") {
			if i, ok := at[r.Device]; ok {
				out[i].NS += r.NS
				continue
			}
			at[r.Device], r.Name = len(out), "ProfilerStep"
		}
		out = append(out, r)
	}
	return out
}

func storyIdle(s *summary.Summary) (out []tracegen.IdleTime) {
	rows := slices.Clone(s.Idle)
	slices.SortStableFunc(rows, func(a, b summary.Idle) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.State, b.State))
	})
	for _, r := range rows {
		if r.Owner == summary.OwnerOpaque || r.Owner == summary.OwnerLaunch {
			r.Name = "" // the call's; the truth has none
		}
		if n := len(out) - 1; n >= 0 && out[n].Owner == r.Owner && out[n].Name == r.Name && out[n].State == r.State && out[n].Device == int(r.Device) {
			out[n].NS += r.NS
			continue
		}
		out = append(out, tracegen.IdleTime{Device: int(r.Device), Owner: r.Owner, State: r.State, Name: r.Name, NS: r.NS})
	}
	slices.SortFunc(out, func(a, b tracegen.IdleTime) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.State, b.State), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func storyOps(s *summary.Summary) (out []tracegen.OpRun) {
	for _, r := range s.Ops {
		out = append(out, tracegen.OpRun{
			Name: r.Name, Count: r.Count, CPUSelfNS: r.CPUSelfNS, CPUTotalNS: r.CPUTotalNS,
			GPUSelfNS: r.GPUSelfNS, GPUTotalNS: r.GPUTotalNS, Launched: r.Launched,
		})
	}
	slices.SortFunc(out, func(a, b tracegen.OpRun) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func storyCalls(s *summary.Summary) (out []tracegen.CallRun) {
	for _, r := range s.Calls {
		if r.Kind != "sync" {
			r.IdleNS = 0 // the truth speaks of no other: see TestBlockingCopy
		}
		out = append(out, tracegen.CallRun{
			Name: r.Name, Kind: r.Kind, Count: r.Count, TotalNS: r.TotalNS, MaxNS: r.MaxNS, Launched: r.Launched, IdleNS: r.IdleNS,
		})
	}
	slices.SortFunc(out, func(a, b tracegen.CallRun) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// TestBlockingCopy: a copy that had ended when its call returned was waited for;
// one that had not was not. A call that synchronizes waits, also where numbers that
// repeat link work to it.
func TestBlockingCopy(t *testing.T) {
	const in = `[
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":0,"dur":10,"args":{"device":0,"stream":7}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpy","pid":1,"tid":1,"ts":100,"dur":100,"args":{"correlation":1}},
		{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":150,"dur":40,"args":{"device":0,"stream":7,"correlation":1}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":1,"tid":1,"ts":300,"dur":10,"args":{"correlation":2}},
		{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":305,"dur":40,"args":{"device":0,"stream":7,"correlation":2}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":400,"dur":50,"args":{"correlation":5}},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":440,"dur":10,"args":{"device":0,"stream":7,"correlation":5}}]`
	tr, err := trace.Read(strings.NewReader(in), "in", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	type waits struct{ Wait, Idle int64 }
	got := map[string]waits{}
	for _, c := range analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()).Calls {
		got[c.Name] = waits{c.WaitNS, c.IdleNS}
	}
	want := map[string]waits{"cudaMemcpy": {100_000, 60_000}, "cudaMemcpyAsync": {0, 0}, "cudaStreamSynchronize": {50_000, 40_000}}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func compareLaunches(t *testing.T, want []tracegen.Launched, got []summary.Launches) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("launches of %d devices, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		var delays summary.Histogram
		for _, d := range w.Delays {
			delays.Add(d)
		}
		queue := make(map[int64]int64)
		for depth, ns := range w.Queue {
			from := int64(0)
			for at := 1; at <= depth; at *= 2 {
				from = int64(at)
			}
			if ns > 0 {
				queue[from] += ns
			}
		}
		rows := make(map[int64]int64)
		for _, r := range g.Queue {
			rows[r.From] = r.NS
		}
		if g.Launched == 0 {
			queue = rows // the depth is not measured where no launch is known
		}
		type counts struct{ Device, Launched, Without, Calls, Short, ShortNS int64 }
		if diff := gocmp.Diff(counts{int64(w.Device), w.Launched, w.Without, w.Calls, w.Short, w.ShortNS},
			counts{g.Device, g.Launched, g.Without, g.Calls, g.Short, g.ShortNS}); diff != "" {
			t.Errorf("launches: want(-) got(+)\n%s", diff)
		}
		if diff := gocmp.Diff(delays, g.Delays); diff != "" {
			t.Errorf("device %d, delays: want(-) got(+)\n%s", w.Device, diff)
		}
		if diff := gocmp.Diff(queue, rows); diff != "" {
			t.Errorf("device %d, queue: want(-) got(+)\n%s", w.Device, diff)
		}
	}
}

func storyGraphs(s *summary.Summary) (out []tracegen.GraphRun) {
	for _, g := range s.Graphs {
		out = append(out, tracegen.GraphRun{
			Device: int(g.Device), Call: g.Call, First: g.First, Launches: g.Launches, Nodes: g.Nodes, WorkNS: g.WorkNS,
			SpanNS: g.SpanNS, IdleNS: g.IdleNS, DelayNS: g.DelayNS, CallNS: g.CallNS, Opaque: g.Opaque,
		})
	}
	return out
}

func storyMemory(s *summary.Summary) (out []tracegen.MemoryUse) {
	value := func(p *int64) int64 {
		if p == nil {
			return -1
		}
		return *p
	}
	for _, m := range s.Memory {
		u := tracegen.MemoryUse{
			OnHost: m.OnHost, Device: int(m.Device), Allocs: m.Allocs, Frees: m.Frees,
			StartAllocated: value(m.StartAllocated), PeakAllocated: value(m.PeakAllocated), PeakReserved: value(m.PeakReserved),
			PeakNS: m.PeakNS, LiveBytes: m.LiveBytes,
		}
		for _, l := range m.Live {
			u.Live = append(u.Live, tracegen.LiveMemory{Op: l.Op, Module: l.Module, Bytes: l.Bytes, Count: l.Count})
		}
		out = append(out, u)
	}
	return out
}

// compareOwners adds the owners of single kernels up to our tables.
func compareOwners(t *testing.T, owners []tracegen.Owner, s *summary.Summary) {
	t.Helper()
	type line struct {
		file, function string
		number         int
	}
	ops, modules, lines, notes, passes := map[[2]string]int64{}, map[string]int64{}, map[line]int64{}, map[string]int64{}, map[string]int64{}
	trains := slices.ContainsFunc(owners, func(o tracegen.Owner) bool { return o.Pass == "backward" })
	for _, o := range owners {
		if !strings.HasPrefix(o.Kernel, "Mem") {
			ops[[2]string{o.Kernel, o.Op}] += o.NS
		}
		if trains {
			passes[cmp.Or(o.Pass, "unknown")] += o.NS
		}
		for path := o.Module; path != ""; {
			modules[path] += o.NS
			i := strings.LastIndexByte(path, '/')
			path = path[:max(0, i)]
		}
		if o.Function != "" {
			lines[line{o.File, o.Function, o.Line}] += o.NS
		}
		for i, a := range o.Annotations {
			if !slices.Contains(o.Annotations[:i], a) {
				notes[a] += o.NS
			}
		}
	}
	gotOps, gotModules, gotLines, gotNotes, gotPasses := map[[2]string]int64{}, map[string]int64{}, map[line]int64{}, map[string]int64{}, map[string]int64{}
	for _, k := range s.Kernels {
		gotOps[[2]string{k.Name, k.Op}] += k.TotalNS
	}
	for _, m := range s.Modules {
		if m.GPUTotalNS > 0 {
			gotModules[m.Path] += m.GPUTotalNS
		}
	}
	for _, l := range s.Lines {
		if l.GPUSelfNS > 0 {
			gotLines[line{l.File, l.Function, l.Line}] += l.GPUSelfNS
		}
	}
	for _, n := range s.Annotations {
		if n.GPUTotalNS > 0 {
			gotNotes[n.Name] += n.GPUTotalNS
		}
	}
	for _, p := range s.Passes {
		gotPasses[p.Name] += p.GPUNS
	}
	for what, pair := range map[string][2]any{
		"operators of kernels": {ops, gotOps}, "modules": {modules, gotModules}, "annotations": {notes, gotNotes}, "passes": {passes, gotPasses},
	} {
		if diff := gocmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", what, diff)
		}
	}
	if diff := gocmp.Diff(lines, gotLines, gocmp.AllowUnexported(line{})); diff != "" {
		t.Errorf("lines: want(-) got(+)\n%s", diff)
	}
}

// storyPhases returns the phases in the order of the truth, and those that it has
// not behind them.
func storyPhases(want []tracegen.PhaseTime, s *summary.Summary) (out []tracegen.PhaseTime) {
	place := func(path string) int {
		i := slices.IndexFunc(want, func(p tracegen.PhaseTime) bool { return p.Path == path })
		if i < 0 {
			return len(want)
		}
		return i
	}
	for _, p := range s.Phases {
		a := p.Activity
		out = append(out, tracegen.PhaseTime{Path: p.Path, Count: p.Count, HostNS: p.HostNS, ComputeNS: a.Compute(), CopyNS: a.ExposedCopy(), IdleNS: a.Idle()})
	}
	slices.SortStableFunc(out, func(a, b tracegen.PhaseTime) int { return cmp.Compare(place(a.Path), place(b.Path)) })
	return out
}

func storySteps(s *summary.Summary) (out []tracegen.ServedStep) {
	for _, st := range s.Steps {
		out = append(out, tracegen.ServedStep{Name: st.Name, Kind: st.Kind, StartNS: st.StartNS, WallNS: st.WallNS})
	}
	return out
}
