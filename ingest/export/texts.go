package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"assay/internal/jsonscan"
)

// texts masks texts and writes them as JSON. It caches the results, because events repeat
// their texts.
type texts struct {
	mask  func(string) string
	cache map[string]string // JSON with quotes, by the content of a string as it was read
	pairs map[string]string // the same for values of members, by key, NUL and value
	bytes int
	key   []byte
}

// mostTexts is the maximum size of the cache in bytes.
const mostTexts = 8 << 20

// remember caches a result. It clears the cache if it is full.
func (t *texts) remember(in *map[string]string, key, text string) {
	if t.bytes > mostTexts || t.cache == nil {
		t.cache, t.pairs, t.bytes = map[string]string{}, map[string]string{}, 0
	}
	t.bytes += len(key) + len(text) + 64
	(*in)[key] = text
}

// append appends the string whose content in JSON is raw.
func (t *texts) append(b, raw []byte) []byte {
	if cache, ok := t.cache[string(raw)]; ok {
		return append(b, cache...)
	}
	text := t.quoted(string(jsonscan.Unquote(nil, raw)))
	t.remember(&t.cache, string(raw), text)
	return append(b, text...)
}

// appendValue appends a string that is the value of a member. The key may show that the value
// is a secret.
func (t *texts) appendValue(b, key, raw []byte) []byte {
	t.key = append(append(append(t.key[:0], key...), 0), raw...)
	if cache, ok := t.pairs[string(t.key)]; ok {
		return append(b, cache...)
	}
	value := t.mask(valid(string(jsonscan.Unquote(nil, raw))))
	before := valid(string(jsonscan.Unquote(nil, key))) + "="
	if after, ok := strings.CutPrefix(t.mask(before+value), before); ok {
		value = after
	}
	text := quote(value)
	t.remember(&t.pairs, string(t.key), text)
	return append(b, text...)
}

// quoted returns a masked text as a JSON string.
func (t *texts) quoted(text string) string { return quote(t.mask(valid(text))) }

func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// quote returns text, which is valid UTF-8, as a JSON string.
func quote(text string) string {
	const hex = "0123456789abcdef"
	b := make([]byte, 0, len(text)+2)
	b = append(b, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// value appends the JSON value raw, which package jsonscan accepts, as strict JSON with
// masked texts. Words that are not JSON, such as NaN, and values that are not well formed
// become strings.
func (t *texts) value(b, key, raw []byte) []byte {
	at := len(b)
	out, end, ok := t.strict(b, key, raw, 0, 0)
	if !ok || jsonscan.Space(raw, end) != len(raw) {
		return append(b[:at], t.quoted(string(raw))...)
	}
	if c := raw[jsonscan.Space(raw, 0)]; (c == '[' || c == '{') && bytes.IndexByte(out[at:], '"') >= 0 {
		return append(b[:at], t.whole(out[at:])...)
	}
	return out
}

// whole masks an object or a list as one text, because the name of a secret may be in another
// element than the secret: ["--password", "..."] or {"name": "HF_TOKEN", "value": "..."}. If
// the masked text is not valid JSON, it becomes a string.
func (t *texts) whole(raw []byte) string {
	if cache, ok := t.cache[string(raw)]; ok {
		return cache
	}
	value := string(raw)
	masked := t.mask(value)
	if masked != value && !json.Valid([]byte(masked)) {
		masked = quote(masked)
	}
	t.remember(&t.cache, value, masked)
	return masked
}

// namedValue masks the string raw that is the value of a variable whose name is another
// member: {"name": "HF_TOKEN", "value": "..."}.
func (t *texts) namedValue(b, key, name, raw []byte) []byte {
	at := len(b)
	value := t.quoted(string(jsonscan.Unquote(nil, raw)))
	before := quote(valid(string(jsonscan.Unquote(nil, name)))) + ": "
	if masked := t.mask(before + value); masked != before+value {
		if after, ok := strings.CutPrefix(masked, before); ok && json.Valid([]byte(after)) {
			return append(b[:at], after...)
		}
	}
	return t.appendValue(b, key, raw)
}

// maxDepth is the maximum nesting of values.
const maxDepth = 64

// strict appends the value at raw[i] and returns the index after it. It returns false if
// the value is not strict JSON.
func (t *texts) strict(b, key, raw []byte, i, depth int) (out []byte, end int, ok bool) {
	if i = jsonscan.Space(raw, i); i >= len(raw) || depth > maxDepth {
		return b, i, false
	}
	switch c := raw[i]; c {
	case '"':
		end, err := jsonscan.String(raw, i)
		if err != nil {
			return b, i, false
		}
		if key == nil {
			return t.append(b, raw[i+1:end-1]), end, true
		}
		return t.appendValue(b, key, raw[i+1:end-1]), end, true
	case '{', '[':
		return t.nested(b, key, raw, i, depth)
	}
	end = i
	for end < len(raw) && !strings.ContainsRune(",]} \t\r\n:", rune(raw[end])) {
		end++
	}
	word := raw[i:end]
	if !isNumber(word) && string(word) != "true" && string(word) != "false" && string(word) != "null" {
		return b, i, false
	}
	return append(b, word...), end, true
}

// nested appends the object or array at raw[i].
func (t *texts) nested(b, key, raw []byte, i, depth int) (out []byte, end int, ok bool) {
	open, closed := raw[i], raw[i]+2 // the brackets are two apart in ASCII
	b = append(b, open)
	i = jsonscan.Space(raw, i+1)
	for n := 0; ; n++ {
		if i >= len(raw) {
			return b, i, false
		}
		if raw[i] == closed && n == 0 {
			return append(b, closed), i + 1, true
		}
		if open == '{' {
			if raw[i] != '"' {
				return b, i, false
			}
			stop, err := jsonscan.String(raw, i)
			if err != nil {
				return b, i, false
			}
			key = raw[i+1 : stop-1]
			b = append(t.append(b, key), ": "...)
			if i = jsonscan.Space(raw, stop); i >= len(raw) || raw[i] != ':' {
				return b, i, false
			}
			i++
		}
		if b, i, ok = t.strict(b, key, raw, i, depth+1); !ok {
			return b, i, false
		}
		if i = jsonscan.Space(raw, i); i >= len(raw) {
			return b, i, false
		}
		switch raw[i] {
		case closed:
			return append(b, closed), i + 1, true
		case ',':
			b = append(b, ", "...)
			i = jsonscan.Space(raw, i+1)
		default:
			return b, i, false
		}
	}
}

// isNumber reports whether b is a number in JSON.
func isNumber(b []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	zero := i < len(b) && b[i] == '0'
	from := i
	if !digits() || zero && i > from+1 {
		return false
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(b) && utf8.Valid(b)
}
