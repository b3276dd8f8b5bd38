#!/usr/bin/env python3
"""Write tables of torch.profiler and, beside each, what they were printed from.

Runs with PyTorch 1.13, CPU only:

    python3 make_tables.py OUT

OUT receives NAME.txt, the text of key_averages().table(), and NAME.json, the averages as PyTorch holds them: for each
row in the order of the table its name, whether it is of a device, and its times in microseconds, bytes, calls and
floating-point operations, unrounded. The names that start with "cpu" are of a real run. That of "cuda" is of events that
are made up here, for it takes a GPU to record some, but PyTorch averages and prints them.
"""
import json
import os
import sys

import torch
from torch import nn
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEvent, Kernel
from torch.profiler import ProfilerActivity, profile, record_function


def step(model, optimizer, x, y):
    with record_function("forward_with_a_name_that_is_longer_than_the_column_that_it_goes_to"):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def run(**options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
    step(model, optimizer, x, y)
    with profile(activities=[ProfilerActivity.CPU], **options) as prof:
        for _ in range(3):
            step(model, optimizer, x, y)
    return prof


def averages_of(events, limit):
    return [{
        "name": e.key, "device": e.device_type != DeviceType.CPU, "count": e.count,
        "self_cpu": e.self_cpu_time_total, "cpu_total": e.cpu_time_total,
        "self_device": e.self_cuda_time_total, "device_total": e.cuda_time_total,
        "cpu_bytes": e.cpu_memory_usage, "self_cpu_bytes": e.self_cpu_memory_usage,
        "device_bytes": e.cuda_memory_usage, "self_device_bytes": e.self_cuda_memory_usage,
        "flops": e.flops,
    } for e in events[:limit]]


def write(out, name, averages, sort_by, row_limit=100, **options):
    with open(os.path.join(out, name + ".txt"), "w") as f:
        f.write(averages.table(sort_by=sort_by, row_limit=row_limit, **options))
    ordered = sorted(averages, key=lambda e: getattr(e, sort_by), reverse=True)
    with open(os.path.join(out, name + ".json"), "w") as f:
        json.dump(averages_of(ordered, row_limit), f, indent=0)
        f.write("\n")


def made_up():
    """Two steps on a device: each a matrix product, a kernel of 1.5 µs, an all-reduce, and a copy with negative memory."""
    events = []

    def add(name, start, end, device=DeviceType.CPU, **more):
        e = FunctionEvent(id=len(events), name=name, thread=1, start_us=start, end_us=end, device_type=device, stack=[],
                          is_async=more.pop("is_async", False), **more)
        events.append(e)
        return e

    for i in range(2):
        at = 100_000 * i
        add("ProfilerStep*", at, at + 90_000)
        add("aten::linear", at + 10, at + 1500, cuda_memory_usage=5 << 20)
        addmm = add("aten::addmm", at + 20, at + 1200, cuda_memory_usage=5 << 20)
        add("cudaLaunchKernel", at + 30, at + 60)
        copy = add("aten::copy_", at + 2000, at + 2300, cpu_memory_usage=-1044, cuda_memory_usage=-11424738345)
        reduce = add("nccl:all_reduce", at + 3000, at + 23462, is_async=True)
        for op, kernel, length in ((addmm, "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1", 42_453.25),
                                   (addmm, "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", 1.5),
                                   (copy, "Memcpy DtoD (Device -> Device)", 77.125), (reduce, "ncclKernel_AllReduce_RING_LL_Sum_float", 6313.5)):
            op.kernels.append(Kernel(name=kernel, device=0, duration=length))
            add(kernel, at + 50, at + 50 + length, DeviceType.CUDA)
    events = EventList(events, use_cuda=True, profile_memory=True)
    events._build_tree()
    return events.key_averages()


def main(out):
    os.makedirs(out, exist_ok=True)
    plain = run().key_averages()
    write(out, "cpu", plain, "self_cpu_time_total")
    write(out, "cpu_few", plain, "cpu_time_total", row_limit=4, header="Rank 0, after warm-up", max_name_column_width=None)
    rich = run(profile_memory=True, record_shapes=True, with_flops=True)
    write(out, "cpu_memory_flops", rich.key_averages(), "self_cpu_memory_usage")
    write(out, "cpu_shapes", rich.key_averages(group_by_input_shape=True), "cpu_time_total", row_limit=20)
    write(out, "cpu_stack_flops", run(with_stack=True, with_flops=True).key_averages(group_by_stack_n=3), "self_cpu_time_total", row_limit=8)
    write(out, "cuda", made_up(), "cuda_time_total")


main(sys.argv[1])
