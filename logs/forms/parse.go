package forms

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"assay/internal/settings"
	"assay/logs"
)

//go:embed *.yaml
var builtInFiles embed.FS

// BuiltIn returns the text of the files of forms, by name. They serve as examples.
func BuiltIn() map[string]string {
	out := map[string]string{}
	names, err := builtInFiles.ReadDir(".")
	if err != nil {
		panic(err) // not possible: they are part of the program
	}
	for _, n := range names {
		text, err := builtInFiles.ReadFile(n.Name())
		if err != nil {
			panic(err)
		}
		out[n.Name()] = string(text)
	}
	return out
}

// An entry is a form as written in a file.
type entry struct {
	ID          string            `yaml:"id"`
	Producer    string            `yaml:"producer"`
	Era         string            `yaml:"era"`
	Source      string            `yaml:"source"`
	Unverified  bool              `yaml:"unverified"`
	Anchor      []string          `yaml:"anchor"`
	From        string            `yaml:"from"`
	Alone       bool              `yaml:"alone"`
	Also        []string          `yaml:"also"`
	Split       string            `yaml:"split"`
	Is          string            `yaml:"is"`
	Last        bool              `yaml:"last"`
	Match       string            `yaml:"match"`
	Step        string            `yaml:"step"`
	Labels      map[string]string `yaml:"labels"`
	Fields      map[string]string `yaml:"fields"`
	Nest        map[string]string `yaml:"nest"`
	Waits       map[string]string `yaml:"waits"`
	Replicas    bool              `yaml:"replicas"`
	Closed      bool              `yaml:"closed"`
	Listed      bool              `yaml:"listed"`
	Spans       string            `yaml:"spans"`
	FallbackFor string            `yaml:"fallback-for"`
	Starts      bool              `yaml:"starts"`
	End         string            `yaml:"end"`
	Lines       int               `yaml:"lines"`
	Samples     []entrySample     `yaml:"samples"`
}

type entrySample struct {
	Text  string             `yaml:"text"`
	Gives map[string]float64 `yaml:"gives"`
}

// Parse reads a file of forms. An error starts with the name and the line of the
// mistake, such as "forms.yaml:7: ".
func Parse(text []byte, name string) (*Set, error) {
	entries, lines, err := entriesOf(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	var list []*Form
	for i, e := range entries {
		f, err := e.form()
		if k := slices.IndexFunc(list, func(f *Form) bool { return f.ID == e.ID }); err == nil && k >= 0 {
			err = fmt.Errorf("form id %q is taken by the form of line %d", e.ID, lines[k])
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lines[i], err)
		}
		list = append(list, f)
	}
	return newSet(list), nil
}

// entriesOf returns the forms of a file and their lines.
func entriesOf(text []byte) (entries []entry, lines []int, err error) {
	nodes, err := settings.List(text, "forms", "form")
	if err != nil {
		return nil, nil, err
	}
	for _, n := range nodes {
		var e entry
		if err := yaml.NodeToValue(n, &e, yaml.Strict()); err != nil {
			return nil, nil, settings.Malformed(settings.Line(n), err)
		}
		entries, lines = append(entries, e), append(lines, settings.Line(n))
	}
	return entries, lines, nil
}

// Limits of a form, so that a file of settings cannot make reading slow.
const (
	maxAnchors    = 16
	maxAnchor     = 64
	maxFields     = 512
	maxBlockLines = 500
)

// spansEnd is the only value of "spans": a line is written at the end of its phase.
const spansEnd = "end"

