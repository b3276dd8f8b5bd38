package excerpt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

const pumps = `{"schema":"plant/1","site":"north","verdict":{"bound":"flow","sentence":"the main valve is half closed"},
"pumps":[
 {"name":"P-1","room":2,"litres":900,"notes":["noisy","hot"]},
 {"name":"P-2","room":1,"litres":700,"notes":[]},
 {"name":"P-3","room":1,"litres":"7\u00e90","notes":["Leaks at the FLANGE"]}],
"lab":{"probes":[{"id":"a","ph":7.10},{"id":"b","ph":6.9e0}]}}`

func pumpKeys(path string, texts func(string) []string) []string {
	if path == "pumps" {
		return []string{"name", "room"}
	}
	return nil
}

func take(t *testing.T, doc string, o Options) (string, map[string]any) {
	t.Helper()
	d, err := Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	out := d.Take(o)
	var v map[string]any
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v in:\n%s", err, out)
	}
	return string(out), v
}

// TestTake: what each option keeps of a small document.
func TestTake(t *testing.T) {
	more := func(path string, shown int, rows bool) string {
		return fmt.Sprintf("%s from %d, rows %t", path, shown, rows)
	}
	for name, c := range map[string]struct {
		o          Options
		has, lacks []string
	}{
		"all":          {Options{Keys: pumpKeys}, []string{`"P-1"`, `7.10`, `6.9e0`, `"7\u00e90"`, `"row_id": "pumps/P-1/2"`, `"row_id": "lab.probes/`}, []string{Mark}},
		"fields":       {Options{Fields: []string{"pumps.litres", "verdict.bound"}}, []string{`"bound"`, `900`, `"schema"`, RowID}, []string{"sentence", "P-1", "lab", Mark}},
		"field below":  {Options{Fields: []string{"lab"}}, []string{`"ph": 7.10`}, []string{"pumps"}},
		"wide, narrow": {Options{Fields: []string{"lab", "lab.probes.id"}}, []string{`"ph": 7.10`}, nil},
		"narrow, wide": {Options{Fields: []string{"lab.probes.id", "lab"}}, []string{`"ph": 7.10`}, nil},
		"top":          {Options{Top: 1, More: more}, []string{`"P-1"`, `{"list": "pumps", "items": 3, "shown": 1}`, `{"list": "lab.probes", "items": 2, "shown": 1}`, `"pumps from 1, rows true"`, `"hot"`}, []string{"P-2", "6.9e0"}},
		"skip":         {Options{Skip: 1, Top: 1, More: more}, []string{`"P-2"`, `"shown": 1, "skipped": 1`, `"pumps from 2, rows true"`}, []string{"P-1", "P-3"}},
		"skip all":     {Options{Skip: 9}, []string{`"pumps": []`}, []string{"P-1"}},
		"find":         {Options{Find: "flange"}, []string{"P-3", `"schema"`}, []string{"P-1", "lab", "verdict", Mark}},
		"find a row":   {Options{Find: "pumps/P-2", Keys: pumpKeys}, []string{"P-2"}, []string{"P-1", "P-3"}},
		"find, fields": {Options{Find: "p-2", Fields: []string{"verdict", "pumps.litres"}}, []string{"700", "flow"}, []string{"900", "P-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := take(t, pumps, c.o)
			for _, text := range c.has {
				if !strings.Contains(out, text) {
					t.Errorf("lacks %s in\n%s", text, out)
				}
			}
			for _, text := range c.lacks {
				if strings.Contains(out, text) {
					t.Errorf("has %s in\n%s", text, out)
				}
			}
		})
	}
}

// ids returns the ids of the rows of a list, by a text of the row.
func ids(v map[string]any, list string) map[string]string {
	out := map[string]string{}
	for _, row := range v[list].([]any) {
		r := row.(map[string]any)
		text, _ := json.Marshal(r["n"])
		out[string(text)] = r[RowID].(string)
	}
	return out
}

