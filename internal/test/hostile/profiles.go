package hostile

import (
	"encoding/binary"
	"fmt"
)

// profiles has profiles of many functions, none of which is twice in them.
func profiles() []Case {
	return []Case{
		{Name: "2000000 folded stacks", Full: 2e6, unit: func(b []byte, i int) []byte {
			return fmt.Appendf(b, "main;f%d;g%d %d\n", i%1_000_000, i, i%97+1)
		}},
		{Name: "deep folded stacks", Full: 2e4, unit: func(b []byte, i int) []byte {
			for j := range 100 {
				b = fmt.Appendf(b, "f%d_%d;", i, j)
			}
			return fmt.Appendf(b, "g %d\n", i%97+1)
		}},
		{Name: "1000000 functions in callgrind", Full: 1e6, head: "# callgrind format\nevents: Ir\n\n", unit: func(b []byte, i int) []byte {
			return fmt.Appendf(b, "fl=a%d.c\nfn=func_%d\n1 %d\ncfn=func_%d\ncalls=1 1\n1 5\n", i%1000, i, i%97+1, i*7919%(i+1))
		}},
		{Name: "2000000 names in callgrind", Full: 2e6, head: "# callgrind format\nevents: Ir\n\n", unit: func(b []byte, i int) []byte {
			return fmt.Appendf(b, "fn=(%d) func_%d\n1 %d\n", i, i, i%97+1)
		}},
		{Name: "500000 samples of pprof", Full: 5e5, Refusable: true, unit: pprofUnit},
		{Name: "300000 functions in pstats", Full: 3e5, Refusable: true, head: "{", tail: "0", unit: pstatsUnit},
	}
}

// pprofUnit appends a sample with a location, a function and a name of its own.
func pprofUnit(b []byte, i int) []byte {
	n := uint64(i) + 1
	if i == 0 {
		b = field(b, 1, []byte{8, 1, 16, 2})
		for _, text := range []string{"", "cpu", "nanoseconds"} {
			b = field(b, 6, []byte(text))
		}
	}
	at := binary.AppendUvarint(nil, n)
	b = field(b, 2, append(field(nil, 1, at), field(nil, 2, []byte{5})...))
	b = field(b, 4, append(append([]byte{8}, at...), field(nil, 4, append([]byte{8}, at...))...))
	b = field(b, 5, binary.AppendUvarint(append(append([]byte{8}, at...), 16), n+2))
	return field(b, 6, fmt.Appendf(nil, "function_%d", i))
}

// field appends a field of bytes in the encoding of protobuf.
func field(b []byte, number byte, body []byte) []byte {
	return append(binary.AppendUvarint(append(b, number<<3|2), uint64(len(body))), body...)
}

// pstatsUnit appends a function with one caller in the form of Python's marshal:
// (file, line, name): (1, 1, 0.5, 0.5, {caller: (1, 1, 0.5, 0.5)}).
func pstatsUnit(b []byte, i int) []byte {
	name := func(b []byte, i int) []byte {
		text := fmt.Sprintf("f%d", i)
		b = append(b, ')', 3, 'z', 4)
		b = append(b, "a.py"...)
		b = binary.LittleEndian.AppendUint32(append(b, 'i'), uint32(i+1))
		return append(append(b, 'z', byte(len(text))), text...)
	}
	cost := func(b []byte, size byte) []byte {
		b = append(b, ')', size, 'i', 1, 0, 0, 0, 'i', 1, 0, 0, 0)
		const half = "g\x00\x00\x00\x00\x00\x00\xe0\x3f"
		return append(b, half+half...)
	}
	b = cost(name(b, i), 5)
	b = cost(name(append(b, '{'), i*7919%(i+1)), 4)
	return append(b, '0')
}

// binaries has pickles and databases.
func binaries() []Case {
	repeat := func(unit string) func([]byte, int) []byte {
		return func(b []byte, _ int) []byte { return append(b, unit...) }
	}
	const segments = "\x80\x04}(\x8c\x08segments]("
	return []Case{
		{Name: "20000000 dicts in a pickle", Full: 20e6, Refusable: true, head: segments, tail: "eu.", unit: repeat("}")},
		{Name: "20000000 marks in a pickle", Full: 20e6, Refusable: true, head: segments, tail: "eu.", unit: repeat("(")},
		{Name: "nested lists in a pickle", Full: 5e6, Refusable: true, head: segments, tail: "eu.", unit: repeat("](")},
		{Name: "a database of zeros", Full: 200, Refusable: true, head: "SQLite format 3\x00", unit: func(b []byte, _ int) []byte { return append(b, make([]byte, mega)...) }},
	}
}
