package tracegen

import "bytes"

// captureTroubles have captures that cannot be judged, or only partly.
func captureTroubles() []Trouble {
	cut := func(ranks []Story) []Story { // the file ends in the middle
		text := ranks[0].JSON
		ranks[0].JSON, ranks[0].Damaged = text[:len(text)*7/10], true
		return ranks
	}
	change := func(ranks []Story, old, by string) []Story { // of one event
		ranks[0].JSON, ranks[0].Damaged = bytes.Replace(ranks[0].JSON, []byte(old), []byte(by), 1), true
		return ranks
	}
	busy := func(name string) []Story {
		return oneRank(name, func(p *plant) { p.steps(5, func() { p.compute(5 * ms) }) })
	}
	host := func(name, call string) []Story { // a program without a recorded device
		p := newPlant(name)
		p.t.op("aten::linear", func() {
			for range 20 {
				p.t.spend(5 * us)
				if call != "" {
					p.t.call(call, 5*us)
				}
			}
		})
		p.s.gpus = nil
		return []Story{p.s.tell()}
	}
	few := func(name string, kernels int, ns, before int64) []Story {
		return oneRank(name, func(p *plant) {
			p.t.op("aten::randn", func() { p.t.spend(before) })
			for range kernels {
				p.launch(p.gemmUp, ns)
			}
		})
	}
	lost := func(ranks []Story, rank int, share float64) []Story {
		ranks[rank].JSON, _ = Lose(ranks[rank].JSON, "kernel", share)
		ranks[rank].Damaged = true
		return ranks
	}
	const hour = 3600e6 // µs
	shifted := func(ranks []Story, kernel int, hours float64) []Story {
		ranks[0].JSON, _ = Rewrite(ranks[0].JSON, func(category, _ string, i int) (e Edit) {
			if category == "kernel" && i >= kernel {
				e.LaterUS = hours * hour
			}
			return e
		})
		ranks[0].Damaged = true
		return ranks
	}
	pair := func(name string) []Story {
		return ranksOf(2, name, func(p *plant, _ int) { p.steps(5, func() { p.compute(5 * ms) }) })
	}
	return []Trouble{
		{Name: "half_of_the_kernels_lost", Rule: "device-records-missing", Near: "gpu-idle", Ranks: lost(busy("half_of_the_kernels_lost"), 0, 0.5)},
		{Name: "most_kernels_of_one_rank_lost", Rule: "device-records-missing", Near: "uneven-ranks", Ranks: lost(pair("most_kernels_of_one_rank_lost"), 1, 0.8)},
		{Name: "one_kernel_in_a_hundred_lost", Rule: "compute-bound", Near: "device-records-missing", Ranks: lost(manyKernels("one_kernel_in_a_hundred_lost"), 0, 0.01)},
		{Name: "one_kernel_of_another_clock", Rule: "compute-bound", Near: "clocks-implausible", Ranks: shifted(busy("one_kernel_of_another_clock"), 24, 472_010)},
		{Name: "half_of_another_clock", Rule: "clocks-implausible", Near: "too-little-gpu-work", Ranks: shifted(busy("half_of_another_clock"), 12, 101)},
		{Name: "four_days", Rule: "cpu-work", Near: "clocks-implausible", Ranks: oneRank("four_days", func(p *plant) {
			p.compute(5 * ms)
			p.pause(InOperator, "aten::linear", 96*3600*1000*ms)
			p.compute(5 * ms)
		})},
		{Name: "an_hour_late", Rule: "clocks-implausible", Near: "gpu-idle", Ranks: shifted(busy("an_hour_late"), 12, 1)},
		{Name: "file_cut", Rule: "capture-quality", Ranks: cut(busy("file_cut"))},
		{Name: "two_documents", Rule: "capture-quality", Ranks: func() []Story {
			ranks := busy("two_documents")
			ranks[0].JSON, ranks[0].Damaged = append(ranks[0].JSON, "{\"traceEvents\": [{\"ph\": \"X\"}"...), true
			return ranks
		}()},
		{Name: "one_bad_event", Rule: "compute-bound", Near: "capture-quality", Ranks: change(busy("one_bad_event"), `"cat": "cuda_runtime", "name": "cudaStreamSynchronize"`, `"cat": "cuda_runtime", "dur": "long", "name": "cudaStreamSynchronize"`)},
		{Name: "host_alone", Rule: "no-gpu-time", Ranks: host("host_alone", "")},
		{Name: "kernels_not_recorded", Rule: "no-gpu-time", Ranks: host("kernels_not_recorded", "cudaLaunchKernel")},
		{Name: "three_kernels", Rule: "too-little-gpu-work", Near: "no-gpu-time", Ranks: few("three_kernels", 3, 50*us, us)},
		{Name: "a_corner_of_the_capture", Rule: "too-little-gpu-work", Near: "dominant-kernel", Ranks: few("a_corner_of_the_capture", 20, 50*us, 100*ms)},
		{Name: "little_but_enough", Rule: "dominant-kernel", Near: "too-little-gpu-work", Ranks: few("little_but_enough", 10, 50*us, 10*ms)},
	}
}

