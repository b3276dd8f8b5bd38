package logs

// A total is a metric whose values are constants of a device, such as the size of its memory. The values of
// what is used of it become shares.
type total struct {
	of    string   // the metric of the constant
	share string   // the metric of the shares
	used  []string // what may be used of it; the first that was recorded counts
}

var totals = []total{
	{"memory.total", "memory.usage", []string{"memory.used", "memory.peak_reserved", "memory.reserved", "memory.peak"}},
	{"gpu.power_limit", "gpu.power_share", []string{"gpu.power", "gpu.power_average", "gpu.power_instant"}},
}

// sharesOf returns series with the shares of totals that are used, at the same places and times. A total that
// varies has none: which of its values belongs to which use is unknown.
func sharesOf(all []Series) (out []Series) {
	for _, t := range totals {
		metric, _ := MetricOf(t.share)
		for i := range all {
			whole := &all[i]
			if whole.Metric.Name != t.of || whole.N == 0 || whole.Min != whole.Max || whole.Min <= 0 {
				continue
			}
			if hasAt(all, whole, t.share) != nil {
				continue // the program recorded the share itself
			}
			for _, name := range t.used {
				if used := hasAt(all, whole, name); used != nil {
					out = append(out, used.over(whole.Min, metric, whole.As))
					break
				}
			}
		}
	}
	return out
}

// hasAt returns the series of a metric with values that was recorded by the same program at the same place as
// another series, or nil.
func hasAt(all []Series, beside *Series, metric string) *Series {
	for i := range all {
		s := &all[i]
		if s.Metric.Name == metric && s.N > 0 && s.Producer == beside.Producer &&
			labelKey(s.Labels) == labelKey(beside.Labels) {
			return s
		}
	}
	return nil
}

// over returns the values of a series divided by a constant, under the names of both.
func (s *Series) over(whole float64, metric Metric, as string) Series {
	out := *s
	out.Metric, out.As = metric, cut(s.As+" / "+as)
	out.Min, out.Max, out.Sum = s.Min/whole, s.Max/whole, s.Sum/whole
	out.Points.Value = make([]float64, len(s.Points.Value))
	for i, v := range s.Points.Value {
		out.Points.Value[i] = v / whole
	}
	return out
}

// isTotal reports whether the values of a series are constants of a device, which are no measurements.
func isTotal(s Series) bool {
	for _, t := range totals {
		if s.Metric.Name == t.of {
			return true
		}
	}
	return false
}
