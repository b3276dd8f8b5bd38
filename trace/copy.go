package trace

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"assay/internal/eventscan"
)

// A Sink receives what [Cut.Copy] keeps, in the order of the input. Texts are valid during
// the call.
type Sink interface {
	// Member receives a member of the top-level object: its key, a colon and its value.
	Member(text []byte) error
	// Events receives n events, with a comma between any two.
	Events(text []byte, n int) error
}

// A Rewrite appends an event that is kept to b, in the form in which it is to be written,
// and returns the extended slice. It returns b unchanged to drop the event. The text of the
// event is valid JSON up to the end of its last field that was read.
type Rewrite func(b []byte, e *Event, text []byte) []byte

// ErrChanged is returned if the input has changed since the trace was read.
var ErrChanged = errors.New("the input has changed since it was read")

// Copy reads the input of the trace again and passes what is kept to out. It calls rewrite
// once for each worker; the Rewrites that it returns are called concurrently.
func (c *Cut) Copy(in io.Reader, rewrite func() Rewrite, out Sink) error {
	n := runtime.GOMAXPROCS(0)
	work, order := make(chan *piece, n), make(chan *piece, 2*n)
	for range n {
		w := &extractor{cut: c, rewrite: rewrite(), memo: eventscan.Memo{Wants: cutFields}}
		go w.run(work)
	}
	stop := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		src := &skipper{r: in}
		read <- c.read(src, func(p *piece) bool {
			p.done = make(chan struct{})
			select {
			case order <- p:
				work <- p
				return true
			case <-stop:
				return false
			}
		})
		close(order)
		close(work)
	}()
	var err error
	for p := range order {
		<-p.done
		if err != nil {
			continue
		}
		if err = p.pass(out); err != nil {
			close(stop)
		}
	}
	return errors.Join(err, <-read)
}

// A piece is a segment or a member that is copied.
type piece struct {
	text   []byte
	s      *segment // nil for a member
	next   *tally   // rows before the next segment
	offset int64    // of the text
	done   chan struct{}

	out    []byte
	events int
	err    error
}

func (p *piece) pass(out Sink) error {
	switch {
	case p.err != nil:
		return p.err
	case p.s == nil:
		return out.Member(p.text)
	case p.events == 0:
		return nil
	}
	return out.Events(p.out, p.events)
}

// read reads the members and the segments with events to keep, in the order of the input,
// until send returns false.
func (c *Cut) read(src *skipper, send func(*piece) bool) error {
	members := c.index.members
	for i := range c.index.segments {
		s, next := &c.index.segments[i], c.index.after(i)
		for len(members) > 0 && members[0].from < s.from {
			if !c.member(src, members[0], send) {
				return src.err
			}
			members = members[1:]
		}
		if !c.wants(s, next) {
			continue
		}
		text := src.take(s.from, s.to)
		if text == nil || !send(&piece{text: text, s: s, next: next, offset: s.from}) {
			return src.err
		}
	}
	for _, m := range members {
		if !c.member(src, m, send) {
			return src.err
		}
	}
	return nil
}

func (c *Cut) member(src *skipper, m memberAt, send func(*piece) bool) bool {
	if m.to-m.from > MaxEvent {
		return true
	}
	text := src.take(m.from, m.to)
	return text != nil && send(&piece{text: text})
}

// LeftOut returns the keys of members of the top-level object that were too long to copy.
func (c *Cut) LeftOut() (keys []string) {
	for _, m := range c.index.members {
		if m.to-m.from > MaxEvent {
			keys = append(keys, m.key)
		}
	}
	return keys
}

// A skipper reads parts of an input in order.
type skipper struct {
	r   io.Reader
	at  int64
	err error
}

// take returns the bytes from one offset to another, or nil after an error.
func (s *skipper) take(from, to int64) []byte {
	n, err := io.CopyN(io.Discard, s.r, from-s.at)
	s.at += n
	text := make([]byte, to-from)
	if err == nil {
		n, readErr := io.ReadFull(s.r, text)
		s.at += int64(n)
		err = readErr
	}
	switch {
	case err == nil:
		return text
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.err = ErrChanged
	default:
		s.err = err
	}
	return nil
}

// cutFields returns the fields by which events are chosen.
func cutFields(byte, []byte) eventscan.FieldSet { return fieldsOfCut }

var fieldsOfCut = eventscan.SetOf(eventscan.Phase, eventscan.Category, eventscan.Start, eventscan.Dur, eventscan.Args, eventscan.Name,
	eventscan.PID, eventscan.TID, eventscan.ID, eventscan.ID2, eventscan.MemBytes)

// An extractor copies events of segments.
type extractor struct {
	cut     *Cut
	rewrite Rewrite
	memo    eventscan.Memo
	ev      Event
	have    tally
}

func (w *extractor) run(work <-chan *piece) {
	for p := range work {
		if p.s != nil {
			w.segment(p)
		}
		if p.done != nil {
			close(p.done)
		}
	}
}

// segment copies the events of a segment that are kept.
func (w *extractor) segment(p *piece) {
	w.have = p.s.rows
	if p.s.events != nil {
		for _, at := range p.s.events {
			w.careful(p, p.text[at.from-p.offset:at.to-p.offset])
		}
	} else {
		w.valid(p)
	}
	if w.have != *p.next && p.err == nil {
		p.err = ErrChanged
	}
	p.text = nil
}

// valid copies the kept events of a segment in which every event is valid.
func (w *extractor) valid(p *piece) {
	b := p.text
	for i := eventscan.Gap(b, 0); i < len(b); i = eventscan.Gap(b, i) {
		end, ok := w.memo.Scan(b, i, &w.ev.Fields)
		var err error
		if !ok || end > len(b) {
			if end, err = eventscan.Decode(b, i, &w.ev.Fields); err != nil && !isTimeError(err) {
				p.err = fmt.Errorf("%w: at byte %d", ErrChanged, p.offset+int64(i))
				return
			}
		}
		if err != nil || !w.ev.Empty() {
			w.take(p, b[i:end], err)
		}
		i = end
	}
}

// careful copies one event, whose quotes may have to be repaired.
func (w *extractor) careful(p *piece, text []byte) {
	end, err := eventscan.Decode(append(text[:len(text):len(text)], ' '), 0, &w.ev.Fields)
	if err != nil && !isTimeError(err) || end != len(text) {
		fixed, ok := eventscan.Repair(text)
		if !ok {
			p.err = ErrChanged
			return
		}
		if end, err = eventscan.Decode(append(fixed, ' '), 0, &w.ev.Fields); err != nil {
			p.err = ErrChanged
			return
		}
		text = fixed[:end]
	}
	w.take(p, text, err)
}

// take copies the event just read if it is kept.
func (w *extractor) take(p *piece, text []byte, read error) {
	if w.ev.check(read) != nil {
		return
	}
	r := rowOf(&w.ev)
	at := 0
	if r < tables {
		at = w.have[r]
		w.have[r]++
	}
	if !w.cut.keeps(&w.ev, r, at) {
		return
	}
	before := len(p.out)
	if p.events > 0 {
		p.out = append(p.out, ",\n"...)
	}
	after := len(p.out)
	if p.out = w.rewrite(p.out, &w.ev, text); len(p.out) == after {
		p.out = p.out[:before]
		return
	}
	p.events++
}
