#!/usr/bin/env python3
"""Profile small CPU workloads with torch.profiler and export what it writes.

Runs with PyTorch 1.12 or newer, CPU only. A PyTorch built without Kineto, such as Debian's, writes the older format of
its own exporter, which has no categories and no arguments:

    python3 cpu_capture.py OUT

OUT receives, for a plain run and for one with stacks, modules, shapes and memory:

    torchVVV_cpu_mlp[_stack].json.gz   Chrome trace
    torchVVV_cpu_mlp[_stack].txt       key_averages().table()

where VVV is PyTorch's version without dots. What could name the machine is replaced: the directories of PyTorch, of
Python's library and of this script become "torch", "python" and "demo"; the process and thread ids become 4217 and up.
Times, names, shapes and the file's layout stay as the profiler wrote them.
"""
import gzip
import json
import os
import re
import sys
import sysconfig
import tempfile

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, TensorDataset


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(64, 128)
        self.norm = nn.LayerNorm(128)
        self.down = nn.Linear(128, 10)

    def forward(self, x):
        return self.down(torch.relu(self.norm(self.up(x))))


def train_step(model, loss_of, optimizer, x, y):
    with record_function("forward"):
        loss = loss_of(model(x), y)
    with record_function("backward"):
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()
    return loss.item()


def train(prof, steps):
    """Runs that many steps and tells the profiler at the end of each."""
    torch.manual_seed(0)
    data = DataLoader(TensorDataset(torch.randn(32 * steps, 64), torch.randint(0, 10, (32 * steps,))), batch_size=32)
    model, loss_of = Mlp(), nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    for x, y in data:
        train_step(model, loss_of, optimizer, x, y)
        prof.step()


def capture(out, name, active, **options):
    """Profiles `active` steps after one that is waited for and one of warm-up."""
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=active), **options) as prof:
        train(prof, active + 2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        prof.export_chrome_trace(path)
        with open(path, encoding="utf-8") as f:
            text = scrub(f.read(), os.path.dirname(path))
    json.loads(text)  # what was scrubbed must not have broken it
    with open(os.path.join(out, name + ".json.gz"), "wb") as f:
        with gzip.GzipFile(filename="", mode="wb", fileobj=f, mtime=0) as z:
            z.write(text.encode())
    averages = prof.key_averages(group_by_input_shape=bool(options.get("record_shapes")))
    table = averages.table(sort_by="self_cpu_time_total", row_limit=20)
    with open(os.path.join(out, name + ".txt"), "w", encoding="utf-8") as f:
        f.write(scrub(table, folder))


def scrub(text, folder):
    """Returns text without the machine's directories, process and thread ids."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path, neutral in [
        (os.path.dirname(torch.__file__), "torch"),
        (sysconfig.get_paths()["stdlib"], "python"),
        (folder, "demo"),
        (here, "demo"),
    ]:
        text = text.replace(path + "/", neutral + "/")
    text = text.replace(os.path.basename(__file__), "train.py")
    ids = [os.getpid()]
    for tid in map(int, re.findall(r'"tid": (\d+)', text)):
        if tid not in ids and tid > 1000:
            ids.append(tid)
    number = {str(old): str(4217 + i) for i, old in enumerate(ids)}
    return re.sub(r'("(?:pid|tid|sort_index)": |thread )(\d+)', lambda m: m[1] + number.get(m[2], m[2]), text)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: cpu_capture.py OUT")
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    torch.set_num_threads(1)
    stem = "torch" + "".join(re.findall(r"\d+", torch.__version__)[:2]) + "_cpu_mlp"
    capture(out, stem, active=3)
    capture(out, stem + "_stack", active=2, with_stack=True, with_modules=True, record_shapes=True, profile_memory=True)


if __name__ == "__main__":
    main()
