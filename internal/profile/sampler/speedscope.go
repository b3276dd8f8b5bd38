package sampler

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/jsonwalk"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

// profileStart matches what only profiles of speedscope have, for files without its schema.
var profileStart = lazyregexp.New(`"shared"\s*:\s*\{\s*"frames"\s*:\s*\[|"type"\s*:\s*"(evented|sampled)"`)

// SniffSpeedscope reports whether a file that begins with head is a profile of speedscope.
func SniffSpeedscope(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && (bytes.Contains(head, []byte("speedscope.app/file-format-schema.json")) ||
		!bytes.Contains(head, []byte(`"ph"`)) && bytes.Contains(head, []byte(`"profiles"`)) && profileStart().Match(head))
}

// A scope reads one file of speedscope.
type scope struct {
	*jsonwalk.Reader
	file    string
	frames  []profile.Frame
	threads []*thread
	budget  int64
	issues  diag.Ledger
}

// A thread is one profile of a file.
type thread struct {
	*costs
	name, unit string
	end        number
	ended      bool

	// Samples and their weights, which may come in any order. Calls are samples too, each until the next event.
	samples []int32
	weights []float64

	calls     bool     // the samples are of begins and ends of calls
	pid       int64    // 0 if unknown
	open      []uint32 // frames of calls that have not ended
	last      number   // the time of the last event
	began     bool
	unpaired  int64
	backwards int64
}

// ReadSpeedscope reads a profile of speedscope.
func ReadSpeedscope(in io.Reader, file string, limits profile.Limits) (*profile.Profile, error) {
	s := &scope{Reader: jsonwalk.NewReader(in), file: file, budget: cmp.Or(limits.Memory, defaultMemory)}
	err := s.Object(func(key string) error {
		switch key {
		case "shared":
			return s.Object(func(key string) error {
				if key != "frames" {
					return s.Skip()
				}
				return s.Array(s.frame)
			})
		case "profiles":
			return s.Array(s.profile)
		}
		return s.Skip()
	})
	return s.result(err, "the profile of speedscope has no sample with a weight and no call with a duration; record again, and let the profiler write the file to its end")
}

// result makes the profile, whose stacks are those of one thread. err ended the reading, or is nil.
func (s *scope) result(err error, without string) (*profile.Profile, error) {
	if err != nil {
		issueCut(s.file, s.Offset(), err, &s.issues)
	}
	for _, t := range s.threads {
		s.finish(t)
	}
	main := s.main()
	if main == nil || main.sum() <= 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: s.file, Offset: s.Offset()}, Msg: without}
	}
	column, scale := unitOf(main.unit)
	p := main.profile(column, scale, s.frameOf)
	if column.Unit == "nanoseconds" {
		p.Duration = rounded(main.sum() * scale)
	}
	s.beside(p, main, column)
	for _, t := range s.threads {
		if column, scale := unitOf(t.unit); column.Unit == "nanoseconds" {
			p.Threads = append(p.Threads, s.timed(t, scale))
		}
	}
	p.Cut, p.Issues = err != nil, s.issues.Issues()
	return p, nil
}

// processName is how py-spy names the threads of several processes.
var processName = lazyregexp.New(`^Process (\d{1,10}) Thread `)

// timed returns the samples of a thread with their times, which are the sums of the weights before them.
func (s *scope) timed(t *thread, scale float64) profile.Timed {
	n, since, until := min(len(t.samples), len(t.weights)), 0.0, map[int64]int64{}
	out := t.costs.timed(t.samples[:n], func(i int) int64 {
		at := rounded(since * scale)
		since += t.weights[i]
		until[at] = rounded(since * scale)
		return at
	}, s.frameOf)
	for _, at := range out.At {
		if t.calls {
			out.Until = append(out.Until, until[at])
		}
	}
	if out.Thread, out.PID = t.name, t.pid; t.pid == 0 {
		if m := processName().FindStringSubmatch(t.name); m != nil {
			out.PID, _ = strconv.ParseInt(m[1], 10, 64)
		}
	}
	return out
}

