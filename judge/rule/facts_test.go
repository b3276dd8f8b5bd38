package rule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWhen goes through the forms of a condition.
func TestWhen(t *testing.T) {
	facts := Facts{"nsys": "yes", "plain": "", "vllm": "yes", "top": "gemv"}
	for when, want := range map[When]bool{
		"": true, "nsys": true, "!nsys": false, "plain": false, "!plain": true, "nsys,vllm": true, "nsys, plain": false, "nsys, !plain": true,
		"top=gemv": true, "top=reduction": false, "top!=gemv": false, "top!=reduction": true, "plain=yes": false, "plain!=yes": true,
		"undecided": true, "!undecided": true, "undecided=x, plain": false,
	} {
		if got := when.Matches(facts); got != want {
			t.Errorf("%q holds: %t, want %t", when, got, want)
		}
	}
}

// TestFactsPage: the table of docs/adding-a-rule.md is that of the facts, and no word is in two rows.
func TestFactsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/adding-a-rule.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	table := "| word | holds if | found by |\n|---|---|---|\n"
	for _, f := range FactsTable() {
		words := "`" + strings.Join(f.Words, "`, `") + "`"
		if f.Values != nil {
			words += " (" + strings.Join(f.Values, ", ") + ")"
		}
		table += "| " + words + " | " + f.Meaning + " | " + f.Found + " |\n"
		all = append(all, f.Words...)
	}
	if !strings.Contains(string(page), "\n"+table+"\n") {
		t.Errorf("docs/adding-a-rule.md lacks the table of the facts:\n%s", table)
	}
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("a word is in two rows: %q", all)
	}
}

// TestPublished: the fields of a remedy say which software it is for; the whole condition is there, too. A condition
// with a word that no fact has is refused.
func TestPublished(t *testing.T) {
	r := Remedy{ID: "x", When: "vllm,maybe-fsdp,!plain,nsys,gpu!=intel,rl"}
	r.publish()
	if !slices.Equal(r.Stacks, []string{"vllm", "fsdp"}) || r.Plain || !r.Nsys {
		t.Errorf("got %+v", r)
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"when":"vllm,maybe-fsdp,!plain,nsys,gpu!=intel,rl"`) {
		t.Errorf("%s (%v)", text, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a condition with an unknown word was published as software")
		}
	}()
	unknown := Remedy{ID: "x", When: "vlllm"}
	unknown.publish()
}
