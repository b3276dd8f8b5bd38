package trace

import (
	"io"
	"runtime"
)

// Read reads a whole trace. It returns an error if r does not contain a trace;
// problems that leave a trace are among its Issues.
//
// Events are parsed on as many cores as the program may use. The result is the
// same as on one core: [Reader] and one [Builder] define it.
func Read(r io.Reader, file string, sel Select) (*Trace, error) {
	p := newPipeline(runtime.GOMAXPROCS(0), chunkSize)
	return read(NewReader(r, file, sel), p)
}

// read uses p for the events it can parse and the Reader for the rest: the
// input around the events, and events that p cannot handle. If p is nil, the
// Reader reads everything.
func read(rd *Reader, p *pipeline) (*Trace, error) {
	m := newMerger(rd.sel.Limits)
	if rd.sel.Index {
		m.index = new(Index)
		rd.index = m.index
	}
	b := NewBuilder(rd.sel)
	// Each switch from the pipeline to the Reader wastes the work on a few
	// chunks. In a file that often needs the Reader, the Reader therefore reads
	// longer and longer parts before the pipeline is tried again.
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
				m.index.event(e.Offset, rd.s.Offset())
			}
			if at := rd.s.Offset(); at > next {
				if p != nil && rd.state == inEvents && at > from+care {
					break
				}
				next = at + chunkSize
				m.finalize(&b, rd)
			}
		}
		m.finalize(&b, rd)
		care = 2*care + chunkSize/16
	}
	if rd.Err() != nil {
		return nil, rd.Err()
	}
	return m.finish(rd), nil
}

// finalize merges the rows that b made of the events before rd, and ends the
// reading if they exceed the limit. It replaces a builder that has grown large.
func (m *merger) finalize(b **Builder, rd *Reader) {
	p := (*b).cut()
	p.careful, p.to = true, rd.s.Offset()
	m.add(p)
	m.enforce(rd, rd.s.Offset())
	if (*b).numberingBytes() > m.share() {
		m.retire(b)
	}
}

// share is the part of the memory limit that one builder may use.
func (m *merger) share() int64 { return m.limits.Memory / 16 }

// retire replaces a builder by an empty one. All rows of the old builder must be
// merged.
func (m *merger) retire(b **Builder) {
	delete(m.maps, *b)
	*b = NewBuilder((*b).sel)
}
