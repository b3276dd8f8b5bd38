package inspection

import (
	"fmt"
	"strings"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// moment returns the sections about a moment of one input.
func (v *view) moment(m *inspect.Moment) []doc.Section {
	title := fmt.Sprintf("At %s ms (ts %s)", at(m.AtNS), unit.Timestamp(m.TimeNS))
	if v.inputs > 1 {
		title = fmt.Sprintf("Rank %d at %s ms (ts %s)", m.Rank, at(m.AtNS), unit.Timestamp(m.TimeNS))
	}
	var parts []string
	for i := range m.Devices {
		if s := m.Devices[i].Step; s != nil && (i == 0 || m.Devices[0].Step == nil || *s != *m.Devices[0].Step) {
			parts = append(parts, name(s.Name))
		}
	}
	if m.Phase != "" {
		parts = append(parts, "phase "+name(m.Phase))
	}
	out := []doc.Section{{Title: title, Lead: strings.Join(parts, ", ")}}
	if len(parts) == 0 && len(m.Devices) > 0 {
		out[0].Lead = "in no step"
	}
	for i := range m.Devices {
		out = append(out, deviceAt(&m.Devices[i]))
	}
	for _, t := range m.Threads {
		out = append(out, threadAt(m, t))
	}
	if m.ThreadsLeft > 0 {
		out = append(out, doc.Section{Title: "Further threads", Lead: fmt.Sprint(m.ThreadsLeft)})
	}
	return out
}

// deviceAt describes a GPU at a moment.
func deviceAt(d *inspect.Device) doc.Section {
	running := 0
	for _, s := range d.Streams {
		running += len(s.Running)
	}
	lead := fmt.Sprintf("%s running, %d queued", label.Plural(int64(running), "operation"), d.Queued)
	switch {
	case d.Outside:
		lead = fmt.Sprintf("outside the GPU window, %d queued", d.Queued)
	case d.Gap != nil:
		lead = fmt.Sprintf("idle, in a gap of %s from %s ms on, %d queued", unit.FineDuration(d.Gap.NS), at(d.Gap.AtNS),
			d.Queued)
		if len(d.Gap.Causes) > 0 {
			c := d.Gap.Causes[0]
			lead += "; cause: " + words.Cause(c.Owner, c.State, c.Name)
		}
	}
	t := doc.Table{Title: "streams", Columns: []doc.Column{doc.Col("stream", doc.Number), doc.Col("", doc.Text),
		doc.Col("operation", doc.KernelName), doc.Col("length", doc.Number),
		doc.Col("when", doc.Text)}, More: rest(d.StreamsLeft)}
	add := func(stream int64, what string, c *inspect.Current, when string) {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{fmt.Sprint(stream), what, c.Name, unit.FineDuration(c.NS), when}})
	}
	for _, s := range d.Streams {
		if s.Before != nil {
			add(s.Stream, "before", s.Before, "ended "+unit.FineDuration(s.Before.AgoNS)+" ago")
		}
		for i := range s.Running {
			add(s.Stream, "running", &s.Running[i], "for "+unit.FineDuration(s.Running[i].AgoNS))
		}
		if s.After != nil {
			add(s.Stream, "next", s.After, "in "+unit.FineDuration(-s.After.AgoNS))
		}
	}
	title := fmt.Sprintf("GPU %d", d.Device)
	if d.Name != "" {
		title += " (" + name(d.Name) + ")"
	}
	return doc.Section{Title: title, Lead: lead, Blocks: []doc.Block{t}}
}

// threadAt lists the events that are open on a thread at a moment.
func threadAt(m *inspect.Moment, th inspect.Thread) doc.Section {
	const shown = 12
	t := doc.Table{Title: "open events", Columns: []doc.Column{doc.Col("since", doc.Number),
		doc.Col("length", doc.Number), doc.Col("event", doc.Name)}}
	open, depth := th.Open, 0
	if more := len(open) - shown; more > 0 {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{"", "", fmt.Sprintf("(%d outer events)", more)}})
		open, depth = open[more:], 1
	}
	for i, s := range open {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{unit.FineDuration(m.AtNS - s.AtNS), unit.FineDuration(s.NS),
			strings.Repeat("· ", depth+i) + s.Name}})
	}
	return doc.Section{Title: "CPU " + name(th.Name), Lead: "open events, outer to inner", Blocks: []doc.Block{t}}
}
