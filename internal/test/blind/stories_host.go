package blind

import "fmt"

var graphsOrCompile = []string{"launch-less", "launch-less-by-graphs", "launch-more-each", "launch-more-work", "vllm-graphs", "sglang-graphs"}

// launches: the host takes longer to launch a kernel than the kernel takes.
// The cause is the host's time for each operator beyond a fast one.
func launches() []Story {
	loop := func(kernel, cost int64, nested bool) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.opCost, s.call = when(with, cost), when(with, 4*us)+500
			s.steps(6, func(int) {
				for range 12 {
					if nested {
						s.python("model.py(88): forward", func() { s.op("aten::matmul", func() { s.layer(kernel) }) })
					} else {
						s.layer(kernel)
					}
				}
				s.update(kernel)
			})
		}
	}
	return family("launches", Story{Bound: []string{"host"}, Rules: []string{"launch-bound"}, Steps: graphsOrCompile},
		loop(10*us, 20*us, false), loop(12*us, 40*us, true), loop(400*us, 12*us, false), loop(30*us, 60*us, true))
}

// tinyKernels: kernels of some µs, one behind the other, in graphs. Fewer,
// larger kernels save the gaps between them.
func tinyKernels() []Story {
	replay := func(d, gap int64, fuse int) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.gap = gap
			s.steps(8, func(int) {
				nodes := make([]node, 0, 240)
				for i := range 240 {
					nodes = append(nodes, node{[]string{add, silu, norm, gemmSmall}[i%4], s.vary(d)})
				}
				if !with {
					var fewer []node
					for i := 0; i < len(nodes); i += fuse {
						sum := int64(0)
						for _, n := range nodes[i : i+fuse] {
							sum += n.d
						}
						fewer = append(fewer, node{nodes[i].name, sum})
					}
					nodes = fewer
				}
				s.op("graph_replay", func() { s.graph(nodes) })
			})
		}
	}
	return family("tiny-kernels", Story{Bound: []string{"compute", "memory"}, Rules: []string{"kernel-gaps", "tiny-kernels"},
		Steps: []string{"fuse-small-kernels", "fuse-by-hand", "launch-more-each", "launch-more-work"}},
		replay(2*us, 1200, 20), replay(3*us, 1500, 12), replay(90*us, 900, 4), replay(1500, 1000, 40))
}

// loader: the next batch is late.
func loader() []Story {
	wait := func(d int64, name string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(7, func(int) {
				s.note(name, func() {
					s.frame("threading.py(359): wait", when(with, d))
					s.busy(60 * us)
				})
				s.copy(transfer{stream: 7, kind: "HtoD", bytes: 1 << 20})
				s.train(5, 150*us)
				s.item()
			})
		}
	}
	const next = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
	return family("loader", Story{Bound: []string{"host"}, Rules: []string{"data-loading"}, Steps: []string{"load-data-ahead", "read-ahead", "load-data-sooner"}},
		wait(9*ms, next), wait(4*ms, next), wait(60*us, next), wait(25*ms, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"))
}

// items: a scalar is read back after each few operators, so the host cannot
// launch ahead of the GPU.
func items() []Story {
	read := func(ops int, cost, kernel int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.opCost = cost
			s.steps(6, func(int) {
				for i := range 60 {
					s.run("aten::linear", gemm, s.vary(kernel))
					s.run("aten::add", add, s.vary(kernel/4))
					if with && i%ops == 0 {
						s.item()
					}
				}
			})
		}
	}
	return family("items", Story{Bound: []string{"host"}, Rules: []string{"synchronizing-calls"},
		Steps: []string{"remove-synchronization", "wait-less", "wait-on-the-gpu", "wait-for-an-event"}},
		read(1, 14*us, 60*us), read(2, 20*us, 60*us), read(30, 8*us, 200*us), read(1, 18*us, 80*us))
}

// workAfterWait: the host needs a result, and then computes on it. Waiting is
// necessary; the work after it is what costs.
func workAfterWait() []Story {
	work := func(frame string, d int64, layers int) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(8, func(int) {
				s.forward(layers, 180*us)
				s.op("aten::to", func() { s.copy(transfer{stream: 7, kind: "DtoH", bytes: 1 << 16}); s.sync() })
				s.frame(frame, when(with, d))
				s.copy(transfer{stream: 7, kind: "HtoD", bytes: 1 << 16})
			})
		}
	}
	return family("work-after-wait", Story{Bound: []string{"host"}, Rules: []string{"cpu-work"}, Steps: []string{"move-off-the-launching-thread", "start-awaited-work-earlier"}},
		work("reward.py(31): score_answers", 4*ms, 4), work("scheduler.py(1204): get_next_batch", 2500*us, 4),
		work("sampler.py(12): pick", 80*us, 6), work("decode.py(77): decode_jpeg", 12*ms, 5))
}

