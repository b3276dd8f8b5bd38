package memory

import (
	"hash/maphash"
	"slices"
	"unsafe"
)

// A StackID is the number of a stack of one snapshot. 0 is the unknown stack.
type StackID int32

// A FrameID is the number of a frame of one snapshot.
type FrameID int32

// A Frame is one function of a stack.
type Frame struct {
	File, Function string
	Line           int64
}

// Stacks are the distinct stacks of a snapshot, each kept once. The zero value
// is ready to use.
type Stacks struct {
	frames  []Frame
	frameOf map[Frame]FrameID
	ids     []FrameID // the frames of all stacks, one stack after the other
	ends    []int64   // end of each stack in ids; 0 for stack 0
	first   map[uint64]StackID
	next    []StackID // with the same hash; 0 for none
	seed    maphash.Seed
}

// Frame returns the number of a frame.
func (s *Stacks) Frame(f Frame) FrameID {
	id, ok := s.frameOf[f]
	if !ok {
		if s.frameOf == nil {
			s.frameOf = make(map[Frame]FrameID)
		}
		id = FrameID(len(s.frames))
		s.frames = append(s.frames, f)
		s.frameOf[f] = id
	}
	return id
}

// Add returns the number of a stack, whose innermost frame comes first.
func (s *Stacks) Add(frames []FrameID) StackID {
	if len(frames) == 0 {
		return 0
	}
	if s.first == nil {
		s.first, s.seed = make(map[uint64]StackID), maphash.MakeSeed()
		s.ends, s.next = []int64{0}, []StackID{0}
	}
	size := len(frames) * int(unsafe.Sizeof(frames[0]))
	h := maphash.Bytes(s.seed, unsafe.Slice((*byte)(unsafe.Pointer(&frames[0])), size))
	for id := s.first[h]; id != 0; id = s.next[id] {
		if slices.Equal(s.IDs(id), frames) {
			return id
		}
	}
	id := StackID(len(s.ends))
	s.ids = append(s.ids, frames...)
	s.ends, s.next = append(s.ends, int64(len(s.ids))), append(s.next, s.first[h])
	s.first[h] = id
	return id
}

// Len returns the number of stacks, including stack 0.
func (s *Stacks) Len() int { return max(1, len(s.ends)) }

// IDs returns the frames of a stack, the innermost first. The caller must not
// change them.
func (s *Stacks) IDs(id StackID) []FrameID {
	if id <= 0 || int(id) >= len(s.ends) {
		return nil
	}
	return s.ids[s.ends[id-1]:s.ends[id]]
}

// At returns a frame.
func (s *Stacks) At(id FrameID) Frame { return s.frames[id] }
