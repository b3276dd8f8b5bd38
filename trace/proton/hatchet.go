package proton

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

// timeMetric matches the metric of the time of kernels; that of the CPU has another name.
var timeMetric = lazyregexp.New(`^time(?: \((ns|us|ms|s)\))?( \(inc\))?$`)

// A hatchet reads one tree.
type hatchet struct {
	file     string
	in       *json.Decoder
	most     int
	nodes    int
	left     int64 // nodes over the limit
	damaged  int64
	depth    int
	memory   map[string]float64 // by device: bytes/ns of its memory
	inclused map[*node]bool     // nodes whose time includes that of their children
}

// errDeep is the error of a tree that is nested deeper than any program is.
var errDeep = fmt.Errorf("scopes are nested over %d deep", maxDepth)

// ReadTree reads a tree. If it cannot be read to its end, the kernels before that are returned with an issue.
func ReadTree(in io.Reader, name string, limits Limits) (*profile.Tables, error) {
	h := &hatchet{file: name, in: json.NewDecoder(bufio.NewReaderSize(in, 1<<16)), most: limits.Nodes,
		memory: map[string]float64{}, inclused: map[*node]bool{}}
	if h.most <= 0 {
		h.most = defaultNodes
	}
	h.in.UseNumber()
	root := &node{}
	err := h.array(func() error {
		if len(root.children) == 0 {
			top, err := h.node()
			if top != nil {
				root.children = append(root.children, top)
			}
			return err
		}
		return h.devices()
	})
	if len(root.children) == 1 && !root.children[0].isKernel() {
		root = root.children[0] // ROOT itself is no scope
	}
	h.exclusive(root)
	of := root.total()
	out := &profile.Tables{Tool: Tool, Records: int64(h.nodes), Complete: err == nil}
	if err != nil {
		if of.ns == 0 {
			return nil, fmt.Errorf("%s: not a complete tree of Proton: %w; let the program call proton.finalize() and copy the file again", name, err)
		}
		out.Issues = append(out.Issues, cutIssue(name, h.in.InputOffset(), err))
	}
	if of.kernels == 0 && of.ns == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: name, Line: 1},
			Msg: "the tree of Proton has no kernel with a time; the program ended before its kernels, or profiled with another hook: start Proton with proton.start(NAME) before the first kernel"}
	}
	if h.left > 0 {
		out.Issues = append(out.Issues, diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, Count: h.left, First: diag.Pos{File: name},
			Help: "The limit of scopes was reached. The time of those counted here is in that of the scopes around them, without a name. Raise --max-memory to keep them."})
	}
	if h.damaged > 0 {
		out.Issues = append(out.Issues, damagedIssue(name, h.damaged))
	}
	out.List = tables(root, h.bandwidth())
	return out, nil
}

// bandwidth returns that of the memory of the devices in bytes/ns if it is the same for all, or 0.
func (h *hatchet) bandwidth() (rate float64) {
	for _, of := range h.memory {
		if rate != 0 && of != rate {
			return 0
		}
		rate = of
	}
	return rate
}

// array reads an array, whose elements f reads.
func (h *hatchet) array(f func() error) error {
	if err := h.delim('['); err != nil {
		return err
	}
	for h.in.More() {
		if err := f(); err != nil {
			return err
		}
	}
	return h.delim(']')
}

// object reads an object. f reads the value of a key.
func (h *hatchet) object(f func(key string) error) error {
	if err := h.delim('{'); err != nil {
		return err
	}
	for h.in.More() {
		key, err := h.in.Token()
		if err != nil {
			return unexpected(err)
		}
		text, _ := key.(string)
		if err := f(text); err != nil {
			return err
		}
	}
	return h.delim('}')
}

