package inspection

import (
	"fmt"
	"slices"
	"strings"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// ends say why a chain goes no further back.
var ends = map[string]string{
	inspect.EndStep: "The step begins there.", inspect.EndTrace: "Nothing before it is recorded.",
	inspect.EndUnexplained: "Nothing in the trace explains why it did not start earlier.",
	inspect.EndArrival:     "The batch came from another process at that time.",
}

// why returns the sections about one start.
func (v *view) why(w *inspect.Why) []doc.Section {
	k := &w.Start
	s := doc.Section{Title: fmt.Sprintf("Why %s started at %s ms", kernel(k.Name), at(k.AtNS)), Lead: v.started(w)}
	if w.Verdict == "abstain" {
		s.Blocks = []doc.Block{doc.Paragraph{Text: "Withheld: " + strings.Join(w.Reasons, "; ") + "."}}
		return []doc.Section{s}
	}
	s.Blocks = append(s.Blocks, doc.Paragraph{Text: answer(w), Strong: true})
	if len(w.Causes) > 0 {
		s.Blocks = append(s.Blocks, v.causes(w))
	}
	if w.Verdict != "ok" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Read with care: " + strings.Join(w.Reasons, "; ") + "."})
	}
	return []doc.Section{s, v.chain(w)}
}

// started says what the operation is.
func (v *view) started(w *inspect.Why) string {
	k := &w.Start
	parts := []string{fmt.Sprintf("%s stream %d", v.placed(k.GPU), k.Stream)}
	if k.Step != nil {
		parts = append(parts, "step "+fmt.Sprint(k.Step.Number))
	}
	parts = append(parts, "takes "+unit.FineDuration(k.NS))
	if w.Matches > 1 {
		parts = append(parts, fmt.Sprintf("the longest of %s like %q%s", launches(w.Matches), label.Clean(v.a.Question.Kernel), v.in()))
	}
	switch {
	case w.Verdict == "abstain":
	case w.OnPath:
		parts = append(parts, "on the critical path of "+path(w))
	case w.Path != "":
		parts = append(parts, "not on the critical path of "+path(w))
	}
	return strings.Join(parts, ", ")
}

// path names the step of a path.
func path(w *inspect.Why) string {
	if w.Path == "whole trace" {
		return "the " + w.Path
	}
	return name(w.Path)
}

// answer says in words what determined the start.
func answer(w *inspect.Why) string {
	if len(w.Causes) == 0 {
		return "The trace has neither its launch call nor earlier work of its stream, so nothing tells what it waited for."
	}
	c := &w.Causes[0]
	if c.UnexplainedNS > 0 {
		return fmt.Sprintf("Nothing in the trace explains the last %s before it: all that it is known to wait for was ready at %s ms.",
			unit.FineDuration(c.UnexplainedNS), at(c.AtNS))
	}
	text := ""
	switch c.Kind {
	case "launch":
		text = fmt.Sprintf("The CPU launched it late: %s began %s before it", name(c.Name), unit.FineDuration(c.DelayNS))
	case "stream":
		text = fmt.Sprintf("Its stream was busy: %s ended %s before it", kernel(c.Name), unit.FineDuration(c.DelayNS))
	default:
		text = fmt.Sprintf("It waited for %s (%s), which ended %s before it", kernel(c.Name), c.Lane, unit.FineDuration(c.DelayNS))
	}
	if c.Inferred {
		text += " (inferred from the order of calls)"
	}
	if len(w.Causes) == 1 {
		return text + ". It waited for nothing else."
	}
	next := &w.Causes[1]
	if next.SpareNS == 0 {
		return text + fmt.Sprintf(". The other cause (%s) came at the same time.", words.WaitedFor(next.Kind))
	}
	return text + fmt.Sprintf(". Without that it could have started up to %s earlier; then it waits for: %s.", unit.FineDuration(next.SpareNS),
		words.WaitedFor(next.Kind))
}

