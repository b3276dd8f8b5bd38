package proton

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/trace"
)

// An event is an event of a trace, with the members that Proton writes.
type event struct {
	Ph   string          `json:"ph"`
	Cat  string          `json:"cat"`
	Name string          `json:"name"`
	TS   json.Number     `json:"ts"`
	Dur  json.Number     `json:"dur"`
	TID  json.RawMessage `json:"tid"`
	Args struct {
		Stack   []string                   `json:"call_stack"`
		Metrics map[string]json.RawMessage `json:"metrics"`
	} `json:"args"`
}

const withoutCalls = "Proton does not record which call launched GPU work, so there are no operators and no causes of idle time. torch.profiler and Nsight Systems record them."

// A chrome reads one trace.
type chrome struct {
	hatchet
	out    *trace.Assembler
	root   node
	events int64
	scopes int
}

var digits = lazyregexp.New(`\d{1,9}`)

// ReadTrace reads a Chrome trace: a timeline of kernels, and the tables of the scopes that they ran in. Proton does
// not record launches. It records one process; which of its devices a kernel ran on is not in the file.
func ReadTrace(in io.Reader, name string, sel trace.Select, limits Limits) (*trace.Trace, *profile.Tables, error) {
	c := &chrome{out: trace.NewAssembler(name, sel)}
	c.file, c.in, c.most = name, json.NewDecoder(bufio.NewReaderSize(in, 1<<16)), limits.Nodes
	if c.most <= 0 {
		c.most = defaultNodes
	}
	err := c.object(func(key string) error {
		if key != "traceEvents" {
			return c.skip()
		}
		return c.array(c.event)
	})
	of := c.root.total()
	if err != nil {
		if of.kernels == 0 {
			return nil, nil, fmt.Errorf("%s: not a complete trace of Proton: %w; let the program call proton.finalize() and copy the file again", name, err)
		}
		c.out.Issue(cutIssue(name, c.in.InputOffset(), err), 1)
	}
	if c.damaged > 0 {
		c.out.Issue(damagedIssue(name, c.damaged), c.damaged)
	}
	t := c.out.Trace(trace.Meta{WithoutCalls: withoutCalls}, c.events, err == nil)
	t.Meta.Tool = trace.ToolProton
	root := &c.root
	if len(root.children) == 1 {
		root = root.children[0] // ROOT itself is no scope
	}
	list := tables(root, 0)
	return t, &profile.Tables{Tool: Tool, Complete: err == nil, List: list[1:]}, nil // the timeline has the kernels
}

// event reads an event.
func (c *chrome) event() error {
	var e event
	if err := c.hatchet.in.Decode(&e); err != nil {
		if _, ok := err.(*json.UnmarshalTypeError); ok {
			c.events++
			c.damaged++
			return nil
		}
		return unexpected(err)
	}
	c.events++
	if e.Ph != "X" || e.Cat != "kernel" || e.Name == "" {
		return nil
	}
	start, ok1 := nanoseconds(e.TS.String())
	dur, ok2 := nanoseconds(e.Dur.String())
	if !ok1 || !ok2 || dur < 0 || dur > trace.MaxDuration || start > math.MaxInt64-dur {
		c.damaged++
		return nil
	}
	name := shortened(e.Name)
	sym := c.out.Sym([]byte(name))
	c.out.Activity(trace.Activity{Start: start, Dur: dur, Name: sym, Kind: trace.Kernel, Track: c.out.Stream(0, 0, stream(e.TID)),
		Detail: c.out.Detail(trace.Detail{Registers: -1, SharedMemory: -1, Bytes: -1,
			Collective: trace.Collective{In: -1, Out: -1, GroupSize: -1}}, sym)})
	c.add(&e, name, dur)
	return nil
}

// add adds a kernel to the tree of its scopes.
func (c *chrome) add(e *event, name string, dur int64) {
	at := &c.root
	for i, frame := range e.Args.Stack {
		if i == maxDepth || i == len(e.Args.Stack)-1 && frame == e.Name {
			break
		}
		if _, there := at.byName[frame]; !there {
			if c.scopes++; c.scopes > c.most {
				break
			}
		}
		at = at.child(shortened(frame))
	}
	k := at.child(name)
	k.device = "GPU"
	k.ns, k.count = profile.Plus(k.ns, dur), k.count+1
	for key, raw := range e.Args.Metrics {
		text := strings.Trim(string(raw), `"`)
		switch {
		case strings.HasPrefix(key, "flops"):
			k.flops, k.stated[ofFLOPs] = k.flops+c.number(text), true
		case key == "bytes":
			k.bytes, k.stated[ofBytes] = k.bytes+c.number(text), true
		}
	}
}

// stream returns the number of a lane: 7, or "GPU Stream 7".
func stream(tid json.RawMessage) int64 {
	n, _ := strconv.ParseInt(digits().FindString(string(tid)), 10, 64)
	return n
}

// nanoseconds returns decimal microseconds in ns, rounded.
func nanoseconds(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	us, err := strconv.ParseInt(whole, 10, 64)
	if err == nil && len(fraction) <= 3 && us >= 0 && us < math.MaxInt64/1000-1 && strings.Trim(fraction, "0123456789") == "" {
		ns, err := strconv.ParseInt("0"+(fraction + "000")[:3], 10, 64)
		return us*1000 + ns, err == nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > math.MaxInt64/4e3 {
		return 0, false
	}
	return int64(math.Round(v * 1000)), true
}
