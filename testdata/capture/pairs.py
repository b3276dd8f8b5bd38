#!/usr/bin/env python3
"""Capture pairs of runs, before and after one change, to hold forecasts against.

Run on a machine with one CUDA GPU and PyTorch >= 2.6:

    python3 pairs.py --out DIR [--only NAME,...] [--list]

For a pair NAME the folder DIR/NAME holds

    before.json.gz         trace of the run before the change
    before_sync.json.gz    the same, recorded with enable_cuda_sync_events
    after.json.gz          trace of the run after the change

and DIR/pairs.json gets a row: the change as `assay whatif` takes it, and for each run the times of its steps without a
profiler, in microseconds. A change may hold {after:RE}: the mean time of the kernels that match RE after the change
over that before it. So the times of single kernels are measured, and only the step is forecast.
"""
import argparse
import contextlib
import gzip
import json
import os
import shutil
import statistics
import sys
import time
import traceback

from capture import tiny_lm

PAIRS = {}


def pair(change, why, each_step=True):
    """Register a pair: the function returns the step before and the step after the change."""
    def register(fn):
        PAIRS[fn.__name__] = (fn, change, why, each_step)
        return fn
    return register


def record(step, path, each_step, sync_events, steps=4, settle=4):
    """Profile `steps` steps after `settle` that are not profiled, and write the trace to `path`."""
    import torch
    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler import ProfilerActivity, profile, schedule

    config = _ExperimentalConfig(enable_cuda_sync_events=True) if sync_events else None
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=0, warmup=settle, active=steps, repeat=1), experimental_config=config) as prof:
        for i in range(settle + steps):
            step(i)
            if each_step:
                torch.cuda.synchronize()
            prof.step()
    prof.export_chrome_trace(path)
    with open(path, "rb") as f, gzip.open(path + ".gz", "wb", 6) as g:
        shutil.copyfileobj(f, g)
    os.remove(path)


def clock(step, each_step, steps=12, settle=4):
    """Time steps without a profiler, in microseconds. Where steps run on, all of them share the time of the whole."""
    import torch
    for i in range(settle):
        step(i)
    torch.cuda.synchronize()
    times, begin = [], time.perf_counter()
    for i in range(steps):
        start = time.perf_counter()
        step(i)
        if each_step:
            torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e6)
    torch.cuda.synchronize()
    if not each_step:
        times = [(time.perf_counter() - begin) * 1e6 / steps] * steps
    return [round(t, 1) for t in times]


def training(torch, model, ids, optimizer=None, read_loss=False, extra=None):
    """A training step of a language model."""
    def step(i):
        if extra:
            extra()
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        if read_loss:
            loss.item()
        if optimizer:
            optimizer.step()
        model.zero_grad(set_to_none=True)
    return step


def tokens(torch, *shape):
    return torch.randint(0, 4096, shape, device="cuda")


def spin(ms):
    end = time.perf_counter() + ms / 1000
    while time.perf_counter() < end:
        pass


@pair(["--remove", "sync~item"], "a value is read back with .item() after every small product, or added up on the GPU")
def sync_removed(torch):
    a = torch.randn(1024, 1024, device="cuda")

    def before(i):
        for _ in range(100):
            (a @ a).sum().item()

    def after(i):
        for _ in range(100):
            (a @ a).sum()
    return before, after


@pair(["--remove", "sync~item"], "the loss is read after each of eight small batches, or not", each_step=False)
def loss_not_read(torch):
    model, ids = tiny_lm(torch).cuda(), tokens(torch, 16, 257)
    one, other = training(torch, model, ids, read_loss=True), training(torch, model, ids)

    def before(i):
        for _ in range(8):
            one(i)

    def after(i):
        for _ in range(8):
            other(i)
    return before, after


@pair(["--graph", "10"], "decoding of a token, launch by launch or from a CUDA graph")
def graph_on(torch):
    model, ids = tiny_lm(torch, width=1024, layers=12, heads=16).cuda().to(torch.bfloat16).eval(), tokens(torch, 4, 1)
    with torch.inference_mode():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                model(ids)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(ids)

    @torch.inference_mode()
    def before(i):
        model(ids)

    def after(i):
        graph.replay()
    return before, after


@pair(["--fuse", "elementwise=0.125"], "eight passes over a gigabyte, or one kernel that torch.compile makes of them")
def fused(torch):
    x = torch.randn(1 << 28, device="cuda")

    def chain(y):
        for k in range(4):
            y = y * 1.0001 + 0.5
        return y
    compiled = torch.compile(chain)
    return lambda i: chain(x), lambda i: compiled(x)


@pair(["--fuse", "elementwise=0.5"], "an optimizer that handles one parameter after the other, or all in fused kernels")
def optimizer_fused(torch):
    model, ids = tiny_lm(torch).cuda(), tokens(torch, 16, 257)
    plain = torch.optim.AdamW(model.parameters(), foreach=False)
    fast = torch.optim.AdamW(model.parameters(), fused=True)
    return training(torch, model, ids, plain), training(torch, model, ids, fast)


