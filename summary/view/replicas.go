package view

import (
	"slices"
	"strings"

	"assay/summary"
)

// A Service is one metric of several logs of the same program together: of the replicas of a
// server, each with a log of its own.
type Service struct {
	Producer, Metric, Name, Phase, Unit string

	Pool   string // how they combine: "sum" or "worst"
	Inputs []int
	Values []float64 // of each input: the median, of several places in it their sum or the worst
	Value  float64   // of all
}

// served reports whether a metric is of an inference server. Logs of trainers may each have
// the numbers of the whole job, which do not add up.
func served(metric string) bool {
	switch metric {
	case "throughput.input_tokens", "throughput.output_tokens", "throughput.total_tokens", "throughput.requests":
		return true
	}
	return strings.HasPrefix(metric, "requests.") || strings.HasPrefix(metric, "serving.")
}

// Services returns the metrics of logs that several inputs have from one program. Rates and
// numbers of requests add up, and of latencies the worst counts. Percentiles and shares do
// not combine, and are left out.
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
	return slices.DeleteFunc(out, func(g Service) bool {
		inputs := slices.Clone(g.Inputs)
		slices.Sort(inputs)
		return len(slices.Compact(inputs)) < 2
	})
}
