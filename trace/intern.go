package trace

import (
	"hash/maphash"
	"unsafe"
)

// An interner assigns numbers to texts. It replaces a Go map because it is
// several times faster for the long names of kernels and needs few allocations.
type interner struct {
	slots  []uint32 // index into texts + 1; 0 is free
	texts  []string
	hashes []uint64
	arena  []byte
	bytes  int64        // of all texts
	seed   maphash.Seed // random, so that a file cannot be made of colliding names
}

// arenaSize is the largest size of one allocation for texts. The first one has
// firstArena bytes, because many traces are small.
const (
	arenaSize  = 64 << 10
	firstArena = 1 << 10
)

func newInterner() *interner {
	in := &interner{slots: make([]uint32, 1024), seed: maphash.MakeSeed()}
	in.texts, in.hashes = []string{""}, []uint64{0} // the empty text is Sym 0
	return in
}

// sym returns the number of a text, which it does not retain.
func (in *interner) sym(text []byte) Sym {
	if len(text) == 0 {
		return 0
	}
	h := maphash.Bytes(in.seed, text)
	mask := uint64(len(in.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		at := in.slots[i]
		if at == 0 {
			return in.add(text, h, i)
		}
		if in.hashes[at-1] == h && in.texts[at-1] == string(text) {
			return Sym(at - 1)
		}
	}
}

func (in *interner) add(text []byte, h, slot uint64) Sym {
	s := Sym(len(in.texts))
	in.texts = append(in.texts, in.keep(text))
	in.hashes = append(in.hashes, h)
	in.bytes += int64(len(text))
	in.slots[slot] = uint32(len(in.texts))
	if 2*len(in.texts) > len(in.slots) {
		in.grow()
	}
	return s
}

// find returns the number of a text, and false if it has none.
func (in *interner) find(text string) (Sym, bool) {
	if text == "" {
		return 0, true
	}
	h := maphash.String(in.seed, text)
	mask := uint64(len(in.slots) - 1)
	for i := h & mask; in.slots[i] != 0; i = (i + 1) & mask {
		if at := in.slots[i] - 1; in.hashes[at] == h && in.texts[at] == text {
			return Sym(at), true
		}
	}
	return 0, false
}

// keep copies a text into the arena.
func (in *interner) keep(text []byte) string {
	if len(text) > arenaSize/4 {
		return string(text)
	}
	if len(in.arena)+len(text) > cap(in.arena) {
		in.arena = make([]byte, 0, min(arenaSize, max(firstArena, 8*cap(in.arena), 4*len(text))))
	}
	from := len(in.arena)
	in.arena = append(in.arena, text...)
	return unsafe.String(unsafe.SliceData(in.arena[from:]), len(text)) // safe: the arena is append-only
}

func (in *interner) grow() {
	in.slots = make([]uint32, 4*len(in.slots))
	mask := uint64(len(in.slots) - 1)
	for at, h := range in.hashes {
		i := h & mask
		for in.slots[i] != 0 {
			i = (i + 1) & mask
		}
		in.slots[i] = uint32(at + 1)
	}
}
