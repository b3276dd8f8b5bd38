package critical

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/trace"
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

// A change is a kind of change, as data: how its value is written, what it assumes, and what it
// does to the nodes.
type change struct {
	kind, value, does, assumes string
	optional                   bool // the value may be left out
	apply                      func(c *changing, what string, factor float64) error
}

const bound = "an upper bound"

var changes = []change{
	{"scale", "kernel~RE=F|op~RE=F|class:NAME=F", "GPU work by name, operators by name, or a class takes F times as long", "", false, (*changing).scale},
	{"host", "F", "host code takes F times as long", "batches come at the measured times", false, (*changing).host},
	{"launch", "F", "launch calls and the delay until their work starts take F times as long", "", false, (*changing).launches},
	{"gap", "F", "gaps between kernels of a stream take F times as long", "", false, (*changing).gaps},
	{"copy", "F", "copies take F times as long", "", false, (*changing).copies},
	{"hide-comm", "RE", "communication costs nothing and keeps its order", "perfect overlap: " + bound, true, (*changing).hideComm},
	{"hide", "kernel~RE", "GPU work costs nothing and keeps its order", "perfect overlap: " + bound, false, (*changing).hide},
	{"remove", "kernel~RE|op~RE|sync~RE|wait~RE", "GPU work, operators, waits of the host or waits between streams are gone", "", false, (*changing).remove},
	{"pinned", "", "copies do not block the host", "", true, (*changing).pinned},
	{"fuse", "RE=F", "neighboring works of a stream become one that takes F times their sum", "", false, (*changing).fuse},
	{"graph", "US", "the GPU work of a step is launched by one call of US microseconds", "the gaps between kernels stay", true, (*changing).graph},
	{"overlap", "RE", "GPU work leaves the order of its stream", bound, false, (*changing).overlap},
	{"contention", "", "compute beside communication is as fast as alone", "", true, (*changing).contend},
	{"like", "RANK", "the compute of every rank takes as long as that of one", "", false, (*changing).like},
}

// A Kind is a kind of change, for a command line.
type Kind struct {
	Name     string // of its flag
	Optional bool   // its value may be left out

	value, does string
}

// Kinds returns the kinds of changes.
func Kinds() (out []Kind) {
	for _, c := range changes {
		out = append(out, Kind{c.kind, c.optional, c.value, c.does})
	}
	return out
}

// Help returns what a change does, with its value in backquotes.
func (k Kind) Help() string {
	if k.value == "" {
		return k.does
	}
	return k.does + ": `" + k.value + "`"
}

// A changing applies changes to the nodes of a graph.
type changing struct {
	g       *Graph
	r       *rule
	factors []float64
	touched int
}

// ParseFactor reads a factor of a duration: 0.5, or 2x for twice as fast.
func parseFactor(s string) (float64, error) {
	text, fast := strings.CutSuffix(s, "x")
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && fast {
		f = 1 / f
	}
	if err != nil || !(f >= 0 && f <= 1e6) || fast && !(f > 0) {
		return 0, fmt.Errorf("%q is not a factor; write 0.5 for half the time or 2x for twice as fast", s)
	}
	return f, nil
}

// Check returns an error if a change is written wrongly.
func (c Change) Check() error {
	_, _, _, err := c.parse()
	return err
}

