package logs

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// servers has the rules on inference servers.
type servers struct{ *Evaluator }

// requestsQueued judges how long requests wait while the KV cache has room.
func (e servers) requestsQueued(in *input) (finding.Finding, bool) {
	full := e.Limits[rule.KVCacheFull].OfPeak
	p, share := e.worstReplica(in, rule.RequestsQueued, func(p *replica) (float64, int64) {
		return p.share(cached, func(m moment) bool { return m.queued > 0 && m.usage < full })
	})
	if p == nil {
		return finding.Finding{}, false
	}
	wait := "batch"
	switch {
	case p.any("requests.inflight", "prefill") != nil && p.any("requests.running", "decode") == nil:
		wait = "prefill-server"
	case !p.limited():
		wait = "prefill"
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.RequestsQueued, Value: share,
		Words: map[string]string{"wait": wait, "time": p.timeText(), "on": p.on()}, Lists: lists(in, p)}))
}

// lists returns the lines of evidence about a replica that several rules use.
func lists(in *input, p *replica) map[string][]string {
	return map[string][]string{"replica": p.evidence(), "throughput": in.throughputText()}
}

// kvCacheFull judges how long requests wait while the KV cache is full, and how often requests are
// preempted.
func (e servers) kvCacheFull(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.KVCacheFull]
	p, worst := e.worstReplica(in, rule.KVCacheFull, func(p *replica) (float64, int64) {
		share, n := p.share(cached, func(m moment) bool { return m.usage >= limits.OfPeak && m.queued > 0 })
		return max(share, p.preempting()), n
	})
	if p == nil {
		return finding.Finding{}, false
	}
	f, limit, ok := e.measured(rule.KVCacheFull, worst)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("%s full while requests queue: %s %s%s", finding.Upper(p.fullPool(limits.OfPeak)), percent(f.Value),
		p.timeText(), p.on()) + rule.Over(limit)
	if p.preempting() >= f.Value {
		f.Title = fmt.Sprintf("KV cache full: requests are preempted at %s of log lines%s", percent(f.Value), p.on()) +
			rule.Over(limit)
	}
	for _, name := range []string{"requests.preempted", "requests.swapped"} {
		if r := p.any(name, "", "decode"); r != nil && *r.Sum > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %.4g in all, at most %.4g at once", label.Clean(r.Name), *r.Sum,
				*r.Max))
		}
	}
	f.Evidence = append(append(f.Evidence, p.evidence()...), in.throughputText()...)
	f.Next = []finding.Step{finding.Advise("larger-kv-cache"), finding.Advise("larger-swa-pool"),
		finding.Advise("larger-mamba-pool"), finding.Advise("larger-host-pool"), finding.Advise("kv-cache-in-fp8")}
	if p.preempting() > 0 {
		f.Next = append(f.Next, finding.Advise("fewer-running-requests"))
	}
	return f, true
}

// preempting returns the share of lines that report preempted or swapped requests.
func (p *replica) preempting() (most float64) {
	for _, name := range []string{"requests.preempted", "requests.swapped"} {
		r := p.any(name, "", "decode")
		if r == nil || *r.Max <= 0 {
			continue
		}
		values := r.Strip.Values
		if r.Strip.High != nil {
			values = r.Strip.High
		}
		n := 0
		for _, v := range values {
			if v > 0 {
				n++
			}
		}
		// A group of lines with at least one such line counts as one line.
		most = max(most, float64(n)/float64(r.N))
	}
	return most
}

// A pace is the speed of decode at one line; perRequest is in tokens per second and request.
type pace struct {
	weight, perRequest, running float64
	prompt, output              float64 // tokens since the previous line
}

// fewestPaces is the least number of lines with prefill, and without, for their speeds to be
// compared.
const fewestPaces = 5

// prefillStalls estimates the time that decode loses to prefill, by how much slower decode is per
// request at lines that follow more prompt tokens than generated ones. Lines at which the batch
// changes do not count.
func (e servers) prefillStalls(in *input) (finding.Finding, bool) {
	p, share := e.worstReplica(in, rule.PrefillStalls, func(p *replica) (float64, int64) {
		lost, _, _, n := p.stalls()
		return lost, n
	})
	if p == nil {
		return finding.Finding{}, false
	}
	_, with, without, _ := p.stalls()
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.PrefillStalls, Value: share, Lists: lists(in, p),
		Words: map[string]string{"with": fmt.Sprintf("%.3g", with), "without": fmt.Sprintf("%.3g", without), "on": p.on()}}))
}

