// This file writes a part of a trace as a trace in Chrome JSON.
//
// Package trace decides which events belong to the part and finds them in the input
// ([trace.NewCut]). Their bytes are copied unchanged, so unknown members stay and no time is
// shifted. Only texts with secrets are rewritten.

package export

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"sync"

	"assay/internal/redact"

	"assay/trace"
)

// A Part is the part of a trace to write.
type Part struct {
	Cut     *trace.Cut
	Excerpt trace.Excerpt
	Hide    *Hiding
}

// A PartSum has the counts of a written part.
type PartSum struct {
	Events int64
}

// Write writes the part of the input in.
func (p *Part) Write(w io.Writer, in io.Reader) (PartSum, error) {
	out := &writer{w: bufio.NewWriterSize(w, 256<<10), hide: p.Hide}
	out.write([]byte("{\n"))
	out.write(p.Excerpt.Member(p.Hide.Text))
	if err := p.Cut.Copy(in, p.Hide.rewrite, out); err != nil {
		return PartSum{}, err
	}
	out.close()
	return out.sum, out.err
}

// Learn collects the names of users in the part of the input in, which will be hidden.
func (p *Part) Learn(in io.Reader) error {
	out := &learner{p.Hide}
	return p.Cut.Copy(in, func() trace.Rewrite {
		return func(b []byte, _ *trace.Event, text []byte) []byte {
			p.Hide.learn(text)
			return b
		}
	}, out)
}

// A learner is a sink that collects names of users.
type learner struct{ hide *Hiding }

func (l *learner) Member(text []byte) error {
	l.hide.learn(text)
	return nil
}

func (l *learner) Events([]byte, int) error { return nil }

// A writer is the sink that writes a part. It writes members that follow the first event after
// all events.
type writer struct {
	w     *bufio.Writer
	hide  *Hiding
	begun bool // the array of events was begun
	late  [][]byte
	sum   PartSum
	err   error
}

func (w *writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
}

func (w *writer) Member(text []byte) error {
	text = w.hide.member(text)
	if w.begun {
		w.late = append(w.late, text)
		return w.err
	}
	w.write([]byte(",\n"))
	w.write(text)
	return w.err
}

func (w *writer) Events(text []byte, n int) error {
	w.sum.Events += int64(n)
	if w.begun {
		w.write([]byte(",\n"))
	} else {
		w.open()
	}
	w.write(text)
	return w.err
}

func (w *writer) open() {
	w.begun = true
	w.write([]byte(",\n\"traceEvents\": [\n"))
}

func (w *writer) close() {
	if !w.begun {
		w.open()
	}
	w.write([]byte("\n]"))
	for _, text := range w.late {
		w.write([]byte(",\n"))
		w.write(text)
	}
	w.write([]byte("\n}\n"))
	if w.err == nil {
		w.err = w.w.Flush()
	}
}

// A Hiding masks secrets and, optionally, names of users. It is safe for concurrent use.
type Hiding struct {
	users bool
	mu    sync.Mutex
	r     *redact.Redactor
	m     *Masker
}

// NewHiding returns a Hiding that masks secrets and, if users is set, names of users.
func NewHiding(users bool) *Hiding {
	h := &Hiding{users: users, r: redact.New(users)}
	h.m = NewMasker(h.r.Text)
	return h
}

// Secrets returns the number of different secrets that were masked.
func (h *Hiding) Secrets() int { return h.r.Secrets() }

// Learn collects the names of users in a text.
func (h *Hiding) Learn(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.r.Learn(text)
}

// learn collects the names of users in JSON.
func (h *Hiding) learn(text []byte) { h.Learn(strings.ReplaceAll(string(text), `\\`, `\`)) }

// Text returns a masked text.
func (h *Hiding) Text(text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.r.Text(text)
}

// rewrite returns the function that writes events. It copies the many events without secrets.
func (h *Hiding) rewrite() trace.Rewrite {
	return func(b []byte, _ *trace.Event, text []byte) []byte {
		if h.clean(text) {
			return append(b, text...)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.m.Object(b, text)
	}
}

// clean reports whether a text has nothing to hide.
func (h *Hiding) clean(text []byte) bool { return !h.users && redact.Count(string(text)) == 0 }

// member returns a member of the top-level object, masked.
func (h *Hiding) member(text []byte) []byte {
	if h.clean(text) {
		return bytes.Clone(text)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	object := append(append([]byte{'{'}, text...), '}')
	out := h.m.Object(nil, object)
	return bytes.TrimSpace(out[1 : len(out)-1])
}
