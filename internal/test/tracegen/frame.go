package tracegen

import (
	"strconv"
	"strings"
)

// header writes the part of the file before the events.
func (g *generator) header() {
	if g.dialect.Layout == Array {
		g.open('[')
		return
	}
	g.open('{')
	if g.dialect.Era != Era2022 {
		g.member().int("schemaVersion", 1)
		if !g.sc.CPUOnly {
			g.deviceProperties()
			g.versions()
		}
	}
	g.distributed()
	g.flags()
	if g.dialect.Era != Era2022 && !g.dialect.BaseLast {
		g.timeBase()
	}
	g.br()
	g.array("traceEvents")
}

// member starts a new line of the outermost object.
func (g *generator) member() *generator {
	g.br()
	return g
}

func (g *generator) timeBase() {
	g.member().str("displayTimeUnit", "ms")
	if g.dialect.Era == Modern {
		g.member().int("baseTimeNanoseconds", g.base)
	}
}

// deviceMemory is the memory of a device, in bytes.
const deviceMemory = 85_017_755_648

func (g *generator) deviceProperties() {
	g.br()
	g.array("deviceProperties")
	warp, multiprocessors := int64(32), int64(132)
	if g.dialect.Vendor == ROCm {
		warp, multiprocessors = 64, 304
	}
	for _, d := range g.devices {
		g.br()
		g.next()
		g.open('{')
		g.int("id", int64(d.Ordinal))
		g.str("name", d.Name)
		g.int("totalGlobalMem", deviceMemory)
		g.int("computeMajor", 9)
		g.int("computeMinor", 0)
		g.int("maxThreadsPerBlock", 1024)
		g.int("maxThreadsPerMultiprocessor", 2048)
		g.int("regsPerBlock", 65536)
		g.int("warpSize", warp)
		g.int("sharedMemPerBlock", 49152)
		g.int("numSms", multiprocessors)
		g.close('}')
	}
	g.br()
	g.close(']')
}

func (g *generator) versions() {
	if g.dialect.Vendor == ROCm {
		g.member().raw("roctracer_version", "4.1")
		g.member().int("hip_runtime_version", 60_443_483)
		g.member().int("hip_driver_version", 60_443_483)
		return
	}
	if g.dialect.Era <= Era2024 {
		g.member().int("cupti_version", 22)
		g.member().int("cuda_runtime_version", 12_040)
		g.member().int("cuda_driver_version", 12_040)
	}
}

func (g *generator) distributed() {
	g.br()
	g.object("distributedInfo")
	if g.sc.Ranks > 1 {
		g.str("backend", "nccl")
	}
	g.int("rank", int64(g.rank))
	if g.sc.Ranks > 1 {
		g.int("world_size", int64(g.sc.Ranks))
	}
	if g.sc.Ranks > 1 && g.dialect.Era == Modern {
		g.int("pg_count", 1)
		g.array("pg_config")
		g.next()
		g.open('{')
		g.str("pg_name", "0")
		g.str("pg_desc", "default_pg")
		g.str("backend_config", "cuda:nccl")
		g.int("pg_size", int64(g.sc.Ranks))
		g.array("ranks")
		for r := range g.sc.Ranks {
			g.next()
			g.buf = strconv.AppendInt(g.buf, int64(r), 10)
		}
		g.close(']')
		g.close('}')
		g.close(']')
		g.str("nccl_version", "2.21.5")
	}
	g.close('}')
}

// ranksText returns the ranks as in a kernel's arguments: text, truncated after
// thirty ranks.
func ranksText(ranks int) string {
	var b strings.Builder
	b.WriteByte('[')
	for r := range ranks {
		if r > 0 {
			b.WriteString(", ")
		}
		if r == 30 {
			b.WriteString("...")
			break
		}
		b.WriteString(strconv.Itoa(r))
	}
	b.WriteByte(']')
	return b.String()
}

// flags writes the options of the profiler. Like Kineto, it omits options that
// are off.
func (g *generator) flags() {
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"record_shapes", g.dialect.Shapes},
		{"profile_memory", g.dialect.Memory},
		{"with_stack", g.dialect.Stack},
		{"with_modules", g.dialect.Stack},
	} {
		if f.on {
			g.member().int(f.name, 1)
		}
	}
}

// footer writes the events about the trace itself and the rest of the file.
func (g *generator) footer() {
	g.processes()
	span := g.now - g.begin
	g.start()
	g.str("ph", "X")
	g.str("cat", "Trace")
	g.time("ts", g.begin)
	g.time("dur", span)
	g.br()
	g.str("pid", "Spans")
	g.str("tid", "PyTorch Profiler")
	g.br()
	g.str("name", "PyTorch Profiler (0)")
	g.args()
	g.int("Op count", 0)
	g.endArgs()
	g.instant("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", g.begin)
	g.instant("Record Window End", "", "", g.now+g.sc.LagNS)
	g.br()
	g.close(']')
	if g.dialect.Layout == Array {
		g.buf = append(g.buf, '\n')
		return
	}
	g.member().str("traceName", g.sc.Name+".json")
	if g.dialect.Era != Era2022 && g.dialect.BaseLast {
		g.timeBase()
	}
	g.br()
	g.close('}')
	g.buf = append(g.buf, '\n')
}

// processes names the processes and threads.
func (g *generator) processes() {
	host := track{pid: g.pid, tid: 0}
	g.metadata("process_name", host, g.begin, "name", "python", 0)
	g.metadata("process_labels", host, g.begin, "labels", "CPU", 0)
	g.metadata("process_sort_index", host, g.begin, "sort_index", "", g.pid)
	for _, d := range g.devices {
		for _, backward := range []bool{false, true} {
			at := g.thread(d, backward)
			name := "thread " + strconv.FormatInt(at.tid, 10)
			if backward {
				name += " (pt_autograd_" + strconv.Itoa(d.index) + ")"
			} else {
				name += " (python)"
			}
			g.metadata("thread_name", at, g.begin, "name", name, 0)
			g.metadata("thread_sort_index", at, g.begin, "sort_index", "", at.tid)
		}
		if g.sc.CPUOnly {
			continue
		}
		ordinal := int64(d.Ordinal)
		at := track{pid: ordinal, tid: 0}
		g.metadata("process_name", at, g.begin, "name", "python", 0)
		g.metadata("process_labels", at, g.begin, "labels", "GPU "+strconv.Itoa(d.Ordinal), 0)
		g.metadata("process_sort_index", at, g.begin, "sort_index", "", 5_000_000+ordinal)
		for _, stream := range d.streams() {
			at := track{pid: ordinal, tid: int64(stream)}
			g.metadata("thread_name", at, g.begin, "name", "stream "+strconv.Itoa(stream)+" ", 0)
			g.metadata("thread_sort_index", at, g.begin, "sort_index", "", int64(stream))
		}
	}
}
