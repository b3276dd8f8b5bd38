package tracegen

import "slices"

// stepTroubles have steps that differ from the others.
func stepTroubles() []Trouble {
	// Steps that compute for these times in milliseconds.
	lengths := func(name string, of ...int64) []Story {
		return oneRank(name, func(p *plant) {
			for _, length := range of {
				p.step(func() { p.compute(length * ms) })
			}
		})
	}
	slow := func(n int, at ...int) (of []int64) {
		for i := range n {
			of = append(of, 5)
			if slices.Contains(at, i) {
				of[i] = 12
			}
		}
		return of
	}
	compiled := oneRank("compiled_in_the_first_step", func(p *plant) {
		p.compute(ms)
		for i := range 6 {
			p.step(func() {
				if i == 0 {
					p.pause(InPython, "torch/_dynamo/convert_frame.py(500): _compile", 60*ms)
				}
				p.compute(8 * ms)
			})
		}
	})
	// Steps that wait for the host for a fifth of their time, with work between
	// them.
	waiting := oneRank("busy_between_steps", func(p *plant) {
		for range 40 {
			p.mark(func() {
				p.pause(InPython, "demo/train.py(60): schedule", 420*us)
				p.compute(1580 * us)
			})
			p.compute(1800 * us)
			p.finalize()
		}
	})
	reducing := oneRank("compute_between_steps", func(p *plant) {
		p.compute(ms)
		for range 40 {
			p.mark(func() {
				p.pause(InPython, "demo/train.py(60): schedule", 130*us)
				p.compute(1600 * us)
				p.exposed(270 * us)
			})
			p.compute(1400 * us)
			p.pause(InPython, "demo/train.py(60): schedule", 130*us)
		}
	})
	return []Trouble{
		{Name: "compiled_in_the_first_step", Rule: "warm-up-steps", Near: "gpu-idle", Ranks: compiled},
		{Name: "tuned_in_two_steps", Rule: "warm-up-steps", Near: "slow-steps", Ranks: lengths("tuned_in_two_steps", 30, 20, 5, 5, 5, 5, 5)},
		{Name: "even_from_the_first", Rule: "compute-bound", Near: "warm-up-steps", Ranks: lengths("even_from_the_first", 7, 5, 5, 5, 5, 5)},
		{Name: "two_slow_steps", Rule: "slow-steps", Near: "periodic-stalls", Ranks: lengths("two_slow_steps", slow(12, 4, 9)...)},
		{Name: "five_slow_steps", Rule: "slow-steps", Near: "uneven-steps", Ranks: lengths("five_slow_steps", slow(20, 3, 4, 9, 13, 16)...)},
		{Name: "steps_a_third_over", Rule: "compute-bound", Near: "slow-steps", Ranks: lengths("steps_a_third_over", 6, 6, 8, 6, 6, 6, 8, 6, 6, 6, 6, 6)},
		{Name: "every_fourth_step", Rule: "periodic-stalls", Near: "slow-steps", Ranks: lengths("every_fourth_step", slow(16, 3, 7, 11, 15)...)},
		{Name: "every_third_step", Rule: "periodic-stalls", Near: "uneven-steps", Ranks: lengths("every_third_step", slow(21, 2, 5, 8, 11, 14, 17, 20)...)},
		{Name: "checkpoint_every_eighth_step", Rule: "periodic-stalls", Near: "gpu-idle", Ranks: everyEighth("checkpoint_every_eighth_step", "demo/train.py(90): save_checkpoint")},
		{Name: "log_every_eighth_step", Rule: "periodic-stalls", Near: "cpu-work", Ranks: everyEighth("log_every_eighth_step", "demo/train.py(70): log_metrics")},
		{Name: "lengths_that_vary", Rule: "uneven-steps", Near: "slow-steps", Ranks: lengths("lengths_that_vary", 10, 12, 8, 11, 9, 12, 8, 10)},
		{Name: "two_lengths_in_turn", Rule: "uneven-steps", Near: "periodic-stalls", Ranks: lengths("two_lengths_in_turn", 8, 11, 8, 11, 8, 11, 8, 11)},
		{Name: "lengths_that_vary_a_little", Rule: "compute-bound", Near: "uneven-steps", Ranks: lengths("lengths_that_vary_a_little", 20, 21, 20, 19, 20, 21, 20)},
		{Name: "busy_between_steps", Rule: "steady-steps", Near: "gpu-idle", Ranks: waiting},
		{Name: "compute_between_steps", Rule: "steady-steps", Near: "exposed-communication", Ranks: reducing},
		{Name: "steps_like_the_window", Rule: "", Near: "steady-steps", Ranks: oneRank("steps_like_the_window", func(p *plant) {
			p.compute(ms)
			p.steps(10, func() { p.spread(4, 120*us) })
		})},
	}
}

