package comm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/pickle"
	"assay/logs"
)

const sourceFlight = "flight recorder"

// maxDump is the largest dump in JSON that is read. The recorder keeps at most some ten
// thousand calls.
const maxDump = 64 << 20

// A node is a value of a dump, of a pickle or of JSON.
type node interface {
	get(key string) node
	items() []node // the elements of a list, or the alternating keys and values of an object
	text() string
	number() (int64, bool)
	truth() bool
}

// SniffFlight reports whether head begins a dump of PyTorch's flight recorder.
func SniffFlight(head []byte) bool {
	s := string(head[:min(len(head), 64<<10)])
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		return strings.Contains(s, `"pg_config"`) && isDump(s)
	}
	return pickle.Sniff(head) && strings.Contains(s, "pg_config") && strings.Contains(s, "version")
}

// isDump reports whether the object at the start of text has the groups of a dump among its
// top-level keys. A trace also lists the groups of its job, but in a nested object. The calls
// of a dump need not be in text, because the groups of a large job can fill it.
func isDump(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	depth, key := 0, false
	for {
		t, err := d.Token()
		if err != nil {
			return false
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			key = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			key = depth == 1
			continue
		}
		if depth != 1 {
			continue
		}
		if key && t == "pg_config" {
			return true
		}
		key = !key
	}
}

// ReadFlight reads a dump of the flight recorder, in a pickle or JSON. It never calls a
// function that a pickle names. The rank of its groups is the one in the dump, or -1.
func ReadFlight(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	b := logs.NewBuilder(limits)
	head, rest, err := peek(r)
	if err != nil {
		return nil, err
	}
	var root node
	complete := true
	if pickle.Sniff(head) {
		doc, err := pickle.Read(rest, name, pickle.Limits{Memory: cmp.Or(limits.Memory, logs.MaxMemory)})
		damage := (*pickle.DamageError)(nil)
		if err != nil && (doc == nil || !errors.As(err, &damage)) {
			return nil, err
		}
		root, complete = pickled{doc, doc.Root}, doc.Complete && err == nil
	} else {
		text, err := io.ReadAll(io.LimitReader(rest, maxDump+1))
		if err != nil {
			return nil, err
		}
		if len(text) > maxDump {
			return nil, fmt.Errorf("%s: the dump has more than %d MiB", name, maxDump>>20)
		}
		var v any
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		root = decoded{v}
	}
	dump(b, root, diag.Pos{File: name})
	log := b.Log(0, complete)
	if !complete {
		log.Issues = append(log.Issues, diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: name},
			Help: "The dump ends early, so calls of its end are missing. Copy the file again."})
	}
	return log, nil
}

// peek returns the first bytes of r, and a reader of all of r.
func peek(r io.Reader) ([]byte, io.Reader, error) {
	head := make([]byte, 4096)
	n, err := io.ReadFull(r, head)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return head[:n], io.MultiReader(strings.NewReader(string(head[:n])), r), err
}

// dump adds the groups of a dump.
func dump(b *logs.Builder, root node, at diag.Pos) {
	version := root.get("nccl_version").text()
	rank := -1
	if n, ok := root.get("rank").number(); ok {
		rank = int(n)
	}
	groups := map[string]*logs.Group{}
	var order []string
	config := root.get("pg_config").items()
	for i := 0; i+1 < len(config); i += 2 {
		c := config[i+1]
		g := &logs.Group{Source: sourceFlight, Name: cmp.Or(c.get("name").text(), config[i].text()), Desc: c.get("desc").text(), Rank: rank, Place: -1,
			Version: version, LastEnqueued: -1, LastCompleted: -1, Members: ranksOf(c.get("ranks"))}
		g.Size = len(g.Members)
		if _, ok := groups[g.Name]; !ok && len(order) < logs.MaxGroups {
			groups[g.Name] = g
			order = append(order, g.Name)
		}
	}
	status := root.get("pg_status")
	for _, e := range root.get("entries").items() {
		of := e.get("process_group").items()
		if len(of) == 0 {
			continue
		}
		g := groups[of[0].text()]
		if g == nil {
			if len(order) >= logs.MaxGroups {
				continue
			}
			g = &logs.Group{Source: sourceFlight, Name: of[0].text(), Rank: rank, Place: -1, Version: version, LastEnqueued: -1, LastCompleted: -1}
			if len(of) > 1 {
				g.Desc = of[1].text()
			}
			groups[g.Name] = g
			order = append(order, g.Name)
		}
		if id, ok := e.get("pg_id").number(); ok {
			s := status.get(strconv.FormatInt(id, 10))
			if n, ok := s.get("last_enqueued_collective").number(); ok {
				g.LastEnqueued = n
			}
			if n, ok := s.get("last_completed_collective").number(); ok {
				g.LastCompleted = n
			}
		}
		addEntry(g, e)
	}
	b.Record("PyTorch flight recorder", false)
	for _, name := range order {
		g := groups[name]
		slices.SortStableFunc(g.Pending, func(x, y logs.PendingOp) int { return cmp.Compare(x.Seq, y.Seq) })
		b.Group(*g, at)
	}
}

