package logs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary/view/hang"
)

const (
	screenHangs  = 8
	mostHangs    = 200
	mostGroups   = 100
	screenGroups = 6
)

// hangs returns the calls that not all members of a group made.
func hangs(ctx *section.Context, most int) doc.Section {
	list := hang.In(ctx.Summary)
	if len(list) == 0 {
		return doc.Section{}
	}
	several := list[0].Run != ""
	t := doc.Table{Title: "calls", Columns: []doc.Column{doc.Col("call", doc.Text), doc.Col("sequence", doc.Number),
		doc.Col("missing", doc.Text), doc.Col("state", doc.Text), doc.Col("group", doc.Text), doc.Col("since", doc.Text)}}
	for i := range list {
		h := &list[i]
		seq := unit.None
		if h.Kind != hang.Unpaired {
			seq = strconv.FormatInt(h.Seq, 10)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: []string{strings.TrimSpace(label.Clean(h.Op) + " " + label.Clean(h.Shape)), seq, missing(h), hangState(h), groupName(h.Group, h.Desc), since(h)}})
	}
	if several {
		t.Columns = append([]doc.Column{doc.Col("run", doc.Text)}, t.Columns...)
		for i := range list {
			t.Rows[i].Cells = append([]string{label.Clip(label.Clean(label.Base(list[i].Run)), 30)}, t.Rows[i].Cells...)
		}
	}
	t.Note = "Ranks that did not arrive and wait in no other call are nearest to the cause; their calls come first. Look at their logs and stacks (py-spy dump) first."
	return doc.Section{Title: "Calls that did not complete", Lead: "from the flight recorder, the watchdog and NCCL",
		Blocks: []doc.Block{t.Cut(most)}}
}

// groupName returns the display name of a group.
func groupName(name, desc string) string {
	return label.Clip(label.Clean(cmp.Or(strings.TrimSpace(desc+" "+name), "unknown")), 44)
}

// missing returns the ranks that block a call. A narrow screen cannot show the whole state, and without
// these ranks calls of several groups may look alike.
func missing(h *hang.Hang) string {
	if len(h.Absent) == 0 {
		return "unknown"
	}
	return label.Clip(strings.TrimPrefix(strings.TrimPrefix(ranksText(h.Absent, "", ""), "ranks "), "rank "), 20)
}

// hangState states which ranks did what.
func hangState(h *hang.Hang) string {
	var s string
	switch h.Kind {
	case hang.NotArrived:
		s = fmt.Sprintf("%s did not arrive; %s", ranksText(h.Absent, "", ""), ranksText(h.Waiting, "waits", "wait"))
	case hang.NotCompleted:
		s = fmt.Sprintf("%s; completed on %s", ranksText(h.Absent, "has not completed it", "have not completed it"),
			ranksText(h.Waiting, "", ""))
	case hang.Unpaired:
		s = fmt.Sprintf("%s on rank %d without a %s on rank %d", label.Plural(h.Calls, "call"), h.Waiting[0],
			counterpart(h.Op), h.Absent[0])
		if h.Places {
			s += " (ranks in the group)"
		}
	case hang.TimedOut:
		s = "timed out on " + ranksText(h.Waiting, "", "") + "; who is missing is unknown"
		if len(h.Absent) > 0 {
			s = "timed out on " + ranksText(h.Waiting, "", "") + "; " + ranksText(h.Absent, "", "") + " ran out of memory"
		}
	}
	if len(h.Unknown) > 0 {
		s += "; nothing is known of " + ranksText(h.Unknown, "", "")
	}
	return s
}

func counterpart(op string) string {
	if op == "Send" {
		return "Recv"
	}
	return "Send"
}

// ranksText returns "rank 3 waits", "ranks 3, 5-7 wait".
func ranksText(ranks []int, one, several string) string {
	if len(ranks) == 0 {
		return "no rank"
	}
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		switch {
		case j-i >= 2:
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		default:
			for k := i; k <= j; k++ {
				parts = append(parts, strconv.Itoa(ranks[k]))
			}
		}
		i = j + 1
	}
	if len(parts) > 12 {
		parts = append(parts[:12], fmt.Sprintf("and others (%d in all)", len(ranks)))
	}
	if len(ranks) == 1 {
		return strings.TrimSpace("rank " + parts[0] + " " + one)
	}
	return strings.TrimSpace("ranks " + strings.Join(parts, ", ") + " " + several)
}

