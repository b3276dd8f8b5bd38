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
	m := newMerger()
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
		for until := rd.s.Offset() + care; rd.Scan(); {
			if e, ok := rd.Record().(*Event); ok {
				b.Add(e)
			}
			if p != nil && rd.state == inEvents && rd.s.Offset() > until {
				break
			}
		}
		m.add(b.cut())
		care = 2*care + chunkSize/16
	}
	if rd.Err() != nil {
		return nil, rd.Err()
	}
	return m.finish(rd), nil
}
