package tracegen

import "fmt"

// twoDevices drives two devices from one process: first one by the main thread, then the other one by
// another thread. While the second one works, the first one does not wait.
func twoDevices() Story {
	s := newScene("two_devices")
	zero := newLane(s)
	one := *zero
	one.g, one.t, one.kernels = s.gpu(zero.main.of, 1), zero.worker(), 100
	zero.first()
	for i := range int64(3) {
		zero.t.op("aten::mm", func() {
			zero.t.spend(us)
			zero.overrun(Synchronizing, "cudaStreamSynchronize", "", (9+i)*us)
		})
		zero.inside()
	}
	zero.finalize()
	one.t.until(zero.t.now + 30*us)
	one.first()
	for i := range int64(3) {
		one.finalize()
		one.t.op("aten::sort", func() { one.wait(one.t, InOperator, "aten::sort", (60+i)*us) })
		one.inside()
	}
	one.finalize()
	busy := int64(0)
	for _, w := range one.g.works {
		busy += w.dur
	}
	s.own(zero.g, HostLate, Unrecorded, "", one.t.now-zero.t.now-busy)
	s.own(zero.g, OtherGPU, "", "", busy)
	zero.t.until(one.t.now)
	// The main thread launches for both. The second device waits for 4 us until the first one works, then
	// for 5 us until its own work starts.
	a := zero.t.call("cudaLaunchKernel", 5*us)
	b := zero.t.call("cudaLaunchKernel", 5*us)
	zero.g.run(a, "both_0", computeStream, a.start+4*us, 50*us)
	s.own(zero.g, LaunchLatency, "", "", 4*us)
	one.g.run(b, "both_1", computeStream, b.start+4*us, 50*us)
	s.own(one.g, HostLate, Launching, "cudaLaunchKernel", 4*us)
	s.own(one.g, OtherGPU, "", "", 5*us)
	return s.tell()
}

// twoProcesses combines the traces of two processes, as merging tools do: each
// process has its own correlation numbers, External ids and arrow ids. Labels
// show the process of a device's rows. Without them, it is the process with
// calls for all of the device's numbers: the second process starts to count
// later, so each process lacks some of the other's numbers.
func twoProcesses(name string, labels bool) Story {
	s := newScene(name)
	zero := newLane(s)
	var label [2]string
	if labels {
		label = [2]string{"[TP00] ", "[TP01] "}
		zero.main.of.label = label[0]
	}
	other := s.process(4218, label[1])
	one := *zero
	one.main = other.thread(4218, "python")
	one.t, one.g = one.main, s.gpu(other, 1)
	if !labels {
		other.correlation += 7
	}
	zero.first()
	one.first()
	for i := range int64(6) {
		l, op := zero, "aten::mm"
		if i%2 == 1 {
			l, op = &one, "aten::bmm"
		}
		l.finalize()
		l.t.op(op, func() { l.wait(l.t, InOperator, op, (20+i)*us) })
		l.inside()
		l.finalize()
		step := fmt.Sprintf("demo/run.py(%d): loop", 10+i)
		l.t.python(step, func() { l.wait(l.t, InPython, step, 11*us) })
		l.after(Dependency, (100+i)*us)
	}
	return s.tell()
}
