package logs

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/goodput"
)

// What the screen shows of jobs: those with several attempts, and others that lose enough of a long time.
const (
	screenJobs   = 3
	screenLosses = 4
	mostAttempts = 200
	leastWall    = 600_000_000_000 // 10 min
	leastLoss    = 0.1
)

// jobsOnScreen returns a few lines about each job that was restarted or lost time.
func jobsOnScreen(ctx *section.Context) doc.Section {
	var list doc.List
	for _, j := range goodput.Of(ctx.Summary) {
		lost := j.WallNS >= leastWall && float64(j.TotalNS-j.Goodput()) >= leastLoss*float64(j.WallNS)
		if len(j.Attempts) < 2 && !lost && ctx.Price == nil || len(j.Parts) == 0 || j.Steps+j.Lost == 0 || len(list) >= 3*screenJobs {
			continue
		}
		list = append(list, doc.Item{Text: headText(j)}, doc.Item{Text: lossText(j)})
		if text := failureText(ctx, j); text != "" {
			list = append(list, doc.Item{Text: text})
		}
		if text := costText(j); text != "" {
			list = append(list, doc.Item{Text: text})
		}
	}
	if len(list) > 0 {
		for _, text := range powerTexts(ctx) {
			list = append(list, doc.Item{Text: text})
		}
	}
	for _, text := range apartTexts(ctx) {
		list = append(list, doc.Item{Text: text})
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Job", Lead: "all starts of the program", Blocks: []doc.Block{list}}
}

// apartTexts says of attempts that could be restarts why they are not counted as such.
func apartTexts(ctx *section.Context) (out []string) {
	for i := range ctx.Summary.Attempts {
		a := &ctx.Summary.Attempts[i]
		if a.Apart == "" || len(out) >= screenJobs {
			continue
		}
		text := "The attempt "
		if len(ctx.Inputs) > 1 {
			text += fmt.Sprintf("of input %d ", a.Input+1)
		}
		if a.Steps > 0 {
			text += fmt.Sprintf("with steps %s to %s ", unit.Count(a.LastStep-a.Steps+1), unit.Count(a.LastStep))
		}
		out = append(out, text+"is a job of its own, no restart of the one before: "+label.Clip(label.Clean(a.Apart), 120))
	}
	return out
}

// failedRank names the rank that failed last, for the first line about a job.
func failedRank(j *goodput.Job) string {
	for _, a := range slices.Backward(j.Attempts) {
		if a.End == summary.EndFailed && a.Rank != nil {
			return "; the last failure began on rank " + strconv.Itoa(*a.Rank)
		}
	}
	return ""
}

// headText is the goodput of a job: "Goodput 71.2% of 26.4 h: 48,000 steps in 6 attempts".
func headText(j *goodput.Job) string {
	did := label.Plural(j.Steps, "step") + " in " + label.Plural(int64(len(j.Attempts)), "attempt")
	if j.WallNS == 0 {
		return fmt.Sprintf("%s; the log has no times of its steps, so goodput and waiting are unknown", did)
	}
	return fmt.Sprintf("Goodput %s of %s: %s", unit.Share(j.Goodput(), j.WallNS), unit.Duration(j.WallNS), did+failedRank(j))
}

// lossText names the largest losses.
func lossText(j *goodput.Job) string {
	var parts []string
	losses := j.Losses()
	for _, p := range losses[:min(screenLosses, len(losses))] {
		if p.NS < j.TotalNS/200 {
			continue
		}
		text := words.JobPart(p.Name) + " " + unit.Duration(p.NS)
		if j.WallNS > 0 {
			text += " (" + unit.Share(p.NS, j.WallNS) + ")"
		}
		if p.Name == summary.PartLost && j.Lost > 0 {
			text += ", " + label.Plural(j.Lost, "step") + " done again"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "No other time was logged"
	}
	return "Losses: " + strings.Join(parts, "; ")
}

// failureText says what ended the attempts, and how long one runs.
func failureText(ctx *section.Context, j *goodput.Job) string {
	counts, order := map[string]int64{}, []string{}
	for n, a := range j.Attempts {
		if a.End == summary.EndFinished || n == len(j.Attempts)-1 && a.End == "" {
			continue
		}
		text := endText(a)
		if counts[text]++; counts[text] == 1 {
			order = append(order, text)
		}
	}
	if len(order) == 0 {
		return ""
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	var parts []string
	for _, text := range order[:min(3, len(order))] {
		if counts[text] > 1 {
			text = fmt.Sprintf("%s (%d times)", text, counts[text])
		}
		parts = append(parts, text)
	}
	if more := len(order) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	text := "Ended by: " + strings.Join(parts, ", ")
	if ns := j.BetweenFailures(); ns > 0 && len(j.Attempts) > 1 {
		text += "; mean time between failures " + unit.Duration(ns)
	}
	return text
}

// endText is what ended an attempt: "GPU out of memory on rank 5, node-7".
func endText(a *summary.Attempt) string {
	if a.End == "" {
		return "unknown"
	}
	text := label.Clip(label.Clean(cmp.Or(a.Reason, a.End)), 60)
	var where []string
	if a.Rank != nil {
		where = append(where, "rank "+strconv.Itoa(*a.Rank))
	}
	if a.Node != "" {
		where = append(where, label.Clip(label.Clean(a.Node), 40))
	}
	if len(where) > 0 {
		text += " on " + strings.Join(where, ", ")
	}
	return text
}

// costText is the price and the energy of a job, per step, token and sample, and what the losses cost.
func costText(j *goodput.Job) string {
	if j.WallNS == 0 || j.Steps == 0 {
		return ""
	}
	var parts []string
	of := "for " + label.Plural(j.GPUs, "GPU")
	if j.GPUs == 0 {
		of = "per GPU, because their number is unknown (--gpus)"
	}
	if all, ok := j.Cost(j.WallNS); ok {
		lost, _ := j.Cost(j.WallNS - j.Goodput())
		text := fmt.Sprintf("Cost %s %s, of it %s for losses", money(all), of, money(lost))
		if j.Part(summary.PartWaiting) > 0 {
			text += ", waiting included"
		}
		parts = append(parts, text)
		parts = append(parts, perText(j, all, money)...)
	}
	if all, ok := j.Energy(j.RunNS()); ok {
		text := fmt.Sprintf("energy %s %s at a mean of %s per GPU", energy(all), of, unit.Value(j.Watts, "watt"))
		if j.Sampled > 0 && j.Sampled != j.GPUs {
			text += fmt.Sprintf(", measured on %d", j.Sampled)
		}
		parts = append(parts, text)
		parts = append(parts, perText(j, all, energy)...)
	}
	return strings.Join(parts, "; ")
}

// whyNoPower has the reasons why the power of a monitor does not count for the energy of jobs.
var whyNoPower = map[string]string{
	summary.PowerSameGPUs:    "another input has the same GPUs",
	summary.PowerElsewhere:   "it has no sample while a job ran",
	summary.PowerImplausible: "its values are not watts of one GPU",
}

// powerTexts says which monitors the energy leaves out.
func powerTexts(ctx *section.Context) (out []string) {
	for i := range ctx.Clocks {
		c := &ctx.Clocks[i]
		why := whyNoPower[c.Power]
		if why == "" && c.LeftOut != "" && c.LeftOut != summary.NoOverlap && hasPower(ctx.Summary, c.Input) {
			why = whyLeftOut(c)
		}
		if why != "" && len(out) < screenJobs {
			out = append(out, fmt.Sprintf("The power in %s does not count: %s", label.Clip(label.Clean(path.Base(ctx.Inputs[c.Input].Path)), 40), why))
		}
	}
	return out
}

// hasPower reports whether an input has the power of GPUs.
func hasPower(s *summary.Summary, input int) bool {
	return slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Input == input && r.Metric == "gpu.power" && r.Labels["gpu"] != ""
	})
}

// perText divides an amount by the steps, tokens and samples that count.
func perText(j *goodput.Job, all float64, text func(float64) string) (out []string) {
	out = append(out, text(all/float64(j.Steps))+" per step")
	if j.Tokens > 0 {
		out = append(out, text(all/j.Tokens*1e6)+" per million tokens")
	}
	if j.Samples > 0 {
		out = append(out, text(all/j.Samples*1e3)+" per thousand samples")
	}
	return out
}

// money prints an amount in the currency of the price.
func money(v float64) string {
	if v >= 1000 {
		return unit.Count(int64(v + 0.5))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// energy prints joules as kWh or Wh.
func energy(joules float64) string {
	if wh := joules / 3600; wh < 1000 {
		return strconv.FormatFloat(wh, 'g', 3, 64) + " Wh"
	}
	return money(joules/3.6e6) + " kWh"
}

// jobs returns the time of each job by part, and its attempts.
func jobs(ctx *section.Context) (out []doc.Section) {
	for _, j := range goodput.Of(ctx.Summary) {
		if len(j.Parts) == 0 {
			continue
		}
		title := "Job"
		if len(goodput.Of(ctx.Summary)) > 1 {
			title += " " + j.Name
		}
		s := doc.Section{Title: title, Lead: headText(j)}
		if len(out) == 0 {
			s.Blocks = ctx.Pictures("log-job.png")
		}
		s.Blocks = append(s.Blocks, partTable(j), attemptTable(ctx, j))
		if texts := apartTexts(ctx); len(out) == 0 && len(texts) > 0 {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: strings.Join(texts, ". ") + "."})
		}
		if text := costText(j); text != "" {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: text + "."})
		}
		if texts := powerTexts(ctx); len(out) == 0 && len(texts) > 0 {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: strings.Join(texts, ". ") + "."})
		}
		out = append(out, s)
	}
	return out
}

