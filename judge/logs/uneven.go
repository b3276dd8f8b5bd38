package logs

import (
	"fmt"

	"assay/internal/label"
	"assay/judge/finding"
	"assay/judge/rule"
)

// busiest finds the replicas that run the fewest and the most requests, among those with enough
// lines.
type busiest struct {
	low, high     *replica
	lowIn, highIn int // indices of their inputs
	n             int
}

func (b *busiest) add(p *replica, input int, least int64) {
	if r := p.any("requests.running", "", "decode"); r == nil || r.N < least {
		return
	}
	b.n++
	if b.low == nil || p.running() < b.low.running() {
		b.low, b.lowIn = p, input
	}
	if b.high == nil || p.running() > b.high.running() {
		b.high, b.highIn = p, input
	}
}

// finding compares the two replicas. If the busiest one runs very few requests, a difference says
// nothing.
func (b *busiest) finding(e servers) (f finding.Finding, limit float64, ok bool) {
	const fewest = 4
	if b.n < 2 || b.high.running() < fewest {
		return f, 0, false
	}
	return e.measured(rule.UnevenReplicas, 1-b.low.running()/b.high.running())
}

// unevenReplicas compares the mean numbers of running requests of replicas over time.
func (e servers) unevenReplicas(in *input) (finding.Finding, bool) {
	var b busiest
	for _, p := range in.replicas() {
		b.add(p, in.index, e.Limits[rule.UnevenReplicas].MinEvents)
	}
	f, limit, ok := b.finding(e)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Uneven replicas: the least busy one runs %s fewer requests than the busiest",
		percent(f.Value)) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("running requests, mean over time: %.3g%s, %.3g%s, of %s", b.high.running(),
		b.high.on(), b.low.running(), b.low.on(), label.Plural(int64(b.n), "replica"))}
	f.Next = []finding.Step{finding.Advise("balance-replicas")}
	return f, true
}

// unevenLogs compares the servers in several logs of one program and role. The finding is only information,
// because logs do not show whether the servers were replicas of one service at the same time.
func (e servers) unevenLogs() (finding.Finding, bool) {
	byService := map[string]*busiest{}
	var order []*busiest
	for i := range e.inputs {
		in := &e.inputs[i]
		for _, p := range in.replicas() {
			service := p.producer() + e.roles.Role(in.index) // servers of other roles have other loads
			b := byService[service]
			if b == nil {
				b = &busiest{}
				byService[service], order = b, append(order, b)
			}
			b.add(p, in.index, e.Limits[rule.UnevenReplicas].MinEvents)
		}
	}
	for _, b := range order {
		f, _, ok := b.finding(e)
		if !ok || b.lowIn == b.highIn || !e.roles.Same(b.lowIn, b.highIn) {
			continue
		}
		f.Level = finding.Info
		f.Title = fmt.Sprintf("Uneven servers: the least busy log has %s fewer running requests than the busiest",
			percent(f.Value))
		name := func(i int) string { return label.Clip(label.Clean(label.Base(e.logged.Inputs[i].Path)), 40) }
		f.Evidence = []string{fmt.Sprintf("running requests, mean over time: %.3g in %s, %.3g in %s, of %s",
			b.high.running(), name(b.highIn), b.low.running(), name(b.lowIn), label.Plural(int64(b.n), "server")),
			"if they are replicas of one service at the same time, requests are not distributed evenly"}
		f.Next = []finding.Step{finding.Advise("balance-replicas")}
		f.Where = append(f.Where, finding.Place{Input: b.lowIn, Rank: e.logged.Inputs[b.lowIn].Rank})
		return f, true
	}
	return finding.Finding{}, false
}

// producer returns the program that logged a replica.
func (p *replica) producer() string {
	if r := p.any("requests.running", "", "decode"); r != nil {
		return r.Producer
	}
	return ""
}