// manyKernels computes in 400 kernels.
func manyKernels(name string) []Story {
	return oneRank(name, func(p *plant) {
		p.steps(4, func() {
			for range 20 {
				p.compute(500 * us)
			}
		})
	})
}

// idleTroubles have devices that wait for their host.
func idleTroubles() []Trouble {
	loaders := oneRank("loader", func(p *plant) {
		p.compute(ms)
		p.steps(5, func() {
			p.pause(DataLoading, nextBatch, 2*ms)
			p.compute(6 * ms)
		})
	})
	const frame = "torch/utils/data/dataloader.py(1328): _next_data"
	stacked := oneRank("loader_by_its_stack", func(p *plant) {
		p.compute(ms)
		p.steps(8, func() {
			p.finalize()
			p.t.python(frame, func() { p.wait(p.t, DataLoading, frame, 1200*us) })
			p.compute(8 * ms)
		})
	})
	ahead := oneRank("loader_that_is_ahead", func(p *plant) {
		p.steps(5, func() {
			p.compute(6 * ms)
			p.t.op(nextBatch, func() { p.t.spend(2 * ms) })
		})
	})
	taking := oneRank("malloc_in_steps", func(p *plant) {
		p.compute(ms)
		p.steps(6, func() {
			p.pause(Allocating, "cudaMalloc", ms)
			p.compute(5 * ms)
		})
	})
	giving := oneRank("free_in_steps", func(p *plant) {
		p.compute(ms)
		p.steps(6, func() {
			p.compute(8 * ms)
			p.pause(Allocating, "cudaFree", 600*us)
		})
	})
	busy := oneRank("malloc_while_busy", func(p *plant) {
		p.steps(6, func() {
			p.compute(5 * ms)
			p.t.call("cudaMalloc", 2*ms)
		})
	})
	return append([]Trouble{
		{Name: "loader", Rule: "data-loading", Near: "gpu-idle", Ranks: loaders, NS: 5 * 2 * ms, OfNS: windows(loaders)},
		{Name: "loader_by_its_stack", Rule: "data-loading", Ranks: stacked, NS: 8 * 1200 * us, OfNS: windows(stacked)},
		{Name: "loader_that_is_ahead", Rule: "compute-bound", Near: "data-loading", Ranks: ahead},
		{Name: "malloc_in_steps", Rule: "allocating", Near: "gpu-idle", Ranks: taking, NS: 6 * ms, OfNS: windows(taking)},
		{Name: "free_in_steps", Rule: "allocating", Ranks: giving, NS: 5 * 600 * us, OfNS: windows(giving)},
		{Name: "malloc_while_busy", Rule: "compute-bound", Near: "allocating", Ranks: busy},
	}, launchTroubles()...)
}

