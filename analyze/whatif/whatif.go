// Package whatif answers what the critical path of a step is made of, and what changes to the
// program would give. It makes rows of the results of packages critical and forecast, for one input or for the
// ranks of one job. Package report/whatif prints them.
package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/analyze/classify"
	"assay/analyze/critical"
	"assay/analyze/critical/change"
	"assay/analyze/critical/forecast"
	"assay/analyze/critical/graph"
	"assay/analyze/gpu"
	"assay/analyze/phase"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/stat"
	"assay/summary"
	"assay/trace"
)

// Schema names the layout of the JSON of an answer.
const Schema = "assay/whatif/1"

// An Answer has the critical paths of the steps, and what changes would make of them.
type Answer struct {
	Schema  string   `json:"schema"`
	Inputs  []Source `json:"inputs"`
	Change  string   `json:"change,omitempty"`
	Matched int      `json:"matched_collectives,omitempty"` // by which several ranks are joined
	Apart   string   `json:"apart,omitempty"`               // why the ranks are not joined

	CriticalPaths []summary.CriticalPath `json:"critical_paths"`
	Forecasts     []summary.Forecast     `json:"forecasts"`
	Profiler      []OfProfiler           `json:"profiler,omitempty"` // what recording costs, of traces of PyTorch's profiler
	// Sweep has single changes at twice the speed by what they gain over all steps, largest first.
	Sweep []Gain `json:"sweep,omitempty"`
	// Operations has the answers for timelines of operations, which have no GPU work.
	Operations   []OfOperations   `json:"operations,omitempty"`
	Negotiations []OfNegotiations `json:"negotiations,omitempty"` // of Horovod
}

// A Source is an input.
type Source struct {
	Path string `json:"path"`
	Rank int    `json:"rank"`
}

// A Gain is what one change would give over all steps that were asked for.
type Gain struct {
	Change     string   `json:"change"`
	MeasuredNS int64    `json:"measured_ns"`
	ForecastNS *int64   `json:"forecast_ns,omitempty"` // nil if it is withheld
	Bound      bool     `json:"bound,omitempty"`       // as of a forecast
	Verdict    string   `json:"verdict"`
	Reasons    []string `json:"reasons"`
}

// An Input is a trace to answer for.
type Input struct {
	Trace *trace.Trace
	Index int // as in summary.GPU
	Rank  int
	Path  string
	Part  interval.Span // only steps that start in it are answered for

	Devices map[int64]bool // of one of several processes of a capture; nil for all
	Context bool           // it is not answered for: others may wait for it
}

// A Question says what to answer.
type Question struct {
	Changes []change.Change
	Sweep   bool
	Given   int64  // ns of a step without the profiler, or 0
	GivenBy string // the path of the log that has it, or ""
	Ranks   []int  // the ranks to answer for; nil for all
	Rules   *classify.Rules
	Phases  *phase.Rules
}

