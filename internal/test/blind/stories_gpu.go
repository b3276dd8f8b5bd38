package blind

// ddp: gradients are reduced in buckets. The cause is that they are large, and are
// reduced after the backward pass, not during it.
func ddp() []Story {
	reduce := func(buckets int, d int64, last bool) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			d := d
			if !with {
				d /= 8 // compressed, so that the last bucket is short too
			}
			s.steps(6, func(int) {
				s.forward(4, 200*us)
				s.backward(func() {
					for b := range buckets {
						s.layer(300 * us)
						if !last || !with {
							s.op("c10d::allreduce_", func() {
								s.collect(collective{kernel: allReduce, op: "allreduce", bytes: 25 << 20, d: d, inline: with})
							})
						} else if b == buckets-1 {
							s.collect(collective{kernel: allReduce, op: "allreduce", bytes: 25 << 20, d: d * int64(buckets)})
						}
					}
				})
				s.after(7, commStream)
				s.update(200 * us)
			})
		}
	}
	return family("ddp", Story{Ranks: 2, Bound: []string{"communication"}, Rules: []string{"exposed-communication", "slow-collectives"},
		Steps: []string{"transfer-less", "ddp-buckets", "ddp-send-less", "ddp-no-sync"}},
		reduce(4, 900*us, true), reduce(4, 1100*us, false), reduce(4, 90*us, true), reduce(3, 1200*us, true))
}

// fsdp: parameters of a layer are gathered when it begins, not ahead.
func fsdp() []Story {
	gather := func(d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(5, func(int) {
				for range 6 {
					s.note("FullyShardedDataParallel.forward", func() {
						s.op("c10d::_allgather_base_", func() {
							s.collect(collective{kernel: allGather, op: "_allgather_base", bytes: 64 << 20, d: d, inline: with})
						})
						s.layer(250 * us)
					})
				}
				s.backward(func() {
					for range 6 {
						s.layer(350 * us)
						s.op("c10d::_reduce_scatter_base_", func() {
							s.collect(collective{kernel: reduceScatter, op: "_reduce_scatter_base", bytes: 64 << 20, d: d, inline: with})
						})
					}
				})
				s.after(7, commStream)
				s.update(250 * us)
			})
		}
	}
	return family("fsdp", Story{Ranks: 4, Bound: []string{"communication"}, Rules: []string{"exposed-communication", "slow-collectives"},
		Steps: []string{"transfer-less", "fsdp-prefetch", "fsdp-forward-prefetch", "fsdp2-prefetch", "fsdp-shard-grad-op", "fsdp2-reshard", "fsdp-send-less"}},
		gather(700*us), gather(1100*us), gather(25*us), gather(500*us))
}

// tensorParallel: each layer adds up partial results, and waits for them.
func tensorParallel() []Story {
	layers := func(d, kernel int64, fused string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(8, func(int) {
				for range 8 {
					s.run("aten::linear", gemm, s.vary(kernel))
					s.run("aten::_flash_attention_forward", flash, s.vary(kernel/2))
					s.run("aten::linear", gemm, s.vary(kernel))
					if d > 0 && with {
						s.collect(collective{kernel: fused, op: "allreduce", bytes: 8 << 20, d: d, inline: true})
					}
				}
			})
		}
	}
	return family("tensor-parallel", Story{Ranks: 4, Bound: []string{"communication"}, Rules: []string{"exposed-communication", "slow-collectives"},
		Steps: []string{"fuse-all-reduce", "megatron-tp-overlap", "send-less", "transfer-less", "tune-the-communication", "check-the-link", "check-nccl-tests"}},
		layers(120*us, 90*us, allReduce), layers(200*us, 150*us, "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 4>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, __nv_bfloat16*, int, int)"),
		layers(8*us, 150*us, allReduce), layers(300*us, 150*us, allReduce))
}