func since(h *hang.Hang) string {
	switch {
	case h.SinceNS > 0:
		return time.Unix(0, h.SinceNS).UTC().Format("2006-01-02 15:04:05.000") + " UTC"
	case h.RanNS > 0:
		return "waited " + unit.FineDuration(h.RanNS)
	}
	return unit.None
}

// groups returns the communicators and process groups, with one row for all members of a group.
func groups(ctx *section.Context, most int) doc.Section {
	type key struct{ run, source, group, desc string }
	type row struct {
		key
		rows, size, nodes, channels int
		calls, pending              int64
		version                     string
		transports                  map[string]int64
	}
	index := map[key]*row{}
	runs := hang.Runs(ctx.Summary)
	var order []*row
	unpaired := map[string]int64{}
	for _, h := range hang.In(ctx.Summary) {
		if h.Kind == hang.Unpaired {
			unpaired[h.Group] += h.Calls
		}
	}
	for i := range ctx.Groups {
		g := &ctx.Groups[i]
		k := key{runs[g.Input], g.Source, g.Group, g.Desc}
		r := index[k]
		if r == nil {
			r = &row{key: k, transports: map[string]int64{}}
			index[k] = r
			order = append(order, r)
		}
		r.rows++
		r.size, r.nodes, r.channels = max(r.size, g.Size, len(g.Members)), max(r.nodes, g.Nodes), max(r.channels, g.Channels)
		r.version = cmp.Or(r.version, g.Version)
		r.pending += int64(len(g.Pending)) + g.Dropped
		for _, c := range g.Calls {
			r.calls += c.Calls
		}
		for t, n := range g.Transports {
			r.transports[t] += n
		}
	}
	if len(order) == 0 {
		return doc.Section{}
	}
	for _, r := range order {
		if r.source == "NCCL log" { // NCCL logs the begin of a call, but not its end
			r.pending = unpaired[r.group]
		}
	}
	slices.SortStableFunc(order, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.pending, a.pending), cmp.Compare(b.size, a.size), cmp.Compare(b.calls, a.calls))
	})
	t := doc.Table{Title: "groups", Columns: []doc.Column{doc.Col("group", doc.Text), doc.Col("from", doc.Text),
		doc.Col("ranks", doc.Number), doc.Col("given", doc.Number), doc.Col("nodes", doc.Number),
		doc.Col("channels", doc.Number),
		doc.Col("calls", doc.Number), doc.Col("pending", doc.Number), doc.Col("transports", doc.Text), doc.Col("NCCL",
			doc.Text)}}
	for _, r := range order {
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: []string{groupName(r.group, r.desc), r.source, positive(r.size),
			positive(r.rows), positive(r.nodes), positive(r.channels), unit.Count(r.calls), pendingText(r.source, r.pending),
			transportText(r.transports), cmp.Or(label.Clean(r.version), unit.None)}})
	}
	if runs != nil {
		t.Columns = append([]doc.Column{doc.Col("run", doc.Text)}, t.Columns...)
		for i, r := range order {
			t.Rows[i].Cells = append([]string{label.Clip(label.Clean(label.Base(r.run)), 30)}, t.Rows[i].Cells...)
		}
	}
	return doc.Section{Title: "Groups of ranks", Blocks: []doc.Block{t.Cut(most)}}
}

// pendingText returns the number of pending calls. A log of NCCL shows it only for sends and receives.
func pendingText(source string, n int64) string {
	if source == "NCCL log" && n == 0 {
		return unit.None
	}
	return unit.Count(n)
}

func positive(n int) string {
	if n <= 0 {
		return unit.None
	}
	return strconv.Itoa(n)
}

// transportText returns the transports with their numbers of connections, the most frequent first.
func transportText(connections map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(connections),
		func(a, b string) int {
			return cmp.Or(cmp.Compare(connections[b], connections[a]), strings.Compare(a, b))
		})
	var parts []string
	for _, n := range names[:min(len(names), 3)] {
		parts = append(parts, fmt.Sprintf("%s (%d)", label.Clean(n), connections[n]))
	}
	return cmp.Or(strings.Join(parts, ", "), unit.None)
}
