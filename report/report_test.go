package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/jsonscan"
	"assay/internal/label"
	"assay/internal/test"
	"assay/internal/test/marktest"
	"assay/internal/test/samplerun"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/timeline"
	"assay/report/doc"
	"assay/summary"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// render returns what one of the methods of a Doc writes.
func render(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func text(t *testing.T, d Report, columns int) string {
	return render(t, func(w io.Writer) error { return d.Text(w, columns) })
}

// tableOf returns the cells of the first table below the heading, titles
// first, with the rows that are folded.
func tableOf(t *testing.T, markdown, heading string) [][]string {
	t.Helper()
	_, section, ok := strings.Cut(markdown, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| --") {
			continue
		}
		row := marktest.Cells(line)
		row = row[:len(row)-1]
		if len(rows) > 0 && reflect.DeepEqual(row, rows[0]) {
			continue // the titles are there again where rows unfold
		}
		rows = append(rows, row)
	}
	return rows
}

// numberOf reads "1,234.5" and "60.0%".
func numberOf(t *testing.T, cell string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.ReplaceAll(cell, ",", ""), "%"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestBudgetTable compares the table with the comment of samplerun.Train, and adds it
// up.
func TestBudgetTable(t *testing.T) {
	s := samplerun.Train()
	rows := tableOf(t, render(t, Build(s, judged(s)).Markdown), "GPU time breakdown")
	for i, want := range map[int]string{
		0: "GPU|window (s)|compute (s)|%|exposed comm (s)|%|exposed copies (s)|%|idle (s)|%|overlapped comm",
		1: "mean of 8|1.000|0.600|60.0%|0.235|23.5%|0.020|2.0%|0.145|14.5%|29.9%",
		2: "rank 0 GPU 0|1.000|0.600|60.0%|0.200|20.0%|0.020|2.0%|0.180|18.0%|33.3%",
		9: "rank 7 GPU 7|1.000|0.600|60.0%|0.270|27.0%|0.020|2.0%|0.110|11.0%|27.0%",
	} {
		if got := strings.Join(rows[i], "|"); got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
	for column := 1; column < 10; column++ {
		if rows[0][column] == "%" {
			continue
		}
		sum := 0.0
		for _, row := range rows[2:] {
			sum += numberOf(t, row[column])
		}
		if all := 8 * numberOf(t, rows[1][column]); sum < all-0.0005*16 || sum > all+0.0005*16 {
			t.Errorf("%s sums to %g, printed is %g", rows[0][column], sum, all)
		}
	}
	for _, row := range rows[1:] {
		parts := numberOf(t, row[2]) + numberOf(t, row[4]) + numberOf(t, row[6]) + numberOf(t, row[8])
		if window := numberOf(t, row[1]); parts < window-0.002 || parts > window+0.002 {
			t.Errorf("%s: parts sum to %g of %g", row[0], parts, window)
		}
	}
}

// TestKernelTable compares the table with the comment of samplerun.Train.
func TestKernelTable(t *testing.T) {
	s := samplerun.Train()
	md := render(t, Build(s, judged(s)).Markdown)
	rows := tableOf(t, md, "Kernels")
	for i, want := range []string{
		"kernel|%|total (s)|launches|mean (ms)|min (ms)|max (ms)|class|category|streams|launched by",
		"`ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn`|42.8%|3.200|800|4.000|2.000|8.000|compute|gemm|7|`aten::mm`",
		"`ncclDevKernel_AllReduce_Sum_bf16_RING_LL`|35.8%|2.680|80|33.500|15.000|74.000|comm|all-reduce|20|`aten::mm`",
		"`flash_fwd_kernel`|16.0%|1.200|400|3.000|1.500|6.000|compute|attention|7|`aten::mm`",
		"`mystery_kernel`|3.2%|0.240|24|10.000|5.000|20.000|compute|other|7|`aten::mm`",
		"`vectorized_elementwise_kernel<4, FillFunctor<float>, array<char*, 1ul>>`|2.1%|0.160|1,600|0.100|0.050|0.200|compute|elementwise|7|`aten::mm`",
	} {
		if got := strings.Join(rows[i], "|"); got != want {
			t.Errorf("row %d is\n%s, want\n%s", i, got, want)
		}
	}
	if rows := tableOf(t, md, "Unclassified kernels"); len(rows) != 2 || rows[1][0] != "`mystery_kernel`" {
		t.Errorf("unclassified kernels are %v", rows)
	}
	if rows := tableOf(t, md, "Copies and memsets"); strings.Join(rows[1], "|") !=
		"`Memcpy HtoD (Pinned -> Device)`|copy|100.0%|160.00|32|5.000|8 GiB|53.69 GB/s|98%" { // 8*2^30 B in 160 ms, of the 55 GB/s of PCIe 5.0
		t.Errorf("copies are %v", rows)
	}
}

// TestNoKernelLost: what a table shows and what it counts as hidden are all.
func TestNoKernelLost(t *testing.T) {
	s := samplerun.ManyKernels(300)
	for _, limit := range []int{1 << 20, 40_000, 20_000, 12_000} {
		md := Build(s, judged(s)).Within(limit)
		shown := len(tableOf(t, md, "Kernels")) - 1
		want := strconv.Itoa(300-shown) + " more kernels (" + unit.Share(int64(300-shown), 300) + " of total kernel time)"
		if !strings.Contains(md, "\n"+want+"\n") {
			t.Errorf("limit %d: %d rows shown, but nothing says %q", limit, shown, want)
		}
		shown = len(tableOf(t, md, "Steps")) - 1
		if want := strconv.Itoa(300-shown) + " more steps"; !strings.Contains(md, "\n"+want) {
			t.Errorf("limit %d: %d rows shown, but nothing says %q", limit, shown, want)
		}
	}
}

// TestStepSummaryLimit: it never has more bytes than allowed, says what it
// leaves out, and still is Markdown.
func TestStepSummaryLimit(t *testing.T) {
	for name, s := range samplerun.All() {
		d := Build(s, judged(s))
		whole := len(d.Within(1 << 30))
		limits := []int{200, whole - 50, whole, 1000, 8000}
		for _, limit := range limits[:len(limits)/test.Every(2)] {
			md := d.Within(limit)
			if len(md) > limit {
				t.Fatalf("%s: %d bytes, over %d", name, len(md), limit)
			}
			if len(md) == 0 && limit > 600 {
				t.Errorf("%s: nothing fits %d bytes", name, limit)
			}
			if len(md) > 0 && limit < whole && !strings.Contains(md, " more ") {
				t.Errorf("%s: %d of %d bytes, and nothing says that some are missing", name, len(md), whole)
			}
			marktest.Check(t, name, md)
		}
		for _, c := range d.Charts() {
			if strings.Contains(d.Within(1<<30), c.File()) {
				t.Errorf("%s: the step summary has the picture %s", name, c.File())
			}
		}
	}
}

// TestMarkdown checks the reports of all sample runs, among them the hostile one.
func TestMarkdown(t *testing.T) {
	for name, s := range samplerun.All() {
		r := judged(s)
		if strings.HasPrefix(name, "hostile") {
			_, r = samplerun.Hostile()
		}
		d := Build(s, r)
		md := render(t, d.Markdown)
		marktest.Check(t, name, md)
		for _, c := range d.Charts() {
			if strings.Count(md, "]("+c.File()+")") != 1 {
				t.Errorf("%s: the sections of the report show %s %d times, want once", name, c.File(), strings.Count(md, "]("+c.File()+")"))
			}
		}
		if got := strings.Count(md, "\n<details>\n"); got != strings.Count(md, "\n</details>\n") {
			t.Errorf("%s: %d folds are opened, not all closed", name, got)
		}
	}
}

// TestText: the summary fits one screen, and nothing in it moves a cursor.
func TestText(t *testing.T) {
	for name, s := range samplerun.All() {
		r := judged(s)
		hostile := strings.HasPrefix(name, "hostile")
		if hostile {
			_, r = samplerun.Hostile()
		}
		for _, columns := range []int{80, 120} {
			out := text(t, Build(s, r), columns)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) > 60 && !hostile {
				t.Errorf("%s: %d lines:\n%s", name, len(lines), out)
			}
			for _, line := range lines {
				if label.Width(line) > columns && !hostile {
					t.Errorf("%s: line of %d columns, over %d: %s", name, label.Width(line), columns, line)
				}
				if strings.ContainsFunc(line, marktest.Obeyed) || !utf8.ValidString(line) || strings.TrimRight(line, " ") != line {
					t.Errorf("%s: unclean line %q", name, line)
				}
			}
			if !strings.HasPrefix(out, "Verdict: ") {
				t.Errorf("%s: the verdict does not come first:\n%s", name, out)
			}
		}
	}
}

// TestJSON: what is written reads back as the same summary, with the judgment
// among its fields.
func TestJSON(t *testing.T) {
	for name, s := range samplerun.All() {
		if strings.HasPrefix(name, "hostile") {
			continue // names that are not UTF-8 change on the way
		}
		r := judged(s)
		out := render(t, Build(s, r).JSON)
		back, err := summary.Read(strings.NewReader(out), name)
		if err != nil {
			t.Fatal(err)
		}
		if want := summary.Merge(s); !reflect.DeepEqual(summary.Merge(back), want) {
			t.Errorf("%s: the summary reads back as\n%+v, want\n%+v", name, back, want)
		}
		var got judge.Result
		err = json.Unmarshal([]byte(out), &got)
		if len(got.Findings)+len(r.Findings) == 0 {
			got.Findings = r.Findings // no finding is an empty list in JSON
		}
		r.Part = timeline.Part{}
		for i := range r.Findings { // for the report alone
			r.Findings[i].GainGPUs, r.Findings[i].GainWithout, r.Findings[i].GainOfAll, r.Findings[i].Shown = 0, "", false, nil
		}
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: the judgment reads back as %+v, %v, want %+v", name, got, err, r)
		}
		for _, field := range []string{"inputs", "devices", "kernels", "issues", "findings"} {
			if strings.Contains(out, "\n  \""+field+"\": null") {
				t.Errorf("%s: %s is null", name, field)
			}
		}
	}
}