// pipeline: a stage waits for the stages before and after it.
func pipeline() []Story {
	stage := func(micro int, d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			exchange := func(wait int64) {
				s.op("c10d::send", func() {
					s.collect(collective{kernel: sendRecv, op: "send", bytes: 4 << 20, d: wait, inline: true})
				})
			}
			s.steps(5, func(int) {
				// The bubble: stages before this one fill the pipeline.
				exchange(20*us + when(with, d))
				for range micro {
					s.forward(1, 200*us)
					exchange(20 * us)
				}
				exchange(20*us + when(with, d))
				s.backward(func() {
					for range micro {
						s.layer(300 * us)
						exchange(20 * us)
					}
				})
				s.update(200 * us)
			})
		}
	}
	return family("pipeline", Story{World: 4, Bound: []string{"communication"}, Rules: []string{"exposed-communication", "pipeline-bubble"},
		Steps: []string{"give-both-sides", "more-micro-batches", "interleave-stages", "megatron-pipeline", "balance-stages"}},
		stage(4, 2500*us), stage(3, 4*ms), stage(8, 100*us), stage(2, 3*ms))
}

// expertParallel: tokens travel to their experts and back.
func expertParallel() []Story {
	moe := func(d int64, kernel string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(6, func(int) {
				for range 6 {
					s.run("aten::_flash_attention_forward", flash, s.vary(200*us))
					for range 2 {
						if with {
							s.collect(collective{kernel: kernel, op: "all_to_allv", bytes: 16 << 20, d: d, inline: true})
						}
						s.run("aten::_grouped_mm", gemm, s.vary(300*us))
					}
				}
			})
		}
	}
	return family("expert-parallel", Story{Ranks: 4, Bound: []string{"communication"}, Rules: []string{"exposed-communication", "slow-collectives"},
		Steps: []string{"transfer-less", "tune-the-communication", "check-the-link", "check-nccl-tests", "send-less", "overlap-experts", "dispatch-less"}},
		moe(200*us, sendRecv), moe(350*us, sendRecv), moe(8*us, sendRecv), moe(250*us, sendRecv))
}

// straggler: rank 2 is slower, by its host or its kernels, and all wait for it.
func straggler() []Story {
	late := func(hostD, kernelD int64, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			slow := with && s.Rank == 2
			s.steps(6, func(int) {
				s.frame(frame, when(slow, hostD))
				s.forward(4, 200*us+when(slow, kernelD))
				s.collect(collective{kernel: allReduce, op: "allreduce", bytes: 25 << 20, d: 150 * us, inline: true})
				s.update(100 * us)
				s.sync()
			})
		}
	}
	return family("straggler", Story{Also: []string{"cpu-work"}, Ranks: 4, Bound: []string{"communication"}, Rules: []string{"straggling-rank"},
		Steps: []string{"compare-the-host", "compare-the-gpu", "compare-the-work", "compare-the-input", "find-the-late-rank", "even-out-the-work", "check-throttling"}},
		late(3*ms, 0, "dataset.py(20): collate"), late(0, 150*us, ""), late(60*us, 0, "dataset.py(20): collate"), late(9*ms, 0, "augment.py(9): augment"))
}

// lateInTurn: each step another rank has more tokens.
func lateInTurn() []Story {
	uneven := func(more int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(12, func(i int) {
				s.forward(3, 200*us+when(with && i%4 == s.Rank, more))
				s.collect(collective{kernel: allReduce, op: "allreduce", bytes: 25 << 20, d: 120 * us, inline: true})
				s.update(100 * us)
				s.sync()
			})
		}
	}
	return family("late-in-turn", Story{Ranks: 4, Bound: []string{"communication"}, Rules: []string{"ranks-late-in-turn"},
		Steps: []string{"even-out-each-step", "compare-the-same-steps", "find-the-late-ranks"}},
		uneven(160*us), uneven(220*us), uneven(6*us), uneven(400*us))
}

// hidden: communication that compute covers costs nothing.
func hidden() []Story {
	covered := func(d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(6, func(int) {
				for range 5 {
					if with {
						s.collect(collective{kernel: allReduce, op: "allreduce", bytes: 25 << 20, d: d})
					}
					s.layer(300 * us)
				}
			})
		}
	}
	return family("hidden", Story{Ranks: 2, Bound: []string{"communication"}, Rules: []string{"exposed-communication", "slow-collectives", "straggling-rank"}},
		covered(400*us), covered(700*us), covered(900*us), covered(100*us))
}

