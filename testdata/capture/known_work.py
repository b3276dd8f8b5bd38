#!/usr/bin/env python3
"""Run operators of known work on the CPU, and record their arguments.

Runs with PyTorch 1.13, CPU only, as Debian 12 packages it:

    python3 known_work.py OUT

OUT receives two files:

    known_work.json.gz          Chrome trace: each call with its arguments
    known_work.labels.json.gz   FLOPs and bytes of each call, in the same order

The arguments are those that ExecutionGraphObserver recorded: names, dimensions, types and values. That PyTorch is built
without Kineto, so this script writes them in the layout of Kineto, and adds the strides of the tensors that it passed.

FLOPs follow from the sizes of the tensors, in closed form. Bytes are counted: an argument has as many as there are distinct
addresses among its elements, a result as many as its elements. This script knows nothing of how assay counts.
"""
import gzip
import json
import os
import sys
import tempfile
import time

import torch
from torch.profiler import ExecutionGraphObserver

import known_work_cases


def stored(t):
    """Returns the bytes that exist of a tensor: those of distinct addresses. Tensors without dimensions are left out."""
    if t.dim() == 0:
        return 0
    at = torch.zeros(1, dtype=torch.long)
    for size, stride in zip(t.shape, t.stride()):
        at = (at[:, None] + torch.arange(size)[None, :] * stride).reshape(-1)
    return at.unique().numel() * t.element_size()


def declared(t):
    """Returns the bytes of a tensor as if each of its elements existed."""
    return t.numel() * t.element_size() if t.dim() else 0


def tensors(args):
    """Yields the tensors among arguments, also those of lists."""
    for a in args:
        if isinstance(a, torch.Tensor):
            yield a
        elif isinstance(a, (list, tuple)):
            yield from tensors(a)


def label_of(case, results):
    """Returns the label of a call."""
    results = list(tensors(results if isinstance(results, (list, tuple)) else [results]))
    read = case.reads if case.reads is not None else list(tensors(list(case.args) + list(case.kwargs.values())))
    written = case.writes if case.writes is not None else results[:1]
    written = sum(t.numel() * t.element_size() for t in written)
    out = {"op": case.name, "flops": case.flops(results[0] if results else None) if callable(case.flops) else case.flops}
    if case.bytes is not None:
        out["bytes"] = out["bytes_without_strides"] = case.bytes(results[0]) if callable(case.bytes) else case.bytes
    else:
        out["bytes"] = sum(map(stored, read)) + written
        out["bytes_without_strides"] = sum(map(declared, read)) + written
    for field in ("flops", "bytes"):
        if why := case.unknown.get(field):
            out[field], out[field + "_unknown"] = None, why
    if "bytes_unknown" in out:
        out["bytes_without_strides"] = None
    out["needs_values"] = sorted(case.needs)
    if case.kernel:
        out["kernel"] = case.kernel
    return out


TYPES = {"Int": "Scalar", "Double": "Scalar", "Bool": "Scalar"}


def type_of(recorded):
    """Returns a type in the words of Kineto."""
    if recorded.startswith("Tensor(nullptr"):
        return ""
    if recorded.startswith("Tensor("):
        return recorded[len("Tensor("):-1]
    if recorded.startswith("GenericList[Tensor"):
        return "TensorList"
    if recorded.startswith("GenericList["):
        return "ScalarList"
    return TYPES.get(recorded, "")


def value_of(kind, value):
    """Returns a value as Kineto prints it: 17 digits, and a point for each number that is not whole."""
    if kind == "ScalarList":
        return "[" + ", ".join(value_of("Scalar", v) for v in value) + "]"
    if kind != "Scalar":
        return ""
    if isinstance(value, float):
        text = f"{value:.17g}"
        return text if any(c in text for c in ".en") else text + "."
    return str(value)


def layout_of(arg, of):
    """Returns the sizes or strides of a tensor or of a list of tensors, [] of all else."""
    if isinstance(arg, torch.Tensor):
        return list(of(arg))
    if isinstance(arg, (list, tuple)) and arg and all(isinstance(a, torch.Tensor) for a in arg):
        return [list(of(a)) for a in arg]
    return []


def in_order(case):
    """Returns the arguments of a call in the order of the operator's schema, with None for those not given."""
    names = [a.name for a in case.op._schema.arguments]
    given = dict(zip(names, case.args)) | case.kwargs
    return [given.get(name) for name in names]


def event_of(node, shapes_passed, strides, start, end):
    types = [type_of(t) for t in node["input_types"]]
    shapes = [s if t and t not in ("Scalar", "ScalarList") else [] for s, t in zip(node["input_shapes"], types)]
    assert shapes == shapes_passed, (node["name"], shapes, shapes_passed)
    return {
        "ph": "X", "cat": "cpu_op", "name": node["name"], "pid": 4217, "tid": 4217, "ts": start / 1000, "dur": (end - start) / 1000,
        "args": {
            "External id": node["rf_id"],
            "Concrete Inputs": [value_of(t, v) for t, v in zip(types, node["inputs"])],
            "Input type": types,
            "Input Dims": shapes,
            "Input Strides": strides,
        },
    }


def record(cases):
    """Runs the cases. Returns the nodes of the calls with sizes, strides and times, and the results."""
    with tempfile.NamedTemporaryFile() as f:
        observer = ExecutionGraphObserver()
        observer.register_callback(f.name)
        measured, results = [], []
        observer.start()
        zero = time.perf_counter_ns()
        for case in cases:
            # A call may change its arguments.
            layouts = [[layout_of(a, of) for a in in_order(case)] for of in (torch.Tensor.size, torch.Tensor.stride)]
            start = time.perf_counter_ns()
            results.append(case.op(*case.args, **case.kwargs))
            measured.append((*layouts, start - zero, time.perf_counter_ns() - zero))
        observer.stop()
        observer.unregister_callback()
        with open(f.name) as written:
            nodes = json.load(written)["nodes"]
    root = min(n["id"] for n in nodes if "thread" in n["name"])
    calls = sorted((n for n in nodes if n["parent"] == root), key=lambda n: n["rf_id"])
    assert [n["name"] for n in calls] == [c.name for c in cases], [(n["name"], c.name) for n, c in zip(calls, cases) if n["name"] != c.name][:5]
    return [(n, *m) for n, m in zip(calls, measured)], results


def save(path, value):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as f:
        f.write(json.dumps(value, separators=(",", ":")).encode())


def main():
    out = sys.argv[1]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    cases = known_work_cases.cases()
    calls, results = record(cases)
    events = [event_of(*c) for c in calls]
    labels = [label_of(c, r) for c, r in zip(cases, results)]
    save(os.path.join(out, "known_work.json.gz"), {"schemaVersion": 1, "traceEvents": events})
    save(os.path.join(out, "known_work.labels.json.gz"), labels)
    print(f"{len(events)} calls of {len({e['name'] for e in events})} operators")


if __name__ == "__main__":
    main()