// logging: every few steps the host writes metrics.
func logging() []Story {
	write := func(every int, d int64, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(24, func(i int) {
				s.train(1, 180*us)
				s.sync()
				if i%every == every-1 {
					s.frame(frame, when(with, d))
				}
			})
		}
	}
	return family("logging", Story{Bound: []string{"host"}, Rules: []string{"cpu-work", "periodic-stalls"},
		Steps: []string{"log-less-often", "move-off-the-launching-thread", "write-on-another-thread", "find-what-is-periodic"}},
		write(6, 6*ms, "wandb/sdk/wandb_run.py(1700): log"), write(4, 5*ms, "logger.py(51): log_metrics"),
		write(8, 150*us, "logger.py(51): log_metrics"), write(8, 16*ms, "torch/utils/tensorboard/writer.py(352): add_scalar"))
}

// checkpoint: the weights are read back and written once in the capture.
func checkpoint() []Story {
	save := func(d, bytes int64, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(10, func(i int) {
				s.train(3, 180*us)
				if i == 5 && with {
					s.python(frame, func() {
						for range 6 {
							s.copy(transfer{stream: 7, kind: "DtoH", bytes: bytes / 6, pageable: true})
						}
						s.frame("torch/serialization.py(650): _save", d)
					})
				}
			})
		}
	}
	return family("checkpoint", Story{Bound: []string{"host"}, Rules: []string{"cpu-work", "long-gaps"}, Steps: []string{"save-asynchronously", "write-on-another-thread"}},
		save(60*ms, 8<<20, "torch/serialization.py(800): save"), save(30*ms, 12<<20, "trainer.py(410): save_checkpoint"),
		save(600*us, 1<<20, "trainer.py(410): save_checkpoint"), save(700*ms, 24<<20, "torch/distributed/checkpoint/state_dict_saver.py(101): save"))
}

// collection: Python collects garbage at equal distances.
func collection() []Story {
	collect := func(every int, d int64, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(24, func(i int) {
				s.train(1, 160*us)
				s.sync()
				if i%every == 2 {
					if frame == "" {
						s.op("aten::zeros", func() { s.busy(when(with, d) + 5*us) })
					} else {
						s.frame(frame, when(with, d))
					}
				}
			})
		}
	}
	return family("collection", Story{Bound: []string{"host"}, Rules: []string{"cpu-work", "periodic-stalls"},
		Steps: []string{"schedule-garbage-collection", "find-what-is-periodic"}},
		collect(6, 8*ms, "<built-in function collect>"), collect(4, 4*ms, "gc.py(10): collect"),
		collect(8, 100*us, "<built-in function collect>"), collect(5, 9*ms, ""))
}

// evaluation: every few steps metrics are computed on the host.
func evaluation() []Story {
	evaluate := func(every int, d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(20, func(i int) {
				s.train(1, 200*us)
				if i%every == every-1 {
					s.note("evaluate", func() {
						s.forward(1, 100*us)
						s.sync()
						s.frame("sklearn/metrics/_classification.py(1100): f1_score", when(with, d))
					})
				}
			})
		}
	}
	return family("evaluation", Story{Bound: []string{"host"}, Rules: []string{"cpu-work", "long-gaps"},
		Steps: []string{"evaluate-elsewhere", "move-off-the-launching-thread"}},
		evaluate(5, 12*ms), evaluate(4, 6*ms), evaluate(10, 400*us), evaluate(10, 40*ms))
}

// offloadedOptimizer: Adam on the CPU between gradients and weights.
func offloadedOptimizer() []Story {
	update := func(d int64, name string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(6, func(int) {
				s.forward(4, 250*us)
				s.copy(transfer{stream: 7, kind: "DtoH", bytes: 4 << 20})
				s.sync()
				s.note("Optimizer.step#"+name+".step", func() {
					s.python("deepspeed/ops/adam/cpu_adam.py(110): step", func() { s.busy(when(with, d)) })
				})
				s.copy(transfer{stream: 7, kind: "HtoD", bytes: 4 << 20})
			})
		}
	}
	return family("offloaded-optimizer", Story{Bound: []string{"host"}, Rules: []string{"cpu-work"},
		Steps: []string{"move-off-the-launching-thread", "start-awaited-work-earlier"}},
		update(8*ms, "DeepSpeedCPUAdam"), update(3*ms, "DeepSpeedCPUAdam"), update(50*us, "DeepSpeedCPUAdam"), update(30*ms, "CPUAdam"))
}

