package trace

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"assay/internal/diag"
)

// Meta is the information about a trace outside its events.
type Meta struct {
	Kineto bool   // the trace has members that only PyTorch's profiler writes
	Tool   string // another profiler whose GPU work was recognised by names: one of the Tools

	// WithoutCalls says why no call that launched work is recorded, and what records it, for a form that has none; else "".
	WithoutCalls string
	Devices      map[int64]string // names of devices by ordinal
	Capacity     map[int64]int64  // bytes of memory of devices by ordinal
	Hardware     map[int64]Hardware
	Rank         *int // of the process in its job
	WorldSize    *int
	// DeviceRanks has the ranks of devices by ordinal. It is set if "assay convert" joined the
	// traces of several ranks to this timeline.
	DeviceRanks map[int64]int
	CommRank    *int   // of the process in its largest communicator, if the trace has no Rank
	BaseTime    *int64 // ns, to be added to every time to get Unix time
	RecordEnd   *int64 // ns on the clock of the trace: when the profiler stopped recording

	Host   string         // name of the machine; "" if the trace has none
	Groups []ProcessGroup // of the job

	// Recorder has the profiler's versions and settings: whether it recorded
	// shapes, stacks, modules and memory. Keys and values are kept as written.
	Recorder map[string]string

	// APINames has the full names of calls with shortened names. Nsight appends
	// the version of the interface, as in cudaLaunchKernel_v7000.
	APINames map[string]string
	Excerpt  *Excerpt // if the file is a part of a capture that "assay trim" wrote
	NVTXOps  bool     // operators were NVTX ranges; their sequence numbers are one too high
}

// A ProcessGroup is a group of ranks of the job, as its profiler lists it.
type ProcessGroup struct {
	Name, Description string
	Size              int
}

// metadata collects the members of the top-level object from which Meta is
// made.
type metadata struct{ raw map[string][]byte }

// kinetoKeys are the members that are kept. Only Kineto writes them, except
// displayTimeUnit.
var kinetoKeys = map[string]bool{
	"schemaVersion":       true,
	"deviceProperties":    true,
	"distributedInfo":     true,
	"baseTimeNanoseconds": true,
	"host_name":           true,

	"cupti_version":        true,
	"cuda_runtime_version": true,
	"cuda_driver_version":  true,
	"roctracer_version":    true,
	"hip_runtime_version":  true,
	"hip_driver_version":   true,
	"record_shapes":        true,
	"with_stack":           true,
	"with_modules":         true,
	"with_flops":           true,
	"profile_memory":       true,
}

func newMetadata() *metadata { return &metadata{raw: make(map[string][]byte)} }

func (m *metadata) wants(key string) bool {
	return kinetoKeys[key] || key == joined || key == windowMember
}

// joined is the member in which "assay convert" lists the ranks of a timeline.
const joined = "assayTimeline"

// put keeps a copy of a member. A second member of the same name replaces the
// first, as in most JSON readers.
func (m *metadata) put(key string, raw []byte) { m.raw[key] = append([]byte(nil), raw...) }

func (m *metadata) decode() Meta {
	others := len(m.raw)
	for _, ours := range []string{joined, windowMember} {
		if m.raw[ours] != nil {
			others--
		}
	}
	out := Meta{Kineto: others > 0, Devices: make(map[int64]string), Capacity: make(map[int64]int64),
		Hardware: make(map[int64]Hardware)}
	const most = 4096
	gjson.ParseBytes(m.raw["deviceProperties"]).ForEach(func(_, d gjson.Result) bool {
		id := d.Get("id").Int()
		out.Devices[id] = d.Get("name").String()
		if n := d.Get("totalGlobalMem"); n.Type == gjson.Number && n.Int() > 0 {
			out.Capacity[id] = n.Int()
		}
		if h := hardwareOf(d); h != (Hardware{}) {
			out.Hardware[id] = h
		}
		return len(out.Devices) < most
	})
	if out.Excerpt = excerptOf(m.raw[windowMember]); out.Excerpt != nil && out.Excerpt.From != "" {
		out.Kineto = false // "assay convert" wrote it, with the members in which Kineto lists devices
	}
	info := gjson.ParseBytes(m.raw["distributedInfo"])
	out.Rank, _ = optionalInt(info.Get("rank"), maxRank)
	out.WorldSize, _ = optionalInt(info.Get("world_size"), maxRank+1)
	out.Groups = groupsOf(info.Get("pg_config"))
	out.DeviceRanks = deviceRanks(gjson.ParseBytes(m.raw[joined]))
	if host := gjson.ParseBytes(m.raw["host_name"]); host.Type == gjson.String && len(host.Str) <= maxSetting {
		out.Host = host.String()
	}
	if base := gjson.ParseBytes(m.raw["baseTimeNanoseconds"]); base.Type == gjson.Number {
		ns := base.Int()
		out.BaseTime = &ns
	}
	for key := range kinetoKeys {
		if v := gjson.ParseBytes(m.raw[key]); v.Type == gjson.Number && key != "baseTimeNanoseconds" && len(v.Raw) <= maxSetting {
			if out.Recorder == nil {
				out.Recorder = make(map[string]string)
			}
			out.Recorder[key] = v.Raw
		}
	}
	return out
}

