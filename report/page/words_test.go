package page

import (
	"strings"
	"testing"
)

// TestSay: words of the head, the facts and the findings are replaced; nil replaces none.
func TestSay(t *testing.T) {
	p := Page{Head: Head{Sentence: "GPU idle", First: []string{"a GPU"}}, Facts: []Fact{{Name: "GPU busy"}}, Budget: &Budget{Of: "the window, mean of 4 GPUs"},
		Findings: []Finding{{Title: "GPU idle", Fixes: []Fix{{Text: "the GPU"}}, Places: []Target{{Label: "GPU 2"}}}}}
	p.Say(nil)
	if p.Facts[0].Name != "GPU busy" {
		t.Error(p.Facts)
	}
	p.Say(func(s string) string { return strings.ReplaceAll(s, "GPU", "TPU") })
	f := p.Findings[0]
	if got, want := strings.Join([]string{p.Head.Sentence, p.Head.First[0], p.Facts[0].Name, p.Budget.Of, f.Title, f.Fixes[0].Text, f.Places[0].Label}, "; "),
		"TPU idle; a TPU; TPU busy; the window, mean of 4 TPUs; TPU idle; the TPU; TPU 2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
