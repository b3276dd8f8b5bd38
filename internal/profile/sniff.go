package profile

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// SniffPprof reports whether a file that begins with prefix is a profile.proto,
// uncompressed. The format has no magic number, so the fields in prefix must be valid,
// and the first field that is not a number must be the type of the samples, which
// every profiler writes first; Go's profiler writes only its time before it.
func SniffPprof(prefix []byte) bool {
	w := wire{data: prefix}
	const lastField, sampleType, periodType = 15, 1, 11
	types := 0
	for w.at < len(prefix) {
		start := w.at
		tag, err := w.varint(len(prefix))
		if err != nil || tag>>3 == 0 || tag>>3 > lastField {
			return types > 0 && err != nil && start > 0
		}
		w.at = start
		field, body, err := w.next(len(prefix))
		switch {
		case err != nil: // the prefix ends within a field
			return types > 0
		case field == sampleType && isValueType(body):
			types++
		case field == sampleType, types == 0 && body != nil && field != periodType:
			return false
		}
	}
	return types > 0
}

// isValueType reports whether a message has the form of a ValueType: at most two
// fields, which are indexes of strings.
func isValueType(body []byte) bool {
	w := wire{data: body}
	for w.at < len(body) {
		tag, err := w.varint(len(body))
		if err != nil || tag != 1<<3 && tag != 2<<3 {
			return false
		}
		if _, err := w.varint(len(body)); err != nil {
			return false
		}
	}
	return len(body) > 0
}

// SniffFolded reports whether a file that begins with prefix has folded stacks. Other
// texts can contain some such lines, so nearly all complete lines must be stacks, and
// half of them must have more than one frame.
func SniffFolded(prefix []byte) bool {
	text := strings.TrimPrefix(string(prefix), "\ufeff")
	end := strings.LastIndexByte(text, '\n') + 1
	if end == 0 {
		return isFoldedPart(text)
	}
	var lines, stacks, deep int
	for line := range strings.Lines(text[:end]) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		lines++
		names, number, ok := cutLast(line)
		if ok && isFoldedValue(number) && isPrintable(names) && !strings.ContainsAny(line[:1], " \t{[<") {
			stacks++
			if strings.Contains(names, ";") && !strings.Contains(names, "; ") {
				deep++
			}
		}
	}
	return stacks > 0 && stacks*20 >= lines*19 && deep*2 >= stacks
}

// isFoldedPart reports whether text without a line end may be the beginning of one very
// deep stack, or a file with a single stack.
func isFoldedPart(text string) bool {
	if names, number, ok := cutLast(text); ok && len(text) < 4096 && isFoldedValue(number) {
		return strings.Contains(names, ";") && !strings.Contains(names, "; ") && isPrintable(names)
	}
	return len(text) >= 4096 && strings.Count(text, ";") >= 8 &&
		!strings.ContainsAny(text, " \t{}=\"") && isPrintable(text)
}

// isFoldedValue reports whether ReadFolded accepts a number as a value.
func isFoldedValue(number string) bool {
	n, err := strconv.ParseInt(number, 10, 64)
	return err == nil && n >= 0
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && unicode.IsControl(r) })
}

// FoldedColumn returns the column for the values of folded stacks that begin with
// prefix. The format does not state it, but the stacks of PyTorch's export_stacks can be
// recognized and have microseconds. For others, known is false and the values count as
// samples.
func FoldedColumn(prefix []byte) (c Column, known bool) {
	first, _, _ := strings.Cut(string(prefix), "\n")
	if strings.Contains(first, ".py(") && strings.Contains(first, "):_") {
		return Column{Name: "time", Unit: "microseconds"}, true
	}
	return Column{Name: "samples", Unit: "count"}, false
}

// Tidy converts times to nanoseconds and sizes to bytes, according to the units of their
// columns. Values of other units stay.
func (p *Profile) Tidy() {
	for i := range p.Columns {
		unit, size := baseUnit(p.Columns[i].Unit)
		if p.Columns[i].Unit = unit; size == 1 {
			continue
		}
		for j := range p.Samples {
			v := &p.Samples[j].Values[i]
			*v = times(*v, size)
		}
	}
}

// baseUnit returns the base unit of a unit, and the number of base units in one of it. It
// knows the names that pprof knows.
func baseUnit(unit string) (base string, size int64) {
	switch strings.ToLower(unit) {
	case "nanoseconds", "nanosecond", "ns":
		return "nanoseconds", 1
	case "microseconds", "microsecond", "us", "µs":
		return "nanoseconds", 1e3
	case "milliseconds", "millisecond", "ms":
		return "nanoseconds", 1e6
	case "seconds", "second", "sec", "s":
		return "nanoseconds", 1e9
	case "bytes", "byte", "b":
		return "bytes", 1
	case "kilobytes", "kilobyte", "kb", "kib":
		return "bytes", 1 << 10
	case "megabytes", "megabyte", "mb", "mib":
		return "bytes", 1 << 20
	case "gigabytes", "gigabyte", "gb", "gib":
		return "bytes", 1 << 30
	case "counts":
		return "count", 1
	}
	return unit, 1
}

// times multiplies with saturation at the largest and smallest int64.
func times(v, size int64) int64 {
	switch {
	case v > math.MaxInt64/size:
		return math.MaxInt64
	case v < math.MinInt64/size:
		return math.MinInt64
	}
	return v * size
}
