// Package bars reads the progress bars of tqdm in logs, and finds the one that counts the steps of a training.
//
// A [Set] takes each line with a bar; [Set.Training] chooses the bar. Bars overwrite themselves, have whole seconds and no
// time of day, and of nested ones only the innermost counts steps.
package bars

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
)

// Anchors are the texts by which a bar is found: "37%|███▋ | 370/1000 [12:03<20:31, 1.95s/it]".
func Anchors() (out []string) {
	for _, unit := range []string{"it", "step", "steps", "batch", "batches", "iter"} {
		out = append(out, unit+"/s", "s/"+unit)
	}
	return out
}

// Limits of bars. Elapsed times are whole seconds, so a record of steps is at least so long that this is 5 % of it.
const (
	leastElapsed = 20
	mostBars     = 64
	mostPoints   = 1 << 15 // of one bar
)

// A Set has the bars of a log, by text and total.
type Set struct{ bars map[string]*bar }

// A bar is what one progress bar of a log shows over time. Its rate is a moving average, so times come from the elapsed time.
type bar struct {
	desc   string
	total  int64
	points []point
	last   point // the last update, which points may lack
	open   bool
	epochs int64 // by which numbers go on after a bar of one epoch is full
}

type point struct {
	step, elapsed, line int64
	run                 int32
}

var (
	reBar = lazyregexp.New(`([^|\]\r]*?):?[ \t]*\d+%\|[^|]*\|\s*(\d+)/(\d+) \[([\d:]+)<[\d:?]+,\s*[\d.?]+(?:[a-z]+/s|s/[a-z]+)$`)
	// A bar is one of training by its text, or, if it has none, because the log is that of a trainer or has nothing else.
	reTrains   = lazyregexp.New(`(?i)\b(?:train|training|epochs?|steps?|iterations?|iters?|optimi[sz]\w*)\b`)
	reOtherBar = lazyregexp.New(`(?i)\b(?:eval|valid|val|test|predict|generat|sampl|load|map|token|filter|download|captur|compil|shard|fetch|prepar|process|sav|split|cach|pack|flatten)\w*`)
	reDigits   = lazyregexp.New(`\d+`)
	reEpoch    = lazyregexp.New(`(?i)\bepoch\b`)
	// Bars of bytes have sizes with prefixes.
	reAnyBar = lazyregexp.New(`([^|\r\n]{0,80}?):?[ \t]*\d+%\|[^|\r\n]*\|\s*[\d.]+\w?/[\d.]+\w? \[[\d:]+<`)
)

// Add reads the bar of a line whose anchor is at a position.
func (s *Set) Add(line []byte, at int, number int64) {
	end := at
	for end < len(line) && (line[end] >= 'a' && line[end] <= 'z' || line[end] == '/') {
		end++
	}
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
	b := s.bars[key]
	if b == nil {
		if s.bars == nil {
			s.bars = map[string]*bar{}
		}
		if len(s.bars) >= mostBars {
			return
		}
		b = &bar{desc: desc, total: total}
		s.bars[key] = b
	}
	b.add(step, clockSeconds(string(m[4])), number)
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
	p := point{step + b.epochs, elapsed, line, run}
	switch {
	case !b.open:
		b.points, b.open = []point{p}, true
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

// A Bar is the one that counts steps.
type Bar struct {
	Unnamed bool // it has no text
	Line    int64
	Records []Record
}

// A Record is what some steps took.
type Record struct {
	Step int64   // number of the last of them
	NS   float64 // of one step, the mean
	Run  int32
	Line int64
}

// Training returns the bar whose updates are training steps, or nil. Bars without a text are those of training and of
// evaluation if unnamed is set: the one that ran longest is that of training, if it ran twice as long as another one. Else
// alike has the line of one of the bars that could be it. A bar around another one counts epochs, and no steps.
func (s *Set) Training(unnamed bool) (b *Bar, alike int64) {
	var list []*bar
	for _, key := range slices.Sorted(maps.Keys(s.bars)) {
		b := s.bars[key]
		if b.total > 1 && !reOtherBar().MatchString(b.desc) && (reTrains().MatchString(b.desc) || b.desc == "" && unnamed) {
			b.flush()
			list = append(list, b)
		}
	}
	list = innermost(list)
	if len(list) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(list, func(a, b *bar) int { return cmp.Compare(b.elapsed(), a.elapsed()) })
	if len(list) > 1 && list[0].elapsed() < 2*list[1].elapsed() {
		return nil, list[0].points[0].line
	}
	return list[0].records(), 0
}

// elapsed returns the seconds of all runs of a bar.
func (b *bar) elapsed() (sum int64) {
	for i := 1; i < len(b.points); i++ {
		if b.points[i].run == b.points[i-1].run {
			sum += max(0, b.points[i].elapsed-b.points[i-1].elapsed)
		}
	}
	return sum
}

// innermost leaves out bars that count the runs of another one. Steps of that one then go on from run to run.
func innermost(list []*bar) []*bar {
	inner := func(outer, b *bar) bool {
		runs := int64(b.last.run) + 1
		return b != outer && runs > 1 && (runs == outer.last.step || runs == outer.last.step+1) &&
			b.elapsed() <= outer.elapsed()+runs+leastElapsed && 2*b.elapsed() > outer.elapsed()
	}
	var out, steps []*bar
	for _, outer := range list {
		n := slices.IndexFunc(list, func(b *bar) bool { return inner(outer, b) })
		if n < 0 {
			out = append(out, outer)
		} else if !slices.Contains(steps, list[n]) {
			steps = append(steps, list[n])
		}
	}
	for _, b := range steps {
		for i := range b.points {
			b.points[i].step, b.points[i].run = b.points[i].step+int64(b.points[i].run)*b.total, 0
		}
	}
	return out
}

// records returns what the steps of a bar took, or nil without any.
func (b *bar) records() *Bar {
	out := &Bar{Unnamed: b.desc == "", Line: b.points[0].line}
	for i := 1; i < len(b.points); i++ {
		p, before := b.points[i], b.points[i-1]
		if n := p.step - before.step; p.run == before.run && n > 0 && p.elapsed >= before.elapsed {
			out.Records = append(out.Records, Record{p.step, float64(p.elapsed-before.elapsed) * 1e9 / float64(n), p.run, p.line})
		}
	}
	if len(out.Records) == 0 {
		return nil
	}
	return out
}

// Names returns the texts of the first bars of a text, whatever they count.
func Names(text []byte) (out []string) {
	const most = 3
	for _, m := range reAnyBar().FindAllSubmatch(text, 1000) {
		name := strings.TrimSpace(string(m[1]))
		if name = cmp.Or(name, "without a text"); !slices.Contains(out, name) && len(out) < most {
			out = append(out, name)
		}
	}
	return out
}
