package tracegen

import "fmt"

// linkStories are stories of links between events.
func linkStories() []StoryPreset {
	return []StoryPreset{
		{"driver_launch", "launches by the driver, and by a runtime call that calls it", driverLaunch},
		{"flows_only", "no correlation numbers: arrows alone link calls and kernels", flowsOnly},
		{"late_annotations", "annotations that end before their kernels run", lateAnnotations},
		{"microseconds", "whole microseconds, with events that end after their parents", microseconds},
		{"missing_launches", "calls of early kernels are older than the capture", missingLaunches},
		{"recursion", "operators inside operators of the same name", recursion},
		{"streams", "kernels of three streams overlap and wait for each other", streams},
		{"two_devices", "two devices driven from one process", twoDevices},
		{"two_processes", "a merge of two processes with equal correlation numbers and labels", func() Story { return twoProcesses("two_processes", true) }},
		{"two_processes_bare", "a merge of two processes without labels", func() Story { return twoProcesses("two_processes_bare", false) }},
		{"unfinished", "Python functions that had not returned when the capture ended", unfinished},
	}
}

func driverLaunch() Story {
	s := newScene("driver_launch")
	l := newLane(s)
	t, g := l.main, l.g
	l.first()
	t.op("Torch-Compiled Region: 0/0", func() {
		t.spend(2 * us)
		t.op("triton_poi_fused_add_0", func() {
			t.spend(us)
			g.follow(t.call("cuLaunchKernel", 5*us), "triton_poi_fused_add_0", computeStream, 33*us)
		})
		t.spend(us)
	})
	t.op("aten::mm", func() {
		t.spend(us)
		t.in(catRuntime, "cudaLaunchKernelExC", func() {
			t.spend(2 * us)
			inner := t.call("cuLaunchKernelEx", 3*us)
			g.follow(inner, "nvjet_tst_128x128", computeStream, 71*us)
			t.spend(us)
		})
	})
	// The work starts after the driver's call but inside the runtime's.
	l.finalize()
	t.in(catRuntime, "cudaLaunchKernelExC", func() {
		start := t.now
		t.spend(us)
		inner := t.call("cuLaunchKernelEx", 2*us)
		s.own(g, LaunchLatency, "", "", t.now+us-start)
		g.run(inner, "early_kernel", computeStream, t.now+us, 25*us)
		t.spend(3 * us)
	})
	// And after both.
	l.finalize()
	c := t.in(catRuntime, "cudaLaunchKernelExC", func() {
		t.spend(us)
		inner := t.call("cuLaunchKernelEx", 2*us)
		g.run(inner, "late_kernel", computeStream, t.now+30*us, 25*us)
		t.spend(4 * us)
	})
	s.own(g, LaunchLatency, "", "", c.end-c.start)
	s.own(g, Dependency, "", "", 26*us)
	return s.tell()
}

func flowsOnly() Story {
	s := newScene("flows_only")
	s.links.noNumbers = true
	l := newLane(s)
	l.first()
	inOperator(l)
	otherThread(l)
	dependency(l)
	return s.tell()
}

// lateAnnotations has a host that runs ahead: when kernels run, the annotations
// that launched them have ended. The device has its own spans for the
// annotations.
func lateAnnotations() Story {
	s := newScene("late_annotations")
	l := newLane(s)
	t, g := l.main, l.g
	for i, name := range []string{"prefill", "decode", "sample"} {
		n := len(g.works)
		t.note(name, func() {
			t.note("layer", func() {
				t.op("aten::mm", func() {
					t.spend(us)
					g.follow(t.call("cudaLaunchKernel", 2*us), fmt.Sprintf("mm_%d", i), computeStream, 90*us)
				})
				t.spend(us)
			})
			t.op("aten::add", func() {
				t.spend(us)
				g.follow(t.call("cudaLaunchKernel", 2*us), fmt.Sprintf("add_%d", i), computeStream, 60*us)
			})
		})
		s.spans = append(s.spans, deviceSpan{"gpu_user_annotation", name, g, computeStream, g.works[n].start, g.end})
	}
	t.op("aten::item", func() {
		t.spend(us)
		l.overrun(Synchronizing, "cudaStreamSynchronize", "", 12*us)
	})
	l.inside()
	return s.tell()
}

func missingLaunches() Story {
	s := newScene("missing_launches")
	l := newLane(s)
	t, g := l.main, l.g
	for i := range int64(5) { // contiguous except for 4 µs before each
		if i > 0 {
			s.own(g, Unknown, "", "", 4*us)
		}
		g.run(nil, "old_kernel", computeStream, g.end+4*us, 50*us).correlation = 900 + i
	}
	t.op("aten::mm", func() {
		t.spend(us)
		g.follow(t.call("cudaLaunchKernel", 4*us), "new_kernel", computeStream, 45*us)
	})
	l.finalize()
	l.inside()
	return s.tell()
}

