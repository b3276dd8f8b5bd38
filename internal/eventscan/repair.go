package eventscan

import (
	"bytes"

	"assay/internal/jsonscan"
)

// Repair escapes the quotes that an event's writer forgot to escape, as
// PyTorch's profiler did until 2026 in names such as
//
//	"name": "say "hi"", "pid": 1
//
// It takes a quote to end a string only where the event goes on behind it as an
// event does: with a brace or bracket, or with a comma and a next key or value.
// The result is a guess that Decode must accept, and false says that there is
// nothing to guess.
func Repair(event []byte) ([]byte, bool) {
	out := make([]byte, 0, len(event)+16)
	changed := false
	for i := 0; i < len(event); {
		if event[i] != '"' {
			out = append(out, event[i])
			i++
			continue
		}
		end := likelyEnd(event, i)
		if end < 0 {
			return nil, false
		}
		out = append(out, '"')
		for k := i + 1; k < end; k++ {
			switch {
			case event[k] == '\\' && k+1 < end:
				out = append(out, event[k], event[k+1])
				k++
			case event[k] == '"':
				out = append(out, '\\', '"')
				changed = true
			default:
				out = append(out, event[k])
			}
		}
		out = append(out, '"')
		i = end + 1
	}
	return out, changed
}

// likelyEnd returns the index of the quote that ends the string which starts at
// i, or -1.
func likelyEnd(b []byte, i int) int {
	for k := i + 1; k < len(b); k++ {
		switch {
		case b[k] == '\\':
			k++
		case b[k] == '"' && goesOn(b, k+1):
			return k
		}
	}
	return -1
}

// goesOn reports whether b[i:] is what follows a string in an event.
func goesOn(b []byte, i int) bool {
	i = jsonscan.Space(b, i)
	if i == len(b) {
		return true
	}
	switch b[i] {
	case ':':
		// Behind a key there is a value. Text that looks so is rare.
		i = jsonscan.Space(b, i+1)
		return i < len(b) && bytes.IndexByte([]byte(`"{[-0123456789tfnNiI`), b[i]) >= 0
	case '}', ']':
		i = jsonscan.Space(b, i+1)
		return i == len(b) || b[i] == '}' || b[i] == ']' || b[i] == ','
	case ',':
		i = jsonscan.Space(b, i+1)
		return i < len(b) && (b[i] == '"' && isKey(b, i) || b[i] == '}')
	}
	return false
}

// isKey reports whether a key and its colon are at b[i].
func isKey(b []byte, i int) bool {
	const longest = 64
	end := bytes.IndexByte(b[i+1:min(len(b), i+longest)], '"')
	if end < 0 {
		return false
	}
	after := jsonscan.Space(b, i+1+end+1)
	return after < len(b) && b[after] == ':'
}
