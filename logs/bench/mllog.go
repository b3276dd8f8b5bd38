package bench

import (
	"bytes"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

const (
	mllogMark     = ":::MLLOG {"
	mlperfTrain   = "MLPerf training"
	mlperfResults = "result_"
)

// mllogMetrics maps values of tracked_stats to canonical metrics, with the factor to their
// unit.
var mllogMetrics = map[string]struct {
	metric string
	factor float64
}{
	"train_step_time": {"step.time", 1e9}, "reduced_train_loss": {"train.loss", 1}, "train_loss": {"train.loss", 1}, "throughput": {"throughput.samples", 1},
}

// isMLLog reports whether a line may be a record of MLPerf.
func isMLLog(line []byte) bool { return bytes.Contains(line, []byte(mllogMark)) }

// mllog reads a record of MLPerf: statistics of a training by step, or a number of the
// result of loadgen. Steps of trainings are counted in samples.
func (f *Finder) mllog(n int, line string) {
	_, rest, ok := strings.Cut(line, mllogMark)
	if !ok {
		return
	}
	at := diag.Pos{File: f.name, Line: n}
	flatten(strings.NewReader("{"+rest), func(values []value, _ int64) {
		var key, text string
		time, step := logs.NoTime, logs.NoStep
		var number *value
		for i := range values {
			switch v := &values[i]; {
			case v.path == "key":
				key = v.text
			case v.path == "time_ms" && v.kind == 'n' && v.number > 1e12 && v.number < 1e14:
				time = int64(v.number) * 1e6
			case (v.path == "metadata.step" || v.path == "metadata.samples_count" || v.path == "metadata.epoch_num") && v.kind == 'n' && step == logs.NoStep && v.number >= 0 && v.number < 1<<53:
				step = int64(v.number)
			case v.path == "value" && v.kind == 'n':
				number = v
			case v.path == "value":
				text = v.text
			}
		}
		switch {
		case strings.HasPrefix(key, mlperfResults):
			f.loadgen(n, strings.TrimPrefix(key, mlperfResults), number, text)
		case key == "tracked_stats":
			block := slices.ContainsFunc(values, func(v value) bool { return v.path == "value.throughput" })
			for _, v := range values {
				if name, ok := strings.CutPrefix(v.path, "value."); ok && v.kind == 'n' {
					if block && name == "train_step_time" { // the mean over the steps between two evaluations
						name = "train_step_time of a block"
					}
					f.tracked(name, v.number, step, time, at)
				}
			}
		case key == "eval_accuracy" && number != nil:
			f.tracked(key, number.number, step, time, at)
		}
	})
}

// tracked adds a value of a training.
func (f *Finder) tracked(name string, v float64, step, time int64, at diag.Pos) {
	metric, factor := logs.Unnamed(name), 1.0
	if m, ok := mllogMetrics[name]; ok {
		metric, _ = logs.MetricOf(m.metric)
		factor = m.factor
	}
	if time != logs.NoTime {
		f.b.Clock(time, true, true)
	}
	f.b.Record(mlperfTrain, false)
	f.b.Add(f.b.Of(metric, mlperfTrain, name, nil, at), v*factor, step, time, 0)
}

// loadgen adds a number to the open result of loadgen, which logs one number per line.
func (f *Finder) loadgen(n int, name string, number *value, text string) {
	if f.mlperf == nil {
		f.mlperf = &logs.Benchmark{Producer: mlperf, Line: int64(n), Time: logs.NoTime}
	}
	b := f.mlperf
	if number == nil {
		if name == "validity" {
			b.Settings = append(b.Settings, logs.Label{Name: "Result is", Value: text})
		}
		return
	}
	latency, _ := logs.MetricOf("serving.e2e")
	if stat, ok := strings.CutSuffix(name, "_percentile_latency_ns"); ok && statOf(stat) != "" {
		add(b, target{metric: latency, stat: statOf(stat)}, mlperfResults+name, number.number, 1)
		return
	}
	if stat, ok := strings.CutSuffix(name, "_latency_ns"); ok && statOf(stat) != "" {
		add(b, target{metric: latency, stat: statOf(stat)}, mlperfResults+name, number.number, 1)
		return
	}
	for suffix, metric := range map[string]string{"samples_per_second": "throughput.samples", "completed_samples_per_sec": "throughput.requests", "token_throughput": "throughput.output_tokens", "completed_tokens_per_second": "throughput.output_tokens", "tokens_per_second": "throughput.output_tokens"} {
		if name == suffix {
			m, _ := logs.MetricOf(metric)
			add(b, target{metric: m}, mlperfResults+name, number.number, 1)
		}
	}
}
