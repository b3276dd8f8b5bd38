package timeline

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// The limits of what is shown of a critical path.
const (
	mostChanges   = 10
	screenClasses = 2
	pathNames     = 5  // operators, and kernels
	changeColumns = 60 // of a name in a change
	screenColumns = 40
	mostReasons   = 2 // of a verdict, in a sentence
)

// followed returns the typical step, or nil. Without numbers of the GPUs that can be used there is none.
func followed(ctx *section.Context) *view.Followed {
	if ctx.Result.Unusable() != nil {
		return nil
	}
	return view.FollowedOf(ctx.Summary)
}

// ScreenPath returns what the typical step waited for, and the change to make first.
func ScreenPath(ctx *section.Context) doc.Section {
	p := followed(ctx)
	if p == nil {
		return doc.Section{}
	}
	s := doc.Section{Title: "Critical path", Lead: fmt.Sprintf("%s, %s", p.Name(), unit.Duration(p.WindowNS))}
	if p.Verdict == summary.Withheld {
		s.Lead += "; withheld: " + strings.Join(p.Reasons[:min(1, len(p.Reasons))], "")
		return s
	}
	var list []string
	for _, c := range classesOf(p.CriticalPath)[:screenClasses] {
		if 1000*c.NS >= p.WindowNS {
			list = append(list, words.PathClass(c.Name)+" "+unit.Share(c.NS, p.WindowNS))
		}
	}
	s.Lead += ": " + strings.Join(list, ", ")
	if text := balance(ctx, p); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	over := judge.PassedOver(ctx.Result.Options(p))
	if o := first(ctx, p); o == nil && over == nil && len(s.Blocks) == 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: notMuch(ctx, p)})
	} else if o != nil {
		text := "Change first: " + optionText(o, screenColumns)
		if o.Finding != nil {
			text += ", see " + o.Finding.Rule
		}
		text += ". " + sureness(o.Forecast, 1)
		if withheldComm(p) {
			text = strings.TrimSuffix(text, sureness(o.Forecast, 1)) + "Forecast with a warning. Faster communication: withheld, give all ranks."
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	if over != nil && over.AtMost {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: passedOver(over, screenColumns)})
	}
	return s
}

// passedOver says why a change that gives more is not the first.
func passedOver(o *judge.Option, columns int) string {
	why := "no finding says how to make it"
	switch {
	case o.Doubtful:
		why = "the profiler's own cost may be the idle time; record again with less per operator, or compare with steps without the profiler"
	case o.Change == "--graph":
		why = "an upper bound: all work of a step has to be captured, with fixed shapes and no waits inside, and no finding says that it can be"
	}
	return fmt.Sprintf("Not first: %s (%s): %s.", words.Forecast(o.Forecast, columns), lessOf(o.Forecast), why)
}

// FirstChange returns the change to make first, what it gives and how sure that is, by the critical path of
// the typical step, or "".
func FirstChange(ctx *section.Context) string {
	p := followed(ctx)
	if p == nil || p.Verdict == summary.Withheld {
		return ""
	}
	o := first(ctx, p)
	if over := judge.PassedOver(ctx.Result.Options(p)); o == nil && over != nil {
		return passedOver(over, screenColumns)
	} else if o == nil {
		return balance(ctx, p)
	}
	text := "Change first: " + optionText(o, screenColumns)
	if o.Finding != nil {
		text += ", see " + o.Finding.Rule
	}
	return text + ". " + sureness(o.Forecast, 1)
}

// optionText says what a change is and what it gives.
func optionText(o *judge.Option, columns int) string {
	most := ""
	if o.AtMost {
		most = "at most "
	}
	return fmt.Sprintf("%s: %s%s", changeText(o, columns), most, gain(o.Forecast))
}

// changeText says what a change is. A kernel at the limit of the memory cannot move its bytes faster, only fewer.
func changeText(o *judge.Option, columns int) string {
	text := words.Forecast(o.Forecast, columns)
	if o.Fuses {
		return strings.TrimSuffix(text, "twice as fast") + "with half the bytes, fused with its neighbors"
	}
	return text
}

// first returns the change to try first, or nil: where neither the GPU nor the CPU alone shortens the step
// much, one of them twice as fast is no proposal.
func first(ctx *section.Context, p *view.Followed) *judge.Option {
	o := judge.First(ctx.Result.Options(p))
	if b := ctx.Result.BalanceOf(p); o != nil && o.Wide && b != nil && b.Neither {
		return nil
	}
	return o
}

