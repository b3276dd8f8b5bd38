package monitor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// prometheus collects the histograms of one page of metrics.
type prometheus struct {
	hists map[string]*histogram
	order []string
	pages map[string]int // how often a sample was seen: each scrape has it once
}

// A histogram has cumulative counts of values up to limits.
type histogram struct {
	name   string
	labels []logs.Label
	sum    float64
	count  float64
	known  bool // sum and count were read
	bounds []bound
}

type bound struct{ limit, count float64 }

const promProducer = "Prometheus"

// promMetrics are samples with a canonical name, and the factor of their values.
var promMetrics = map[string]struct {
	metric string
	factor float64
}{
	"vllm:num_requests_running": {"requests.running", 1}, "vllm:num_requests_waiting": {"requests.queued", 1}, "vllm:num_requests_swapped": {"requests.swapped", 1},
	"vllm:kv_cache_usage_perc": {"kv_cache.usage", 1}, "vllm:gpu_cache_usage_perc": {"kv_cache.usage", 1}, "vllm:cpu_cache_usage_perc": {"kv_cache.cpu_usage", 1},
	"vllm:avg_prompt_throughput_toks_per_s": {"throughput.input_tokens", 1}, "vllm:avg_generation_throughput_toks_per_s": {"throughput.output_tokens", 1}, "vllm:gpu_prefix_cache_hit_rate": {"kv_cache.hit_rate", 1},
	"sglang:num_running_reqs": {"requests.running", 1}, "sglang:num_queue_reqs": {"requests.queued", 1}, "sglang:token_usage": {"kv_cache.usage", 1}, "sglang:num_used_tokens": {"tokens.in_cache", 1},
	"sglang:gen_throughput": {"throughput.output_tokens", 1}, "sglang:cache_hit_rate": {"kv_cache.hit_rate", 1}, "sglang:spec_accept_length": {"spec.accept_length", 1},
	"DCGM_FI_DEV_GPU_UTIL": {"gpu.util", 0.01}, "DCGM_FI_DEV_MEM_COPY_UTIL": {"gpu.memory_util", 0.01}, "DCGM_FI_DEV_POWER_USAGE": {"gpu.power", 1}, "DCGM_FI_DEV_GPU_TEMP": {"gpu.temperature", 1},
	"DCGM_FI_DEV_MEMORY_TEMP": {"gpu.memory_temperature", 1}, "DCGM_FI_DEV_SM_CLOCK": {"gpu.clock", 1e6}, "DCGM_FI_DEV_MEM_CLOCK": {"gpu.memory_clock", 1e6}, "DCGM_FI_DEV_FB_USED": {"memory.used", 1 << 20},
	"DCGM_FI_PROF_GR_ENGINE_ACTIVE": {"gpu.util_graphics", 1}, "DCGM_FI_PROF_SM_ACTIVE": {"gpu.sm_active", 1}, "DCGM_FI_PROF_SM_OCCUPANCY": {"gpu.sm_occupancy", 1}, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": {"gpu.tensor_active", 1}, "DCGM_FI_PROF_DRAM_ACTIVE": {"gpu.dram_active", 1},
	"nvidia_smi_utilization_gpu_ratio": {"gpu.util", 1}, "nvidia_smi_utilization_memory_ratio": {"gpu.memory_util", 1}, "nvidia_smi_power_draw_watts": {"gpu.power", 1}, "nvidia_smi_temperature_gpu": {"gpu.temperature", 1},
	"nvidia_smi_memory_used_bytes": {"memory.used", 1}, "nvidia_smi_clocks_current_sm_clock_hz": {"gpu.clock", 1}, "nvidia_smi_clocks_current_memory_clock_hz": {"gpu.memory_clock", 1},
}

// promLatencies are histograms of times in seconds with a canonical name.
var promLatencies = map[string]string{
	"vllm:time_to_first_token_seconds": "serving.ttft", "vllm:time_per_output_token_seconds": "serving.tpot", "vllm:inter_token_latency_seconds": "serving.itl", "vllm:e2e_request_latency_seconds": "serving.e2e", "vllm:request_time_per_output_token_seconds": "serving.tpot",
	"sglang:time_to_first_token_seconds": "serving.ttft", "sglang:time_per_output_token_seconds": "serving.tpot", "sglang:inter_token_latency_seconds": "serving.itl", "sglang:e2e_request_latency_seconds": "serving.e2e",
}

// promLine reads a line of a page, and reports whether it is one.
func (f *Finder) promLine(text string) bool {
	if text == "" {
		return true
	}
	if strings.HasPrefix(text, "#") {
		return strings.HasPrefix(text, "# HELP ") || strings.HasPrefix(text, "# TYPE ") || strings.HasPrefix(text, "# EOF")
	}
	name, labels, value, at, ok := sample(text)
	if !ok {
		return false
	}
	p := &f.prom
	if p.hists == nil {
		p.hists, p.pages = map[string]*histogram{}, map[string]int{}
	}
	f.b.Record(promProducer, false)
	f.time = logs.NoTime
	if at > 0 {
		f.time = at * 1e6
		f.b.Clock(f.time, true, true)
	}
	if base, part, ok := cutPart(name); ok {
		p.histogram(base, part, labels, value)
		return true
	}
	if strings.HasSuffix(name, "_created") || strings.HasSuffix(name, "_info") {
		return true
	}
	metric, factor := logs.Unnamed(name), 1.0
	if m, ok := promMetrics[name]; ok {
		metric, _ = logs.MetricOf(m.metric)
		factor = m.factor
	}
	f.b.Add(f.b.Of(metric, promProducer, name, places(labels), f.at), value*factor, logs.NoStep, f.time, 0)
	return true
}

