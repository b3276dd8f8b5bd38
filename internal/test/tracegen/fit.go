package tracegen

// A Fit is a run whose finding needs certain advice, or one that only looks like it.
type Fit struct {
	Name  string
	Rule  string   // whose finding is meant
	Bound string   // of the verdict
	First string   // id of the first remedy that is not about other ranks
	Never []string // ids of remedies for what the run only looks like
	Ranks []Story
}

// Fits returns the runs. Several of them are the same program with another cause of the
// same loss.
func Fits() (out []Fit) {
	out = append(out, commFits()...)
	out = append(out, copyFits()...)
	return append(append(out, kernelFits()...), engineFits()...)
}

// Kernels of collectives that the training step does not have.
const (
	allToAll  = "void deep_ep::internode::dispatch<false, 8>(int4*, float*, long*)"
	broadcast = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	anyNCCL   = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
)

// commFits are programs that wait for communication of several kinds.
func commFits() []Fit {
	n := cudaNames()
	// In each of five steps, compute kernels and then these collectives, a millisecond each.
	run := func(name string, trains bool, collectives ...string) []Story {
		return oneRank(name, func(p *plant) {
			p.steps(5, func() {
				p.compute(4 * ms)
				if trains {
					p.mix(2*ms, share{p.attentionBackward, 600}, share{p.optimizer, 400})
				}
				for _, c := range collectives {
					p.launchOn(c, commStream, ms)
				}
			})
		})
	}
	sync := oneRank("weights_to_engines", func(p *plant) {
		p.steps(3, func() {
			p.within("generate", func() { p.compute(20 * ms); p.finalize() })
			p.within("train_critic_and_policy", func() { p.compute(20 * ms); p.finalize() })
			p.within("sync_weights", func() { p.launchOn(broadcast, commStream, 8*ms); p.finalize() })
		})
	})
	const fsdp, ddp, tp, moe = "fsdp-prefetch", "ddp-buckets", "fuse-all-reduce", "overlap-experts"
	const comm = "exposed-communication"
	return []Fit{
		{"shards_parameters", comm, "communication", fsdp, []string{ddp, tp, moe}, run("shards_parameters", true, n.allGather, n.allGather, n.reduceScatter)},
		{"reduces_gradients", comm, "communication", ddp, []string{fsdp, tp, moe}, run("reduces_gradients", true, n.allReduce, n.allReduce)},
		{"reduces_activations", comm, "communication", tp, []string{fsdp, ddp, moe}, run("reduces_activations", false, n.allReduce, n.allReduce)},
		{"sends_tokens_to_experts", comm, "communication", moe, []string{fsdp, ddp, tp}, run("sends_tokens_to_experts", false, allToAll, allToAll)},
		{"trains_experts", comm, "communication", moe, []string{fsdp, ddp, tp}, run("trains_experts", true, allToAll, allToAll, n.allReduce)},
		{"gathers_only", comm, "communication", "send-less-between-ranks", []string{fsdp, ddp, tp, moe}, run("gathers_only", false, n.allGather, n.allGather)},
		{"unknown_collectives", comm, "communication", "send-less-between-ranks", []string{fsdp, ddp, tp, moe}, run("unknown_collectives", true, anyNCCL, anyNCCL)},
		{"weights_to_engines", comm, "communication", "colocate-for-weight-sync", []string{fsdp, ddp, tp, moe}, sync},
	}
}

