package tracegen

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/internal/test"
)

var update = flag.Bool("update", false, "rewrite the generated fixtures")

// fixtures are the presets that other packages use from testdata/gen.
var fixtures = []string{"comm_bound", "cpu_only", "era2022", "host_bound", "llm_train_slower", "llm_train_step", "rocm"}

// TestFixtures checks that the generated traces in testdata equal the current
// output of the generator.
func TestFixtures(t *testing.T) {
	for _, p := range Presets() {
		name := filepath.Join("..", "..", "..", "testdata", "gen", p.Name+".json.gz")
		if !slices.Contains(fixtures, p.Name) {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s is not among the fixtures", name)
			}
			continue
		}
		_, want := generated(t, p.Make(), 0)
		test.Fixture(t, name, want, *update)
	}
}