func (c Change) parse() (of *change, what string, f float64, err error) {
	i := slices.IndexFunc(changes, func(x change) bool { return x.kind == c.Kind })
	if i < 0 {
		return nil, "", 0, fmt.Errorf("there is no change --%s", c.Kind)
	}
	of, what, f = &changes[i], c.Value, 1
	wrong := func(err error) error {
		return fmt.Errorf("--%s %s: %w; write --%[1]s %[4]s", c.Kind, c.Value, err, of.value)
	}
	if c.Value == "" {
		if !of.optional {
			return of, "", 0, fmt.Errorf("--%s needs a value: %s", c.Kind, of.value)
		}
		return of, "", f, nil
	}
	switch {
	case of.value == "F":
		f, err = parseFactor(c.Value)
	case strings.HasSuffix(of.value, "=F"):
		at := strings.LastIndexByte(c.Value, '=')
		if at < 0 {
			return of, "", 0, wrong(fmt.Errorf("no factor"))
		}
		what = c.Value[:at]
		f, err = parseFactor(c.Value[at+1:])
	case of.value == "US" || of.value == "RANK":
		f, err = strconv.ParseFloat(c.Value, 64)
		if err == nil && !(f >= 0 && f <= 1e6) {
			err = fmt.Errorf("%s is out of range", c.Value)
		}
	}
	if err == nil && strings.Contains(of.value, "RE") {
		pattern := what
		if strings.Contains(of.value, "~") && !strings.HasPrefix(what, "class:") {
			prefix, rest, ok := strings.Cut(what, "~")
			if !ok || !strings.Contains("|"+of.value, "|"+prefix+"~") {
				return of, "", 0, wrong(fmt.Errorf("%q names nothing that can be changed", what))
			}
			pattern = rest
		}
		_, err = compile(pattern)
	}
	if name, ok := strings.CutPrefix(what, "class:"); ok && err == nil && !slices.Contains(classNames[:], name) {
		err = fmt.Errorf("there is no class %q; the classes are %s", name, strings.Join(classNames[:], ", "))
	}
	if err != nil {
		return of, "", 0, wrong(err)
	}
	return of, what, f, nil
}

