package roles_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"assay/analyze"
	"assay/analyze/clocks"
	"assay/analyze/phase"
	"assay/analyze/roles"
	"assay/internal/test"
	"assay/logs"
	"assay/logs/forms"
	"assay/summary"
)

// A run writes the logs of a trainer and of a rollout server, second by second.
type run struct {
	trainer, server strings.Builder
	now             int
}

func (r *run) stamp(at int) string {
	return time.Unix(1_767_312_000+int64(at), 0).UTC().Format("2006-01-02 15:04:05")
}

// serves writes the lines of a server of SGLang that has requests for some seconds.
func (r *run) serves(from, seconds int, left func(second int) int) {
	for i := 1; i <= seconds; i++ {
		fmt.Fprintf(&r.server, "[%s DP0 TP0] Decode batch, #running-req: %d, #token: 900, token usage: 0.30, cuda graph: True, gen throughput (token/s): 900.00, #queue-req: 0, \n",
			r.stamp(from+i), left(i))
	}
}

func always(int) int { return 64 }

// logged writes the record of a step of veRL.
func (r *run) logged(step int, extra string, timers ...any) {
	fmt.Fprintf(&r.trainer, "[%s] step:%d", r.stamp(r.now), step)
	for i := 0; i < len(timers); i += 2 {
		fmt.Fprintf(&r.trainer, " - timing_s/%v:%v.0", timers[i], timers[i+1])
	}
	r.trainer.WriteString(extra + "\n")
}

// measured joins the logs.
func measured(t *testing.T, texts map[string]string) *summary.Summary {
	t.Helper()
	phases := phase.Default()
	var list []*summary.Summary
	var tracks []*clocks.Track
	for _, name := range []string{"train.log", "server.log", "server-2.log", "reward-server.log"} {
		if texts[name] == "" {
			continue
		}
		log, err := forms.Read(strings.NewReader(texts[name]), name, forms.Default(), logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, analyze.Series(log, summary.Input{Path: name, Format: "log"}, analyze.Options{Phases: phases}))
		tracks = append(tracks, clocks.OfLog(log, func(name string) string { return phases.Match(name).Phase }))
	}
	s := summary.Join(list...)
	roles.Join(s, tracks)
	return s
}

// of returns the seconds of a role in a state per step.
func of(s *summary.Summary, role, state string) int64 {
	for _, r := range s.RoleTimes {
		if r.Role == role && r.State == state {
			return (r.NS/s.RoleSteps[0].Steps + 5e8) / 1e9
		}
	}
	return 0
}

// TestRoles: steps whose roles take turns, overlap by one step, and run asynchronously, with and without the log of the
// server; on shared GPUs the engine sleeps. Seconds of rollout, trainer, reward, weight sync and of their overlap are
// as they were made, on shared GPUs by a log of NeMo RL without times; servers write a line in each second, so their times are known to about one.
func TestRoles(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 2))
	const steps = 12
	for _, mode := range []string{"in turn", "in turn, shared", "one step off", "asynchronous"} {
		gen, train, reward, sync := 20+r.IntN(40), 20+r.IntN(40), 5+r.IntN(5), 3+r.IntN(5)
		var w run
		length := gen + reward + train + sync
		overlap := 0
		if mode == "one step off" || mode == "asynchronous" {
			reward = 0
			overlap = min(gen, train)
			length = max(gen, train) + sync
		}
		for step := 1; step <= steps; step++ {
			start := w.now
			w.now += length
			switch mode {
			case "in turn":
				w.serves(start, gen, always)
				w.logged(step, "", "gen", gen, "reward", reward, "update_actor", train, "update_weights", sync, "step", length)
			case "in turn, shared":
				w.serves(start, gen, always)
				fmt.Fprintf(&w.trainer, "========================= Step %d/%d =========================\n⏱️  Timing:\n  • Total step time: %d.00s\n"+
					"  • generation: %d.00s (1.0%%)\n  • reward: %d.00s (1.0%%)\n  • policy_training: %d.00s (1.0%%)\n  • prepare_for_generation/total: %d.00s (1.0%%)\n\n",
					step, steps, length, gen, reward, train, sync)
			default:
				w.serves(start, gen, always)
				w.logged(step, " - fully_async/count/staleness_samples:1", "gen", max(0, gen-train), "update_actor", train, "update_weights", sync, "step", length)
			}
		}
		for _, texts := range []map[string]string{{"train.log": w.trainer.String(), "server.log": w.server.String()}, {"train.log": w.trainer.String()}} {
			s := measured(t, texts)
			if len(texts) == 1 && overlap > 0 {
				if len(s.RoleSteps) > 0 {
					t.Errorf("%s: roles without a log of the rollout: %+v", mode, s.RoleTimes)
				}
				continue
			}
			if len(s.RoleSteps) != 1 {
				t.Fatalf("%s: %d rows", mode, len(s.RoleSteps))
			}
			st := s.RoleSteps[0]
			for _, want := range []struct {
				role, state string
				seconds     int
			}{
				{summary.RoleRollout, summary.RoleWorks, gen}, {summary.RoleRollout, summary.RoleWaits, length - sync - gen},
				{summary.RoleTrainer, summary.RoleWorks, train}, {summary.RoleTrainer, summary.RoleWaits, length - sync - train},
				{summary.RoleReward, summary.RoleWorks, reward}, {summary.RoleTrainer, summary.RoleSyncs, sync},
			} {
				if got := of(s, want.role, want.state); got < int64(want.seconds)-1 || got > int64(want.seconds)+1 {
					t.Errorf("%s, %d logs: %s %s for %d s of a step, want %d", mode, len(texts), want.role, want.state, got, want.seconds)
				}
			}
			if got := st.OverlapNS / st.Steps / 1e9; got < int64(overlap)-1 || got > int64(overlap)+1 {
				t.Errorf("%s: overlap of %d s, want %d", mode, got, overlap)
			}
			perfect := max(gen, train) + sync
			if got := st.PerfectNS / st.Steps / 1e9; got < int64(perfect)-1 || got > int64(perfect)+1 {
				t.Errorf("%s: %d s at perfect overlap, want %d", mode, got, perfect)
			}
			critical := summary.RoleTrainer
			if gen > train {
				critical = summary.RoleRollout
			}
			if gen > train+1 || train > gen+1 {
				if st.Critical != critical || st.Shared != (mode == "in turn, shared") {
					t.Errorf("%s: critical role %s, want %s; shared: %v", mode, st.Critical, critical, st.Shared)
				}
			}
			sums := map[string]int64{}
			for _, row := range s.RoleTimes {
				sums[row.Role] += row.NS
			}
			for role, sum := range sums {
				if sum != st.StepNS {
					t.Errorf("%s: the states of %s add up to %d, want %d", mode, role, sum, st.StepNS)
				}
			}
		}
	}
}

