package partial

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/analyze/clocks"
	"assay/internal/test"
	"assay/summary"
)

// An rlRun is an asynchronous run: in each step the rollouts work for gen seconds and the trainer for train, at the same
// time, then the weights are moved.
type rlRun struct{ steps, gen, train, sync int }

func (r rlRun) length() int { return max(r.gen, r.train) + r.sync }

func rlTime(second float64) time.Time {
	return time.Unix(1_767_312_000, int64(second*1e9)).UTC()
}

// trainer is the log of veRL, with or without times.
func (r rlRun) trainer(stamped bool) string {
	var b strings.Builder
	for step := 1; step <= r.steps; step++ {
		if stamped {
			b.WriteString(rlTime(float64(step * r.length())).Format("[2006-01-02 15:04:05] "))
		}
		fmt.Fprintf(&b, "step:%d - timing_s/gen:%d.0 - timing_s/update_actor:%d.0 - timing_s/update_weights:%d.0 - timing_s/step:%d.0 - fully_async/count/staleness_samples:1\n",
			step, max(0, r.gen-r.train), r.train, r.sync, r.length())
	}
	return b.String()
}

// monitor is that of two GPUs, which are in use for the first seconds of each step.
func (r rlRun) monitor(busy, apart int, later float64) string {
	var b strings.Builder
	b.WriteString("timestamp, index, utilization.gpu [%]\n")
	for at := 0; at <= r.steps*r.length(); at += apart {
		use := 0
		if in := at % r.length(); in > 0 && in <= busy {
			use = 93
		}
		for gpu := range 2 {
			fmt.Fprintf(&b, "%s, %d, %d %%\n", rlTime(float64(at)+later).Format("2006/01/02 15:04:05.000"), gpu, use)
		}
	}
	return b.String()
}