// copyFits are programs that copy large tensors.
func copyFits() []Fit {
	const h2d, d2h = hostToDevicePinned, deviceToHostPinned
	type part struct {
		name  string
		ns    int64
		bytes int64
	}
	run := func(name string, parts ...part) []Story {
		return oneRank(name, func(p *plant) {
			p.steps(5, func() {
				p.compute(7 * ms)
				for _, c := range parts {
					p.copyAfter(c.name, c.ns, c.bytes)
				}
			})
		})
	}
	var layers, batches []part
	for i := range 12 {
		// Weights and biases of layers, 25 bytes in a nanosecond.
		layers = append(layers, part{h2d, int64(i%3+1) * 80 * us, int64(i%3+1) * 2_000_000}, part{h2d, 10 * us, 250_000})
		batches = append(batches, part{h2d, 160 * us, 4_000_000})
	}
	const offload, keep = "overlap-offload", "keep-weights"
	const copies = "exposed-copies"
	return []Fit{
		{"offloads_activations", copies, "copies", offload, []string{keep}, run("offloads_activations", part{d2h, ms, 24 << 20}, part{h2d, ms, 24 << 20})},
		{"writes_results", copies, "copies", "read-back-pinned", []string{offload, keep}, run("writes_results", part{d2h, 2 * ms, 48 << 20})},
		{"reads_small_results", copies, "copies", "read-back-less", []string{offload, keep}, run("reads_small_results", part{d2h, ms, 4096}, part{d2h, ms, 4096})},
		{"a_batch_and_results", copies, "copies", "overlap-copies", []string{offload, keep}, run("a_batch_and_results", part{h2d, 2 * ms, 48 << 20}, part{d2h, 20 * us, 4096})},
		{"weights_in_each_step", copies, "copies", keep, []string{offload}, run("weights_in_each_step", layers...)},
		{"tables_of_one_size", copies, "copies", "overlap-copies", []string{offload, keep}, run("tables_of_one_size", batches...)},
	}
}

// kernelFits are busy devices with one kind of kernels.
func kernelFits() []Fit {
	n := cudaNames()
	const vector = "void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 128, 16, 4, 4, false, false>(cublasGemvParamsEx)"
	const narrow = "void gemvNSP_kernel<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 1, 32, 4, 1024>(cublasGemvParamsEx)"
	busy := func(name string, of ...share) []Story {
		return oneRank(name, func(p *plant) {
			p.steps(5, func() { p.t.op("aten::mm", func() { p.mix(6*ms, of...) }) })
		})
	}
	const batch, flash = "batch-more-requests", "fused-attention"
	return []Fit{
		{"decodes_one_request", "dominant-kernel", "memory", batch, []string{flash, "tensor-cores"}, busy("decodes_one_request", share{vector, 700}, share{n.attention, 200}, share{n.normForward, 100})},
		{"decodes_with_two_kernels", "memory-bandwidth", "memory", batch, []string{flash, "fuse-small-kernels"}, busy("decodes_with_two_kernels", share{vector, 400}, share{narrow, 350}, share{n.attention, 250})},
		{"multiplies_matrices", "dominant-kernel", "compute", "profile-one-kernel", []string{batch, "quantize-the-weights"}, busy("multiplies_matrices", share{n.gemmUp, 700}, share{n.attention, 200}, share{n.normForward, 100})},
		{"flash_attention", "dominant-kernel", "compute", "profile-one-kernel", []string{flash, batch}, busy("flash_attention", share{n.attention, 700}, share{n.gemmUp, 300})},
		{"scores_of_attention", "dominant-kernel", "compute", flash, []string{batch}, busy("scores_of_attention", share{"attn_score_kernel", 700}, share{n.gemmUp, 300})},
	}
}

// engineFits are trainers whose device is idle while responses are generated.
func engineFits() []Fit {
	step := func(name string, generate func(p *plant)) []Story {
		return oneRank(name, func(p *plant) {
			p.compute(ms)
			p.steps(4, func() {
				generate(p)
				p.within("train_critic_and_policy", func() { p.compute(20 * ms); p.finalize() })
				p.within("sync_weights", func() { p.compute(ms); p.finalize() })
			})
		})
	}
	const engine = "profile-the-engine"
	return []Fit{
		{"another_process_generates", "gpu-idle", "host", engine, []string{"move-off-the-launching-thread"}, step("another_process_generates", func(p *plant) {
			p.pause(InAnnotation, "generate", 60*ms)
		})},
		{"waits_for_another_process", "gpu-idle", "host", engine, []string{"move-off-the-launching-thread"}, step("waits_for_another_process", func(p *plant) {
			p.within("generate", func() { p.pause(InPython, "ray/_private/worker.py(2700): get", 60*ms) })
		})},
		{"generates_slowly_itself", "cpu-work", "host", "move-off-the-launching-thread", []string{engine}, step("generates_slowly_itself", func(p *plant) {
			p.within("generate", func() {
				for range 6 {
					p.pause(InPython, "demo/sampler.py(12): sample", 9*ms)
					p.compute(ms)
				}
				p.finalize()
			})
		})},
	}
}
