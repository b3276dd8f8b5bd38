// This file reads the memory timelines that PyTorch's profiler exports: bytes by
// category over time, as events (memory.raw.json.gz) or as running sizes
// (memory.json).

package memory

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
)

// TimelineLimits bound the resources for reading one input. A field that is 0 has the
// default value. Fields may be added.
type TimelineLimits struct {
	Memory int64 // bytes; if more are needed, the input ends: "memory-limit"
}

const (
	defaultTimelineMemory = 4 << 30
	perTime               = 2 * 80 // bytes per time, while its table grows
)

// The beginnings of both forms. An event has a time, an action and a category,
// each in its range. Sizes begin with times in µs, followed by rows of nine
// sizes if the prefix is long enough to contain them.
var (
	rawHead   = lazyregexp.New(`^\s*\[\s*\[\s*-?\d+\s*,\s*[1-4]\s*,\s*-?\d+\s*,\s*(?:[0-7]|null)\s*\]\s*[,\]]`)
	sizesHead = lazyregexp.New(`^\s*\[\s*\[` + times + `\]\s*,\s*\[\s*\[\s*0\s*,`)
	timesHead = lazyregexp.New(`^\s*\[\s*\[` + times + `,?\s*[\d.]*$`)
)

const (
	times = `\s*(?:-1|\d{7,}(?:\.\d+)?)(?:\s*,\s*\d{7,}(?:\.\d+)?)*\s*`

	spaces = "\t\n\f\r " // those of \s

	manyTimes = 1 << 10 // bytes of times, which no other file has
)

// SniffTimeline reports whether a file may be a memory timeline, by its first bytes.
func SniffTimeline(head []byte) bool {
	inner, ok := bytes.CutPrefix(bytes.TrimLeft(head, spaces), []byte("["))
	if !ok || !bytes.HasPrefix(bytes.TrimLeft(inner, spaces), []byte("[")) {
		return false // most JSON: compiling the expressions would take longer than all else
	}
	return rawHead().Match(head) || sizesHead().Match(head) || len(head) >= manyTimes && timesHead().Match(head)
}

// ReadTimeline reads a timeline. Name is the name of the input for messages. If the
// input cannot be read to its end, ReadTimeline returns the timeline read so far,
// with an issue, together with the error of the reader.
func ReadTimeline(in io.Reader, name string, limits TimelineLimits) (*Timeline, error) {
	limit := cmp.Or(limits.Memory, defaultTimelineMemory)
	r := &timelineReader{scan: newScanner(in), name: name, limit: limit, out: new(Timeline)}
	err := r.document()
	if err == nil {
		err = r.scan.end()
	}
	r.out.Complete = err == nil
	if err != nil {
		if len(r.out.Times) == 0 && r.out.Start == (Sizes{}) {
			return nil, r.failure(err)
		}
		r.ended(err)
	}
	r.out.Issues = r.issues.Issues()
	if r.scan.failed != nil && !errors.Is(r.scan.failed, io.EOF) {
		return r.out, r.scan.failed
	}
	return r.out, nil
}

type timelineReader struct {
	scan    *scanner
	name    string
	limit   int64
	out     *Timeline
	issues  diag.Ledger
	running Sizes
	last    int64 // the latest time, ns
}

func (r *timelineReader) pos() diag.Pos { return diag.Pos{File: r.name, Offset: r.scan.offset} }

// failure returns the error for an input without readable data.
func (r *timelineReader) failure(err error) error {
	if r.scan.failed != nil && !errors.Is(r.scan.failed, io.EOF) {
		return fmt.Errorf("%s: %w", r.name, r.scan.failed)
	}
	return &diag.Error{Pos: r.pos(), Msg: "not a readable memory timeline", Err: err}
}

var errMemory = errors.New("memory")

// ended adds an issue with the reason why the input was not read to its end.
func (r *timelineReader) ended(err error) {
	is := diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: r.pos(),
		Help: "the file ends or is damaged here, and the rest is missing: copy it again, or export it again"}
	var limit interface{ Harmless() bool }
	switch {
	case errors.As(r.scan.failed, &limit) && limit.Harmless():
		is.Code, is.Help = "input-limit", r.scan.failed.Error()
	case errors.Is(err, errMemory):
		is.Code = "memory-limit"
		is.Help = fmt.Sprintf("the data read needs more than %d MiB, so reading stopped here; to read more, raise --max-memory SIZE", r.limit>>20)
	}
	r.issues.Add(is)
}