// allocator: the cache of the allocator is exhausted, so it frees and allocates again.
func allocator() []Story {
	retry := func(calls int, d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(7, func(int) {
				for i := range 6 {
					s.layer(180 * us)
					if with && i < calls {
						s.op("aten::empty", func() {
							s.free(d)
							s.malloc(d)
						})
					}
				}
			})
		}
	}
	return family("allocator", Story{Bound: []string{"host"}, Rules: []string{"allocating"},
		Steps: []string{"allocate-less", "allocate-once", "expandable-segments"}},
		retry(4, 400*us), retry(6, 150*us), retry(1, 30*us), retry(2, 2*ms))
}

// replays: graphs are replayed, and the host prepares inputs between them.
func replays() []Story {
	replay := func(d int64, n int, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(10, func(int) {
				var nodes []node
				for range n {
					nodes = append(nodes, node{gemm, s.vary(90 * us)}, node{flash, s.vary(50 * us)}, node{add, s.vary(20 * us)})
				}
				s.python(frame, func() { s.busy(when(with, d)) })
				s.copy(transfer{stream: 7, kind: "HtoD", bytes: 4096})
				s.graph(nodes)
				s.copy(transfer{stream: 7, kind: "DtoH", bytes: 512})
				s.sync()
			})
		}
	}
	return family("replays", Story{Bound: []string{"host"}, Rules: []string{"cpu-work"}, Steps: []string{"move-off-the-launching-thread", "start-awaited-work-earlier"}},
		replay(2*ms, 12, "runner.py(330): prepare_inputs"), replay(5*ms, 24, "runner.py(330): prepare_inputs"),
		replay(40*us, 24, "runner.py(330): prepare_inputs"), replay(9*ms, 16, "engine.py(71): build_batch"))
}

// rollout: the trainer waits while another process generates.
func rollout() []Story {
	wait := func(name, frame string, d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(5, func(i int) {
				s.note(name, func() { s.frame(frame, when(with, d)+100*us) })
				s.note("train", func() {
					s.train(4, 200*us)
					s.sync()
				})
			})
		}
	}
	return family("rollout", Story{Bound: []string{"host", "generation"}, Rules: []string{"gpu-idle", "cpu-work", "generation-share", "long-gaps", "wait-share"},
		Steps: []string{"profile-the-engine", "speed-up-generation", "verl-rollout", "skyrl-rollout"}},
		wait("generate_sequences", "ray/_private/worker.py(2600): get", 40*ms), wait("generate", "ray/_private/worker.py(2600): get", 12*ms),
		wait("generate", "ray/_private/worker.py(2600): get", 150*us), wait("rollout", "asyncio/base_events.py(600): run_until_complete", 600*ms))
}

// sglang: a scheduler between decode batches, without overlap.
func sglang() []Story {
	serve := func(d int64, kind string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			for range 14 {
				s.note(fmt.Sprintf("step[%s bs=32]", kind), func() {
					s.python("sglang/srt/managers/scheduler.py(1500): run_batch", func() {
						if kind == "DECODE" {
							s.graph([]node{{gemmSmall, s.vary(400 * us)}, {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u, 8u, 16u, 2u>(flashinfer::BatchDecodeParams)", s.vary(600 * us)}, {gemmSmall, s.vary(500 * us)}})
						} else {
							s.forward(3, 170*us)
						}
					})
				})
				s.copy(transfer{stream: 7, kind: "DtoH", bytes: 256})
				s.sync()
				s.python("sglang/srt/managers/scheduler.py(1610): process_batch_result", func() { s.busy(when(with, d) + 20*us) })
			}
		}
	}
	return family("sglang", Story{Bound: []string{"host"}, Rules: []string{"cpu-work"}, Steps: []string{"sglang-overlap", "move-off-the-launching-thread", "start-awaited-work-earlier"}},
		serve(900*us, "DECODE"), serve(2*ms, "EXTEND"), serve(20*us, "DECODE"), serve(4*ms, "DECODE"))
}

// vllm: output processing between steps of the model.
func vllm() []Story {
	serve := func(d int64, graphs bool) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			for range 12 {
				s.python("vllm/v1/engine/core.py(310): step", func() {
					s.note("execute_context_0(0)_generation_32(32)", func() {
						if graphs {
							s.graph([]node{{gemmSmall, s.vary(700 * us)}, {"kernel_unified_attention_2d", s.vary(500 * us)}, {gemmSmall, s.vary(600 * us)}})
						} else {
							s.forward(3, 190*us)
						}
					})
					s.copy(transfer{stream: 7, kind: "DtoH", bytes: 256})
					s.sync()
					s.python("vllm/v1/engine/detokenizer.py(90): update", func() { s.busy(when(with, d) + 20*us) })
				})
			}
		}
	}
	return family("vllm", Story{Bound: []string{"host"}, Rules: []string{"cpu-work"}, Steps: []string{"move-off-the-launching-thread", "start-awaited-work-earlier"}},
		serve(1200*us, true), serve(1500*us, false), serve(30*us, true), serve(5*ms, true))
}
