package view

import (
	"slices"
	"strings"

	"assay/summary"
)

// A Service is one metric over several logs of the same program: the replicas of a server, each with its
// own log.
type Service struct {
	Producer, Metric, Name, Phase, Unit string

	Pool   string // how the values are combined: "sum" or "worst"
	Inputs []int
	Values []float64 // for each input: the median, or the sum or worst over the places in it
	Value  float64   // combined over all inputs
}

// served reports whether a metric is reported by inference servers. Logs of trainers are excluded, because
// each may have the numbers of the whole job, which do not add up.
func served(metric string) bool {
	switch metric {
	case "throughput.input_tokens", "throughput.output_tokens", "throughput.total_tokens", "throughput.requests":
		return true
	}
	return strings.HasPrefix(metric, "requests.") || strings.HasPrefix(metric, "serving.")
}

// Services returns the metrics that the logs of several inputs report from one program. Rates and numbers
// of requests are added up; for latencies the worst is taken. Percentiles and shares cannot be combined and
// are left out, and so are servers that are no replicas of each other: see [Servers.Same].
func Services(s *summary.Summary) (out []Service) {
	type key struct{ producer, metric, name, phase string }
	index := map[key]int{}
	pooled := map[key]map[int]bool{}
	of := func(r *summary.Series) key { return key{r.Producer, r.Metric, r.Name, r.Labels["phase"]} }
	for i := range s.Series {
		if r := &s.Series[i]; r.Pooled > 0 {
			k := of(r)
			if pooled[k] == nil {
				pooled[k] = map[int]bool{}
			}
			pooled[k][r.Input] = true
		}
	}
	for i := range s.Series {
		r := &s.Series[i]
		k := of(r)
		value := r.Median
		if r.Pooled > 0 {
			value = r.Together
		}
		if !served(r.Metric) || value == nil || r.Pool == "" || r.Pooled == 0 && pooled[k][r.Input] {
			continue
		}
		n, ok := index[k]
		if !ok {
			n = len(out)
			index[k] = n
			out = append(out, Service{Producer: r.Producer, Metric: r.Metric, Name: r.Name, Phase: k.phase, Unit: r.Unit, Pool: r.Pool})
		}
		g := &out[n]
		switch {
		case len(g.Inputs) == 0:
			g.Value = *value
		case g.Pool == "sum":
			g.Value += *value
		case r.Better == "higher":
			g.Value = min(g.Value, *value)
		default:
			g.Value = max(g.Value, *value)
		}
		g.Inputs, g.Values = append(g.Inputs, r.Input), append(g.Values, *value)
	}
	servers := ServersOf(s)
	return slices.DeleteFunc(out, func(g Service) bool {
		inputs := slices.Clone(g.Inputs)
		slices.Sort(inputs)
		inputs = slices.Compact(inputs)
		return len(inputs) < 2 || slices.ContainsFunc(inputs, func(i int) bool { return !servers.Same(inputs[0], i) })
	})
}