// TestFindingsJSON: a finding has its steps by id, and their texts and sources.
func TestFindingsJSON(t *testing.T) {
	r := judge.Result{Findings: []finding.Finding{
		{Rule: "a", Next: []finding.Step{{ID: "find-the-late-rank", Args: map[string]string{"rank": "rank <3>"}}, {ID: "send-less"}}},
		{Rule: "b"},
	}}
	var got struct{ Findings []map[string]any }
	if err := json.Unmarshal([]byte(render(t, Build(samplerun.Train(), r).JSON)), &got); err != nil || len(got.Findings) != 2 {
		t.Fatal(err, got)
	}
	wantSteps := []any{map[string]any{"id": "find-the-late-rank", "args": map[string]any{"rank": "rank <3>"}}, map[string]any{"id": "send-less"}}
	f := got.Findings[0]
	texts, _ := f["next"].([]any)
	sources, _ := f["next_sources"].([]any)
	if !reflect.DeepEqual(f["steps"], wantSteps) || len(texts) != 2 || len(sources) != 2 {
		t.Fatalf("%v", f)
	}
	if first, _ := texts[0].(string); !strings.HasPrefix(first, "Find why rank <3> is late") {
		t.Errorf("text %q", first)
	}
	if src, _ := sources[1].(map[string]any); src["title"] != "NVIDIA: Megatron Bridge, Communication Overlap" || src["url"] == "" {
		t.Errorf("source %v", src)
	}
	for _, member := range []string{"steps", "next", "next_sources"} {
		if _, ok := got.Findings[1][member]; ok {
			t.Errorf("a finding without steps has %q", member)
		}
	}
}

