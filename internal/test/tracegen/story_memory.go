package tracegen

// memoryStories are stories of the allocator's events.
func memoryStories() []StoryPreset {
	return []StoryPreset{
		{"memory", "allocations of operators in modules, a peak in the second of three steps", func() Story { return memoryStory("memory", "cuda", typeCUDA) }},
		{"memory_hip", "the same on AMD hardware", func() Story { return memoryStory("memory_hip", "hip", typeHIP) }},
	}
}

const mib = int64(1 << 20)

// An allocations is a lane whose operators allocate.
type allocations struct {
	*lane
	device *pool
	live   []*block // to be freed at the end of the step
}

// memoryStory starts with 1 GiB that is older than the trace and frees some of
// it. Each step allocates, and if the cache has no room, allocates memory from
// the device while the device waits. Addresses are reused; another thread
// frees.
func memoryStory(name, api string, deviceType int64) Story {
	s := newScene(name)
	if api == "hip" {
		s.dialect.Vendor = ROCm
	}
	a := &allocations{lane: newLane(s), device: s.pool(deviceType, 0, 1024*mib, 1100*mib)}
	a.api = api
	t, host := a.main, s.pool(typeHost, -1, 0, 0)
	a.first()
	var kept *block
	t.op("aten::empty", func() { kept = host.alloc(t, 64); t.spend(us) })
	t.spend(us)
	a.device.freeOld(t, 0x7e00_0000_0000, 24*mib)
	for step, bytes := range []int64{100 * mib, 300 * mib, 200 * mib} {
		t.note(stepName(int64(step)), func() {
			t.spend(us)
			a.forward(bytes, step < 2)
			a.loss()
			a.release()
		})
	}
	host.free(t, kept)
	return s.tell()
}

// forward allocates twice the bytes in a module, and some in the enclosing one.
func (a *allocations) forward(bytes int64, grow bool) {
	t := a.main
	t.module("Net_0", func() {
		t.module("Linear_0", func() {
			t.spend(us)
			t.op("aten::linear", func() {
				t.spend(us)
				t.op("aten::addmm", func() {
					t.spend(us)
					a.addmm(bytes, grow)
				})
			})
		})
		t.op("aten::relu", func() {
			t.spend(us)
			a.live = append(a.live, a.device.alloc(t, 10*mib))
			t.spend(us)
		})
	})
}

// addmm allocates. If the cache must grow for that, the device waits for it.
func (a *allocations) addmm(bytes int64, grow bool) {
	if grow {
		a.overrun(Allocating, a.api+"Malloc", "", 80*us)
		a.device.reserved += 2 * bytes
	}
	a.live = append(a.live, a.device.alloc(a.main, bytes), a.device.alloc(a.main, bytes))
	if !grow {
		a.main.spend(us)
		return
	}
	a.wait(a.main, InOperator, "aten::addmm", us)
	a.inside()
}

// loss allocates memory and, after freeing it, reuses its address.
func (a *allocations) loss() {
	t := a.main
	t.op("aten::mse_loss", func() {
		t.spend(us)
		scratch := a.device.alloc(t, mib)
		t.spend(us)
		a.device.free(t, scratch)
		t.spend(us)
		a.live = append(a.live, a.device.alloc(t, mib/2, scratch.address))
		t.spend(us)
	})
}

// release makes the other thread free all memory of the step.
func (a *allocations) release() {
	worker := a.worker()
	worker.until(a.main.now)
	for _, b := range a.live {
		worker.spend(us)
		a.device.free(worker, b)
	}
	a.live = nil
	a.main.until(worker.now)
}
