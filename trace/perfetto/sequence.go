package perfetto

import "assay/internal/protoscan"

// Fields of interned data, and of an entry.
const (
	internedCategories, internedNames, internedAnnotations         = 1, 2, 3
	internedContexts, internedSpecifications, internedStringValues = 23, 24, 29

	entryID, entryName = 1, 2
)

// The flags of a packet.
const (
	stateCleared = 1 // names before it are no longer valid
	needsState   = 2
)

// A sequence is the state of one writer.
type sequence struct {
	id uint64

	names, categories, annotations, values, specifications map[uint64]text
	contexts                                               map[uint64]context

	clock, track       uint64 // defaults
	hasClock, hasTrack bool

	known bool // the names are complete: a packet cleared them, or none was lost
	own   map[uint64]*ownClock
	held  int // bytes of the names, until they are cleared
}

// What a sequence and an entry of its names take of the memory.
const bytesOfSequence, bytesOfEntry = 1024, 64

// A context is a program's use of a GPU.
type context struct{ pid, api int64 }

func (r *reader) sequence(id uint64) *sequence {
	s := r.sequences[id]
	if s == nil {
		if len(r.sequences) >= mostSequences || !r.take(bytesOfSequence) {
			return nil
		}
		s = &sequence{id: id, known: true, own: map[uint64]*ownClock{}}
		s.clear()
		r.sequences[id] = s
	}
	return s
}

func (s *sequence) clear() {
	s.names, s.categories, s.annotations, s.values = map[uint64]text{}, map[uint64]text{}, map[uint64]text{}, map[uint64]text{}
	s.specifications, s.contexts = map[uint64]text{}, map[uint64]context{}
	s.hasClock, s.hasTrack = false, false
}

// begin takes the flags of a packet. It returns false if the packet needs names that are lost.
func (r *reader) begin(s *sequence, p *packet) bool {
	if p.lost && s.id != 0 {
		s.known = false
	}
	if p.flags&stateCleared != 0 {
		r.used -= int64(s.held)
		s.held, s.known = 0, true
		s.clear()
	}
	return s.known || p.flags&needsState == 0
}

// interned adds names to those of a sequence.
func (r *reader) interned(s *sequence, b []byte) {
	whole := protoscan.Each(b, func(f protoscan.Field) {
		var into map[uint64]text
		switch f.Number {
		case internedCategories:
			into = s.categories
		case internedNames:
			into = s.names
		case internedAnnotations:
			into = s.annotations
		case internedStringValues:
			into = s.values
		case internedSpecifications:
			into = s.specifications
		case internedContexts:
			r.internedContext(s, f.Text)
			return
		default:
			return
		}
		var id uint64
		var name []byte
		protoscan.Each(f.Text, func(f protoscan.Field) {
			switch f.Number {
			case entryID:
				id = f.Bits
			case entryName:
				name = f.Text
			}
		})
		if _, have := into[id]; have || r.hold(s) {
			into[id] = r.text(name)
		}
	})
	if !whole {
		r.damaged++
	}
}

func (r *reader) internedContext(s *sequence, b []byte) {
	var id uint64
	var c context
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case 1:
			id = f.Bits
		case 2:
			c.pid = int64(int32(f.Bits))
		case 3:
			c.api = int64(f.Bits)
		}
	})
	if _, have := s.contexts[id]; have || r.hold(s) {
		s.contexts[id] = c
	}
}

// hold reports whether one more entry of a sequence may be kept.
func (r *reader) hold(s *sequence) bool {
	s.held += bytesOfEntry
	return r.take(bytesOfEntry)
}

// defaults takes what packets of the sequence leave out.
func (s *sequence) defaults(b []byte) {
	s.hasClock, s.hasTrack = false, false
	protoscan.Each(b, func(f protoscan.Field) {
		switch f.Number {
		case packetTimeClock:
			s.clock, s.hasClock = f.Bits, true
		case packetTrackEvent: // defaults of events of tracks
			protoscan.Each(f.Text, func(f protoscan.Field) {
				if f.Number == eventTrack {
					s.track, s.hasTrack = f.Bits, true
				}
			})
		}
	})
}

// A text is a number of texts.
type text uint32

// texts are all texts, each once.
type texts struct {
	ids map[string]text
	all []string
}

func newTexts() texts { return texts{map[string]text{"": 0}, []string{""}} }

const bytesOfText = 128 // with the places of texts in tables

// text returns the number of a text, 0 if there is no memory for a new one.
func (r *reader) text(b []byte) text {
	t := &r.texts
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	s := cut(b)
	id, ok := t.ids[s]
	if !ok && r.take(len(s)+bytesOfText) {
		id = text(len(t.all))
		t.ids[s] = id
		t.all = append(t.all, s)
	}
	return id
}
