#!/usr/bin/env python3
"""Writes the files that the tuning guides of docs/guides.md tell to make, in the formats of
their programs: python3 testdata/guides/make.py. All numbers follow from the constants below.
"""
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, text):
    with open(os.path.join(HERE, name), "w", newline="\n") as f:
        f.write(text)


def verl():
    """veRL: 12 steps, generation half of each, and what vLLM logs every ten seconds."""
    rng, out = random.Random(1), []
    for step in range(1, 13):
        gen, old, ref = 60 + rng.uniform(-2, 2), 9.0, 8.5
        actor = 30 + rng.uniform(-1, 1)
        adv, weights = 0.25, 6.0
        total = gen + old + ref + actor + adv + weights + 1.0
        if step == 1:
            gen, total = gen + 45, total + 45
        for tick in range(int(gen // 10)):
            running = 64 - tick * 6
            minute, second = divmod((step - 1) * 3 * 60 + tick * 10, 60)
            hour, minute = divmod(minute, 60)
            out.append(f"(WorkerDict pid=4242) INFO 03-02 {9 + hour:02d}:{minute:02d}:{second:02d} [loggers.py:122] Engine 000: "
                       f"Avg prompt throughput: {0.0 if tick else 5200.0:.1f} tokens/s, Avg generation throughput: {2600 - 150 * tick:.1f} tokens/s, "
                       f"Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: {12 + tick:.1f}%, Prefix cache hit rate: 31.5%")
        out.append(f"(TaskRunner pid=3860) step:{step} - global_seqlen/mean:{180000 + step * 100} - actor/pg_loss:{0.01 / step:.6f} - actor/grad_norm:0.4 - "
                   f"critic/rewards/mean:{0.1 + step * 0.02:.3f} - response_length/mean:{600 + 10 * step}.0 - response_length/clip_ratio:0.02 - "
                   f"perf/total_num_tokens:{1440000 + 800 * step} - perf/max_memory_allocated_gb:52.5 - perf/max_memory_reserved_gb:61.25 - perf/mfu/actor:0.31 - "
                   f"timing_s/gen:{gen:.3f} - timing_s/old_log_prob:{old} - timing_s/ref:{ref} - timing_s/adv:{adv} - timing_s/update_actor:{actor:.3f} - "
                   f"timing_s/update_weights:{weights} - timing_s/step:{total:.3f} - perf/throughput:{(1440000 + 800 * step) / total / 8:.3f}")
    write("verl_train.log", "\n".join(out) + "\n")


def sglang():
    """SGLang: what the three benchmarks print or write, and the log of the server."""
    rng = random.Random(2)
    rows = ["Warmup ...", "Prefill. latency: 1.20000 s, throughput:   6826.67 token/s", "Decode.  latency: 0.04000 s, throughput:    800.00 token/s",
            "Decode.  median latency: 0.00900 s, median throughput:   3555.56 token/s", "Total. latency:  1.500 s, throughput:   6144.00 token/s",
            "Benchmark ...", "Prefill. latency: 0.16000 s, throughput:  51200.00 token/s", "Decode 0. Batch size: 32, latency: 0.00800 s, throughput:   4000.00 token/s",
            "Decode 1. Batch size: 32, latency: 0.00790 s, throughput:   4050.63 token/s",
            "Decode.  median latency: 0.00795 s, median throughput:   4025.16 token/s", "Total. latency:  0.412 s, throughput:  22368.93 token/s"]
    write("sglang_one_batch.txt", "\n".join(rows) + "\n")
    table = ["====== Offline Throughput Benchmark Result =======", "Backend:                                 engine    ",
             "Successful requests:                     10        ", "Benchmark duration (s):                  2.50      ",
             "Total input tokens:                      3200      ", "Total generated tokens:                  2000      ",
             "Last generation throughput (tok/s):      640.00    ", "Request throughput (req/s):              4.00      ",
             "Input token throughput (tok/s):          1280.00   ", "Output token throughput (tok/s):         800.00    ",
             "Total token throughput (tok/s):          2080.00   ", "=" * 50]
    write("sglang_offline.txt", "\n".join(table) + "\n")
    results = []
    for rate, ttft, tpot, out in ((4, 45.0, 9.0, 1020), (8, 52.0, 9.8, 2035), (16, 78.0, 12.5, 3980), (32, 940.0, 27.0, 4410), (float("inf"), 8200.0, 31.0, 4450)):
        duration = 1000 * 128 / out
        results.append(json.dumps({
            "backend": "sglang", "dataset_name": "random", "request_rate": rate, "max_concurrency": None, "sharegpt_output_len": None,
            "random_input_len": 1024, "random_output_len": 128, "random_range_ratio": 1.0, "duration": round(duration, 3), "completed": 1000,
            "total_input_tokens": 1024000, "total_output_tokens": 128000, "request_throughput": round(1000 / duration, 4),
            "input_throughput": round(1024000 / duration, 2), "output_throughput": float(out),
            "mean_e2e_latency_ms": ttft + 127 * tpot, "median_e2e_latency_ms": ttft + 127 * tpot, "mean_ttft_ms": ttft * 1.1, "median_ttft_ms": ttft,
            "std_ttft_ms": 3.0, "p99_ttft_ms": ttft * 2, "mean_tpot_ms": tpot, "median_tpot_ms": tpot, "p99_tpot_ms": tpot * 1.4,
            "mean_itl_ms": tpot, "median_itl_ms": tpot, "p99_itl_ms": tpot * 3, "concurrency": round(out * (ttft + 127 * tpot) / 128000, 2)}))
    write("sglang_serving.jsonl", "\n".join(results) + "\n")
    log = []
    for i in range(60):
        stamp = f"2026-03-02 09:{i // 6:02d}:{i % 6 * 10:02d}"
        queue = max(0, min(40, i * 2 - 20))
        log.append(f"[{stamp} TP0] Prefill batch, #new-seq: 4, #new-token: {3000 + rng.randrange(200)}, #cached-token: 1000, token usage: {min(0.97, 0.3 + i * 0.02):.2f}, "
                   f"#running-req: {min(48, 8 + i)}, #queue-req: {queue}, ")
        log.append(f"[{stamp} TP0] Decode batch, #running-req: {min(48, 8 + i)}, #token: {1000 * min(97, 30 + 2 * i)}, token usage: {min(0.97, 0.3 + i * 0.02):.2f}, "
                   f"#retracted-req: {1 if i > 40 else 0}, cuda graph: True, gen throughput (token/s): {1900 + rng.randrange(100)}.50, #queue-req: {queue}, ")
    write("sglang_server.log", "\n".join(log) + "\n")


def skyrl():
    """SkyRL: a dictionary for each of 20 steps; weight synchronization is slow and loading of data is too long."""
    rng, out, clock = random.Random(3), [], 36000.0
    for step in range(1, 21):
        generate, train = 20 + rng.uniform(-0.5, 0.5), 9 + rng.uniform(-0.3, 0.3)
        sync, convert = 6.5 + rng.uniform(-0.2, 0.2), 0.8
        total = generate + train + sync + convert + 0.7
        clock += total
        stamp = f"{int(clock // 3600):02d}:{int(clock // 60 % 60):02d}:{clock % 60:06.3f}"
        out.append(f"(skyrl_entrypoint pid=5568) 2026-03-02 {stamp} | INFO     | skyrl_train.utils.tracking:log:108 - Step {step}:")
        out.append(f"(skyrl_entrypoint pid=5568) {{'generate/avg_num_tokens': '{480 + step:.4f}',")
        for key, value in (("reward/avg_raw_reward", 0.1 + step / 50), ("timing/convert_to_training_input", convert), ("timing/generate", generate),
                           ("timing/step", total), ("timing/sync_weights", sync), ("timing/train_critic_and_policy", train)):
            out.append(f"(skyrl_entrypoint pid=5568)  '{key}': '{value:.4f}',")
        out.append(f"(skyrl_entrypoint pid=5568)  'trainer/global_step': {step}}}")
    write("skyrl_train.log", "\n".join(out) + "\n")
    nccl = ["node1:100:100 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>", "node1:100:100 [0] NCCL INFO NCCL version 2.27.3+cuda12.9"]
    for rank in range(4):
        nccl.append(f"node1:{100 + rank}:{200 + rank} [{rank}] NCCL INFO ncclCommInitRankConfig comm 0x55{rank:02d} rank {rank} nranks 4 cudaDev {rank} nvmlDev {rank} busId {rank}000 commId 0xabc123 - Init START")
        nccl.append(f"node1:{100 + rank}:{200 + rank} [{rank}] NCCL INFO comm 0x55{rank:02d} rank {rank} nRanks 4 nNodes 1 localRanks 4 localRank {rank} MNNVL 0")
        for channel in range(2):
            nccl.append(f"node1:{100 + rank}:{200 + rank} [{rank}] NCCL INFO Channel {channel:02d}/0 : {rank}[{rank}] -> {(rank + 1) % 4}[{(rank + 1) % 4}] via P2P/CUMEM")
        nccl.append(f"node1:{100 + rank}:{200 + rank} [{rank}] NCCL INFO 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer")
    write("nccl_info.log", "\n".join(nccl) + "\n")
    write("memory_usage.txt", "".join(f"GPU {gpu}: {50 + gpu + step * 0.5:.1f}GB allocated, {60 + gpu:.1f}GB reserved, 85.0GB total\n" for step in range(5) for gpu in range(2)))
    smi = []
    for second in range(12):
        smi += [f"Mon Mar  2 10:00:{second:02d} 2026       ", "+" + "-" * 77 + "+",
                "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |", "|" + "=" * 41 + "+" + "=" * 24 + "+" + "=" * 22 + "|"]
        for gpu, util in ((0, 92 if second % 4 else 12), (1, 90 if second % 4 else 8)):
            smi += [f"|   {gpu}  NVIDIA H100 80GB HBM3          On  |   00000000:0{gpu + 1}:00.0 Off |                    0 |",
                    f"| N/A   53C    P0             405W /  700W |   61000MiB /  81559MiB |     {util:2d}%      Default |"]
        smi.append("+" + "-" * 77 + "+")
    write("nvidia_smi.txt", "\n".join(smi) + "\n")


def scaling():
    """SkyRL, section 7: the measurement of section 4.1 on several numbers of GPUs."""
    os.makedirs(os.path.join(HERE, "scaling"), exist_ok=True)
    for gpus, samples in ((1, 0.5), (2, 0.9), (4, 1.5), (8, 2.48)):
        write(f"scaling/gpus_{gpus}.txt", f"{{'samples_per_second': {samples}, 'seconds_per_step': {64 / samples:.1f}, 'samples_per_hour': {samples * 3600:.1f}}}\n")


def sfllm():
    """SFLLM: its benchmark at five concurrencies, the log of its server, and the monitors."""
    out = []
    for concurrency, latency, rate in ((1, 0.62, 1.61), (5, 0.70, 7.02), (10, 0.91, 10.75), (20, 1.62, 12.10), (50, 4.02, 12.20)):
        out += [f"Running benchmark with concurrency={concurrency}, requests=100", "Warming up the server...", "Warm-up complete.", "Starting main benchmark...", "",
                "--- Benchmark Results ---", "Total Requests: 100", "Successful: 100 (100.0%)", "Failed: 0 (0.0%)", "", "Latency (seconds):",
                f"  Min: {latency * 0.8:.4f}", f"  Max: {latency * 1.9:.4f}", f"  Avg: {latency * 1.05:.4f}", f"  Median: {latency:.4f}", f"  Std Dev: {latency * 0.2:.4f}", "",
                f"Throughput: {rate:.2f} requests/second", ""]
    write("sfllm_benchmark.txt", "\n".join(out))
    write("sfllm_server.log", "".join(f"Decode batch. #running-req: {8 + i % 4}. gen throughput (token/s): {900 + i}.10, #queue-req p+d: {i % 3}+0, cache usage: {20 + i / 2:.2f}%\n" for i in range(40)))
    dmon = ["# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk  pviol  tviol     fb   bar1  rxpci  txpci",
            "# Idx      W      C      C      %      %      %      %    MHz    MHz      %   bool     MB     MB   MB/s   MB/s"]
    for i in range(20):
        dmon.append(f"    0    {280 + i % 5:3d}     61      -     {55 + i % 7:2d}     {30 + i % 3:2d}      0      0   9501   1905      0      0  18400     12     40     10")
    write("dmon.txt", "\n".join(dmon) + "\n")
    iostat = ["Linux 6.8.0 (node1) \t03/02/2026 \t_x86_64_\t(64 CPU)", ""]
    for i in range(6):
        iostat += ["avg-cpu:  %user   %nice %system %iowait  %steal   %idle", f"          {11 + i:.2f}    0.00    2.10    {0.5 + i * 0.1:.2f}    0.00   {86.3 - 1.1 * i:.2f}", "",
                   "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util",
                   f"nvme0n1        {200 + i:.2f}  25600.00     0.00   0.00    0.{20 + i} {128:.2f}    4.00    120.00     1.00  20.00    0.50    30.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.05  {12 + i:.2f}", "", ""]
    write("iostat.txt", "\n".join(iostat) + "\n")
    write("memory_stats.txt", "".join(f"Allocated: {17 + i / 10:.2f}GB, Cached: {19 + i / 10:.2f}GB\n" for i in range(8)))


def gym():
    """NeMo Gym: a server's profile before and after the answers are verified in parallel."""
    head = "name".ljust(100) + "  " + "ncall".ljust(10) + "  " + "tsub".ljust(8) + "  " + "ttot".ljust(8) + "  " + "tavg".ljust(8)
    rows = {"before": (("verify", 118, 1024, 0.009755, 17.98387), ("_verify_answer", 145, 1024, 0.002933, 17.87998),
                       ("_verify_answer_with_library", 173, 1024, 17.80785, 17.87704), ("_mute_output", 163, 2048, 0.007473, 0.016538)),
            "after": (("verify", 118, 1024, 0.009850, 4.39010), ("_verify_answer", 145, 1024, 0.002950, 4.28110),
                      ("_verify_answer_with_library", 173, 1024, 4.21000, 4.27800), ("_mute_output", 163, 2048, 0.007500, 0.016600))}
    for when, functions in rows.items():
        lines = ["Clock type: CPU", "Ordered by: totaltime, desc", "", head]
        for name, line, calls, own, total in functions:
            lines.append(f"/opt/gym/resources_servers/library_judge_math/app.py:{line} {name}".ljust(100) + f"  {calls:<10}  {own:<8.6f}  {total:<8.5f}  {total / calls:<8.6f}")
        write(f"gym_{when}.json", "\n".join(lines) + "\n")


if __name__ == "__main__":
    verl()
    sglang()
    skyrl()
    scaling()
    sfllm()
    gym()
