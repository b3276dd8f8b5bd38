"""More scenarios of capture.py: models of transformers with random weights, memory that runs out, the machine's health."""
import contextlib
import json
import os
import statistics
import subprocess
import time


def register(scenario, torch_profile, write, tiny_lm):
    """Add the scenarios below to those of capture.py."""

    def small(name, **more):
        """A configuration of transformers, small enough to run in a second."""
        import transformers
        sizes = dict(hidden_size=1024, intermediate_size=2048, num_attention_heads=16, num_key_value_heads=8, head_dim=64,
                     vocab_size=16384)
        return getattr(transformers, name)(**{**sizes, **more})

    def steps_of_generation(out, config, kind, batch=4, prompt=128, new=4, **profile):
        import torch, transformers
        config.save_pretrained(out)
        model = getattr(transformers, kind)(config).to("cuda", torch.bfloat16).eval()
        ids = torch.randint(0, 16384, (batch, prompt), device="cuda")

        @torch.inference_mode()
        def step(i):
            model.generate(ids, max_new_tokens=new, min_new_tokens=new, do_sample=False, pad_token_id=0)
        torch_profile(out, step, steps=2, **profile)

    @scenario("host", "prefill and three tokens of a mixture of experts: 12 layers, of which 2 and 7 are dense")
    def moe_generate(out):
        steps_of_generation(out, small("Qwen3MoeConfig", num_hidden_layers=12, num_experts=16, num_experts_per_tok=2,
                                       moe_intermediate_size=512, mlp_only_layers=[2, 7]), "Qwen3MoeForCausalLM")

    @scenario("host", "prefill and three tokens of a model with full attention in every sixth of 18 layers")
    def hybrid_generate(out):
        steps_of_generation(out, small("Gemma3TextConfig", num_hidden_layers=18, sliding_window=64), "Gemma3ForCausalLM")

    @scenario("memory-bandwidth", "decoding of one token with weights of 3 GB from a CUDA graph: 20 layers, batch 8, context 512")
    def decode_floor(out):
        import torch, transformers
        config = small("Qwen3Config", hidden_size=2560, intermediate_size=9728, num_hidden_layers=20, num_attention_heads=32,
                       head_dim=128, vocab_size=32000)
        config.save_pretrained(out)
        model = transformers.Qwen3ForCausalLM(config).to("cuda", torch.bfloat16).eval()
        cache = transformers.StaticCache(config=config, max_cache_len=576)
        ids, at = torch.randint(0, 32000, (8, 512), device="cuda"), torch.tensor([512], device="cuda")
        with torch.inference_mode():
            model(ids, past_key_values=cache, cache_position=torch.arange(512, device="cuda"))
            token, side, graph = ids[:, :1].clone(), torch.cuda.Stream(), torch.cuda.CUDAGraph()
            with torch.cuda.stream(side):
                for _ in range(3):
                    model(token, past_key_values=cache, cache_position=at)
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                model(token, past_key_values=cache, cache_position=at)

        def step(i):
            graph.replay()
        torch_profile(out, step, steps=6)
        weights = sum(p.numel() * p.element_size() for p in model.parameters())
        write(out, "truth.json", json.dumps({"weight_bytes": weights, "layers": 20, "sequences": 8, "context": 512}))

    @scenario("compute", "training with every layer recomputed in the backward pass: 8 layers, four sequences of 1,024 tokens")
    def train_recompute(out):
        import torch, transformers
        config = small("LlamaConfig", num_hidden_layers=8, hidden_size=2048, intermediate_size=5632, use_cache=False)
        config.save_pretrained(out)
        model = transformers.LlamaForCausalLM(config).to("cuda", torch.bfloat16).train()
        model.gradient_checkpointing_enable()
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        ids = torch.randint(0, 16384, (4, 1024), device="cuda")

        def step(i):
            model(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        torch_profile(out, step, steps=3, stack=True)

    @scenario("compute", "training of an encoder with 6 layers and a decoder with 4")
    def train_encoder_decoder(out):
        import torch, transformers
        config = transformers.T5Config(d_model=1024, d_ff=4096, num_layers=6, num_decoder_layers=4, num_heads=16, vocab_size=16384,
                                       decoder_start_token_id=0)
        config.save_pretrained(out)
        model = transformers.T5ForConditionalGeneration(config).to("cuda", torch.bfloat16).train()
        ids = torch.randint(1, 16384, (32, 512), device="cuda")

        def step(i):
            model(input_ids=ids, labels=ids[:, :256].contiguous()).loss.backward()
            model.zero_grad(set_to_none=True)
        torch_profile(out, step, steps=2)

    @scenario("out-of-memory", "a model whose owners of memory are known, trained with batches that double until memory ends")
    def out_of_memory(out):
        import torch
        torch.cuda.set_per_process_memory_fraction(8e9 / torch.cuda.get_device_properties(0).total_memory)
        torch.cuda.memory._record_memory_history(max_entries=100_000)
        model = tiny_lm(torch, width=1024, layers=8).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
        lines, batch = [], 8
        truth = {"weight_bytes": sum(p.numel() * p.element_size() for p in model.parameters())}
        truth.update(gradient_bytes=truth["weight_bytes"], optimizer_bytes=2 * truth["weight_bytes"], peaks={})
        try:
            while True:
                for _ in range(2):
                    torch.cuda.reset_peak_memory_stats()
                    ids = torch.randint(0, 4096, (batch, 513), device="cuda")
                    loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
                    loss.backward()
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=True)
                    lines.append(f"step {len(lines)} batch {batch} loss {loss.item():.4f}")
                truth["peaks"][batch] = torch.cuda.max_memory_allocated()
                if batch == 8:
                    torch.cuda.memory._dump_snapshot(os.path.join(out, "snapshot_fits.pickle"))
                batch *= 2
        except torch.cuda.OutOfMemoryError:
            import traceback
            lines.append(traceback.format_exc())
            torch.cuda.memory._dump_snapshot(os.path.join(out, "snapshot_oom.pickle"))
        truth["failed_batch"] = batch
        write(out, "train.log", "\n".join(lines))
        write(out, "truth.json", json.dumps(truth))

    @scenario("health", "what the machine says of itself: nvidia-smi -q as text and XML, links, topology, kernel log")
    def machine_health(out):
        for name, command in {
                "smi_q.txt": "nvidia-smi -q", "smi_q.xml": "nvidia-smi -q -x", "smi.txt": "nvidia-smi", "topo.txt": "nvidia-smi topo -m",
                "nvlink_s.txt": "nvidia-smi nvlink -s", "nvlink_e.txt": "nvidia-smi nvlink -e", "dmesg.txt": "dmesg",
                "lscpu.txt": "lscpu", "pcie.txt": "nvidia-smi -q -d PCIE"}.items():
            with contextlib.suppress(Exception):
                done = subprocess.run(command.split(), capture_output=True, text=True, timeout=20)
                write(out, name, (done.stdout + done.stderr)[-400_000:])

    @scenario("overhead", "what the profiler costs with each of its options: steps of a decoder and of training, with and without it")
    def profiler_cost(out):
        import torch
        from torch.profiler import ProfilerActivity, profile
        decoder, ids = tiny_lm(torch, width=1024, layers=12, heads=16).cuda().to(torch.bfloat16).eval(), torch.randint(0, 4096, (4, 1), device="cuda")
        model, batch = tiny_lm(torch).cuda(), torch.randint(0, 4096, (2, 129), device="cuda")

        @torch.inference_mode()
        def decode():
            decoder(ids)

        def train():
            model(batch).float().logsumexp(-1).sum().backward()
            model.zero_grad(set_to_none=True)

        def clock(step, n=15):
            times = []
            for _ in range(n):
                start = time.perf_counter()
                step()
                torch.cuda.synchronize()
                times.append((time.perf_counter() - start) * 1e6)
            return round(statistics.median(times[3:]), 1)
        rows = []
        for name, step in (("decode", decode), ("train", train)):
            rows.append({"step": name, "options": "none", "median_us": clock(step)})
            for options in ({}, {"record_shapes": True}, {"profile_memory": True}, {"with_stack": True}, {"with_flops": True},
                            {"record_shapes": True, "with_stack": True, "profile_memory": True}):
                with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], **options) as prof:
                    median = clock(step)
                rows.append({"step": name, "options": options, "median_us": median, "events_per_step": len(prof.events()) / 15})
            with profile(activities=[ProfilerActivity.CUDA]) as prof:
                rows.append({"step": name, "options": "CUDA only", "median_us": clock(step)})
            rows[-1]["events_per_step"] = len(prof.events()) / 15
            rows.append({"step": name, "options": "none again", "median_us": clock(step)})
        write(out, "profiler_cost.json", json.dumps(rows, indent=1))

    @scenario("compute", "training of a model written in JAX: eight layers in a loop of their own, XPlane with Python's stacks")
    def jax_train(out):
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax, jax.numpy as jnp
        weights = [jnp.ones((2048, 2048), jnp.bfloat16) * 0.01 for _ in range(8)]
        x = jnp.ones((4096, 2048), jnp.bfloat16)

        @jax.jit
        def train(weights, x):
            def loss(ws):
                y = x
                for w in ws:
                    y = jax.nn.gelu(y @ w) + y
                return (y.astype(jnp.float32) ** 2).mean()
            value, grads = jax.value_and_grad(loss)(weights)
            return [w - 0.01 * g for w, g in zip(weights, grads)], value
        weights, _ = train(weights, x)
        with jax.profiler.trace(out):
            for i in range(6):
                with jax.profiler.StepTraceAnnotation("train", step_num=i):
                    weights, value = train(weights, x)
                    value.block_until_ready()