// balance says that what the verdict is about shortens the step little, because something else is busy at the
// same time, or "".
func balance(ctx *section.Context, p *view.Followed) string {
	b := ctx.Result.BalanceOf(p)
	if b == nil {
		return ""
	}
	const columns = 40
	own, path, busy := words.Change(b.Own.Change, columns)+" "+lessOf(b.Own), "CPU", "GPU"
	if ctx.Result.Verdict.Bound == finding.BoundHost {
		path, busy = busy, path
	}
	switch {
	case b.Neither:
		return fmt.Sprintf("The path runs on the %s, but the %s is busy at the same time: neither alone shortens the step much (%s, %s %s).",
			path, busy, own, words.Change(b.Other.Change, columns), lessOf(b.Other))
	case b.OtherPath:
		return fmt.Sprintf("The path runs on the %s, so the %s alone shortens the step little (%s).", path, busy, own)
	}
	return finding.Upper(words.Change(b.Own.Change, columns)) + fmt.Sprintf(" gives %s only: other work takes nearly as long.", lessOf(b.Own))
}

// severalJobs is what a report says of the paths of several jobs.
const severalJobs = "The inputs belong to several jobs, each with a critical path of its own, so none is shown. Give the inputs of one job; summary.json has all paths."

// notMuch says that no change pays, and what less work would give where only that helps.
func notMuch(ctx *section.Context, p *view.Followed) string {
	const none = "No single change pays much: none of those tried makes it 5% shorter"
	f := ctx.Result.LessWork(p)
	if f == nil {
		return none + "; less work is not tried."
	}
	kernel := strings.TrimSuffix(words.Change(f.Change, screenColumns), " twice as fast")
	return fmt.Sprintf("%s. Only less work would, as half of that of %s: %s.", none, kernel, gain(f))
}

// withheldPath says why a path is withheld.
func withheldPath(p *view.Followed) string {
	text := fmt.Sprintf("Withheld: %s.", strings.Join(p.Reasons[:min(1, len(p.Reasons))], "; "))
	if p.Classes.Unexplained > 0 {
		text += fmt.Sprintf(" The capture explains %s of the step.", unit.Share(p.WindowNS-p.Classes.Unexplained, p.WindowNS))
	}
	return text
}

// classesOf returns the classes of a path, largest first.
func classesOf(p *summary.CriticalPath) []summary.PathPart {
	parts := p.Classes.Each()
	slices.SortStableFunc(parts, func(a, b summary.PathPart) int { return int(min(1, max(-1, b.NS-a.NS))) })
	return parts
}

// firstChange says which change to make first, what it gives, how sure that is, and how to make it.
func firstChange(ctx *section.Context, p *view.Followed) (out []string) {
	if text := balance(ctx, p); text != "" {
		out = append(out, text)
	}
	over := judge.PassedOver(ctx.Result.Options(p))
	if o := first(ctx, p); o == nil && over == nil && len(out) == 0 {
		out = append(out, notMuch(ctx, p))
	} else if o != nil {
		out = append(out, fmt.Sprintf("Change first: %s. %s", optionText(o, changeColumns), sureness(o.Forecast, mostReasons)))
		if o.Step != nil {
			out = append(out, fmt.Sprintf("How (%s): %s", o.Finding.Rule, ctx.Step(*o.Step)))
		}
	}
	if over != nil {
		out = append(out, passedOver(over, changeColumns))
	}
	if withheldComm(p) {
		out = append(out, "What faster communication gives is withheld: it includes waiting for other ranks; give the traces of all.")
	}
	return out
}

// withheldComm reports whether communication is much of a path, and what it gives is withheld.
func withheldComm(p *view.Followed) bool {
	f := p.Forecast("--scale class:comm=0.5")
	return f != nil && f.ForecastNS == nil && 20*p.Classes.Comm > p.WindowNS
}

// gain returns what a change gives: "18.98 ms → 12.40 ms (−34.7%)".
func gain(f *summary.Forecast) string {
	return fmt.Sprintf("%s → %s (%s)", unit.Duration(f.MeasuredNS), unit.Duration(*f.ForecastNS), lessOf(f))
}

