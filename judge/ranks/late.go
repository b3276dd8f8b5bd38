package ranks

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/health"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// stragglersOf judges how long other ranks wait for the late ones.
func stragglersOf(c *Evaluator, w advice.RankWaits) []tree.Reading {
	late, caused := w.Late()
	if len(late) == 0 {
		return nil
	}
	waited := min(caused, c.Judged.ExposedComm())
	waiters := c.whoWait(w, late)
	f, limit, ok := rule.Measured(c.Limits[rule.StragglingRank], waited, waiters.window)
	f.Title = fmt.Sprintf("Straggler: %s; %s %s of GPU time", w.Names(late)+c.ofRun(w),
		label.Plural(int64(waiters.gpus), "other "+w.Kind()), wait(waiters.gpus)+unit.Share(waited, waiters.window))
	if len(late) > 1 {
		f.Title = fmt.Sprintf("Stragglers: %s; waiting for them takes %s of GPU time", w.Names(late)+c.ofRun(w),
			unit.Share(waited, waiters.window))
	}
	f.Title += c.LeftOut() + " (" + c.each(waited, waiters) + ")" + rule.Over(limit)
	c.GainOfJudged(&f, waited)
	f.Evidence = append(c.otherRuns(w), "waiting: "+c.perStep(waited, waiters))
	f.Evidence = slices.Concat(f.Evidence, w.Followers(), w.Caveat())
	var causes, unknown []string
	for _, r := range late {
		steps, why := whyRankLate(c, w, r)
		f.Evidence = slices.Concat(f.Evidence, []string{strings.Join(append([]string{w.Share(r)}, steps...), "; ")}, why)
		if len(why) > 0 {
			causes = append(causes, strings.Join(append(why[:1:1], steps...), "; "))
		} else {
			unknown = append(unknown, w.Name(r)+": cause not known")
		}
		if d := c.device(&r); d != nil {
			f.Where = append(f.Where, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
		}
	}
	f.Cause = causeOfAll(causes, unknown)
	f.Subject = w.Names(late)
	f.Next = []finding.Step{w.Advice()}
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.ExposedComm: waited}}
	r.Drops = advice.AnyCommAdvice() // faster communication does not help a straggler
	return r.IfReached()
}

// mostCauses is how many late ranks the cause of a finding explains. The evidence explains all.
const mostCauses = 3

// causeOfAll returns the cause of several late ranks, the worst first. It is "" if none is known.
func causeOfAll(causes, unknown []string) string {
	if len(causes) == 0 {
		return ""
	}
	list := slices.Concat(causes, unknown)
	if more := len(list) - mostCauses; more > 0 {
		list = append(list[:mostCauses:mostCauses], label.Plural(int64(more), "more rank")+" in the evidence")
	}
	return strings.Join(list, "; ")
}

// whyRankLate returns in which steps a rank is late, and why, compared with ranks that do the same
// work.
func whyRankLate(c *Evaluator, w advice.RankWaits, r summary.RankWait) (steps, why []string) {
	if text := advice.StepsWhenLate(r); text != "" {
		steps = append(steps, text)
	}
	why, ok := advice.WhyLate(w.Name(r), r)
	if !ok {
		why = whyLate(c, r.Rank)
	}
	return steps, append(hardwareOf(c, w.Name(r), &r), why...)
}

// hardwareOf says what is wrong with the GPU of a rank, by the dumps of its machine.
func hardwareOf(c *Evaluator, name string, r *summary.RankWait) (out []string) {
	d := c.device(r)
	if d == nil {
		return nil
	}
	for _, text := range health.OfGPU(c.Summary, summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}) {
		out = append(out, fmt.Sprintf("%s: its GPU %d: %s", name, d.Device, text))
	}
	return out
}

