package assay_test

import (
	"fmt"
	"os"

	"assay/analyze"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/judge"
	"assay/judge/rule"
	"assay/report"
	"assay/trace"
)

// From a file to a report. Secrets of the file are masked on the way.
func Example() {
	file, err := ingest.Open("testdata/gen/host_bound.json.gz", os.Stdin)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	input, err := ingest.Load(file, trace.Select{Kinds: trace.Every, Shapes: true})
	if err != nil {
		panic(err) // says what is wrong with the file, and where
	}
	part, err := partial.Measure(input, partial.Options{Options: analyze.DefaultOptions(), Alone: true})
	if err != nil {
		panic(err)
	}
	sum := partial.Join([]partial.Part{part})
	result := judge.Judge(sum, rule.DefaultThresholds())
	fmt.Println("The run is bound by:", result.Verdict.Bound)
	fmt.Println("First finding:", result.Findings[0].Rule)
	if err := report.Build(sum, result).Text(os.Stderr, 80); err != nil {
		panic(err)
	}
	// Output:
	// The run is bound by: host
	// First finding: launch-bound
}
