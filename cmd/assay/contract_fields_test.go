package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/compare"
	"assay/internal/test"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/counters"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/timeline"
	"assay/summary"
)

// jsonTypes are the types of the JSON of a summary and of a comparison, by the member that has them.
var jsonTypes = []struct {
	member string
	of     any
}{
	{"", summary.Summary{}}, {"verdict", finding.Verdict{}}, {"findings", finding.Finding{}}, {"tree", finding.Node{}}, {"sides", counters.Side{}},
	{"step_groups", timeline.StepGroup{}}, {"phase_verdicts", timeline.PhaseVerdict{}}, {"stage_verdicts", judge.StageVerdict{}},
	{"stacks", rule.Stack{}}, {"next_sources", rule.Source{}}, {"comparison", compare.Comparison{}},
}

// fieldWords says what fields are whose source has no comment, because their names and types say it there.
var fieldWords = func() map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(`
inputs.process_groups.description: as PyTorch has it, such as "mesh_tp"
devices.strip: activity in bins of equal length, for pictures
devices.utilization: busy time in chunks of equal length
devices.utilization.chunk_ns: length of a chunk
devices.kernel_durations.buckets: those that are not empty, in ascending order
devices.kernel_durations.buckets.from_ns: the shortest duration that counts here
steps.cut: "work" if the window is that of the GPU work launched within the marker, else absent
steps.loads: calls that load code
phases.host_own_ns: time on the CPU without nested phases
syncs.event_host_ns: CPU time of event_calls
syncs.event_lost_ns: lost_ns of event_calls
ranks.others.idle_others_ns: median of the others
ranks.budget.exposed_copy_ns: copies and memsets during which no kernel ran
topologies.groups.parallel: the kind of parallelism, such as "tensor"
memory.on_host: of the CPU's memory
memory.allocs: allocations
memory.frees: releases
memory.peak_allocated: the most memory allocated, in bytes
memory.peak_reserved: the most memory reserved, in bytes
memory.strip: memory in bins of equal length, for pictures
tables.columns: name, unit and kind of each column
counters.registers_per_thread: mean of the launches
counters.rules: what the profiler advises
counters.rules.speedup_kind: "global" or "local"
series.strip: values in groups, for pictures
series.strip.values: mean of each group
groups.desc: description by PyTorch
groups.channels: of NCCL
groups.last_completed: the last one that is complete
groups.pending.seq: its number
groups.pending.p2p: a send or receive
snapshots.segments: number of segments
snapshots.history.entries: number of entries
snapshots.history.allocs: allocations
snapshots.history.alloc_bytes: their sizes
snapshots.history.frees: releases
snapshots.history.segment_alloc_bytes: their sizes
snapshots.history.segment_free_bytes: their sizes
snapshots.history.retry_frees: frees of segments with which the allocator made room for an allocation that did not fit
snapshots.history.retry_free_bytes: their sizes
snapshots.history.older_bytes: their sizes
snapshots.history.lost_blocks: of older_blocks, those whose entries were overwritten
snapshots.history.steps.allocs: allocations in the step
snapshots.history.steps.segment_allocs: cudaMalloc in the step
snapshots.history.steps.segment_frees: cudaFree in the step
snapshots.peak.live: bytes
snapshots.peak.highest_reserved_ns: Unix time
snapshots.out_of_memory.wanted: bytes that were asked for
snapshots.out_of_memory.live: bytes that were allocated
snapshots.out_of_memory.frame: as of owners
snapshots.out_of_memory.stack: innermost first
snapshots.configuration: settings of the allocator
snapshots.strip: memory in bins of equal length, by allocation site, for pictures
snapshots.strip.live: bytes at the highest moment of each bin
snapshots.strip.owners: allocation sites; their bytes sum to live
memory_timelines.moments: number of times with a value
memory_timelines.peak_ns: Unix time of the peak
memory_timelines.strip: memory in bins of equal length, by category, for pictures
efficiency.decode.parts.reads: of the cache
efficiency.decode.parts.writes: of the cache
findings.denominator_bytes: what numerator_bytes are a part of
findings.steps.id: the remedy
step_groups.edge: partial steps at the edges of the capture
step_groups.spread_ns: median absolute deviation
stacks.id: such as "torch" or "vllm"
comparison.base.inputs.sha256: of the bytes as stored
comparison.base.device_name: model of the GPUs
comparison.estimates.base.high_ns: null if there are too few runs
comparison.estimates.p: probability that runs of one distribution differ as much
comparison.estimates.warnings: why it is not certain
comparison.counters.base_launches: in the counters of the base
comparison.counters.new_launches: in those of the new run
comparison.counters.base_compute_pct: % of the compute peak
comparison.counters.new_compute_pct: the same of the new run
comparison.counters.base_memory_pct: % of the memory peak
comparison.counters.new_memory_pct: the same of the new run
comparison.counters.base_occupancy_pct: achieved occupancy
comparison.counters.new_occupancy_pct: the same of the new run
`) {
		path, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		words[path] = text
	}
	return words
}()

