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
	ByJob     Evidence = "job"     // logs have jobs that ran one after the other

	ByPattern Evidence = "pattern" // the user gave a pattern of the paths
	ByNone    Evidence = "none"    // the user stated that all captures are one run
)

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
// if they are alone in it, to the first run. Without a timeline, logs of several jobs of one program that ran
// one after the other are several runs.
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
			all = g.jobs()
			break
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

// jobs returns the runs of captures without a timeline. Jobs of one program that ran one after the other on the
// same ranks are runs. Other captures belong to the only run that their directory has, or else to the first run.
func (g *grouper) jobs() []*ranks {
	runs := []*ranks{{of: map[rankKey]Capture{}}}
	programs := map[string][]*ranks{}
	for i, c := range g.list {
		if c.Job == 0 || slices.Contains(g.out.Copies, i) {
			continue
		}
		one, of := g.alone(i), programs[c.Program]
		if n := slices.IndexFunc(of, func(r *ranks) bool { return r.takes(one) || g.ranWith(r, c) }); n >= 0 {
			of[n].join(one)
		} else {
			of = g.limited(of, one)
		}
		if programs[c.Program] = of; len(of) > 1 && len(of) >= len(runs) {
			runs = of
		}
	}
	if len(runs) > 1 {
		g.because(ByJob)
	}
	var rest []int
	for _, f := range g.order {
		var here []*ranks
		for _, r := range runs {
			if slices.ContainsFunc(f.totals, func(i int) bool { return slices.Contains(r.inputs, i) }) {
				here = append(here, r)
			}
		}
		for _, i := range f.totals {
			switch {
			case slices.ContainsFunc(here, func(r *ranks) bool { return slices.Contains(r.inputs, i) }):
			case len(here) == 1:
				here[0].inputs = append(here[0].inputs, i)
			default:
				rest = append(rest, i)
			}
		}
	}
	runs[0].inputs = append(runs[0].inputs, rest...)
	return runs
}

// ranWith reports whether a capture has the job of a run, or one that ran at the same time.
func (g *grouper) ranWith(r *ranks, c Capture) bool {
	return slices.ContainsFunc(r.inputs, func(i int) bool {
		have := g.list[i]
		return have.Job == c.Job || have.Ran[0] < c.Ran[1] && c.Ran[0] < have.Ran[1]
	})
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
