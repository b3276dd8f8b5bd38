package forms

import (
	"cmp"
	"regexp"
	"strings"

	"assay/internal/diag"
	"assay/logs"
	"assay/logs/bars"
)

// barProducer names the series of step times of a progress bar.
const barProducer = "progress bar"

// huggingFace is the producer whose bars without a text are those of training.
const huggingFace = "Hugging Face Trainer"

// markBar is the kind of the mark form that finds progress bars.
const markBar = "bar"

// LoneBar is the code of the issue of a log of nothing but a progress bar without a text, whose updates are its steps.
const LoneBar = "bar-without-text"

// barSteps adds the updates of the progress bar of training as steps, if no record of the log has times of steps.
func (r *Reader) barSteps() {
	trainer, timed := "", false
	r.b.EachSeries(func(s *logs.Series) {
		if s.Producer == huggingFace {
			trainer = huggingFace
		}
		timed = timed || s.Metric.Name == "step.time" || s.Metric.Name == "step.phase" || strings.HasPrefix(s.Metric.Name, "throughput.") ||
			strings.HasPrefix(s.Metric.Name, "requests.")
	})
	if timed {
		return
	}
	known := trainer != "" || r.b.Marked(logs.MarkBegins)
	bar, alike := r.bars.Training(known || r.b.Records() == 0)
	metric, ok := logs.MetricOf("step.time")
	if alike > 0 {
		r.b.Note(diag.Issue{Code: "bars-alike", Severity: diag.Info, First: diag.Pos{File: r.name, Line: int(alike)}})
	}
	if bar == nil || !ok {
		return
	}
	first := diag.Pos{File: r.name, Line: int(bar.Line)}
	if bar.Unnamed && !known {
		r.b.Note(diag.Issue{Code: LoneBar, Severity: diag.Info, First: first})
	}
	producer := cmp.Or(trainer, barProducer)
	stream := r.b.Preferred(producer)
	id := r.b.Of(metric, producer, "elapsed time of the bar", nil, first)
	for _, rec := range bar.Records {
		r.b.Beat(stream, producer, logs.Beat{Step: rec.Step, Time: logs.NoTime, Run: rec.Run, Line: rec.Line})
		r.b.Add(id, rec.NS, rec.Step, logs.NoTime, rec.Run)
		r.b.Record(producer, false)
	}
}

// barForm finds progress bars.
func barForm() markForm {
	return markForm{kind: markBar, anchors: bars.Anchors(), match: func() *regexp.Regexp { return nil },
		sample: " 37%|███▋      | 370/1000 [12:03<20:31,  1.95s/it]"}
}
