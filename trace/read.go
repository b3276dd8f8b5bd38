package trace

import (
	"io"
	"runtime"
)

// Read reads a whole trace. The error says why r holds none; trouble that
// leaves a trace is among its Issues.
//
// Events are parsed on as many cores as the program may use. The trace is the
// same as with one: [Reader] and one [Builder] are the definition of it.
func Read(r io.Reader, file string, sel Select) (*Trace, error) {
	p := newPipeline(runtime.GOMAXPROCS(0), chunkSize)
	return read(NewReader(r, file, sel), p)
}

// read lets p do what it can and the Reader the rest: what stands around the
// events, and places that need its care. A nil p leaves everything to it.
func read(rd *Reader, p *pipeline) (*Trace, error) {
	m := newMerger(rd.sel.Limits)
	b := NewBuilder(rd.sel)
	// Handing over costs the work on a few chunks, so the Reader keeps a file
	// that needs care often for ever longer stretches.
	care := int64(0)
	for rd.state != atEnd {
		if p != nil && rd.state == inEvents {
			from := rd.s.Offset()
			p.run(rd, m)
			if rd.s.Offset()-from > 16*care {
				care = 0
			}
		}
		from := rd.s.Offset()
		for next := from + min(care, chunkSize); rd.Scan(); {
			if e, ok := rd.Record().(*Event); ok {
				b.Add(e)
			}
			if at := rd.s.Offset(); at > next {
				if p != nil && rd.state == inEvents && at > from+care {
					break
				}
				next = at + chunkSize
				m.settle(&b, rd)
			}
		}
		m.settle(&b, rd)
		care = 2*care + chunkSize/16
	}
	if rd.Err() != nil {
		return nil, rd.Err()
	}
	return m.finish(rd), nil
}

// settle adds what b made of the events before rd, and ends the reading if that
// is too much. A builder that has grown large is replaced.
func (m *merger) settle(b **Builder, rd *Reader) {
	m.add((*b).cut())
	m.enforce(rd, rd.s.Offset())
	if (*b).held() > m.share() {
		m.retire(b)
	}
}

// share is how much of the limit one builder may take.
func (m *merger) share() int64 { return m.limits.Memory / 16 }

// retire replaces a builder by an empty one. What it numbered was merged.
func (m *merger) retire(b **Builder) {
	delete(m.maps, *b)
	*b = NewBuilder((*b).sel)
}