// TestRewardServer: a server whose name says so is of the role of the reward.
func TestRewardServer(t *testing.T) {
	var w, reward run
	for step := 1; step <= 6; step++ {
		start := w.now
		w.now += 100
		w.serves(start, 50, always)
		reward.serves(start+50, 20, always)
		w.logged(step, "", "gen", 70, "update_actor", 30, "step", 100)
	}
	s := measured(t, map[string]string{"train.log": w.trainer.String(), "server.log": w.server.String(), "reward-server.log": reward.server.String()})
	if got := [2]int64{of(s, summary.RoleRollout, summary.RoleWorks), of(s, summary.RoleReward, summary.RoleWorks)}; got[0] < 49 || got[0] > 51 || got[1] < 19 || got[1] > 21 {
		t.Errorf("rollout and reward work %d s, want 50 and 20", got)
	}
}

// TestUnevenServers: one of two servers works twice as long; it decides, and is named. One with requests
// of others is not used, whatever the trainer does.
func TestUnevenServers(t *testing.T) {
	var w, short, busy run
	for step := 1; step <= 8; step++ {
		start := w.now
		w.now += 100
		w.serves(start, 60, always)
		short.serves(start, 30, always)
		busy.serves(start, 100, always)
		w.logged(step, "", "gen", 60, "update_actor", 35, "update_weights", 5, "step", 100)
	}
	s := measured(t, map[string]string{"train.log": w.trainer.String(), "server.log": w.server.String(), "server-2.log": short.server.String()})
	st := s.RoleSteps[0]
	if got := of(s, summary.RoleRollout, summary.RoleWorks); got < 59 || got > 61 || st.Slowest == nil || s.Inputs[*st.Slowest].Path != "server.log" {
		t.Errorf("rollout works %d s, want 60; %+v", got, st)
	}
	if mean := st.MeanNS / st.Steps / 1e9; mean < 44 || mean > 46 {
		t.Errorf("the mean is %d s, want 45", mean)
	}
	if perfect := st.PerfectNS / st.Steps / 1e9; perfect < 64 || perfect > 66 {
		t.Errorf("%d s at perfect overlap, want 65", perfect)
	}
	s = measured(t, map[string]string{"train.log": w.trainer.String(), "server.log": busy.server.String()})
	st = s.RoleSteps[0]
	if got := of(s, summary.RoleRollout, summary.RoleWorks); got != 60 || len(st.LeftOut) != 1 || st.LeftOut[0].Why != summary.ServesOthers || st.OverlapNS != 0 {
		t.Errorf("beside a server of others, rollout works %d s, want 60; %+v", got, st)
	}
}

// TestTails: batches of 100 sequences. 95 end evenly until second 69 of 100, and 5 run to the end: the last 5% take 31% of
// the time. A server with new requests all the time has no batches.
func TestTails(t *testing.T) {
	tail := func(second int) int {
		if second >= 69 {
			return 5
		}
		return 100 - 95*second/69
	}
	for _, tc := range []struct {
		name string
		left func(int) int
		want int64 // % of the time
	}{{"a tail", tail, 31}, {"no batches", func(s int) int { return 40 + 30*(s%7)/7 }, -1}, {"few sequences", func(s int) int { return 10 - s/10 }, -1}} {
		var w run
		for range 4 {
			w.serves(w.now, 100, tc.left)
			w.now += 160
		}
		s := measured(t, map[string]string{"server.log": w.server.String()})
		got := int64(-1)
		if len(s.RoleTails) > 0 {
			got = 100 * s.RoleTails[0].TailNS / s.RoleTails[0].TotalNS
		}
		if got < tc.want-2 || got > tc.want+2 {
			t.Errorf("%s: %d%% of the time, want %d%%", tc.name, got, tc.want)
		}
	}
}