// document distinguishes the two forms by their fifth token: a list of times is
// followed by a list of lists, an event by another event.
func (r *timelineReader) document() error {
	s := r.scan
	if err := errors.Join(s.want('['), s.want('[')); err != nil {
		return err
	}
	first, err := r.numbers()
	if err != nil {
		return err
	}
	if len(first) == 4 && s.peekEvent() {
		return r.raw(first)
	}
	return r.sizes(first)
}

// numbers reads the rest of a list of numbers. The list of times has one number
// for each time of the file.
func (r *timelineReader) numbers() ([]number, error) {
	var list []number
	for first := true; ; first = false {
		n, more, err := r.scan.item(first)
		if err != nil || !more {
			return list, err
		}
		list = append(list, n)
		if int64(len(list))*perTime > r.limit {
			return list, errMemory
		}
	}
}

// raw reads events: [time in ns or -1, action, bytes, category]. The first
// event was already read. A change of category is two events.
func (r *timelineReader) raw(first []number) error {
	if err := r.event(first); err != nil {
		return err
	}
	row := make([]number, 0, 4)
	for {
		more, err := r.scan.next()
		if err != nil || !more {
			return err
		}
		if err := r.scan.want('['); err != nil {
			return err
		}
		row = row[:0]
		for first := true; ; first = false {
			n, more, err := r.scan.item(first)
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if len(row) < 5 {
				row = append(row, n)
			}
		}
		if err := r.event(row); err != nil {
			return err
		}
	}
}

// maxTimelineBytes exceeds the memory of any device; larger sizes are damage.
const maxTimelineBytes = 1 << 50

func (r *timelineReader) event(row []number) error {
	r.out.Records++
	if len(row) != 4 || row[2].whole > maxTimelineBytes || row[2].whole < -maxTimelineBytes || row[1].whole < 1 || row[1].whole > 4 {
		r.issues.Add(diag.Issue{Code: "memory-record-unusable", Severity: diag.DataLoss, First: r.pos(),
			Help: "Records of an unknown shape were left out: expected [time, action, bytes, category]. The sizes after them may be wrong."})
		return nil
	}
	c := Unknown
	if n := row[3]; !n.null && n.whole >= 0 && n.whole < Categories {
		c = Category(n.whole)
	}
	if row[0].whole < 0 {
		// The memory was allocated before the profile.
		r.out.Start[c] = plus(r.out.Start[c], row[2].whole)
		r.running[c] = plus(r.running[c], row[2].whole)
		return nil
	}
	r.running[c] = plus(r.running[c], row[2].whole)
	return r.at(row[0].whole, r.running)
}

// at stores the sizes from a time on. A later event of the same time replaces
// them, because only sizes that last for some time are memory in use.
func (r *timelineReader) at(ns int64, sizes Sizes) error {
	out := r.out
	if n := len(out.Times); n > 0 && ns < r.last {
		r.issues.Add(diag.Issue{Code: "time-backwards", Severity: diag.Suspect, First: r.pos(),
			Help: "times that go backward were replaced by the latest earlier time of the file"})
		ns = r.last
	}
	if n := len(out.Times); n > 0 && out.Times[n-1] == ns {
		out.Sizes[n-1] = sizes
		return nil
	}
	if int64(len(out.Times)+1)*perTime > r.limit {
		return errMemory
	}
	out.Times, out.Sizes = append(out.Times, ns), append(out.Sizes, sizes)
	r.last = ns
	return nil
}

// sizes reads the second form: a row for each time, with a 0 and the size of
// each category. The times in µs were already read.
func (r *timelineReader) sizes(times []number) error {
	s := r.scan
	if more, err := s.next(); err != nil || !more {
		return cmp.Or(err, errors.New("a list of times and no sizes"))
	}
	if err := s.want('['); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if i > 0 {
			more, err := s.next()
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if err := s.want('['); err != nil {
			return err
		}
		row, err := r.numbers()
		if err != nil {
			return err
		}
		if err := r.row(times, i, row); err != nil {
			return err
		}
	}
	_, err := s.next() // the outer list
	return err
}

func (r *timelineReader) row(times []number, i int, row []number) error {
	r.out.Records++
	if i >= len(times) || len(row) != 1+Categories {
		r.issues.Add(diag.Issue{Code: "memory-record-unusable", Severity: diag.DataLoss, First: r.pos(),
			Help: "rows of an unknown shape or without a time were left out: want a 0 and 8 sizes"})
		return nil
	}
	var sizes Sizes
	for c := range sizes {
		sizes[c] = min(max(row[1+c].whole, -maxTimelineBytes), maxTimelineBytes)
	}
	if times[i].whole < 0 {
		r.out.Start = sizes
		return nil
	}
	return r.at(times[i].nanos(), sizes)
}

func plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