// stalls returns the share of time that decode loses, the median speeds with and without prefill,
// and the number of lines, which is 0 if there are too few to compare.
func (p *replica) stalls() (lost, slow, fast float64, n int64) {
	paces := p.paces()
	var heavy, light []pace
	for _, v := range paces {
		switch {
		case v.prompt > v.output:
			heavy = append(heavy, v)
		case v.prompt <= v.output/10:
			light = append(light, v)
		}
	}
	speeds := func(list []pace) (out []float64) {
		for _, v := range list {
			out = append(out, v.perRequest)
		}
		return out
	}
	var running []float64
	for _, v := range heavy {
		running = append(running, v.running)
	}
	batch := stat.Median(running)
	light = slices.DeleteFunc(light, func(v pace) bool { return v.running < batch/1.5 || v.running > 1.5*batch })
	if len(heavy) < fewestPaces || len(light) < fewestPaces {
		return 0, 0, 0, 0
	}
	slow, fast = stat.Median(speeds(heavy)), stat.Median(speeds(light))
	var gone, whole float64
	for _, v := range paces {
		whole += v.weight
		if v.prompt > v.output && fast > 0 {
			gone += v.weight * max(0, 1-v.perRequest/fast)
		}
	}
	if whole <= 0 || slow >= fast {
		return 0, 0, 0, 0
	}
	return gone / whole, slow, fast, int64(len(paces))
}

// paces returns the speeds of decode at the lines of a replica. Prompt tokens are those of the same
// line (vLLM) or of the prefill lines since the previous line (SGLang).
func (p *replica) paces() (out []pace) {
	gen := p.any("throughput.output_tokens", "", "decode")
	if gen == nil || gen.Strip.By != "time" || gen.N < 2*fewestPaces {
		return nil
	}
	phase := gen.Labels["phase"]
	running, prompt, started := p.sameLines(gen, "requests.running", phase),
		p.sameLines(gen, "throughput.input_tokens", phase), p.any("tokens.new", "prefill")
	if running == nil || prompt == nil && started == nil {
		return nil
	}
	for i := 1; i < len(gen.Strip.X); i++ {
		from, to := gen.Strip.X[i-1], gen.Strip.X[i]
		before, now, rate := running.Strip.Values[i-1], running.Strip.Values[i], gen.Strip.Values[i]
		if to <= from || now < 1 || rate <= 0 || before < now/1.5 || before > 1.5*now {
			continue // the batch changes
		}
		v := pace{weight: float64(to - from), perRequest: rate / now, running: now}
		v.output = rate * v.weight / 1e9
		if prompt != nil {
			v.prompt = prompt.Strip.Values[i] * v.weight / 1e9
		} else {
			v.prompt = between(started, from, to)
		}
		out = append(out, v)
	}
	return out
}

// between returns the sum of the values of a row in the interval (from, to].
func between(r *summary.Series, from, to int64) (sum float64) {
	per := float64(r.N) / float64(len(r.Strip.X))
	for i, x := range r.Strip.X {
		if x > from && x <= to {
			sum += r.Strip.Values[i] * per
		}
	}
	return sum
}

// transferWaits judges how many requests of a decode server wait for their KV cache.
func (e servers) transferWaits(in *input) (finding.Finding, bool) {
	p, share := e.worstReplica(in, rule.TransferWaits, func(p *replica) (float64, int64) {
		running, moving := p.any("requests.running", "decode"), p.any("requests.transfer", "decode")
		deferred := p.any("requests.deferred", "")
		if deferred != nil && in.transfers() { // of vLLM
			running, moving = p.any("requests.running", ""), deferred
		}
		if running == nil || moving == nil {
			return 0, 0
		}
		waiting := *moving.Mean
		if moving == deferred {
			waiting *= float64(deferred.N) / float64(running.N) // other lines have none
		}
		if r := p.any("requests.prealloc", "decode"); r != nil {
			waiting += *r.Mean
		}
		if waiting+*running.Mean <= 0 {
			return 0, 0
		}
		return waiting / (waiting + *running.Mean), moving.N
	})
	if p == nil {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.TransferWaits, Value: share,
		Words: map[string]string{"on": p.on()}, Lists: lists(in, p)}))
}

// transfers reports whether a log of vLLM shows that KV cache comes from another server. Requests are also deferred
// for adapters and grammars.
func (in *input) transfers() bool {
	return slices.ContainsFunc(in.rows, func(r *summary.Series) bool {
		return r.Metric == "kv_transfer.time" || r.Metric == "kv_cache.external_hit_rate" && r.Max != nil && *r.Max > 0
	})
}

