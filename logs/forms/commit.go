package forms

import (
	"slices"

	"assay/internal/diag"
	"assay/logs"
)

// placeOf returns the labels and the time in the text before a record.
func (r *Reader) placeOf(prefix []byte, where diag.Pos) (*place, int64) {
	if len(prefix) > maxPrefix {
		prefix = prefix[len(prefix)-maxPrefix:]
	}
	time := logs.NoTime
	st, ok := findStamp(prefix)
	if ok {
		time = r.clock(st, where)
		r.keyless = without(prefix, st.from, st.to, r.keyless)
		prefix = r.keyless
	}
	p, ok := r.places[string(prefix)]
	if !ok {
		if len(r.places) >= 2*maxPlaces {
			return r.anywhere(), time
		}
		p = &place{all: labelsOf(prefix)}
		p.ranks = slices.DeleteFunc(slices.Clone(p.all), func(l logs.Label) bool { return processLabels(l.Name) })
		for _, l := range p.all {
			p.key += l.Name + "\x00" + l.Value + "\x01"
		}
		// Prefixes with the same labels share one place.
		if same, ok := r.places["\x00"+p.key]; ok {
			p = same
		} else {
			r.places["\x00"+p.key] = p
		}
		if len(r.places) < maxPlaces {
			r.places[string(prefix)] = p
		}
	}
	return p, time
}

// anywhere returns the place of records whose labels are over the limit.
func (r *Reader) anywhere() *place {
	p := r.places["\x00"]
	if p == nil {
		p = &place{}
		r.places["\x00"] = p
	}
	return p
}

// backwards is the time by which a log may go back, because its lines are from several
// processes.
const backwards = 2 * second

// clock returns the time of a stamp. Logs without a year count them from the first on, with a
// 29 February only if they have one: without it, the day after 28 February is 1 March.
func (r *Reader) clock(st stamp, where diag.Pos) int64 {
	if r.last.to > 0 && st.zoned != r.last.zoned {
		return logs.NoTime // the difference between both is unknown
	}
	if !st.dated {
		switch {
		case r.last.month == 12 && st.month == 1:
			r.year++
		case r.last.month == 1 && st.month == 12 && r.year > 0: // a late line of another process
			r.year--
		}
		st.ns += r.year * 365 * day
		if st.leap && !r.leap && r.year == 0 {
			r.leap = true
			r.b.LeapDay()
		}
		if r.leap && (r.year > 0 || st.month > 2) {
			st.ns += day
		}
	}
	if r.last.to > 0 && st.ns < r.last.ns-backwards {
		r.b.Note(diag.Issue{Code: "log-clock-back", Severity: diag.Info, First: where})
	}
	r.last = st
	r.b.Clock(st.ns, st.dated, st.zoned)
	return st.ns
}

// commit adds the values of a record.
func (r *Reader) commit(s *formState, at *place, time, step int64, where diag.Pos) {
	var labels []logs.Label
	for _, g := range r.got {
		switch fd := &s.known[g.field]; fd.role {
		case roleStep:
			if g.v.kind == number && !g.paren {
				step = int64(g.v.value)
			}
		case roleLabel:
			labels = append(labels, logs.Label{Name: fd.label, Value: string(g.v.unit)})
		}
	}
	if len(s.foreign) > 0 && s.foreigns.File == "" {
		s.foreigns = where
	}
	stream := r.streamOf(s, at)
	run := r.b.Step(stream, step, where)
	if step != logs.NoStep {
		r.b.Beat(stream, s.Producer, logs.Beat{Step: step, Time: time, Run: run, Line: int64(where.Line)})
	}
	if s.step == stepLast {
		step, run = r.b.LastStep(stream)
	}
	if s.step == stepLatest {
		step = r.latest
	} else if step != logs.NoStep {
		r.latest = step
	}
	if s.starts {
		r.b.Restart(stream, where)
	}
	any := false
	for _, g := range r.got {
		fd := &s.known[g.field]
		if fd.role != roleMetric {
			continue
		}
		any = true
		r.value(s, at, labels, g, time, step, run, where)
	}
	if any {
		r.b.Record(s.Producer, s.Unverified)
	}
}

