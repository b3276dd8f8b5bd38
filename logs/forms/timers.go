package forms

import (
	"strings"

	"assay/logs"
)

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
	switch logs.QuantityOf(key) {
	case logs.Statistic:
		m := logs.Unnamed(key)
		m.Unit = fd.value.base
		fd.value.metric = m
	case logs.NoDuration:
		fd.value, fd.unitless = target{metric: logs.Unnamed(key), factor: 1}, true
	}
	return fd
}

// nest corrects for each series the timer that it is inside of: the nearest one around it that the input has.
// A program may leave out a timer that another version of it has.
func nest(r *Reader) {
	have := map[[2]string]bool{}
	r.b.EachSeries(func(s *logs.Series) { have[[2]string{s.Producer, s.As}] = true })
	r.b.EachSeries(func(s *logs.Series) {
		for depth := 0; s.Inside != "" && !have[[2]string{s.Producer, s.Inside}]; depth++ {
			if s.Inside = around(r, s.Producer, s.Inside); depth == maxNest {
				s.Inside = ""
			}
		}
	})
}

// maxNest is the maximum number of timers around one.
const maxNest = 16

// around returns the timer around one of a producer, or "".
func around(r *Reader, producer, key string) string {
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
func waiting(r *Reader) {
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