// groupsOf returns the process groups in a list, at most maxGroups.
func groupsOf(list gjson.Result) (out []ProcessGroup) {
	const maxGroups = 256
	if !list.IsArray() {
		return nil
	}
	list.ForEach(func(_, g gjson.Result) bool {
		name, desc := g.Get("pg_name").String(), g.Get("pg_desc").String()
		if size := g.Get("pg_size"); name != "" && len(name) <= maxSetting && len(desc) <= maxSetting && size.Num >= 0 && size.Num <= maxRank {
			out = append(out, ProcessGroup{Name: strings.Clone(name), Description: strings.Clone(desc), Size: int(size.Num)})
		}
		return len(out) < maxGroups
	})
	return out
}

// deviceRanks returns the ranks of the devices that a joined timeline lists. It returns nil
// if there is one rank, or if a device has two ranks.
func deviceRanks(list gjson.Result) map[int64]int {
	const most = 1 << 16
	if !list.IsArray() {
		return nil
	}
	out, ranks, usable := map[int64]int{}, map[int]bool{}, true
	list.ForEach(func(_, m gjson.Result) bool {
		rank, ok := optionalInt(m.Get("rank"), maxRank)
		usable = ok && rank != nil
		m.Get("devices").ForEach(func(_, d gjson.Result) bool {
			_, known := out[d.Int()]
			if usable = usable && d.Type == gjson.Number && !known && len(out) < most; usable {
				out[d.Int()] = *rank
				ranks[*rank] = true
			}
			return usable
		})
		return usable
	})
	if !usable || len(ranks) < 2 {
		return nil
	}
	return out
}

// maxSetting is the maximum length of a profiler setting in bytes.
const maxSetting = 64

// maxRank is far above the number of ranks of any job.
const maxRank = 1 << 24

// optionalInt returns the number of a rank or of ranks, up to most. It returns nil if
// there is none or if it is not usable, and reports whether it is usable or absent.
func optionalInt(r gjson.Result, most int) (*int, bool) {
	if r.Type == gjson.Null {
		return nil, true
	}
	n := int(r.Num)
	if r.Type != gjson.Number || !(r.Num >= 0 && r.Num <= float64(most)) || float64(n) != r.Num {
		return nil, false
	}
	return &n, true
}

// checkRank adds an issue if the rank of the trace is not the number of a process of
// its job.
func (m *metadata) checkRank(issues *diag.Ledger, file string) {
	info := gjson.ParseBytes(m.raw["distributedInfo"])
	rank, usable := optionalInt(info.Get("rank"), maxRank)
	at := diag.Pos{File: file, Path: "distributedInfo.rank"}
	if !usable {
		issues.Add(diag.Issue{Code: codeRank, Severity: diag.Suspect, First: at,
			Help: fmt.Sprintf("The rank of the trace is %.40s, which is not a rank. The rank of the file name counts, or 0. Name the file by its rank, as in rank3.json.",
				info.Get("rank").Raw)})
		return
	}
	size, usable := optionalInt(info.Get("world_size"), maxRank+1)
	if rank != nil && usable && size != nil && *rank >= *size {
		issues.Add(diag.Issue{Code: codeRank, Severity: diag.Suspect, First: at,
			Help: fmt.Sprintf("The rank of the trace is %d, but its job has %d ranks, so one of the numbers is wrong. The rank was taken as it is. Use the file that the profiler wrote.",
				*rank, *size)})
	}
}

// codeRank is the issue code of a rank that no process of the job has.
const codeRank = "rank-implausible"
