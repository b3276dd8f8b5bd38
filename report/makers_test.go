package report_test

import (
	"bytes"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report"
)

// TestWordsOfDevices: pictures of a run on TPUs name no GPU, and those of a run on GPUs no TPU.
func TestWordsOfDevices(t *testing.T) {
	for name, other := range map[string]string{"TPU v6 Lite": "GPU", "NVIDIA H200": "TPU"} {
		s := samplerun.Attributed(2)
		for i := range s.Devices {
			s.Devices[i].Name = name
		}
		r := report.Build(s, samplerun.Judged(s))
		for _, c := range r.Charts() {
			if text := c.Title + c.Subtitle + c.Caption + c.Alt; strings.Contains(text, other) {
				t.Errorf("%s: picture %s: %s", name, c.Name, text)
			}
		}
		if len(r.Charts()) < 5 || r.HTML(new(bytes.Buffer)) != nil {
			t.Errorf("%s: %d pictures", name, len(r.Charts()))
		}
	}
}
