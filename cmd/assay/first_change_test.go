package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"
)

// TestFirstChange: what reports of captures of an H200 say to change first is what each program was written to be
// limited by. Products at the peak of the GPU, and copies under them, have no single change that pays.
func TestFirstChange(t *testing.T) {
	const none = "No single change pays much"
	for name, want := range map[string]string{
		"dataloader_bound/trace":         "Change first: no wait for the data loader: at most",
		"ddp_gloo_straggler/rank?":       "Change first: no wait for the late rank 1: at most 97.6 ms",
		"sync_bound/trace":               "Change first: no waits of the CPU for the GPU:",
		"h2d_bound/trace":                "Change first: copies with pinned memory:",
		"pairs/pinned/before":            "Change first: copies with pinned memory:",
		"pairs/copies_overlapped/before": "Change first: all copies behind compute: at most",
		"pairs/fused/before":             "Change first: operators mul, add and 14 more in one kernel:",
		"launch_bound/trace":             "Change first: one launch a step, of a captured graph: at most",
		"gemm_bound/trace":               none,
		"copy_overlap/trace":             none,
		"pairs/smaller_kernels/before":   none + ": none of those tried makes it 5% shorter. Only less work would, as half of that of kernel",
	} {
		files := test.Files(t, filepath.Join("..", "..", "testdata", "h200", name+".json.gz"))
		var out, talk bytes.Buffer
		run(env{strings.NewReader(""), &out, &talk}, append([]string{"report", "-o", t.TempDir()}, files...))
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, want) {
			_, path, _ := strings.Cut(text, "Critical path: ")
			t.Errorf("%s: want %q in %.300q", name, want, path)
		}
	}
}
