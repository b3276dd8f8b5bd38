package rowfile

import (
	"math"
	"testing"

	"assay/internal/tabular"
)

// TestRounded: fractions are rounded for people, and whole numbers, texts and what is no number are not.
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
