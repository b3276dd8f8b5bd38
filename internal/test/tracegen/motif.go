package tracegen

// A motif has one or more gaps, each with one cause. It begins and ends while a
// kernel is running, and its lane has no open events, so motifs can follow each
// other in any order.
type motif struct {
	name, about string
	play        func(l *lane)
}

// motifs returns at least one motif for each cause of idle time, and for each
// state of a late host.
func motifs() []motif {
	return []motif{
		{"host_synchronizing", "the host waits longer than the device is busy", synchronizing},
		{"host_copying", "calls that copy and fill return late", copying},
		{"host_allocating", "memory is allocated and freed while the device waits", allocating},
		{"host_launching", "a launch of something else returns late", launching},
		{"host_calling", "other calls keep the host from launching", calling},
		{"host_data_loading", "a data loader, with operators, Python and calls inside it", dataLoading},
		{"host_operator", "operators that launch nothing", inOperator},
		{"host_python", "Python functions, with step markers inside them", inPython},
		{"host_annotation", "annotations with nothing else, and step markers by themselves", inAnnotation},
		{"host_unrecorded", "the host's activity is not recorded", unrecorded},
		{"other_thread", "kernels of a second thread that does nothing else", otherThread},
		{"launch_latency", "kernels that start inside, or up to 20 µs after, their calls", launchLatency},
		{"dependency", "kernels that start more than 20 µs after their calls", dependency},
		{"nothing_offered", "the profiler itself keeps the host busy", nothingOffered},
		{"opaque_graph", "CUDA graphs traced as one event", opaqueGraph},
		{"no_launch", "kernels whose calls are older than the capture", noLaunch},
		{"early_start", "kernels that seem to start before they are launched", earlyStart},
	}
}

func synchronizing(l *lane) {
	for i, call := range []string{"StreamSynchronize", "DeviceSynchronize", "EventSynchronize"} {
		l.t.op("aten::item", func() {
			l.t.spend(us)
			l.overrun(Synchronizing, l.api+call, "", l.ns(int64(10+7*i)*us))
		})
		l.inside()
	}
}

func copying(l *lane) {
	l.overrun(Copying, l.api+"MemcpyAsync", "Memcpy HtoD (Pageable -> Device)", l.ns(31*us))
	l.inside()
	l.overrun(Copying, l.api+"MemsetAsync", "Memset (Device)", l.ns(13*us))
	l.inside()
}

func allocating(l *lane) {
	hostAlloc := "cudaHostAlloc"
	if l.api == "hip" {
		hostAlloc = "hipHostMalloc"
	}
	l.overrun(Allocating, l.api+"Malloc", "", l.ns(120*us))
	l.late(l.t, Allocating, hostAlloc, l.ns(35*us))
	l.late(l.t, Allocating, l.api+"Free", l.ns(210*us))
	l.inside()
}

func launching(l *lane) {
	l.overrun(Launching, l.api+"LaunchKernel", "hidden_kernel", l.ns(22*us))
	l.inside()
}

func calling(l *lane) {
	l.finalize()
	l.late(l.t, Calling, l.api+"StreamWaitEvent", l.ns(12*us))
	l.late(l.t, Calling, l.api+"EventRecord", l.ns(5*us))
	l.t.op("aten::matmul", func() {
		l.wait(l.t, InOperator, "aten::matmul", l.ns(3*us))
		l.late(l.t, Calling, l.api+"FuncGetAttributes", l.ns(64*us))
		l.wait(l.t, InOperator, "aten::matmul", l.ns(us))
	})
	l.inside()
}

func dataLoading(l *lane) {
	const (
		next   = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
		frame  = "torch/utils/data/dataloader.py(631): __next__"
		marked = "wait for DataLoader"
	)
	l.finalize()
	l.t.op(next, func() {
		l.wait(l.t, DataLoading, next, l.ns(80*us))
		l.t.op("aten::stack", func() { l.wait(l.t, DataLoading, next, l.ns(25*us)) })
		l.late(l.t, Allocating, l.api+"Malloc", l.ns(33*us))
	})
	l.inside()
	l.finalize()
	l.t.python("demo/train.py(20): main", func() {
		l.wait(l.t, InPython, "demo/train.py(20): main", l.ns(4*us))
		l.t.python(frame, func() {
			l.wait(l.t, DataLoading, frame, l.ns(7*us))
			l.t.python("demo/data.py(12): __getitem__", func() {
				l.wait(l.t, DataLoading, frame, l.ns(150*us))
			})
		})
	})
	l.inside()
	l.finalize()
	l.t.note(marked, func() {
		l.wait(l.t, DataLoading, marked, l.ns(us))
		l.t.op(next, func() { l.wait(l.t, DataLoading, marked, l.ns(41*us)) })
	})
	l.inside()
}

func inOperator(l *lane) {
	l.finalize()
	l.t.python("demo/train.py(60): select", func() {
		l.t.op("aten::nonzero", func() {
			l.wait(l.t, InOperator, "aten::nonzero", l.ns(30*us))
			l.t.op("aten::resize_", func() { l.wait(l.t, InOperator, "aten::resize_", l.ns(11*us)) })
			l.wait(l.t, InOperator, "aten::nonzero", l.ns(2*us))
		})
		l.t.op("aten::index", func() {
			l.wait(l.t, InOperator, "aten::index", l.ns(9*us))
			l.inside()
		})
	})
}

func inPython(l *lane) {
	l.finalize()
	l.t.python("demo/train.py(88): collate", func() {
		l.wait(l.t, InPython, "demo/train.py(88): collate", l.ns(50*us))
		l.t.python("<built-in function sorted>", func() {
			l.wait(l.t, InPython, "<built-in function sorted>", l.ns(17*us))
		})
		l.t.note(l.step(), func() {
			l.wait(l.t, InPython, "demo/train.py(88): collate", l.ns(6*us))
		})
	})
	l.inside()
}

