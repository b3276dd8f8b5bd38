package forms

import (
	_ "embed" // sources.txt
	"fmt"
	"strings"
	"testing"
)

//go:embed sources.txt
var sourcesText string

// A printed is a key that a program prints, by its source.
type printed struct {
	form, program, date, file string
	mark                      byte // ' ', '?' or '-', see sources.txt
	key                       string
	line                      int
}

// sources reads sources.txt.
func sources() (out []printed, err error) {
	var at printed
	for i, line := range strings.Split(strings.TrimRight(sourcesText, "\n"), "\n") {
		at.line = i + 1
		switch {
		case line == "" || line[0] == '#' && (len(line) == 1 || line[1] == ' '):
		case strings.HasPrefix(line, "== "):
			program, rest, ok := strings.Cut(line[3:], ": ")
			f := strings.Fields(rest)
			if !ok || len(f) != 3 {
				return nil, fmt.Errorf("line %d: want a program, a form, a repository and a date", at.line)
			}
			at = printed{program: program, form: f[0], date: f[2], line: at.line}
		case strings.HasPrefix(line, "@ "):
			at.file = line[2:]
		case len(line) > 2 && line[1] == ' ' && strings.IndexByte(" ?-", line[0]) >= 0 && at.file != "":
			at.mark, at.key = line[0], line[2:]
			out = append(out, at)
		default:
			return nil, fmt.Errorf("line %d: %q", at.line, line)
		}
	}
	return out, nil
}

// markOf returns what the form makes of a key.
func markOf(f *Form, key string) byte {
	i := f.fieldOf(key)
	switch {
	case i >= 0 && f.fields[i].role == roleSkip, i < 0 && f.closed:
		return '-'
	case i >= 0 || f.step == stepKey && key == f.stepText:
		return ' '
	}
	return '?'
}

// TestSources: the marks of sources.txt are those of the forms, so that what no form knows is visible there.
// With -v it prints these keys by program, which is "make forms-check".
func TestSources(t *testing.T) {
	list, err := sources()
	if err != nil {
		t.Fatal("sources.txt: ", err)
	}
	forms := map[string]*Form{}
	for _, f := range Default().Forms() {
		forms[f.ID] = f
	}
	seen, unknown, keys := map[string]bool{}, map[string][]string{}, map[string]int{}
	var order []string
	for _, p := range list {
		f := forms[p.form]
		if f == nil || seen[p.form+" "+p.key] {
			t.Fatalf("sources.txt:%d: no form %s, or %q again", p.line, p.form, p.key)
		}
		seen[p.form+" "+p.key] = true
		if got := markOf(f, p.key); got != p.mark {
			t.Errorf("sources.txt:%d: %q of %s is marked %q, and the form makes it %q", p.line, p.key, p.form, p.mark, got)
		}
		where := fmt.Sprintf("%s (%s), source of %s", p.program, p.form, p.date)
		if keys[where]++; keys[where] == 1 {
			order = append(order, where)
		}
		if p.mark == '?' {
			unknown[where] = append(unknown[where], p.key)
		}
	}
	for _, where := range order {
		t.Logf("%s: %d of %d keys are in no form: %s", where, len(unknown[where]), keys[where], strings.Join(unknown[where], ", "))
	}
}

// TestSourcesOfPrograms: each program whose logs the manual names has a source in sources.txt.
func TestSourcesOfPrograms(t *testing.T) {
	list, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, p := range list {
		have[p.program] = true
	}
	for _, want := range []string{"SGLang", "vLLM", "veRL", "SkyRL", "NeMo RL", "TRL", "Megatron-LM", "DeepSpeed", "torchtitan", "slime"} {
		if !have[want] {
			t.Errorf("%s has no source", want)
		}
	}
}
