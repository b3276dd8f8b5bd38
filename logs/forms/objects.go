package forms

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// The forms with the fields of JSON objects.
const (
	wandbSummary = "wandb-summary"
	metricsJSONL = "metrics-jsonl"
)

var (
	// reStepMember matches the member with the step of an object.
	reStepMember = lazyregexp.New(`[{,]\s*"(?:_step|step|global_step|iteration)"\s*:\s*\d+\s*[,}]`)
	// reNumberMember matches a member with a number.
	reNumberMember = lazyregexp.New(`"\s*:\s*-?\d`)
)

// SniffWandbSummary reports whether head begins the summary of a run of Weights & Biases.
func SniffWandbSummary(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"_runtime"`)) && bytes.Contains(head, []byte(`"_timestamp"`)) &&
		!isObjectLines(head)
}

// SniffMetricsJSONL reports whether head begins a file with an object of metrics in each
// line. The first has a step, and no event of a trace.
func SniffMetricsJSONL(head []byte) bool {
	first, _, ok := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return ok && isObjectLines(head) && reStepMember().Match(first) && len(reNumberMember().FindAll(first, 2)) == 2 &&
		!bytes.Contains(first, []byte(`"ph"`)) && !bytes.Contains(first, []byte(`"traceEvents"`))
}

// IsObjectLines reports whether a text has an object in each line and is not a trace.
func IsObjectLines(head []byte) bool {
	return isObjectLines(head) && !bytes.Contains(head, []byte(`"ph"`)) && !bytes.Contains(head, []byte(`"traceEvents"`))
}

// isObjectLines reports whether the first two lines of a text are objects.
func isObjectLines(head []byte) bool {
	first, rest, ok := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	first = bytes.TrimSpace(first)
	return ok && len(first) > 2 && first[0] == '{' && first[len(first)-1] == '}' && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("{"))
}

// ReadWandbSummary reads the last values of a run. Each is a series with one value.
func ReadWandbSummary(in io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	return readObjects(in, name, wandbSummary, limits)
}

// ReadMetricsJSONL reads a file with an object of metrics in each line.
func ReadMetricsJSONL(in io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	return readObjects(in, name, metricsJSONL, limits)
}

// readObjects reads the numbers of a sequence of objects, except those in nested objects and
// lists.
func readObjects(in io.Reader, name, form string, limits logs.Limits) (*logs.Log, error) {
	r := NewReader(name, Default(), limits)
	s := r.state(form)
	buf := bufio.NewReaderSize(in, 64<<10)
	count := &lineReader{r: buf}
	for {
		obj, open, err := nextObjectOpen(count)
		if err == nil {
			r.object(s, obj)
			continue
		}
		r.finish()
		switch {
		case errors.Is(err, io.EOF) && !open:
			return r.b.Log(count.n, true), nil
		case errors.Is(err, io.EOF):
			err = io.ErrUnexpectedEOF
		}
		return r.b.Log(count.n, false), err
	}
}

// A lineReader counts line feeds.
type lineReader struct {
	r *bufio.Reader
	n int64
}

func (l *lineReader) ReadByte() (byte, error) {
	c, err := l.r.ReadByte()
	if err == nil && c == '\n' {
		l.n++
	}
	return c, err
}

// nextObjectOpen is nextObject for top-level objects. It also reports whether the input ends
// within one.
func nextObjectOpen(in io.ByteReader) (obj []byte, open bool, err error) {
	first, err := in.ReadByte()
	for err == nil && first != '{' {
		first, err = in.ReadByte()
	}
	if err != nil {
		return nil, false, err
	}
	obj, err = restOfObject(in, []byte{'{'}, 1)
	return obj, true, err
}