// form checks and compiles an entry.
func (e entry) form() (*Form, error) {
	f := &Form{ID: e.ID, Producer: cmp.Or(e.Producer, e.ID), Era: e.Era, Source: e.Source, Unverified: e.Unverified,
		anchors: e.Anchor, from: e.From, alone: e.Alone, also: e.Also, split: e.Split, is: e.Is, last: e.Last,
		nest: e.Nest, waits: e.Waits, replicas: e.Replicas, closed: e.Closed, listed: e.Listed, spans: e.Spans == spansEnd, fallback: e.FallbackFor, starts: e.Starts, end: e.End, lines: e.Lines,
		exact: map[string]int{}}
	f.scope = f.Producer
	for _, s := range e.Samples {
		f.Samples = append(f.Samples, Sample(s))
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	switch {
	case e.Match != "":
		f.match = compileLater(e.Match)
	case e.Split == "" && e.Is == "":
		f.words = true
		f.from = cmp.Or(f.from, "^")
	}
	if f.end != "" && f.lines == 0 {
		f.lines = maxBlockLines
	}
	f.stepOf(e.Step)
	for _, name := range slices.Sorted(maps.Keys(e.Labels)) {
		f.labels = append(f.labels, logs.Label{Name: name, Value: e.Labels[name]})
	}
	for _, key := range slices.Sorted(maps.Keys(e.Fields)) {
		fd, err := fieldOf(key, e.Fields[key])
		if err != nil {
			return nil, fmt.Errorf("form %q: field %q: %w", e.ID, key, err)
		}
		if !fd.prefix && !fd.suffix {
			f.exact[key] = len(f.fields)
		}
		f.fields = append(f.fields, fd)
	}
	return f, nil
}

// check returns the first mistake of an entry.
func (e *entry) check() error {
	short := func(a string) bool { return len(a) < minLiteral || len(a) > maxAnchor }
	switch {
	case !settings.IsKebab(e.ID):
		return fmt.Errorf("form id %q: want lower-case words joined by hyphens", e.ID)
	case len(e.Anchor) == 0:
		return fmt.Errorf("form %q has no anchor: want a list of texts of which each line of the form has one", e.ID)
	case len(e.Anchor) > maxAnchors:
		return fmt.Errorf("form %q has %d anchors, want at most %d", e.ID, len(e.Anchor), maxAnchors)
	case slices.ContainsFunc(e.Anchor, short):
		return fmt.Errorf("form %q: an anchor has %d to %d bytes", e.ID, minLiteral, maxAnchor)
	case (e.Split == "") != (e.Is == ""):
		return fmt.Errorf("form %q: split and is belong together: want both or none", e.ID)
	case e.Match != "" && e.End != "":
		return fmt.Errorf("form %q has match and end: a form of several lines is read by split and is; remove one of the two",
			e.ID)
	case len(e.Fields) > maxFields:
		return fmt.Errorf("form %q has %d fields, want at most %d", e.ID, len(e.Fields), maxFields)
	case e.Spans != "" && e.Spans != spansEnd:
		return fmt.Errorf("form %q: spans is %q, want %q: each line is written when its phase ends", e.ID, e.Spans, spansEnd)
	case e.Lines < 0 || e.Lines > maxBlockLines:
		return fmt.Errorf("form %q: lines is %d, want at most %d", e.ID, e.Lines, maxBlockLines)
	}
	if e.Match != "" {
		if _, err := regexp.Compile(e.Match); err != nil {
			return fmt.Errorf("form %q: %w", e.ID, err)
		}
	}
	return nil
}

// stepOf sets the stepRule of a form.
func (f *Form) stepOf(text string) {
	after, isAfter := strings.CutPrefix(text, "after ")
	switch {
	case text == "" && f.words && f.match == nil:
		f.step, f.stepText = stepKey, "step"
	case text == "", text == "none":
		f.step = stepNone
	case text == "first":
		f.step = stepFirst
	case text == "last":
		f.step = stepLast
	case text == "latest":
		f.step = stepLatest
	case text == "bar":
		f.step = stepBar
	case isAfter:
		f.step, f.stepText = stepAfter, after
	default:
		f.step, f.stepText = stepKey, text
	}
}

// fieldOf parses a field. It is a metric and the unit of its values, and after "|" those of a
// second number in parentheses; or "step", "label NAME", or "-" for a key to ignore. If a form
// has fields "name PREFIX" and "value", the first is the name of the second.
func fieldOf(key, text string) (field, error) {
	fd := field{key: key}
	if k, ok := strings.CutSuffix(key, "*"); ok {
		fd.key, fd.prefix = k, true
	} else if k, ok := strings.CutPrefix(key, "*"); ok {
		fd.key, fd.suffix = k, true
	}
	first, second, both := strings.Cut(text, "|")
	words := strings.Fields(first)
	switch {
	case len(words) == 0:
		return fd, errors.New(`want a metric and a unit, such as "step.time s"`)
	case words[0] == "-":
		fd.role = roleSkip
		return fd, nil
	case words[0] == "step":
		fd.role = roleStep
		return fd, nil
	case words[0] == "value" && len(words) == 1:
		fd.role = roleValue
		return fd, nil
	case words[0] == "name" && len(words) <= 2:
		fd.role, fd.label = roleName, strings.Join(words[1:], "")
		return fd, nil
	case words[0] == "label" && len(words) == 2:
		fd.role, fd.label = roleLabel, words[1]
		return fd, nil
	}
	var err error
	if fd.value, err = targetOf(words); err == nil && both {
		fd.paren, err = targetOf(strings.Fields(second))
	}
	return fd, err
}

// targetOf parses a metric and a unit. For a metric that a user defines, the direction in
// which it improves follows.
func targetOf(words []string) (target, error) {
	if len(words) == 0 || len(words) > 3 {
		return target{}, errors.New(`want a metric and a unit, such as "step.time s"`)
	}
	m, known := logs.MetricOf(words[0])
	if !known {
		m = logs.Unnamed(words[0])
	}
	t := target{metric: m, factor: 1}
	if len(words) > 1 {
		t.unit = words[1]
		base, factor, ok := logs.ScaleOf(t.unit, false)
		switch {
		case !ok:
			return t, fmt.Errorf("unknown unit %q", t.unit)
		case known && base != m.Unit && !(m.Unit == "count" && base == ""):
			return t, fmt.Errorf("%s is measured in %q, which %q is not a unit of", m.Name, m.Unit, t.unit)
		}
		t.base, t.factor, t.binary = base, factor, strings.Contains(t.unit, "iB")
		if !known {
			t.metric.Unit = base
		}
	}
	t.base = t.metric.Unit
	if len(words) == 3 {
		switch b := logs.Better(words[2]); {
		case known:
			return t, fmt.Errorf("%s is known to assay: leave out %q", m.Name, words[2])
		case b != logs.Lower && b != logs.Higher:
			return t, fmt.Errorf("better is %q, want %q or %q", words[2], logs.Lower, logs.Higher)
		default:
			t.metric.Better = b
		}
	}
	return t, nil
}