// TestJSONLayout holds the layout to that of the standard library: without
// white space both are the same.
func TestJSONLayout(t *testing.T) {
	s, r := samplerun.Hostile()
	out := render(t, Build(s, r).JSON)
	if !utf8.ValidString(out) || !strings.HasSuffix(out, "}\n") || strings.HasSuffix(out, "\n\n") {
		t.Errorf("not text that ends in one line feed: %q", out[len(out)-20:])
	}
	if !strings.Contains(out, `"<script>alert(1)</script>"`) {
		t.Error("angle brackets are not written as they are")
	}
	var compact, again bytes.Buffer
	if err := json.Compact(&compact, []byte(out)); err != nil {
		t.Fatal(err)
	}
	if err := jsonscan.Write(&again, json.RawMessage(compact.Bytes())); err != nil || again.String() != out {
		t.Errorf("laid out again it differs, %v", err)
	}
}

// TestPure: equal input gives equal bytes, and the input stays as it was.
func TestPure(t *testing.T) {
	for name, s := range samplerun.All() {
		before := summary.Merge(s)
		r := judged(s)
		a, b := Build(s, r), Build(s, r)
		if !reflect.DeepEqual(summary.Merge(s), before) {
			t.Errorf("%s: Build changed the summary", name)
		}
		if text(t, a, 80) != text(t, b, 80) || render(t, a.Markdown) != render(t, b.Markdown) || render(t, a.JSON) != render(t, b.JSON) {
			t.Errorf("%s: two reports of one summary differ", name)
		}
		if !reflect.DeepEqual(a.Charts(), b.Charts()) {
			t.Errorf("%s: two sets of charts of one summary differ", name)
		}
	}
}

