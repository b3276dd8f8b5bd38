package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/lazyregexp"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A worker is one CPU thread, compared with other threads that have the same slices.
type worker struct {
	process, thread string
	input, rank     int

	total, beyond int64    // ns of its slices, and ns by which slower ones exceed the median of their peers
	longer        []peered // the slices that take longer than the median
}

// A peered row has the slices of one name on one thread, with the median of all threads.
type peered struct {
	*summary.Span
	median int64 // total ns of the slices on the median thread
	peers  int
}

// slowWorker judges whether the slices of one or a few threads take longer than the same number of
// slices of the same name on other threads. This fits timelines with one thread for each worker of
// a job. The worker with the largest excess is named, with those that have at least half of it.
func (c *evaluator) slowWorker() (finding.Finding, bool) {
	if c.Total.Window() > 0 || !c.foreign() {
		return finding.Finding{}, false
	}
	workers := c.workers()
	if len(workers) == 0 {
		return finding.Finding{}, false
	}
	first := workers[0]
	slow := slices.DeleteFunc(slices.Clone(workers), func(w *worker) bool { return w.beyond < first.beyond-first.beyond/2 })
	for _, p := range first.longer {
		if 2*len(slow) >= p.peers {
			return finding.Finding{}, false // half or more are slow: there are two kinds of workers
		}
	}
	f, limit, ok := rule.Measured(c.Limits[rule.SlowWorker], first.beyond, first.total)
	if !ok {
		return finding.Finding{}, false
	}
	f.Subject = first.name()
	who := "Slow worker " + first.name()
	if n := len(slow) - 1; n > 0 {
		who = fmt.Sprintf("Slow workers %s and %s", first.name(), label.Plural(int64(n), "other"))
	}
	f.Title = fmt.Sprintf("%s: %s, median worker %s", who, unit.Duration(first.total),
		unit.Duration(first.total-first.beyond)) + rule.Over(limit)
	for _, w := range slow {
		f.Evidence = append(f.Evidence, w.evidence())
	}
	f.Next = []finding.Step{finding.Advise("move-work-from-the-worker"), finding.Advise("check-the-workers-machine")}
	return f, true
}

// isWorker matches names that identify a worker of a job. Timelines have threads of other kinds
// too: Horovod has one for each tensor.
var isWorker = lazyregexp.New(`(?i)(rank|worker|stage|replica|node|host|gpu|device|actor)s?[ _:#\[-]*\d`)

// workers returns the threads whose slices take longer than those of their peers, ordered by
// falling excess.
func (c *evaluator) workers() []*worker {
	type kind struct {
		name, category string
		count          int64
	}
	groups := map[kind][]*summary.Span{}
	for i := range c.Spans {
		s := &c.Spans[i]
		if s.Count >= c.Limits[rule.SlowWorker].MinEvents {
			k := kind{s.Name, s.Category, s.Count}
			groups[k] = append(groups[k], s)
		}
	}
	type thread struct {
		input, rank     int
		process, thread string
	}
	all := map[thread]*worker{}
	for _, rows := range groups {
		if int64(len(rows)) < c.Limits[rule.SlowWorker].MinEvents {
			continue
		}
		median := stat.MedianBy(rows, func(s *summary.Span) int64 { return s.TotalNS })
		for _, s := range rows {
			if !isWorker().MatchString(s.Process + " " + s.Thread) {
				continue
			}
			k := thread{s.Input, s.Rank, s.Process, s.Thread}
			w := all[k]
			if w == nil {
				w = &worker{process: s.Process, thread: s.Thread, input: s.Input, rank: s.Rank}
				all[k] = w
			}
			w.total += s.TotalNS
			if d := s.TotalNS - median; d > 0 {
				w.beyond += d
				w.longer = append(w.longer, peered{s, median, len(rows)})
			}
		}
	}
	var out []*worker
	for _, w := range all {
		if w.beyond > 0 {
			slices.SortFunc(w.longer, func(a, b peered) int {
				return cmp.Or(cmp.Compare(b.TotalNS-b.median, a.TotalNS-a.median), cmp.Compare(a.Name, b.Name))
			})
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b *worker) int {
		return cmp.Or(cmp.Compare(b.beyond, a.beyond), cmp.Compare(a.input, b.input), cmp.Compare(a.rank, b.rank),
			cmp.Compare(a.process, b.process), cmp.Compare(a.thread, b.thread))
	})
	return out
}

// name returns the names of process and thread.
func (w *worker) name() string {
	return label.Clip(strings.Trim(label.Clean(w.process)+", "+label.Clean(w.thread), ", "), 48)
}

// evidence describes the slices with the largest excess over their peers.
func (w *worker) evidence() string {
	var parts []string
	for _, p := range w.longer[:min(3, len(w.longer))] {
		if 10*(p.TotalNS-p.median) < w.beyond {
			break
		}
		parts = append(parts, fmt.Sprintf("%s takes %s on average, the median of %d threads is %s (%s each)",
			label.Clean(p.Name),
			unit.Duration(p.TotalNS/p.Count), p.peers, unit.Duration(p.median/p.Count), unit.Count(p.Count)))
	}
	return w.name() + ": " + strings.Join(parts, "; ")
}