// frame reads a frame.
func (s *scope) frame() error {
	var f struct {
		Name string `json:"name"`
		File string `json:"file"`
		Line int64  `json:"line"`
	}
	if _, err := s.Value(&f); err != nil {
		return err
	}
	if s.budget -= 64 + int64(len(f.Name)+len(f.File)); s.budget < 0 {
		f.Name, f.File = profile.OtherStacks, ""
	}
	s.frames = append(s.frames, profile.Frame{Name: cut(f.Name), File: cut(f.File), Line: f.Line})
	return nil
}

// frameOf returns a frame by its number. A file that breaks off before its frames has only numbers.
func (s *scope) frameOf(id uint32) profile.Frame {
	if int(id) < len(s.frames) {
		return s.frames[id]
	}
	s.issues.Add(diag.Issue{Code: "frames-unknown", Severity: diag.DataLoss, First: diag.Pos{File: s.file}})
	return profile.Frame{Name: "[unknown]"}
}

// profile reads one thread.
func (s *scope) profile() error {
	t := &thread{costs: newCosts(&s.budget)}
	if len(s.threads) >= maxThreads {
		s.issues.Add(diag.Issue{Code: "too-many-tables", Severity: diag.DataLoss, First: diag.Pos{File: s.file},
			Help: "Threads over the limit of one input were left out. Give a profile of fewer processes."})
		return s.Skip()
	}
	s.threads = append(s.threads, t)
	return s.Object(func(key string) error {
		switch key {
		case "name":
			text, err := s.Text()
			t.name = cut(text)
			return err
		case "unit":
			text, err := s.Text()
			t.unit = cut(text)
			return err
		case "endValue":
			text, err := s.Text()
			t.end, t.ended = parse(text)
			return err
		case "samples":
			return s.Array(func() error { return s.sample(t) })
		case "weights":
			return s.Array(func() error { return s.weight(t) })
		case "events":
			return s.Array(func() error { return s.event(t) })
		}
		return s.Skip()
	})
}

func (s *scope) sample(t *thread) error {
	var stack []uint32
	fits, err := s.Value(&stack)
	if err != nil {
		return err
	}
	if !fits {
		s.malformed()
	}
	s.budget -= 4
	t.samples = append(t.samples, int32(t.stack(stack)))
	return nil
}

func (s *scope) weight(t *thread) error {
	text, err := s.Text()
	n, ok := parse(text)
	if !ok || n.float() < 0 {
		s.malformed()
	}
	s.budget -= 8
	t.weights = append(t.weights, max(0, n.float()))
	return err
}

func (s *scope) malformed() {
	s.issues.Add(diag.Issue{Code: "value-malformed", Severity: diag.DataLoss, First: diag.Pos{File: s.file, Offset: s.Offset()}})
}

// event reads the begin or end of a call. The time between two events is that of the calls that are open.
func (s *scope) event(t *thread) error {
	var e struct {
		Type  string     `json:"type"`
		Frame uint32     `json:"frame"`
		At    numberText `json:"at"`
	}
	fits, err := s.Value(&e)
	if err != nil {
		return err
	}
	when, ok := parse(string(e.At))
	if !ok || !fits {
		s.malformed()
		return nil
	}
	t.until(when)
	switch e.Type {
	case "O":
		if len(t.open) > maxDepth {
			t.unpaired++
			return nil
		}
		t.open = append(t.open, e.Frame)
	case "C":
		t.close(e.Frame)
	default:
		s.malformed()
	}
	return nil
}

// numberText is a number as it is written, or a text.
type numberText string

// UnmarshalJSON keeps the text.
func (n *numberText) UnmarshalJSON(b []byte) error {
	*n = numberText(bytes.Trim(b, `"`))
	return nil
}

