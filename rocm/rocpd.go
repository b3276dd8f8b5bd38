package rocm

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"assay/internal/database"
	"assay/trace"
)

// A rocpd is one process of a database of rocprofv3. Its tables have a suffix, the id of the process's capture. The views
// of the database are not used: they are code, and leave out rows whose names are null.
type rocpd struct {
	*capture
	db     *database.Database
	suffix string

	strings    map[int64][]byte
	kernels    map[int64][]byte
	agents     map[int64]agent
	pids, tids map[int64]int64
	events     links
}

func readRocpd(c *capture, db *database.Database) {
	var suffixes []string
	for _, table := range db.Tables() {
		for _, prefix := range []string{"rocpd_kernel_dispatch", "rocpd_region"} {
			if suffix, ok := strings.CutPrefix(table, prefix); ok && (suffix == "" || suffix[0] == '_') && !slices.Contains(suffixes, suffix) {
				suffixes = append(suffixes, suffix)
			}
		}
	}
	slices.Sort(suffixes)
	known := map[string]int64{} // devices by their place in the machine
	for _, suffix := range suffixes {
		r := &rocpd{capture: c, db: db, suffix: suffix, strings: map[int64][]byte{}, kernels: map[int64][]byte{}, agents: map[int64]agent{},
			pids: map[int64]int64{}, tids: map[int64]int64{}}
		r.names()
		r.place(len(suffixes) > 1, known)
		r.work()
		r.host()
	}
}

// read reads a table of the process.
func (r *rocpd) read(table string, columns []string, each func(*database.Row)) {
	r.scan(r.db, table+r.suffix, columns, each)
}

// names reads what numbers of other tables mean.
func (r *rocpd) names() {
	keep := func(into map[int64][]byte, id int64, text []byte) {
		if r.take(len(text) + 64) {
			into[id] = []byte(cut(string(text)))
		}
	}
	r.read("rocpd_string", []string{"id", "string"}, func(row *database.Row) { keep(r.strings, row.Num(0), row.Text(1)) })
	r.read("rocpd_info_kernel_symbol", []string{"id", "display_name", "kernel_name"}, func(row *database.Row) {
		name := row.Text(1)
		if len(name) == 0 {
			name = row.Text(2)
		}
		keep(r.kernels, row.Num(0), kernelName(name))
	})
	r.read("rocpd_event", []string{"id", "stack_id", "correlation_id", "category_id"}, func(row *database.Row) {
		stack := row.Num(1)
		if stack == 0 {
			stack = row.Num(2)
		}
		if r.take(24) {
			r.events.add(row.Num(0), link{stack, row.Num(3)})
		}
	})
}

// place reads where the process ran: its machine, its ranks and its GPUs. Several processes of a merged file may use one
// GPU; it has a place in the machine then.
func (r *rocpd) place(merged bool, known map[string]int64) {
	r.read("rocpd_info_process", []string{"id", "pid", "environment"}, func(row *database.Row) {
		r.pids[row.Num(0)] = row.Num(1)
		if !merged {
			r.rank(row.Text(2))
		}
	})
	r.read("rocpd_info_thread", []string{"id", "tid"}, func(row *database.Row) { r.tids[row.Num(0)] = row.Num(1) })
	host := ""
	r.read("rocpd_info_node", []string{"hostname"}, func(row *database.Row) { host = string(row.Text(0)) })
	if len(host) <= 64 && (r.meta.Host == "" || r.meta.Host == host) {
		r.meta.Host = host
	}
	r.read("rocpd_info_agent", []string{"id", "type", "type_index", "product_name", "name", "extdata"}, func(row *database.Row) {
		a := agent{isGPU: strings.EqualFold(string(row.Text(1)), "GPU"), device: row.Num(2)}
		if a.isGPU {
			facts := gjson.ParseBytes(row.Text(5))
			if at := facts.Get("location_id"); merged {
				key := host + " " + at.Raw + " " + facts.Get("domain").Raw
				if !at.Exists() {
					key = r.suffix + " " + string(row.Text(2))
				}
				n, ok := known[key]
				if !ok {
					n = int64(len(known))
					known[key] = n
				}
				a.device = n
			}
			name := string(row.Text(3))
			if name == "" {
				name = string(row.Text(4))
			}
			r.device(a.device, name, facts)
		}
		r.agents[row.Num(0)] = a
	})
}

