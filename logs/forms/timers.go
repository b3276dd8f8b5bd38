package forms

import (
	"slices"
	"strings"

	"assay/logs"
)

// Programs put more than durations below the prefix of their timers: how long the fastest and the slowest of
// many calls took, how many there were, and how long their texts are. Only the duration itself is a phase of a
// step: adding up a minimum, a mean and a maximum counts one time thrice.

// A quantity is what the name of a key below a prefix of timers says of its value.
type quantity uint8

const (
	duration  quantity = iota // the time of a phase
	statistic                 // of the durations of many calls
	noTime                    // a count, a length, a rate or a share
)

// quantityOf returns the quantity that a key names.
func quantityOf(key string) quantity {
	parts := strings.Split(strings.ToLower(key), "/")
	last := len(parts) - 1
	q := duration
	if last > 0 && isStatistic(parts[last]) { // "num_calls/max" is a count as well
		q, last = statistic, last-1
	}
	words := strings.FieldsFunc(parts[last], func(c rune) bool { return strings.ContainsRune("_- .()[]", c) })
	if len(words) == 0 {
		return q
	}
	if countsThings(words) {
		return noTime
	}
	oneOfMany := func(part string) bool { return slices.Contains(extremes, part) }
	if n := len(words); q == statistic || n > 1 && isStatistic(words[n-1]) || slices.ContainsFunc(parts[:last], oneOfMany) {
		return statistic
	}
	return duration
}

// extremes are groups of keys that describe one call of many.
var extremes = []string{"slowest", "fastest", "longest", "shortest"}

// isStatistic reports whether a word names a statistic: "max", "p99".
func isStatistic(word string) bool {
	if p, ok := strings.CutPrefix(word, "p"); ok && p != "" && strings.Trim(p, "0123456789") == "" {
		return true
	}
	return slices.Contains([]string{"min", "max", "mean", "avg", "average", "median", "std", "stdev", "stddev", "var", "count"}, word)
}

// countsThings reports whether the words of a name count or measure something else than time. A name that
// ends with a unit of time is a time, whatever is before it, except for a rate.
func countsThings(words []string) bool {
	first, last, n := words[0], words[len(words)-1], len(words)
	if n == 1 {
		return slices.Contains(measures, last)
	}
	switch {
	case slices.Contains([]string{"s", "sec", "secs", "seconds", "ms", "us", "ns", "time", "latency", "duration"}, last) &&
		words[n-2] != "per":
		return false
	case slices.Contains(measures, last), slices.Contains([]string{"num", "n", "number", "count"}, first):
		return true
	case slices.Contains([]string{"tokens", "samples", "requests", "turns", "errors", "retries", "sequences"}, last):
		return slices.Contains([]string{"total", "valid", "prompt", "response", "generated", "input", "output", "active",
			"dropped", "stale"}, first)
	}
	for i, w := range words[1 : n-1] {
		if w == "per" && slices.Contains([]string{"sec", "second", "s", "gpu", "rank", "device"}, words[i+2]) {
			return true // "tokens_per_sec_per_gpu"
		}
	}
	return false
}

// measures are the last words of names of what is no time.
var measures = []string{"length", "len", "count", "ratio", "rate", "fraction", "frac", "percent", "pct", "size", "qsize",
	"throughput", "utilization", "mfu", "flops", "tflops", "bytes", "gb", "gib", "mb", "mib", "staleness", "tps"}

// timerFor returns the field of a key that a form takes for a timer by its beginning or end only.
func timerFor(fd field, key string) field {
	pattern := fd.key
	fd.key = key
	if fd.role != roleMetric || fd.value.metric.Name != metricPhase {
		return fd
	}
	if !plainKey(strings.Replace(key, pattern, "", 1)) {
		return field{key: key, role: roleSkip}
	}
	switch quantityOf(key) {
	case statistic:
		m := logs.Unnamed(key)
		m.Unit = fd.value.base
		fd.value.metric = m
	case noTime:
		fd.value, fd.unitless = target{metric: logs.Unnamed(key), factor: 1}, true
	}
	return fd
}

// nest corrects for each series the timer that it is inside of: the nearest one around it that the input has.
// A program may leave out a timer that another version of it has.
func (r *Reader) nest() {
	have := map[[2]string]bool{}
	r.b.EachSeries(func(s *logs.Series) { have[[2]string{s.Producer, s.As}] = true })
	r.b.EachSeries(func(s *logs.Series) {
		for depth := 0; s.Inside != "" && !have[[2]string{s.Producer, s.Inside}]; depth++ {
			if s.Inside = r.around(s.Producer, s.Inside); depth == maxNest {
				s.Inside = ""
			}
		}
	})
}

// maxNest is the maximum number of timers around one.
const maxNest = 16

// around returns the timer around one of a producer, or "".
func (r *Reader) around(producer, key string) string {
	for _, s := range r.states {
		if s.Producer == producer {
			if up := s.insideOf(key); up != "" {
				return up
			}
		}
	}
	return ""
}

// waiting corrects the metric of timers that measure waiting in some runs.
func (r *Reader) waiting() {
	for _, st := range r.states {
		for timer, mark := range st.waits {
			marked := false
			for key := range st.keys {
				marked = marked || strings.HasPrefix(key, mark)
			}
			if wait, ok := logs.MetricOf("step.wait"); marked && ok {
				r.b.EachSeries(func(s *logs.Series) {
					if s.Producer == st.Producer && s.As == timer {
						s.Metric = wait
					}
				})
			}
		}
	}
}