// step returns the name of the next step's marker.
func (l *lane) step() string {
	l.steps++
	return stepName(l.steps)
}

func inAnnotation(l *lane) {
	l.finalize()
	l.t.note("evaluate", func() { l.wait(l.t, InAnnotation, "evaluate", l.ns(20*us)) })
	step := l.step()
	l.t.note(step, func() {
		l.wait(l.t, InAnnotation, step, l.ns(8*us))
		l.t.note("evaluate", func() { l.wait(l.t, InAnnotation, "evaluate", l.ns(15*us)) })
	})
	l.t.note("checkpoint", func() {
		l.wait(l.t, InAnnotation, "checkpoint", l.ns(us))
		l.t.note(l.step(), func() { l.wait(l.t, InAnnotation, "checkpoint", l.ns(28*us)) })
	})
	l.inside()
}

func unrecorded(l *lane) {
	l.finalize()
	l.wait(l.t, Unrecorded, "", l.ns(70*us))
	l.inside()
}

func otherThread(l *lane) {
	worker := l.worker()
	l.finalize()
	worker.until(l.g.end)
	main := l.main
	main.op("aten::sort", func() { l.wait(main, InOperator, "aten::sort", l.ns(23*us)) })
	l.wait(main, Unrecorded, "", l.ns(9*us))
	l.late(main, Calling, l.api+"EventQuery", l.ns(14*us))
	main.python("demo/train.py(12): log", func() { l.wait(main, InPython, "demo/train.py(12): log", l.ns(18*us)) })
	worker.until(main.now)
	// Events open on the launching thread have precedence over those of the
	// main thread.
	main.python("demo/train.py(30): wait", func() {
		worker.op("aten::embedding", func() {
			l.wait(worker, InOperator, "aten::embedding", l.ns(27*us))
			l.t = worker
			l.inside()
			l.t = l.main
		})
		main.until(worker.now)
	})
}

// worker returns the lane's second thread.
func (l *lane) worker() *thread {
	if p := l.main.of; len(p.threads) > 1 {
		return p.threads[1]
	}
	return l.main.of.thread(l.main.tid+3, "worker")
}

func launchLatency(l *lane) {
	l.finalize()
	l.inside()
	l.finalize()
	l.after(LaunchLatency, 0)
	l.finalize()
	l.after(LaunchLatency, ShortWaitNS)
	l.queued(BetweenKernels, l.ns(2*us))
	l.queued(BetweenKernels, ShortWaitNS)
	l.straddle(l.ns(3*us), l.ns(8*us))
	l.finalize()
	l.after(LaunchLatency, l.ns(10*us))
}

func dependency(l *lane) {
	l.finalize()
	l.after(Dependency, ShortWaitNS+1)
	l.queued(Dependency, ShortWaitNS+1)
	l.finalize()
	l.after(Dependency, l.ns(300*us))
	l.queued(Dependency, l.ns(90*us))
}

func nothingOffered(l *lane) {
	profiler := func(name string, ns int64) {
		l.t.spend(ns)
		l.s.own(l.g, NothingOffered, "", name, ns)
	}
	const step, flush, overhead = "torch/profiler/profiler.py(790): step", "Profiler::flush", "Activity Buffer Request"
	l.finalize()
	l.t.python(step, func() { profiler(step, l.ns(400*us)) })
	l.t.note(flush, func() { profiler(flush, l.ns(70*us)) })
	l.t.op("aten::relu", func() {
		l.wait(l.t, InOperator, "aten::relu", l.ns(2*us))
		l.t.in(catOverhead, overhead, func() { profiler(overhead, l.ns(900*us)) })
		l.wait(l.t, InOperator, "aten::relu", l.ns(2*us))
	})
	l.inside()
}

func opaqueGraph(l *lane) {
	g := l.opaque()
	g.launch(l.t, 4*us, 0)
	l.t.in(catRuntime, l.api+"StreamSynchronize", func() {
		l.t.until(l.g.end)
		ns := l.ns(250 * us)
		l.t.spend(ns)
		l.s.own(l.g, OpaqueGraph, "", "", ns)
	})
	l.inside()
	g.launch(l.t, 4*us, 0)
	l.queued(OpaqueGraph, l.ns(180*us))
}

// opaque returns the lane's graph without nodes.
func (l *lane) opaque() *graph {
	for _, g := range l.s.graphs {
		if len(g.nodes) == 0 {
			return g
		}
	}
	return l.s.capture(l.g, l.api+"GraphLaunch")
}

func noLaunch(l *lane) {
	l.finalize()
	for range 2 {
		ns := l.ns(37 * us)
		l.t.op("aten::mm", func() { l.t.spend(ns) })
		l.s.own(l.g, Unknown, "", "", ns)
		// A number from before the capture.
		l.g.run(nil, l.kernel(), computeStream, l.t.now, l.ns(40*us)).correlation = int64(l.kernels)
		l.finalize()
	}
	l.inside()
}

// earlyStart has kernels that start 2 µs before their calls, and at the same
// time as their calls.
func earlyStart(l *lane) {
	for _, ahead := range []int64{2 * us, 0} {
		l.finalize()
		ns := l.ns(45 * us)
		l.t.spend(ns + ahead)
		l.s.own(l.g, Unknown, "", "", ns)
		c := l.t.call(l.api+"LaunchKernel", 3*us)
		l.g.run(c, l.kernel(), computeStream, c.start-ahead, l.ns(40*us))
	}
}
