package rocm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"assay/internal/diag"
	"assay/internal/jsonwalk"
	"assay/internal/profile"
	"assay/trace"
)

// jsonTool is the member that holds everything in the JSON of rocprofv3.
const jsonTool = `"rocprofiler-sdk-tool"`

// SniffJSON reports whether a file that begins with head is the JSON of rocprofv3.
func SniffJSON(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(jsonTool))
}

// ReadJSON reads the JSON of rocprofv3. It lists names before the records that refer to them by number. The
// counters of kernels are nil if there are none.
func ReadJSON(in io.Reader, file string, sel trace.Select) (t *trace.Trace, counters *profile.Tables, err error) {
	c := newCapture(file, sel)
	c.single = true
	r := &jsonReader{capture: c, in: jsonwalk.NewReader(in), kernels: map[int64][]byte{}, agents: map[int64]agent{}, markers: map[int64]string{}, names: map[int64]string{}}
	r.in.Stop = c.out.Full
	err = r.in.Object(func(key string) error {
		if `"`+key+`"` != jsonTool {
			return r.in.Skip()
		}
		return r.in.Array(func() error { return r.in.Object(r.member) })
	})
	if err != nil && c.rows == 0 {
		return nil, nil, fmt.Errorf("%s: not a complete JSON of rocprofv3 (%w); copy the file again", file, err)
	}
	if err != nil {
		c.broken = true
		c.out.Issue(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file, Offset: r.in.Offset()},
			Help: "The file ends early, or it is damaged here. The rest is missing from every total. Copy the file again."}, 1)
	}
	return c.trace(), c.counters.tables(nil), nil
}

// A jsonReader reads the members of one process.
type jsonReader struct {
	*capture
	in      *jsonwalk.Reader
	pid     int64
	kernels map[int64][]byte
	agents  map[int64]agent
	kinds   []jsonKind
	markers map[int64]string // texts of roctx, by correlation
	gpus    int64
	names   map[int64]string // of counters
}

type jsonKind struct {
	Kind       string   `json:"kind"`
	Operations []string `json:"operations"`
}

// member reads a member of a process.
func (r *jsonReader) member(key string) error {
	switch key {
	case "metadata":
		return r.in.Object(r.metadata)
	case "agents":
		return r.in.Array(r.agent)
	case "strings":
		return r.in.Object(r.text)
	case "kernel_symbols":
		return r.in.Array(r.symbol)
	case "buffer_records":
		return r.in.Object(r.records)
	case "counters":
		return r.in.Array(r.counter)
	case "callback_records":
		return r.in.Object(func(key string) error {
			if key != "counter_collection" {
				return r.in.Skip()
			}
			return r.in.Array(r.counted)
		})
	}
	return r.in.Skip()
}

func (r *jsonReader) metadata(key string) error {
	switch key {
	case "pid":
		return r.in.Decode(&r.pid)
	case "node":
		var node struct {
			Hostname string `json:"hostname"`
		}
		err := r.in.Decode(&node)
		if len(node.Hostname) <= 64 {
			r.meta.Host = node.Hostname
		}
		return err
	}
	return r.in.Skip()
}

func (r *jsonReader) text(key string) error {
	switch key {
	case "buffer_records":
		return r.in.Array(func() error {
			var k jsonKind
			err := r.in.Decode(&k)
			if r.take(64 * (len(k.Operations) + 1)) {
				r.kinds = append(r.kinds, k)
			}
			return err
		})
	case "marker_api":
		return r.in.Array(func() error {
			var m struct {
				Key   int64  `json:"key"`
				Value string `json:"value"`
			}
			err := r.in.Decode(&m)
			if r.take(len(m.Value) + 64) {
				r.markers[m.Key] = cut(m.Value)
			}
			return err
		})
	}
	return r.in.Skip()
}

func (r *jsonReader) symbol() error {
	var s struct {
		ID        int64  `json:"kernel_id"`
		Name      string `json:"kernel_name"`
		Formatted string `json:"formatted_kernel_name"`
	}
	err := r.in.Decode(&s)
	if s.Formatted == "" {
		s.Formatted = s.Name
	}
	if r.take(len(s.Formatted) + 64) {
		r.kernels[s.ID] = kernelName([]byte(cut(s.Formatted)))
	}
	return err
}

// counter reads the name of a counter.
func (r *jsonReader) counter() error {
	var c struct {
		ID   handle `json:"id"`
		Name string `json:"name"`
	}
	_, err := r.in.Value(&c)
	if r.take(len(c.Name) + 64) {
		r.names[c.ID.number()] = c.Name
	}
	return err
}

// counted reads the counters of a launch. Each part of the GPU has a value of its own.
func (r *jsonReader) counted() error {
	var it struct {
		Data struct {
			Start    int64 `json:"start_timestamp"`
			End      int64 `json:"end_timestamp"`
			Dispatch struct {
				ID     int64 `json:"dispatch_id"`
				Kernel int64 `json:"kernel_id"`
			} `json:"dispatch_info"`
		} `json:"dispatch_data"`
		Records []struct {
			ID    handle  `json:"counter_id"`
			Value float64 `json:"value"`
		} `json:"records"`
	}
	_, err := r.in.Value(&it)
	r.rows++
	launch := strconv.FormatInt(r.pid, 10) + " " + strconv.FormatInt(it.Data.Dispatch.ID, 10)
	for _, c := range it.Records {
		r.counters.count(string(named(r.kernels, it.Data.Dispatch.Kernel, "kernel")), launch, r.names[c.ID.number()], c.Value, float64(it.Data.End-it.Data.Start))
	}
	return err
}

