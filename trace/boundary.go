package trace

import (
	"bytes"

	"assay/internal/jsonscan"
)

// firstKeys are the keys that producers write first in an event.
var firstKeys = [][]byte{
	[]byte("ph"), []byte("name"), []byte("cat"), []byte("pid"), []byte("tid"), []byte("ts"), []byte("args"),
	[]byte("dur"), []byte("id"), []byte("s"), []byte("tts"), []byte("cname"),
}

// looksLikeEvent reports whether the opening brace at b[i] looks like the start
// of an event: the brace does not follow a colon, as the brace of a nested
// object would, and the first key after it is one that events start with. The
// result is a guess: an array of objects inside an event can look the same.
func looksLikeEvent(b []byte, i int) bool {
	before := i - 1
	for before >= 0 && (b[before] == ' ' || b[before] == '\n' || b[before] == '\r' || b[before] == '\t') {
		before--
	}
	if before >= 0 && b[before] != ',' && b[before] != '}' && b[before] != '[' {
		return false
	}
	key := b[jsonscan.Space(b, i+1):]
	for _, k := range firstKeys {
		if len(key) > len(k)+1 && key[0] == '"' && key[len(k)+1] == '"' && bytes.HasPrefix(key[1:], k) {
			return true
		}
	}
	return false
}

// eventStart returns the index of the first opening brace at or after from that
// looks like an event's, or -1.
func eventStart(b []byte, from int) int {
	for i := from; i < len(b); i++ {
		brace := bytes.IndexByte(b[i:], '{')
		if brace < 0 {
			return -1
		}
		if i += brace; looksLikeEvent(b, i) {
			return i
		}
	}
	return -1
}

// lastEvent returns the index of the last opening brace in b that looks like an
// event's, or -1.
func lastEvent(b []byte) int {
	for i := len(b); ; {
		if i = bytes.LastIndexByte(b[:i], '{'); i < 0 || looksLikeEvent(b, i) {
			return i
		}
	}
}