// partTable has the time of a job by part, with its price and energy.
func partTable(j *goodput.Job) doc.Table {
	var times []int64
	for _, p := range j.Parts {
		times = append(times, p.NS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "parts", Columns: []doc.Column{doc.Col("time of the job", doc.Text), doc.Col("%", doc.Number),
		doc.Col(scale.Head("time"), doc.Number), doc.Col("cost", doc.Number), doc.Col("energy", doc.Number)}}
	for _, p := range j.Parts {
		cost, used := "", ""
		if v, ok := j.Cost(p.NS); ok {
			cost = money(v)
		}
		if v, ok := j.Energy(p.NS); ok && p.Name != summary.PartWaiting {
			used = energy(v)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: p.NS, Cells: []string{words.JobPart(p.Name), unit.Share(p.NS, j.TotalNS), scale.Text(p.NS), cost, used}})
	}
	t.Note = "The parts add up to the time from the first line to the last one."
	if j.WallNS == 0 {
		t.Note = "The log has no times of its steps: only times that it states are here."
	}
	return t.WithoutEmpty()
}

// attemptTable has the attempts of a job.
func attemptTable(ctx *section.Context, j *goodput.Job) doc.Table {
	var times []int64
	for _, a := range j.Attempts {
		times = append(times, a.MedianNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "attempts", Columns: []doc.Column{doc.Col("attempt", doc.Number), doc.Col("input", doc.Number), doc.Col("length", doc.Number),
		doc.Col("from step", doc.Number), doc.Col("to step", doc.Number), doc.Col("checkpoint", doc.Number), doc.Col(scale.Head("median step"), doc.Number),
		doc.Col("ended by", doc.Text), doc.Col("line", doc.Number)}}
	for n, a := range j.Attempts {
		length, saved, line, end := unit.None, "", "", endText(a)
		if a.StartNS != nil {
			length = unit.Duration(*a.EndNS - *a.StartNS)
		}
		if a.Saved != nil {
			saved = unit.Count(*a.Saved)
		}
		if a.Line > 0 {
			line = unit.Count(a.Line)
		}
		input, first, to := "", "", ""
		if a.Steps > 0 {
			first, to = unit.Count(a.LastStep-a.Steps+1), unit.Count(a.LastStep)
		}
		if len(ctx.Inputs) > 1 {
			input = strconv.Itoa(a.Input + 1)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: []string{strconv.Itoa(n + 1), input, length, first, to,
			saved, scale.Text(a.MedianNS), end, line}})
	}
	return t.WithoutEmpty().Cut(mostAttempts)
}
