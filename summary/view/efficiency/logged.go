package efficiency

import (
	"assay/summary"
)

// A Log is what one log says of the throughput of its job: medians over its steps. What it
// does not say is 0.
type Log struct {
	Path, Producer string
	TokensPerGPU   float64 // per second
	Tokens         float64 // per second, of the whole job
	OutputTokens   float64 // per second, that servers generate
	FLOPsPerGPU    float64 // per second
	MFU            float64
}

// Logged returns the logs that state a throughput in tokens, or FLOPs.
func Logged(s *summary.Summary) (out []Log) {
	for i := range s.Inputs {
		all := logRows{s, i}
		l := Log{Path: s.Inputs[i].Path}
		for _, m := range []struct {
			to   *float64
			name string
		}{
			{&l.TokensPerGPU, "throughput.tokens_per_gpu"}, {&l.Tokens, "throughput.tokens"}, {&l.OutputTokens, "throughput.output_tokens"},
			{&l.FLOPsPerGPU, "throughput.flops_per_gpu"}, {&l.MFU, "gpu.mfu"},
		} {
			if r := all.of(m.name); r != nil {
				*m.to, l.Producer = typical(r), r.Producer
			}
		}
		if l.TokensPerGPU == 0 && l.Tokens == 0 {
			l.Tokens = all.tokensOfSteps(&l)
		}
		if l.TokensPerGPU > 0 || l.Tokens > 0 || l.OutputTokens > 0 || l.FLOPsPerGPU > 0 || l.MFU > 0 {
			out = append(out, l)
		}
	}
	return out
}

// logRows are the series of one input.
type logRows struct {
	s     *summary.Summary
	input int
}

// of returns the row of a metric: that of all places together, or the only one. It is nil
// if places are apart, because no one of them is the job.
func (l logRows) of(metric string) (only *summary.Series) {
	n := 0
	for i := range l.s.Series {
		r := &l.s.Series[i]
		if r.Input != l.input || r.Metric != metric || r.Median == nil {
			continue
		}
		if r.Pooled > 1 {
			return r
		}
		only, n = r, n+1
	}
	if n != 1 {
		return nil
	}
	return only
}

func typical(r *summary.Series) float64 {
	if r.Together != nil {
		return *r.Together
	}
	return *r.Median
}

// tokensOfSteps returns tokens per second from the tokens and the times of the same number
// of steps, or 0.
func (l logRows) tokensOfSteps(to *Log) float64 {
	tokens, times := l.of("train.tokens_per_step"), l.of("step.time")
	if tokens == nil || times == nil || tokens.N != times.N || tokens.Sum == nil || times.Sum == nil || *times.Sum <= 0 {
		return 0
	}
	to.Producer = tokens.Producer
	return *tokens.Sum / *times.Sum * 1e9
}
