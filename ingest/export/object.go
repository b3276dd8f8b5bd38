package export

import (
	"encoding/json"

	"assay/internal/jsonscan"
)

// A Masker masks the texts of JSON objects. It is not safe for concurrent use.
type Masker struct{ texts texts }

// NewMasker returns a Masker that applies mask to every text.
func NewMasker(mask func(string) string) *Masker { return &Masker{texts{mask: mask}} }

// Object appends the JSON object raw with its texts masked. Values that are not strict JSON
// become strings.
func (m *Masker) Object(b, raw []byte) []byte {
	at := len(b)
	if out, end, ok := m.texts.strict(b, nil, raw, 0, 0); ok && end == len(raw) {
		if whole := m.texts.whole(out[at:]); len(whole) > 0 && whole[0] == '{' {
			return append(b[:at], whole...)
		}
	}
	return m.members(b[:at], raw, 0)
}

// members appends an object whose members are masked one by one.
func (m *Masker) members(b, raw []byte, depth int) []byte {
	b = append(b, '{')
	n := 0
	for w := jsonscan.WalkInner(raw, 0, 1); w.Next(); n++ {
		key, val := w.Key().Of(raw), w.Value().Of(raw)
		b = append(m.texts.append(append(b, comma(n)...), key), ": "...)
		if val[0] == '{' && depth < 2 && !json.Valid(val) {
			b = m.members(b, val, depth+1)
		} else {
			b = m.texts.value(b, key, val)
		}
	}
	return append(b, '}')
}