// eagerDecode judges how many decode batches run without a CUDA graph.
func (e servers) eagerDecode(in *input) (best finding.Finding, found bool) {
	for _, r := range in.metric("cuda_graph.used", "decode") {
		if r.N < e.Limits[rule.EagerDecode].MinEvents {
			continue
		}
		f, ok := findingOf(e.Evaluate(tree.Measured{Rule: rule.EagerDecode, Value: 1 - *r.Mean,
			Lists: map[string][]string{"throughput": in.throughputText()},
			Words: map[string]string{"batches": unit.Count(r.N), "logged": fmt.Sprintf("%q%s", r.Name, onPlace(r))}}))
		if ok && (!found || best.Value < f.Value) {
			best, found = f, true
		}
	}
	return best, found
}

// gapsBetweenBatches judges the time in which requests run and no forward pass does.
func (e servers) gapsBetweenBatches(in *input) (finding.Finding, bool) {
	p, share := e.worstReplica(in, rule.GapsBetweenBatches, func(p *replica) (float64, int64) {
		busy, running := p.any("engine.occupancy", "decode", ""), p.any("requests.running", "decode", "")
		if busy == nil || running == nil || *busy.Median > 1 || *running.Median < 1 {
			return 0, 0
		}
		return 1 - *busy.Median, busy.N
	})
	if p == nil {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.GapsBetweenBatches, Value: share, Lists: lists(in, p),
		Words: map[string]string{"on": p.on(), "busy": percent(1 - share),
			"running": fmt.Sprintf("%.4g", *p.any("requests.running", "decode", "").Median)}}))
}

// lowCacheHits reports that few prompt tokens are found in the prefix cache. It needs at least some
// hits, which show that prompts have common prefixes.
func (e servers) lowCacheHits(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.LowCacheHits]
	rate, n := -1.0, int64(0)
	var cachedTokens, prompt float64
	for _, r := range in.metric("tokens.cached", "") {
		cachedTokens, n = cachedTokens+*r.Sum, n+r.N
	}
	for _, r := range in.metric("tokens.new", "") {
		prompt += *r.Sum
	}
	if n > 0 && cachedTokens+prompt > 0 {
		rate = cachedTokens / (cachedTokens + prompt)
	}
	for _, r := range in.metric("kv_cache.hit_rate", "") {
		if rate < 0 || *r.Median < rate {
			rate, n = *r.Median, r.N
		}
	}
	if n < limits.MinEvents || rate <= 0.01 || rate >= limits.MinBusy {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.LowCacheHits, Value: rate}))
}

// outgrowsGraphs reports whether the larger batches of decode run without a CUDA graph. More requests
// then make decode slower, not faster.
func (p *replica) outgrowsGraphs() bool {
	used := p.any("cuda_graph.used", "decode", "")
	if used == nil {
		return false
	}
	running := p.sameLines(used, "requests.running", used.Labels["phase"])
	if running == nil {
		return false
	}
	var with, without []float64
	for i, share := range used.Strip.Values {
		if share >= 0.5 {
			with = append(with, running.Strip.Values[i])
		} else {
			without = append(without, running.Strip.Values[i])
		}
	}
	return len(with) > 0 && len(without) > 0 && stat.Median(without) > slices.Max(with)
}

// underLoaded reports that a server has few requests. Of several replicas, the busiest one decides.
func (e servers) underLoaded(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.UnderLoaded]
	least := 2.0
	var busiest *replica
	for _, p := range in.replicas() {
		share, n := p.share(func(m moment) bool { return m.usage >= 0 && m.running >= 0 },
			func(m moment) bool { return m.queued == 0 && !m.deferred && m.usage < limits.Margin })
		running := p.any("requests.running", "", "decode")
		if n == 0 || running == nil || p.lines() < limits.MinEvents || p.outgrowsGraphs() {
			return finding.Finding{}, false
		}
		if share < least {
			least, busiest = share, p
		}
	}
	if busiest == nil {
		return finding.Finding{}, false
	}
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.UnderLoaded, Value: least,
		Words: map[string]string{"time": busiest.timeText()}, Lists: lists(in, busiest)}))
}

// allUnderLoaded returns the finding of the busiest server log. It needs all servers to be
// under-loaded: one log with few requests says nothing about the other replicas.
func (e servers) allUnderLoaded() (best finding.Finding, found bool) {
	for i := range e.inputs {
		in := &e.inputs[i]
		if len(in.replicas()) == 0 || e.roles.Other(in.index) != "" {
			continue // log of a trainer, or of a server that has requests for a part of the step
		}
		f, ok := e.underLoaded(in)
		switch {
		case !ok:
			return finding.Finding{}, false
		case found && best.Value <= f.Value:
			continue
		}
		best, found = e.placed(f, in), true
	}
	return best, found
}
