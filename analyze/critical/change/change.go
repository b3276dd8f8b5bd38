// Package change describes the changes of a program whose effect package forecast finds: how
// each is written on a command line, what it does and what it assumes.
package change

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
)

// A Change is one change to a program, as the user asks for it.
type Change struct {
	Kind  string // the name of its flag: scale, remove, host
	Value string
}

// String returns the change as it is written on the command line.
func (c Change) String() string {
	if c.Value == "" {
		return "--" + c.Kind
	}
	return "--" + c.Kind + " " + c.Value
}

// A Kind is a kind of change.
type Kind struct {
	Name     string // of its flag
	Value    string // how its value is written; F is a factor, RE a regular expression
	Does     string
	Assumes  string
	Optional bool // its value may be left out
}

// bound says what a forecast is if what it assumes cannot be reached.
const bound = "an upper bound"

// Kinds has the kinds of changes, in the order of the help.
var Kinds = []Kind{
	{"scale", "kernel~RE=F|op~RE=F|class:NAME=F", "GPU work by name, operators by name, or a class takes F times as long", "", false},
	{"host", "F", "host code takes F times as long", "batches come at the measured times", false},
	{"launch", "F", "launch calls and the delay until their work starts take F times as long", "", false},
	{"gap", "F", "gaps between kernels of a stream take F times as long", "", false},
	{"copy", "F", "copies take F times as long", "", false},
	{"hide-comm", "RE", "communication costs nothing and keeps its order", "perfect overlap: " + bound, true},
	{"early", "RE", "communication starts when what it waits for on the GPU is done, as if it was launched in time",
		"the CPU can launch it earlier: its inputs are those of the events and of the stream that it waits for", true},
	{"hide", "kernel~RE", "GPU work costs nothing and keeps its order", "perfect overlap: " + bound, false},
	{"remove", "kernel~RE|op~RE|sync~RE|wait~RE", "GPU work, operators, waits of the host or waits between streams are gone", "", false},
	{"pinned", "F", "copies do not block the host; those of pageable memory take F times as long", "", true},
	{"fuse", "RE=F|chain~OP,OP=F", "neighboring works of a stream, or of operators in this order, become one that takes F times their sum", "", false},
	{"graph", "US[:step]", "the GPU work of a step is launched by one call of US microseconds; with :step also without the Python between", "", true},
	{"overlap", "RE", "GPU work leaves the order of its stream", "perfect overlap: " + bound, false},
	{"contention", "", "compute beside communication is as fast as alone", "", true},
	{"like", "RANK", "the compute of every rank takes as long as that of one", "", false},
	{"on-time", "RANK", "no rank waits for that one in collectives: it comes to each as the last of the others does", "what made it late is gone: " + bound, false},
}

// WholeStep is the value of --graph for a graph of all that a step does from its first launch to its last.
const WholeStep = "step"

// graphLaunch is what the launch of a captured graph takes if the user does not say, in µs.
const graphLaunch = 10

// parseFactor reads a factor of a duration: 0.5, or 2x for twice as fast.
func parseFactor(s string) (float64, error) {
	text, fast := strings.CutSuffix(s, "x")
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && fast {
		f = 1 / f
	}
	if err != nil || !(f >= 0 && f <= 1e6) || fast && !(f > 0) {
		return 0, errors.New("the factor is not a number; write 0.5 for half the time or 2x for twice as fast")
	}
	return f, nil
}

// Check returns an error if a change is written wrongly.
func (c Change) Check() error {
	_, err := c.Parse()
	return err
}

// A Parsed is a change that is written correctly.
type Parsed struct {
	Kind
	What   string  // what is changed: the value without its factor
	Factor float64 // or another number: of a rank, of microseconds; 1 without one
}

// Rests returns what the forecast of a change rests on, or "".
func (p *Parsed) Rests() string {
	switch {
	case p.Name == "graph" && p.What == WholeStep:
		return "all that the CPU does from the first launch of a step to the last is in the graph, with fixed shapes; the gaps between kernels stay"
	case p.Name == "graph":
		return "Python between the operators stays, and the gaps between kernels; with :step only the gaps"
	case p.Assumes == "" && p.Bound():
		return bound
	}
	return p.Assumes
}

// Bound reports whether the forecast of a change is the best case and no expectation: work overlaps perfectly or
// costs nothing, or a wait for data that must be ready is gone.
func (p *Parsed) Bound() bool {
	switch p.Name {
	case "overlap", "hide", "hide-comm", "on-time":
		return true
	case "remove":
		return strings.HasPrefix(p.What, "wait~")
	case "scale", "host", "launch", "gap", "copy", "fuse":
		return p.Factor == 0
	}
	return false
}

