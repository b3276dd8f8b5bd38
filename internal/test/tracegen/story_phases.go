package tracegen

// phaseStories are stories of the names of program phases.
func phaseStories() []StoryPreset {
	return []StoryPreset{
		{"rl_phases", "steps of reinforcement learning: generation with decode steps, training, weight sync, data", rlPhases},
		{"server_steps", "a server whose host is ahead of the device: prefill and decode, and a pause", serverSteps},
	}
}

// A teller defines phases. It tracks the current phase and adds up the time of
// each.
type teller struct {
	*lane
	path  string
	truth map[string]*PhaseTime
	order []string
}

func newTeller(name string) *teller {
	t := &teller{lane: newLane(newScene(name)), truth: map[string]*PhaseTime{}}
	t.first()
	t.of("").ComputeNS = 4 * 40 * us // outside phases
	return t
}

func (t *teller) of(path string) *PhaseTime {
	if t.truth[path] == nil {
		t.truth[path] = &PhaseTime{Path: path}
		t.order = append(t.order, path)
	}
	return t.truth[path]
}

// phase runs body inside a phase with the name that the program gives it.
func (t *teller) phase(canonical, name string, body func()) {
	up := t.path
	if t.path != "" {
		t.path += "/"
	}
	t.path += canonical
	p := t.of(t.path)
	p.Count++
	n := t.t.note(name, body)
	p.HostNS += n.end - n.start
	t.path = up
}

// compute makes the device compute for 40 µs, and waits until it has begun.
func (t *teller) compute() {
	t.finalize()
	t.inside()
	p := t.of(t.path)
	p.ComputeNS += 40 * us
	p.IdleNS += 4 * us // until it started
}

// copied makes the device copy, and waits until it has begun.
func (t *teller) copied(ns int64) {
	t.finalize()
	c := t.t.call("cudaMemcpyAsync", 6*us)
	t.s.own(t.g, LaunchLatency, "", "", 4*us)
	t.g.run(c, "Memcpy DtoD (Device -> Device)", copyStream, c.start+4*us, ns)
	p := t.of(t.path)
	p.CopyNS += ns
	p.IdleNS += 4 * us
}

// pause advances the time while the device has no work.
func (t *teller) pause(state, name string, ns int64) {
	t.finalize()
	t.wait(t.t, state, name, ns)
	t.of(t.path).IdleNS += ns
}

func (t *teller) tell() Story {
	story := t.s.tell()
	for _, path := range t.order {
		story.Truth.Phases = append(story.Truth.Phases, *t.truth[path])
	}
	return story
}

// rlPhases trains for four steps, with SkyRL's names.
func rlPhases() Story {
	t := newTeller("rl_phases")
	for range 4 {
		t.t.note("step", func() {
			t.pause(InAnnotation, "step", 7*us)
			t.phase("generation", "generate", func() {
				t.pause(InAnnotation, "generate", 20*us)
				for range 4 {
					t.phase("decode", "step[DECODE bs=8]", func() {
						t.pause(InAnnotation, "step[DECODE bs=8]", 9*us)
						t.compute()
					})
					t.pause(InAnnotation, "generate", 3*us)
				}
			})
			t.phase("data", "convert_to_training_input", func() { t.pause(InAnnotation, "convert_to_training_input", 11*us) })
			t.phase("training", "train_critic_and_policy", func() {
				for range 3 {
					t.compute()
				}
			}) // and continues during the last kernel
			t.phase("weight-sync", "sync_weights", func() {
				t.copied(50 * us)
				t.pause(InAnnotation, "sync_weights", 13*us)
			})
		})
	}
	t.compute()
	return t.tell()
}

// serverSteps launches five steps without waiting, pauses, and launches three
// more. While the host is ahead, a step is as long as its kernels.
func serverSteps() Story {
	t := newTeller("server_steps")
	var served []ServedStep
	batch := func(name, kind string, kernels int64) {
		t.phase(kind, name, func() {
			from := max(t.g.end, t.t.now)
			for range kernels {
				t.g.follow(t.t.call("cudaLaunchKernel", 3*us), t.kernel(), computeStream, 40*us)
			}
			served = append(served, ServedStep{name, kind, from, t.g.end - from})
			t.of(t.path).ComputeNS += kernels * 40 * us
		})
		t.t.spend(us)
	}
	batch("step[EXTEND bs=2]", "prefill", 6)
	for range 4 {
		batch("step[DECODE bs=8]", "decode", 2)
	}
	t.pause(Unrecorded, "", 25*us)
	t.compute() // outside steps
	for range 3 {
		batch("step[DECODE bs=8]", "decode", 2)
	}
	story := t.tell()
	story.Truth.Served = served
	return story
}
