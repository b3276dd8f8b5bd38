package profile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// damageable returns a profile of three samples, in parts: main → a: 10, main →
// b: 20, main: 3, in nanoseconds.
func damageable() map[string]string {
	text := func(list ...string) (out string) {
		for _, s := range list {
			out += field(6, s)
		}
		return out
	}
	return map[string]string{
		"types":     field(1, "\x08\x01\x10\x02"),
		"sample a":  field(2, field(1, "\x02\x01")+field(2, "\x0a")),
		"sample b":  field(2, field(1, "\x03\x01")+field(2, "\x14")),
		"sample":    field(2, field(1, "\x01")+field(2, "\x03")),
		"mapping":   field(3, "\x08\x01\x28\x06"),
		"at main":   field(4, "\x08\x01\x10\x01\x18\x40"+field(4, "\x08\x01\x10\x05")),
		"at a":      field(4, "\x08\x02\x10\x01\x18\x50"+field(4, "\x08\x02\x10\x06")),
		"at b":      field(4, "\x08\x03\x10\x01\x18\x60"+field(4, "\x08\x03\x10\x07")),
		"main":      field(5, "\x08\x01\x10\x03"),
		"a":         field(5, "\x08\x02\x10\x04"),
		"b":         field(5, "\x08\x03\x10\x05"),
		"texts":     text("", "time", "nanoseconds", "main", "a", "b", "binary"),
		"last text": "",
	}
}

var damageableOrder = []string{"types", "sample a", "sample b", "sample", "mapping", "at main", "at a", "at b", "main", "a", "b", "texts", "last text"}

func joinParts(parts map[string]string) string {
	var b strings.Builder
	for _, name := range damageableOrder {
		b.WriteString(parts[name])
	}
	return b.String()
}

// TestPprofDamaged: one bad reference, one damaged record or a missing end costs
// what is damaged and nothing else; each is counted.
func TestPprofDamaged(t *testing.T) {
	for name, tt := range map[string]struct {
		part, with string
		want, said string
	}{
		"whole":                   {"last text", "", "main;a 10, main;b 20, main 3", ""},
		"a location":              {"sample a", field(2, field(1, "\x63\x01")+field(2, "\x0a")), "main;[unknown] 10, main;b 20, main 3", "data-loss pprof-reference-missing ×1"},
		"a function":              {"at b", field(4, "\x08\x03\x10\x01\x18\x60"+field(4, "\x08\x63\x10\x07")), "main;a 10, main;[unknown] 20, main 3", "data-loss pprof-reference-missing ×1"},
		"a function that is gone": {"a", "", "main;[unknown] 10, main;b 20, main 3", "data-loss pprof-reference-missing ×1"},
		"a name":                  {"a", field(5, "\x08\x02\x10\x63"), "main;[unknown] 10, main;b 20, main 3", "data-loss pprof-reference-missing ×1"},
		"a name, far":             {"a", field(5, "\x08\x02\x10\xff\xff\xff\xff\x0f"), "main;[unknown] 10, main;b 20, main 3", "data-loss pprof-reference-missing ×1"},
		"a sample with no value":  {"sample b", field(2, field(1, "\x03\x01")), "main;a 10, main 3", "data-loss pprof-record-damaged ×1"},
		"damage in a sample":      {"sample b", field(2, "\x0a\x7f\x03\x01\x12\x01\x14"), "main;a 10, main 3", "data-loss pprof-record-damaged ×1"},
		"damage in a function":    {"b", field(5, "\x08\x03\x17\x05"), "main;a 10, main;[unknown] 20, main 3", "data-loss pprof-record-damaged ×1, data-loss pprof-reference-missing ×1"},
		"an end that is cut":      {"last text", "\x32\x10cut", "main;a 10, main;b 20, main 3", "data-loss input-truncated ×1"},
		"garbage at the end":      {"last text", "\x07\x07\x07", "main;a 10, main;b 20, main 3", "data-loss input-truncated ×1"},
	} {
		parts := damageable()
		parts[tt.part] = tt.with
		p, err := ReadPprof(strings.NewReader(joinParts(parts)), "f", Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got, said []string
		for _, s := range p.Samples {
			got = append(got, fmt.Sprintf("%s %d", fold(s.Stack), s.Values[0]))
		}
		for _, is := range p.Issues {
			said = append(said, fmt.Sprintf("%s %s ×%d", is.Severity, is.Code, is.Count))
		}
		if diff := cmp.Diff([]string{tt.want, tt.said}, []string{strings.Join(got, ", "), strings.Join(said, ", ")}); diff != "" || p.Columns[0] != (Column{Name: "time", Unit: "nanoseconds"}) {
			t.Errorf("%s: want(-) got(+)\n%s%+v", name, diff, p.Columns)
		}
	}
}

// TestPprofCutAnywhere: cut at any place, a profile is refused, or its samples are
// the first of the whole and an issue says that it is cut.
func TestPprofCutAnywhere(t *testing.T) {
	whole := joinParts(damageable())
	all, err := ReadPprof(strings.NewReader(whole), "f", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for n := 1; n < len(whole); n++ {
		p, err := ReadPprof(bytes.NewReader([]byte(whole[:n])), "f", Limits{})
		if err != nil {
			continue
		}
		read++
		for i, s := range p.Samples {
			if !cmp.Equal(s.Values, all.Samples[i].Values) || len(s.Stack) != len(all.Samples[i].Stack) {
				t.Errorf("cut at %d: sample %d is %+v", n, i, s)
			}
		}
		if len(p.Issues) == 0 && len(p.Samples) == len(all.Samples) && !cmp.Equal(p.Samples, all.Samples) {
			t.Errorf("cut at %d: no issue, and samples %+v", n, p.Samples)
		}
	}
	if texts := len(damageable()["texts"]); read < texts/2 {
		t.Errorf("read %d of %d cuts", read, len(whole)-1)
	}
}
