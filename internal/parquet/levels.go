package parquet

import "encoding/binary"

// longRun is how many equal values make a run of their own: fewer are packed with their neighbours.
const longRun = 16

// hybrid appends numbers of a width in bits in the hybrid of run lengths and packed bits that Parquet uses for levels
// and for indices into a dictionary.
func hybrid[N uint8 | uint32](out []byte, values []N, width int) []byte {
	for i := 0; i < len(values); {
		if run := runOf(values[i:], len(values)); run >= longRun || run == len(values)-i {
			out = binary.AppendUvarint(out, uint64(run)<<1)
			for shift := 0; shift < width; shift += 8 {
				out = append(out, byte(uint32(values[i])>>shift))
			}
			i += run
			continue
		}
		first := i
		for i < len(values) && (i == first || runOf(values[i:], longRun) < longRun) {
			i += 8
		}
		out = binary.AppendUvarint(out, uint64(i-first)/8<<1|1)
		out = pack(out, values[first:min(i, len(values))], i-first, width)
	}
	return out
}

// runOf returns how many values at the start are equal, at most the given number.
func runOf[N uint8 | uint32](values []N, most int) int {
	n := 1
	for n < len(values) && n < most && values[n] == values[0] {
		n++
	}
	return n
}

// pack appends values of a width, the lowest bit first, and zeros until there are n of them.
func pack[N uint8 | uint32](out []byte, values []N, n, width int) []byte {
	var bits uint64
	have := 0
	for i := range n {
		if i < len(values) {
			bits |= uint64(values[i]) << have
		}
		for have += width; have >= 8; have -= 8 {
			out = append(out, byte(bits))
			bits >>= 8
		}
	}
	return out // 8 values fill whole bytes
}
