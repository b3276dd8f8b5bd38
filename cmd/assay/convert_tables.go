package main

import (
	"cmp"
	"fmt"
	"slices"

	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/profile"
)

// rows makes the profile of an input that consists of tables. A profile can have one table only, so
// it takes the first in the order of convertOrder; each row becomes a stack of one frame. It prints
// which tables are left out, and returns an error if no table has values that add up.
func (part *converted) rows(e env, in *ingest.Input) error {
	tables := slices.Clone(in.Tables.List)
	slices.SortStableFunc(tables, func(a, b *profile.Table) int { return cmp.Compare(convertOrder(a), convertOrder(b)) })
	for i, t := range tables {
		p, missing, unknown := t.Profile()
		if p == nil || len(p.Samples) == 0 {
			continue
		}
		var issues diag.Ledger
		issues.AddN(diag.Issue{Code: "rows-left-out", Severity: diag.DataLoss, Help: "these rows of the table have no value"}, missing)
		issues.AddN(diag.Issue{Code: "values-unknown", Severity: diag.DataLoss, Help: "these values are not known and are written as 0"}, unknown)
		issues.AddAll(in.Tables.Issues)
		p.Issues = issues.Issues()
		part.profile, part.what = p, "table "+t.Name
		for _, other := range slices.Concat(tables[:i], tables[i+1:]) {
			if len(other.Rows) > 0 && other.Of != profile.OfEdge {
				e.say("assay convert: %s: table %s left out, for one profile holds one table", in.Path, other.Name)
			}
		}
		return nil
	}
	return fmt.Errorf("%s: nothing to convert: it has no row whose values add up", in.Path)
}

// convertOrder returns the rank of a table: lower is better. Tables of self times come before all
// others. Among these, kernels and device operations come before the host functions that launched
// them.
func convertOrder(t *profile.Table) int {
	kinds := []string{profile.OfKernel, profile.OfDeviceOp, profile.OfOp, profile.OfFunction, profile.OfRange, profile.OfCall}
	at := slices.Index(kinds, t.Of)
	if at < 0 {
		at = len(kinds)
	}
	timed := slices.ContainsFunc(t.Columns, func(h profile.Heading) bool { return h.Adds == profile.Self && h.Unit == "nanoseconds" })
	if !timed || t.Of == profile.OfEdge {
		at += 100
	}
	return at
}