// noCall is the number of a stack without frames.
const noCall = -2

// until gives the time since the last event to the open calls.
func (t *thread) until(when number) {
	if d := when.minus(t.last); t.began && d > 0 {
		stack := noCall
		if len(t.open) > 0 {
			stack = t.stack(t.open)
		}
		*t.budget -= 12
		t.calls, t.samples, t.weights = true, append(t.samples, int32(stack)), append(t.weights, d)
	}
	if t.began && when.minus(t.last) < 0 {
		t.backwards++
		return // time that was counted is not counted again
	}
	t.last, t.began = when, true
}

// close ends a call. Where calls overlap, those inside it end with it.
func (t *thread) close(frame uint32) {
	for i := len(t.open) - 1; i >= 0; i-- {
		if t.open[i] == frame {
			t.unpaired += int64(len(t.open) - 1 - i)
			t.open = t.open[:i]
			return
		}
	}
	t.unpaired++
}

// finish adds up a thread after its last member.
func (s *scope) finish(t *thread) {
	if len(t.open) > 0 {
		t.unpaired += int64(len(t.open))
		if t.ended {
			t.until(t.end)
		}
	}
	for i, stack := range t.samples {
		weight := 1.0
		if len(t.weights) > 0 {
			if i >= len(t.weights) {
				break
			}
			weight = t.weights[i]
		}
		if stack != noCall {
			t.add(int(stack), weight)
		}
	}
	at := diag.Pos{File: s.file}
	if n := len(t.samples) - len(t.weights); n != 0 && len(t.weights) > 0 {
		s.issues.AddN(diag.Issue{Code: "weights-missing", Severity: diag.DataLoss, First: at}, int64(max(n, -n)))
	}
	s.issues.AddN(diag.Issue{Code: "calls-unpaired", Severity: diag.Suspect, First: at}, t.unpaired)
	s.issues.AddN(diag.Issue{Code: "time-backwards", Severity: diag.Suspect, First: at,
		Help: "Events of a profile are before the events in front of them. The time between them was not counted twice; times of single functions may be wrong. Record again."}, t.backwards)
	issuePooled(s.file, t.pooled, &s.issues)
}

// main returns the thread whose stacks are shown: Python's main thread, or else the one with the largest value; of
// several equal ones the first.
func (s *scope) main() (best *thread) {
	better := func(a, b *thread) bool {
		if x, y := a.isMain(), b.isMain(); x != y {
			return x
		}
		return a.sum() > b.sum()
	}
	for _, t := range s.threads {
		if t.sum() > 0 && (best == nil || better(t, best)) {
			best = t
		}
	}
	return best
}

func (t *thread) isMain() bool { return strings.Contains(t.name, "MainThread") }

// beside adds the table of threads, if there are several.
func (s *scope) beside(p *profile.Profile, main *thread, column profile.Column) {
	var alike []*thread
	for _, t := range s.threads {
		if own, _ := unitOf(t.unit); own == column && t.sum() > 0 {
			alike = append(alike, t)
		}
	}
	if len(alike) < 2 {
		return
	}
	var rows []threadSum
	for _, t := range alike {
		_, scale := unitOf(t.unit)
		row := threadSum{name: cmp.Or(t.name, "(no name)"), value: rounded(t.sum() * scale)}
		if id, value, ok := t.largest(); ok {
			row.top, row.most = s.frameOf(id).Name, rounded(value*scale)
		}
		rows = append(rows, row)
	}
	p.Beside = append(p.Beside, threadTable(column, rows))
	s.issues.AddN(diag.Issue{Code: "threads-apart", Severity: diag.Info, First: diag.Pos{File: s.file},
		Help: fmt.Sprintf("Threads ran at the same time, so their times do not add up. The functions are those of one thread, %q. The threads counted here are in the table of threads only.", main.name)}, int64(len(alike)-1))
}