@pair(["--scale", "class:compute=2"], "twice the batch: every kernel takes about twice as long")
def batch_doubled(torch):
    model = tiny_lm(torch, width=1024).cuda()
    return training(torch, model, tokens(torch, 32, 513)), training(torch, model, tokens(torch, 64, 513))


@pair(["--scale", "class:compute={after:.}"], "a sixteenth of the batch: the host is the limit then")
def batch_small(torch):
    model = tiny_lm(torch, width=1024).cuda()
    return training(torch, model, tokens(torch, 32, 513)), training(torch, model, tokens(torch, 2, 513))


@pair(["--pinned", "--copy", "{after:Memcpy HtoD}"], "batches come from pageable memory, or from pinned memory without a wait")
def pinned(torch):
    host, w = torch.randn(32 << 20), torch.randn(1024, 1024, device="cuda")
    fixed = host.pin_memory()

    def work(batch):
        for _ in range(4):
            batch.view(-1, 1024) @ w

    def before(i):
        for _ in range(4):
            work(host.to("cuda"))

    def after(i):
        for _ in range(4):
            work(fixed.to("cuda", non_blocking=True))
    return before, after


@pair(["--overlap", "Memcpy HtoD"], "pinned copies on the stream of the products, or on one of their own")
def copies_overlapped(torch):
    side = torch.cuda.Stream()
    host, dev = torch.randn(32 << 20).pin_memory(), torch.empty(32 << 20, device="cuda")
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def step_on(stream):
        def step(i):
            for _ in range(6):
                with torch.cuda.stream(stream) if stream else contextlib.nullcontext():
                    dev.copy_(host, non_blocking=True)
                for _ in range(4):
                    a @ a
        return step
    return step_on(None), step_on(side)


@pair(["--scale", "kernel~gemm|cutlass|nvjet={after:gemm|cutlass|nvjet}"], "matrix products of half the size, between small kernels")
def smaller_kernels(torch):
    big, small = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for n in (4096, 512))
    x = torch.randn(64, device="cuda")

    def step_of(a):
        def step(i):
            for _ in range(60):
                a @ a
                x + 1
                x * 2
        return step
    return step_of(big), step_of(small)


@pair(["--scale", "kernel~gemm|cutlass|nvjet={after:gemm|cutlass|nvjet}"], "products of float32, or the same in TF32")
def tf32(torch):
    model, ids = tiny_lm(torch, width=1024).cuda(), tokens(torch, 16, 257)

    def step_of(allow):
        def step(i):
            torch.backends.cuda.matmul.allow_tf32 = allow
            model(ids).float().logsumexp(-1).sum().backward()
            model.zero_grad(set_to_none=True)
        return step
    return step_of(False), step_of(True)


@pair(["--remove", "op~preprocess"], "each batch is prepared on the host first, or came prepared")
def preprocess_removed(torch):
    from torch.profiler import record_function
    model, ids = tiny_lm(torch).cuda(), tokens(torch, 32, 257)

    def prepare():
        with record_function("preprocess"):
            spin(4)
    return training(torch, model, ids, extra=prepare), training(torch, model, ids)


@pair(["--remove", "op~preprocess"], "the same without a wait at the end of a step: the GPU works on meanwhile", each_step=False)
def preprocess_hidden(torch):
    from torch.profiler import record_function
    model, ids = tiny_lm(torch, width=1024).cuda(), tokens(torch, 32, 513)

    def prepare():
        with record_function("preprocess"):
            spin(4)
    return training(torch, model, ids, extra=prepare), training(torch, model, ids)


@pair(["--remove", "op~DataLoader"], "a loader without workers that needs 16 ms for a batch, or one with eight workers")
def loader_workers(torch):
    from torch.utils.data import DataLoader
    model = tiny_lm(torch).cuda()

    def step_of(workers):
        batches = iter(DataLoader(Slow(), batch_size=16, num_workers=workers, persistent_workers=workers > 0))

        def step(i):
            ids = next(batches).cuda()
            training(torch, model, ids)(i)
        return step
    return step_of(0), step_of(8)


class Slow:
    """A dataset that takes a millisecond for each sample."""

    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        import torch
        time.sleep(0.001)
        return torch.randint(0, 4096, (129,))


@pair(["--remove", "op~dropout"], "a model with dropout, or without")
def dropout_removed(torch):
    nn = torch.nn

    def layers(p):
        return nn.Sequential(*(m for _ in range(12) for m in (nn.Linear(2048, 2048), nn.GELU(), *([nn.Dropout(p)] if p else []))))
    x = torch.randn(16384, 2048, device="cuda", dtype=torch.bfloat16)

    def step_of(model):
        model = model.cuda().to(torch.bfloat16)

        def step(i):
            model(x).sum().backward()
            model.zero_grad(set_to_none=True)
        return step
    return step_of(layers(0.1)), step_of(layers(0))