// TestRowIDs: ids are unique, and stay the same in another order, with other rows, limits and fields.
func TestRowIDs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 1))
	for range 50 {
		var rows []string
		for i := range 3 + rnd.IntN(20) {
			rows = append(rows, fmt.Sprintf(`{"name":"k%d","dev":%d,"n":%d}`, rnd.IntN(8), rnd.IntN(3), i))
		}
		keys := func(string, func(string) []string) []string { return []string{"name", "dev"} }
		if rnd.IntN(2) == 0 {
			keys = nil
		}
		doc := func() string { return `{"rows":[` + strings.Join(rows, ",") + `]}` }
		_, v := take(t, doc(), Options{Keys: keys})
		was := ids(v, "rows")
		unique := map[string]bool{}
		for _, id := range was {
			unique[id] = true
		}
		if len(unique) != len(rows) {
			t.Fatalf("%d ids of %d rows", len(unique), len(rows))
		}
		rnd.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, o := range []Options{{Keys: keys}, {Keys: keys, Top: 2}, {Keys: keys, Skip: 1}, {Keys: keys, Fields: []string{"rows.n"}}, {Keys: keys, MaxBytes: LeastBytes}} {
			_, v := take(t, doc(), o)
			for n, id := range ids(v, "rows") {
				if was[n] != id {
					t.Errorf("%+v: row %s has the id %s, had %s", o, n, id, was[n])
				}
			}
		}
	}
}

// value makes a random JSON value.
func value(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(8); {
	case n < 2 && depth > 0:
		list := make([]any, rnd.IntN(12))
		for i := range list {
			list[i] = value(rnd, depth-1)
		}
		return list
	case n < 4 && depth > 0:
		o := map[string]any{}
		for range rnd.IntN(12) {
			o[fmt.Sprintf("m%d", rnd.IntN(100))] = value(rnd, depth-1)
		}
		return o
	case n < 6:
		return strings.Repeat([]string{"a", "é", "\n", "😀", "<\"\\", "\x7f"}[rnd.IntN(6)], rnd.IntN(300))
	case n == 6:
		return rnd.Int64()
	}
	return []any{true, false, nil, 0.5}[rnd.IntN(4)]
}

// TestMaxBytes: whatever the document, the result is valid JSON within the limit, and says so if it is less.
func TestMaxBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 2))
	for range 60 {
		doc := map[string]any{"schema": "x/1"}
		for i := range 1 + rnd.IntN(40) {
			doc[fmt.Sprintf("member_%d", i)] = value(rnd, 4)
		}
		rows := make([]any, rnd.IntN(400))
		for i := range rows {
			rows[i] = map[string]any{"name": fmt.Sprint("row ", i), "text": value(rnd, 0)}
		}
		doc["rows"] = rows
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := take(t, string(text), Options{})
		for _, most := range []int{LeastBytes, 2000, 5000, 20_000, len(whole)} {
			most = max(most, LeastBytes)
			out, v := take(t, string(text), Options{MaxBytes: most, First: []string{"rows"}, More: func(string, int, bool) string { return "ask again" }})
			if len(out) > most {
				t.Fatalf("%d bytes, over %d:\n%s", len(out), most, out)
			}
			mark, marked := v[Mark].(map[string]any)
			if marked == (out == whole) {
				t.Fatalf("of %d bytes within %d: marked %t\n%s", len(whole), most, marked, out)
			}
			if marked && mark["more"] != "ask again" {
				t.Errorf("no way to get more: %v", mark)
			}
			if v["schema"] != "x/1" {
				t.Errorf("no schema in %s", out)
			}
		}
	}
}

// TestCounts: the numbers of items in the mark are those of the document.
func TestCounts(t *testing.T) {
	var rows []string
	for i := range 500 {
		rows = append(rows, fmt.Sprintf(`{"name":"row %d","parts":[1,2,3,4,5,6,7,8]}`, i))
	}
	out, v := take(t, `{"schema":"x/1","rows":[`+strings.Join(rows, ",")+`]}`, Options{MaxBytes: 4000})
	shown := len(v["rows"].([]any))
	lists := v[Mark].(map[string]any)["lists"].([]any)
	want := map[string]any{"list": "rows", "items": 500.0, "shown": float64(shown)}
	if shown < 10 || !reflect.DeepEqual(lists[0], want) {
		t.Errorf("got %v, want %v:\n%s", lists[0], want, out)
	}
}