// addEntry adds a recorded call.
func addEntry(g *logs.Group, e node) {
	state := e.get("state").text()
	name := strings.TrimPrefix(e.get("profiling_name").text(), "nccl:")
	seq, _ := e.get("collective_seq_id").number()
	p2p := e.get("is_p2p").truth()
	if p2p {
		seq, _ = e.get("p2p_seq_id").number()
	} else {
		g.LastEnqueued = max(g.LastEnqueued, seq)
	}
	if state == "completed" {
		if !p2p {
			g.LastCompleted = max(g.LastCompleted, seq)
		}
		return
	}
	if len(g.Pending) >= logs.MaxPending {
		g.Dropped++
		return
	}
	op := logs.PendingOp{Op: name, Seq: seq, P2P: p2p, State: state, Created: logs.NoTime, Shape: shapeOf(e)}
	if n, ok := e.get("time_created_ns").number(); ok {
		op.Created = n
	}
	g.Pending = append(g.Pending, op)
}

// shapeOf returns the size and type of the first input of a call.
func shapeOf(e node) string {
	sizes := e.get("input_sizes").items()
	if len(sizes) == 0 {
		return ""
	}
	var parts []string
	for _, n := range sizes[0].items() {
		if v, ok := n.number(); ok && len(parts) < 8 {
			parts = append(parts, strconv.FormatInt(v, 10))
		}
	}
	out := strings.Join(parts, "x")
	if types := e.get("input_dtypes").items(); len(types) > 0 {
		out += " " + types[0].text()
	} else if t := e.get("input_dtypes").text(); t != "" {
		out += " " + t
	}
	return strings.TrimSpace(out)
}

// ranksOf returns the ranks of a group, which is a list or its text.
func ranksOf(n node) (out []int) {
	text := n.text()
	if text == "" {
		for _, r := range n.items() {
			if v, ok := r.number(); ok && len(out) < 1<<16 {
				out = append(out, int(v))
			}
		}
		return out
	}
	for word := range strings.SplitSeq(strings.Trim(text, "[] "), ",") {
		if v, err := strconv.Atoi(strings.TrimSpace(word)); err == nil && len(out) < 1<<16 {
			out = append(out, v)
		}
	}
	return out
}

// pickled is a value of a pickle.
type pickled struct {
	doc *pickle.Doc
	v   pickle.Value
}

func (p pickled) get(key string) node {
	v, _ := p.doc.Lookup(p.v, key)
	return pickled{p.doc, v}
}

func (p pickled) items() (out []node) {
	for _, v := range p.doc.Items(p.v) {
		out = append(out, pickled{p.doc, v})
	}
	return out
}

func (p pickled) text() string          { s, _ := p.doc.Text(p.v); return s }
func (p pickled) number() (int64, bool) { return p.doc.Int(p.v) }
func (p pickled) truth() bool           { v, _ := p.doc.Bool(p.v); return v }

// decoded is a value of JSON.
type decoded struct{ v any }

func (d decoded) get(key string) node {
	m, _ := d.v.(map[string]any)
	return decoded{m[key]}
}

func (d decoded) items() (out []node) {
	switch v := d.v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, decoded{e})
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			out = append(out, decoded{k}, decoded{v[k]})
		}
	}
	return out
}

func (d decoded) text() string {
	switch v := d.v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func (d decoded) number() (int64, bool) {
	n, ok := d.v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

func (d decoded) truth() bool { v, _ := d.v.(bool); return v }