// Of answers a question about the ranks of one job.
func Of(inputs []Input, q Question) (*Answer, error) {
	a := &Answer{Schema: Schema, CriticalPaths: []summary.CriticalPath{}, Forecasts: []summary.Forecast{}}
	var texts []string
	for _, c := range q.Changes {
		texts = append(texts, c.String())
	}
	a.Change = strings.Join(texts, " ")
	inputs, err := q.choose(inputs)
	if err != nil {
		return nil, err
	}
	for _, in := range inputs {
		if !in.Context {
			a.Inputs = append(a.Inputs, Source{in.Path, in.Rank})
		}
	}
	inputs, err = a.operations(inputs, q)
	if err != nil || len(inputs) == 0 {
		return a, err
	}
	groups, apart := Graphs(inputs, q)
	a.Apart = apart
	for _, g := range groups {
		if len(g.Inputs) > 1 {
			a.Matched = g.Counts.Collectives
		}
		if err := a.answer(&g, q); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// A Group is the graph of inputs that are answered for together.
type Group struct {
	*forecast.Model
	Inputs []Input
}

// Graphs returns one graph of all inputs if they are ranks that share collectives, else one of each
// input and the reason.
func Graphs(inputs []Input, q Question) ([]Group, string) {
	graphs := make([]*graph.Graph, len(inputs))
	for i, in := range inputs {
		graphs[i] = GraphOf(in.Trace, in.Rank, q)
		doubt(graphs[i], in.Trace, q)
	}
	return groupsOf(graphs, inputs)
}

// GraphOf returns the graph of one rank. Its answers are withheld if the waits of the host are not in the trace:
// block_until_ready of JAX waits for a callback, which the profiler of XLA does not record.
func GraphOf(t *trace.Trace, rank int, q Question) *graph.Graph {
	words := steps.NewVocabulary(t, q.Phases)
	g := graph.Of(t, graph.Options{Rank: rank, Rules: q.Rules, Windows: windows(words), Phase: steps.PhasesOf(words).Innermost()})
	if t.Meta.Tool == trace.ToolXLA {
		g.Doubt("the profiler of XLA does not record when the CPU waits for the device, as block_until_ready does")
	}
	return g
}

// doubt withholds the answers of a graph whose durations no GPU can reach.
func doubt(g *graph.Graph, t *trace.Trace, q Question) {
	var found diag.Ledger
	gpu.NewTimeline(t, cmp.Or(q.Rules, classify.Default()), &found).NoteShort(&found)
	for _, x := range found.Issues() {
		if x.Severity == diag.Suspect {
			why, _, _ := strings.Cut(x.Help, ". ") // what follows is for summaries
			g.Doubt(why)
		}
	}
}

// groupsOf joins the graphs of ranks if it can, else apart is the reason why it cannot.
func groupsOf(graphs []*graph.Graph, inputs []Input) (out []Group, apart string) {
	of := copied(inputs)
	switch {
	case of != "":
		apart = of + ", and each rank is answered for by itself"
	case twice(inputs):
		apart = "several inputs have the same rank, so they belong to different captures and each is answered for by itself"
	case len(graphs) > 1:
		g, why := graph.Join(graphs)
		if g != nil {
			return []Group{groupOf(g, inputs)}, ""
		}
		apart = why + ", so each rank is answered for by itself"
	}
	for i, g := range graphs {
		out = append(out, groupOf(g, inputs[i:i+1]))
	}
	return out, apart
}

func groupOf(g *graph.Graph, inputs []Input) Group {
	m := forecast.ModelOf(critical.New(g))
	m.Copies = copying(inputs)
	return Group{m, inputs}
}

// twice reports whether two inputs are of the same rank. They are sorted by it.
func twice(inputs []Input) bool {
	for i := range inputs[1:] {
		if inputs[i].Rank == inputs[i+1].Rank {
			return true
		}
	}
	return false
}

// windows returns the steps of a trace.
func windows(v *steps.Vocabulary) (out []graph.Window) {
	var unused diag.Ledger
	for _, m := range steps.MarksOf(v, &unused) {
		out = append(out, graph.Window{Name: v.Name(m.Name), Track: m.Track, Span: m.Span})
	}
	return out
}

// answer adds the rows of one graph.
func (a *Answer) answer(g *Group, q Question) error {
	paths, inputs := g.Paths(), g.Inputs
	chosen := g.chosen(paths)
	for _, i := range chosen {
		a.CriticalPaths = append(a.CriticalPaths, row(g.Program, &paths[i], &inputs[paths[i].Rank]))
	}
	a.profiler(g, paths, chosen, q)
	if len(q.Changes) > 0 {
		list, changed, err := g.Forecast(paths, q.Changes)
		if err != nil {
			return err
		}
		rests := forecast.Assumptions(q.Changes, len(inputs))
		for _, i := range chosen {
			f, in := &list[i], &inputs[list[i].Rank]
			if !changed {
				f.Verdict.Add(critical.Warn, "no event of the trace matches the change")
			}
			row := forecastRow(f, in, a.Change, rests, change.Bound(q.Changes))
			if q.Given > 0 {
				row.FittedNS = &f.Fitted
			}
			a.Forecasts = append(a.Forecasts, row)
		}
	}
	if q.Sweep {
		for _, x := range g.Sweep(paths, chosen) {
			if x.OfComm {
				ofOneRank(&x.Verdict, inputs)
			}
			bound := change.Bound([]change.Change{x.Change})
			x.Verdict.AtBest(bound)
			row := Gain{x.Change.String(), x.Before, &x.After, bound, x.Verdict.Level.String(), texts(x.Verdict.Reasons)}
			if row.Verdict == summary.Withheld {
				row.ForecastNS = nil
			}
			a.Sweep = append(a.Sweep, row)
		}
		slices.SortStableFunc(a.Sweep, func(x, y Gain) int { return cmp.Compare(y.Gain(), x.Gain()) })
	}
	return nil
}

// Gain returns the time that the change gives, in ns, or 0 if it is withheld.
func (g *Gain) Gain() int64 {
	if g.ForecastNS == nil {
		return 0
	}
	return g.MeasuredNS - *g.ForecastNS
}

// ofOneRank withholds a forecast of faster communication for one rank of several: its communication
// has the time that it waited for the others, which only a forecast of all of them knows.
func ofOneRank(v *critical.Verdict, inputs []Input) {
	if len(inputs) == 1 && !alone(inputs[0].Trace) {
		v.Add(critical.Abstain, "communication of one rank includes waiting for other ranks; give the traces of all")
	}
}

// alone reports whether a trace says that its job has one rank.
func alone(t *trace.Trace) bool { return t.Meta.WorldSize != nil && *t.Meta.WorldSize == 1 }

// forecastRow returns the row of a forecast.
func forecastRow(f *forecast.Forecast, in *Input, change string, rests []string, bound bool) summary.Forecast {
	f.Verdict.AtBest(bound)
	out := summary.Forecast{Input: in.Index, Rank: in.Rank, Step: label(f.Step), Change: change, MeasuredNS: f.Measured, Bound: bound,
		Verdict: f.Verdict.Level.String(), Reasons: texts(f.Verdict.Reasons), Assumptions: rests}
	if out.Verdict != summary.Withheld {
		c := classes(&f.Classes)
		out.ForecastNS, out.Classes = &f.Forecast, &c
	}
	return out
}

// texts returns a list that is empty, not nil, without reasons.
func texts(list []string) []string { return append([]string{}, list...) }

// label returns the name of a step without the memory of the trace.
func label(s string) string { return strings.Clone(s) }

func classes(c *[graph.Classes]int64) summary.PathClasses {
	return summary.PathClasses{
		HostOp: c[graph.HostOp], Python: c[graph.Python], HostGap: c[graph.HostGap], Runtime: c[graph.Runtime],
		DataLoader: c[graph.DataLoader], LaunchDelay: c[graph.LaunchDelay], KernelGap: c[graph.KernelGap],
		SyncReturn: c[graph.SyncReturn], Compute: c[graph.Compute], Comm: c[graph.Comm], Copy: c[graph.Copy],
		Unexplained: c[graph.Unexplained],
	}
}

// most is how many operators, and how many kernels, a path lists.
const most = 10

// row returns the row of a path.
func row(g *critical.Program, p *critical.Path, in *Input) summary.CriticalPath {
	out := summary.CriticalPath{
		Input: in.Index, Rank: in.Rank, Step: label(p.Step), StartNS: p.Window.Start + g.Offset(p.Rank), WindowNS: p.Window.Len(),
		Classes: classes(&p.Classes), InferredNS: p.Inferred, ExactNS: p.Exact, ExplainedNS: p.Explained,
		Verdict: p.Verdict.Level.String(), Reasons: texts(p.Verdict.Reasons),
	}
	if out.Verdict == summary.Withheld {
		return out
	}
	sums := g.SumsOf(p)
	out.Operators, out.Kernels = parts(sums.Operators), parts(sums.Kernels)
	out.Modules, out.Phases = parts(sums.Modules), parts(sums.Phases)
	out.Communication = communication(g.Sent(p))
	if len(sums.Ranks) > 1 {
		ranks := make(map[string]int64)
		for n, ns := range sums.Ranks {
			ranks[fmt.Sprint(n)] = ns
		}
		out.Ranks = parts(ranks)
	}
	return out
}

// communication returns the communication of a step by name.
func communication(list []critical.Sent) (out []summary.PathComm) {
	at, slack := map[string]int{}, map[string][]int64{}
	for _, s := range list {
		i, ok := at[s.Name]
		if !ok {
			i = len(out)
			at[s.Name], out = i, append(out, summary.PathComm{Name: strings.Clone(s.Name)})
		}
		c := &out[i]
		c.Count, c.NS = c.Count+1, summary.Plus(c.NS, s.Span.Len())
		if s.Late > 0 {
			c.Late, c.LateNS = c.Late+1, summary.Plus(c.LateNS, s.Late)
		}
		if s.Slack >= 0 {
			slack[s.Name] = append(slack[s.Name], s.Slack)
		}
	}
	for i := range out {
		if list := slack[out[i].Name]; list != nil {
			ns := stat.Median(list)
			out[i].SlackNS = &ns
		}
	}
	slices.SortStableFunc(out, func(a, b summary.PathComm) int { return cmp.Compare(b.NS, a.NS) })
	return out[:min(len(out), most)]
}

// parts returns the names with the most time.
func parts(sums map[string]int64) []summary.PathPart {
	list := make([]summary.PathPart, 0, len(sums))
	for name, ns := range sums {
		list = append(list, summary.PathPart{Name: strings.Clone(name), NS: ns})
	}
	slices.SortFunc(list, func(a, b summary.PathPart) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), most)]
}
