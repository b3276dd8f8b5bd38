package rocm

import (
	"slices"
	"strconv"
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

	// Of schema 4, whose rows have the numbers of a track and of two times.
	times  map[int64]int64
	tracks map[int64]track

	launched map[int64]launched // by event; only where there are counters
}

// A track is where rows of schema 4 ran.
type track struct{ pid, tid, agent, queue, stream int64 }

// A launched is a launch of a kernel, whose counters come in another table.
type launched struct{ kernel, dur int64 }

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
			pids: map[int64]int64{}, tids: map[int64]int64{}, times: map[int64]int64{}, tracks: map[int64]track{}, launched: map[int64]launched{}}
		r.names()
		r.place(len(suffixes) > 1, known)
		r.work()
		r.host()
		r.count()
	}
}

// newer are the columns of schema 4 for what older ones have in each row.
var newer = []string{"start_id", "end_id", "track_id"}

// span returns the times of a row. From is the number of its first column of schema 4; rows with that schema also say where
// they ran.
func (r *rocpd) span(row *database.Row, from int) (start, end int64, on track, known bool) {
	if row.Null(from) {
		return when(row, 0), when(row, 1), track{}, false
	}
	on, known = r.tracks[row.Num(from+2)]
	return r.times[row.Num(from)], r.times[row.Num(from+1)], on, known
}

// count reads the counters of kernels.
func (r *rocpd) count() {
	if len(r.launched) == 0 {
		return
	}
	names := map[int64]string{}
	r.read("rocpd_info_pmc", []string{"id", "name", "symbol"}, func(row *database.Row) {
		name := cut(string(row.Text(1)))
		if name == "" {
			name = cut(string(row.Text(2)))
		}
		if r.take(len(name) + 64) {
			names[row.Num(0)] = name
		}
	})
	r.read("rocpd_pmc_event", []string{"event_id", "pmc_id", "value"}, func(row *database.Row) {
		if it, ok := r.launched[row.Num(0)]; ok && !row.NotNumber(2) {
			r.counters.count(string(named(r.kernels, it.kernel, "kernel")), r.suffix+strconv.FormatInt(row.Num(0), 10), names[row.Num(1)], row.Float(2), float64(it.dur))
		}
	})
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
	r.read("rocpd_timestamp", []string{"id", "value"}, func(row *database.Row) {
		if r.take(24) {
			r.times[row.Num(0)] = when(row, 1)
		}
	})
	r.read("rocpd_track", []string{"id", "pid", "tid", "agent_id", "queue_id", "stream_id"}, func(row *database.Row) {
		if r.take(64) {
			r.tracks[row.Num(0)] = track{row.Num(1), row.Num(2), row.Num(3), row.Num(4), row.Num(5)}
		}
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
	counting := len(r.db.Columns("rocpd_pmc_event"+r.suffix)) > 0
	r.read("rocpd_kernel_dispatch", append([]string{"start", "end", "pid", "agent_id", "kernel_id", "queue_id", "stream_id", "event_id",
		"workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z", "group_segment_size"}, newer...),
		func(row *database.Row) {
			w := newWork(trace.Kernel)
			var on track
			var newer bool
			if w.start, w.end, on, newer = r.span(row, 15); !newer {
				on = track{pid: row.Num(2), agent: row.Num(3), queue: row.Num(5), stream: row.Num(6)}
			}
			w.pid, w.queue, w.stream = of(r.pids, on.pid), on.queue, on.stream
			w.device = r.gpu(r.agents, r.suffix, on.agent)
			if counting && r.take(48) {
				r.launched[row.Num(7)] = launched{row.Num(4), w.end - w.start}
			}
			w.name = named(r.kernels, row.Num(4), "kernel")
			w.correlation = r.events.of(row.Num(7)).stack
			w.block = [3]int64{row.Num(8), row.Num(9), row.Num(10)}
			w.grid = blocks([3]int64{row.Num(11), row.Num(12), row.Num(13)}, w.block)
			w.shared = row.Num(14)
			r.add(&w)
		})
	r.read("rocpd_memory_copy", append([]string{"start", "end", "pid", "name_id", "dst_agent_id", "src_agent_id", "size", "queue_id", "stream_id", "event_id"}, newer...),
		func(row *database.Row) {
			w := newWork(trace.Memcpy)
			var on track
			var newer bool
			if w.start, w.end, on, newer = r.span(row, 10); !newer {
				on = track{pid: row.Num(2), queue: row.Num(7), stream: row.Num(8)}
			}
			if w.pid, w.stream = of(r.pids, on.pid), on.stream; w.stream == 0 && (newer && on.queue != 0 || !row.Null(7)) {
				w.queue = on.queue
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
	r.read("rocpd_region", append([]string{"start", "end", "pid", "tid", "name_id", "event_id"}, newer...), func(row *database.Row) {
		start, end, on, newer := r.span(row, 6)
		if !newer {
			on = track{pid: row.Num(2), tid: row.Num(3)}
		}
		event := r.events.of(row.Num(5))
		r.capture.host(r.domainOf(string(r.strings[event.category])), named(r.strings, row.Num(4), "string"),
			of(r.pids, on.pid), of(r.tids, on.tid), start, end, event.stack)
	})
}

// of returns what an id means, or the id if that is unknown.
func of(known map[int64]int64, id int64) int64 {
	if n, ok := known[id]; ok {
		return n
	}
	return id
}