// TestFirst: what comes first stays when the rest has no room.
func TestFirst(t *testing.T) {
	big := `"` + strings.Repeat("x", 300) + `"`
	doc := `{"schema":"x/1","log":[` + strings.Repeat(big+",", 50) + big + `],"table":{"a":` + big + `,"b":` + big + `},"answer":"it is the cable"}`
	_, v := take(t, doc, Options{MaxBytes: LeastBytes, First: []string{"answer"}})
	if v["answer"] != "it is the cable" {
		t.Errorf("got %v", v)
	}
	left := v[Mark].(map[string]any)["members_left_out"].([]any)
	if !slices.Contains(left, any("log")) {
		t.Errorf("left out %v", left)
	}
}

// TestRowsBeforeTexts: with little room, rows are left out and the answer and the first rows keep their texts; texts of
// rows are shortened only when not even one row has room, and those of the answer when nothing else is left.
func TestRowsBeforeTexts(t *testing.T) {
	row := func(n int) string { return fmt.Sprintf(`{"title":"%d %s"}`, n, strings.Repeat("t", n)) }
	doc := func(answer int, rows ...string) string {
		return `{"schema":"x/1","log":["` + strings.Repeat("l", 5000) + `"],"answer":{"says":"` + strings.Repeat("a", answer) + `"},"findings":[` + strings.Join(rows, ",") + `]}`
	}
	for _, c := range []struct {
		doc           string
		titles        []int // lengths of the texts that are shown, without their numbers
		answer        int
		cut, findings bool
	}{
		{doc(300, row(350), row(300), row(250), row(200)), []int{350}, 300, false, true},
		{doc(100, row(150), row(160), row(800), row(20)), []int{150, 160}, 100, false, true},
		{doc(300, row(2000), row(10)), []int{-1, 10}, 300, true, true},
		{doc(600, row(2000), row(10)), nil, 600, false, false},
		{doc(3000, row(2000), row(10)), nil, -1, true, false},
	} {
		out, v := take(t, c.doc, Options{MaxBytes: LeastBytes, First: []string{"answer", "findings"}, Whole: []string{"answer", "findings"}})
		says := v["answer"].(map[string]any)["says"].(string)
		if c.answer >= 0 && len(says) != c.answer || c.answer < 0 && !strings.HasSuffix(says, "…") {
			t.Errorf("the answer has %d bytes, want %d:\n%s", len(says), c.answer, out)
		}
		if marked := strings.Contains(out, "texts_cut_to_bytes"); marked != c.cut {
			t.Errorf("texts are marked as cut: %t\n%s", marked, out)
		}
		rows, _ := v["findings"].([]any)
		if len(rows) != len(c.titles) || c.findings != (v["findings"] != nil) {
			t.Errorf("%d rows, want %d:\n%s", len(rows), len(c.titles), out)
			continue
		}
		for i, r := range rows {
			title := r.(map[string]any)["title"].(string)
			if _, text, _ := strings.Cut(title, " "); c.titles[i] >= 0 && len(text) != c.titles[i] || c.titles[i] < 0 && !strings.HasSuffix(title, "…") {
				t.Errorf("row %d is %q", i, title)
			}
		}
	}
}