func recursion() Story {
	s := newScene("recursion")
	l := newLane(s)
	t, g := l.main, l.g
	l.first()
	var launch func(depth int)
	launch = func(depth int) {
		t.op("aten::to", func() {
			t.spend(us)
			if depth > 0 {
				t.op("aten::_to_copy", func() {
					t.spend(2 * us)
					launch(depth - 1)
				})
			}
			g.follow(t.call("cudaLaunchKernel", us), fmt.Sprintf("to_%d", depth), computeStream, int64(10+depth)*us)
			t.spend(us)
		})
	}
	launch(3)
	launch(1)
	return s.tell()
}

// microseconds has nested operators and calls that end up to 1 µs after the
// enclosing event, because start and duration are truncated to whole
// microseconds.
func microseconds() Story {
	s := newScene("microseconds")
	s.dialect.Era = Era2023
	_, s.begin = epoch(Era2023)
	l := newLane(s)
	t, g := l.main, l.g
	l.first()
	l.finalize()
	var outer, inner, last *node
	for i := range int64(3) {
		outer = t.op("aten::linear", func() {
			l.wait(t, InOperator, "aten::linear", 2*us)
			inner = t.op("aten::addmm", func() {
				l.wait(t, InOperator, "aten::addmm", 5*us)
				last = t.call("cudaLaunchKernel", 4*us)
				s.own(g, LaunchLatency, "", "", (4+i)*us)
				g.run(last, fmt.Sprintf("addmm_%d", i), computeStream, last.start+(4+i)*us, 20*us)
			})
		})
		inner.end += us // outlasts outer
		if i == 1 {
			outer.end, inner.end = inner.end, inner.end-us
			last.end += us // outlasts inner
		}
		t.spend(3 * us)
		l.finalize()
	}
	// The operator's last microsecond is after the end of the enclosing event.
	t.python("demo/train.py(9): f", func() {
		l.wait(t, InPython, "demo/train.py(9): f", us)
		inner = t.op("aten::sum", func() { l.wait(t, InOperator, "aten::sum", 7*us) })
	})
	inner.end += us
	l.wait(t, InOperator, "aten::sum", us)
	l.wait(t, Unrecorded, "", 4*us)
	l.inside()
	return s.tell()
}

// streams has overlapping kernels on three streams. One stream waits for an
// event of another, and then the device waits for a kernel of neither.
func streams() Story {
	s := newScene("streams")
	l := newLane(s)
	t, g := l.main, l.g
	l.first()
	at := g.end
	a := t.call("cudaLaunchKernel", 3*us)
	b := t.call("cudaLaunchKernel", 3*us)
	t.call("cudaEventRecord", us)
	t.call("cudaStreamWaitEvent", us)
	c := t.call("cudaLaunchKernel", 3*us)
	g.run(a, "long", computeStream, at, 60*us)
	g.run(b, "beside", copyStream, at+20*us, 60*us)
	g.run(c, "waiting", commStream, at+80*us, 30*us) // for beside
	s.spans = append(s.spans, deviceSpan{"cuda_sync", "Stream Wait Event", g, commStream, at + 20*us, at + 80*us})
	// Two kernels start together: the one that was called first determines the
	// cause of the gap.
	first, second := t.call("cudaLaunchKernel", 3*us), t.call("cudaLaunchKernel", 3*us)
	g.run(second, "second", copyStream, at+150*us, 30*us)
	g.run(first, "first", computeStream, at+150*us, 10*us)
	s.own(g, Dependency, "", "", 40*us)
	t.until(at + 200*us)
	s.own(g, HostLate, Unrecorded, "", 20*us)
	early, late := t.call("cudaLaunchKernel", 5*us), t.call("cudaLaunchKernel", 5*us)
	g.run(late, "late", copyStream, early.start+8*us, 30*us)
	g.run(early, "early", computeStream, early.start+8*us, 35*us)
	s.own(g, LaunchLatency, "", "", 8*us)
	return s.tell()
}

func unfinished() Story {
	s := newScene("unfinished")
	l := newLane(s)
	loader := l.main.of.thread(4230, "pin_memory")
	var open []*node
	open = append(open, loader.python("threading.py(1032): _bootstrap", func() {
		loader.spend(us)
		open = append(open, loader.python("torch/utils/data/_utils/pin_memory.py(37): do_one_step", func() {
			loader.spend(us)
		}))
	}))
	open = append(open, l.main.python("demo/train.py(10): main", func() {
		l.main.spend(us)
		open = append(open, l.main.python("demo/train.py(40): epoch", func() {
			l.first()
			l.finalize()
			l.main.op("aten::nonzero", func() { l.wait(l.main, InOperator, "aten::nonzero", 30*us) })
			l.wait(l.main, InPython, "demo/train.py(40): epoch", 9*us)
			l.inside()
			l.finalize()
		}))
	}))
	for _, n := range open {
		n.unfinished, n.end = true, l.main.now
	}
	return s.tell()
}
