package rowfile

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"assay/internal/tabular"
)

// TestRounded: fractions are rounded for people, and whole numbers, texts and other values are not.
func TestRounded(t *testing.T) {
	float, whole := &tabular.Column{Type: tabular.Float}, &tabular.Column{Type: tabular.Int}
	for _, c := range []struct {
		of   *tabular.Column
		cell tabular.Cell
		want string
	}{
		{float, tabular.Cell{Known: true, Float: 71305.6458333}, "71306"},
		{float, tabular.Cell{Known: true, Float: 999.95}, "1000"},
		{float, tabular.Cell{Known: true, Float: -12345678.9}, "-12345679"},
		{float, tabular.Cell{Known: true, Float: 0.123456}, "0.1235"},
		{float, tabular.Cell{Known: true, Float: 2.5}, "2.5"},
		{float, tabular.Cell{Known: true, Float: 0}, "0"},
		{float, tabular.Cell{}, ""},
		{whole, tabular.Number(123456789), "123456789"},
		{&tabular.Column{}, tabular.Of("0.123456"), "0.123456"},
	} {
		if got := rounded(c.of, &c.cell); got != c.want {
			t.Errorf("%+v is %q, want %q", c.cell, got, c.want)
		}
	}
	if got := rounded(float, &tabular.Cell{Known: true, Float: math.NaN()}); got != (&tabular.Cell{Known: true, Float: math.NaN()}).String(tabular.Float) {
		t.Errorf("what is no number is %q", got)
	}
}

// TestNoControls: characters that control a terminal are escaped in JSON, and the text stays the same.
func TestNoControls(t *testing.T) {
	name := "gemm\u009b31m\u202e\x7f é <a>"
	for _, c := range []tabular.Column{{Name: "name"}, {Name: "name", Type: tabular.Structured}} {
		cell := tabular.Of(name)
		if c.Type == tabular.Structured {
			quoted, _ := json.Marshal(name)
			cell = tabular.Of(string(quoted))
		}
		table := tabular.Table{Name: "kernels", Columns: []tabular.Column{c}, Each: func(yield func([]tabular.Cell) bool) error { yield([]tabular.Cell{cell}); return nil }}
		var out strings.Builder
		if err := JSON(table, &out); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(out.String(), "\u009b\u202e\x7f") || !strings.Contains(out.String(), "é") {
			t.Errorf("printed %q", out.String())
		}
		var back struct{ Rows []map[string]string }
		if err := json.Unmarshal([]byte(out.String()), &back); err != nil || len(back.Rows) != 1 || back.Rows[0]["name"] != name {
			t.Errorf("%v, read back %q", err, back.Rows)
		}
	}
}
