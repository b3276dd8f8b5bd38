package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/judge/rule"
	"assay/summary"
)

// A replica is one engine of an inference server: a data-parallel rank or an instance.
type replica struct {
	name    string // its labels; "" if there is only one
	moments []moment
	rows    map[string]*summary.Series // by metric and phase, see rowKey
}

// A moment has the values that a server logged at one time, or the medians of some consecutive
// lines.
type moment struct {
	at       int64   // ns, or the index of the line if the log has no times
	weight   float64 // time until the next moment, at most capOfGap times the median; 1 without times
	queued   float64
	deferred bool    // most queued requests wait for another server or resource, not for room
	usage    float64 // used share of the fullest pool; -1 if not logged
	pool     int     // the fullest pool, an index of pools
	running  float64 // -1 if not logged
}

// pools are the memories that a request needs a part of. A server admits no request if one is full,
// whatever room the others have.
var pools = []struct{ metric, name string }{
	{"kv_cache.usage", "KV cache"},
	{"kv_cache.swa_usage", "swa pool (sliding-window layers)"},
	{"kv_cache.host_usage", "host pool (KV cache in CPU memory)"},
	{"kv_cache.mamba_usage", "mamba pool (states of Mamba layers)"},
}

// capOfGap limits the time for which one line counts, as a multiple of the median, because idle
// servers log nothing.
const capOfGap = 3

// rowKey returns the key of a row of a replica.
func rowKey(metric, phase string) string { return metric + " " + phase }

// replicas returns the replicas in a log with queues of requests.
func (in *input) replicas() (out []*replica) {
	index := map[string]*replica{}
	for _, r := range in.rows {
		if r.Pooled > 0 || r.N == 0 || r.Strip == nil {
			continue
		}
		key := r.Producer + " " + placeOf(r)
		if index[key] == nil {
			index[key] = &replica{name: placeOf(r), rows: map[string]*summary.Series{}}
			out = append(out, index[key])
		}
		index[key].rows[rowKey(r.Metric, r.Labels["phase"])] = r
	}
	out = slices.DeleteFunc(out, func(p *replica) bool {
		p.join()
		return len(p.moments) == 0
	})
	out = withoutAggregate(out)
	if len(out) == 1 {
		out[0].name = ""
	}
	return out
}

// withoutAggregate leaves out the lines of a server that add its replicas up: those that name no replica, where
// others of the program name at least two.
func withoutAggregate(list []*replica) []*replica {
	named := map[string]int{}
	for _, p := range list {
		if p.name != "" {
			named[p.producer()]++
		}
	}
	return slices.DeleteFunc(list, func(p *replica) bool { return p.name == "" && named[p.producer()] > 1 })
}