func (h *hatchet) delim(want json.Delim) error {
	t, err := h.in.Token()
	if err != nil {
		return unexpected(err)
	}
	if t != want {
		return fmt.Errorf("%v where %q is wanted", t, want.String())
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skip skips a value.
func (h *hatchet) skip() error {
	var raw json.RawMessage
	return unexpected(h.in.Decode(&raw))
}

// node reads a node with what is below it. It returns it with an error if the file breaks off in it.
func (h *hatchet) node() (*node, error) {
	if h.depth++; h.depth > maxDepth {
		return nil, errDeep
	}
	defer func() { h.depth-- }()
	n := &node{}
	h.nodes++
	err := h.object(func(key string) error {
		switch key {
		case "frame":
			return h.object(func(key string) error {
				if key != "name" {
					return h.skip()
				}
				return unexpected(h.in.Decode(&n.name))
			})
		case "metrics":
			return h.metrics(n)
		case "children":
			return h.array(func() error {
				c, err := h.node()
				switch {
				case c == nil:
				case h.nodes > h.most:
					h.pool(n, c)
				default:
					n.children = append(n.children, c)
				}
				return err
			})
		}
		return h.skip()
	})
	n.name = shortened(n.name)
	return n, err
}

// otherKernels is the name of kernels over the limit.
const otherKernels = "(other kernels)"

// pool adds a child over the limit to one node for all.
func (h *hatchet) pool(n, c *node) {
	h.left++
	i := slices.IndexFunc(n.children, func(o *node) bool { return o.name == otherKernels })
	if i < 0 {
		i = len(n.children)
		n.children = append(n.children, &node{name: otherKernels, device: c.device})
	}
	of := c.total()
	n.children[i].add(&node{ns: of.ns, count: of.kernels})
}

// metrics reads the metrics of a node.
func (h *hatchet) metrics(n *node) error {
	deviceType, deviceID := "", ""
	err := h.object(func(key string) error {
		var value any
		if err := h.in.Decode(&value); err != nil {
			return unexpected(err)
		}
		text, _ := value.(string)
		if number, ok := value.(json.Number); ok {
			text = number.String()
		}
		switch key {
		case "device_type":
			deviceType = shortened(text)
		case "device_id":
			deviceID = shortened(text)
		case "count":
			n.count = int64(h.number(text))
		case "flops", "flops8", "flops16", "flops32", "flops64":
			n.flops, n.stated[ofFLOPs] = n.flops+h.number(text), true
		case "bytes":
			n.bytes, n.stated[ofBytes] = h.number(text), true
		default:
			if m := timeMetric().FindStringSubmatch(key); m != nil {
				n.ns = int64(h.number(text) * map[string]float64{"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[m[1]])
				h.inclused[n] = m[2] != ""
			}
		}
		return nil
	})
	if deviceType != "" || deviceID != "" {
		n.device = strings.TrimSpace(deviceType + " " + deviceID)
	}
	return err
}

// number reads a number; 0 if it is damaged.
func (h *hatchet) number(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > 1e18 {
		h.damaged++
		return 0
	}
	return v
}

// exclusive makes times of nodes that include their children those of the nodes alone.
func (h *hatchet) exclusive(n *node) {
	for _, c := range n.children {
		h.exclusive(c)
	}
	if h.inclused[n] {
		for _, c := range n.children {
			n.ns -= c.total().ns
		}
		n.ns = max(0, n.ns)
	}
}

// devices reads what the file says about devices: by their kind and number.
func (h *hatchet) devices() error {
	type device struct {
		Bus   float64 `json:"bus_width"`
		Clock float64 `json:"memory_clock_rate"`
	}
	return h.object(func(kind string) error {
		var list map[string]device
		var raw json.RawMessage
		if err := h.in.Decode(&raw); err != nil {
			return unexpected(err)
		}
		if json.Unmarshal(raw, &list) != nil {
			h.damaged++
			return nil
		}
		for id, d := range list {
			if rate := 2 * d.Clock * 1e3 * d.Bus / 8 / 1e9; rate > 0 && rate < 1e6 && len(h.memory) < 1<<10 {
				h.memory[kind+" "+id] = rate
			}
		}
		return nil
	})
}