// trace is that of one GPU with a kernel in each half of a second in which it works. Its steps have phases.
func (r rlRun) trace(busy int, phases map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"baseTimeNanoseconds": %d, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [`, rlTime(0).UnixNano())
	id := 0
	span := func(name, cat string, from, seconds float64) {
		fmt.Fprintf(&b, `{"ph":"X","cat":%q,"name":%q,"pid":7,"tid":7,"ts":%.0f,"dur":%.0f},`, cat, name, from*1e6, seconds*1e6)
	}
	for step := range r.steps {
		start := float64(step * r.length())
		if phases != nil {
			span(fmt.Sprintf("ProfilerStep#%d", step+3), "user_annotation", start, float64(r.length()))
		}
		at := start
		for _, name := range []string{"wait_for_generation_buffer", "train_critic_and_policy", "sync_weights"} {
			if n := phases[name]; n > 0 {
				span(name, "user_annotation", at, float64(n))
				at += float64(n)
			}
		}
		for half := range 2 * busy {
			id++
			from := start + float64(half)/2
			fmt.Fprintf(&b, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":%.0f,"dur":5,"args":{"correlation":%d}},`, from*1e6+10, id)
			fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%.0f,"dur":400000,"args":{"correlation":%d,"device":0,"stream":7}},`, from*1e6+30, id)
		}
	}
	return strings.TrimSuffix(b.String(), ",") + "]}"
}

// secondsOf returns the seconds of a role in a state per step, and for how long its GPUs are in use.
func secondsOf(s *summary.Summary, role, state string) (seconds, inUse float64, from string) {
	for _, r := range s.RoleTimes {
		if r.Role == role && r.State == state {
			n := float64(s.RoleSteps[0].Steps) * 1e9
			if r.InUseNS != nil {
				inUse = float64(*r.InUseNS) / n
			}
			return float64(r.NS) / n, inUse, r.From
		}
	}
	return 0, 0, ""
}

// TestRolesOfGPUs: monitors and traces show for how long rollouts work where neither the trainer nor a server tells. The
// seconds are those of the run, and add up to the step.
func TestRolesOfGPUs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 40))
	r := rlRun{steps: 8, gen: 30 + rnd.IntN(30), train: 15 + rnd.IntN(10), sync: 2 + rnd.IntN(4)}
	utc, err := clocks.ParseSetting("UTC")
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]int{"wait_for_generation_buffer": r.gen - r.train, "train_critic_and_policy": r.train, "sync_weights": r.sync}
	for _, tc := range []struct {
		name, from string
		texts      map[string]string
		set        map[string]clocks.Setting
	}{
		{"monitors", summary.FromMonitors, map[string]string{"a.log": r.trainer(true), "rollout-7.csv": r.monitor(r.gen, 1, 0), "rollout-8.csv": r.monitor(r.gen, 1, 0), "trainer.csv": r.monitor(r.train, 1, 0)}, nil},
		{"a trace beside a log", summary.FromTraces, map[string]string{"a.log": r.trainer(true), "vllm_worker.json": r.trace(r.gen, nil), "trainer.csv": r.monitor(r.train, 1, 0)}, map[string]clocks.Setting{"a.log": utc, "trainer.csv": utc}},
		{"traces only", summary.FromTraces, map[string]string{"a.json": r.trace(r.train, phases), "rollout.json": r.trace(r.gen, nil)}, nil},
	} {
		var order []string
		for name := range tc.texts {
			order = append(order, name)
		}
		slices.Sort(order)
		s := joinTexts(t, tc.texts, order, tc.set)
		if len(s.RoleSteps) != 1 || s.RoleSteps[0].Critical != summary.RoleRollout {
			t.Fatalf("%s: steps of roles are %+v", tc.name, s.RoleSteps)
		}
		for _, want := range []struct {
			role, state string
			seconds     int
		}{{summary.RoleRollout, summary.RoleWorks, r.gen}, {summary.RoleTrainer, summary.RoleWorks, r.train},
			{summary.RoleTrainer, summary.RoleWaits, r.gen - r.train}, {summary.RoleRollout, summary.RoleSyncs, r.sync}} {
			got, inUse, from := secondsOf(s, want.role, want.state)
			if got < float64(want.seconds)-1.5 || got > float64(want.seconds)+1.5 {
				t.Errorf("%s: %s %s for %.1f s of a step, want %d", tc.name, want.role, want.state, got, want.seconds)
			}
			if want.state == summary.RoleWorks && tc.texts["trainer.csv"] != "" && (inUse < got-1.5 || inUse > got+1.5) {
				t.Errorf("%s: GPUs of the %s are in use for %.1f s, want %.1f", tc.name, want.role, inUse, got)
			}
			if want.role == summary.RoleRollout && from != tc.from {
				t.Errorf("%s: by %q, want %q", tc.name, from, tc.from)
			}
		}
		sums := map[string]int64{}
		for _, row := range s.RoleTimes {
			sums[row.Role] += row.NS
		}
		for role, sum := range sums {
			if sum != s.RoleSteps[0].StepNS {
				t.Errorf("%s: the states of %s add up to %d, want %d", tc.name, role, sum, s.RoleSteps[0].StepNS)
			}
		}
	}
}

// TestRolesNotRelated: where a clock, a name or the samples do not tell, the time of the rollouts is unknown, and the reason
// is given.
func TestRolesNotRelated(t *testing.T) {
	r := rlRun{steps: 6, gen: 40, train: 25, sync: 3}
	for _, tc := range []struct {
		name, file, log, text, why string
	}{
		{"a name without a role", "gpus.csv", r.trainer(true), r.monitor(r.gen, 1, 0), summary.NoRole},
		{"names of two roles", "trainer-and-rollout.csv", r.trainer(true), r.monitor(r.gen, 1, 0), summary.NoRole},
		{"another day", "rollout.csv", r.trainer(true), r.monitor(r.gen, 1, 86_400), summary.NoOverlap},
		{"few samples", "rollout.csv", r.trainer(true), r.monitor(r.gen, 10, 0), summary.TooCoarse},
		{"a trainer without times", "rollout.csv", r.trainer(false), r.monitor(r.gen, 1, 0), summary.TrainerWithoutTimes},
		{"a zone that is not known", "rollout.json", r.trainer(true), r.trace(r.gen, nil), summary.ZoneUnknown},
	} {
		s := joinTexts(t, map[string]string{"a.log": tc.log, tc.file: tc.text}, []string{"a.log", tc.file}, nil)
		want := summary.RoleLeftOut{Input: 1, Why: tc.why}
		if len(s.RoleTimes) > 0 || len(s.RoleSteps) != 1 || s.RoleSteps[0].Critical != "" || !slices.Contains(s.RoleSteps[0].LeftOut, want) {
			t.Errorf("%s: %+v, times %+v, want %+v", tc.name, s.RoleSteps, s.RoleTimes, want)
		}
	}
	// A monitor that is named after the training of a program whose roles take turns shows nothing of one role.
	turns := strings.ReplaceAll(r.trainer(true), " - fully_async/count/staleness_samples:1", "")
	s := joinTexts(t, map[string]string{"a.log": turns, "train_gpus.csv": r.monitor(r.gen, 1, 0)}, []string{"a.log", "train_gpus.csv"}, nil)
	for _, row := range s.RoleTimes {
		if row.InUseNS != nil || row.From != "" {
			t.Errorf("a monitor of all roles is said to be that of one: %+v", row)
		}
	}
	if len(s.RoleSteps) != 1 || s.RoleSteps[0].Critical == "" {
		t.Errorf("the timers tell the roles, and the steps are %+v", s.RoleSteps)
	}
}

// TestRunsOfLogs: the logs of a run are joined for gates too: an attempt that continues another one in the next file is
// of the same job, and roles are known.
func TestRunsOfLogs(t *testing.T) {
	steps := func(from, to, at int) string {
		text := ""
		for step := from; step <= to; step++ {
			text += rlTime(float64(at)).Format("[2006-01-02 15:04:05] ") + fmt.Sprintf("step:%d - timing_s/gen:20.0 - timing_s/update_actor:30.0 - timing_s/step:50.0\n", step)
			at += 50
		}
		return text
	}
	first := steps(1, 10, 50) + rlTime(510).Format("[2006-01-02 15:04:05] ") + "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	parts := partsOf(t, map[string]string{"train-attempt0.log": first, "train-attempt1.log": steps(7, 16, 900)}, []string{"train-attempt0.log", "train-attempt1.log"}, nil)
	list := Runs(parts)
	if len(list) != 1 || len(list[0].Inputs) != 2 {
		t.Fatalf("%d summaries, want one of two inputs", len(list))
	}
	lost := int64(0)
	for _, r := range list[0].JobTimes {
		if r.Part == summary.PartLost && r.Job == "1" {
			lost += r.Steps
		}
	}
	if lost != 4 || len(list[0].RoleSteps) == 0 {
		t.Errorf("%d lost steps, want 4; roles %+v", lost, list[0].RoleSteps)
	}
}
