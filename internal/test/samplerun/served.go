package samplerun

import (
	"fmt"
	"slices"
	"strconv"

	"assay/summary"
)

// addValues adds a series with a value each ten seconds.
func addValues(s *summary.Summary, metric, of, producer string, labels map[string]string, values []float64) {
	sorted := slices.Sorted(slices.Values(values))
	n, sum := len(values), 0.0
	strip := &summary.SeriesStrip{By: "time", Values: values}
	for i, v := range values {
		sum += v
		strip.X = append(strip.X, int64(i)*10*Sec)
	}
	median, mean := (sorted[(n-1)/2]+sorted[n/2])/2, sum/float64(n)
	s.Series = append(s.Series, summary.Series{Metric: metric, Unit: of, Role: "load", Producer: producer, Name: metric, Labels: labels, N: int64(n),
		Min: &sorted[0], Median: &median, Mean: &mean, Max: &sorted[n-1], Sum: &sum, First: &values[0], Last: &values[n-1], Strip: strip})
}

// Served is the log of a server of two replicas over ten minutes. Replica r has 8(r+1) requests
// in its batch; its queue grows by r in each ten seconds.
func Served() *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "server.log", Format: "log", Complete: true, Events: 60}}, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	for r := range 2 {
		labels := map[string]string{"replica": strconv.Itoa(r)}
		var running, queued, tokens, cache []float64
		for i := range 60 {
			running, queued = append(running, float64(8*(r+1))), append(queued, float64(i*r))
			tokens, cache = append(tokens, float64(400*(r+1)+i)), append(cache, 0.5+float64(i)/150)
		}
		addValues(s, "requests.running", "count", "vLLM", labels, running)
		addValues(s, "requests.queued", "count", "vLLM", labels, queued)
		addValues(s, "throughput.output_tokens", "token/s", "vLLM", labels, tokens)
		addValues(s, "kv_cache.usage", "share", "vLLM", labels, cache)
	}
	return s
}

// Monitored is what a monitor recorded of GPUs: use of g + 1 parts in n, 8 GiB more on each.
func Monitored(n int) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "dmon.csv", Format: "log", Complete: true, Events: 30}}, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	for g := range n {
		var use, memory, power []float64
		for i := range 30 {
			use, memory, power = append(use, float64(g+1)/float64(n)), append(memory, float64(8*(g+1))*(1<<30)), append(power, float64(300+i))
		}
		labels := map[string]string{"gpu": strconv.Itoa(g)}
		addValues(s, "gpu.util", "share", "nvidia-smi dmon", labels, use)
		addValues(s, "memory.used", "byte", "nvidia-smi dmon", labels, memory)
		addValues(s, "gpu.power", "watt", "nvidia-smi dmon", labels, power)
	}
	return s
}

// Benchmarked are the results of a benchmark at request rates of 1, 2, 4 and so on: 400 tokens
// per second and request at the first n-1 rates, and no more at the last. TTFT doubles with the
// rate from 50 ms on; p99 is four times the median.
func Benchmarked(n int) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	for i := range n {
		rate := 1 << i
		s.Inputs = append(s.Inputs, summary.Input{Path: fmt.Sprintf("bench-%d.json", rate), Format: "benchmark", Complete: true, Events: 1})
		ttft := float64(50*MS) * float64(rate)
		figure := func(metric, stat, of, role string, v float64) summary.Figure {
			return summary.Figure{Metric: metric, Stat: stat, Name: metric, Unit: of, Role: role, Value: v}
		}
		s.Benchmarks = append(s.Benchmarks, summary.Benchmark{Input: i, Producer: "vLLM bench serve", Settings: map[string]string{"request_rate": strconv.Itoa(rate), "dataset_name": "random"}, Metrics: []summary.Figure{
			figure("throughput.output_tokens", "", "token/s", "throughput", float64(400*min(rate, 1<<max(0, n-2)))),
			figure("serving.ttft", "median", "ns", "latency", ttft), figure("serving.ttft", "p99", "ns", "latency", 4*ttft), figure("serving.ttft", "mean", "ns", "latency", 2*ttft),
			figure("serving.tpot", "median", "ns", "latency", float64(20*MS)), figure("serving.tpot", "p90", "ns", "latency", float64(25*MS)), figure("serving.tpot", "p99", "ns", "latency", float64(30*MS)),
		}})
	}
	return s
}

// StrangeServer has names that pictures must not show as they are, in the places of a server.
func StrangeServer() *summary.Summary {
	s := Served()
	for i := range s.Series {
		s.Series[i].Producer = HostileNames()[0]
		s.Series[i].Labels = map[string]string{"replica": HostileNames()[i%len(HostileNames())]}
	}
	for i, b := range Benchmarked(4).Benchmarks {
		b.Input, b.Producer = 0, HostileNames()[1%len(HostileNames())]
		b.Settings["request_rate"] = HostileNames()[i%len(HostileNames())]
		b.Settings["model"] = HostileNames()[(i+1)%len(HostileNames())]
		s.Benchmarks = append(s.Benchmarks, b)
	}
	return s
}