// everyEighth has 40 steps, of which every eighth does something on the host for less than
// the limit of idle time.
func everyEighth(name, function string) []Story {
	return oneRank(name, func(p *plant) {
		for i := range 40 {
			p.mark(func() {
				p.compute(4 * ms)
				if i%8 == 7 {
					p.pause(InPython, function, 3*ms)
				}
			})
		}
		p.compute(ms)
	})
}

// A phaseTime is how long a phase of the given name lasts in each step.
type phaseTime struct {
	name string
	ns   int64
	idle bool // the device has no work during it
}

// phased adds steps with phases. If idle is not 0, the device is idle for that
// time in each millisecond.
func phased(name string, steps int, idle int64, of ...phaseTime) []Story {
	return oneRank(name, func(p *plant) {
		p.steps(steps, func() {
			for _, ph := range of {
				switch {
				case ph.idle:
					p.pause(InAnnotation, ph.name, ph.ns)
				case idle > 0:
					p.within(ph.name, func() { p.spread(int(ph.ns/ms), idle) })
				default:
					p.within(ph.name, func() {
						p.compute(ph.ns)
						p.finalize()
					})
				}
			}
		})
	})
}

// timeOf returns the host's time for steps of such phases: it waits for each
// phase to begin on the device, and for the end of the last.
func timeOf(steps int64, of ...phaseTime) (ns int64) {
	for _, ph := range of {
		if ns += ph.ns; !ph.idle {
			ns += plantLaunch
		}
	}
	return steps * (ns + plantWake)
}

// Phases with the names of two trainers, by their durations in milliseconds.
func inSkyRL(generation, training, sync, data int64) []phaseTime {
	return []phaseTime{{name: "generate", ns: generation * ms}, {"convert_to_training_input", data * ms, true},
		{name: "train_critic_and_policy", ns: training * ms}, {name: "sync_weights", ns: sync * ms}}
}

func inNeMoRL(generation, training, sync, other int64, name string) []phaseTime {
	return []phaseTime{{name: "generation", ns: generation * ms}, {name: "policy_training", ns: training * ms},
		{name: "prepare_for_generation/transfer_and_update_weights", ns: sync * ms}, {name: name, ns: other * ms}}
}

// phaseTroubles have phases that take more of the steps than they should, or
// less than it seems.
func phaseTroubles() []Trouble {
	return slices.Concat(shareTroubles(), weightTroubles(), onceTroubles())
}

// A shareTrouble concerns the phase with the given index.
type shareTrouble struct {
	name, rule, near string
	steps            int64
	phase            int
	of               []phaseTime
}

func (t shareTrouble) trouble() Trouble {
	out := Trouble{Name: t.name, Rule: t.rule, Near: t.near, Ranks: phased(t.name, int(t.steps), 0, t.of...)}
	if ph := t.of[t.phase]; t.rule != "compute-bound" {
		out.NS, out.OfNS = t.steps*ph.ns, timeOf(t.steps, t.of...)
		if !ph.idle {
			out.NS += t.steps * plantLaunch
		}
	}
	return out
}

func shareTroubles() (out []Trouble) {
	with := func(name string, ns int64, of []phaseTime) []phaseTime {
		return append(of, phaseTime{name: name, ns: ns * ms})
	}
	slime := []phaseTime{{name: "rollout", ns: 50 * ms}, {name: "actor_train", ns: 25 * ms}, {name: "update_weights", ns: 10 * ms}, {name: "wake_up", ns: 15 * ms}}
	training := []phaseTime{{"data_loading", 2 * ms, true}, {name: "forward", ns: 10 * ms}, {name: "backward", ns: 12 * ms}}
	for _, t := range []shareTrouble{
		{"much_weight_sync", "weight-sync-share", "weight-sync-time", 3, 3, inSkyRL(100, 50, 40, 8)},
		{"much_refit", "weight-sync-share", "", 3, 2, inNeMoRL(50, 26, 20, 4, "environment")},
		{"usual_weight_sync", "compute-bound", "weight-sync-share", 3, 3, inSkyRL(57, 27, 13, 3)},
		{"long_rollouts", "generation-share", "", 3, 0, inSkyRL(68, 20, 8, 4)},
		{"long_generation", "generation-share", "training-share", 4, 0, inNeMoRL(80, 10, 5, 5, "environment")},
		{"usual_rollouts", "compute-bound", "generation-share", 3, 0, inSkyRL(57, 28, 11, 4)},
		{"much_data", "data-share", "", 3, 1, inSkyRL(53, 28, 11, 8)},
		{"much_data_of_a_training", "data-share", "data-loading", 4, 0, training},
		{"usual_data", "compute-bound", "data-share", 3, 1, inSkyRL(56, 28, 12, 4)},
		{"trainer_waits", "wait-share", "", 3, 4, with("wait_for_generation_buffer", 15, inSkyRL(45, 28, 9, 3))},
		{"buffer_starvation", "wait-share", "generation-share", 3, 3, inNeMoRL(55, 22, 8, 15, "idle/buffer_starvation")},
		{"short_waits", "compute-bound", "wait-share", 3, 3, inNeMoRL(55, 27, 10, 8, "idle/buffer_starvation")},
		{"sleep_and_wake", "sleep-wake-share", "", 3, 3, inNeMoRL(50, 27, 10, 13, "prepare_for_generation")},
		{"wake_up", "sleep-wake-share", "weight-sync-share", 3, 3, slime},
		{"short_sleep", "compute-bound", "sleep-wake-share", 3, 3, inNeMoRL(55, 27, 10, 8, "prepare_for_generation")},
	} {
		out = append(out, t.trouble())
	}
	return out
}

