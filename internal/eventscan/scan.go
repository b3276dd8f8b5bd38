package eventscan

import (
	"encoding/binary"
	"math/bits"

	"assay/internal/jsonscan"
)

// Gap returns the index of the first byte at or after b[i] that may not stand
// between events: neither white space nor a comma.
func Gap(b []byte, i int) int {
	const gap = uint64(1<<' ' | 1<<'\n' | 1<<'\r' | 1<<'\t' | 1<<',')
	for i < len(b) && b[i] <= ',' && gap>>b[i]&1 != 0 {
		i++
	}
	return i
}

// Scan fills f from the event whose opening brace is b[i] and returns the index
// just past it. It returns false if anything is not as usual, and f is then
// void: [Decode] must read the event. The doc comment of the package has the
// states that the code below moves through.
func Scan(b []byte, i int, f *Fields) (end int, ok bool) {
	f.set, f.head = 0, nil
	return f.members(b, i+1, 1, memberTable)
}

// members reads the members of one object, whose opening brace is just before
// i, and returns the index behind its closing brace. The object stands at the
// given level: 1 for the event, 2 for its args.
func (f *Fields) members(b []byte, i, level int, keys *keyTable) (int, bool) {
	for {
		// member
		i = space(b, i)
		switch {
		case i >= len(b):
			return i, false
		case b[i] == '}': // it is empty, or has a comma before its end
			return i + 1, true
		case b[i] != '"':
			return i, false
		}
		key := i + 1
		i = quote(b, key)
		if i+16 > len(b) || b[i] != '"' {
			return i, false
		}
		x := keys.find(b, key, i)

		// colon
		if b[i+1] == ':' && b[i+2] > ' ' {
			i += 2
		} else if b[i+1] == ':' && b[i+2] == ' ' && b[i+3] > ' ' {
			i += 3
		} else if i = colon(b, i+1); i < 0 {
			return 0, false
		}

		// value
		var ok bool
		if i, ok = f.value(b, i, level, x); !ok || i >= len(b) {
			return i, false
		}

		// separator
		if b[i] != ',' {
			if i = space(b, i); i >= len(b) {
				return i, false
			}
		}
		switch b[i] {
		case ',':
			i++
		case '}':
			return i + 1, true
		default:
			return i, false
		}
	}
}

// value reads the value at b[i] of field x and returns the index behind it.
func (f *Fields) value(b []byte, i, level int, x Field) (end int, ok bool) {
	switch {
	case x >= firstInt:
		return f.int(b, i, x)
	case x >= firstText && x < Grid:
		return f.text(b, i, level, x)
	case x == Start || x == Dur:
		return f.moment(b, i, x)
	case x == Phase:
		if i+3 > len(b) || b[i] != '"' || b[i+1] == '"' || b[i+1] == '\\' || b[i+2] != '"' {
			return i, false
		}
		f.phase = b[i+1]
		f.set |= 1 << Phase
		return i + 3, true
	case x == Args && b[i] != '{':
		return i, false
	case x == Args:
		f.set = f.set&^argSet | 1<<Args
		return f.members(b, i+1, 2, argTable)
	case x == Grid || x == Block:
		return f.triple(b, i, x)
	}
	return skip(b, i, level)
}

// moment reads the time of field x.
func (f *Fields) moment(b []byte, i int, x Field) (end int, ok bool) {
	ns, end, ok := micros(b, i)
	f.times[x-Start] = ns
	f.set |= 1 << x
	return end, ok
}

// text reads a string, array or number as text.
func (f *Fields) text(b []byte, i, level int, x Field) (end int, ok bool) {
	if b[i] == '"' {
		end = quote(b, i+1)
		if end >= len(b) || b[end] != '"' {
			return end, false
		}
		f.texts[x-firstText] = b[i+1 : end]
		f.set |= 1 << x
		return end + 1, true
	}
	if b[i] == '[' {
		if end, ok = skip(b, i, level); ok {
			f.texts[x-firstText] = b[i:end]
			f.set |= 1 << x
		}
		return end, ok
	}
	if _, end, digits := number(b, i); digits > 0 && (b[end] == ',' || b[end] == '}') {
		f.texts[x-firstText] = b[i:end]
		f.set |= 1 << x
		return end, true
	}
	if b[i] == 'n' {
		return i, false
	}
	if end, ok = skip(b, i, level); !ok {
		return end, false
	}
	f.texts[x-firstText] = b[i:end]
	f.set |= 1 << x
	return end, true
}

// int reads an integer. Null and text that is no number leave the field unset.
func (f *Fields) int(b []byte, i int, x Field) (end int, ok bool) {
	neg := b[i] == '-'
	if neg {
		i++
	}
	n, end, digits := number(b, i)
	if end >= len(b) {
		return end, false
	}
	if digits == 0 {
		return f.oddInt(b, i, x, neg)
	}
	if c := b[end]; c != ',' && c != '}' && c != '\n' && c != ' ' {
		return end, false
	}
	if neg {
		n = -n
	}
	f.ints[x-firstInt] = n
	f.set |= 1 << x
	return end, true
}

// oddInt reads null, and numbers and other text in quotes.
func (f *Fields) oddInt(b []byte, i int, x Field, neg bool) (end int, ok bool) {
	if neg {
		return i, false
	}
	if b[i] == 'n' && i+5 <= len(b) && string(b[i:i+4]) == "null" && (b[i+4] == ',' || b[i+4] == '}' || b[i+4] <= ' ') {
		return i + 4, true
	}
	if b[i] != '"' {
		return i, false
	}
	end = quote(b, i+1)
	if end >= len(b) || b[end] != '"' {
		return end, false
	}
	if n, ok := intOf(b[i+1 : end]); ok {
		f.ints[x-firstInt] = n
		f.set |= 1 << x
	} else if x == Device {
		f.ints[x-firstInt] = Unreadable
		f.set |= 1 << x
	}
	return end + 1, true
}

// triple reads an array of three integers.
func (f *Fields) triple(b []byte, i int, x Field) (end int, ok bool) {
	if b[i] != '[' {
		return i, false
	}
	i++
	t := &f.triples[x-Grid]
	for n := range t {
		i = space(b, i)
		v, digits := shortNumber(b, i)
		if digits == 0 {
			return i, false
		}
		if i = space(b, i+digits); i >= len(b) || b[i] != ",,]"[n] {
			return i, false
		}
		t[n] = v
		i++
	}
	f.set |= 1 << x
	return i, true
}

// skip passes a value that is not wanted, as jsonscan does at its level.
func skip(b []byte, i, level int) (end int, ok bool) {
	if end := decimalEnd(b, i); end > i && (b[end] == ',' || b[end] == '}') {
		return end, true // most are counters
	}
	end, err := jsonscan.SkipInner(b, i, level)
	return end, err == nil
}

// space returns the index of the first byte at or after i that is not white
// space. Pretty-printed traces have runs of it.
func space(b []byte, i int) int {
	if i < len(b) && b[i] > ' ' {
		return i
	}
	return jsonscan.Space(b, i)
}

// colon reads white space, a colon and white space, and returns the index
// behind them or -1.
func colon(b []byte, i int) int {
	i = jsonscan.Space(b, i)
	if i >= len(b) || b[i] != ':' {
		return -1
	}
	if i = jsonscan.Space(b, i+1); i >= len(b) {
		return -1
	}
	return i
}

// quote returns the index of the first quote or backslash at or after i.
func quote(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		x, y := w^(ones*'"'), w^(ones*'\\')
		if hit := ((x-ones)&^x | (y-ones)&^y) & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)>>3
		}
	}
	return len(b)
}
