package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"assay/trace"
)

// A process is one process of a rank.
type process struct {
	pid          int64
	text         string // number or name as written in its trace
	name, labels string
	sort         float64
	used         bool // it has events
}

// A thread is a thread whose own number is a text or too large, so that it gets a new one.
type thread struct {
	tid   int64
	named bool
}

type threadKey struct {
	pid int64
	tid string
}

var errTracks = errors.New("the trace has more processes and threads than a timeline can show")

// process returns the process with a number or name.
func (c *copier) process(text []byte) *process {
	if p := c.processes[string(text)]; p != nil {
		return p
	}
	n := int64(len(c.order))
	p := &process{text: string(text), pid: (c.t.ranks+1)*stride + n}
	if n >= stride {
		p.pid = c.t.overflow
		c.t.overflow++
	}
	if n >= mostTracks {
		c.err = errTracks
	}
	c.processes[p.text] = p
	c.order = append(c.order, p)
	return p
}

// thread returns the number of a thread in the timeline. Small numbers stay.
func (c *copier) thread(p *process, text []byte) int64 {
	if len(text) == 0 {
		return 0
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && n >= 0 && n < oddThreads {
		return n
	}
	key := threadKey{p.pid, string(text)}
	th := c.threads[key]
	if th == nil {
		th = &thread{tid: oddThreads + int64(len(c.odd))}
		c.threads[key] = th
		c.odd = append(c.odd, key)
		if len(c.odd) >= mostTracks {
			c.err = errTracks
		}
	}
	return th.tid
}

// isMetadata reports whether the event is the name, label or place of a process, which is
// written at the end, or the name of a thread, which is noted.
func (c *copier) isMetadata(e *trace.Event) bool {
	if e.Phase() != 'M' {
		return false
	}
	args := gjson.GetBytes(e.Raw(), "args")
	p := c.process(e.PID())
	switch string(e.Name()) {
	case "process_name":
		p.name = strings.TrimSpace(args.Get("name").String())
	case "process_labels":
		p.labels = strings.TrimSpace(args.Get("labels").String())
	case "process_sort_index":
		p.sort = args.Get("sort_index").Float()
	case "thread_name":
		key := threadKey{p.pid, string(e.TID())}
		if c.thread(p, e.TID()); c.threads[key] != nil {
			c.threads[key].named = true
		}
		return false
	default:
		return false
	}
	return true
}

// title returns the name of a process in the timeline, such as "rank 3: GPU 3".
func (c *copier) title(p *process) string {
	name := p.name
	if _, err := strconv.Atoi(p.text); name == "" && err == nil {
		name = "process " + p.text
	}
	if strings.HasPrefix(p.labels, "GPU") {
		name = p.labels
	}
	name = cmp.Or(name, p.text, "no process")
	if c.rank.Label == "" {
		return name
	}
	return c.rank.Label + ": " + name
}

// names writes the names and the order of the rank's processes, and the names of threads
// whose own numbers are texts.
func (c *copier) names() {
	list := slices.DeleteFunc(slices.Clone(c.order), func(p *process) bool { return !p.used }) // Kineto names all GPUs of a machine
	slices.SortStableFunc(list, func(a, b *process) int { return cmp.Compare(a.sort, b.sort) })
	titles := map[string]int{}
	for _, p := range list {
		titles[c.title(p)]++
	}
	for i, p := range list {
		title := c.title(p)
		if titles[title] > 1 {
			title += " (" + p.text + ")"
		}
		c.label(p.pid, 0, "process_name", `"name": `+c.t.texts.quoted(title))
		if p.labels != "" {
			c.label(p.pid, 0, "process_labels", `"labels": `+c.t.texts.quoted(p.labels))
		}
		c.label(p.pid, 0, "process_sort_index", fmt.Sprintf(`"sort_index": %d`, (c.t.ranks+1)*stride+int64(min(i, stride-1))))
	}
	for _, key := range c.odd {
		if th := c.threads[key]; !th.named {
			c.label(key.pid, th.tid, "thread_name", `"name": `+c.t.texts.quoted(key.tid))
		}
	}
}

// label writes an event of metadata.
func (c *copier) label(pid, tid int64, name, arg string) {
	c.t.write(fmt.Appendf(c.t.begin(), `{"ph": "M", "name": %q, "pid": %d, "tid": %d, "ts": 0, "args": {%s}}`, name, pid, tid, arg))
}