// A fullDisk takes no byte.
type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestWriteErrors: a report that could not be written is no success.
func TestWriteErrors(t *testing.T) {
	s := samplerun.Train()
	d := Build(s, judged(s))
	for name, write := range map[string]func(io.Writer) error{
		"Text":     func(w io.Writer) error { return d.Text(w, 80) },
		"Markdown": d.Markdown, "StepSummary": d.StepSummary, "JSON": d.JSON, "PNG": d.Charts()[0].PNG,
	} {
		if err := write(fullDisk{}); !errors.Is(err, errFull) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// TestGolden keeps the layout stable. Its numbers are those of the comments of
// samplerun.Train, samplerun.Host, samplerun.Tables and attributed, which other tests check.
func TestGolden(t *testing.T) {
	for name, s := range map[string]*summary.Summary{"train": samplerun.Train(), "host": samplerun.Host(), "attributed": samplerun.Attributed(2), "tables": samplerun.Tables(), "phases": samplerun.Phases(), "layers": samplerun.Layered(2)} {
		d := Build(s, goldenResult(s))
		for file, got := range map[string]string{name + ".txt": text(t, d, 80), name + ".md": render(t, d.Markdown)} {
			path := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is now\n%s\nRun with -update if that is right.", path, got)
			}
		}
	}
}

// goldenResult is a judgment of this package's own, so that a change of
// wording in package judge does not touch the golden files.
// steps returns remedies without blanks.
func steps(ids ...string) (out []finding.Step) {
	for _, id := range ids {
		out = append(out, finding.Step{ID: id})
	}
	return out
}

// says returns a step with a text of its own.
func says(text string) finding.Step {
	return finding.Step{ID: "follow-the-issue", Args: map[string]string{"issue_help": text}}
}

func goldenResult(s *summary.Summary) judge.Result {
	if len(s.Phases) > 0 {
		return samplerun.PhasesResult(s)
	}
	if len(s.Tables) > 0 {
		title := "synchronization is 80.0% of the time in CUDA calls (400 ms of 500 ms), at the critical limit of 80%"
		return judge.Result{
			Verdict:  finding.Verdict{Bound: "unknown", Sentence: title, Rule: "waiting-calls"},
			Findings: []finding.Finding{{Rule: "waiting-calls", Level: finding.Critical, Title: title, Next: steps("remove-synchronization")}},
		}
	}
	if len(s.Devices) == 0 {
		title := "the capture holds no GPU events"
		return judge.Result{
			Verdict:  finding.Verdict{Bound: "unknown", Sentence: title, Rule: "no-gpu-time"},
			Findings: []finding.Finding{{Rule: "no-gpu-time", Level: finding.Warn, Title: title, Next: steps("record-the-gpu")}},
		}
	}
	if len(s.Idle) > 0 {
		title := "GPU idle: 60.2% of GPU time (605 ms of 1.005 s, mean of 2 GPUs); limit 50%"
		return judge.Result{
			Verdict: finding.Verdict{Bound: "host", Sentence: title, Rule: "gpu-idle"},
			Findings: []finding.Finding{{Rule: "gpu-idle", Level: finding.Critical, Title: title,
				Cause: `42.1% of the idle time is host wait: synchronization, mainly in "cudaStreamSynchronize"`, Next: steps("find-the-common-call")}},
		}
	}
	title := "Exposed communication: 23.5% of GPU time (235 ms of 1 s, mean of 8 GPUs); limit 20%"
	return judge.Result{
		Verdict: finding.Verdict{Bound: "communication", Sentence: title, Rule: "exposed-communication"},
		Findings: []finding.Finding{
			{Rule: "exposed-communication", Level: finding.Critical, Title: title,
				Evidence: []string{"worst device: rank 7 GPU 7: 27.0% (270 ms of 1 s)"}, Next: steps("give-all-ranks", "fsdp-prefetch", "send-less")},
			{Rule: "gpu-idle", Level: finding.Info, Title: "GPU idle: 14.5% of GPU time (145 ms of 1 s, mean of 8 GPUs)", Next: steps("launch-less")},
		},
	}
}

// TestHugeMarkdown: a report of a run of thousands of ranks, whose devices, findings
// and issues have no end, stays under what GitHub shows, and says what it leaves out.
func TestHugeMarkdown(t *testing.T) {
	s := samplerun.Train()
	name := strings.Repeat("a_name_without_end_", 20)
	for i := range int64(4_000) {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: fmt.Sprint("kernel_", i, name), Class: "compute", Category: "other", Stream: i, Count: 1, TotalNS: 1000 - i%1000})
		s.Ops = append(s.Ops, summary.Op{Name: fmt.Sprint("op::", i, name), Count: 1, GPUSelfNS: 5})
	}
	for i := range 3_000 {
		s.Issues = append(s.Issues, summary.Issue{Code: fmt.Sprint("issue-", i), Severity: "info", Count: 1, Help: name})
	}
	r := judged(s)
	for i := range 3_000 {
		r.Findings = append(r.Findings, finding.Finding{Rule: "x", Title: fmt.Sprint(i, " ", name), Evidence: []string{name}})
	}
	d := Build(s, r)
	for kind, write := range map[string]func(io.Writer) error{"Markdown": d.Markdown, "StepSummary": d.StepSummary} {
		md := render(t, write)
		if len(md) > doc.StepSummaryLimit || len(md) < doc.StepSummaryLimit/100 {
			t.Errorf("%s: %d bytes, want at most %d and more than a headline", kind, len(md), doc.StepSummaryLimit)
		}
		if !strings.HasPrefix(md, "# ") || !strings.Contains(md, "\n## Verdict") || !strings.Contains(md, " more ") {
			t.Errorf("%s: no verdict, or nothing says that some is missing", kind)
		}
	}
}

