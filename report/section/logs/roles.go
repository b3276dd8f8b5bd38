package logs

import (
	"fmt"
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
		s.Blocks = []doc.Block{roleTable(ctx, st), roleLines(ctx, st)}
		out = append(out, s)
	}
	return out
}

// roleTable has a row for each role.
func roleTable(ctx *section.Context, st *summary.RoleStep) doc.Table {
	scale := doc.ScaleOf(st.StepNS / st.Steps)
	t := doc.Table{Title: "roles", Columns: []doc.Column{doc.Col("role", doc.Text)}}
	for _, state := range roleStates {
		t.Columns = append(t.Columns, doc.Col(scale.Head(words.RoleState(state)), doc.Number))
	}
	for _, role := range roleNames {
		of, from := map[string]int64{}, ""
		for _, r := range ctx.RoleTimes {
			if r.Input == st.Input && r.Role == role {
				of[r.State], from = r.NS, r.From
			}
		}
		if len(of) == 0 {
			continue
		}
		name := role
		if from != "" {
			name += ", by " + label.Plural(int64(len(st.Servers)), "server log")
		}
		row := doc.Row{Weight: of[summary.RoleWorks], Cells: []string{name}}
		for _, state := range roleStates {
			cell := ""
			if ns := of[state]; ns > 0 {
				cell = scale.Text(ns / st.Steps)
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t.WithoutEmpty()
}

// roleLines says which role decides, what overlap would give, and how rollouts end.
func roleLines(ctx *section.Context, st *summary.RoleStep) (list doc.List) {
	line := func(format string, args ...any) { list = append(list, doc.Item{Text: fmt.Sprintf(format, args...)}) }
	mean, perfect := st.StepNS/st.Steps, st.PerfectNS/st.Steps
	how := "Rollout and trainer take turns"
	if st.OverlapNS >= st.StepNS/50 {
		how = fmt.Sprintf("Rollout and trainer work at the same time for at least %s of a step", unit.Duration(st.OverlapNS/st.Steps))
	}
	line("Critical role: %s. %s", st.Critical, how)
	switch {
	case st.Shared:
		line("The inference engine sleeps while the trainer works: the roles share GPUs and cannot overlap on them")
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
	if len(stale) > 0 {
		line("%s", strings.Join(stale[:min(4, len(stale))], "; "))
	}
	return list
}
