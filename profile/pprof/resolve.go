package pprof

// resolve makes the records of a profile of what was decoded. It returns false if a text is
// missing.
func (d *decoder) resolve() bool {
	ok := true
	text := func(n uint64) string {
		if n >= uint64(len(d.texts)) {
			ok = false
			return ""
		}
		return d.texts[n]
	}
	p := d.p
	mappings := newTable[Mapping](len(d.mappings))
	for _, m := range d.mappings {
		text(m[5])
		p.Mapping = append(p.Mapping, &Mapping{ID: m[0], File: text(m[4]), HasFunctions: m[6] != 0, HasFilenames: m[7] != 0, HasLineNumbers: m[8] != 0})
		mappings.put(m[0], p.Mapping[len(p.Mapping)-1])
	}
	functions := newTable[Function](len(d.functions))
	for _, f := range d.functions {
		text(f[2])
		p.Function = append(p.Function, &Function{ID: f[0], Name: text(f[1]), Filename: text(f[3])})
		functions.put(f[0], p.Function[len(p.Function)-1])
	}
	locations := newTable[Location](len(p.Location))
	for _, l := range p.Location {
		l.Mapping = mappings.get(l.mapping)
		for i := range l.Line {
			if id := l.Line[i].function; id != 0 {
				l.Line[i].Function = functions.get(id)
			}
		}
		locations.put(l.ID, l)
	}
	for _, t := range d.types {
		p.SampleType = append(p.SampleType, &ValueType{text(t[0]), text(t[1])})
	}
	for _, s := range p.Sample {
		s.Location = make([]*Location, len(s.locations))
		for i, id := range s.locations {
			s.Location[i] = locations.get(id)
		}
		s.label(text)
		s.locations, s.labels = nil, nil
	}
	for _, n := range []uint64{d.drop, d.keep, d.periodType[0], d.periodType[1], d.url} {
		text(n)
	}
	for _, n := range d.comments {
		p.Comments = append(p.Comments, text(n))
	}
	p.DefaultSampleType = text(d.kind)
	return ok
}

// label sets the labels of a sample. A label without a text is a number, whose unit may be
// missing; one that has neither is lost.
func (s *Sample) label(text func(uint64) string) {
	for _, l := range s.labels {
		key := text(l[0])
		switch {
		case l[1] != 0:
			if s.Label == nil {
				s.Label = map[string][]string{}
			}
			s.Label[key] = append(s.Label[key], text(l[1]))
		case l[2] != 0 || l[3] != 0:
			if s.NumLabel == nil {
				s.NumLabel, s.NumUnit = map[string][]int64{}, map[string][]string{}
			}
			if l[3] != 0 {
				s.NumUnit[key] = append(padded(s.NumUnit[key], len(s.NumLabel[key])), text(l[3]))
			}
			s.NumLabel[key] = append(s.NumLabel[key], int64(l[2]))
		}
	}
	for key, units := range s.NumUnit {
		s.NumUnit[key] = padded(units, len(s.NumLabel[key]))
	}
}

// padded returns the list with empty texts up to a length.
func padded(list []string, length int) []string {
	for len(list) < length {
		list = append(list, "")
	}
	return list
}

// A table finds records by their ids, which are small numbers as a rule. Of equal ids the last
// counts.
type table[T any] struct {
	low  []*T
	high map[uint64]*T
}

func newTable[T any](n int) *table[T] { return &table[T]{make([]*T, n+1), map[uint64]*T{}} }

func (t *table[T]) put(id uint64, x *T) {
	if id < uint64(len(t.low)) {
		t.low[id] = x
		return
	}
	t.high[id] = x
}

func (t *table[T]) get(id uint64) *T {
	if id < uint64(len(t.low)) {
		return t.low[id]
	}
	return t.high[id]
}
