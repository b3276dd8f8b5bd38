// Package loggen writes logs of trainers and inference servers whose content is known: each
// step, phase and request is stated by a [Trainer] or a [Server], and truths are
// computed from these statements and never from the text.
//
// [Noise] adds what logs of real jobs have: prefixes of Ray, lines of other processes, lines
// that were cut, and progress bars.
package loggen

import (
	"fmt"
	"strings"
	"time"
)

// Noise is what is around the records of a log.
type Noise struct {
	Ray         bool // a prefix of Ray, with colours
	Interleaved bool // lines of another process, and a progress bar, between records
	Torn        bool // before each fifth record a line that was cut before its first value
}

// A Phase is a timer of a step.
type Phase struct {
	Name    string // as the producer calls it, without the prefix of its timers
	Seconds float64
}

// A Step is one step of a trainer.
type Step struct {
	Number  int
	Seconds float64 // 0 if the step is the sum of its phases
	Phases  []Phase
	Extra   []string // further fields: "response_length/mean:512"
	Covers  int      // number of steps whose mean the times are; Number is the last one
}

// Time returns the length of the step.
func (s Step) Time() float64 {
	if s.Seconds > 0 {
		return s.Seconds
	}
	sum := 0.0
	for _, p := range s.Phases {
		sum += p.Seconds
	}
	return sum
}

// A Trainer is a run of a trainer.
type Trainer struct {
	Steps []Step
	Noise Noise
}

// Repeat returns n steps, numbered from 1, each made by make.
func Repeat(n int, each func(number int) Step) Trainer {
	var t Trainer
	for i := 1; i <= n; i++ {
		s := each(i)
		s.Number = i
		t.Steps = append(t.Steps, s)
	}
	return t
}

// Means returns the log of the same run with a logging interval: each record has the means of n steps. Phases
// must be those of the first step. Steps after the last full interval are not logged.
func (t Trainer) Means(n int) Trainer {
	out := Trainer{Noise: t.Noise}
	for from := 0; from+n <= len(t.Steps); from += n {
		last := t.Steps[from+n-1]
		m := Step{Number: last.Number, Covers: n, Extra: last.Extra}
		for _, p := range t.Steps[0].Phases {
			m.Phases = append(m.Phases, Phase{Name: p.Name})
		}
		for _, s := range t.Steps[from : from+n] {
			m.Seconds += s.Time() / float64(n)
			for i, p := range s.Phases {
				m.Phases[i].Seconds += p.Seconds / float64(n)
			}
		}
		out.Steps = append(out.Steps, m)
	}
	return out
}

// PhaseNS returns the time of the phases with some names, in ns.
func (t Trainer) PhaseNS(names ...string) (ns int64) {
	for _, s := range t.Steps {
		for _, p := range s.Phases {
			for _, name := range names {
				if p.Name == name {
					ns += nanoseconds(p.Seconds)
				}
			}
		}
	}
	return ns
}

// StepNS returns the time of all steps, in ns.
func (t Trainer) StepNS() (ns int64) {
	for _, s := range t.Steps {
		ns += nanoseconds(s.Time())
	}
	return ns
}

func nanoseconds(s float64) int64 { return int64(s*1e9 + 0.5) }

// VeRL returns the console of veRL.
func (t Trainer) VeRL() string {
	var b strings.Builder
	for i, s := range t.Steps {
		line := fmt.Sprintf("step:%d", s.Number)
		for _, x := range s.Extra {
			line += " - " + x
		}
		for _, p := range s.Phases {
			line += fmt.Sprintf(" - timing_s/%s:%v", p.Name, p.Seconds)
		}
		line += fmt.Sprintf(" - timing_s/step:%v", s.Time())
		t.Noise.write(&b, i, line)
	}
	return b.String()
}

// Megatron returns the log of Megatron-LM, with the timers of each iteration.
func (t Trainer) Megatron() string {
	var b strings.Builder
	for i, s := range t.Steps {
		t.Noise.write(&b, i, fmt.Sprintf(" iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | learning rate: 1.000E-04 | global batch size:   512 | lm loss: 2.500000E+00 |",
			s.Number, len(t.Steps), 512*s.Number, 1e3*s.Time()))
		if len(s.Phases) == 0 {
			continue
		}
		line := "time (ms)"
		for _, p := range s.Phases {
			line += fmt.Sprintf(" | %s: %.2f", p.Name, 1e3*p.Seconds)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Timed returns the log of Megatron-LM whose lines have the time at which they were
// written. Gap has the seconds between the step before and each step.
func (t Trainer) Timed(gap func(number int) float64) string {
	var b strings.Builder
	now := origin
	for i, s := range t.Steps {
		now = now.Add(time.Duration(nanoseconds(s.Time()*float64(max(1, s.Covers)) + gap(s.Number))))
		t.Noise.write(&b, i, fmt.Sprintf(" [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | lm loss: 2.500000E+00 |",
			now.Format("2006-01-02 15:04:05.000000"), s.Number, len(t.Steps), 512*s.Number, 1e3*s.Time()))
	}
	return b.String()
}

// Titan returns the log of torchtitan. Each has the fields of a step after its number: loss,
// gradient norm, memory in GiB, its share in %, tokens per second, TFLOP/s and MFU in %.
func Titan(n int, each func(number int) [7]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		v := each(i)
		fmt.Fprintf(&b, "[rank0]:[titan] %s,000 - root - INFO - step: %2d  loss: %s  grad_norm: %s  memory: %sGiB(%s%%)  tps: %s  tflops: %s  mfu: %s%%\n",
			origin.Add(time.Duration(i)*time.Second).Format("2006-01-02 15:04:05"), i, v[0], v[1], v[2], v[3], v[4], v[5], v[6])
	}
	return b.String()
}

// origin is the time at which all logs begin.
var origin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// write adds one record with its noise.
func (n Noise) write(b *strings.Builder, i int, line string) {
	prefix := ""
	if n.Ray {
		prefix = "\x1b[36m(TaskRunner pid=38606)\x1b[0m "
	}
	if n.Torn && i%5 == 0 {
		b.WriteString(prefix + line[:min(len(line), 5)] + "\n")
	}
	if n.Interleaved {
		b.WriteString("(WorkerDict pid=99) INFO: step 1 of the answer is {x: 1}\nprogress:  10%|#   | 1/10\rprogress:  20%|##  | 2/10\r\n")
	}
	b.WriteString(prefix + line + "\n")
}
