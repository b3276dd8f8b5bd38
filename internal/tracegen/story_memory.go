package tracegen

// memoryStories are about what the allocator says.
func memoryStories() []StoryPreset {
	return []StoryPreset{
		{"memory", "allocations of operators in modules, a peak in the second of three steps", func() Story { return memoryStory("memory", "cuda", typeCUDA) }},
		{"memory_hip", "the same on AMD hardware", func() Story { return memoryStory("memory_hip", "hip", typeHIP) }},
	}
}

// memoryStory starts with 1 GiB that is older than the trace and frees some of
// it. Each step allocates, and where the cache has no room, takes memory from the
// device while that waits. Addresses are used again; another thread frees.
func memoryStory(name, api string, deviceType int64) Story {
	const mib = int64(1 << 20)
	s := newScene(name, "memory of a device and of the host")
	if api == "hip" {
		s.dialect.Vendor = ROCm
	}
	l := newLane(s)
	l.api = api
	t := l.main
	worker := l.worker()
	p, host := s.pool(deviceType, 0, 1024*mib, 1100*mib), s.pool(typeHost, -1, 0, 0)
	var kept []*block
	l.first()
	t.op("aten::empty", func() { kept = append(kept, host.alloc(t, 64)); t.spend(us) })
	t.spend(us)
	p.freeOld(t, 0x7e00_0000_0000, 24*mib) // older than the trace
	for step, act := range []int64{100 * mib, 300 * mib, 200 * mib} {
		t.note(stepName(int64(step)), func() {
			t.spend(us)
			var live []*block
			t.module("Net_0", func() {
				t.module("Linear_0", func() {
					t.spend(us)
					t.op("aten::linear", func() {
						t.spend(us)
						t.op("aten::addmm", func() {
							t.spend(us)
							if step < 2 {
								l.overrun(Allocating, api+"Malloc", "", 80*us)
								p.reserved += 2 * act
							}
							live = append(live, p.alloc(t, act), p.alloc(t, act))
							t.spend(us)
							if step < 2 {
								s.own(l.g, HostLate, InOperator, "aten::addmm", us)
								l.inside()
							}
						})
					})
				})
				t.op("aten::relu", func() {
					t.spend(us)
					live = append(live, p.alloc(t, 10*mib))
					t.spend(us)
				})
			})
			t.op("aten::mse_loss", func() {
				t.spend(us)
				scratch := p.alloc(t, mib)
				t.spend(us)
				p.free(t, scratch)
				t.spend(us)
				live = append(live, p.alloc(t, mib/2, scratch.address)) // the same place again
				t.spend(us)
			})
			worker.until(t.now)
			for _, b := range live {
				worker.spend(us)
				p.free(worker, b)
			}
			t.until(worker.now)
		})
	}
	host.free(t, kept[0])
	return s.tell()
}
