package blind

// waits: the launching thread waits for another thread, process or rank. Nothing that it
// does could be moved elsewhere.
func waits() []Story {
	wait := func(d int64, frames ...string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(8, func(int) {
				s.forward(2, 200*us)
				s.syncAll()
				s.python(frames[0], func() { s.frame(frames[1], when(with, d)) })
			})
		}
	}
	return family("waits", Story{Bound: []string{"host"}, Rules: []string{"gpu-idle"}, Steps: []string{"find-what-it-waits-for"}},
		wait(4*ms, "queue.py(154): get", "threading.py(288): wait"),
		wait(2*ms, "vllm/v1/engine/core.py(600): _process_input_queue", "zmq/sugar/socket.py(780): recv_multipart"),
		wait(40*us, "threading.py(1100): join", "<built-in method acquire of _thread.lock object at 0x7f00>"),
		wait(9*ms, "trainer.py(77): step", "torch/distributed/distributed_c10d.py(4700): barrier"))
}

// pinning: memory is pinned again for each batch.
func pinning() []Story {
	pin := func(d int64, op string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(8, func(int) {
				s.forward(2, 200*us)
				s.syncAll()
				if with {
					s.op(op, func() { s.corr++; s.runtime("cudaHostAlloc", d, 0, s.corr) })
				}
				s.copy(transfer{stream: 7, kind: "HtoD", bytes: 1 << 18})
			})
		}
	}
	return family("pinning", Story{Bound: []string{"host"}, Rules: []string{"allocating"}, Steps: []string{"reuse-pinned", "keep-pinned"}},
		pin(2*ms, "aten::pin_memory"), pin(800*us, "aten::empty"), pin(20*us, "aten::pin_memory"), pin(6*ms, "aten::_pin_memory"))
}

// recompiling: new shapes are compiled in the middle of the capture.
func recompiling() []Story {
	compile := func(d int64, frame string) func(*Sim, bool) {
		return func(s *Sim, with bool) {
			s.steps(12, func(i int) {
				s.forward(2, 200*us)
				if i == 4 || i == 9 {
					s.syncAll()
					s.frame(frame, when(with, d))
				}
			})
		}
	}
	return family("recompiling", Story{Bound: []string{"host"}, Rules: []string{"cpu-work"}, Steps: []string{"cache-compiled-code", "leave-out-compilation"}},
		compile(20*ms, "torch/_dynamo/convert_frame.py(1100): __call__"), compile(8*ms, "torch/_inductor/compile_fx.py(600): compile_fx"),
		compile(200*us, "torch/_dynamo/convert_frame.py(1100): __call__"), compile(60*ms, "triton/runtime/autotuner.py(160): run"))
}
