package logs

import (
	"slices"
	"strings"
)

// Programs put more than durations below the prefix of their timers: how long the fastest and the slowest of
// many calls took, how many there were, and how long their texts are. Only the duration itself is a phase of a
// step: adding up a minimum, a mean and a maximum counts one time thrice.

// A Quantity is what the name of a key below a prefix of timers says of its value.
type Quantity uint8

const (
	Duration   Quantity = iota // the time of a phase
	Statistic                  // of the durations of many calls
	NoDuration                 // a count, a length, a rate or a share
)

// QuantityOf returns the quantity that a key names.
func QuantityOf(key string) Quantity {
	parts := strings.Split(strings.ToLower(key), "/")
	last := len(parts) - 1
	q := Duration
	if last > 0 && isStatistic(parts[last]) { // "num_calls/max" is a count as well
		q, last = Statistic, last-1
	}
	words := strings.FieldsFunc(parts[last], func(c rune) bool { return strings.ContainsRune("_- .()[]", c) })
	if len(words) == 0 {
		return q
	}
	if countsThings(words) {
		return NoDuration
	}
	oneOfMany := func(part string) bool { return slices.Contains(extremes, part) }
	if n := len(words); q == Statistic || n > 1 && isStatistic(words[n-1]) || slices.ContainsFunc(parts[:last], oneOfMany) {
		return Statistic
	}
	return Duration
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

// countsThings reports whether the words of a name count, or measure no time. A name that
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
