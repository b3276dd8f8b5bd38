package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// An offered is one result of a benchmark: the request rate, and medians in ms.
type offered struct {
	rate       string
	ttft, tpot float64
}

// sweepOf returns results of SGLang's bench_serving.
func sweepOf(list ...offered) string {
	var b strings.Builder
	for _, o := range list {
		fmt.Fprintf(&b, `{"backend": "sglang", "dataset_name": "random", "request_rate": %s, "max_concurrency": null, "duration": 60.0, "completed": 100, "total_input_tokens": 1000, "total_output_tokens": 1000, `+
			`"request_throughput": 1.6, "output_throughput": 16.0, "median_ttft_ms": %g, "median_tpot_ms": %g, "mean_ttft_ms": %[2]g, "mean_tpot_ms": %[3]g}`+"\n", o.rate, o.ttft, o.tpot)
	}
	return b.String()
}

// labelledBenchmarks are results of benchmarks of servers.
func labelledBenchmarks() []labelled {
	of := func(name, label, near string, list ...offered) labelled {
		return labelled{name: name, label: label, near: near, in: given(sweepOf(list...))}
	}
	concurrent := func(throughput ...float64) func(*testing.T) *summary.Summary {
		var b strings.Builder
		for i, t := range throughput {
			fmt.Fprintf(&b, `{"num_concurrent_requests": %d, "results_ttft_s_mean": 0.2, "results_mean_output_throughput_token_per_s": %g, "model": "m"}`+"\n", 5<<i, t)
		}
		return given(b.String())
	}
	sizes := func(throughput ...float64) func(*testing.T) *summary.Summary {
		var b strings.Builder
		for i, t := range throughput {
			fmt.Fprintf(&b, `{"engine": {"model": "m"}, "world_info": {"tp_size": %d}, "performance": {"total_latency_ms": 1000, "request_throughput_req_s": %g}}`+"\n", 1<<i, t)
		}
		return given(b.String())
	}
	// One process connects so many channels over each transport.
	connected := func(transports ...string) func(*testing.T) *summary.Summary {
		text := "gpu7:81:81 [3] NCCL INFO comm 0x55aa rank 3 nranks 16 cudaDev 3 busId 1a000 commId 0xc0ffee - Init START\n"
		for i, via := range transports {
			text += fmt.Sprintf("gpu7:81:85 [3] NCCL INFO Channel %02d/0 : 3[3] -> 11[3] [send] via %s\n", i, via)
		}
		return given(text)
	}
	return []labelled{
		{name: "InfiniBand through the host", label: rule.WithoutGPUDirect, in: connected("NET/IB/2", "NET/IB/3", "NET/IB/2", "P2P/IPC")},
		{name: "a plugin through the host for half of the channels", label: rule.WithoutGPUDirect, in: connected("NET/AWS Libfabric/0", "NET/AWS Libfabric/1/GDRDMA")},
		{name: "InfiniBand to the GPU", near: rule.WithoutGPUDirect, in: connected("NET/IB/2/GDRDMA", "NET/IB/3/GDRDMA(PCI)", "SHM/direct")},
		{name: "a plugin to the GPU", near: rule.WithoutGPUDirect, in: connected("NET/AWS Libfabric/0/GDRDMA", "NET/AWS Libfabric/1/GDRDMA", "NET/IB/1")},
		{name: "sockets", near: rule.WithoutGPUDirect, in: connected("NET/Socket/0", "NET/Socket/1")},
		{name: "a fourth concurrency without more throughput", label: rule.ThroughputSaturated, in: concurrent(100, 180, 250, 255)},
		{name: "eight GPUs that are not faster than four", label: rule.ThroughputSaturated, in: sizes(3, 5, 8, 8.2)},
		{name: "throughput that grows with each concurrency", label: "", near: rule.ThroughputSaturated, in: concurrent(100, 180, 250, 310)},
		{name: "58% of the throughput per GPU on eight GPUs", label: rule.PoorScaling, in: onGPUs("run-%d-gpus.log", 12.5, 22.5, 42.5, 58)},
		{name: "43% of the throughput per GPU on four GPUs", label: rule.PoorScaling, in: onGPUs("world_size_%d/train.log", 700, 910, 1204)},
		{name: "80% of the throughput per GPU on eight GPUs", label: "", near: rule.PoorScaling, in: onGPUs("run-%d-gpus.log", 100, 180, 340, 640)},
		{name: "runs whose names state no number of GPUs", label: "", near: rule.PoorScaling, in: onGPUs("run-%d.log", 12.5, 22.5, 42.5, 58)},
		{name: "two loads of the same throughput", label: "", near: rule.ThroughputSaturated, in: concurrent(100, 101)},
		of("a first token after 700 ms at one request per second", rule.SlowFirstToken, rule.SlowNextToken, offered{"1.0", 700, 20}),
		of("first tokens over the target at each load", rule.SlowFirstToken, "", offered{"4.0", 9000, 30}, offered{"1.0", 501, 20}),
		of("a first token that is late at the higher load only", "", rule.SlowFirstToken, offered{"1.0", 120, 20}, offered{"8.0", 90000, 49}),
		of("all requests at once", "", rule.SlowFirstToken, offered{"Infinity", 90000, 60}),
		of("output tokens after 80 ms at one request per second", rule.SlowNextToken, rule.SlowFirstToken, offered{"1.0", 100, 80}),
		of("output tokens over the target at each load", rule.SlowNextToken, "", offered{"1.0", 100, 51}, offered{"2.0", 100, 90}),
		of("output tokens that are slow at the higher load only", "", rule.SlowNextToken, offered{"1.0", 100, 49}, offered{"2.0", 100, 90}),
	}
}

// onGPUs is a training script that was run on 1, 2, 4, … GPUs, with its samples per second on each. The pattern
// names a log by its number of GPUs.
func onGPUs(pattern string, samples ...float64) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		var texts []string
		for _, v := range samples {
			texts = append(texts, fmt.Sprintf("{'samples_per_second': %g, 'seconds_per_step': 2.0, 'samples_per_hour': 1.0}\n", v))
		}
		s := joined(texts...)(t)
		for i := range s.Inputs {
			s.Inputs[i].Path = fmt.Sprintf(pattern, 1<<i)
		}
		return s
	}
}