func lessOf(f *summary.Forecast) string {
	return fmt.Sprintf("%+.1f%%", -100*float64(f.Gain())/float64(max(1, f.MeasuredNS)))
}

// sureness says how far a forecast can be trusted, with some of the reasons.
func sureness(f *summary.Forecast, most int) string {
	if f.Verdict == "ok" {
		return "Forecast ok: the capture explains the step."
	}
	reasons := f.Reasons
	text := "Forecast with a warning: " + strings.Join(reasons[:min(most, len(reasons))], "; ")
	if more := len(reasons) - most; more > 0 {
		text += fmt.Sprintf("; %d more", more)
	}
	return text + "."
}

// Path returns the critical path of the typical step, and what single changes would give.
func Path(ctx *section.Context) doc.Section {
	p := followed(ctx)
	if p == nil && ctx.Result.Unusable() == nil && len(ctx.Summary.CriticalPaths) > 0 {
		return doc.Section{Title: "Critical path", Blocks: []doc.Block{doc.Paragraph{Text: severalJobs}}}
	} else if p == nil {
		return doc.Section{}
	}
	s := doc.Section{Title: fmt.Sprintf("Critical path of %s: %s", p.Name(), unit.Duration(p.WindowNS))}
	if p.Verdict == summary.Withheld {
		s.Lead = "what determined when the step ended"
		s.Blocks = []doc.Block{doc.Paragraph{Text: withheldPath(p)}}
		if t := pathRanks(p); t != nil {
			s.Blocks = append(s.Blocks, t)
		}
		return s
	}
	s.Lead = "what determined when the typical step ended"
	for i, text := range firstChange(ctx, p) {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text, Strong: i == 0})
	}
	s.Blocks = append(s.Blocks, ctx.Pictures("critical-path.png")...)
	s.Blocks = append(s.Blocks, pathClasses(p))
	if t := changes(ctx, p); len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	for _, of := range []struct {
		title, column string
		list          []summary.PathPart
	}{{"operators on the path", "operator", p.Operators}, {"kernels on the path", "kernel", p.Kernels},
		{"modules on the path", "module", p.Modules}, {"phases on the path", "phase", p.Phases}} {
		if len(of.list) > 0 && of.list[0].NS >= p.WindowNS/200 {
			s.Blocks = append(s.Blocks, pathParts(of.title, of.column, of.list, p.WindowNS))
		}
	}
	if t := pathComm(p); len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, t)
	}
	if len(p.CriticalPath.Ranks) > 0 {
		var list []string
		for _, r := range p.CriticalPath.Ranks {
			list = append(list, fmt.Sprintf("%s rank %s", unit.Share(r.NS, p.WindowNS), r.Name))
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "The path leads through: " + strings.Join(list, ", ") + "."})
	}
	if t := pathRanks(p); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	if len(p.Reasons) > mostReasons || p.Verdict != "ok" && len(p.Paying()) == 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Read with care: " + strings.Join(p.Reasons, "; ") + "."})
	}
	return s
}

// pathClasses returns the classes of a path, and the step if each took half the time.
func pathClasses(p *view.Followed) doc.Table {
	scale := doc.ScaleOf(p.WindowNS)
	t := doc.Table{Title: "classes", Columns: []doc.Column{doc.Col("spent on", doc.Text), doc.Col("%", doc.Number), doc.Col(scale.Head("time"), doc.Number),
		doc.Col(scale.Head("step if twice as fast"), doc.Number), doc.Col("change", doc.Number)},
		Note: "% of the step. Twice as fast is the step if that class took half the time, by replay: a second chain may be nearly as long. Classes under 2% are not tried."}
	others := int64(0)
	for _, c := range classesOf(p.CriticalPath) {
		if c.NS < p.WindowNS/1000 {
			others += c.NS
			continue
		}
		cells := []string{words.PathClass(c.Name), unit.Share(c.NS, p.WindowNS), scale.Text(c.NS), "", ""}
		text := map[string]string{"launch_delay": "--launch 0.5", "kernel_gap": "--gap 0.5"}[c.Name]
		if text == "" {
			text = "--scale class:" + c.Name + "=0.5"
		}
		if f := p.Forecast(text); f != nil && f.ForecastNS != nil {
			cells[3], cells[4] = scale.Text(*f.ForecastNS), lessOf(f)
		} else if f != nil {
			cells[4] = "withheld"
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	if others > 0 {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{"others", unit.Share(others, p.WindowNS), scale.Text(others), "", ""}})
	}
	return t
}