// apply returns the rule of several changes together, and the number of nodes that they change.
func (g *Graph) apply(list []Change) (*rule, int, error) {
	c := &changing{g: g, r: g.unchanged(), factors: make([]float64, len(g.nodes))}
	for i := range c.factors {
		c.factors[i] = 1
	}
	for _, x := range list {
		of, what, f, err := x.parse()
		if err == nil {
			err = of.apply(c, what, f)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	for v := range g.nodes {
		switch n := &g.nodes[v]; {
		case c.r.flags[v]&isRemoved != 0:
			c.r.dur[v] = 0
		case c.r.flags[v]&isSet != 0:
		case c.factors[v] != 1:
			if n.flags&isArrival != 0 {
				if c.r.arrivals == nil {
					c.r.arrivals = make(map[int32]float64)
				}
				c.r.arrivals[int32(v)] = c.factors[v]
			}
			c.r.dur[v] = max(0, int64(float64(n.dur)*c.factors[v]))
		}
		if c.r.flags[v] != 0 || c.factors[v] != 1 {
			c.touched++
		}
	}
	return c.r, c.touched, nil
}

func (c *changing) mark(v int32, flags uint16) { c.r.flags[v] |= flags }

func (c *changing) set(v int32, dur int64) {
	c.r.dur[v] = max(0, dur)
	c.mark(v, isSet)
}

// each calls f with the nodes of the GPU, or of the host.
func (c *changing) each(gpu bool, f func(v int32, n *node)) {
	for v := range c.g.nodes {
		if n := &c.g.nodes[v]; n.flags&isGPU != 0 == gpu {
			f(int32(v), n)
		}
	}
}

// work calls f with the work whose name matches a pattern.
func (c *changing) work(pattern string, f func(v int32, n *node)) {
	matches := c.matcher(pattern)
	c.each(true, func(v int32, n *node) {
		if matches(n.rank, c.g.work(v).a.Name) {
			f(v, n)
		}
	})
}

// matcher returns a function that reports whether a name of a rank matches a pattern, which
// compiles.
func (c *changing) matcher(pattern string) func(rank uint16, s trace.Sym) bool {
	match, _ := compile(pattern)
	of := make([]func(trace.Sym) bool, len(c.g.ranks))
	for i, r := range c.g.ranks {
		of[i] = named(r.t, match)
	}
	return func(rank uint16, s trace.Sym) bool { return of[rank](s) }
}

// compile returns a function that reports whether a name matches a pattern. Package regexp has no
// lookahead, but "all but" is a frequent wish: ^(?!A)B are the names that match ^B and not ^A.
func compile(pattern string) (func(string) bool, error) {
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

// within returns a function that reports whether an event around a node matches a pattern: for
// work, around its launch.
func (c *changing) within(pattern string) func(v int32) bool {
	matches := c.matcher(pattern)
	inside := make([][]bool, len(c.g.ranks)) // by span: it or one around it matches
	for r, src := range c.g.ranks {
		inside[r] = make([]bool, len(src.spans))
		for i := range src.spans { // parents come first
			x := &src.spans[i]
			inside[r][i] = matches(uint16(r), x.name) || x.parent != none && inside[r][x.parent]
		}
	}
	return func(v int32) bool {
		n := &c.g.nodes[v]
		s := n.owner
		if n.flags&isGPU != 0 {
			l := c.g.launchOf(v)
			if l == nil {
				return false
			}
			s = l.span
		}
		return s != none && inside[n.rank][s]
	}
}

func (c *changing) scale(what string, f float64) error {
	scaled := func(v int32, _ *node) { c.factors[v] *= f }
	if re, ok := strings.CutPrefix(what, "kernel~"); ok {
		c.work(re, scaled)
	} else if re, ok := strings.CutPrefix(what, "op~"); ok {
		in := c.within(re)
		c.each(false, func(v int32, n *node) {
			if in(v) {
				scaled(v, n)
			}
		})
	} else {
		for v := range c.g.nodes {
			if c.g.nodes[v].class.String() == what[len("class:"):] {
				c.factors[v] *= f
			}
		}
	}
	return nil
}

func (c *changing) host(_ string, f float64) error {
	c.each(false, func(v int32, n *node) {
		if n.flags&isArrival == 0 {
			c.factors[v] *= f
		}
	})
	return nil
}

func (c *changing) launches(_ string, f float64) error {
	c.r.launch *= f
	for i := range c.g.calls {
		if v := c.g.calls[i].node; c.g.nodes[v].flags&(blocks|isJoin|isArrival) == 0 {
			c.factors[v] *= f
		}
	}
	return nil
}

func (c *changing) gaps(_ string, f float64) error {
	c.r.gap *= f
	c.touched += len(c.g.streams)
	return nil
}

func (c *changing) copies(_ string, f float64) error {
	c.each(true, func(v int32, n *node) {
		if n.class == Copy {
			c.factors[v] *= f
		}
	})
	return nil
}

func (c *changing) hideComm(what string, _ float64) error { return c.hidden(what, true) }

func (c *changing) hide(what string, _ float64) error {
	return c.hidden(strings.TrimPrefix(what, "kernel~"), false)
}

func (c *changing) hidden(re string, onlyComm bool) error {
	c.work(re, func(v int32, n *node) {
		if !onlyComm || n.class == Comm {
			c.set(v, 0)
			c.mark(v, noDelay)
		}
	})
	return nil
}

func (c *changing) remove(what string, _ float64) error {
	kind, re, _ := strings.Cut(what, "~")
	switch kind {
	case "kernel":
		c.work(re, func(v int32, n *node) {
			c.mark(v, isRemoved)
			if l := c.g.launchOf(v); l != nil && n.flags&isGraph == 0 {
				c.set(l.node, 0)
			}
		})
	case "wait":
		c.work(re, func(v int32, _ *node) { c.mark(v, noWait) })
	case "op":
		in := c.within(re)
		for v := int32(0); v < int32(len(c.g.nodes)); v++ {
			if !in(v) {
				continue
			}
			if c.mark(v, noSync); c.g.nodes[v].flags&isGPU != 0 {
				c.mark(v, isRemoved)
			} else {
				c.set(v, 0)
			}
		}
	case "sync":
		in, launches := c.within(re), c.launching()
		c.each(false, func(v int32, n *node) {
			if n.flags&(blocks|isJoin) == 0 || !in(v) {
				return
			}
			if c.mark(v, noSync); !launches[n.rank][n.owner] {
				c.set(v, 0)
			}
		})
	}
	return nil
}

// launching returns the spans of each rank that launched work.
func (c *changing) launching() []map[int32]bool {
	out := make([]map[int32]bool, len(c.g.ranks))
	for i := range out {
		out[i] = make(map[int32]bool)
	}
	for i := range c.g.calls {
		l := &c.g.calls[i]
		out[l.rank][l.span] = true
	}
	return out
}

func (c *changing) pinned(string, float64) error {
	launches := c.launching()
	c.each(false, func(v int32, n *node) {
		if n.flags&(blocks|isJoin) != 0 && launches[n.rank][n.owner] {
			c.mark(v, noSync)
		}
	})
	return nil
}

func (c *changing) overlap(what string, _ float64) error {
	c.work(what, func(v int32, _ *node) { c.mark(v, offStream) })
	return nil
}

func (c *changing) fuse(what string, f float64) error {
	matches := c.matcher(what)
	free := make([]map[int32]bool, len(c.g.ranks)) // spans that cost nothing
	for i := range free {
		free[i] = make(map[int32]bool)
	}
	for _, vs := range c.g.streams {
		for i := 0; i < len(vs); {
			k, sum := i, int64(0)
			for ; k < len(vs) && matches(c.g.nodes[vs[k]].rank, c.g.work(vs[k]).a.Name); k++ {
				sum += c.g.nodes[vs[k]].dur
			}
			if k-i > 1 {
				c.set(vs[i], int64(float64(sum)*f))
				for _, v := range vs[i+1 : k] {
					c.mark(v, isRemoved)
					if l := c.g.launchOf(v); l != nil {
						src := c.g.ranks[l.rank]
						free[l.rank][l.span] = true
						if p := src.parent(&src.spans[l.span]); p != nil && p.kind == trace.CPUOp {
							free[l.rank][src.spans[l.span].parent] = true
						}
					}
				}
			}
			i = max(k, i+1)
		}
	}
	c.each(false, func(v int32, n *node) {
		if n.owner != none && free[n.rank][n.owner] {
			c.set(v, 0)
		}
	})
	return nil
}

// graphLaunch is what the launch of a captured graph takes if the user does not say.
const graphLaunch = 10 // µs

func (c *changing) graph(what string, f float64) error {
	if what == "" {
		f = graphLaunch
	}
	inside := make([][]bool, len(c.g.ranks)) // spans within an outermost operator that launches
	for r, src := range c.g.ranks {
		inside[r] = make([]bool, len(src.spans))
	}
	for i := range c.g.calls {
		l := &c.g.calls[i]
		src, root := c.g.ranks[l.rank], l.span
		for s := l.span; s != none; s = src.spans[s].parent {
			if src.spans[s].kind == trace.CPUOp {
				root = s
			}
		}
		inside[l.rank][root] = true
	}
	for r, src := range c.g.ranks {
		for i := range src.spans {
			if p := src.spans[i].parent; p != none && inside[r][p] {
				inside[r][i] = true
			}
		}
	}
	c.each(false, func(v int32, n *node) {
		if n.flags&(blocks|isJoin|isArrival) == 0 && n.owner != none && inside[n.rank][n.owner] {
			c.set(v, 0)
		}
	})
	c.each(true, func(v int32, _ *node) {
		if c.g.launchOf(v) != nil {
			c.mark(v, noLaunch)
		}
	})
	for _, s := range c.g.Steps {
		first, at := none, int64(0)
		for _, v := range s.ends {
			if c.g.nodes[v].flags&isGPU == 0 || c.g.launchOf(v) == nil {
				continue
			}
			if l := c.g.launchOf(v); first == none || c.g.ranks[l.rank].spans[l.span].start < at {
				first, at = v, c.g.ranks[l.rank].spans[l.span].start
			}
		}
		if first != none {
			c.set(c.g.launchOf(first).node, int64(f*us))
			c.r.flags[first] &^= noLaunch
		}
	}
	return nil
}

func (c *changing) like(_ string, f float64) error {
	rank := int(f)
	if rank >= len(c.g.ranks) || len(c.g.ranks) < 2 {
		return fmt.Errorf("--like %d: there is no such rank; %d are given", rank, len(c.g.ranks))
	}
	type key struct {
		rank uint16
		id   [2]int64
	}
	streams := make(map[key][]int32)
	keyOf := func(vs []int32) key {
		n := &c.g.nodes[vs[0]]
		track := &c.g.ranks[n.rank].t.Tracks[c.g.work(vs[0]).a.Track]
		return key{n.rank, [2]int64{track.Device, track.Stream}}
	}
	for _, vs := range c.g.streams {
		streams[keyOf(vs)] = vs
	}
	for _, vs := range c.g.streams {
		other := streams[key{uint16(rank), keyOf(vs).id}]
		for i := range min(len(vs), len(other)) {
			a, b := vs[i], other[i]
			if c.g.nodes[a].class == Compute && c.g.name(a) == c.g.name(b) {
				c.set(a, c.g.nodes[b].dur)
			}
		}
	}
	return nil
}