@pair(["--scale", "kernel~elementwise={after:elementwise}"], "two streams wait for each other in every round; the work of the second shrinks to an eighth")
def side_stream_smaller(torch):
    side, a = torch.cuda.Stream(), torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    big, small = torch.randn(1 << 27, device="cuda"), torch.randn(1 << 24, device="cuda")

    def step_of(x):
        out = torch.empty_like(x)

        def step(i):
            main = torch.cuda.current_stream()
            for _ in range(20):
                side.wait_stream(main)
                with torch.cuda.stream(side):
                    torch.mul(x, 1.5, out=out)
                a @ a
                main.wait_stream(side)
                a @ a
        return step
    return step_of(big), step_of(small)


@pair(["--host", "0.5"], "the host does half of the Python between kernels")
def host_twice_as_fast(torch):
    x = torch.randn(64, device="cuda")

    def step_of(us):
        def step(i):
            y = x
            for _ in range(300):
                y = y + 1
                spin(us / 1000)
        return step
    return step_of(40), step_of(16)


def _rank(rank, world, folder, backend, late):
    import torch
    import torch.distributed as dist
    from torch.profiler import record_function
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", NCCL_MULTI_RANK_GPU_ENABLE="1")
    torch.cuda.set_device(0)
    dist.init_process_group(backend, rank=rank, world_size=world)
    model = torch.nn.parallel.DistributedDataParallel(tiny_lm(torch).cuda())
    ids = tokens(torch, 8, 129)

    def step_of(ms):
        def step(i):
            if rank == 1 and ms:
                with record_function("late"):
                    time.sleep(ms / 1000)
            model(ids).float().logsumexp(-1).sum().backward()
        return step
    rows = {}
    for name, ms, events in (("before", late, False), ("before_sync", late, True), ("after", 0, False)):
        dist.barrier()
        record(step_of(ms), os.path.join(folder, f"{name}_rank{rank}.json"), True, events)
        dist.barrier()
        rows[name] = clock(step_of(ms), True)
    with open(os.path.join(folder, f"times{rank}.json"), "w") as f:
        json.dump(rows, f)
    dist.destroy_process_group()


def ranks(out, backend):
    """Two data-parallel ranks on one GPU, of which the second comes 30 ms late, or not."""
    import torch.multiprocessing as mp
    name = "late_rank_" + backend
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    mp.spawn(_rank, args=(2, folder, backend, 30), nprocs=2)
    times = json.load(open(os.path.join(folder, "times0.json")))
    return {"name": name, "change": ["--remove", "op~late"], "why": ranks.__doc__, "each_step": True,
            "before_us": times["before"], "after_us": times["after"]}


def run(name, out):
    import torch
    fn, change, why, each_step = PAIRS[name]
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    before, after = fn(torch)
    row = {"name": name, "change": change, "why": why, "each_step": each_step,
           "before_us": clock(before, each_step), "after_us": clock(after, each_step)}
    for step, file, events in ((before, "before", False), (before, "before_sync", True), (after, "after", False)):
        record(step, os.path.join(folder, file + ".json"), each_step, events)
    row["before_again_us"] = clock(before, each_step)
    del before, after
    torch.cuda.empty_cache()
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--out", default="captures")
    p.add_argument("--only", default="")
    p.add_argument("--list", action="store_true")
    p.add_argument("--until", type=float, default=1e9, help="start no pair after so many seconds")
    a = p.parse_args()
    if a.list:
        for name, (_, change, why, _) in PAIRS.items():
            print(f"{name:22} {' '.join(change):60} {why}")
        return
    import torch
    os.makedirs(a.out, exist_ok=True)
    begin, rows = time.time(), []
    todo = [n for n in a.only.split(",") if n] or [*PAIRS, "late_rank_gloo", "late_rank_nccl"]
    for name in todo:
        if time.time() - begin > a.until:
            print(name, "not started: no time left", flush=True)
            continue
        start = time.time()
        try:
            rows.append(ranks(a.out, name.rsplit("_", 1)[1]) if name.startswith("late_rank_") else run(name, a.out))
            r = rows[-1]
            print(f"{name}: {statistics.median(r['before_us']):.0f} -> {statistics.median(r['after_us']):.0f} us"
                  f" ({time.time() - start:.1f} s)", flush=True)
        except Exception:
            print(f"{name}: FAILED {traceback.format_exc()[-700:]}", flush=True)
        with open(os.path.join(a.out, "pairs.json"), "w") as f:
            json.dump({"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0), "pairs": rows}, f, indent=1)


if __name__ == "__main__":
    main()