// TestFindingsAreSure: a finding says in one line how sure it is, what it could gain
// at most and what would make it sure, and each step where it comes from. What is
// certain stays as it is on the screen.
func TestFindingsAreSure(t *testing.T) {
	gain := int64(2_000_000)
	s := samplerun.Train()
	r := judge.Result{Findings: []finding.Finding{
		{Rule: "a", Level: finding.Warn, Title: "calls wait", GainNS: &gain, GainOfNS: 100_000_000, GainOf: "the window", GainOfAll: true, Confidence: finding.Likely,
			ToBeSure: []string{"record again", "look"}, Next: steps("remove-synchronization", "give-all-ranks")},
		{Rule: "b", Level: finding.Warn, Title: "it idles", Confidence: finding.Certain, ToBeSure: []string{"look"}},
		{Rule: "c", Level: finding.Info, Title: "for information", GainNS: &gain, Confidence: finding.Hint, ToBeSure: []string{"look"}},
	}}
	md := render(t, Build(s, r).Markdown)
	for _, want := range []string{
		"  - Estimated savings: up to 2 ms (2.0%). Confidence: likely\n",
		"makes the CPU wait for the GPU. ([PyTorch: Performance Tuning Guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html))\n",
		"that one is the straggler. (assay: what it measures)\n",
		"  - **to confirm** look\n",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if strings.Contains(md, "**hint**") {
		t.Error("what is for information is told to be a hint")
	}
	screen := text(t, Build(s, r), 80)
	if strings.Count(screen, "Confidence: likely") != 1 || strings.Count(screen, "Confidence: certain") != 1 || strings.Contains(screen, "Confidence: hint") {
		t.Errorf("the screen says\n%s", screen)
	}
}