// TestContractFields: every field of the JSON is on docs/json.md. What its sections do not name is in the
// last one, with the words of the comment in the source.
func TestContractFields(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	page := readPage(t, "docs/json.md")
	const heading = "\n## Other fields\n"
	above, _, ok := strings.Cut(page, heading)
	if !ok {
		t.Fatalf("docs/json.md has no section %q", heading)
	}
	p := fieldPage{t: t, above: map[string]bool{}, seen: map[reflect.Type]bool{}, comments: map[string]map[string]string{}}
	for _, w := range regexp.MustCompile(`\w+`).FindAllString(above, -1) {
		p.above[w] = true
	}
	for _, of := range jsonTypes {
		p.list(reflect.TypeOf(of.of), of.member)
	}
	want := above + heading + "\nFields that no section above names. A path leads to a field through the members that have it; `*` is any key.\n\n```text\n" + p.out.String() + "```\n"
	if page == want {
		return
	}
	if !*update {
		t.Fatal("fields of the JSON are not on docs/json.md; go test ./cmd/assay -run TestContractFields -update writes them")
	}
	if err := os.WriteFile("docs/json.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A fieldPage writes the fields that the sections of the page do not name.
type fieldPage struct {
	t        *testing.T
	above    map[string]bool // words of the sections
	seen     map[reflect.Type]bool
	comments map[string]map[string]string // by package and "Type.Field"
	out      strings.Builder
}

// list writes the fields of a type at a path, and of the types of its fields. Each type has its fields once.
func (p *fieldPage) list(typ reflect.Type, path string) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		p.list(typ.Elem(), path)
		return
	case reflect.Map:
		p.list(typ.Elem(), path+".*")
		return
	case reflect.Struct:
	default:
		return
	}
	if p.seen[typ] {
		return
	}
	p.seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			p.list(f.Type, path)
			continue
		case name == "":
			p.t.Errorf("%s.%s has no name in the JSON", typ, f.Name)
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if !p.above[name] {
			p.line(at, cmp.Or(p.comment(typ, f.Name), fieldWords[at]))
		}
		p.list(f.Type, at)
	}
}

// line writes a field with its comment, in lines of at most 140 characters.
func (p *fieldPage) line(path, comment string) {
	if comment == "" {
		p.t.Errorf("%s is not on docs/json.md, and its field has no comment", path)
	}
	const indent = 4
	line := path + ": "
	for _, word := range strings.Fields(comment) {
		if len(line)+len(word) > 140 {
			p.out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", indent)
		}
		line += word + " "
	}
	p.out.WriteString(strings.TrimRight(line, " ") + "\n")
}

// constants are the values of names that comments have.
var constants = map[string]string{
	"DriftShare": fmt.Sprintf("%g%%", 100*summary.DriftShare), "MaxLargestGaps": fmt.Sprint(summary.MaxLargestGaps), "MaxLive": fmt.Sprint(summary.MaxLive),
	"LargeCopyBytes": unit.Bytes(summary.LargeCopyBytes), "MaxTopShapes": fmt.Sprint(summary.MaxTopShapes), "MaxOwners": fmt.Sprint(summary.MaxOwners),
	"ShortKernelNS": unit.Duration(summary.ShortKernelNS), "MarkedByProgram": strconv.Quote(summary.MarkedByProgram),
	"ParallelTensor": strconv.Quote(summary.ParallelTensor), "LaunchLoss": "launch_losses", "SpanNS": "span_ns",
}

var (
	saysFirst = regexp.MustCompile(`^(\w+) (is|are|has|have|says|counts) `)
	goName    = regexp.MustCompile(`\b[A-Z]\w+\b`)
	goLinks   = regexp.MustCompile(`\[([\w.]+)\]`)
)

// comment returns what the source says of a field: its own comment without its name, or the sentence about
// it in that of a field before it.
func (p *fieldPage) comment(typ reflect.Type, field string) string {
	dir := strings.TrimPrefix(typ.PkgPath(), "assay/")
	if p.comments[dir] == nil {
		p.comments[dir] = commentsOf(p.t, dir)
	}
	text := goLinks.ReplaceAllString(p.comments[dir][typ.Name()+"."+field], "$1")
	if m := saysFirst.FindStringSubmatch(text); m != nil && m[1] == field {
		text = strings.TrimPrefix(text, m[0])
		if m[2] == "says" || m[2] == "counts" {
			text = m[2] + " " + text
		}
	}
	return strings.TrimSuffix(goName.ReplaceAllStringFunc(text, func(word string) string {
		if f, ok := typ.FieldByName(word); ok {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name
		}
		return cmp.Or(constants[word], word)
	}), ".")
}

// commentsOf returns the comments of the fields of the structs of a package.
func commentsOf(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	for _, name := range test.Files(t, filepath.Join(dir, "*.go")) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				above := ""
				for _, f := range s.Fields.List {
					text := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
					for _, id := range f.Names {
						key := fmt.Sprintf("%s.%s", spec.Name, id)
						if out[key] = text; text == "" {
							out[key] = sentenceAbout(above, id.Name)
						}
					}
					if text != "" {
						above = text
					}
				}
			}
			return true
		})
	}
	return out
}

// sentenceAbout returns the sentence of a comment that names a field.
func sentenceAbout(comment, field string) string {
	for _, s := range regexp.MustCompile(`[.;:] `).Split(comment, -1) {
		if regexp.MustCompile(`\b` + field + `\b`).MatchString(s) {
			return s
		}
	}
	return ""
}
