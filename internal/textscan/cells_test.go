package textscan_test

import (
	"strings"
	"testing"

	"assay/internal/textscan"
)

func TestCells(t *testing.T) {
	for line, want := range map[string]string{
		"":             "",
		"a,,c":         "a||c",
		`"a, ""b""",2`: `a, "b"|2`,
		"\"1.5\t\",x":  "1.5\t|x",
		`"a" ,b`:       "a|b",
		`"open,b`:      "open,b",
		`a,"b"`:        "a|b",
		`"a"b,c`:       "a", // damaged: the row has too few cells
		`"a",`:         "a|",
	} {
		if got := strings.Join(textscan.Cells(nil, line), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