// weights: offloaded weights travel to the GPU before each layer.
func weights() []Story {
	load := func(bytes int64, pageable bool) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(6, func(int) {
				for range 6 {
					if with {
						s.op("aten::copy_", func() { s.copy(transfer{stream: 7, kind: "HtoD", bytes: bytes, pageable: pageable}) })
					}
					s.layer(200 * us)
				}
			})
		}
	}
	return family("weights", Story{Bound: []string{"copies"}, Rules: []string{"exposed-copies", "pageable-async-copies", "synchronous-copies"},
		Steps: []string{"keep-weights", "copy-less-to-device", "overlap-copies", "overlap-copies-by-streams", "copy-by-streams", "offload-less", "pin-for-async", "pin-by-hand", "keep-pinned", "copy-pinned", "copy-from-pinned", "copy-pinned-not-pageable", "reuse-pinned"}},
		load(24<<20, false), load(48<<20, false), load(200<<10, false), load(16<<20, true))
}

// activations: activations travel to the host on the stream that computes.
func activations() []Story {
	offload := func(bytes int64, pageable bool) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			move := func(kind string) {
				if with {
					s.op("aten::copy_", func() { s.copy(transfer{stream: 7, kind: kind, bytes: bytes, pageable: pageable}) })
				}
			}
			s.steps(6, func(int) {
				for range 4 {
					s.layer(200 * us)
					move("DtoH")
				}
				s.backward(func() {
					for range 4 {
						move("HtoD")
						s.layer(300 * us)
					}
				})
			})
		}
	}
	return family("activations", Story{Bound: []string{"copies"}, Rules: []string{"exposed-copies", "pageable-async-copies", "synchronous-copies"},
		Steps: []string{"overlap-offload", "overlap-copies", "overlap-copies-by-streams", "offload-less", "read-back-by-streams", "pin-for-async", "pin-by-hand", "keep-pinned", "read-back-pinned", "copy-by-streams", "copy-pinned", "reuse-pinned"}},
		offload(20<<20, false), offload(40<<20, false), offload(128<<10, false), offload(12<<20, true))
}

// tinyCopies: many small tensors go to the GPU, one blocking copy each.
func tinyCopies() []Story {
	to := func(n int, cost int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(7, func(int) {
				if with {
					for range n {
						s.op("aten::to", func() {
							s.op("aten::_to_copy", func() {
								s.op("aten::copy_", func() {
									s.busy(cost)
									s.copy(transfer{stream: 7, kind: "HtoD", bytes: 2048, pageable: true})
									s.sync()
								})
							})
						})
					}
				}
				s.forward(3, 160*us)
			})
		}
	}
	return family("tiny-copies", Story{Also: []string{"exposed-copies"}, Bound: []string{"host"}, Rules: []string{"small-copies"},
		Steps: []string{"pack-and-pin", "pack-and-pin-by-hand", "pack-small-copies"}},
		to(120, 12*us), to(60, 25*us), to(2, 8*us), to(300, 10*us))
}

// blockingCopies: the program copies with cudaMemcpy.
func blockingCopies() []Story {
	read := func(bytes int64, kind string, pageable bool) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			for range 10 {
				for range 6 {
					s.kernel(7, "stencil_step(float const*, float*, int, int)", s.vary(150*us))
				}
				if with {
					s.copy(transfer{stream: 7, kind: kind, bytes: bytes, blocking: true, pageable: pageable})
				}
			}
		}
	}
	return family("blocking-copies", Story{Bound: []string{"copies"}, Rules: []string{"exposed-copies", "synchronous-copies", "pageable-async-copies"},
		Steps: []string{"copy-asynchronously", "copy-by-streams", "read-back-by-streams", "read-back-less", "read-back-seldom", "overlap-copies-by-streams", "pin-by-hand", "copy-pinned", "read-back-pinned", "copy-less-to-device", "copy-pinned-not-pageable", "keep-pinned"}},
		read(16<<20, "DtoH", false), read(8<<20, "DtoH", true), read(256<<10, "DtoH", false), read(24<<20, "HtoD", true))
}

