package tracegen

// communicationTroubles have devices that wait for each other, and ranks that
// do different work.
func communicationTroubles() []Trouble {
	one := oneRank("reduced_at_the_end", func(p *plant) {
		p.steps(5, func() {
			p.compute(6 * ms)
			p.exposed(2 * ms)
		})
	})
	// Each rank computes, pauses and communicates for these times in each of
	// five steps.
	type load struct{ compute, pause, comm int64 }
	ranks := func(name string, loads ...load) []Story {
		return ranksOf(len(loads), name, func(p *plant, rank int) {
			l := loads[rank]
			p.steps(5, func() {
				p.compute(l.compute)
				if l.pause > 0 {
					p.pause(InPython, "demo/train.py(30): log", l.pause)
				}
				if l.comm > 0 {
					p.exposed(l.comm)
				}
			})
		})
	}
	slow := ranks("slow_rank", load{6 * ms, 0, 2500 * us}, load{8 * ms, 0, 500 * us}, load{6 * ms, 0, 2500 * us})
	late := ranks("late_host", load{6 * ms, 2 * ms, 500 * us}, load{6 * ms, 0, 2500 * us})
	uneven := ranks("more_tokens", load{8 * ms, 0, 0}, load{5 * ms, 0, 0})
	stages := ranks("long_stage", load{6 * ms, 0, 0}, load{6 * ms, 0, 0}, load{6 * ms, 0, 0}, load{9 * ms, 0, 0})
	// In each of the steps another rank computes longer, and the others wait for it.
	inTurn := func(name string, n int, late int64) []Story {
		return ranksOf(n, name, func(p *plant, rank int) {
			step := 0
			p.steps(2*n, func() {
				if own, rest := 6*ms, 500*us+late; step%n == rank {
					p.compute(own + late)
					p.exposed(rest - late)
				} else {
					p.compute(own)
					p.exposed(rest)
				}
				step++
			})
		})
	}
	four, two := inTurn("late_in_turn", 4, 3*ms), inTurn("late_in_turn_of_two", 2, 3*ms)
	return []Trouble{
		{Name: "late_in_turn", Rule: "ranks-late-in-turn", Near: "straggling-rank", Ranks: four, NS: 8 * 3 * 3 * ms, OfNS: windows(four)},
		{Name: "late_in_turn_of_two", Rule: "ranks-late-in-turn", Near: "exposed-communication", Ranks: two, NS: 4 * 3 * ms, OfNS: windows(two)},
		{Name: "a_little_late_in_turn", Rule: "compute-bound", Near: "ranks-late-in-turn", Ranks: inTurn("a_little_late_in_turn", 4, 150*us)},
		{Name: "reduced_at_the_end", Rule: "exposed-communication", Ranks: one, NS: 5 * 2 * ms, OfNS: windows(one)},
		{Name: "slow_network", Rule: "exposed-communication", Near: "straggling-rank", Ranks: ranks("slow_network", load{6 * ms, 0, 2500 * us}, load{6 * ms, 0, 2400 * us}, load{6 * ms, 0, 2500 * us})},
		{Name: "reduced_under_compute", Rule: "compute-bound", Near: "exposed-communication", Ranks: oneRank("reduced_under_compute", func(p *plant) {
			p.steps(5, func() {
				p.compute(6 * ms)
				p.beside(p.api+"LaunchKernel", p.allReduce, commStream, 2*ms, 0)
			})
		})},
		{Name: "slow_rank", Rule: "straggling-rank", Near: "exposed-communication", Ranks: slow, NS: 5 * 2 * 2 * ms, OfNS: windows([]Story{slow[0], slow[2]})},
		{Name: "late_host", Rule: "straggling-rank", Near: "uneven-ranks", Ranks: late, NS: 5 * 2 * ms, OfNS: windows(late[1:])},
		{Name: "more_tokens", Rule: "uneven-ranks", Ranks: uneven, NS: 5 * (8*ms - 6500*us), OfNS: 5 * 8 * ms},
		{Name: "long_stage", Rule: "uneven-ranks", Near: "compute-bound", Ranks: stages, NS: 5 * (9*ms - 6750*us), OfNS: 5 * 9 * ms},
		{Name: "nearly_even_ranks", Rule: "compute-bound", Near: "uneven-ranks", Ranks: ranks("nearly_even_ranks", load{6 * ms, 0, 0}, load{7 * ms, 0, 0})},
	}
}

// copyTroubles have devices that copy and do nothing else.
func copyTroubles() []Trouble {
	copies := func(name, copied string, ns int64) []Story {
		return oneRank(name, func(p *plant) {
			p.steps(5, func() {
				p.compute(7 * ms)
				p.copyAfter(copied, ns, ns*20)
			})
		})
	}
	batch, offload := copies("batch_to_device", hostToDevicePinned, ms), copies("offload", deviceToHostPinned, 2*ms)
	many := oneRank("many_small_copies", func(p *plant) {
		p.steps(4, func() {
			for range 40 {
				p.compute(100 * us)
				p.copyAfter(hostToDevicePinned, 8*us, 4096)
			}
		})
	})
	return []Trouble{
		{Name: "batch_to_device", Rule: "exposed-copies", Ranks: batch, NS: 5 * ms, OfNS: windows(batch)},
		{Name: "offload", Rule: "exposed-copies", Ranks: offload, NS: 5 * 2 * ms, OfNS: windows(offload)},
		{Name: "many_small_copies", Rule: "exposed-copies", Near: "compute-bound", Ranks: many, NS: 4 * 40 * 8 * us, OfNS: windows(many)},
		{Name: "copies_under_compute", Rule: "compute-bound", Near: "exposed-copies", Ranks: oneRank("copies_under_compute", func(p *plant) {
			p.steps(5, func() {
				p.compute(7 * ms)
				p.beside("cudaMemcpyAsync", hostToDevicePinned, copyStream, 600*us, 12<<20)
			})
		})},
	}
}

