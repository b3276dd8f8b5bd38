package rocm

import "strconv"

// A link is what an event has in common with others.
type link struct{ stack, category int64 }

// links are events by their number. Numbers count up from 1 in most captures.
type links struct {
	near []link
	far  map[int64]link
}

// mostGap is the largest gap between numbers that is filled.
const mostGap = 16

func (l *links) add(id int64, it link) {
	if n := int64(len(l.near)); id >= 0 && id < n+mostGap {
		for int64(len(l.near)) <= id {
			l.near = append(l.near, link{})
		}
		l.near[id] = it
		return
	}
	if l.far == nil {
		l.far = map[int64]link{}
	}
	l.far[id] = it
}

func (l *links) of(id int64) link {
	if it, ok := l.far[id]; ok {
		return it
	}
	if id >= 0 && id < int64(len(l.near)) {
		return l.near[id]
	}
	return link{}
}

// named returns the text of a number, or the number.
func named(texts map[int64][]byte, id int64, what string) []byte {
	if text, ok := texts[id]; ok {
		return text
	}
	return []byte("(" + what + " " + strconv.FormatInt(id, 10) + ")")
}