type handle struct {
	Handle uint64 `json:"handle"`
}

func (h handle) number() int64 { return int64(h.Handle) }

func (r *jsonReader) agent() error {
	var a struct {
		ID      handle `json:"id"`
		Type    int    `json:"type"` // 1 of a CPU, 2 of a GPU
		Index   *int64 `json:"logical_node_type_id"`
		Product string `json:"product_name"`
		Name    string `json:"name"`
		Units   int64  `json:"cu_count"`
		Clock   int64  `json:"max_engine_clk_fcompute"`
	}
	err := r.in.Decode(&a)
	if err != nil || len(r.agents) >= 4096 {
		return err
	}
	if a.Type != 2 {
		r.agents[a.ID.number()] = agent{}
		return nil
	}
	it := agent{isGPU: true, device: r.gpus}
	r.gpus++
	if a.Index != nil && *a.Index >= 0 {
		it.device = *a.Index
	}
	if a.Product == "" {
		a.Product = a.Name
	}
	if a.Product != "" && len(a.Product) <= 256 {
		r.meta.Devices[it.device] = a.Product
	}
	r.meta.Hardware[it.device] = trace.Hardware{SMs: between(a.Units, 1<<16), ClockHz: between(a.Clock, 1<<20) * 1_000_000}
	r.agents[a.ID.number()] = it
	return nil
}

type size struct{ X, Y, Z int64 }

// A record is one event.
type record struct {
	Kind, Operation int
	Thread          int64                    `json:"thread_id"`
	Correlation     struct{ Internal int64 } `json:"correlation_id"`
	Start           int64                    `json:"start_timestamp"`
	End             int64                    `json:"end_timestamp"`
	Stream          handle                   `json:"stream_id"`
	Target          handle                   `json:"dst_agent_id"`
	Source          handle                   `json:"src_agent_id"`
	Bytes           *int64                   `json:"bytes"`
	Dispatch        struct {
		Agent  handle `json:"agent_id"`
		Queue  handle `json:"queue_id"`
		Kernel int64  `json:"kernel_id"`
		LDS    int64  `json:"group_segment_size"`
		Group  size   `json:"workgroup_size"`
		Grid   size   `json:"grid_size"`
	} `json:"dispatch_info"`
}

// records reads the records of one domain.
func (r *jsonReader) records(key string) error {
	each := map[string]func(*record){
		"kernel_dispatch": r.kernel, "memory_copy": r.memcpy, "hip_api": r.call, "hsa_api": r.call, "rccl_api": r.call, "marker_api": r.call,
	}[key]
	if each == nil {
		return r.in.Skip()
	}
	r.table, r.row = key, 0
	return r.in.Array(func() error {
		var it record
		err := r.in.Decode(&it)
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			r.bad("event-damaged", "values of other types")
			if key == "kernel_dispatch" || key == "memory_copy" {
				r.unread()
			}
			err = nil
		} else if err == nil {
			each(&it)
		}
		r.row++
		r.rows++
		return err
	})
}

// operation returns the domain and the name of a record.
func (r *jsonReader) operation(it *record) (kind, name string) {
	if it.Kind < 0 || it.Kind >= len(r.kinds) {
		return "", "(unknown)"
	}
	k := &r.kinds[it.Kind]
	if it.Operation < 0 || it.Operation >= len(k.Operations) {
		return k.Kind, "(unknown)"
	}
	return k.Kind, k.Operations[it.Operation]
}

// stream returns the number of a stream, which is a small number or a handle.
func (r *jsonReader) stream(n int64) int64 {
	if n >= 0 && n < firstQueue {
		return n
	}
	return firstQueue/2 + r.handle(n)
}

func (r *jsonReader) kernel(it *record) {
	w := newWork(trace.Kernel)
	d := &it.Dispatch
	w.start, w.end, w.pid, w.correlation = it.Start, it.End, r.pid, it.Correlation.Internal
	w.device, w.stream, w.queue = r.gpu(r.agents, "", d.Agent.number()), r.stream(it.Stream.number()), d.Queue.number()
	w.name, w.shared = named(r.kernels, d.Kernel, "kernel"), d.LDS
	w.block = [3]int64{d.Group.X, d.Group.Y, d.Group.Z}
	w.grid = blocks([3]int64{d.Grid.X, d.Grid.Y, d.Grid.Z}, w.block)
	r.add(&w)
}

func (r *jsonReader) memcpy(it *record) {
	w := newWork(trace.Memcpy)
	w.start, w.end, w.pid, w.correlation = it.Start, it.End, r.pid, it.Correlation.Internal
	_, name := r.operation(it)
	w.name, w.stream = memcpyName([]byte(name)), r.stream(it.Stream.number())
	w.device = r.copied(r.agents, "", it.Source.number(), it.Target.number(), string(w.name))
	if it.Bytes != nil {
		w.bytes = *it.Bytes
	}
	r.add(&w)
}

func (r *jsonReader) call(it *record) {
	kind, name := r.operation(it)
	d := r.domainOf(kind)
	if text, ok := r.markers[it.Correlation.Internal]; ok && d.kind == trace.Annotation {
		name = text
	}
	r.host(d, []byte(name), r.pid, it.Thread, it.Start, it.End, it.Correlation.Internal)
}
