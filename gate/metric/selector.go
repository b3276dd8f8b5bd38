package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/query"
	"assay/summary"
	"assay/summary/view/bench"
)

// A Selector selects a part of a run, for example "{category=gemm, rank=0}". The zero Selector
// selects all of it.
type Selector struct{ terms []term }

// A term compares a key with a value. Only settings of benchmarks and limits compare with another
// operator than "=".
type term struct {
	key, op, value string
	limits         *logged // the metric that the term limits, or nil
	bound          *Bound  // its limit
}

// limiting reports whether an operator compares with a limit.
func limiting(op string) bool { return op == "<" || op == "<=" || op == ">" || op == ">=" }

// compare reports whether a number is on the side of a limit that the operator of the term states.
func (t term) compare(v, limit float64) bool {
	switch t.op {
	case "<=":
		return v <= limit
	case ">=":
		return v >= limit
	case "<":
		return v < limit
	case ">":
		return v > limit
	}
	return v == limit
}

// Parse splits "metric{key=value, ...}".
func Parse(text string) (*Metric, Selector, error) {
	name, rest, selects := strings.Cut(text, "{")
	m, err := Of(strings.TrimSpace(name))
	switch {
	case err != nil:
		return m, Selector{}, err
	case !selects:
		return m, Selector{}, m.checkTogether(Selector{})
	}
	inner, ends := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !ends {
		return nil, Selector{}, fmt.Errorf("selector %q has no closing brace", "{"+rest)
	}
	e, err := query.Parse(inner)
	if err != nil {
		return nil, Selector{}, fmt.Errorf("selector: want key=value: %w", err) // it quotes the place, and masks secrets
	}
	terms, all := e.Terms()
	if !all {
		return nil, Selector{}, errors.New("selector: its terms are joined by commas")
	}
	var sel Selector
	for _, written := range terms {
		t, err := m.term(written)
		if err != nil {
			return nil, Selector{}, err
		}
		if slices.ContainsFunc(sel.terms, func(u term) bool { return u.key == t.key && u.op == t.op }) {
			return nil, Selector{}, fmt.Errorf("selector %q is given twice", t.key)
		}
		sel.terms = append(sel.terms, t)
	}
	return m, sel, m.checkTogether(sel)
}

// term reads one term of a selector.
func (m *Metric) term(written query.Term) (t term, err error) {
	name, number, known := m.key(written.Name)
	t = term{key: name, op: written.Op, value: written.Value}
	text := written.Name + t.op + t.value
	switch _, setting := bench.SettingOf(name); {
	case t.value == "":
		return t, fmt.Errorf("selector %q: want key=value", text)
	case m.limits && !known:
		t.key = written.Name
		return t, m.limit(&t)
	case !known:
		return t, fmt.Errorf("%s has no selector %q, want one of %s", m.Name, written.Name, strings.Join(m.selectors(), ", "))
	case t.op == "=":
		return t, checkTerm(t.key, t.value, number)
	case !setting || !m.settings || !limiting(t.op):
		return t, fmt.Errorf("selector %q: %s takes \"=\" only", text, t.key)
	case math.IsNaN(bench.LoadOf(t.value)):
		return t, fmt.Errorf("selector %s: %q is not a number", t.key, t.value)
	}
	return t, nil
}

// checkTogether rejects selectors whose terms no input can meet together, and those without a term that
// the metric needs.
func (m *Metric) checkTogether(sel Selector) error {
	if m.limits && !slices.ContainsFunc(sel.terms, func(t term) bool { return t.limits != nil }) {
		return fmt.Errorf("%s needs a limit: write %s", m.Name, m.Named())
	}
	setting := sel.setting()
	if setting == "" || !m.settings || m.limits {
		return nil
	}
	for _, key := range []string{"phase", "place"} {
		if sel.Value(key) != "" {
			return fmt.Errorf("selectors %s and %s: %[1]s selects results of benchmarks, which have no %[2]s", setting, key)
		}
	}
	if sel.Value("source") == fromLog {
		return fmt.Errorf("selectors %s and source=log: %[1]s selects results of benchmarks", setting)
	}
	return nil
}

