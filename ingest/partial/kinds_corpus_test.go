package partial

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"assay/analyze/classify"
	"assay/internal/test"
	"assay/trace"
)

// TestKindsOfCorpus: under 3% of the kernel time of each folder of real captures is in kernels that no rule
// knows. go test -v prints them, with the share of each.
func TestKindsOfCorpus(t *testing.T) {
	for _, folder := range []string{"kineto", "nsight", "inputs", "ranks"} {
		unknown, all := map[string]int64{}, int64(0)
		err := filepath.WalkDir(test.Corpus(t, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			in := loaded(path)
			if in == nil {
				return nil
			}
			for a := range in.Trace.Activities.All() {
				if a.Kind != trace.Kernel {
					continue
				}
				all += max(0, a.Dur)
				if name := in.Trace.Name(a.Name); classify.Default().Kernel(name).Category == classify.Other {
					unknown[name] += max(0, a.Dur)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		byTime := func(a, b string) int { return cmp.Or(cmp.Compare(unknown[b], unknown[a]), cmp.Compare(a, b)) }
		for _, name := range slices.SortedFunc(maps.Keys(unknown), byTime) {
			sum += unknown[name]
			t.Logf("%s: no rule knows %.3f%%: %.120s", folder, 100*float64(unknown[name])/float64(all), name)
		}
		share := 100 * float64(sum) / float64(max(1, all))
		t.Logf("%s: %.2f%% of %.1f ms in kernels that no rule knows", folder, share, float64(all)/1e6)
		if all == 0 || share >= 3 {
			t.Errorf("%s: %.2f%% of %d ns unknown, want kernels, and under 3%%", folder, share, all)
		}
	}
}
