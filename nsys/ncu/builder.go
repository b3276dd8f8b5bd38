package ncu

import (
	"fmt"

	"assay/internal/diag"
)

// MaxMemory is the default memory limit of a capture, in estimated bytes.
const MaxMemory = 512 << 20

// Limits for the data of one launch.
const (
	MaxName  = 4 << 10 // bytes of a kernel's name
	MaxText  = 2 << 10 // bytes of a rule's text, and of any other text
	MaxRules = 64      // of one launch
)

// A Builder makes a [Capture] from metrics added in any order. It is not safe
// for concurrent use.
type Builder struct {
	c      Capture
	keys   map[Key]int32
	texts  map[string]int32
	issues diag.Ledger

	used, budget int64
}

// NewBuilder returns a builder of captures of at most budget estimated bytes of
// memory, or [MaxMemory] if budget is 0.
func NewBuilder(budget int64) *Builder {
	if budget <= 0 {
		budget = MaxMemory
	}
	return &Builder{
		c:    Capture{Texts: []string{""}, Complete: true},
		keys: make(map[Key]int32), texts: map[string]int32{"": 0}, budget: budget,
	}
}

// Estimated bytes per item.
const (
	launchBytes = 320
	metricBytes = 24
	ruleBytes   = 96
	wordBytes   = 64
)

// Launch begins a launch, without metrics and rules, and returns its number. It
// returns false if there is no memory for more.
func (b *Builder) Launch(l Launch, at diag.Pos) (number int, ok bool) {
	if b.used >= b.budget {
		b.issues.Add(diag.Issue{Code: "memory-limit", Severity: diag.DataLoss, First: at,
			Help: fmt.Sprintf("The launches up to here need more than the limit of %d MiB. Later ones are missing: profile fewer launches (--launch-count) or raise --max-memory.", b.budget>>20)})
		b.c.Complete = false
		return 0, false
	}
	b.used += launchBytes
	l.Kernel, l.Process, l.Capability = b.word(l.Kernel, MaxName), b.word(l.Process, MaxText), b.word(l.Capability, MaxText)
	l.Count = max(1, l.Count)
	l.Metrics, l.Rules = nil, nil
	b.c.Launches = append(b.c.Launches, l)
	return len(b.c.Launches) - 1, true
}

// scarce reports whether the remaining memory is reserved for the data that
// every report needs.
func (b *Builder) scarce() bool { return b.used > b.budget/2 }

// Add adds a metric to a launch: a number, or a text if text is not "". Metrics
// without a [Quantity] are dropped if memory is scarce.
func (b *Builder) Add(launch int, k Key, value float64, text string, at diag.Pos) {
	if b.scarce() && k.Quantity == None {
		b.leftOut(at)
		return
	}
	i, ok := b.keys[k]
	if !ok {
		i = int32(len(b.c.Keys))
		k.Section, k.Name, k.Unit = cut(k.Section, MaxText), cut(k.Name, MaxText), cut(k.Unit, MaxText)
		b.c.Keys = append(b.c.Keys, k)
		b.keys[k] = i
		b.used += int64(2*wordBytes + len(k.Section) + len(k.Name) + len(k.Unit))
	}
	m := Metric{Key: i, Value: value}
	if text != "" {
		m.Text = b.text(text)
	}
	b.c.Launches[launch].Metrics = append(b.c.Launches[launch].Metrics, m)
	b.used += metricBytes
}

// AddRule adds a conclusion of the producer to a launch.
func (b *Builder) AddRule(launch int, r Rule, at diag.Pos) {
	l := &b.c.Launches[launch]
	if b.scarce() || len(l.Rules) >= MaxRules {
		b.leftOut(at)
		return
	}
	r.Name, r.Type, r.Text, r.SpeedupKind = b.word(r.Name, MaxText), b.word(r.Type, MaxText), b.word(r.Text, MaxText), b.word(r.SpeedupKind, MaxText)
	l.Rules = append(l.Rules, r)
	b.used += ruleBytes
}

func (b *Builder) leftOut(at diag.Pos) {
	b.issues.Add(diag.Issue{Code: "counters-left-out", Severity: diag.DataLoss, First: at,
		Help: fmt.Sprintf("Data that no result depends on was left out: rules over %d per launch and, above half of the memory limit, all rules and other metrics. Raise --max-memory to keep them.", MaxRules)})
}

// Scale multiplies a metric of a launch, given by its index among the launch's
// metrics. A reader may learn the thousands separator only at the end of a
// table.
func (b *Builder) Scale(launch, metric int, factor float64) {
	b.c.Launches[launch].Metrics[metric].Value *= factor
}

// Metrics returns the number of metrics that a launch has so far.
func (b *Builder) Metrics(launch int) int { return len(b.c.Launches[launch].Metrics) }

// Launches returns the number of launches so far.
func (b *Builder) Launches() int { return len(b.c.Launches) }

// Note counts an issue.
func (b *Builder) Note(is diag.Issue) { b.issues.Add(is) }

// word returns a text; equal texts share one copy.
func (b *Builder) word(s string, most int) string { return b.c.Texts[b.text(cut(s, most))] }

func (b *Builder) text(s string) int32 {
	s = cut(s, MaxName)
	i, ok := b.texts[s]
	if !ok {
		i = int32(len(b.c.Texts))
		s = string([]byte(s)) // a copy, so that a longer line is not retained
		b.c.Texts = append(b.c.Texts, s)
		b.texts[s] = i
		b.used += int64(wordBytes + len(s))
	}
	return i
}

// Capture returns the result. The builder must not be used afterwards.
func (b *Builder) Capture(rows int64, complete bool) *Capture {
	b.c.Rows = rows
	b.c.Complete = b.c.Complete && complete
	b.c.Issues = b.issues.Issues()
	return &b.c
}