// setting returns a setting of benchmarks that the selector has, or "".
func (s Selector) setting() string {
	for _, t := range s.terms {
		if _, ok := bench.SettingOf(t.key); ok {
			return t.key
		}
	}
	return ""
}

// checkTerm rejects values that no run can have.
func checkTerm(key, value string, number bool) error {
	if number {
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return fmt.Errorf("selector %s: %q is not a whole number", key, value)
		}
	}
	switch key {
	case "steps":
		_, _, err := stepRange(value)
		return err
	case "owner":
		if !slices.Contains(summary.Owners(), value) {
			return fmt.Errorf("selector owner: unknown owner %q, want one of %s", value, strings.Join(summary.Owners(), ", "))
		}
	case "part":
		parts := (&summary.LayerParts{}).Each()
		if !slices.ContainsFunc(parts, func(p summary.PathPart) bool { return p.Name == value }) {
			return fmt.Errorf("selector part: unknown part %q, want attention, mlp, moe, norm, communication or other", value)
		}
	case "class":
		if _, ok := summary.ClassOf(value); !ok {
			return fmt.Errorf("selector class: unknown class %q, want one of comm, compute, copy, memset", value)
		}
	}
	return nil
}

// Value returns the value of a key, or "".
func (s Selector) Value(key string) string {
	for _, t := range s.terms {
		if t.key == key {
			return t.value
		}
	}
	return ""
}

// String returns the selector as it is written, or "".
func (s Selector) String() string {
	if len(s.terms) == 0 {
		return ""
	}
	var parts []string
	for _, t := range s.terms {
		parts = append(parts, t.key+t.op+query.Quote(t.value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// hasDevice reports whether rows of a device are selected.
func (s Selector) hasDevice(rank int, device int64) bool {
	return s.hasNumber("rank", int64(rank)) && s.hasNumber("device", device)
}

func (s Selector) hasNumber(key string, n int64) bool {
	want := s.Value(key)
	return want == "" || want == strconv.FormatInt(n, 10)
}

// has reports whether a name is selected. In a pattern, "*" matches any text.
func (s Selector) has(key, name string) bool {
	return matches(s.Value(key), name)
}

// hasPhase reports whether a phase of "assay help phases" is selected. Their names have hyphens,
// where programs mostly write underscores or spaces.
func (s Selector) hasPhase(name string) bool {
	want := s.Value("phase")
	return matches(want, name) || matches(strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(want)), name)
}

// matches reports whether a name matches a pattern, in which "*" matches any text. An empty pattern
// matches every name.
func matches(want, name string) bool {
	return want == "" || label.Like(want, name)
}

// hasStep reports whether the step with this number is selected.
func (s Selector) hasStep(number int64) bool {
	text := s.Value("steps")
	if text == "" {
		return true
	}
	first, last, err := stepRange(text)
	return err == nil && number >= first && number <= last
}

// stepRange parses "3", "3-5" or "3-".
func stepRange(text string) (first, last int64, err error) {
	from, to, ranges := strings.Cut(text, "-")
	if first, err = strconv.ParseInt(from, 10, 64); err == nil {
		switch {
		case !ranges:
			last = first
		case to == "":
			last = 1<<63 - 1
		default:
			last, err = strconv.ParseInt(to, 10, 64)
		}
	}
	switch {
	case strings.EqualFold(text, "steady"):
		return 0, 0, fmt.Errorf("selector steps: %q is no range of step numbers; leave the selector out, and run \"assay check\" with --steady, which leaves out warm-up and partial steps", text)
	case err != nil || first < 0 || last < first:
		return 0, 0, fmt.Errorf("selector steps: %q is no range of step numbers, want one as 3, 3-5 or 3-", text)
	}
	return first, last, nil
}