// streamOf returns the sequence of steps to which a record of a form belongs.
func (r *Reader) streamOf(s *formState, at *place) int {
	if s.at == at {
		return s.atStream
	}
	if n, ok := s.streams[at]; ok {
		s.use(at, n)
		return n
	}
	key := s.scope
	if s.replicas {
		key += "\x00" + at.key
	} else {
		for _, l := range at.ranks {
			key += "\x00" + l.Name + "\x00" + l.Value
		}
	}
	if s.streams == nil {
		s.streams = map[*place]int{}
	}
	n := r.b.Stream(key)
	s.streams[at] = n
	s.use(at, n)
	return n
}

// use sets the place of the current record.
func (s *formState) use(at *place, stream int) {
	if s.at != nil {
		if s.ids == nil {
			s.ids = map[*place][]int{}
		}
		s.ids[s.at] = s.atIDs
	}
	s.at, s.atIDs, s.atStream = at, s.ids[at], stream
}

// metricPhase is the metric whose values are durations of phases. maxPhase is the maximum
// duration for which a span is added.
const (
	metricPhase = "step.phase"
	maxPhase    = 366 * day
)

// value adds one value.
func (r *Reader) value(s *formState, at *place, labels []logs.Label, g keyValue, time, step int64, run int32, where diag.Pos) {
	fd := &s.known[g.field]
	to := &fd.value
	slot := 2 * g.field
	if g.paren {
		to, slot = &fd.paren, slot+1
		g.v = reading{kind: number, value: g.v.parenValue, unit: g.v.parenUnit}
		if to.metric.Name == "" {
			return
		}
	}
	factor := to.factor
	if len(g.v.unit) > 0 && !fd.unitless {
		base, f, ok := logs.ScaleOf(string(g.v.unit), to.binary)
		switch {
		case !ok, base != to.base && !(to.base == "" && to.metric.Role == logs.Other) && !(base == "count" && to.base == ""):
			return // a unit of another quantity, as in "12 apples"
		case to.base == "" && to.metric.Unit == "":
			to.metric.Unit, to.base = base, base
		}
		factor = f
	}
	id := r.seriesOf(s, at, labels, fd, to, slot, where)
	switch g.v.kind {
	case missing:
		r.b.Missing(id)
	case number:
		v := scaled(g.v.value, factor)
		r.b.Add(id, v, step, time, run)
		if s.spans && to.metric.Name == metricPhase && time != logs.NoTime && v >= 0 && v < float64(maxPhase) {
			r.b.Span(fd.key, time-int64(v), time, where)
		}
	}
}

// scaled returns a value in base units. A percentage is divided, so that 12.4 % is 0.124
// exactly.
func scaled(v, factor float64) float64 {
	if factor == 0.01 {
		return v / 100
	}
	return v * factor
}

// seriesOf returns the number of the series of a field at a place.
func (r *Reader) seriesOf(s *formState, at *place, labels []logs.Label, fd *field, to *target, slot int, where diag.Pos) int {
	s.used = true
	for len(s.atIDs) <= slot { // those of at, since streamOf
		s.atIDs = append(s.atIDs, 0)
	}
	ids := s.atIDs
	if ids[slot] != 0 && len(labels) == 0 {
		return ids[slot] - 1
	}
	all := slices.Clone(s.labels)
	if s.replicas {
		all = append(all, at.all...)
	} else {
		all = append(all, at.ranks...)
	}
	producer := s.Producer
	if s.fallback != "" {
		producer += fallbackMark
	}
	id := r.b.Of(to.metric, producer, fd.key, append(all, labels...), where)
	if up := s.insideOf(fd.key); up != "" {
		r.b.Inside(id, up)
	}
	if len(labels) == 0 && id >= 0 {
		ids[slot] = id + 1
	}
	return id
}
