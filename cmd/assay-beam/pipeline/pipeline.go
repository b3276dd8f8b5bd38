// Package pipeline compares the ranks of a run that outgrows one machine, as an Apache Beam
// pipeline of the functions of assay.
//
//	match    patterns → paths
//	measure  path → record: all rows and the collectives of one rank, as "assay summary --save" writes them
//	write    record → two files of OUTPUT/run
//	plan     outlines of all records → the order of the inputs, the runs, the place of each rank
//	split    record → the collectives of each of its groups, keyed by the group
//	outline  group → which ranks it has          align  outlines → by which groups clocks are aligned
//	solve    group → transfer, waits and sums
//	report   summaries, what was found in groups → summary.json, report.md, report.html and pictures in OUTPUT
//
// No worker has the collectives of all groups of all ranks. The report has the summaries
// of all ranks, and what was found in groups.
package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/fileio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// Options say what a pipeline reads and writes.
type Options struct {
	Inputs []string // patterns of paths: local, gs:// or s3://
	Output string   // a directory
	Memory int64    // limit for each input, in bytes, as --max-memory of assay
	MadeBy string   // the version of assay
}

func init() {
	register.DoFn4x0[string, func(*[]byte) bool, func(string, []byte), func(int, []byte)](&uniqueFn{})
	register.DoFn4x1[beamContext, string, func(string, []byte), func(int, []byte), error](&measureFn{})
	register.DoFn3x1[beamContext, string, []byte, error](&writeFn{})
	register.DoFn3x1[int, func(*[]byte) bool, func([]byte), error](&planFn{})
	register.DoFn4x1[string, []byte, func(*[]byte) bool, func(string, []byte), error](&splitFn{})
	register.DoFn3x1[string, func(*[]byte) bool, func(int, []byte), error](&outlineFn{})
	register.DoFn3x1[int, func(*[]byte) bool, func([]byte), error](&alignFn{})
	register.DoFn4x1[string, func(*[]byte) bool, func(*[]byte) bool, func(int, []byte), error](&solveFn{})
	register.DoFn7x1[beamContext, []byte, func(*[]byte) bool, func(*int, *[]byte) bool, func(*int, *[]byte) bool, func(*int, *[]byte) bool, func(string), error](&reportFn{})
	register.Emitter2[string, []byte]()
	register.Emitter2[int, []byte]()
	register.Emitter1[[]byte]()
	register.Emitter1[string]()
	register.Iter1[[]byte]()
	register.Iter2[int, []byte]()
	register.Function2x0(pathOf)
}

// Build adds the pipeline to a scope.
func Build(s beam.Scope, opt Options) {
	files := fileio.MatchAll(s.Scope("match"), beam.CreateList(s, opt.Inputs), fileio.MatchEmptyDisallow())
	paths := beam.Reshuffle(s, beam.ParDo(s, pathOf, files)) // each worker has some
	measured, failed := beam.ParDo2(s.Scope("measure"), &measureFn{opt.Memory, opt.MadeBy}, paths)
	records, summaries := beam.ParDo2(s.Scope("unique"), &uniqueFn{}, beam.GroupByKey(s, measured))
	beam.ParDo0(s.Scope("write"), &writeFn{opt.Output}, records)

	outlines := beam.ParDo(s.Scope("outlines"), recordOutline, records)
	plan := beam.ParDo(s.Scope("plan"), &planFn{}, beam.GroupByKey(s, outlines))

	shares := beam.ParDo(s.Scope("split"), &splitFn{}, records, beam.SideInput{Input: plan})
	groups := beam.GroupByKey(s.Scope("groups"), shares)
	shapes := beam.ParDo(s.Scope("outline"), &outlineFn{}, groups)
	alignment := beam.ParDo(s.Scope("align"), &alignFn{}, beam.GroupByKey(s, shapes))
	solved := beam.ParDo(s.Scope("solve"), &solveFn{}, groups, beam.SideInput{Input: alignment})

	beam.ParDo(s.Scope("report"), &reportFn{opt.Output}, beam.Impulse(s), beam.SideInput{Input: plan},
		beam.SideInput{Input: summaries}, beam.SideInput{Input: solved}, beam.SideInput{Input: failed})
}

func pathOf(f fileio.FileMetadata, emit func(string)) { emit(f.Path) }
