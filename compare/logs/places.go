package logs

import (
	"maps"
	"slices"

	"assay/summary"
	"assay/summary/view/comparability"
)

// pairRanks gives the metrics of the new side the rank of the base, if each side has a log of only
// one rank and these differ: programs log on their first rank or on their last.
func pairRanks(base, new map[key]*group) {
	from, to := onlyRank(base), onlyRank(new)
	if from == "" || to == "" || from == to {
		return
	}
	for k, g := range maps.Clone(new) {
		if g.labels["rank"] == "" {
			continue
		}
		g.labels, g.newRank = maps.Clone(g.labels), to
		g.labels["rank"] = from
		delete(new, k)
		k.labels = LabelText(g.labels)
		new[k] = g
	}
}

// onlyRank returns the rank of all metrics that have one, or "" if there are several or none.
func onlyRank(of map[key]*group) (rank string) {
	for _, g := range of {
		switch r := g.labels["rank"]; {
		case r == "" || r == rank:
		case rank != "":
			return ""
		default:
			rank = r
		}
	}
	return rank
}

// Places returns a function that prints the labels of a metric without those that all metrics
// share.
func Places(metrics []Metric) func(*Metric) string {
	shared := map[string]string{}
	for i, m := range metrics {
		if i == 0 {
			shared = maps.Clone(m.Labels)
		}
		maps.DeleteFunc(shared, func(name, value string) bool { return m.Labels[name] != value })
	}
	return func(m *Metric) string {
		own := maps.Clone(m.Labels)
		maps.DeleteFunc(own, func(name, _ string) bool { _, common := shared[name]; return common })
		return LabelText(own)
	}
}

// A pool identifies the rows of one metric in one input and phase: one pooled row, and one for each
// place.
type pool struct {
	input                               int
	producer, metric, name, unit, phase string
}

func poolOf(r *summary.Series) pool {
	return pool{r.Input, r.Producer, r.Metric, r.Name, r.Unit, r.Labels["phase"]}
}

// pools returns the rows of single places by their pool. It is empty if there is no pooled row.
func pools(p comparability.Part) map[pool][]*summary.Series {
	out := map[pool][]*summary.Series{}
	if !slices.ContainsFunc(p.Series, func(r summary.Series) bool { return r.Pooled > 0 }) {
		return out
	}
	for i := range p.Series {
		if r := &p.Series[i]; r.Pooled == 0 {
			out[poolOf(r)] = append(out[poolOf(r)], r)
		}
	}
	return out
}
