package summary

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/summary/row"
)

// untagged are the numeric fields of described rows without a tag, each with the reason.
var untagged = map[string]string{
	"RoleTime.Inputs": "says how a row was found", "RoleTime.Covered": "says how a row was found",
	"RoleTime.InUseNS": "is part of the row of work, and of no sum",
	"Op.Shapes":        "the inputs of an operator on several ranks are mostly the same, so their numbers do not add up",
}

// TestDescribed: every type of row has a description or a reason to have none, and every number of a described
// row has a meaning or a reason.
func TestDescribed(t *testing.T) {
	for _, m := range members {
		v := reflect.ValueOf(m).Elem()
		if described, plain := !v.FieldByName("Described").IsNil(), v.FieldByName("Plain").String() != ""; described == plain {
			t.Errorf("members, %s: want either Described, a description, or Plain, a reason to have none", m.Name())
		}
	}
	reasons := 0
	for _, k := range Described() {
		for i := range k.Row.NumField() {
			f := k.Row.Field(i)
			kind := f.Type.Kind()
			if kind == reflect.Pointer {
				kind = f.Type.Elem().Kind()
			}
			_, tagged := f.Tag.Lookup("row")
			if name := k.Row.Name() + "." + f.Name; untagged[name] != "" {
				reasons++
			} else if (kind == reflect.Int || kind == reflect.Int64) && !tagged {
				t.Errorf("%s has no tag; give it one, or a reason in untagged", name)
			}
		}
	}
	if reasons != len(untagged) {
		t.Errorf("untagged has %d reasons, of which %d are of fields", len(untagged), reasons)
	}
	for _, name := range firstDescribed {
		if !slices.ContainsFunc(members, func(m Member) bool { return m.Name() == name && m.Kind() != nil }) {
			t.Errorf("firstDescribed has %q, which has no description", name)
		}
	}
}

// TestBy: however rows are grouped, what the groups have is what the rows have; ties are in the
// order of the keys; other keys keep their weights.
func TestBy(t *testing.T) {
	list := []Kernel{
		{Name: "b", Op: "x", Rank: 10, Count: 2, TotalNS: 6, MinNS: 2, MaxNS: 4},
		{Name: "a", Op: "y", Rank: 2, Count: 1, TotalNS: 9, MinNS: 9, MaxNS: 9},
		{Name: "b", Op: "y", Rank: 2, Count: 1, TotalNS: 3, MinNS: 3, MaxNS: 3},
		{Name: "b", Op: "", Rank: 2, Count: 1, TotalNS: 3, MinNS: 1, MaxNS: 3},
	}
	for _, tc := range []struct {
		keys []string
		want string
	}{
		{nil, "=21"},
		{[]string{"kernel"}, "b=12 a=9"},
		{[]string{"rank"}, "2=15 10=6"},
		{[]string{"launched by", "rank"}, "y/2=12 x/10=6 /2=3"},
	} {
		table := Kernels().By(list, tc.keys...)
		var got []string
		for i := range table.Rows {
			r := &table.Rows[i]
			var keys []string
			for _, k := range tc.keys {
				keys = append(keys, table.Text(r, k))
			}
			got = append(got, strings.Join(keys, "/")+"="+strconv.FormatInt(table.Main(r), 10))
		}
		if text := strings.Join(got, " "); text != tc.want || table.Whole != 21 || table.Sum("total") != 21 || table.Sum("launches") != 5 {
			t.Errorf("by %q: got %s of %d, want %s of 21", tc.keys, text, table.Whole, tc.want)
		}
	}
	table := Kernels().By(list, "kernel")
	b := &table.Rows[0]
	if table.Number(b, "min") != 1 || table.Number(b, "max") != 4 || table.Number(b, "mean") != 3 {
		t.Errorf("min %d, max %d, mean %d: want 1, 4, 3", table.Number(b, "min"), table.Number(b, "max"), table.Number(b, "mean"))
	}
	if got := table.Values(b, "launched by"); !reflect.DeepEqual(got, []row.Value{{Text: "x", Main: 6}, {Text: "", Main: 3}, {Text: "y", Main: 3}}) {
		t.Errorf("launched by %v", got)
	}
	if got := table.Values(b, "rank"); len(got) != 2 || got[0].Text != "2" {
		t.Errorf("ranks %v, want 2 before 10", got)
	}
	some := Kernels().Where(list, map[string]string{"kernel": "b*", "op": "y"}).([]Kernel)
	if len(some) != 1 || some[0].TotalNS != 3 {
		t.Errorf("rows of b by y: %v", some)
	}
}

// TestByOwner: causes are in their own order, which is not that of letters.
func TestByOwner(t *testing.T) {
	list := []Idle{{Owner: "later"}, {Owner: OwnerUnknown}, {Owner: OwnerDependency}, {Owner: OwnerHost}}
	table := Idles().By(list, "owner")
	var got []string
	for i := range table.Rows {
		got = append(got, table.Text(&table.Rows[i], "owner"))
	}
	if want := []string{OwnerHost, OwnerDependency, OwnerUnknown, "later"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestKeysWithAnyByte: names with null bytes do not make rows of different keys equal.
func TestKeysWithAnyByte(t *testing.T) {
	list := []Kernel{{Name: "a\x00b", Op: "c", TotalNS: 1}, {Name: "a", Op: "b\x00c", TotalNS: 2}}
	if table := Kernels().By(list, "kernel", "launched by"); len(table.Rows) != 2 {
		t.Errorf("%d rows, want 2", len(table.Rows))
	}
}
