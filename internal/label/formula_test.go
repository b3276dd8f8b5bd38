package label

import "testing"

func TestNoFormula(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1":               "'=1+1",
		"+1":                 "'+1",
		"-2":                 "'-2",
		"@SUM(A1)":           "'@SUM(A1)",
		"\tgemm":             "'\tgemm",
		"\rgemm":             "'\rgemm",
		"  =1+1":             "'  =1+1",
		"\n\u00a0\u3000=1+1": "'\n\u00a0\u3000=1+1",
		"＝1+1":               "'＝1+1",
		"＋1":                 "'＋1",
		"－1":                 "'－1",
		"\u3000＠SUM(A1)":     "'\u3000＠SUM(A1)",
		// These are no formulas.
		"":                "",
		" ":               " ",
		"gemm=1":          "gemm=1",
		" gemm":           " gemm",
		"aten::mm+add":    "aten::mm+add",
		"\uFFFD=1":        "\uFFFD=1",
		"乘＝1":             "乘＝1",
		"'=1":             "'=1",
		"\xff=1":          "\xff=1",
		"(=1)":            "(=1)",
		"−1 (minus sign)": "−1 (minus sign)",
	} {
		if got := NoFormula(text); got != want {
			t.Errorf("NoFormula(%q) is %q, want %q", text, got, want)
		}
	}
}
