package eventscan

import (
	"bytes"

	"assay/internal/jsonscan"
)

// Repair escapes the quotes that an event's writer did not escape, as PyTorch's
// profiler did until 2026 in names such as
//
//	"name": "say "hi"", "pid": 1
//
// A quote ends a string only if valid event syntax follows it: a brace or
// bracket, or a comma and a next key or value. The result is a guess that
// Decode must accept. Repair returns false if there is no such guess.
func Repair(event []byte) ([]byte, bool) {
	r := repairer{in: event, out: make([]byte, 0, len(event)+16)}
	for r.i < len(event) {
		switch c := event[r.i]; c {
		case '"':
			if !r.text() {
				return nil, false
			}
			continue
		case '{', '[':
			r.open = append(r.open, c)
			r.last = c
		case '}', ']':
			r.open = r.open[:max(0, len(r.open)-1)]
			r.last = c
		case ',', ':':
			r.last = c
		}
		r.out = append(r.out, event[r.i])
		r.i++
	}
	return r.out, r.changed
}

// A repairer copies an event from in to out.
type repairer struct {
	in, out []byte
	i       int
	open    []byte // the brackets that are open
	last    byte   // the last bracket, comma or colon
	key     string // the last key
	changed bool
}

// text copies the string at r.i, with the quotes inside it escaped.
func (r *repairer) text() bool {
	end := r.end()
	if end < 0 {
		return false
	}
	text := r.in[r.i+1 : end]
	if r.isKeyHere() {
		r.key = string(text)
	}
	// Only names and args contain free text. An odd quote elsewhere is a
	// different mistake, and a repair would invent an event.
	free := !r.isKeyHere() && (len(r.open) > 1 || r.key == "name")
	if bytes.IndexByte(text, '"') >= 0 && !free {
		return false
	}
	r.out = append(r.out, '"')
	for k := 0; k < len(text); k++ {
		switch c := text[k]; {
		case c == '\\' && k+1 < len(text):
			r.out = append(r.out, c, text[k+1])
			k++
		case c == '"':
			r.out = append(r.out, '\\', '"')
			r.changed = true
		default:
			r.out = append(r.out, c)
		}
	}
	r.out = append(r.out, '"')
	r.i = end + 1
	return true
}

// end returns the index of the quote that ends the string at r.i, or -1.
func (r *repairer) end() int {
	first := true // a string usually needs no repair
	for k := r.i + 1; k < len(r.in); k++ {
		switch {
		case r.in[k] == '\\':
			k++
		case r.in[k] == '"' && r.canContinue(k+1, first):
			return k
		case r.in[k] == '"':
			first = false
		}
	}
	return -1
}

// canContinue reports whether the bytes at i can follow the string at r.i: a colon after a key;
// after a value the end of its object or array, or a comma and the next key or element. After the
// first quote of a string any key is accepted, after later quotes only keys that events have,
// because names can contain dicts.
func (r *repairer) canContinue(i int, first bool) bool {
	b := r.in
	i = jsonscan.Space(b, i)
	inObject := r.inObject()
	switch {
	case i == len(b):
		return true
	case r.isKeyHere():
		return b[i] == ':'
	case b[i] == '}' && inObject, b[i] == ']' && !inObject:
		i = jsonscan.Space(b, i+1)
		return i == len(b) || b[i] == '}' || b[i] == ']' || b[i] == ','
	case b[i] != ',':
		return false
	}
	i = jsonscan.Space(b, i+1)
	return i < len(b) && (b[i] == '}' || !inObject || r.isKey(i, first))
}

func (r *repairer) inObject() bool { return len(r.open) > 0 && r.open[len(r.open)-1] == '{' }

// isKeyHere reports whether the string at r.i is a key.
func (r *repairer) isKeyHere() bool { return r.inObject() && r.last != ':' }

// otherMembers are members of events that are not in Fields.
var otherMembers = map[string]bool{"s": true, "bp": true, "tts": true, "tdur": true, "cname": true, "sf": true,
	"esf": true, "stack": true, "scope": true}

// isKey reports whether a key and its colon are at i. Unless any key is
// accepted, a key of the event itself must be one that events have.
func (r *repairer) isKey(i int, any bool) bool {
	const longest = 64
	if r.in[i] != '"' {
		return false
	}
	end := bytes.IndexByte(r.in[i+1:min(len(r.in), i+longest)], '"')
	if end < 0 {
		return false
	}
	key := r.in[i+1 : i+1+end]
	if !any && len(r.open) == 1 && memberFields[string(key)] == FieldNone && !otherMembers[string(key)] {
		return false
	}
	after := jsonscan.Space(r.in, i+1+end+1)
	return after < len(r.in) && r.in[after] == ':'
}