// TestNamesBeforeRows: long names are shortened if all rows that are asked for fit then, and rows are left out if not.
func TestNamesBeforeRows(t *testing.T) {
	doc := func(rows int) string {
		var list []string
		for i := range rows {
			list = append(list, fmt.Sprintf(`{"name":"valve_%02d<%s>","ns":%d}`, i, strings.Repeat("int, ", 200), i))
		}
		return `{"schema":"x/1","valves":[` + strings.Join(list, ",") + `]}`
	}
	for _, c := range []struct{ rows, most, shown int }{{5, 2000, 5}, {5, 6000, 5}, {40, 3000, 9}} {
		out, v := take(t, doc(c.rows), Options{MaxBytes: c.most})
		if got := len(v["valves"].([]any)); got != c.shown {
			t.Errorf("%d of %d rows in %d bytes, want %d:\n%s", got, c.rows, c.most, c.shown, out)
		}
		if cut := strings.Contains(out, "texts_cut_to_bytes"); cut != (c.most < 6000) {
			t.Errorf("of %d rows in %d bytes, texts are cut: %t", c.rows, c.most, cut)
		}
	}
}

// TestTellApart: rows that the chosen members show alike get the members of their keys in which they differ, and no
// others.
func TestTellApart(t *testing.T) {
	keys := func(string, func(string) []string) []string { return []string{"name", "room", "floor", "tenant"} }
	for _, c := range []struct {
		rows       string
		has, lacks []string
	}{
		{`{"name":"P","room":2,"floor":1,"ns":5},{"name":"P","room":3,"floor":1,"ns":5}`, []string{`"room": 2`, `"room": 3`}, []string{"floor"}},
		{`{"name":"P","room":2,"floor":1,"ns":5},{"name":"Q","room":3,"floor":1,"ns":5},{"name":"P","room":2,"floor":4,"ns":5}`, []string{`"floor": 1`, `"floor": 4`}, []string{"room"}},
		{`{"name":"P","room":2,"ns":5},{"name":"P","room":2,"tenant":"A","ns":5}`, []string{`"tenant": "A"`}, []string{"room"}},
		{`{"name":"P","room":2,"floor":1,"ns":5},{"name":"P","room":3,"floor":1,"ns":6}`, nil, []string{"room", "floor"}},
		{`{"name":"P","room":2,"ns":5},{"name":"Q","room":3,"ns":5}`, nil, []string{"room"}},
	} {
		out, _ := take(t, `{"schema":"x/1","pumps":[`+c.rows+`]}`, Options{Keys: keys, Fields: []string{"pumps.name", "pumps.ns"}})
		for _, text := range c.has {
			if !strings.Contains(out, text) {
				t.Errorf("lacks %s in\n%s", text, out)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(out, text) {
				t.Errorf("has %s in\n%s", text, out)
			}
		}
	}
}

// TestClip: a text is cut between characters, also between those that are escaped.
func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   scalar
		most int
		want scalar
	}{
		{`"abcdef"`, 4, `"abc…"`},
		{`"abcdef"`, 6, `"abcdef"`},
		{`"ab\ncdef"`, 4, `"ab…"`},
		{`"ab\u00e9cdef"`, 6, `"ab…"`},
		{`"\ud83d\ude00abc"`, 8, `"…"`},
		{`"\ud83d\ude00abc"`, 13, `"\ud83d\ude00…"`},
		{`"ééééé"`, 6, `"éé…"`},
		{`"a\\bcdefg"`, 3, `"a…"`},
		{`123456789`, 4, `123456789`},
	} {
		if got := clip(c.in, c.most); got != c.want {
			t.Errorf("clip(%s, %d) = %s, want %s", c.in, c.most, got, c.want)
		}
	}
}

// TestParse: what is no object, or ends early, is refused.
func TestParse(t *testing.T) {
	for _, text := range []string{"", "[]", "1", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":[1,2}`, `{"a":1}}`, `{a:1}`, `{"a":"b}`, `{"a":1,}`} {
		if d, err := Parse(text); err == nil {
			t.Errorf("%s was read: %s", text, d.Take(Options{}))
		}
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(pumps)); err != nil {
		t.Fatal(err)
	}
	d, err := Parse(pumps)
	if err != nil || string(bytes.ReplaceAll(bytes.ReplaceAll(appendTo(nil, d.root), []byte(": "), []byte(":")), []byte(", "), []byte(","))) != b.String() {
		t.Errorf("not the same document: %v\n%s", err, appendTo(nil, d.root))
	}
}
