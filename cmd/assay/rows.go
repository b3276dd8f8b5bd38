package main

import (
	"errors"

	"github.com/spf13/pflag"

	"assay/report/show"
)

// grouping prints sums of rows by keys that the user names.
type grouping struct {
	by, where []string
	question  show.Question
}

func (g *grouping) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&g.by, "by", nil, "print one table: rows added up by `KEY`[,KEY...], such as op,rank, category or streams:stream; \"assay help json\" lists the keys")
	flags.StringArrayVar(&g.where, "where", nil, "only rows that meet `CONDITION`, such as category=gemm or 'rank=0 and total_ns>1ms'; * matches any text, \"assay help rows\" explains it")
}

// given reports whether --by or --where is given.
func (g *grouping) given() bool { return g.by != nil || g.where != nil }

// document returns the name of the JSON document: that of sums by keys, or the usual one.
func (g *grouping) document(usual string) string {
	if g.given() {
		return "groups"
	}
	return usual
}

// check returns a message if the flags are wrong, or "".
func (g *grouping) check(flags *pflag.FlagSet) string {
	if !g.given() {
		return ""
	}
	for _, other := range []string{"table", "brief", "detail", "save", "full", "output", "no-html", "picture-format"} {
		if flags.Changed(other) {
			return "--by and --where print one table; leave out --" + other
		}
	}
	var err error
	if g.question, err = show.Ask(g.by, g.where); err != nil {
		return "--by, --where: " + err.Error()
	}
	return ""
}

// run measures the inputs and prints the table.
func (g *grouping) run(e env, c *command, m *measure, format string, part *excerpting, args []string) error {
	v, failed := m.load(e, c, args)
	if v == nil {
		return failed
	}
	answer, err := g.question.Answer(v.summary)
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, e.print(part.part(groupingFormats().named(format).render(mask(answer)))))
}