// Bound reports whether one of the changes is a bound.
func Bound(list []Change) bool {
	return slices.ContainsFunc(list, func(c Change) bool {
		p, err := c.Parse()
		return err == nil && p.Bound()
	})
}

// Parse reads a change.
func (c Change) Parse() (Parsed, error) {
	of, what, f, err := c.parse()
	if err != nil {
		return Parsed{}, err
	}
	return Parsed{*of, what, f}, nil
}

func (c Change) parse() (of *Kind, what string, f float64, err error) {
	i := slices.IndexFunc(Kinds, func(x Kind) bool { return x.Name == c.Kind })
	if i < 0 {
		return nil, "", 0, fmt.Errorf("there is no change --%s", c.Kind)
	}
	of, what, f = &Kinds[i], c.Value, 1
	wrong := func(err error) error {
		return fmt.Errorf("--%s is %q: %w; write --%[1]s %[4]s", c.Kind, c.Value, err, of.Value)
	}
	if c.Value == "" {
		if !of.Optional {
			return of, "", 0, fmt.Errorf("--%s needs a value: %s", c.Kind, of.Value)
		}
		if of.Name == "graph" {
			f = graphLaunch
		}
		return of, "", f, nil
	}
	switch {
	case of.Value == "F":
		f, err = parseFactor(c.Value)
	case strings.HasSuffix(of.Value, "=F"):
		at := strings.LastIndexByte(c.Value, '=')
		if at < 0 {
			return of, "", 0, wrong(errors.New("there is no factor"))
		}
		what = c.Value[:at]
		f, err = parseFactor(c.Value[at+1:])
	case of.Name == "graph" || of.Name == "like" || of.Name == "on-time":
		number := c.Value
		if of.Name == "graph" {
			number, what = c.Value, ""
			if c.Value == WholeStep {
				number, what = strconv.Itoa(graphLaunch), WholeStep
			} else if n, ok := strings.CutSuffix(c.Value, ":"+WholeStep); ok {
				number, what = n, WholeStep
			}
		}
		if f, err = strconv.ParseFloat(number, 64); err != nil {
			err = errors.New("it is not a number")
		}
		if err == nil && (!(f >= 0 && f <= 1e6) || of.Name != "graph" && f != math.Trunc(f)) {
			err = errors.New("it is out of range")
		}
	}
	if list, ok := strings.CutPrefix(what, chained); ok && of.Name == "fuse" && err == nil {
		if slices.Contains(strings.Split(list, ","), "") || !strings.Contains(list, ",") {
			err = errors.New("a chain has two operators or more")
		}
	} else if err == nil && strings.Contains(of.Value, "RE") {
		pattern := what
		if strings.Contains(of.Value, "~") && of.Name != "fuse" && !strings.HasPrefix(what, "class:") {
			prefix, rest, ok := strings.Cut(what, "~")
			if !ok || !strings.Contains("|"+of.Value, "|"+prefix+"~") {
				return of, "", 0, wrong(errors.New("it names nothing that can be changed"))
			}
			pattern = rest
		}
		if _, err = Compile(pattern); err != nil {
			err = errors.New("the pattern is no regular expression")
		}
	}
	if name, ok := strings.CutPrefix(what, "class:"); ok && err == nil && !slices.Contains(Classes, name) {
		err = errors.New("there is no such class; the classes are " + strings.Join(Classes, ", "))
	}
	if err != nil {
		return of, "", 0, wrong(err)
	}
	return of, what, f, nil
}

// chained begins the value of a fusion of operators.
const chained = "chain~"

// Chain returns the operators that a fusion is of, in their order, or nil if it is of works by their names.
func Chain(what string) []string {
	list, ok := strings.CutPrefix(what, chained)
	if !ok {
		return nil
	}
	return strings.Split(list, ",")
}

// Compile returns a function that reports whether a name matches a pattern. Package regexp has no
// lookahead, but "all but" is a frequent wish: ^(?!A)B are the names that match ^B and not ^A.
func Compile(pattern string) (func(string) bool, error) {
	if text, ok := lazyregexp.Literal(pattern); ok {
		return func(s string) bool { return s == text }, nil
	}
	not, rest, negated := strings.Cut(strings.TrimPrefix(pattern, "^(?!"), ")")
	if !strings.HasPrefix(pattern, "^(?!") || !negated {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	}
	no, err := regexp.Compile("^(?:" + not + ")")
	if err != nil {
		return nil, err
	}
	yes, err := regexp.Compile("^(?:" + rest + ")")
	if err != nil {
		return nil, err
	}
	return func(s string) bool { return yes.MatchString(s) && !no.MatchString(s) }, nil
}

// Classes are the classes of time that can be scaled, in the order of package graph.
var Classes = []string{"host_op", "python", "host_gap", "runtime", "dataloader", "launch_delay", "kernel_gap",
	"sync_return", "compute", "comm", "copy", "unexplained"}