// where names the lane of an activity, without the rank and GPU if they are those of the start. Of another rank it has no
// GPU, so that rows stay short: a rank seldom has two.
func (v *view) where(w *inspect.Why, rank int, lane string) string {
	lane, _, _ = strings.Cut(label.Clean(lane), " (") // the name of a thread
	lane = label.Clip(lane, 24)
	if rank == w.Start.Rank {
		lane = strings.TrimPrefix(lane, fmt.Sprintf("GPU %d ", w.Start.Device))
	}
	lane = strings.TrimPrefix(lane, "CPU ")
	if rank != w.Start.Rank && lane != "" {
		if i := strings.Index(lane, "stream "); i > 0 {
			lane = lane[i:]
		}
		return fmt.Sprintf("rank %d %s", rank, lane)
	}
	return lane
}

func (v *view) causes(w *inspect.Why) doc.Table {
	t := doc.Table{Title: "causes", Columns: []doc.Column{doc.Col("waited for", doc.Text), doc.Col("activity", doc.KernelName),
		doc.Col("where", doc.Text), doc.Col("ready (ms)", doc.Number), doc.Col("delay", doc.Number), doc.Col("typical", doc.Number),
		doc.Col("slack", doc.Text)},
		Note: "Ready: when it allowed the start. Delay: from then to the start; of a launch it includes the call. Slack: how much later it could have come."}
	for i := range w.Causes {
		c := &w.Causes[i]
		slack := unit.FineDuration(c.SpareNS)
		if c.Bound {
			slack = "bound"
			if c.UnexplainedNS > 0 {
				slack = "not explained"
			}
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{kind(c), c.Name, v.where(w, c.Rank, c.Lane), at(c.AtNS), unit.FineDuration(c.DelayNS),
			unit.FineDuration(c.TypicalNS), slack}})
	}
	return t
}

// inferredNote explains the mark of inferred causes where there is one.
func inferredNote(w *inspect.Why) string {
	inferred := slices.ContainsFunc(w.Causes, func(c inspect.Waited) bool { return c.Inferred }) ||
		slices.ContainsFunc(w.Chain, func(l inspect.Link) bool { return l.Waited != nil && l.Waited.Inferred })
	if !inferred {
		return ""
	}
	return " Causes marked ~ are inferred from the order of calls."
}

func kind(c *inspect.Waited) string {
	text := words.WaitedFor(c.Kind)
	if c.Inferred {
		text = "~" + text
	}
	return text
}

// chain lists what came before.
func (v *view) chain(w *inspect.Why) doc.Section {
	if len(w.Chain) == 0 {
		return doc.Section{}
	}
	s := doc.Section{Title: "Chain of causes", Lead: "latest first; a row is what one stream or thread did until the row above could start"}
	t := doc.Table{Title: "links", Columns: []doc.Column{doc.Col("start (ms)", doc.Number), doc.Col("length", doc.Number), doc.Col("where", doc.Text),
		doc.Col("mostly", doc.KernelName), doc.Col("%", doc.Number), doc.Col("waited for", doc.Text), doc.Col("next to bind", doc.Text)},
		Note: "Waited for: by the start of the row. Next to bind: what it would wait for without that, and how much earlier it could start at most."}
	for i := range w.Chain {
		l := &w.Chain[i]
		mostly, share, bound, next := "", "", "", ""
		if len(l.Names) > 0 {
			mostly = l.Names[0].Name
			if l.NS > 0 {
				share = unit.Share(l.Names[0].NS, l.NS)
			}
		}
		if c := l.Waited; c != nil {
			if bound = kind(c); c.UnexplainedNS > 0 {
				bound = "(not explained)"
			}
		}
		if c := l.Next; c != nil && l.Waited != nil && l.Waited.UnexplainedNS == 0 {
			next = words.WaitedFor(c.Kind) + ", " + unit.FineDuration(c.SpareNS)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{at(l.AtNS), unit.FineDuration(l.NS), v.where(w, l.Rank, l.Lane), mostly, share, bound, next}})
	}
	s.Blocks = []doc.Block{t.WithoutEmpty()}
	text := ends[w.Ends]
	if text == "" {
		text = "The chain goes on: --top shows more."
	}
	s.Blocks = append(s.Blocks, doc.Paragraph{Text: text + inferredNote(w)})
	return s
}
