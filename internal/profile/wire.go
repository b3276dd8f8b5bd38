package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A wire checks the framing of a profile.proto before package
// github.com/google/pprof/profile reads it. That package does not tell where an input
// is damaged, and it makes structures of over a hundred bytes from two bytes of input,
// so a small file could fill the memory.
type wire struct {
	data   []byte
	at     int   // offset up to which the input is checked
	budget int64 // bytes of memory left for the rest of the input
	most   int64 // bytes of memory for the whole profile
}

// Minimum bytes of memory of the parts of a profile.
const (
	recordBytes = 128 // a sample, location, function or mapping
	nestedBytes = 48  // a label of a sample, a line of a location
	numberBytes = 16  // a location or value of a sample
)

// Wire types of protobuf, and the fields of a profile that contain others.
const (
	wireVarint, wireFixed64, wireBytes, wireFixed32 = 0, 1, 2, 5

	fieldSample, fieldLocation = 2, 4
)

// overBudget is the error for a profile that needs more than that number of bytes.
type overBudget int64

func (most overBudget) Error() string {
	return fmt.Sprintf("it would take over %d MiB of memory, the limit; to read it, give more with --max-memory SIZE", most>>20)
}

// check walks over the fields of the profile and those inside its samples and
// locations.
func (w *wire) check() error {
	for w.at < len(w.data) {
		field, body, err := w.next(len(w.data))
		if err != nil {
			return err
		}
		w.budget -= recordBytes + int64(len(body))
		if w.budget < 0 {
			return overBudget(w.most)
		}
		if body == nil || field != fieldSample && field != fieldLocation {
			continue
		}
		end := w.at
		w.at -= len(body)
		for w.at < end {
			if _, body, err = w.next(end); err != nil {
				return err
			}
			w.budget -= nestedBytes + numberBytes*int64(len(body))
			if w.budget < 0 {
				return overBudget(w.most)
			}
		}
	}
	return nil
}

// next skips one field, which must end at or before the offset end. For a
// length-delimited field it returns the body, which is never nil.
func (w *wire) next(end int) (field uint64, body []byte, err error) {
	tag, err := w.varint(end)
	if err != nil {
		return 0, nil, err
	}
	n := uint64(0)
	switch tag & 7 {
	case wireVarint:
		_, err = w.varint(end)
		return tag >> 3, nil, err
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		if n, err = w.varint(end); err != nil {
			return 0, nil, err
		}
	default:
		return 0, nil, fmt.Errorf("unknown wire type %d", tag&7)
	}
	if n > uint64(end-w.at) {
		return 0, nil, fmt.Errorf("a field of %d bytes has only %d", n, end-w.at)
	}
	body = w.data[w.at : w.at+int(n) : w.at+int(n)]
	w.at += int(n)
	if tag&7 != wireBytes {
		body = nil
	}
	return tag >> 3, body, nil
}

func (w *wire) varint(end int) (uint64, error) {
	x, n := binary.Uvarint(w.data[w.at:end])
	if n <= 0 {
		return 0, errors.New("a number that does not end")
	}
	w.at += n
	return x, nil
}