// join builds the moments of a replica from lines with a queue. Values of one line have the same
// position in their strips.
func (p *replica) join() {
	timed := true
	for _, phase := range []string{"", "decode", "prefill"} {
		q := p.rows[rowKey("requests.queued", phase)]
		if q == nil {
			continue
		}
		timed = timed && q.Strip.By == "time"
		running, deferred := p.sameLines(q, "requests.running", phase), p.deferredAt(q, phase)
		for i, v := range q.Strip.Values {
			m := moment{at: q.Strip.X[i], weight: 1, queued: v, usage: -1, running: -1}
			for n := range pools {
				if usage := p.sameLines(q, pools[n].metric, phase); usage != nil && usage.Strip.Values[i] > m.usage {
					m.usage, m.pool = usage.Strip.Values[i], n
				}
			}
			if deferred[i] > 0 && deferred[i] >= v/2 { // most of them do not wait for room in the batch
				m.queued, m.deferred = 0, true
			}
			if running != nil {
				m.running = running.Strip.Values[i]
			}
			p.moments = append(p.moments, m)
		}
	}
	if !timed {
		return
	}
	slices.SortStableFunc(p.moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	p.weigh()
}

// deferredAt returns the number of deferred requests at each value of the strip of q. Lines without any do not state it.
func (p *replica) deferredAt(q *summary.Series, phase string) []float64 {
	out := make([]float64, len(q.Strip.Values))
	r := p.rows[rowKey("requests.deferred", phase)]
	if r == nil {
		return out
	}
	if p.sameLines(q, r.Metric, phase) != nil {
		return r.Strip.Values
	}
	for i, at := range r.Strip.X {
		if n := slices.Index(q.Strip.X, at); n >= 0 {
			out[n] = r.Strip.Values[i]
		}
	}
	return out
}

// weigh sets the weights of moments to the times for which they count.
func (p *replica) weigh() {
	gaps := make([]float64, len(p.moments))
	for i := range p.moments {
		if i+1 < len(p.moments) {
			gaps[i] = float64(p.moments[i+1].at - p.moments[i].at)
		}
	}
	positive := slices.DeleteFunc(slices.Clone(gaps), func(g float64) bool { return g <= 0 })
	middle := stat.Median(positive)
	if middle <= 0 {
		return
	}
	for i := range p.moments {
		p.moments[i].weight = min(gaps[i], capOfGap*middle)
	}
}

// sameLines returns the row of a metric that was logged in the same lines as q, or nil.
func (p *replica) sameLines(q *summary.Series, metric, phase string) *summary.Series {
	r := p.rows[rowKey(metric, phase)]
	if r == nil || r.N != q.N || !slices.Equal(r.Strip.X, q.Strip.X) {
		return nil
	}
	return r
}

// share returns the share of time in which is returns true, among the moments that counts accepts,
// and their number.
func (p *replica) share(counts, is func(moment) bool) (share float64, n int64) {
	var part, all float64
	for _, m := range p.moments {
		if !counts(m) {
			continue
		}
		n++
		all += m.weight
		if is(m) {
			part += m.weight
		}
	}
	if all <= 0 {
		return 0, 0
	}
	return part / all, n
}

// limited reports whether requests mostly queue while nearly the maximum number of requests runs.
// Then that number is limited; otherwise prefill is too slow.
func (p *replica) limited() bool {
	most := 0.0
	for _, m := range p.moments {
		most = max(most, m.running)
	}
	share, _ := p.share(func(m moment) bool { return m.queued > 0 && m.running >= 0 },
		func(m moment) bool { return m.running >= 0.9*most })
	return most > 0 && share >= 0.5
}

// lines returns the number of log lines that the moments of a replica represent.
func (p *replica) lines() (n int64) {
	for _, phase := range []string{"", "decode", "prefill"} {
		if q := p.rows[rowKey("requests.queued", phase)]; q != nil {
			n += q.N
		}
	}
	return n
}

// running returns the mean number of running requests over the time of the log.
func (p *replica) running() float64 {
	var sum, whole float64
	for _, m := range p.moments {
		if m.running >= 0 {
			sum, whole = sum+m.running*m.weight, whole+m.weight
		}
	}
	if whole <= 0 {
		return 0
	}
	return sum / whole
}

// timeText returns the denominator of shares of a replica.
func (p *replica) timeText() string {
	for _, phase := range []string{"", "decode", "prefill"} {
		if q := p.rows[rowKey("requests.queued", phase)]; q != nil && q.Strip.By != "time" {
			return "of log lines"
		}
	}
	return "of the time"
}

// on returns " on " and the name of a replica, or "" if there is only one.
func (p *replica) on() string {
	if p.name == "" {
		return ""
	}
	return " on " + label.Clip(label.Clean(p.name), 24)
}

// any returns the row of a metric for the first of the phases that has one, or nil.
func (p *replica) any(metric string, phases ...string) *summary.Series {
	for _, phase := range phases {
		if r := p.rows[rowKey(metric, phase)]; r != nil && r.N > 0 {
			return r
		}
	}
	return nil
}

// evidence describes requests, KV cache and throughput of a replica.
func (p *replica) evidence() (out []string) {
	for _, phase := range phasesOfServers {
		if text := p.medians(phase); text != "" {
			out = append(out, phaseHead(phase, ": ")+text)
		}
	}
	return out
}

// medians returns the medians that a replica logged in a phase, or "".
func (p *replica) medians(phase string) string {
	var parts []string
	for _, m := range []struct{ metric, what string }{{"requests.running", "running"}, {"requests.queued", "queued"}} {
		if r := p.any(m.metric, phase); r != nil {
			parts = append(parts, fmt.Sprintf("%.4g %s (max %.4g)", *r.Median, m.what, *r.Max))
		}
	}
	for _, pool := range pools {
		if r := p.any(pool.metric, phase); r != nil {
			parts = append(parts, fmt.Sprintf("%s %s (max %s)", pool.name, percent(*r.Median), percent(*r.Max)))
		}
	}
	return strings.Join(parts, ", ")
}

// phasesOfServers are the phases of lines of servers; "" is for lines without a phase.
var phasesOfServers = []string{"", "decode", "prefill"}

// phaseHead is the beginning of a text with the medians of the lines of a phase.
func phaseHead(phase, end string) string {
	if phase == "" {
		return "median" + end
	}
	return phase + " lines, median" + end
}

// throughputText returns the sum of the medians of all replicas, as evidence.
func (in *input) throughputText() []string {
	var sum float64
	n := int64(0)
	for _, r := range in.metric("throughput.output_tokens", "") {
		if r.Labels["phase"] == "prefill" {
			continue
		}
		sum, n = sum+*r.Median, n+1
	}
	switch {
	case n == 0 || sum <= 0:
		return nil
	case n == 1:
		return []string{fmt.Sprintf("output: median %.4g token/s", sum)}
	}
	return []string{fmt.Sprintf("output: %.4g token/s, the sum of the medians of %s", sum, label.Plural(n, "replica"))}
}

// worstReplica returns the replica with the largest value, and the value. It returns nil if none
// has enough lines.
func (e servers) worstReplica(in *input, id string, value func(*replica) (share float64, n int64)) (best *replica,
	most float64) {
	limits := e.Limits[id]
	for _, p := range in.replicas() {
		share, n := value(p)
		if n > 0 && p.lines() >= limits.MinEvents && (best == nil || share > most) {
			best, most = p, share
		}
	}
	return best, most
}

// cached accepts the moments for which the use of the KV cache is known.
func cached(m moment) bool { return m.usage >= 0 }

// serverText returns the sentence of the verdict if a server reaches no limit.
func (e servers) serverText(in *input) string {
	list := in.replicas()
	if len(list) == 0 {
		return ""
	}
	fullest := slices.MaxFunc(list, func(a, b *replica) int { return cmp.Compare(a.fullest(), b.fullest()) })
	if fullest.lines() < e.Limits[rule.RequestsQueued].MinEvents {
		return ""
	}
	for _, phase := range phasesOfServers {
		if text := fullest.medians(phase); text != "" {
			if !slices.ContainsFunc(fullest.moments, cached) {
				text += "; the log does not tell how full the KV cache is"
			}
			return "No limit of the server is reached" + fullest.on() + ": " + phaseHead(phase, " ") + text
		}
	}
	return ""
}

// fullPool returns the name of the pool that is full at most of the moments at which one is.
func (p *replica) fullPool(full float64) string {
	counts := make([]int, len(pools))
	for _, m := range p.moments {
		if m.usage >= full {
			counts[m.pool]++
		}
	}
	return pools[slices.Index(counts, slices.Max(counts))].name
}

func (p *replica) fullest() (most float64) {
	for _, m := range p.moments {
		most = max(most, m.usage)
	}
	return most
}
