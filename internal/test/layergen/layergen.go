// Package layergen writes captures of models whose layers are known: a model is a list of lines with the part, the
// time, the operator and the name of each kernel, so the truth is what the lines say and where the simulated GPU ran
// them. It knows nothing of the analysis. models.go has the models, sim.go runs them, write.go writes Kineto's JSON.
package layergen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Kernel is one operation of a program.
type Kernel struct {
	Part   string // attention, mlp, moe, norm, communication, other
	NS     int64
	Op     string // the operator that launches it
	Name   string
	Stream int64 // 0 is the main stream
	Beside bool  // later kernels of the main stream do not wait for it
}

// A Layer is one layer of a program: kernels in the order of their launches.
type Layer struct {
	Kind    string // layers with the same kind have the same kernels
	Module  string // class of its module
	Kernels []Kernel
}

// A Pass is a run through layers, with what comes before and after them. A pass of one layer, or of none, has no
// layers that repeat.
type Pass struct {
	Name   string // forward, backward or recompute
	Before []Kernel
	Layers []Layer
	After  []Kernel

	Joined bool // its layers belong to the earlier pass of this name in the step: passes alternate layer by layer
}

// A Program is what each step does. Steps of a list of programs take turns.
type Program struct {
	Name   string // of the annotation; ProfilerStep# if it is empty
	Passes []Pass
}

// Config says how a capture is made.
type Config struct {
	Seed     uint64
	Programs []Program
	Steps    int
	Graphs   bool // one launch for all kernels of a step, no operators
	Modules  bool // with the stacks of modules
	Unmarked bool // steps have no annotation
	AMD      bool
	Rank     int
	Ranks    int

	Jitter     int64 // durations vary by up to this many percent
	Slow       []int // places of layers (in the first pass that has them) that are slow in each step
	SlowPart   string
	SlowTimes  int64 // percent that kernels of SlowPart take of their time in slow layers
	SplitEvery int   // each nth layer splits the sums of one matrix product over two kernels
	MemsetOf   int   // each nth layer begins with a memset of a workspace
	GapNS      int64 // between kernels; 0 is 1 µs
}

// A Span is one layer of the truth.
type Span struct {
	Index          int // place in its pass
	Kind           string
	StartNS, EndNS int64 // from the start of its first kernel to the end of its last
	Parts          map[string]int64
	Kernels        int
}

// A Run is one pass of a step.
type Run struct {
	Step   string // name of the annotation, or ""
	Number int
	Pass   string
	Layers []Span
}

// Kinds returns the kinds of the layers in the order of their names, with their layers in order.
func (r Run) Kinds() (kinds []string, of map[string][]Span) {
	of = map[string][]Span{}
	for _, l := range r.Layers {
		if len(of[l.Kind]) == 0 {
			kinds = append(kinds, l.Kind)
		}
		of[l.Kind] = append(of[l.Kind], l)
	}
	slices.Sort(kinds)
	return kinds, of
}

// A Capture is the JSON of a trace and its truth.
type Capture struct {
	JSON []byte
	Runs []Run // passes with two or more layers
}

// Generate runs the programs and writes what a profiler would have.
func Generate(c Config) Capture {
	s := &sim{Config: c, random: rand.New(rand.NewPCG(c.Seed, 0x6c61796572))}
	for step := range c.Steps {
		p := c.Programs[step%len(c.Programs)]
		s.step(p, step+1)
	}
	return Capture{s.json(), s.runs}
}

// lines parses kernels: part, µs, operator and name in each line. A part may end in /2, for the second stream, or in
// |2, for the second stream without waiting. It panics on a wrong line, since models are constants.
func lines(text string) (out []Kernel) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		f := strings.Fields(line)
		us, err := strconv.ParseFloat(f[1], 64)
		if err != nil || len(f) < 4 {
			panic(fmt.Sprintf("layergen: %q: %v", line, err))
		}
		k := Kernel{Part: f[0], NS: int64(us*1000 + 0.5), Op: f[2], Name: line[strings.Index(line, f[2])+len(f[2])+1:]}
		if part, ok := strings.CutSuffix(k.Part, "/2"); ok {
			k.Part, k.Stream = part, 1
		} else if part, ok := strings.CutSuffix(k.Part, "|2"); ok {
			k.Part, k.Stream, k.Beside = part, 1, true
		}
		out = append(out, k)
	}
	return out
}

// layer makes a layer of lines.
func layer(kind, module string, texts ...string) Layer {
	return Layer{kind, module, lines(strings.Join(texts, "\n"))}
}

// Times repeats a layer.
func Times(n int, list ...Layer) (out []Layer) {
	for range n {
		out = append(out, list...)
	}
	return out
}
