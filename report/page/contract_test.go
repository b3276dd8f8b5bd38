package page_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/summary"
)

// dataOf returns the JSON of a page, as a browser takes it out of the file.
func dataOf(t testing.TB, text []byte) []byte {
	t.Helper()
	m := regexp.MustCompile(`id="data">([A-Za-z0-9+/=]*)</script>`).FindSubmatch(text)
	if m == nil {
		t.Fatal("the page has no data, or not as base64")
	}
	zipped, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDataMembers: the script knows every member of the data, by the interfaces of model.ts.
func TestDataMembers(t *testing.T) {
	model, err := os.ReadFile("../web/model.ts")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?s)interface \w+(?: extends \w+)? \{(.*?)\n?\}\n`).FindAllSubmatch(model, -1) {
		for _, field := range regexp.MustCompile(`(\w+)\??:`).FindAllSubmatch(m[1], -1) {
			known[string(field[1])] = true
		}
	}
	members := 0
	for name, html := range samples(t) {
		var all any
		if err := json.Unmarshal(dataOf(t, html), &all); err != nil {
			t.Fatal(err)
		}
		var walk func(path string, v any)
		walk = func(path string, v any) {
			switch v := v.(type) {
			case []any:
				for _, x := range v {
					walk(path, x)
				}
			case map[string]any:
				for k, x := range v {
					if !strings.HasSuffix(path, ".tidy") {
						if members++; !known[k] {
							t.Errorf("%s: model.ts has no member %s%s", name, path, "."+k)
						}
					}
					walk(path+"."+k, x)
				}
			}
		}
		walk("", all)
	}
	if members < 1000 || len(known) < 100 {
		t.Errorf("only %d members were looked up in %d", members, len(known))
	}
}

// pageData is what the tests of sums read of the data. It is written from the description in
// model.ts, not from the code that writes it.
type pageData struct {
	Names  []string
	Budget *struct {
		Window int64
		Parts  []int64
	}
	Devices []struct {
		Rank   int
		Window int64
		Bin    int64
		Cells  []string
		Steps  *struct {
			NS    []int64
			Parts [][]int64
		}
		Lanes []struct {
			At, NS []int64
			Class  string
		}
		Left   int64
		LeftNS int64
	}
	Tables []struct {
		ID      string
		Share   int
		Columns []struct {
			Kind   string
			Values []int64
		}
	}
	Graphs []struct {
		Caller, Callee []int
		Total          []int64
	}
}

func read(t testing.TB, html []byte) (d pageData) {
	t.Helper()
	if err := json.Unmarshal(dataOf(t, html), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// shareSum returns the sum of the column that the shares of a table are of.
func (d pageData) shareSum(id string) (sum int64) {
	for _, tab := range d.Tables {
		if tab.ID == id {
			for _, v := range tab.Columns[tab.Share].Values {
				sum += v
			}
		}
	}
	return sum
}

// TestDataSums: what the page has adds up to what the summary has.
func TestDataSums(t *testing.T) {
	for name, s := range map[string]*summary.Summary{"train": train(t), "ranks": rankJob(t, 4)} {
		d := read(t, htmlOf(t, s))
		want := map[string]int64{}
		for _, k := range s.Kernels {
			want["kernels"] += k.TotalNS
		}
		for _, o := range s.Ops {
			want["operators"] += o.GPUSelfNS
		}
		for _, i := range s.Idle {
			want["idle"] += i.NS
		}
		for _, c := range s.Calls {
			want["calls"] += c.TotalNS
		}
		for _, c := range s.Copies {
			want["copies"] += c.TotalNS
		}
		for id, ns := range want {
			if got := d.shareSum(id); got != ns {
				t.Errorf("%s: the rows of %s have %d ns, want %d", name, id, got, ns)
			}
		}
		if want["kernels"] == 0 || want["operators"] == 0 {
			t.Errorf("%s: nothing to add up", name)
		}
		if sum := d.Budget.Parts[0] + d.Budget.Parts[1] + d.Budget.Parts[2] + d.Budget.Parts[3]; sum-d.Budget.Window > 4 || d.Budget.Window-sum > 4 {
			t.Errorf("%s: the parts have %d ns of %d", name, sum, d.Budget.Window)
		}
		for i := range d.Devices {
			dev := &d.Devices[i]
			a := s.Devices[slices.IndexFunc(s.Devices, func(x summary.Device) bool { return x.Rank == dev.Rank })].Activity
			// A level is a 90th of a bin, and rounding is carried on: sums are exact to one level.
			for k, ns := range []int64{a.Compute(), a.ExposedComm(), a.ExposedCopy()} {
				levels := int64(0)
				for _, c := range []byte(dev.Cells[k]) {
					if c > '\\' {
						c--
					}
					levels += int64(c - '#')
				}
				if got := levels * dev.Bin / 90; got-ns > dev.Bin/90+1 || ns-got > dev.Bin/90+1 {
					t.Errorf("%s: part %d of rank %d has %d ns in cells, want %d", name, k, dev.Rank, got, ns)
				}
			}
			for k := range dev.Steps.NS {
				if sum := dev.Steps.Parts[0][k] + dev.Steps.Parts[1][k] + dev.Steps.Parts[2][k] + dev.Steps.Parts[3][k]; sum != dev.Steps.NS[k] {
					t.Errorf("%s: the parts of step %d have %d ns of %d", name, k, sum, dev.Steps.NS[k])
				}
			}
			work, spans := int64(0), int64(0)
			for _, k := range s.Kernels {
				if k.Rank == dev.Rank {
					work += k.TotalNS
				}
			}
			for _, c := range s.Copies {
				if c.Rank == dev.Rank {
					work += c.TotalNS
				}
			}
			for _, l := range dev.Lanes {
				for _, ns := range l.NS {
					spans += ns
				}
			}
			if spans+dev.LeftNS != work {
				t.Errorf("%s: the operations of rank %d have %d ns and %d left out, want %d", name, dev.Rank, spans, dev.LeftNS, work)
			}
		}
	}
}

// TestCallGraph: a profile has its functions as a table, and who called whom.
func TestCallGraph(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	s := samplerun.Profile()
	s.Flames = nil
	for i := range s.Tables {
		if e := &s.Tables[i]; e.Of == summary.OfEdge {
			e.Rows = append(e.Rows, summary.TableRow{Name: "leaf", Labels: map[string]string{"caller": "root", "caller_file": "a.py"}, Values: []*int64{n(7)}})
		}
	}
	d := read(t, htmlOf(t, s))
	if len(d.Graphs) != 1 {
		t.Fatalf("%d graphs", len(d.Graphs))
	}
	g, found := d.Graphs[0], false
	for i := range g.Callee {
		found = found || d.Names[g.Callee[i]] == "leaf" && d.Names[g.Caller[i]] == "root (a.py)" && g.Total[i] == 7
	}
	if !found {
		t.Errorf("the call of leaf by root is not there: %+v", g)
	}
	var want int64
	for _, tab := range s.Tables {
		if tab.Of == summary.OfFunction {
			want, _ = tab.Sum(tab.Column("self"))
			break
		}
	}
	id := ""
	for _, tab := range d.Tables {
		if strings.HasPrefix(tab.ID, "functions-") {
			id = tab.ID
			break
		}
	}
	if got := d.shareSum(id); got != want || want == 0 {
		t.Errorf("the functions have %d, want %d", got, want)
	}
}