// gemvDecode: one token at a time reads all weights. Idle time is small; what
// costs are the products of matrix and vector.
func gemvDecode() []Story {
	decode := func(d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			d := d
			if !with {
				d /= 2 // weights of half the width
			}
			s.steps(10, func(int) {
				for range 8 {
					s.run("aten::linear", gemv, s.vary(d))
					s.run("aten::add", add, s.vary(8*us))
					s.run("aten::linear", gemv, s.vary(d))
				}
			})
		}
	}
	return family("gemv-decode", Story{Stays: true, Bound: []string{"compute", "memory"}, Rules: []string{"memory-bandwidth", "dominant-kernel"},
		Steps: []string{"batch-more-requests", "quantize-the-weights", "speculate"}},
		decode(60*us), decode(90*us), decode(150*us), decode(300*us))
}

// attention: long contexts; the kernel is a good one already.
func attention() []Story {
	long := func(d int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(6, func(int) {
				for range 6 {
					s.run("aten::linear", gemm, s.vary(150*us))
					s.run("aten::_flash_attention_forward", flash, s.vary(100*us+when(with, d)))
					s.run("aten::linear", gemm, s.vary(150*us))
				}
			})
		}
	}
	return family("attention", Story{Stays: true, Bound: []string{"compute"}, Rules: []string{"dominant-kernel"},
		Steps: []string{"profile-one-kernel"}},
		long(900*us), long(2*ms), long(4*us), long(5*ms))
}

// slowing: the same kernels take longer, because clocks fall.
func slowing() []Story {
	fall := func(tenths int64) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(16, func(i int) {
				d := 200 * us
				if with {
					d += d * tenths * int64(i) / 15 / 10
				}
				for range 4 {
					for _, k := range []string{gemm, flash, norm, add} {
						s.sameKernel(k, s.vary(d))
					}
				}
			})
		}
	}
	return family("slowing", Story{Bound: []string{"compute", "memory"}, Rules: []string{"slowing-kernels"},
		Steps: []string{"check-the-clocks", "check-other-processes"}},
		fall(8), fall(12), fall(0), fall(20))
}

// sameKernel launches a kernel whose grid does not depend on its duration.
func (s *Sim) sameKernel(name string, d int64) {
	s.op("aten::op", func() {
		s.busy(s.opCost)
		s.corr++
		st := s.stream(7)
		s.runtime("cudaLaunchKernel", s.call, s.full(st), s.corr)
		start := s.queue(st, d)
		s.onGPU("kernel", name, 7, start, d, s.corr, compute, shape(200*us))
	})
}

// warmUp: the first step compiles.
func warmUp() []Story {
	first := func(d int64, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(8, func(i int) {
				s.run("aten::linear", gemm, 100*us)
				if i == 0 {
					s.frame(frame, when(with, d))
				}
				s.train(3, 180*us)
				s.sync()
			})
		}
	}
	return family("warm-up", Story{LeftOut: true, Bound: []string{"compute", "memory", "host"}, Rules: []string{"warm-up-steps", "warm-up-phases"},
		Steps: []string{"leave-out-warm-up-steps", "cache-compiled-code", "leave-out-compilation"}},
		first(60*ms, "torch/_inductor/compile_fx.py(600): compile_fx"), first(200*ms, "torch/_dynamo/convert_frame.py(1100): __call__"),
		first(300*us, "torch/_inductor/compile_fx.py(600): compile_fx"), first(20*ms, "triton/runtime/autotuner.py(160): run"))
}

// streams: copies on another stream run beside compute, and cost nothing.
func streams() []Story {
	beside := func(bytes int64, kind string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(6, func(int) {
				for range 5 {
					if with {
						s.copy(transfer{stream: 22, kind: kind, bytes: bytes})
					}
					s.layer(250 * us)
				}
			})
		}
	}
	return family("streams", Story{Bound: []string{"copies"}, Rules: []string{"exposed-copies", "synchronous-copies", "pageable-async-copies", "small-copies"}},
		beside(20<<20, "HtoD"), beside(12<<20, "DtoH"), beside(1<<20, "HtoD"), beside(24<<20, "DtoH"))
}
