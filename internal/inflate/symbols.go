package inflate

import "encoding/binary"

// symbols decodes a block's symbols up to its end or the window's.
//
// The fast loop decodes nearly all symbols while there is enough input. It
// stops before each symbol that is not a valid literal or match. That symbol is
// decoded and checked by [Reader.symbol], so that each rule of the format is
// checked in one place.
func (z *Reader) symbols() error {
	for z.pos < decodeEnd && z.state == inSymbols {
		if z.end-z.at < fastInput && z.input.err == nil {
			z.fill()
		}
		if z.end-z.at >= fastInput {
			z.fast()
			if z.pos >= decodeEnd {
				return nil
			}
		}
		if err := z.symbol(); err != nil {
			return err
		}
	}
	return nil
}

// symbol decodes one symbol with every check.
//
// Bits past the end of the input read as zero. A code that uses such bits is
// detected by the number of bits that it takes; an entry without a code takes
// none and is always wrong.
func (z *Reader) symbol() error {
	z.want(maxCode + 5 + maxCode + 13) // a length and a distance with their extra bits
	e := z.codes.literals[z.bits%(1<<literalBits)]
	if e&(isLiteral|isLink) == isLink {
		e = z.codes.moreLiterals[e.index(z.bits>>literalBits)]
	}
	if e&isLiteral != 0 {
		n := uint(e >> 24 & 15)
		if n > z.n {
			return z.short()
		}
		z.take(n)
		z.window[z.pos] = byte(e >> 8)
		z.pos++
		return nil
	}
	if e.take() > z.n {
		return z.short()
	}
	length := e.value(z.bits)
	z.take(e.take())
	switch {
	case e&isEnd != 0:
		z.endBlock()
		return nil
	case e&isSpecial != 0:
		return z.corrupt("no such literal or length")
	}
	return z.match(length)
}

// match decodes the distance of a match and copies it.
func (z *Reader) match(length int) error {
	e := z.codes.distances[z.bits%(1<<distanceBits)]
	if e&isLink != 0 {
		e = z.codes.moreDistances[e.index(z.bits>>distanceBits)]
	}
	if e.take() > z.n {
		return z.short()
	}
	distance := e.value(z.bits)
	z.take(e.take())
	if e&isSpecial != 0 {
		return z.corrupt("no such distance")
	}
	if have := z.pos - z.oldest; distance > have {
		return z.corrupt("distance %d, over the %d bytes before", distance, have)
	}
	for range length {
		z.window[z.pos] = z.window[z.pos-distance]
		z.pos++
	}
	return nil
}

// index returns the index in a second-level table that the link e and the bits
// after its prefix select.
func (e entry) index(bits uint64) uint64 {
	return uint64(e>>16) + bits&(1<<(e>>8&15)-1)
}

