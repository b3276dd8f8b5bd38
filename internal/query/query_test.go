package query

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/tabular"
)

// pauses is a table of pauses of a Java server: other names and numbers than those of any summary.
func pauses() tabular.Table {
	t := tabular.Table{Name: "pauses", Columns: []tabular.Column{
		{Name: "cause", Alias: "brought by", Role: "key", Named: true}, {Name: "worker", Type: tabular.Int, Role: "key"},
		{Name: "stopped_ns", Type: tabular.Int, Unit: "ns", Role: "sum"}, {Name: "freed_bytes", Type: tabular.Int, Unit: "bytes", Optional: true, Role: "max"},
		{Name: "live_share", Type: tabular.Float, Unit: "share", Optional: true}, {Name: "full", Type: tabular.Bool},
		{Name: "ages", Type: tabular.Int, List: true}, {Name: "inside_ns", Type: tabular.Int, Unit: "ns", Role: "sum", Nested: true},
	}, Means: []tabular.Mean{{Name: "mean_ns", Over: "stopped_ns", Under: "rows"}}}
	row := func(cause string, worker, ns, freed int64, share float64, full int64) []tabular.Cell {
		return []tabular.Cell{tabular.Of(cause), tabular.Number(worker), tabular.Number(ns), {Known: freed >= 0, Int: freed},
			{Known: share >= 0, Float: share}, tabular.Number(full), {Known: true}, tabular.Number(ns)}
	}
	rows := [][]tabular.Cell{
		row("Allocation Failure", 0, 3_000_000, 5<<20, 0.25, 0), row("System.gc() and more", 1, 900_000, -1, -1, 1),
		row("G1 (mixed), late", 0, 40, 1<<20, 0.5, 0), row("", 11, 9_007_199_254_740_993, 0, 1, 1),
	}
	t.Each = func(yield func([]tabular.Cell) bool) error {
		for _, r := range rows {
			if !yield(slices.Clone(r)) {
				break
			}
		}
		return nil
	}
	return t
}

// workers returns the sums of worker and stopped_ns, which differ for any two sets of rows.
func met(t *testing.T, condition string) (rows []int) {
	t.Helper()
	e, err := Parse(condition)
	if err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
	all := pauses()
	f, err := e.Bind(Find(&all))
	if err != nil {
		t.Fatalf("%s: %v", condition, err)
	}
	i := 0
	_ = all.Each(func(row []tabular.Cell) bool {
		if f.Match(func(c int) *tabular.Cell { return &row[c] }) {
			rows = append(rows, i)
		}
		i++
		return true
	})
	return rows
}

func TestConditions(t *testing.T) {
	for condition, want := range map[string][]int{
		"worker=0":                           {0, 2},
		"worker=1*":                          {1, 3},
		"worker != 0":                        {1, 3},
		"cause=*Failure":                     {0},
		"cause=System.gc() and more":         nil, // "more" is no condition
		`cause="System.gc() and more"`:       {1},
		`"cause=System.gc() and more"`:       {1},
		"cause~FAIL":                         {0},
		"cause!~fail, worker=0":              {2},
		"cause=":                             {3},
		`cause=""`:                           {3},
		"cause=G1 (mixed), late":             nil,
		`cause="G1 (mixed), late"`:           {2},
		"brought_by~g1":                      {2},
		"brought by ~ g1":                    {2},
		"stopped_ns>1ms":                     {0, 3},
		"stopped_ns > 1e6":                   {0, 3},
		"stopped_ns>=900us AND full=true":    {1, 3},
		"stopped_ns=9007199254740993":        {3}, // which float64 cannot tell from the next
		"stopped_ns=9007199254740992":        nil,
		"stopped_ns<9007199254740993":        {0, 1, 2},
		"freed_bytes<2MiB":                   {2, 3},
		"freed_bytes>=0":                     {0, 2, 3}, // not known of 1
		"freed_bytes!=0":                     {0, 1, 2},
		"not freed_bytes>=0":                 {1},
		"live_share<=25%":                    {0},
		"live_share>0.4":                     {2, 3},
		"full=false":                         {0, 2},
		"worker=0 or worker=1 and full=true": {0, 1, 2},
		"(worker=0 or worker=1) and full=1":  {1},
		"not (worker=0 or full=true)":        nil,
		"not not worker=0":                   {0, 2},
		"worker==0 and NOT(cause~late)":      {0},
		"cause=*gc(*":                        {1}, // a parenthesis of a pattern
		"cause=*(mixed*, worker=0":           {2},
		"cause>G and cause<T":                {1, 2},
	} {
		if condition == "cause=System.gc() and more" || condition == "cause=G1 (mixed), late" {
			if _, err := Parse(condition); err == nil {
				t.Errorf("%s: no error", condition)
			}
			continue
		}
		if got := met(t, condition); !slices.Equal(got, want) {
			t.Errorf("%s: rows %v, want %v", condition, got, want)
		}
	}
}

