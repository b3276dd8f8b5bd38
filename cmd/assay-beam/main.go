// Assay-beam compares the ranks of a run that outgrows one machine, as an Apache Beam
// pipeline.
//
//	assay-beam --input 'traces/*.json.gz' --output out/
//	assay-beam --input 'gs://bucket/run/*.json.gz' --output gs://bucket/out --runner dataflow --project P --region R ...
//
// It writes out/run, a partial as "assay merge" writes it, and what "assay report" writes of
// that: summary.json, report.md, report.html and pictures. The runner is Prism, in this process, or what --runner names: flink, spark,
// dataflow or universal, with the flags of Beam.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"assay/cmd/assay-beam/pipeline"
	"assay/internal/unit"
)

func main() {
	input := flag.String("input", "", "`PATTERN` of paths of traces, local, gs:// or s3://; several are separated by commas")
	output := flag.String("output", "", "`DIR` to write to, local, gs:// or s3://")
	memory := flag.String("max-memory", "8GiB", "`SIZE` limit for each input, as for assay merge")
	flag.Parse()
	beam.Init()
	if err := run(*input, *output, *memory); err != nil {
		fmt.Fprintln(os.Stderr, "assay-beam:", cause(err))
		os.Exit(3)
	}
}

func run(input, output, memory string) error {
	limit, err := unit.ParseBytes(memory)
	switch {
	case err != nil:
		return fmt.Errorf("--max-memory: %w", err)
	case input == "" || output == "" || flag.NArg() > 0:
		return fmt.Errorf("want --input PATTERN and --output DIR, and no other argument")
	case limit < 64<<20:
		return fmt.Errorf("--max-memory is %q, want at least 64 MiB", memory)
	}
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, pipeline.Options{Inputs: strings.Split(input, ","), Output: output, Memory: limit, MadeBy: version()})
	return beamx.Run(context.Background(), p)
}

// cause returns the last line of an error: the runner lists its stages before.
func cause(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return lines[len(lines)-1]
}

// version returns the version that "assay version" prints.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
