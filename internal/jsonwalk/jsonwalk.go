// Package jsonwalk reads JSON documents of any size member by member, with the memory of one value.
// The functions of a caller get the members in the order of the file. What they expect and the file does
// not have (an object where a number is) is skipped, not an error.
package jsonwalk

import (
	"encoding/json"
	"errors"
	"io"
)

// ErrLong is the error of a value that is longer than the limit.
var ErrLong = errors.New("a value is too long")

const maxValue = 64 << 20

// A Reader reads one document.
type Reader struct {
	Stop func() bool // if it returns true, arrays and objects end early; may be nil
	in   *json.Decoder
}

// NewReader returns a reader of the document in in.
func NewReader(in io.Reader) *Reader {
	b := &bounded{in: in}
	r := &Reader{in: json.NewDecoder(b)}
	b.at = r.in.InputOffset
	return r
}

// A bounded reader fails if a value is longer than maxValue, so that the decoder does not keep it.
type bounded struct {
	in io.Reader
	n  int64
	at func() int64 // what the decoder has decoded
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.n-b.at() > maxValue {
		return 0, ErrLong
	}
	n, err := b.in.Read(p)
	b.n += int64(n)
	return n, err
}

// Offset returns the position in the input behind what was read last.
func (r *Reader) Offset() int64 { return r.in.InputOffset() }

// Object calls each with the keys of an object. It must read their values.
func (r *Reader) Object(each func(key string) error) error {
	return r.inside('{', func() error {
		key, err := r.in.Token()
		if err != nil {
			return err
		}
		text, _ := key.(string)
		return each(text)
	})
}

// Array calls each for the elements of an array. It must read them.
func (r *Reader) Array(each func() error) error { return r.inside('[', each) }

// inside calls each until the end of an object or array. Any other value is skipped.
func (r *Reader) inside(open json.Delim, each func() error) error {
	first, err := r.in.Token()
	if err != nil {
		return err
	}
	if first != open {
		return r.rest(first)
	}
	stop := func() bool { return r.Stop != nil && r.Stop() }
	for r.in.More() && !stop() {
		if err := each(); err != nil {
			return err
		}
	}
	if stop() {
		return nil
	}
	_, err = r.in.Token()
	return err
}

// Skip skips a value.
func (r *Reader) Skip() error {
	first, err := r.in.Token()
	if err != nil {
		return err
	}
	return r.rest(first)
}

// rest skips what is left of the value that begins with a token.
func (r *Reader) rest(first json.Token) error {
	if first != json.Delim('{') && first != json.Delim('[') {
		return nil
	}
	for depth := 1; depth > 0; {
		token, err := r.in.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// Decode decodes a value, as encoding/json does.
func (r *Reader) Decode(v any) error { return r.in.Decode(v) }

// Value decodes a value, and reports whether it has the type of v. A part of another type is left as it is.
func (r *Reader) Value(v any) (fits bool, err error) {
	err = r.in.Decode(v)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return false, nil
	}
	return err == nil, err
}

// Text returns a text or number as it is in the file; "" for other values.
func (r *Reader) Text() (string, error) {
	var raw json.RawMessage
	if err := r.in.Decode(&raw); err != nil || len(raw) == 0 {
		return "", err
	}
	switch raw[0] {
	case '{', '[', 'n', 't', 'f':
		return "", nil
	case '"':
		var s string
		return s, json.Unmarshal(raw, &s)
	}
	return string(raw), nil
}