// changes returns the single changes that pay most, with what to do for each.
func changes(ctx *section.Context, p *view.Followed) doc.Table {
	scale := doc.ScaleOf(p.WindowNS)
	t := doc.Table{Title: "changes", Columns: []doc.Column{doc.Col("gain", doc.Number), doc.Col(scale.Head("step"), doc.Number), doc.Col("single change", doc.Text),
		doc.Col("verdict", doc.Text), doc.Col("finding", doc.Text), doc.Col("what to do", doc.Text)},
		Note: "Each change alone; gains do not add up. At most: an upper bound, because no change makes a whole class faster or captures all of a step. \"assay whatif\" forecasts others."}
	list := ctx.Result.Options(p)
	for _, o := range list[:min(mostChanges, len(list))] {
		cells := []string{lessOf(o.Forecast), scale.Text(*o.ForecastNS), changeText(&o, changeColumns), o.Verdict, "", ""}
		if o.AtMost {
			cells[2] = "at most: " + cells[2]
		}
		if o.Step != nil {
			cells[4], cells[5] = o.Finding.Rule, rule.Text(*o.Step)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	return t.WithoutEmpty()
}

// pathParts returns the names with the most time on a path.
func pathParts(title, column string, list []summary.PathPart, of int64) doc.Table {
	scale := doc.ScaleOf(list[0].NS)
	t := doc.Table{Title: title, Columns: []doc.Column{doc.Col(column, doc.KernelName), doc.Col("%", doc.Number), doc.Col(scale.Head("time"), doc.Number)}, Note: "% of the step."}
	for _, p := range list[:min(pathNames, len(list))] {
		if p.NS < of/1000 {
			break
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{p.Name, unit.Share(p.NS, of), scale.Text(p.NS)}})
	}
	return t
}

// pathComm returns when the communication of the step could have run.
func pathComm(p *view.Followed) doc.Table {
	var times []int64
	for _, c := range p.Communication {
		times = append(times, c.NS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "communication of the step", Columns: []doc.Column{doc.Col("communication", doc.KernelName), doc.Col("launches", doc.Number),
		doc.Col(scale.Head("time"), doc.Number), doc.Col("launched late", doc.Number), doc.Col(scale.Head("by"), doc.Number), doc.Col(scale.Head("slack"), doc.Number)},
		Note: "Launched late: all else that it waits for was done before. By: how much earlier it could have started, added up. " +
			"Slack: how much later it could have ended at no cost (median)."}
	for _, c := range p.Communication[:min(pathNames, len(p.Communication))] {
		slack := ""
		if c.SlackNS != nil {
			slack = scale.Text(*c.SlackNS)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{c.Name, unit.Count(c.Count), scale.Text(c.NS), unit.Count(c.Late), scale.Text(c.LateNS), slack}})
	}
	return t.WithoutEmpty()
}

// pathRanks returns the paths of the ranks, or nil if there is one.
func pathRanks(p *view.Followed) doc.Block {
	if len(p.Ranks) < 2 {
		return nil
	}
	var times []int64
	for _, r := range p.Ranks {
		times = append(times, r.WindowNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "ranks", Columns: []doc.Column{doc.Col("rank", doc.Number), doc.Col("step", doc.Text), doc.Col(scale.Head("time"), doc.Number),
		doc.Col("its path", doc.Text), doc.Col("through ranks", doc.Text), doc.Col("verdict", doc.Text)}}
	for _, r := range p.Ranks {
		cells := []string{fmt.Sprint(r.Rank), label.Clip(label.Clean(r.Step), 40), scale.Text(r.WindowNS), "", "", r.Verdict}
		if r.Verdict == summary.Withheld {
			cells[5] = "withheld"
		} else {
			var list, ranks []string
			for _, c := range classesOf(r)[:2] {
				list = append(list, unit.Share(c.NS, r.WindowNS)+" "+words.PathClass(c.Name))
			}
			for _, x := range r.Ranks[:min(3, len(r.Ranks))] {
				ranks = append(ranks, unit.Share(x.NS, r.WindowNS)+" rank "+x.Name)
			}
			cells[3], cells[4] = strings.Join(list, ", "), strings.Join(ranks, ", ")
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	return t.WithoutEmpty()
}