// device takes what an agent says about a GPU.
func (c *capture) device(n int64, name string, facts gjson.Result) {
	if len(c.meta.Devices) >= 4096 {
		return
	}
	if name != "" && len(name) <= 256 {
		c.meta.Devices[n] = name
	}
	h := c.meta.Hardware[n]
	h.SMs = between(facts.Get("cu_count").Int(), 1<<16)
	h.ClockHz = between(facts.Get("max_engine_clk_fcompute").Int(), 1<<20) * 1_000_000
	c.meta.Hardware[n] = h
}

// rankVariables are the variables of the environment that have the rank of a process and the number of ranks, those of the
// launcher nearest to the program first.
var rankVariables = [][2]string{
	{"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"},
}

// rank takes the rank of the process from its environment. Nothing else of the environment is kept.
func (c *capture) rank(environment []byte) {
	env := gjson.ParseBytes(environment)
	for _, names := range rankVariables {
		rank := number(env.Get(names[0]).String(), -1)
		if rank < 0 || rank > 1<<24 {
			continue
		}
		n := int(rank)
		c.meta.Rank = &n
		if size := number(env.Get(names[1]).String(), -1); size > rank && size <= 1<<24 {
			of := int(size)
			c.meta.WorldSize = &of
		}
		return
	}
}

// work reads kernels and copies.
func (r *rocpd) work() {
	r.read("rocpd_kernel_dispatch", []string{"start", "end", "pid", "agent_id", "kernel_id", "queue_id", "stream_id", "event_id",
		"workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z", "group_segment_size"},
		func(row *database.Row) {
			w := newWork(trace.Kernel)
			w.start, w.end, w.pid, w.queue, w.stream = when(row, 0), when(row, 1), of(r.pids, row.Num(2)), row.Num(5), row.Num(6)
			w.device = r.gpu(r.agents, r.suffix, row.Num(3))
			w.name = named(r.kernels, row.Num(4), "kernel")
			w.correlation = r.events.of(row.Num(7)).stack
			w.block = [3]int64{row.Num(8), row.Num(9), row.Num(10)}
			w.grid = blocks([3]int64{row.Num(11), row.Num(12), row.Num(13)}, w.block)
			w.shared = row.Num(14)
			r.add(&w)
		})
	r.read("rocpd_memory_copy", []string{"start", "end", "pid", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id", "event_id"},
		func(row *database.Row) {
			w := newWork(trace.Memcpy)
			w.start, w.end, w.pid, w.stream = when(row, 0), when(row, 1), of(r.pids, row.Num(2)), row.Num(8)
			if w.stream == 0 && !row.Null(7) {
				w.queue = row.Num(7)
			}
			w.name = memcpyName(r.strings[row.Num(3)])
			w.device = r.copied(r.agents, r.suffix, row.Num(5), row.Num(4), string(w.name))
			if !row.Null(6) {
				w.bytes = row.Num(6)
			}
			w.correlation = r.events.of(row.Num(9)).stack
			r.add(&w)
		})
}

// host reads calls and ranges.
func (r *rocpd) host() {
	r.read("rocpd_region", []string{"start", "end", "pid", "tid", "name_id", "event_id"}, func(row *database.Row) {
		event := r.events.of(row.Num(5))
		r.capture.host(r.domainOf(string(r.strings[event.category])), named(r.strings, row.Num(4), "string"),
			of(r.pids, row.Num(2)), of(r.tids, row.Num(3)), when(row, 0), when(row, 1), event.stack)
	})
}

// of returns what an id means, or the id if that is unknown.
func of(known map[int64]int64, id int64) int64 {
	if n, ok := known[id]; ok {
		return n
	}
	return id
}
