package logs

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
)

// roleStates are the columns of the table of roles.
var roleStates = []string{summary.RoleWorks, summary.RoleWaits, summary.RoleSyncs, summary.RolePauses, summary.RoleOther}

// roleNames are the rows of the table of roles.
var roleNames = []string{summary.RoleRollout, summary.RoleTrainer, summary.RoleReward}

// rolesOfSteps returns the seconds of each role in the mean step of each trainer, and what they would be if the roles
// overlapped.
func rolesOfSteps(ctx *section.Context) (out []doc.Section) {
	for i := range ctx.RoleSteps {
		st := &ctx.RoleSteps[i]
		if st.Steps == 0 {
			continue
		}
		s := doc.Section{Title: "Roles of a step", Lead: fmt.Sprintf("mean of %s, %s", label.Plural(st.Steps, "step"), unit.Duration(st.StepNS/st.Steps))}
		if len(ctx.RoleSteps) > 1 {
			s.Title += fmt.Sprintf(" (input %d)", st.Input+1)
		}
		if t := roleTable(ctx, st); len(t.Rows) > 0 {
			s.Blocks = append(s.Blocks, t)
		}
		s.Blocks = append(s.Blocks, roleLines(ctx, st))
		out = append(out, s)
	}
	return out
}

// roleSources say what shows the time of a role.
var roleSources = map[string]string{summary.FromServers: "server log", summary.FromTraces: "trace", summary.FromMonitors: "monitor"}

// roleTable has a row for each role.
func roleTable(ctx *section.Context, st *summary.RoleStep) doc.Table {
	scale := doc.ScaleOf(st.StepNS / st.Steps)
	t := doc.Table{Title: "roles", Columns: []doc.Column{doc.Col("role", doc.Text)}}
	for _, state := range roleStates {
		t.Columns = append(t.Columns, doc.Col(scale.Head(words.RoleState(state)), doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col(scale.Head("GPUs in use"), doc.Number))
	for _, role := range roleNames {
		of := map[string]int64{}
		row := doc.Row{Cells: []string{role}}
		used := ""
		for _, r := range ctx.RoleTimes {
			if r.Input != st.Input || r.Role != role {
				continue
			}
			of[r.State] = r.NS
			if what := roleSources[r.From]; what != "" {
				row.Cells[0] = role + ", by " + label.Plural(r.Inputs, what)
				if r.Covered > 0 && 2*r.Covered < st.Steps {
					row.Cells[0] += " of " + label.Plural(r.Covered, "step")
				}
			}
			if r.InUseNS != nil {
				used = scale.Text(*r.InUseNS / st.Steps)
			}
		}
		if len(of) == 0 {
			continue
		}
		row.Weight = of[summary.RoleWorks]
		for _, state := range roleStates {
			cell := ""
			if ns := of[state]; ns > 0 {
				cell = scale.Text(ns / st.Steps)
			}
			row.Cells = append(row.Cells, cell)
		}
		row.Cells = append(row.Cells, used)
		t.Rows = append(t.Rows, row)
	}
	return t.WithoutEmpty()
}

// whyNotUsed says why an input is not used for roles.
func whyNotUsed(ctx *section.Context, l summary.RoleLeftOut) string {
	for i := range ctx.Clocks {
		if c := &ctx.Clocks[i]; c.Input == l.Input && c.LeftOut == l.Why {
			return whyLeftOut(c)
		}
	}
	return whyLeft[l.Why]
}

// roleLines says which role decides, what overlap would give, and how rollouts end.
func roleLines(ctx *section.Context, st *summary.RoleStep) (list doc.List) {
	line := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if !slices.ContainsFunc(list, func(i doc.Item) bool { return i.Text == text }) { // servers may be alike
			list = append(list, doc.Item{Text: text})
		}
	}
	for _, l := range st.LeftOut[:min(3, len(st.LeftOut))] {
		line("Not used: %s: %s", label.Clip(label.Clean(ctx.Below(ctx.Inputs[l.Input].Path)), 44), whyNotUsed(ctx, l))
	}
	if st.Critical == "" {
		return append(doc.List{{Text: "For how long the rollouts work in a step is unknown"}}, list...)
	}
	mean, perfect := st.StepNS/st.Steps, st.PerfectNS/st.Steps
	how := "Rollout and trainer take turns"
	if st.OverlapNS >= st.StepNS/50 {
		how = fmt.Sprintf("Rollout and trainer work at the same time for at least %s of a step", unit.Duration(st.OverlapNS/st.Steps))
	}
	line("Critical role: %s. %s", st.Critical, how)
	if st.Slowest != nil {
		line("The rollouts are uneven: %s works longest; the mean is %s", label.Clip(label.Clean(ctx.Below(ctx.Inputs[*st.Slowest].Path)), 44),
			unit.Duration(st.MeanNS/st.Steps))
	}
	switch {
	case st.Shared:
		line("The roles share GPUs in turn, so they cannot overlap on them")
	case perfect < mean-mean/50:
		line("If roles overlapped perfectly: %s instead of %s per step. This assumes separate GPUs for each role, unchanged seconds of each, "+
			"and samples that are a step old", unit.Duration(perfect), unit.Duration(mean))
	}
	for _, t := range ctx.RoleTails {
		if t.TailNS*10 >= t.TotalNS {
			line("Slowest rollouts: the last 5%% of the sequences take %s of generation (%s of about %s)", unit.Share(t.TailNS, t.TotalNS),
				label.Plural(t.Batches, "batch"), label.Plural(t.Sequences, "sequence"))
		}
	}
	var stale []string
	for i := range ctx.Series {
		r := &ctx.Series[i]
		if r.Input != st.Input || r.Median == nil || r.Pooled > 0 {
			continue
		}
		switch {
		case r.Metric == "rollout.staleness":
			stale = append(stale, fmt.Sprintf("Staleness of samples: median %s, max %s steps", unit.Value(*r.Median, r.Unit), unit.Value(*r.Max, r.Unit)))
		case r.Labels["phase"] == "weight-sync" && r.N >= 2:
			stale = append(stale, fmt.Sprintf("Weight sync by %s: median %s, max %s", label.Clip(label.Clean(r.Name), 44), unit.Value(*r.Median, r.Unit), unit.Value(*r.Max, r.Unit)))
		}
	}
	for i := range ctx.Settings {
		if r := &ctx.Settings[i]; r.Input == st.Input && r.Name == "sync.method" {
			stale = append(stale, "Weights are moved by "+label.Clip(label.Clean(r.Value), 30))
		}
	}
	if len(stale) > 0 {
		line("%s", strings.Join(stale[:min(4, len(stale))], "; "))
	}
	return list
}