// sample parses "name{labels} value [time]".
func sample(text string) (name string, labels []logs.Label, value float64, at int64, ok bool) {
	i := 0
	for i < len(text) && (text[i] == '_' || text[i] == ':' || text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z' || i > 0 && text[i] >= '0' && text[i] <= '9') {
		i++
	}
	if i == 0 || i >= len(text) {
		return "", nil, 0, 0, false
	}
	name, rest := text[:i], text[i:]
	if rest[0] == '{' {
		if labels, rest, ok = labelsOf(rest[1:]); !ok {
			return "", nil, 0, 0, false
		}
	}
	words := strings.Fields(rest)
	if len(words) == 0 || len(words) > 2 || rest[0] != ' ' && rest[0] != '\t' {
		return "", nil, 0, 0, false
	}
	value, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		return "", nil, 0, 0, false
	}
	if len(words) == 2 {
		if at, err = strconv.ParseInt(words[1], 10, 64); err != nil || at > 1<<43 || at < 0 {
			return "", nil, 0, 0, false
		}
	}
	return name, labels, value, at, true
}

// labelsOf parses labels behind their brace, and returns what is behind them.
func labelsOf(text string) (labels []logs.Label, rest string, ok bool) {
	for {
		text = strings.TrimLeft(text, " ,")
		if strings.HasPrefix(text, "}") {
			return labels, text[1:], true
		}
		name, after, found := strings.Cut(text, "=\"")
		if !found || len(labels) > 64 {
			return nil, "", false
		}
		var v strings.Builder
		i := 0
		for ; i < len(after) && after[i] != '"'; i++ {
			if after[i] == '\\' && i+1 < len(after) {
				if i++; after[i] == 'n' {
					v.WriteByte('\n')
					continue
				}
			}
			v.WriteByte(after[i])
		}
		if i >= len(after) {
			return nil, "", false
		}
		labels = append(labels, logs.Label{Name: name, Value: v.String()})
		text = after[i+1:]
	}
}

// places returns the labels that name a place, such as a GPU or a rank. It drops labels that
// describe the installation.
func places(labels []logs.Label) []logs.Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l logs.Label) bool {
		switch l.Name {
		case "model_name", "Hostname", "modelName", "DCGM_FI_DRIVER_VERSION", "pci_bus_id", "job", "le":
			return true
		}
		return false
	})
}

// cutPart splits the name of a part of a histogram.
func cutPart(name string) (base, part string, ok bool) {
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, part); ok {
			return base, part, true
		}
	}
	return "", "", false
}

// histogram adds a part of a histogram. A repeated part is from a later scrape and replaces
// the earlier one.
func (p *prometheus) histogram(base, part string, labels []logs.Label, value float64) {
	at := places(labels)
	key := base
	for _, l := range at {
		key += "\x00" + l.Name + "=" + l.Value
	}
	h := p.hists[key]
	if h == nil {
		if len(p.order) >= 4096 {
			return
		}
		h = &histogram{name: base, labels: at}
		p.hists[key] = h
		p.order = append(p.order, key)
	}
	switch part {
	case "_sum":
		h.sum = value
	case "_count":
		h.count, h.known = value, true
	case "_bucket":
		for _, l := range labels {
			if l.Name != "le" {
				continue
			}
			limit, err := strconv.ParseFloat(l.Value, 64)
			if err != nil || math.IsNaN(limit) {
				return
			}
			if i := slices.IndexFunc(h.bounds, func(b bound) bool { return b.limit == limit }); i >= 0 {
				h.bounds[i].count = value
			} else if len(h.bounds) < 1024 {
				h.bounds = append(h.bounds, bound{limit, value})
			}
		}
	}
}

// endProm adds the histograms of times of the last page as one result, with means and upper
// bounds of percentiles.
func (f *Finder) endProm() {
	byPlace := map[string]*logs.Benchmark{}
	var order []string
	for _, key := range f.prom.order {
		h := f.prom.hists[key]
		name, ok := promLatencies[h.name]
		if !ok || !h.known || !(h.count > 0) {
			continue
		}
		place := ""
		for _, l := range h.labels {
			place += l.Name + "=" + l.Value + " "
		}
		b := byPlace[place]
		if b == nil {
			b = &logs.Benchmark{Producer: "Prometheus, since the start of the server", Title: strings.TrimSpace(place), Time: logs.NoTime, Settings: h.labels}
			byPlace[place] = b
			order = append(order, place)
		}
		metric, _ := logs.MetricOf(name)
		b.Metrics = append(b.Metrics, logs.Figure{Metric: metric, Stat: "mean", As: h.name + "_sum / _count", Value: h.sum / h.count * 1e9})
		for _, q := range []float64{0.5, 0.99} {
			limit, over := h.quantile(q)
			stat := fmt.Sprintf("p%g at most", q*100)
			if over {
				stat = fmt.Sprintf("p%g over", q*100)
			}
			b.Metrics = append(b.Metrics, logs.Figure{Metric: metric, Stat: stat, As: h.name + "_bucket", Value: limit * 1e9})
		}
	}
	for _, place := range order {
		f.b.Benchmark(*byPlace[place], diag.Pos{File: f.name})
	}
}

// quantile returns the upper limit of the bucket with a quantile. If that bucket has no upper
// limit, it returns the largest finite limit and true: the quantile is greater than it.
func (h *histogram) quantile(q float64) (limit float64, over bool) {
	slices.SortFunc(h.bounds, func(a, b bound) int { return cmp.Compare(a.limit, b.limit) })
	last := 0.0
	for _, b := range h.bounds {
		if math.IsInf(b.limit, 1) {
			break
		}
		last = b.limit
		if b.count >= q*h.count {
			return b.limit, false
		}
	}
	return last, true
}
