package sampler

import (
	"bytes"
	"cmp"
	"io"

	"assay/internal/jsonwalk"
	"assay/internal/profile"
)

// SniffPySpy reports whether a file that begins with head is a Chrome trace of py-spy.
func SniffPySpy(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"cat":"py-spy"`))
}

// A pySpyEvent is the begin or end of a frame, or the name of a thread.
type pySpyEvent struct {
	Name string     `json:"name"`
	Ph   string     `json:"ph"`
	PID  int64      `json:"pid"`
	TID  int64      `json:"tid"`
	At   numberText `json:"ts"`
	Args struct {
		File string `json:"filename"`
		Line int64  `json:"line"`
		Name string `json:"name"`
	} `json:"args"`
}

// ReadPySpy reads a Chrome trace of py-spy: the frames that begin and end from one sample to the next, with the times of
// the samples, which its other formats do not have.
func ReadPySpy(in io.Reader, file string, limits profile.Limits) (*profile.Profile, error) {
	s := &scope{Reader: jsonwalk.NewReader(in), file: file, budget: cmp.Or(limits.Memory, defaultMemory)}
	frames, threads := map[profile.Frame]uint32{}, map[[2]int64]*thread{}
	err := s.Array(func() error {
		var e pySpyEvent
		fits, err := s.Value(&e)
		when, ok := parse(string(e.At))
		key := [2]int64{e.PID, e.TID}
		t := threads[key]
		switch {
		case err != nil:
		case !fits || !ok:
			s.malformed()
		case t == nil && len(threads) >= maxThreads:
		case t == nil:
			t = &thread{costs: newCosts(&s.budget), unit: "microseconds", pid: e.PID}
			threads[key], s.threads = t, append(s.threads, t)
			fallthrough
		default:
			s.pySpy(t, when, &e, frames)
		}
		return err
	})
	return s.result(err, "the trace of py-spy has no frame with a duration; record for longer")
}

// pySpy reads an event of a thread.
func (s *scope) pySpy(t *thread, when number, e *pySpyEvent, frames map[profile.Frame]uint32) {
	f := profile.Frame{Name: cut(e.Name), File: cut(e.Args.File), Line: e.Args.Line}
	id, known := frames[f]
	if e.Ph == "M" {
		t.name = cmp.Or(t.name, cut(e.Args.Name))
		return
	}
	if !known {
		if s.budget -= 300 + int64(len(f.Name)+len(f.File)); s.budget < 0 {
			f = profile.Frame{Name: profile.OtherStacks}
		}
		id = uint32(len(s.frames))
		s.frames, frames[f] = append(s.frames, f), id
	}
	t.until(when)
	switch {
	case e.Ph == "B" && len(t.open) <= maxDepth:
		t.open = append(t.open, id)
	case e.Ph == "E":
		t.close(id)
	}
}
