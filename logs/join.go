package logs

// Join returns one log with the values that several readers found in one input. Its clock is
// the first known one. The given logs must not be used afterwards.
func Join(logs ...*Log) *Log {
	out := &Log{Complete: true}
	for _, l := range logs {
		out.Series = append(out.Series, l.Series...)
		out.Benchmarks = append(out.Benchmarks, l.Benchmarks...)
		out.Settings = append(out.Settings, l.Settings...)
		out.Readings = append(out.Readings, l.Readings...)
		out.Groups = append(out.Groups, l.Groups...)
		out.Spans = append(out.Spans, l.Spans...)
		out.Producers = append(out.Producers, l.Producers...)
		out.Issues = append(out.Issues, l.Issues...)
		if len(out.Course.Beats) == 0 && (len(l.Course.Beats) > 0 || len(l.Course.Marks) > 0) {
			out.Course = l.Course
		}
		if !out.Clock.Known {
			out.Clock = l.Clock
		}
		out.Lines, out.Records = max(out.Lines, l.Lines), out.Records+l.Records
		out.Complete = out.Complete && l.Complete
	}
	return out
}