// TestMistakes: errors say where the mistake is, and what may have been meant.
func TestMistakes(t *testing.T) {
	for condition, want := range map[string]string{
		"":                       `at the end: want a column, not ""`,
		"worker":                 `at character 1: "worker" is no condition, want a column, one of =`,
		"worker=0 and":           `at the end: want a column, not ""`,
		"worker=0 or or=1":       `at character 13: pauses have no column "or"`,
		"(worker=0":              `at the end: want a closing parenthesis`,
		"worker=0)":              `at character 8: "0)" is not a number, which worker is`,
		"(cause=*f(*)":           `at the end: want a closing parenthesis`,
		"not (cause=f(x":         `at character 12: a parenthesis in the value is not closed; put the value in quotes`,
		`cause="x`:               `at character 7: a quote is not closed`,
		"wörker=1 and werker=0":  `at character 1: pauses have no column "wörker"; near are worker`,
		"worker=1 and stoped=0":  `at character 14: pauses have no column "stoped"; the columns are cause,`,
		"worker=1, stoped_ns<5":  `at character 11: pauses have no column "stoped_ns"; near are stopped_ns`,
		"stopped_ns>5 MiB":       `at character 12: duration "5 MiB": want a number and one of ns`,
		"worker=two":             `at character 8: "two" is not a number, which worker is`,
		"worker=0x10":            `at character 8: "0x10" is not a number`,
		"live_share>half":        `at character 12: share "half": want a number`,
		"full>true":              `at character 6: full is true or false; write full=true`,
		"ages>3":                 `at character 6: ages has a list in each row`,
		strings.Repeat("(", 200): `at character 102: parentheses nest more than 100 deep`,
	} {
		e, err := Parse(condition)
		if err == nil {
			all := pauses()
			_, err = e.Bind(Find(&all))
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", condition, err, want)
		}
	}
}