// kernelTroubles have problems of a busy device.
func kernelTroubles() []Trouble {
	busy := func(name string, of ...share) []Story {
		return oneRank(name, func(p *plant) { p.steps(5, func() { p.mix(6*ms, of...) }) })
	}
	n := cudaNames()
	replay := func(name string, node int64) []Story {
		return oneRank(name, func(p *plant) {
			var nodes []graphNode
			for i := range 60 {
				nodes = append(nodes, graphNode{[]string{n.gemmUp, n.attention, n.gemmQKV, n.add}[i%4], computeStream, 0, node})
			}
			g := p.s.capture(p.g, "cudaGraphLaunch", nodes...)
			p.compute(ms)
			for range 20 {
				g.launch(p.t, 10*us, p.g.end)
			}
			p.sync()
		})
	}
	hidden := oneRank("graphs_not_recorded", func(p *plant) {
		p.compute(ms)
		for range 5 {
			p.compute(2 * ms)
			p.opaque().launch(p.t, 4*us, 0)
			p.t.in(catRuntime, "cudaStreamSynchronize", func() {
				p.t.until(p.g.end)
				p.t.spend(4 * ms)
				p.s.own(p.g, OpaqueGraph, "", "", 4*ms)
			})
		}
		p.compute(ms)
	})
	custom := busy("one_custom_kernel", share{"selective_scan_fwd", 550}, share{n.gemmUp, 250}, share{n.attention, 200})
	product := busy("one_product", share{"volta_sgemm_128x64_tn", 620}, share{n.attention, 230}, share{n.normForward, 150})
	moving := busy("small_arithmetic", share{n.add, 300}, share{n.activation, 300}, share{n.normForward, 150}, share{n.gemmUp, 250})
	updates := busy("optimizer_and_loss", share{n.optimizer, 350}, share{n.softmax, 200}, share{n.reduce, 150}, share{n.gemmUp, 300})
	tiny := oneRank("kernels_of_8_us", func(p *plant) {
		p.compute(20 * ms)
		for i := range 2000 {
			p.launch([]string{p.gemmUp, p.attention, p.gemmQKV, p.add}[i%4], 8*us)
		}
	})
	return []Trouble{
		{Name: "graphs_not_recorded", Rule: "opaque-graphs", Near: "gpu-idle", Ranks: hidden, NS: 5 * 4 * ms, OfNS: windows(hidden)},
		{Name: "graphs_as_one_event", Rule: "opaque-graphs", Near: "compute-bound", Ranks: busy("graphs_as_one_event", share{"[CUDA graph]", 400}, share{n.gemmUp, 300}, share{n.attention, 300})},
		{Name: "graphs_with_their_nodes", Rule: "compute-bound", Near: "opaque-graphs", Ranks: replay("graphs_with_their_nodes", 30*us)},
		{Name: "one_custom_kernel", Rule: "dominant-kernel", Near: "compute-bound", Ranks: custom, NS: 5 * 6 * ms / 1000 * 550, OfNS: 5 * 6 * ms},
		{Name: "one_product", Rule: "dominant-kernel", Ranks: product, NS: 5 * 6 * ms / 1000 * 620, OfNS: 5 * 6 * ms},
		{Name: "one_kernel_of_several", Rule: "compute-bound", Near: "dominant-kernel", Ranks: busy("one_kernel_of_several", share{"selective_scan_fwd", 470}, share{n.gemmUp, 300}, share{n.attention, 230})},
		{Name: "graph_of_tiny_kernels", Rule: "tiny-kernels", Near: "launch-bound", Ranks: replay("graph_of_tiny_kernels", 5*us), NS: 20 * 60 * 5 * us, OfNS: 20*60*5*us + ms},
		{Name: "kernels_of_8_us", Rule: "tiny-kernels", Ranks: tiny, NS: 2000 * 8 * us, OfNS: 20*ms + 2000*8*us},
		{Name: "kernels_of_15_us", Rule: "compute-bound", Near: "tiny-kernels", Ranks: replay("kernels_of_15_us", 15*us)},
		{Name: "small_arithmetic", Rule: "memory-bandwidth", Near: "compute-bound", Ranks: moving, NS: 5 * 6 * ms / 1000 * 750, OfNS: 5 * 6 * ms},
		{Name: "optimizer_and_loss", Rule: "memory-bandwidth", Ranks: updates, NS: 5 * 6 * ms / 1000 * 700, OfNS: 5 * 6 * ms},
		{Name: "attention_over_more_and_more", Rule: "compute-bound", Near: "slowing-kernels", Ranks: oneRank("attention_over_more_and_more", func(p *plant) {
			for i := range 30 {
				p.step(func() {
					p.mix(4*ms, share{n.gemmUp, 300}, share{n.gemmQKV, 300}, share{n.normForward, 100})
					p.launch(n.attention, ms+int64(i)*50*us)
				})
			}
		})},
		{Name: "products_and_arithmetic", Rule: "compute-bound", Near: "memory-bandwidth", Ranks: busy("products_and_arithmetic", share{n.add, 250}, share{n.normForward, 200}, share{n.gemmUp, 300}, share{n.attention, 250})},
		{Name: "busy", Rule: "compute-bound", Ranks: busy("busy", share{n.gemmUp, 300}, share{n.attention, 300}, share{n.gemmQKV, 200}, share{n.add, 200})},
		{Name: "nearly_busy", Rule: "", Near: "compute-bound", Ranks: oneRank("nearly_busy", func(p *plant) { p.spread(40, 110*us) })},
	}
}
