package inflate

import "math/bits"

const (
	maxCode  = 15  // bits of the longest code
	maxMatch = 258 // bytes

	literalBits  = 11 // of the table of literals and lengths
	distanceBits = 9  // of the table of distances
	lengthBits   = 7  // of the table of code lengths, whose codes have no more bits

	// A table has one second-level table per prefix of its long codes. A code
	// with long symbols is complete, so a second-level table has at least two
	// symbols: at most 144 tables of 16 entries for 288 literals and lengths,
	// and at most 16 tables of 64 for 32 distances. Both are rounded up to a
	// power of 2.
	literalMore  = 4096
	distanceMore = 1024
)

// An entry of a table describes the bits that select it.
//
//	bits 0-5    bits to take: those of the code and the extra bits behind it
//
//	a literal, or two:
//	bit 31      set
//	bit 30      set if there are two
//	bits 24-27  bits of the first one's code
//	bits 16-23  the second one
//	bits 8-15   the first one
//
//	the base of a length or distance (or a code length):
//	bits 31, 15 clear
//	bits 16-30  the base, to which the extra bits are added
//	bits 8-11   bits of the code, without the extra ones
//
//	anything else: the end of the block, a link, or, with neither bit, no code
//	bit 31      clear
//	bit 15      set
//	bit 14      set for a link to a second-level table
//	bit 13      set for the end of the block
//	bits 16-27  the index of that table
//	bits 8-11   the bits that choose its entry, behind those of the first table
type entry uint32

const (
	isLiteral entry = 1 << 31
	isPair    entry = 1 << 30
	isSpecial entry = 1 << 15
	isLink    entry = 1 << 14
	isEnd     entry = 1 << 13

	takeMask = 63 // of the bits to take
)

// take returns how many bits e takes.
func (e entry) take() uint { return uint(e & takeMask) }

// value returns the base of e plus its extra bits.
func (e entry) value(bits uint64) int {
	return int(e>>16) + int(bits&(1<<(e&takeMask)-1)>>(e>>8&15))
}

// Bases and extra bits (RFC 1951, section 3.2.5). Length 258 has its own code,
// so the code before it ends at 257.
var (
	lengthBase = [29]uint16{3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
		131, 163, 195, 227, 258}
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
)

const (
	endOfBlock = 256
	// Symbols from these on have codes in fixed blocks but no meaning.
	noLiteral  = endOfBlock + 1 + len(lengthBase)
	noDistance = 30
)

// literal returns the entry of a symbol of the literal and length code that has
// n bits.
func literal(sym int, n uint) entry {
	switch {
	case sym < endOfBlock:
		return isLiteral | entry(n)<<24 | entry(sym)<<8 | entry(n)
	case sym == endOfBlock:
		return isSpecial | isEnd | entry(n)
	case sym >= noLiteral:
		return isSpecial | entry(n)
	}
	i := sym - endOfBlock - 1
	return entry(lengthBase[i])<<16 | entry(n)<<8 | entry(n+uint(lengthExtra[i]))
}

// distance returns the entry of a symbol of the distance code that has n bits.
// From the third symbol on, each pair has one extra bit more than the pair
// before.
func distance(sym int, n uint) entry {
	switch {
	case sym >= noDistance:
		return isSpecial | entry(n)
	case sym < 2:
		return entry(sym+1)<<16 | entry(n)<<8 | entry(n)
	}
	extra := uint(sym/2 - 1)
	base := (2+sym&1)<<extra + 1
	return entry(base)<<16 | entry(n)<<8 | entry(n+extra)
}

// codeLength returns the entry of a symbol of the code of code lengths.
func codeLength(sym int, n uint) entry {
	return entry(sym)<<16 | entry(n)<<8 | entry(n)
}

// build fills table, of 2^width entries, and its second-level tables from the
// lengths of the symbols' codes; 0 means no code. It reports whether the
// lengths form a code, that is, whether each sequence of bits leads to one
// symbol. Two exceptions are permitted: no code at all (a block without
// matches), and a single code of one bit.
func build(table []entry, width uint, more []entry, lengths []uint8, of func(sym int, n uint) entry) bool {
	var count [maxCode + 1]int
	for _, n := range lengths {
		count[n]++
	}
	var next [maxCode + 1]uint // the next code of each length
	var longest, space uint    // space in units of a code of 15 bits
	code := uint(0)
	for n := uint(1); n <= maxCode; n++ {
		next[n] = code
		code = (code + uint(count[n])) << 1
		space += uint(count[n]) << (maxCode - n)
		if count[n] > 0 {
			longest = n
		}
	}
	single := space == 1<<(maxCode-1) && longest == 1
	if space != 1<<maxCode {
		if space != 0 && !single {
			return false
		}
		for i := range table {
			table[i] = isSpecial // no code; detected without reading a bit
		}
	}
	// Long codes follow the short ones, so their prefixes are the last ones,
	// and each prefix has a fixed second-level table.
	firstLong := next[width+1] >> 1
	for sym, n := range lengths {
		if n == 0 {
			continue
		}
		n := uint(n)
		code, e := next[n], of(sym, n)
		next[n]++
		low := uint(bits.Reverse16(uint16(code)) >> (16 - n)) // the code in the order of the input, first bit lowest
		part, step := table, n
		if n > width {
			size := longest - width
			at := (code>>(n-width) - firstLong) << size
			table[low&(1<<width-1)] = isSpecial | isLink | entry(at)<<16 | entry(size)<<8
			part, step, low = more[at:at+1<<size], n-width, low>>width
		}
		for i := low; i < uint(len(part)); i += 1 << step {
			part[i] = e
		}
	}
	return true
}

// pair joins two literals into one entry if the codes of both fit.
//
// An entry's second literal is looked up at a lower index than its own, so when
// walking from the top down every lookup finds an entry that is still single.
func pair(table []entry, width uint) {
	for i := len(table) - 1; i >= 0; i-- {
		e := table[i]
		if e&isLiteral == 0 {
			continue
		}
		second := table[i>>e.take()]
		if second&isLiteral == 0 || e.take()+second.take() > width {
			continue
		}
		table[i] = e + isPair + second>>8&0xff<<16 + entry(second.take())
	}
}