func rowsOf(t *testing.T, table tabular.Table) (out []string) {
	t.Helper()
	err := table.Each(func(row []tabular.Cell) bool {
		var cells []string
		for i := range row {
			cells = append(cells, row[i].String(table.Columns[i].Type))
		}
		out = append(out, strings.Join(cells, "|"))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGroup: sums, largest values and means by keys; what contains each other is added up only by name.
func TestGroup(t *testing.T) {
	byWorker, err := Group(pauses(), []string{"worker"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(t, byWorker), []string{"0|2|3000040|5242880|1500020", "1|1|900000||900000", "11|1|9007199254740993|0|9007199254740992"}; !slices.Equal(got, want) {
		t.Errorf("by worker: %q, want %q", got, want)
	}
	byCause, err := Group(pauses(), []string{"brought by", "worker"})
	if err != nil {
		t.Fatal(err)
	}
	if got := rowsOf(t, byCause); len(got) != 4 || got[2] != "G1 (mixed), late|0|1|40|1048576|40|40" || byCause.Columns[0].Name != "brought_by" {
		t.Errorf("by cause: %q", got)
	}
	for by, want := range map[string]string{
		"stopped_ns": "stopped_ns is not a key of pauses; the keys are cause, worker",
		"wurker":     `pauses have no column "wurker"; near are worker`,
		"worker":     "pauses cannot be added up: one row is one pause",
	} {
		table := pauses()
		if by == "worker" {
			table.Plain = "one row is one pause"
		}
		if _, err := Group(table, []string{by}); err == nil || err.Error() != want {
			t.Errorf("by %s: %v, want %s", by, err, want)
		}
	}
}

// TestSort: unknown values are last in both directions, and the first rows are those of the whole order.
func TestSort(t *testing.T) {
	for _, tc := range []struct {
		by   string
		top  int
		want []string
	}{
		{"freed_bytes", 0, []string{"11", "0", "0", "1"}}, {"-freed_bytes", 0, []string{"0", "0", "11", "1"}},
		{"-stopped_ns", 2, []string{"11", "0"}}, {"cause", 1, []string{"11"}},
	} {
		sorted, err := Sort(pauses(), tc.by, tc.top)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range rowsOf(t, sorted) {
			got = append(got, strings.Split(line, "|")[1])
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("by %s: workers %v, want %v", tc.by, got, tc.want)
		}
	}
	if got := rowsOf(t, Top(pauses(), 2)); len(got) != 2 {
		t.Errorf("the first two rows are %q", got)
	}
}

// FuzzParse: a condition is read or refused at a place in it, and one that is read means the opposite with "not".
func FuzzParse(f *testing.F) {
	for _, s := range []string{"worker=0 and not (cause~x or full=true)", `cause="a\"b", stopped_ns>1ms`, `"cause=a,b"`, "a=(b)(", "not(worker=1", "live_share<5%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := pauses()
		e, err := Parse(text)
		if err == nil {
			_, err = e.Bind(Find(&all))
		}
		var at *Error
		switch {
		case errors.As(err, &at):
			if at.At < 0 || at.At > len(text) || utf8.ValidString(text) && !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: %v at %d", text, err, at.At)
			}
			return
		case err != nil:
			t.Fatalf("%q: %v has no place", text, err)
		}
		opposite := &Expr{text, &node{op: "not", parts: []*node{e.root}}}
		is, _ := e.Bind(Find(&all))
		isNot, err := opposite.Bind(Find(&all))
		if err != nil {
			t.Fatal(err)
		}
		_ = all.Each(func(row []tabular.Cell) bool {
			cell := func(i int) *tabular.Cell { return &row[i] }
			if is.Match(cell) == isNot.Match(cell) {
				t.Fatalf("%q and its opposite are both %v", text, is.Match(cell))
			}
			return true
		})
	})
}

// TestAll: several conditions must all hold, and a mistake is placed in its own.
func TestAll(t *testing.T) {
	all := pauses()
	e, err := All([]string{"worker=0 or worker=1", "stopped_ns>1us"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Bind(Find(&all))
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	_ = all.Each(func(row []tabular.Cell) bool {
		if f.Match(func(i int) *tabular.Cell { return &row[i] }) {
			met++
		}
		return true
	})
	if met != 2 || e.String() != "(worker=0 or worker=1) and (stopped_ns>1us)" {
		t.Errorf("%s is met by %d rows, want 2", e, met)
	}
	e, err = All([]string{"worker=0", "cause~x and nosuch=1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Bind(Find(&all)); err == nil || !strings.HasPrefix(err.Error(), `at character 13: pauses have no column "nosuch"`) {
		t.Errorf("a wrong name in the second condition: %v", err)
	}
}

// TestNaN: a number that is none meets no comparison.
func TestNaN(t *testing.T) {
	all := pauses()
	for _, condition := range []string{"live_share<1", "live_share>=0", "live_share=0"} {
		e, err := Parse(condition)
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Bind(Find(&all))
		if err != nil {
			t.Fatal(err)
		}
		if f.Match(func(int) *tabular.Cell { return &tabular.Cell{Known: true, Float: math.NaN()} }) {
			t.Errorf("NaN meets %s", condition)
		}
	}
}

// TestGroupOverflow: a sum that has no room in 64 bits is not known, and others are.
func TestGroupOverflow(t *testing.T) {
	const half = int64(1) << 62
	table := tabular.Table{Name: "tanks", Columns: []tabular.Column{{Name: "site", Role: "key"}, {Name: "litres", Type: tabular.Int, Optional: true, Role: "sum"}},
		Each: func(yield func([]tabular.Cell) bool) error {
			for _, r := range []struct {
				site   string
				litres int64
			}{{"A", half}, {"B", half}, {"A", half}, {"B", half - 3}, {"A", -5}} {
				if !yield([]tabular.Cell{tabular.Of(r.site), tabular.Number(r.litres)}) {
					break
				}
			}
			return nil
		}}
	sums, err := Group(table, []string{"site"})
	if err != nil {
		t.Fatal(err)
	}
	if err := sums.Each(func(row []tabular.Cell) bool {
		if got := row[2]; row[0].Text == "A" && got.Known || row[0].Text == "B" && (!got.Known || got.Int != 2*(half-2)+1) {
			t.Errorf("the sum of %s is %+v", row[0].Text, got)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
}

// TestQuote: a value that is written again is read as the same value, and quoted only where it must be.
func TestQuote(t *testing.T) {
	for value, want := range map[string]string{
		"gemm": "gemm", "": "", "a b": "a b", "f(int, float)": "f(int, float)", "*f(*": `"*f(*"`, "a=b": "a=b", `C:\dir`: `C:\dir`,
		"a,b": `"a,b"`, "this and that": `"this and that"`, " a": `" a"`, "a)": `"a)"`, "{x}": `"{x}"`,
		`say "hi"`: `"say \"hi\""`, `"`: `"\""`, `\"`: `"\\\""`, "sand or": `"sand or"`,
	} {
		got := Quote(value)
		e, err := Parse("(key=" + got + ")")
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		if terms, all := e.Terms(); got != want || !all || len(terms) != 1 || terms[0].Value != value {
			t.Errorf("Quote(%q) is %s, want %s, read as %q", value, got, want, terms)
		}
	}
}