// ranksInTurn judges the waiting in collectives if no rank is late most of the time.
func (c *Evaluator) ranksInTurn() []tree.Reading {
	w, ok := advice.WaitsOfRanks(c.Summary)
	if late, _ := w.Late(); !ok || len(late) > 0 || !w.Waiting() {
		return nil
	}
	waiters := c.whoWait(w, nil)
	waited := min(w.Wait, c.Judged.ExposedComm())
	f, limit, reached := rule.Measured(c.Limits[rule.RanksInTurn], waited, waiters.window)
	whose := c.JudgedName()
	if waiters.gpus < c.GPUs {
		whose = "their GPU time" + c.LeftOut()
	}
	f.Title = fmt.Sprintf("Ranks late in turn%s: waiting takes %s of %s (%s)", c.ofRun(w),
		unit.Share(waited, waiters.window), whose, c.each(waited, waiters)) + rule.Over(limit)
	c.GainOfJudged(&f, waited)
	f.Evidence = append(c.otherRuns(w), "waiting: "+c.perStep(waited, waiters))
	for _, r := range w.Ranks[:min(2, len(w.Ranks))] {
		f.Evidence = append(f.Evidence, w.Share(r))
	}
	f.Cause = fmt.Sprintf("no rank causes most of the waiting; %s causes most, %s", w.Name(w.Ranks[0]),
		unit.Share(w.Ranks[0].CausedNS, w.Wait))
	f.Next = []finding.Step{w.Advice(), finding.Advise("even-out-the-work")}
	r := tree.Reading{Finding: f, Reached: reached, Explains: map[string]int64{rule.ExposedComm: waited}}
	r.Drops = advice.AnyCommAdvice()
	return r.IfReached()
}

// Evidence compares the ranks by their waits or, without matched collectives, by their sums of
// communication time.
func (c *Evaluator) Evidence() []string {
	if w, ok := advice.WaitsOfRanks(c.Summary); ok {
		return w.Evidence()
	}
	return c.peers().evidence()
}

// Advice returns the first step against communication time.
func (c *Evaluator) Advice() finding.Step {
	if w, ok := advice.WaitsOfRanks(c.Summary); ok {
		return w.Advice()
	}
	return c.peers().advice()
}

// A devices is a set of GPUs: their number and the ns of their windows together.
type devices struct {
	gpus   int
	window int64
}

// all returns all GPUs that are judged.
func (c *Evaluator) all() devices { return devices{c.GPUs, c.Judged.Window()} }

// whoWait returns the GPUs of the job that wait for the late ranks: all other GPUs, or all GPUs if
// several ranks are late, because these wait for each other too.
func (c *Evaluator) whoWait(w advice.RankWaits, late []summary.RankWait) devices {
	waits := map[summary.GPU]bool{}
	for i, r := range w.Ranks { // w.Ranks has late ranks first
		waits[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}] = i > 0 || len(late) != 1
	}
	same := view.SameGPU(c.Summary)
	return c.others(func(d *summary.Device) bool {
		return waits[same(summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device})]
	})
}

// others returns the GPUs that accept selects. A long warm-up, which is not judged, is assumed to
// be the same share of each window.
func (c *Evaluator) others(accept func(*summary.Device) bool) (out devices) {
	var list []summary.Device
	for i := range c.Devices {
		if d := &c.Devices[i]; accept(d) {
			list, out.window = append(list, *d), out.window+d.Activity.Window()
		}
	}
	out.gpus = view.GPUsOf(c.Summary, list)
	if all := c.Total.Window(); c.Judged != c.Total && all > 0 {
		out.window = int64(float64(out.window) * float64(c.Judged.Window()) / float64(all))
	}
	return out
}

// wait returns the verb for a number of ranks.
func wait(ranks int) string {
	if ranks == 1 {
		return "waits "
	}
	return "wait "
}

// otherRuns says that the inputs belong to several runs, which are compared separately.
func (c *Evaluator) otherRuns(w advice.RankWaits) []string {
	jobs := view.Jobs(c.Summary)
	if len(jobs) < 2 || w.Ranks[0].Job >= len(c.Inputs) {
		return nil
	}
	return []string{fmt.Sprintf("%d runs were given, and the ranks of each are compared apart; this one begins with %s",
		len(jobs), c.Inputs[w.Ranks[0].Job].Path)}
}

// ofRun names the run of ranks if there are several: " (run trainer)".
func (c *Evaluator) ofRun(w advice.RankWaits) string {
	if name := view.JobName(c.Summary, w.Ranks[0].Job); name != "" {
		return " (run " + finding.Short(name) + ")"
	}
	return ""
}
