package goodput

import (
	"assay/internal/stat"
	"assay/logs"
)

// amounts returns the tokens and the samples of a step, as logged.
func (r *run) amounts() (tokens, samples *float64) {
	for i := range r.log.Series {
		s := &r.log.Series[i]
		if s.Producer != r.c.Producer || s.N == 0 || len(s.Points.Value) == 0 {
			continue
		}
		switch s.Metric.Name {
		case "train.tokens_per_step":
			tokens = ptr(stat.Median(s.Points.Value))
		case "train.batch":
			samples = ptr(stat.Median(s.Points.Value))
		case "train.consumed_tokens":
			if v := rise(s); v > 0 && tokens == nil {
				tokens = &v
			}
		case "train.consumed_samples":
			if v := rise(s); v > 0 && samples == nil {
				samples = &v
			}
		}
	}
	return tokens, samples
}

func ptr(v float64) *float64 { return &v }

// rise returns by how much a counter grows in a step.
func rise(s *logs.Series) float64 {
	var list []float64
	for i := 1; i < len(s.Points.Value); i++ {
		if n := s.Points.StepAt(i) - s.Points.StepAt(i-1); n > 0 && s.Points.StepAt(i-1) != logs.NoStep {
			list = append(list, (s.Points.Value[i]-s.Points.Value[i-1])/float64(n))
		}
	}
	if len(list) == 0 {
		return 0
	}
	return stat.Median(list)
}