// launchTroubles have launches that are too slow, and other idle time.
func launchTroubles() []Trouble {
	eager := oneRank("eager_decode", func(p *plant) {
		p.steps(4, func() {
			for range 100 {
				p.t.op("aten::add", func() {
					p.finalize()
					p.wait(p.t, InOperator, "aten::add", 20*us)
					p.launch(p.add, 6*us)
				})
			}
		})
	})
	const forward = "demo/model.py(10): forward"
	python := oneRank("python_between_launches", func(p *plant) {
		p.compute(ms)
		p.steps(4, func() {
			for i := range 60 {
				p.pause(InPython, forward, 40*us)
				p.launch([]string{p.gemmUp, p.attention, p.gemmQKV}[i%3], 90*us)
			}
		})
	})
	checkpoint := oneRank("long_pauses", func(p *plant) {
		p.compute(ms)
		p.steps(5, func() {
			p.compute(7 * ms)
			p.pause(InPython, "demo/train.py(90): save", 3*ms)
		})
	})
	held := oneRank("held_by_a_stream", func(p *plant) {
		p.compute(ms)
		p.steps(5, func() {
			p.compute(7 * ms)
			p.queued(Dependency, 2*ms)
		})
	})
	return []Trouble{
		// The first launch ends no gap.
		{Name: "eager_decode", Rule: "launch-bound", Near: "tiny-kernels", Ranks: eager, NS: 400*(20*us+plantLaunch) - 20*us - plantLaunch, OfNS: windows(eager)},
		{Name: "python_between_launches", Rule: "launch-bound", Near: "synchronizing-calls", Ranks: python, NS: 4 * 60 * (40*us + plantLaunch), OfNS: windows(python)},
		{Name: "long_pauses", Rule: "cpu-work", Near: "launch-bound", Ranks: checkpoint, NS: 4 * 3 * ms, OfNS: windows(checkpoint)},
		{Name: "held_by_a_stream", Rule: "gpu-idle", Near: "not-recorded", Ranks: held},
		{Name: "nothing_recorded_of_the_host", Rule: "gpu-idle", Near: "cpu-work", Ranks: oneRank("nothing_recorded_of_the_host", func(p *plant) {
			p.compute(ms)
			for range 5 {
				p.compute(7 * ms)
				p.pause(Unrecorded, "", 3*ms)
			}
			p.compute(ms)
		})},
		{Name: "tiny_kernels_launched_late", Rule: "launch-bound", Near: "kernel-gaps", Ranks: oneRank("tiny_kernels_launched_late", func(p *plant) {
			p.compute(ms)
			for i := range 900 {
				p.pause(InOperator, "aten::add", 3*us)
				p.launch([]string{p.gemmUp, p.attention, p.add}[i%3], 3*us)
			}
		})},
		{Name: "little_idle", Rule: "", Near: "gpu-idle", Ranks: oneRank("little_idle", func(p *plant) { p.spread(30, 130*us) })},
		{Name: "checkpoint_of_600_ms", Rule: "long-gaps", Near: "low-utilization", Ranks: gaps("checkpoint_of_600_ms", 10, 600*ms)},
		{Name: "two_long_pauses", Rule: "long-gaps", Ranks: gaps("two_long_pauses", 21, 510*ms, 800*ms)},
		{Name: "pauses_of_450_ms", Rule: "compute-bound", Near: "long-gaps", Ranks: gaps("pauses_of_450_ms", 12, 450*ms, 450*ms)},
		{Name: "slow_stretch", Rule: "low-utilization", Near: "gpu-idle", Ranks: oneRank("slow_stretch", func(p *plant) {
			p.compute(13 * ms)
			p.spread(6, 600*us)
			p.compute(13 * ms)
		})},
		{Name: "one_large_gap", Rule: "low-utilization", Near: "long-gaps", Ranks: oneRank("one_large_gap", func(p *plant) {
			p.compute(15 * ms)
			p.pause(InPython, "demo/train.py(70): evaluate", 4200*us)
			p.compute(12 * ms)
		})},
		{Name: "even_idle", Rule: "", Near: "low-utilization", Ranks: oneRank("even_idle", func(p *plant) { p.spread(40, 140*us) })},
	}
}

// gaps computes for the given number of seconds, with pauses of the host
// between.
func gaps(name string, seconds int, pauses ...int64) []Story {
	return oneRank(name, func(p *plant) {
		each := int64(seconds) * 1000 * ms / int64(len(pauses)+1)
		p.compute(each)
		for _, ns := range pauses {
			p.pause(InPython, "demo/train.py(90): save", ns)
			p.compute(each)
		}
	})
}