// fast decodes literals and matches while there is input for a whole round and
// room for its output. It stops before the first symbol that is anything else.
//
// Positions are unsigned and the buffers are arrays: from the conditions of the
// loop and the sizes of the arrays the compiler proves that nearly every access
// is within bounds, and omits the check.
func (z *Reader) fast() {
	c := &z.codes
	in, at, last := z.buf, uint(z.at), uint(z.end-fastInput)
	out, pos, oldest := z.window, uint(z.pos), uint(z.oldest)
	bits, n := z.bits, uint32(z.n)

	if at > inputSize-fastInput || last > inputSize-fastInput {
		return
	}
	bits |= load64(in, at) << (n & 63)
	at += uint(^n & 63 >> 3)
	n |= 56
	e := c.literals[bits%(1<<literalBits)]
	for pos < decodeEnd && at <= last {
		if e&isLiteral != 0 {
			// Three lookups of 11 bits leave 23 of at least 56 bits, too few
			// for a match, so each branch begins with a refill.
			store16(out, pos, e)
			pos += 1 + uint(e>>30&1)
			bits >>= e & takeMask
			n -= uint32(e)
			e = c.literals[bits%(1<<literalBits)]
			if e&isLiteral != 0 {
				store16(out, pos, e)
				pos += 1 + uint(e>>30&1)
				bits >>= e & takeMask
				n -= uint32(e)
				e = c.literals[bits%(1<<literalBits)]
				if e&isLiteral != 0 {
					store16(out, pos, e)
					pos += 1 + uint(e>>30&1)
					bits >>= e & takeMask
					n -= uint32(e)
					bits |= load64(in, at) << (n & 63)
					at += uint(^n & 63 >> 3)
					n |= 56
					e = c.literals[bits%(1<<literalBits)]
					continue
				}
			}
			bits |= load64(in, at) << (n & 63)
			at += uint(^n & 63 >> 3)
			n |= 56
		}
		if e&isSpecial != 0 {
			if e&isLink == 0 {
				break
			}
			e = c.moreLiterals[e.index(bits>>literalBits)%literalMore]
			if e&isLiteral != 0 {
				out[pos] = byte(e >> 8)
				pos++
				bits >>= e & takeMask
				n -= uint32(e)
				bits |= load64(in, at) << (n & 63)
				at += uint(^n & 63 >> 3)
				n |= 56
				e = c.literals[bits%(1<<literalBits)]
				continue
			}
			if e&isSpecial != 0 {
				break
			}
		}
		length := uint(e.value(bits))
		rest := bits >> (e & takeMask)
		d := c.distances[rest%(1<<distanceBits)]
		if d&isLink != 0 {
			d = c.moreDistances[d.index(rest>>distanceBits)%distanceMore]
		}
		distance := uint(d.value(rest))
		if d&isSpecial != 0 || distance > pos-oldest {
			break
		}
		bits = rest >> (d & takeMask)
		n -= uint32(e) + uint32(d)
		// The next lookup precedes the copy, which does not depend on it.
		bits |= load64(in, at) << (n & 63)
		at += uint(^n & 63 >> 3)
		n |= 56
		e = c.literals[bits%(1<<literalBits)]

		from := pos - distance
		switch {
		case distance < 16:
			copyNear(out, int(pos), int(distance), int(length))
		case from < decodeEnd: // always true; the compiler needs the condition
			// The sizes are constants, so only the check of from remains.
			to := (*[maxMatch + copySlack]byte)(out[pos : pos+maxMatch+copySlack])
			src := (*[maxMatch + copySlack]byte)(out[from : from+maxMatch+copySlack])
			*(*[16]byte)(to[:16]) = *(*[16]byte)(src[:16])
			*(*[16]byte)(to[16:32]) = *(*[16]byte)(src[16:32])
			for i := uint(32); i < length && i <= maxMatch; i += 16 {
				*(*[16]byte)(to[i : i+16]) = *(*[16]byte)(src[i : i+16])
			}
		}
		pos += length
	}
	z.pos, z.at = int(pos), int(at)
	z.bits, z.n = bits, uint(n&63)
	z.giveBack()
}

// load64 returns the 8 bytes at in[i:], the first one lowest.
func load64(in *[inputSize]byte, i uint) uint64 {
	return binary.LittleEndian.Uint64(in[i : i+8])
}

// store16 writes the two literals of e, or one and a byte that the next symbol
// overwrites.
func store16(out *[windowSize]byte, i uint, e entry) {
	binary.LittleEndian.PutUint16(out[i:i+2], uint16(e>>8))
}

// copyNear copies a match of a distance below 16. It may write up to 16 bytes
// past the match's end.
func copyNear(out *[windowSize]byte, pos, distance, length int) {
	if distance == 1 {
		fill := uint64(out[pos-1]) * 0x0101010101010101
		for i := 0; i < length; i += 8 {
			binary.LittleEndian.PutUint64(out[pos+i:], fill)
		}
		return
	}
	// Shorter distances are repeated byte by byte up to a multiple for which
	// 8-byte steps are possible.
	far := distance
	for far < 8 {
		far += distance
	}
	i := 0
	for ; i < far-distance; i++ {
		out[pos+i] = out[pos+i-distance]
	}
	for ; i < length; i += 8 {
		v := binary.LittleEndian.Uint64(out[pos+i-far:])
		binary.LittleEndian.PutUint64(out[pos+i:], v)
	}
}
