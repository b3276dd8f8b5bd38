package tracegen

import "fmt"

// threadStories are stories of several threads, processes and devices.
func threadStories() []StoryPreset {
	return []StoryPreset{
		{"training", "forward and backward on two threads, linked by numbers and arrows", func() Story { return trainingStory("training", linkStyle{}) }},
		{"training_arrows", "backward operators are linked by arrows only", func() Story { return trainingStory("training_arrows", linkStyle{noSequence: true}) }},
		{"training_numbers", "backward operators are linked by sequence numbers only", func() Story {
			return trainingStory("training_numbers", linkStyle{noFwdArrows: true, noArrows: true})
		}},
	}
}

// A trainer defines steps with a forward pass on the main thread, a backward
// pass on autograd's, and an optimizer.
type trainer struct {
	*lane
	autograd *thread
	sequence int64
	forward  []*node // forward operators without backward operator yet
}

func trainingStory(name string, links linkStyle) Story {
	s := newScene(name)
	s.links = links
	t := &trainer{lane: newLane(s)}
	t.autograd = t.main.of.thread(4262, "pt_autograd_0")
	for n := range int64(2) {
		t.main.note(stepName(3+n), func() {
			t.main.spend(us)
			t.main.python("demo/train.py(30): train_step", func() { t.step(n) })
		})
	}
	return s.tell()
}

// step adds one step. The device is busy from its first kernel to its last;
// before that it waits for the host, if it has run anything yet.
func (t *trainer) step(n int64) {
	const train = "demo/train.py(30): train_step"
	main, waits := t.main, n > 0
	if waits { // the marker's first microsecond was spent before
		t.s.own(t.g, HostLate, InAnnotation, stepName(3+n), us)
	}
	pass := func(state, name string, ns int64) {
		main.spend(ns)
		if waits {
			t.s.own(t.g, HostLate, state, name, ns)
		}
	}
	const next = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
	main.op(next, func() { pass(DataLoading, next, 140*us) })
	pass(InPython, train, 5*us)
	main.note("forward", func() {
		main.module("Net_0", func() {
			pass(InPython, "nn.Module: Net_0", 2*us)
			main.python("demo/model.py(12): forward", func() {
				pass(InPython, "demo/model.py(12): forward", us)
				t.linear(n, "0", pass)
				waits = false
				t.linear(n, "1", pass)
				t.activation(n)
			})
		})
		t.loss(n)
	})
	t.backward(n)
	t.optimizer(n)
	main.op("aten::item", func() {
		main.spend(us)
		main.op("aten::_local_scalar_dense", func() {
			main.spend(us)
			c := main.call("cudaMemcpyAsync", 4*us)
			t.g.follow(c, fmt.Sprintf("Memcpy DtoH (Device -> Pinned) %d", n), computeStream, 2*us)
			main.in(catRuntime, "cudaStreamSynchronize", func() { main.until(t.g.end) })
			t.idleAfter(n, InOperator, "aten::_local_scalar_dense")
		})
		t.idleAfter(n, InOperator, "aten::item")
	})
	t.idleAfter(n, InPython, train)
}

// idleAfter spends a microsecond after all work of step n is done. Nothing
// follows the last step.
func (t *trainer) idleAfter(n int64, state, name string) {
	t.main.spend(us)
	if n == 0 {
		t.s.own(t.g, HostLate, state, name, us)
	}
}

// launch launches a kernel that starts when the device is free, or 1 µs after
// its call began if it has no work.
func (t *trainer) launch(by *thread, name string, ns int64) {
	idle := t.g.end <= by.now
	c := by.call("cudaLaunchKernel", 3*us)
	if !idle {
		t.g.follow(c, name, computeStream, ns)
		return
	}
	if len(t.g.works) > 0 {
		t.s.own(t.g, LaunchLatency, "", "", us)
	}
	t.g.run(c, name, computeStream, c.start+us, ns)
}

// differentiable numbers an operator that needs a backward operator.
func (t *trainer) differentiable(n *node) {
	t.sequence++
	n.sequence = t.sequence
	t.forward = append(t.forward, n)
}

// linear adds an nn.Linear that launches one kernel by two operators, both with
// the sequence number.
func (t *trainer) linear(step int64, which string, pass func(state, name string, ns int64)) {
	main := t.main
	const frame = "torch/nn/modules/linear.py(134): forward"
	main.module("Linear_"+which, func() {
		pass(InPython, modulePrefix+"Linear_"+which, us)
		main.python(frame, func() {
			pass(InPython, frame, us)
			main.op("aten::linear", func() {
				pass(InOperator, "aten::linear", us)
				n := main.op("aten::addmm", func() {
					pass(InOperator, "aten::addmm", 2*us)
					t.launch(main, fmt.Sprintf("linear_%s_%d", which, step), 80*us)
				})
				t.differentiable(n)
				n.parent.sequence = n.sequence
				main.spend(us)
			})
		})
	})
}

// activation adds an operator in the outer module only.
func (t *trainer) activation(step int64) {
	t.differentiable(t.main.op("aten::relu", func() {
		t.main.spend(us)
		t.launch(t.main, fmt.Sprintf("relu_%d", step), 25*us)
	}))
}

// loss adds an operator outside of all modules.
func (t *trainer) loss(step int64) {
	t.differentiable(t.main.op("aten::mse_loss", func() {
		t.main.spend(us)
		t.launch(t.main, fmt.Sprintf("loss_%d", step), 30*us)
	}))
}

// backward adds the backward operators, the last one first, while the main
// thread waits.
func (t *trainer) backward(step int64) {
	main, auto := t.main, t.autograd
	main.note("backward", func() {
		main.spend(us)
		main.python("torch/_tensor.py(525): backward", func() {
			main.spend(4 * us)
			auto.until(main.now)
			for i := len(t.forward) - 1; i >= 0; i-- {
				node := []string{"AddmmBackward0", "AddmmBackward0", "ReluBackward0", "MseLossBackward0"}[i]
				engine := auto.op("autograd::engine::evaluate_function: "+node, func() {
					auto.spend(us)
					auto.op(node, func() {
						auto.spend(us)
						auto.op("aten::grad", func() {
							auto.spend(us)
							t.launch(auto, fmt.Sprintf("grad_of_%d_%d", i, step), int64(50+i)*us)
						})
					})
					auto.spend(us)
				})
				engine.answers(t.forward[i])
				auto.spend(us)
			}
			t.forward = nil
			main.until(auto.now)
		})
	})
}

func (t *trainer) optimizer(step int64) {
	main := t.main
	main.note("Optimizer.step#SGD.step", func() {
		main.spend(us)
		main.python("torch/optim/sgd.py(60): step", func() {
			main.spend(2 * us)
			main.op("aten::_foreach_add_", func() {
				main.spend(us)
				t.launch(main, fmt.Sprintf("sgd_%d", step), 45*us)
			})
		})
	})
}
