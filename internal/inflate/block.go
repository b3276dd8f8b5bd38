package inflate

const (
	maxLiterals  = 286 // symbols of a block's literal and length code
	maxDistances = 30  // symbols of a block's distance code
)

// Codes are the tables of the current block.
type codes struct {
	literals      [1 << literalBits]entry
	moreLiterals  [literalMore]entry
	distances     [1 << distanceBits]entry
	moreDistances [distanceMore]entry

	// fixed is set while the tables hold the fixed code. A hostile file may
	// have a fixed block every other byte, and must not cause a new table for
	// each.
	fixed bool
}

// set builds the tables of a block from the lengths of its codes.
func (c *codes) set(literals, distances []uint8) bool {
	c.fixed = false
	if !build(c.literals[:], literalBits, c.moreLiterals[:], literals, literal) {
		return false
	}
	pair(c.literals[:], literalBits)
	return build(c.distances[:], distanceBits, c.moreDistances[:], distances, distance)
}

// setFixed builds the tables of the code that has no header (RFC 1951, section
// 3.2.6).
func (c *codes) setFixed() {
	if c.fixed {
		return
	}
	var literals [288]uint8
	for i := range literals {
		switch {
		case i < 144:
			literals[i] = 8
		case i < 256:
			literals[i] = 9
		case i < 280:
			literals[i] = 7
		default:
			literals[i] = 8
		}
	}
	var distances [32]uint8
	for i := range distances {
		distances[i] = 5
	}
	c.fixed = c.set(literals[:], distances[:])
}

// block reads the header of a block.
func (z *Reader) block() error {
	if !z.want(3) {
		return z.short()
	}
	z.final = z.take(1) == 1
	switch z.take(2) {
	case 0:
		return z.beginStored()
	case 1:
		z.codes.setFixed()
		z.state = inSymbols
		return nil
	case 2:
		z.state = inSymbols
		return z.readCodes()
	default:
		return z.corrupt("block type 3")
	}
}

// endBlock sets the state that follows a block.
func (z *Reader) endBlock() {
	z.state = atBlock
	if z.final {
		z.state = atTrailer
	}
}

// beginStored reads the length of a stored block, which is stored twice.
func (z *Reader) beginStored() error {
	z.align()
	if !z.want(32) {
		return z.short()
	}
	n, inverse := z.take(16), z.take(16)
	if n^inverse != 0xffff {
		return z.corrupt("stored length %#04x does not match its complement %#04x", n, inverse)
	}
	z.stored = int(n)
	z.state = inStored
	return nil
}

// copyStored copies the available bytes of a stored block, up to the end of the
// window.
func (z *Reader) copyStored() error {
	z.giveBack() // the input is aligned: no bits remain
	for z.stored > 0 && z.pos < decodeEnd {
		if z.at == z.end {
			if z.input.err == nil {
				z.fill()
			}
			if z.at == z.end {
				return z.short()
			}
		}
		room := z.window[z.pos:min(decodeEnd, z.pos+z.stored)]
		n := copy(room, z.buf[z.at:z.end])
		z.at += n
		z.pos += n
		z.stored -= n
	}
	if z.stored == 0 {
		z.endBlock()
	}
	return nil
}

// lengthOrder is the order in which the lengths of the code of code lengths are
// written, the least used ones last so that they can be left out.
var lengthOrder = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a dynamic block (RFC 1951, section 3.2.7).
func (z *Reader) readCodes() error {
	if !z.want(14) {
		return z.short()
	}
	literals, distances, ordered := z.take(5)+257, z.take(5)+1, z.take(4)+4
	if literals > maxLiterals {
		return z.corrupt("%d literal and length codes, over %d", literals, maxLiterals)
	}
	if distances > maxDistances {
		return z.corrupt("%d distance codes, over %d", distances, maxDistances)
	}
	var short [len(lengthOrder)]uint8
	for _, sym := range lengthOrder[:ordered] {
		if !z.want(3) {
			return z.short()
		}
		short[sym] = uint8(z.take(3))
	}
	var table [1 << lengthBits]entry
	if !build(table[:], lengthBits, nil, short[:], codeLength) {
		return z.corrupt("the code of code lengths is incomplete or too large")
	}
	var lengths [maxLiterals + maxDistances]uint8
	if err := z.readLengths(&table, lengths[:literals+distances]); err != nil {
		return err
	}
	if !z.codes.set(lengths[:literals], lengths[literals:literals+distances]) {
		return z.corrupt("a code of the block is incomplete or too large")
	}
	return nil
}

// readLengths reads code lengths, which may be runs, into lengths.
func (z *Reader) readLengths(table *[1 << lengthBits]entry, lengths []uint8) error {
	for i := 0; i < len(lengths); {
		z.want(lengthBits)
		e := table[z.bits%(1<<lengthBits)]
		if e.take() > z.n {
			return z.short()
		}
		if e&isSpecial != 0 {
			return z.corrupt("no such code of a code length")
		}
		sym := e.value(z.bits)
		z.take(e.take())
		if sym < 16 {
			lengths[i] = uint8(sym)
			i++
			continue
		}
		var value uint8 // of the run
		least, extra := 3, uint(2)
		switch sym {
		case 16:
			if i == 0 {
				return z.corrupt("the first code length repeats the one before")
			}
			value = lengths[i-1]
		case 17:
			extra = 3
		case 18:
			least, extra = 11, 7
		}
		if !z.want(extra) {
			return z.short()
		}
		run := least + int(z.take(extra))
		if run > len(lengths)-i {
			return z.corrupt("%d code lengths, over %d", i+run, len(lengths))
		}
		for ; run > 0; run-- {
			lengths[i] = value
			i++
		}
	}
	return nil
}
