package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/analyze/whatif"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/internal/unit"
)

// An overlay is a Chrome trace of the critical paths of steps, without the events of the capture.
type overlay struct {
	base    *int64 // as the capture states it
	Courses []whatif.Course
}

// criticalPath writes the critical paths of the inputs.
func (conv *conversion) criticalPath(r *reading, c *command) error {
	chosen := r.choice.ranks
	if len(r.paths) == 1 { // it may have processes that are ranks
		r.choice.ranks = nil
	}
	inputs, failed := (&asking{source: conv.source}).inputs(r)
	if len(inputs) == 0 || r.absent() != nil {
		return errors.Join(failed...)
	}
	courses, apart, err := whatif.Courses(inputs, whatif.Question{Ranks: chosen, Rules: r.rules, Phases: r.phases})
	if err != nil {
		return errors.Join(append(failed, err)...)
	}
	if apart != "" {
		r.e.say("assay %s: %s, with the times of its capture", c.name, apart)
	}
	var withheld []string
	for _, p := range courses {
		if len(p.Pieces) == 0 {
			withheld = append(withheld, fmt.Sprintf("%s of rank %d: %s", p.Step, p.Rank, strings.Join(p.Reasons, "; ")))
		}
	}
	switch n := len(withheld); {
	case len(courses) == 0:
		return errors.Join(append(failed, errors.New("the inputs have no step and no GPU work in this part, so there is no critical path"))...)
	case n == len(courses):
		return errors.Join(append(failed, fmt.Errorf("the critical path is withheld: %s", withheld[0]))...)
	case n > 0:
		r.e.say("assay %s: the critical path of %d of %d steps is withheld; %s", c.name, n, len(courses), withheld[0])
	}
	o := &overlay{inputs[0].Trace.Meta.BaseTime, courses}
	conv.hideUsers(o)
	packed := func(o *overlay, w io.Writer) error { return outfile.Compressed(conv.output, w, o.encode) }
	if err = r.e.output(conv.output, mask(o).as(packed)); err != nil {
		failed = append(failed, fmt.Errorf("cannot write the result: %w", diag.PathOnly(err)))
	}
	return errors.Join(failed...)
}

// A slice is an event of the overlay.
type slice struct {
	Phase    string          `json:"ph"`
	Category string          `json:"cat,omitempty"`
	Name     string          `json:"name"`
	PID      int             `json:"pid"`
	TID      int             `json:"tid"`
	Start    json.RawMessage `json:"ts"`
	Length   json.RawMessage `json:"dur,omitempty"`
	Colour   string          `json:"cname,omitempty"` // of chrome://tracing
	Args     map[string]any  `json:"args,omitempty"`
}

// firstProcess is the number of the process of rank 0: beyond those of programs, so that the overlay
// can be opened together with the capture.
const firstProcess = 1_000_000_000

// colours of the classes.
var colours = map[string]string{
	"compute": "thread_state_running", "comm": "thread_state_iowait", "copy": "rail_load", "unexplained": "terrible",
	"host_op": "thread_state_runnable", "python": "thread_state_runnable", "runtime": "thread_state_runnable", "dataloader": "olive",
}

// encode writes a process for each rank, with a lane for steps and one for the pieces of their paths.
func (o *overlay) encode(w io.Writer) error {
	out := bufio.NewWriter(w)
	head := `{"displayTimeUnit": "ms",`
	if o.base != nil {
		head += fmt.Sprintf(` "baseTimeNanoseconds": %d,`, *o.base)
	}
	fmt.Fprintln(out, head+` "traceEvents": [`)
	begun := false
	var failed error
	put := func(s slice) {
		text, err := json.Marshal(s)
		if failed == nil {
			failed = err
		}
		if begun {
			out.WriteString(",\n")
		}
		begun = true
		out.Write(text)
	}
	named := map[int]bool{}
	for i := range o.Courses {
		c := &o.Courses[i]
		pid := firstProcess + c.Rank
		if !named[c.Rank] {
			named[c.Rank] = true
			for tid, name := range []string{fmt.Sprintf("critical path of rank %d", c.Rank), "steps", "critical path"} {
				what := "thread_name"
				if tid == 0 {
					what = "process_name"
				}
				put(slice{Phase: "M", Name: what, PID: pid, TID: tid, Start: micros(0), Args: map[string]any{"name": name}})
			}
		}
		put(slice{Phase: "X", Category: "critical_path_step", Name: c.Step, PID: pid, TID: 1, Start: micros(c.StartNS), Length: micros(c.NS),
			Args: map[string]any{"verdict": c.Verdict, "reasons": c.Reasons}})
		for k := range c.Pieces {
			put(sliceOf(&c.Pieces[k], pid))
		}
	}
	fmt.Fprintln(out, "\n]}")
	return errors.Join(failed, out.Flush())
}

// sliceOf returns the slice of a piece.
func sliceOf(p *whatif.Piece, pid int) slice {
	s := slice{Phase: "X", Category: "critical_path", Name: p.Name, PID: pid, TID: 2, Start: micros(p.StartNS), Length: micros(p.NS),
		Colour: colours[p.Class], Args: map[string]any{"class": p.Class, "where": p.Lane, "rank": p.Rank}}
	if p.Waits {
		s.Name = "(" + strings.ReplaceAll(p.Class, "_", " ") + ")"
		s.Args["before"] = p.Name
	}
	for key, text := range map[string]string{"operator": p.Operator, "waited for": p.Cause, "next to bind": p.Next} {
		if text != "" {
			s.Args[key] = text
		}
	}
	if p.Next != "" {
		s.Args["slack of the next (µs)"] = micros(p.SlackNS)
	}
	if p.Inferred {
		s.Args["inferred"] = true
	}
	return s
}

// micros prints ns as µs with all digits.
func micros(ns int64) json.RawMessage {
	return json.RawMessage(strings.TrimSuffix(unit.Timestamp(ns), " µs"))
}
