// Package rankgen writes runs of several ranks as Kineto traces, whose communication
// is known in closed form.
//
// A [Job] is a program of kernels and collectives on every rank. A rank arrives at a
// collective when its earlier work is over, and all leave it when the last has arrived
// and the transfer is over. The [Truth] is computed from the arrivals and transfers
// that the program states, and never from the files. The scenarios are in [Scenarios];
// "go run ./internal/test/gen ranks" writes them to files.
package rankgen

import "fmt"

// An Era is a period of what PyTorch's profiler writes about collectives.
type Era uint8

// The eras.
const (
	// Era2026 has arguments on kernels, with "Seq" and "Comms Id".
	Era2026 Era = iota
	// Era2024 has arguments on kernels, without numbers.
	Era2024
	// Era2022 has whole microseconds, and only the inputs of record_param_comms: the
	// number, and the group as a pointer that differs in every process.
	Era2022
)

// unit is the resolution of the era's times in ns.
func (e Era) unit() int64 {
	if e == Era2022 {
		return 1000
	}
	return 1
}

// A Job is a run under construction. Methods panic on a program that cannot run.
type Job struct {
	Era Era
	// BaseTime is the Unix time in ns at which the job begins.
	BaseTime int64
	// PerNode is how many GPUs each machine has, which the traces then state with its name.
	// It is 0 if they do not.
	PerNode int
	// Undescribed says that the traces have no descriptions of process groups.
	Undescribed bool

	ranks     []*rank
	comms     []*Comm
	instances []*instance
	seed      uint64
}

// NewJob returns a job without ranks.
func NewJob(era Era) *Job { return &Job{Era: era, BaseTime: 1_751_410_836_000_000_000} }

// A rank is one process with one GPU.
type rank struct {
	place, number, world int
	folder               string
	clock                int64 // by which its clock is ahead, ns

	host    int64           // the time up to which the host is busy
	streams map[int64]int64 // the time up to which each stream is busy
	events  []event
	comms   []*Comm
	graph   *launch // that the following kernels are part of

	correlation, external int64
	begun                 int // collectives launched
	skip                  int // how many of them were launched before the capture began
}

// A launch is a call that launches kernels.
type launch struct{ start, end, correlation int64 }

// World adds n ranks, which are numbered from 0, and returns their places in the job.
// Their files are in a folder, or in none.
func (j *Job) World(n int, folder string) []int {
	var places []int
	for i := range n {
		r := &rank{place: len(j.ranks), number: i, world: n, folder: folder, streams: map[int64]int64{}, correlation: 1000, external: 1}
		places = append(places, r.place)
		j.ranks = append(j.ranks, r)
	}
	return places
}

// Clock sets by how many ns the clock of a rank is ahead.
func (j *Job) Clock(place int, ns int64) { j.ranks[place].clock = ns / j.Era.unit() * j.Era.unit() }

// Late makes the capture of a rank begin after its first n collectives.
func (j *Job) Late(place, n int) { j.ranks[place].skip = n }

// Lengths of calls and delays, in ns.
const (
	callTime     = 5_000
	launchDelay  = 2_000
	hostOverhead = 1_000
)

// Host keeps the host of a rank busy inside an annotation.
func (j *Job) Host(place int, name string, ns int64) {
	r := j.ranks[place]
	ns = ns / j.Era.unit() * j.Era.unit()
	r.add(event{kind: annotation, name: name, start: r.host, dur: ns})
	r.host += ns
}

// Sync makes the host of a rank wait for its GPU.
func (j *Job) Sync(place int) {
	r := j.ranks[place]
	end := r.host + callTime
	for _, busy := range r.streams {
		end = max(end, busy+j.Era.unit())
	}
	r.correlation++
	r.add(event{kind: call, name: "cudaDeviceSynchronize", start: r.host, dur: end - r.host, correlation: r.correlation})
	r.host = end
}

// Step runs body inside the annotation of a step on all ranks.
func (j *Job) Step(n int, body func()) {
	begin := make([]int64, len(j.ranks))
	for i, r := range j.ranks {
		begin[i] = r.host
	}
	body()
	for i, r := range j.ranks {
		j.Sync(i)
		r.add(event{kind: annotation, name: fmt.Sprintf("ProfilerStep#%d", n), start: begin[i], dur: r.host - begin[i]})
	}
}

// Graph makes one launch of a captured graph run the kernels that body launches on a
// rank.
func (j *Job) Graph(places []int, body func()) {
	for _, p := range places {
		r := j.ranks[p]
		r.graph = r.launch("cudaGraphLaunch")
	}
	body()
	for _, p := range places {
		j.ranks[p].graph = nil
	}
}

// computeStream is the stream of kernels that do not communicate.
const computeStream = 7

// Compute runs a kernel after all earlier work of a rank.
func (j *Job) Compute(place int, name string, ns int64) {
	r := j.ranks[place]
	ns = ns / j.Era.unit() * j.Era.unit()
	k := event{kind: kernel, name: name, stream: computeStream, dur: ns}
	l := r.graph
	if l == nil {
		op := r.open("aten::mm")
		l = r.launch("cudaLaunchKernel")
		k.external = r.close(op)
	} else {
		k.inGraph = true
	}
	k.start, k.correlation = max(r.streams[computeStream], l.end+launchDelay), l.correlation
	r.streams[computeStream] = k.start + ns
	r.add(k)
}

func (r *rank) add(e event) {
	e.after = r.begun
	r.events = append(r.events, e)
}

// launch makes a call.
func (r *rank) launch(name string) *launch {
	r.correlation++
	l := &launch{r.host, r.host + callTime, r.correlation}
	r.host += callTime
	r.add(event{kind: call, name: name, start: l.start, dur: callTime, correlation: l.correlation})
	return l
}

// open begins an operator, and close ends it. Its number is the External id of what it
// launches.
func (r *rank) open(name string) int {
	r.external++
	r.add(event{kind: operator, name: name, start: r.host, external: r.external})
	r.host += hostOverhead
	return len(r.events) - 1
}

func (r *rank) close(at int) (external int64) {
	r.host += hostOverhead
	r.events[at].dur = r.host - r.events[at].start
	return r.events[at].external
}

// Random returns a number from 0 to under most. It is the same in every run.
func (j *Job) Random(most int64) int64 {
	j.seed += 0x9e3779b97f4a7c15
	z := j.seed
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int64((z ^ z>>31) % uint64(most))
}
