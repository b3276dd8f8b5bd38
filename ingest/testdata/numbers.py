#!/usr/bin/env python3
"""Reads real logs, results and monitors with patterns of its own and prints, for each file, the count and the sum of the
values of some metrics in base units: numbers.py CORPUS. TestCorpusNumbers compares them with what assay reads.
"""
import csv
import glob
import json
import os
import re
import sys

TOP = sys.argv[1]
OUT = {}


def text(path):
    with open(path, encoding="utf-8", errors="replace", newline="") as f:
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", f.read())


def put(path, key, values):
    values = [float(v) for v in values]
    OUT.setdefault(os.path.relpath(path, TOP), {})[key] = [len(values), sum(values)]


def each(pattern):
    found = sorted(glob.glob(os.path.join(TOP, pattern)))
    if not found:
        sys.exit("no file " + pattern)
    return found


for path in each("series/dcgm/*/dmon.csv"):
    rows = list(csv.reader(open(path)))
    for field, key in (("power_usage_instant", "gpu.power"), ("gpu_utilization", "gpu.util")):
        values = [float(r[3]) for r in rows[1:] if len(r) == 4 and r[2] == field and re.fullmatch(r"[\d.]+", r[3])]
        if values:
            put(path, key + "@" + field, [v / 100 for v in values] if key == "gpu.util" else values)

for path in each("series/deepspeed/*/opt-1.3b*.log"):
    # every rank prints, so a step counts once
    last = {}
    for step, value in re.findall(r"global_step=(\d+), RunningAvgSamplesPerSec=[\d.]+, CurrSamplesPerSec=([\d.]+)", text(path)):
        last[step] = value
    put(path, "throughput.samples@CurrSamplesPerSec", last.values())

for path in each("series/loadgen/*/results*_stats_history.csv"):
    rows = list(csv.DictReader(open(path)))
    put(path, "serving.concurrency@User Count", [r["User Count"] for r in rows])
    put(path, "throughput.requests@Requests/s", [r["Requests/s"] for r in rows])
    put(path, "B serving.e2e mean", [float(rows[-1]["Total Average Response Time"]) * 1e6])
    put(path, "B serving.e2e p99", [float(rows[-1]["99%"]) * 1e6])
    put(path, "B requests.sent ", [rows[-1]["Total Request Count"]])

for path in each("series/loadgen/ray-project*/*.json"):
    d = json.load(open(path))
    put(path, "B serving.ttft p99", [d["results_ttft_s_quantiles_p99"] * 1e9])
    put(path, "B serving.itl mean", [d["results_inter_token_latency_s_mean"] * 1e9])
    put(path, "B throughput.requests ", [d["results_num_completed_requests_per_min"] / 60])

for path in each("series/loadgen/scottgal*/k6-summary.json"):
    d = json.load(open(path))["metrics"]
    values = lambda m: m.get("values", m)
    put(path, "B serving.e2e p95", [values(d["http_req_duration"])["p(95)"] * 1e6])
    put(path, "B throughput.requests ", [values(d["http_reqs"])["rate"]])

for path in each("series/mlperf/thien*/mlperf_log_summary.txt"):
    t = text(path)
    put(path, "B serving.e2e mean", re.findall(r"Mean latency \(ns\) *: *([\d.]+)", t))
    put(path, "B serving.e2e p99", re.findall(r"\n99\.00 percentile latency \(ns\) *: *([\d.]+)", t))

for path in each("series/mlperf/mlcommons*/*.txt"):
    accuracy = []
    for line in text(path).splitlines():
        _, mark, rest = line.partition(":::MLLOG ")
        if mark:
            record = json.loads(rest)
            if record["key"] == "eval_accuracy":
                accuracy.append(record["value"])
    put(path, "eval_accuracy@eval_accuracy", accuracy)

for path in each("series/nvidia_smi/guanqun*/gpu_usage.log"):
    rows = re.findall(r"(\d+)C +P\d+ +(\d+)W */ *\d+W *\| *(\d+)MiB */ *\d+MiB *\| *(\d+)%", text(path))
    put(path, "gpu.util@util", [float(r[3]) / 100 for r in rows])
    put(path, "gpu.power@power", [r[1] for r in rows])
    put(path, "memory.used@memory", [float(r[2]) * 1048576 for r in rows])

for path in each("series/gpu_metrics/*/*.metrics"):
    lines = [line for line in text(path).splitlines() if re.match(r"nvidia_smi_power_draw_watts\{", line)]
    if lines:
        put(path, "gpu.power@nvidia_smi_power_draw_watts", [line.split()[-1] for line in lines])

for path in each("series/sysmon/*/*vmstat*"):
    waits, names, first = [], [], True
    for line in text(path).splitlines():
        words = line.split()
        if "swpd" in words and "wa" in words:
            names = words
        elif names and len(words) >= 17 and words[0].isdigit():
            wait = float(words[names.index("wa")]) / 100
            if not first and wait <= 1.02:  # the first row is the mean since the start; one has 3035110221 %
                waits.append(wait)
            first = False
    put(path, "host.iowait@wa", waits)

for path in each("series/sysmon/*/*mpstat-A*"):
    idle = []
    names = []
    for line in text(path).splitlines():
        words = line.split()
        if "%idle" in words:
            names = words
        elif "CPU" in words or not words or words[0].startswith("Average"):
            if "CPU" in words:
                names = []
        elif names and len(words) == len(names) and re.match(r"\d\d:", words[0]):
            idle.append(float(words[names.index("%idle")]) / 100)
    put(path, "host.cpu_idle@%idle", idle)

for path in each("series/sysmon/*/*pidstat-hl.out"):
    use, names = [], []
    for line in text(path).splitlines():
        words = line.lstrip("#").split()
        if "PID" in words:
            names = words
        elif names and len(words) >= len(names):
            use.append(float(words[names.index("%CPU")]) / 100)
    put(path, "host.process_cpu@%CPU", use)

for path in each("series/trl_hf/*/gyang16.log"):
    losses = re.findall(r"\{'loss': ([\d.]+), 'grad_norm'", text(path))
    put(path, "train.loss@loss", losses)

for path in each("formats/sysmon/nvidia-smi_query*.csv"):
    rows = [[c.strip() for c in r] for r in csv.reader(open(path))]
    at = next(i for i, name in enumerate(rows[0]) if name.startswith("utilization.gpu"))
    put(path, "gpu.util@utilization.gpu", [float(r[at].split()[0]) / 100 for r in rows[1:] if len(r) == len(rows[0]) and r[at][:1].isdigit()])

for path in each("formats/sysmon/nvidia-smi_dmon_s_m_8gpu.txt"):
    names, used = [], []
    for line in text(path).splitlines():
        words = line.split()
        if words[:2] == ["#", "gpu"]:
            names = words[1:]
        elif names and len(words) == len(names) and words[0].isdigit():
            used.append(float(words[names.index("fb")]) * 1048576)
    put(path, "memory.used@fb", used)

json.dump(OUT, sys.stdout, indent=1)
