package forms

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/logs"
)

// barProducer names the series of step times of a progress bar.
const barProducer = "progress bar"

// huggingFace is the producer whose bars without a text are those of training.
const huggingFace = "Hugging Face Trainer"

// markBar is the kind of the mark form that finds progress bars of tqdm: "37%|███▋ | 370/1000 [12:03<20:31, 1.95s/it]".
const markBar = "bar"

// Limits of bars. Elapsed times are whole seconds, so a record of steps is at least so long that this is 5 % of it.
const (
	leastElapsed = 20
	mostBars     = 64
	mostPoints   = 1 << 15 // of one bar
)

// A bar is what one progress bar of a log shows over time. Its rate is a moving average, so times come from the elapsed time.
type bar struct {
	desc   string
	total  int64
	points []barPoint
	last   barPoint // the last update, which points may lack
	open   bool
	epochs int64 // by which numbers go on after a bar of one epoch is full
}

type barPoint struct {
	step, elapsed, line int64
	run                 int32
}

var (
	reBar = lazyregexp.New(`([^|\]\r]*?):?[ \t]*\d+%\|[^|]*\|\s*(\d+)/(\d+) \[([\d:]+)<[\d:?]+,\s*[\d.?]+(?:it/s|s/it)$`)
	// A bar is one of training by its text, or, if it has none, because the log is that of a trainer.
	reTrains   = lazyregexp.New(`(?i)\b(?:train|training|epochs?|steps?|iterations?|iters?|optimi[sz]\w*)\b`)
	reOtherBar = lazyregexp.New(`(?i)\b(?:eval|valid|val|test|predict|generat|sampl|load|map|token|filter|download|captur|compil|shard|fetch|prepar|process|sav|split|cach|pack|flatten)\w*`)
	reDigits   = lazyregexp.New(`\d+`)
	reEpoch    = lazyregexp.New(`(?i)\bepoch\b`)
)

// bar reads a progress bar that ends at a position of a line.
func (r *Reader) barLine(line []byte, end, start int) {
	m := reBar().FindSubmatch(line[max(0, end-1024):end])
	if m == nil {
		return
	}
	desc := strings.TrimSpace(string(m[1]))
	step, err := strconv.ParseInt(string(m[2]), 10, 64)
	total, err2 := strconv.ParseInt(string(m[3]), 10, 64)
	if err != nil || err2 != nil || step > total || step < 0 {
		return
	}
	key := reDigits().ReplaceAllString(desc, "#") + "\x00" + string(m[3])
	b := r.bars[key]
	if b == nil {
		if r.bars == nil {
			r.bars = map[string]*bar{}
		}
		if len(r.bars) >= mostBars {
			return
		}
		b = &bar{desc: desc, total: total}
		r.bars[key] = b
	}
	b.add(step, clockSeconds(string(m[4])), int64(r.pos(start).Line))
}

// clockSeconds returns the seconds of "1:02:03".
func clockSeconds(text string) (s int64) {
	for part := range strings.SplitSeq(text, ":") {
		n, _ := strconv.ParseInt(part, 10, 64)
		s = s*60 + min(n, 1<<30)
	}
	return s
}

// add adds an update. A number that goes back is that of another run, or of the next epoch if the bar is of epochs.
func (b *bar) add(step, elapsed, line int64) {
	run := b.last.run
	p := barPoint{step + b.epochs, elapsed, line, run}
	switch {
	case !b.open:
		b.points, b.open = []barPoint{p}, true
	case p.step < b.last.step || p.elapsed < b.last.elapsed:
		b.flush()
		if reEpoch().MatchString(b.desc) && b.last.step == b.epochs+b.total {
			b.epochs += b.total
		} else {
			b.epochs, p.run = 0, run+1
		}
		p.step = step + b.epochs
		b.points = append(b.points, p)
	case p.elapsed-b.points[len(b.points)-1].elapsed >= leastElapsed && p.step > b.points[len(b.points)-1].step && len(b.points) < mostPoints:
		b.points = append(b.points, p)
	}
	b.last = p
}

// flush keeps the last update before the end or another run, if it is far enough from the one before.
func (b *bar) flush() {
	if before := b.points[len(b.points)-1]; b.last.run == before.run && b.last.elapsed-before.elapsed >= leastElapsed/4 && b.last.step > before.step {
		b.points = append(b.points, b.last)
	}
}

// trainingBar returns the bar whose updates are training steps, or nil. Bars without a text may be those of training and of
// evaluation: the one that ran longest is that of training, if it ran twice as long as another one.
func (r *Reader) trainingBar(trainer bool) *bar {
	var list []*bar
	for _, key := range slices.Sorted(maps.Keys(r.bars)) {
		b := r.bars[key]
		if b.total > 1 && !reOtherBar().MatchString(b.desc) && (reTrains().MatchString(b.desc) || b.desc == "" && trainer) {
			list = append(list, b)
		}
	}
	if len(list) == 0 {
		return nil
	}
	elapsed := func(b *bar) (sum int64) {
		for i := 1; i < len(b.points); i++ {
			if b.points[i].run == b.points[i-1].run {
				sum += max(0, b.points[i].elapsed-b.points[i-1].elapsed)
			}
		}
		return sum
	}
	for _, b := range list {
		b.flush()
	}
	slices.SortStableFunc(list, func(a, b *bar) int { return cmp.Compare(elapsed(b), elapsed(a)) })
	if len(list) > 1 && elapsed(list[0]) < 2*elapsed(list[1]) {
		r.b.Note(diag.Issue{Code: "bars-alike", Severity: diag.Info, First: diag.Pos{File: r.name, Line: int(list[0].points[0].line)}})
		return nil
	}
	return list[0]
}

// steps adds the updates of the progress bar of training as steps, if no record of the log has times of steps.
func (r *Reader) barSteps() {
	trainer, timed := "", false
	r.b.EachSeries(func(s *logs.Series) {
		if s.Producer == huggingFace {
			trainer = huggingFace
		}
		timed = timed || s.Metric.Name == "step.time" || s.Metric.Name == "step.phase" || strings.HasPrefix(s.Metric.Name, "throughput.") ||
			strings.HasPrefix(s.Metric.Name, "requests.")
	})
	if len(r.bars) == 0 || timed {
		return
	}
	b := r.trainingBar(trainer != "" || r.b.Marked(logs.MarkBegins))
	metric, ok := logs.MetricOf("step.time")
	if b == nil || !ok || len(b.points) < 2 {
		return
	}
	producer := cmp.Or(trainer, barProducer)
	stream := r.b.Preferred(producer)
	first := diag.Pos{File: r.name, Line: int(b.points[0].line)}
	id := r.b.Of(metric, producer, "elapsed time of the bar", nil, first)
	for i := 1; i < len(b.points); i++ {
		p, before := b.points[i], b.points[i-1]
		n := p.step - before.step
		if p.run != before.run || n <= 0 || p.elapsed < before.elapsed {
			continue
		}
		r.b.Beat(stream, producer, logs.Beat{Step: p.step, Time: logs.NoTime, Run: p.run, Line: p.line})
		r.b.Add(id, float64(p.elapsed-before.elapsed)*1e9/float64(n), p.step, logs.NoTime, p.run)
		r.b.Record(producer, false)
	}
}

// barForm finds progress bars.
func barForm() markForm {
	return markForm{kind: markBar, anchors: []string{"it/s", "s/it"}, match: func() *regexp.Regexp { return nil },
		sample: " 37%|███▋      | 370/1000 [12:03<20:31,  1.95s/it]"}
}