// callTroubles have calls that block the host.
func callTroubles() []Trouble {
	// A kernel of 100 µs each time, a wait for it, and 20 µs until the next.
	items := oneRank("item_after_each_kernel", func(p *plant) {
		for i := range 100 {
			p.launch([]string{p.gemmUp, p.attention, p.gemmQKV}[i%3], 100*us)
			p.t.op("aten::item", func() { p.sync() })
			p.pause(InOperator, "aten::mm", 20*us)
		}
		p.launch(p.gemmUp, 100*us)
	})
	device := oneRank("device_synchronized", func(p *plant) {
		for range 40 {
			p.compute(400 * us)
			p.await("cudaDeviceSynchronize")
			p.pause(InPython, "demo/train.py(60): schedule", 90*us)
		}
		p.compute(400 * us)
	})
	once := oneRank("a_wait_for_each_step", func(p *plant) {
		p.compute(ms)
		p.steps(4, func() {
			for i := range 50 {
				p.pause(InOperator, "aten::mul", 30*us)
				p.launch([]string{p.gemmUp, p.attention, p.gemmQKV}[i%3], 60*us)
			}
		})
	})
	// A copy or memset for which the host waits, and the activity after it.
	held := func(name, call, copied string, kernel, next int64) []Story {
		return oneRank(name, func(p *plant) {
			for range 30 {
				p.compute(kernel)
				p.waitForCopy(call, copied, 20*us, 1<<20)
				p.pause(InPython, "demo/train.py(60): schedule", next)
			}
			p.compute(kernel)
		})
	}
	free := func(name, call, copied string) []Story { // the call returns at once
		return oneRank(name, func(p *plant) {
			for range 30 {
				p.compute(ms)
				p.beside(call, copied, copyStream, 20*us, 1<<20)
			}
		})
	}
	return []Trouble{
		// All idle time follows a wait.
		{Name: "item_after_each_kernel", Rule: "synchronizing-calls", Near: "launch-bound", Ranks: items, NS: windows(items) - 101*100*us, OfNS: windows(items)},
		{Name: "a_result_of_each_kernel", Rule: "synchronizing-calls", Near: "small-copies", Ranks: oneRank("a_result_of_each_kernel", func(p *plant) {
			for i := range 100 {
				p.launch([]string{p.gemmUp, p.attention, p.gemmQKV}[i%3], 100*us)
				p.copyAfter("Memcpy DtoH (Device -> Pageable)", us, 8)
				p.t.op("aten::item", func() { p.sync() })
				p.pause(InOperator, "aten::mm", 20*us)
			}
			p.launch(p.gemmUp, 100*us)
		})},
		{Name: "device_synchronized", Rule: "synchronizing-calls", Near: "gpu-idle", Ranks: device},
		{Name: "a_wait_for_each_step", Rule: "launch-bound", Near: "synchronizing-calls", Ranks: once},
		{Name: "copy_back", Rule: "synchronous-copies", Near: "exposed-copies", Ranks: held("copy_back", "cudaMemcpy", deviceToHostPinned, ms, 90*us)},
		{Name: "copy_back_of_little_work", Rule: "synchronous-copies", Near: "gpu-idle", Ranks: held("copy_back_of_little_work", "cudaMemcpy", deviceToHostPinned, 400*us, 90*us)},
		{Name: "copy_back_and_on", Rule: "compute-bound", Near: "synchronous-copies", Ranks: held("copy_back_and_on", "cudaMemcpy", deviceToHostPinned, ms, us)},
		{Name: "pageable_to_host", Rule: "pageable-async-copies", Near: "synchronizing-calls", Ranks: held("pageable_to_host", "cudaMemcpyAsync", deviceToHostPageable, ms, 90*us)},
		{Name: "pageable_to_device", Rule: "pageable-async-copies", Near: "gpu-idle", Ranks: held("pageable_to_device", "cudaMemcpyAsync", hostToDevicePageable, 400*us, 90*us)},
		{Name: "pinned_copies", Rule: "compute-bound", Near: "pageable-async-copies", Ranks: free("pinned_copies", "cudaMemcpyAsync", hostToDevicePinned)},
		{Name: "managed_memset", Rule: "synchronous-memsets", Near: "gpu-idle", Ranks: held("managed_memset", "cudaMemset", "Memset (Managed)", 400*us, 90*us)},
		{Name: "pinned_memset", Rule: "synchronous-memsets", Ranks: held("pinned_memset", "cudaMemset", "Memset (Pinned)", ms, 90*us)},
		{Name: "memset_on_the_device", Rule: "compute-bound", Near: "synchronous-memsets", Ranks: free("memset_on_the_device", "cudaMemsetAsync", "Memset (Device)")},
	}
}

// memoryTroubles have the allocator's events in traces. Their values are bytes.
func memoryTroubles() []Trouble {
	reserved := func(name string, bytes int64) []Story {
		return oneRank(name, func(p *plant) {
			pool := p.s.pool(typeCUDA, 0, 1<<30, bytes)
			p.steps(4, func() {
				p.t.op("aten::empty", func() {
					b := pool.alloc(p.t, 1<<20)
					p.wait(p.t, InOperator, "aten::empty", us)
					pool.free(p.t, b)
				})
				p.compute(5 * ms)
			})
		})
	}
	return []Trouble{
		{Name: "nearly_full", Rule: "memory-pressure", Ranks: reserved("nearly_full", deviceMemory/100*92), NS: deviceMemory / 100 * 92, OfNS: deviceMemory},
		{Name: "full", Rule: "memory-pressure", Near: "compute-bound", Ranks: reserved("full", deviceMemory/100*98), NS: deviceMemory / 100 * 98, OfNS: deviceMemory},
		{Name: "some_memory_left", Rule: "compute-bound", Near: "memory-pressure", Ranks: reserved("some_memory_left", deviceMemory/100*88)},
	}
}