func weightTroubles() []Trouble {
	const rl = "gpu-idle: {warn: 40%}" // otherwise idle time is reported by that rule
	return []Trouble{
		{Name: "slow_weight_sync", Rule: "weight-sync-time", Near: "weight-sync-share", Ranks: phased("slow_weight_sync", 3, 0, inSkyRL(15000, 8000, 2500, 700)...), NS: 2500*ms + plantLaunch, OfNS: 2000 * ms},
		{Name: "slow_refit", Rule: "weight-sync-time", Ranks: phased("slow_refit", 2, 0, inNeMoRL(20000, 9000, 3200, 500, "environment")...), NS: 3200*ms + plantLaunch, OfNS: 2000 * ms},
		{Name: "weight_sync_of_1900_ms", Rule: "compute-bound", Near: "weight-sync-time", Ranks: phased("weight_sync_of_1900_ms", 2, 0, inSkyRL(9000, 4500, 1900, 500)...)},
		{Name: "much_training", Rule: "training-share", Near: "compute-bound", Ranks: phased("much_training", 3, 130*us, inSkyRL(40, 50, 8, 2)...)},
		{Name: "long_policy_training", Rule: "training-share", Ranks: phased("long_policy_training", 3, 130*us, inNeMoRL(48, 40, 8, 4, "environment")...)},
		{Name: "usual_training", Rule: "", Near: "training-share", Ranks: phased("usual_training", 3, 110*us, inSkyRL(57, 27, 12, 4)...)},
		{Name: "idle_rollouts", Rule: "rl-utilization", Limits: rl, Ranks: phased("idle_rollouts", 3, 250*us, inSkyRL(55, 27, 12, 4)...)},
		{Name: "idle_refit", Rule: "rl-utilization", Limits: rl, Near: "gpu-idle", Ranks: phased("idle_refit", 3, 300*us, inNeMoRL(55, 27, 10, 6, "environment")...)},
		{Name: "enough_utilization", Rule: "", Limits: rl, Near: "rl-utilization", Ranks: phased("enough_utilization", 3, 140*us, inSkyRL(55, 27, 12, 4)...)},
	}
}

// onceTroubles have activities that occur once per program.
func onceTroubles() (out []Trouble) {
	for _, t := range []struct {
		name, rule, near, phase string
		ns                      int64
	}{
		{"graphs_captured_first", "warm-up-phases", "compute-bound", "capture_model", 15 * ms},
		{"long_warm_up", "warm-up-phases", "warm-up-steps", "warmup", 12 * ms},
		{"short_warm_up", "compute-bound", "warm-up-phases", "warmup", 4 * ms},
	} {
		out = append(out, Trouble{Name: t.name, Rule: t.rule, Near: t.near, Ranks: oneRank(t.name, func(p *plant) {
			p.within(t.phase, func() {
				p.compute(t.ns)
				p.finalize()
			})
			p.steps(5, func() { p.compute(5 * ms) })
		})})
	}
	return out
}

// RLSteps returns a trace of steps of reinforcement learning with the names of SkyRL. Each
// phase takes the given milliseconds, and [LaunchNS] more until its work begins, except data.
func RLSteps(name string, steps int, generation, training, sync, data int64) Story {
	return phased(name, steps, 0, inSkyRL(generation, training, sync, data)...)[0]
}

// RLTrainer is RLSteps of a trainer whose rollout engine is another process: it launches nothing
// during generation, so the first one precedes the window of the device.
func RLTrainer(name string, steps int, generation, training, sync, data int64) Story {
	of := inSkyRL(generation, training, sync, data)
	of[0].idle = true
	return phased(name, steps, 0, of...)[0]
}

// LaunchNS is how long the host of [RLSteps] waits for the first work of a phase.
const LaunchNS = plantLaunch
