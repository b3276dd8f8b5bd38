package view

import (
	"maps"
	"path"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// A Run has the captures of one run of a program.
type Run struct {
	Inputs []int // indices into the list of captures, ascending
}

// A Grouping assigns captures to runs.
type Grouping struct {
	Runs []Run
	// Copies are captures that are left out because an earlier one has the same content.
	Copies []int
	// From is the evidence that separated the runs.
	From Evidence
	// Whose has, for each capture, the first capture of the same process: several captures that a process
	// recorded one after the other are of the same GPUs. Cycle has the number of each among these, from 0. The
	// ranks of a run are compared in each cycle.
	Whose, Cycle []int
}

// Evidence is the property by which runs were separated.
type Evidence string

// The kinds of evidence.
const (
	ByNothing Evidence = ""        // there is one run
	ByRank    Evidence = "rank"    // one directory has several captures of a rank
	ByFolder  Evidence = "folder"  // several directories have a capture of the same rank
	ByProcess Evidence = "process" // file names identify the process of a capture

	ByPattern Evidence = "pattern" // the user gave a pattern of the paths
	ByNone    Evidence = "none"    // the user stated that all captures are one run
)

// A Capture has the properties that decide to which run an input belongs.
type Capture struct {
	Path   string
	Rank   int
	SHA256 string
	Kind   Kind
	Run    string   // as stated by the user; "" if unknown
	From   Evidence // origin of Run

	Copy bool // another input has its capture in another form

	Host, Process string // as the capture states them; "" if unknown
	Time          Time
}

// A Kind is the kind of data that an input has about a run.
type Kind uint8

// The kinds of captures.
const (
	OfTimeline Kind = iota // what ran when
	OfMemory               // what was allocated: belongs to the run of its rank's trace
	OfTotals               // counters, tables and profiles: they do not separate runs
)

// Captures returns the captures of the inputs of s, in their order.
func Captures(s *summary.Summary) []Capture {
	out, times := make([]Capture, len(s.Inputs)), timesOf(s)
	for i, in := range s.Inputs {
		out[i] = Capture{Path: in.Path, Rank: in.Rank, SHA256: in.SHA256, Run: in.Run, From: Evidence(in.RunFrom), Copy: in.SameAs != "",
			Host: in.Host, Process: in.Process, Time: times[i]}
	}
	// An input with several kinds of rows has the strongest kind: an input with a timeline
	// is a timeline, even if it has other rows.
	for _, kind := range []Kind{OfTotals, OfMemory, OfTimeline} {
		for _, rows := range summary.Members() {
			if is, decides := kindOf[rows.Name()]; !decides || is != kind {
				continue
			}
			rows.EachInput(s, func(input int) {
				if input >= 0 && input < len(out) {
					out[input].Kind = kind
				}
			})
		}
	}
	for i := range s.Inputs {
		if s.Inputs[i].GraphSource {
			out[i].Kind = OfTotals // not a rank: it belongs to the run of its directory
		}
	}
	// The steps of a log are not a timeline.
	devices := map[int]bool{}
	for _, d := range s.Devices {
		devices[d.Input] = true
	}
	for _, r := range s.Series {
		if r.Input >= 0 && r.Input < len(out) && !devices[r.Input] {
			out[r.Input].Kind = OfTotals
		}
	}
	return out
}

// CopiesUnknown reports whether an input may be a copy of another one that cannot be detected: their sizes
// are equal and the digests, which not every command computes, are missing.
func CopiesUnknown(inputs []summary.Input) bool {
	bySize := make(map[int64]bool) // whether the digests of that size are known
	for _, in := range inputs {
		known, again := bySize[in.Bytes]
		if again && (!known || in.SHA256 == "") {
			return true
		}
		bySize[in.Bytes] = in.SHA256 != ""
	}
	return false
}

// kindOf maps members of the summary to the kind of an input with such rows. Other members do not decide.
// An input without any of these counts as a timeline.
var kindOf = map[string]Kind{
	"tables": OfTotals, "compilations": OfTotals, "flames": OfTotals, "counters": OfTotals, "series": OfTotals, "benchmarks": OfTotals, "groups": OfTotals, "health": OfTotals,
	"snapshots": OfMemory, "memory_timelines": OfMemory,
	"annotations": OfTimeline, "spans": OfTimeline, "steps": OfTimeline, "devices": OfTimeline,
}

// MaxRuns is the maximum number of runs. Captures beyond it belong to the last run, because each run costs
// a pass over all rows.
const MaxRuns = 256

// Runs groups captures into runs of the program.
//
// A run has one capture of each rank and, for a server, one of each stage. A capture of a rank that the run
// already has begins another run, unless the same process wrote both: see [Grouping.Whose]. The captures of
// each directory are grouped first. Groups of different directories are then joined if they share no rank,
// because the ranks of a run may be in several directories. A capture with the content of an earlier one is
// left out: it shows nothing about how runs differ. Totals belong to the first run of their directory or,
// if they are alone in it, to the first run.
//
// If the user has stated the run of every capture, only that counts.
func Runs(list []Capture) Grouping {
	g := group(list)
	g.place(list)
	return g
}

func group(list []Capture) Grouping {
	if len(list) > 0 && !slices.ContainsFunc(list, func(c Capture) bool { return c.Run == "" }) {
		return given(list)
	}
	g := grouper{list: list, dirs: map[string]*folder{}}
	seen := map[string]bool{}
	for i, c := range list {
		if c.Copy || c.SHA256 != "" && seen[c.SHA256] {
			g.out.Copies = append(g.out.Copies, i)
			continue
		}
		seen[c.SHA256] = true
		g.add(i)
	}
	for _, f := range g.order {
		g.addMemory(f)
	}
	g.joinFolders()
	return g.out
}

// given returns the runs that the user stated, in the order of their first captures.
func given(list []Capture) Grouping {
	out, at := Grouping{From: list[0].From}, map[string]int{}
	for i, c := range list {
		n, ok := at[c.Run]
		if !ok {
			n = min(len(out.Runs), MaxRuns-1)
			if n == len(out.Runs) {
				out.Runs = append(out.Runs, Run{})
			}
			at[c.Run] = n
		}
		out.Runs[n].Inputs = append(out.Runs[n].Inputs, i)
	}
	return out
}

type grouper struct {
	list  []Capture
	order []*folder
	dirs  map[string]*folder
	out   Grouping
}

// folder is one directory, with the runs that its captures form on their own.
type folder struct {
	runs   []*ranks
	memory []int
	totals []int
}

// ranks are the captures of one run.
type ranks struct {
	inputs []int
	of     map[rankKey]Capture // the last capture of each rank, kind and stage
}

type rankKey struct {
	rank  int
	kind  Kind
	stage string
}

func (c Capture) key() rankKey { return rankKey{c.Rank, c.Kind, StageOf(c.Path)} }

// add assigns a capture to its directory.
func (g *grouper) add(i int) {
	dir := path.Dir(slashes(g.list[i].Path))
	f := g.dirs[dir]
	if f == nil {
		f = &folder{}
		g.dirs[dir] = f
		g.order = append(g.order, f)
	}
	switch g.list[i].Kind {
	case OfTotals:
		f.totals = append(f.totals, i)
	case OfMemory:
		f.memory = append(f.memory, i)
	default:
		g.separate(f, i)
	}
}

// addMemory assigns the snapshots and memory timelines of a directory. A program writes several of them in one
// run, so all belong to the run of the only trace of their rank; without one, each begins another run.
func (g *grouper) addMemory(f *folder) {
	for _, i := range f.memory {
		var of []*ranks
		for _, r := range f.runs {
			if _, ok := r.of[rankKey{g.list[i].Rank, OfTimeline, ""}]; ok {
				of = append(of, r)
			}
		}
		if len(of) == 1 {
			of[0].join(g.alone(i))
		} else {
			g.separate(f, i)
		}
	}
}

// separate adds a capture to the first run of its directory that has none of its rank, or to another run.
func (g *grouper) separate(f *folder, i int) {
	one := g.alone(i)
	for _, r := range f.runs {
		if r.takes(one) {
			r.join(one)
			return
		}
	}
	if len(f.runs) > 0 {
		g.because(ByRank)
		if process(g.list[i].Path) != "" {
			g.because(ByProcess)
		}
	}
	if len(f.runs) == MaxRuns {
		f.runs[MaxRuns-1].join(one)
		return
	}
	f.runs = append(f.runs, one)
}

func (g *grouper) alone(i int) *ranks {
	c := g.list[i]
	return &ranks{inputs: []int{i}, of: map[rankKey]Capture{c.key(): c}}
}

// because records the evidence that separated runs. The first evidence is kept, except that a process name
// replaces it, because it is stronger.
func (g *grouper) because(e Evidence) {
	if g.out.From == ByNothing || e == ByProcess {
		g.out.From = e
	}
}

// joinFolders joins the runs of different directories. A directory with several runs is never joined with
// another one.
func (g *grouper) joinFolders() {
	var all []*ranks
	for _, f := range g.order {
		var mine *ranks
		switch {
		case len(f.runs) == 1:
			mine = g.joinFolder(&all, f.runs[0])
		case len(f.runs) > 1:
			mine = f.runs[0]
			for _, r := range f.runs {
				all = g.limited(all, r)
			}
		}
		if mine != nil {
			mine.inputs = append(mine.inputs, f.totals...)
			f.totals = nil
		}
	}
	for _, f := range g.order {
		if len(f.totals) == 0 {
			continue
		}
		if len(all) == 0 {
			all = append(all, &ranks{})
		}
		all[0].inputs = append(all[0].inputs, f.totals...)
	}
	for _, r := range all {
		slices.Sort(r.inputs)
		g.out.Runs = append(g.out.Runs, Run{Inputs: r.inputs})
	}
	if len(all) < 2 {
		g.out.From = ByNothing
	}
}

// joinFolder adds the only run of a directory to the first run that has none of its ranks, or appends it as
// a new run. It returns the run that contains it.
func (g *grouper) joinFolder(all *[]*ranks, r *ranks) *ranks {
	for _, have := range *all {
		if have.takes(r) {
			have.join(r)
			return have
		}
	}
	if len(*all) > 0 {
		g.because(ByFolder)
	}
	*all = g.limited(*all, r)
	return (*all)[len(*all)-1]
}

// limited appends a run, or joins it with the last one if there are [MaxRuns] already.
func (g *grouper) limited(all []*ranks, r *ranks) []*ranks {
	if len(all) < MaxRuns {
		return append(all, r)
	}
	all[MaxRuns-1].join(r)
	return all
}

// takes reports whether the captures of more can belong to the same run as those of r, according to their
// ranks and processes.
func (r *ranks) takes(more *ranks) bool {
	for key, c := range more.of {
		if have, ok := r.of[key]; ok && !sameProcess(have, c) && !Halves(have.Path, c.Path) {
			return false
		}
	}
	return true
}

func (r *ranks) join(more *ranks) {
	r.inputs = append(r.inputs, more.inputs...)
	maps.Copy(r.of, more.of)
}

// Halves reports whether two files of a directory are the CPU part and the GPU part of one capture by their names, as
// "host_rank_0.json" and "device_rank_0.json" are.
func Halves(a, b string) bool {
	half := func(file, of string) (rest string, ok bool) {
		if !strings.Contains(file, of) { // most files: nothing is allocated for each pair of them
			return "", false
		}
		file = slashes(file)
		name := path.Base(file)
		for _, by := range []string{"_", "-", "."} {
			if after, ok := strings.CutPrefix(name, of+by); ok {
				return path.Join(path.Dir(file), after), true
			}
			if at := strings.Index(name, by+of+"."); at > 0 {
				return path.Join(path.Dir(file), name[:at]+name[at+len(by+of):]), true
			}
		}
		return "", false
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		host, isHost := half(pair[0], "host")
		device, isDevice := half(pair[1], "device")
		if isHost && isDevice && host == device {
			return true
		}
	}
	return false
}

// workerFile matches the names that PyTorch's tensorboard_trace_handler gives to its
// files: host and process, then the time.
var workerFile = lazyregexp.New(`^(.+_\d+)\.\d{10,}\.pt\.trace\.json(\.gz|\.zst)?$`)

// process returns the process that wrote a file, as its name states it, or "".
func process(file string) string {
	file = slashes(file)
	if !strings.Contains(file, ".pt.trace.json") {
		return ""
	}
	m := workerFile().FindStringSubmatch(path.Base(file))
	if m == nil {
		return ""
	}
	return path.Join(path.Dir(file), m[1])
}

// StageOf returns the stage of the server that a file's name states, or "". SGLang writes a trace per stage
// and names it so: 1757059120.5-TP-0-DECODE.trace.json.gz. The stages of a rank belong to one run.
func StageOf(file string) string {
	for _, packing := range []string{".gz", ".zst"} {
		if plain, ok := strings.CutSuffix(file, packing); ok {
			file = plain
			break
		}
	}
	name, ok := strings.CutSuffix(file, ".trace.json")
	for _, stage := range []string{"EXTEND", "DECODE"} {
		if ok && strings.HasSuffix(name, "-"+stage) {
			return stage
		}
	}
	return ""
}

// A Stage has the captures of one stage of a server, such as prefill or decode.
type Stage struct {
	Name   string // as in the file names: "EXTEND"
	Inputs []int  // indices of the summary's inputs, ascending
}

// Stages returns the stages of a server by name. It returns nil unless every input belongs to a stage and
// there are several stages.
func Stages(s *summary.Summary) (out []Stage) {
	for i, in := range s.Inputs {
		name := StageOf(in.Path)
		if name == "" {
			return nil
		}
		at, ok := slices.BinarySearchFunc(out, name, func(st Stage, name string) int { return strings.Compare(st.Name, name) })
		if !ok {
			out = slices.Insert(out, at, Stage{Name: name})
		}
		out[at].Inputs = append(out[at].Inputs, i)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

func slashes(file string) string { return strings.ReplaceAll(file, `\`, "/") }
