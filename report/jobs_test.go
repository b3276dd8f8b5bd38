package report

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
)

// TestPathsOfSeveralJobs: with the forecasts of two jobs the report says that no path is shown; with those of one it
// shows the path.
func TestPathsOfSeveralJobs(t *testing.T) {
	s := samplerun.All()["attributed"]
	const several = "The inputs belong to several jobs"
	if text := render(t, Build(s, judged(s)).Markdown); strings.Contains(text, several) || !strings.Contains(text, "## Critical path of") {
		t.Error("one job: its path is not shown")
	}
	other := s.Forecasts[0]
	other.Input++
	s.Forecasts = append(s.Forecasts, other)
	if text := render(t, Build(s, judged(s)).Markdown); !strings.Contains(text, several) || strings.Contains(text, "## Critical path of") {
		t.Error("two jobs: the report does not say that no path is shown")
	}
}
