package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// fake returns n characters of a made-up token, so that no scanner of repositories
// takes this file for a leak.
func fake(n int) string {
	const letters = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7"
	return strings.Repeat(letters, n/len(letters)+1)[:n]
}

func capitals(n int) string { return strings.ToUpper(fake(n)) }

// secrets are one of each format, with what may stay in its place.
func secrets() map[string]string {
	return map[string]string{
		"hf_" + fake(34): "[hf]",
		"sk-" + fake(48): "[sk]",
		"sk-ant-api03-" + fake(20) + "-_" + fake(12): "[sk]",
		"ghp_" + fake(36):        "[github]",
		"github_pat_" + fake(40): "[github]",
		"glpat-" + fake(20):      "[gitlab]",
		"AKIA" + capitals(16):    "[aws]",
		"xoxb-" + fake(24):       "[slack]",
		"AIza" + fake(35):        "[google]",
		"npm_" + fake(36):        "[npm]",
		"nvapi-" + fake(64):      "[nvidia]",
		"eyJ" + fake(20) + ".eyJ" + fake(30) + "." + fake(30): "[jwt]",
	}
}

func TestMask(t *testing.T) {
	for secret, want := range secrets() {
		for _, around := range []string{"%s", "push %s now", `{"token":"%s"}`, "a=%s,b", "(%s)"} {
			text := fmt.Sprintf(around, secret)
			if got := Mask(text); got != fmt.Sprintf(around, want) {
				t.Errorf("%q of %s is %q", around, want, got)
			}
		}
	}
	for text, want := range map[string]string{ // a mark within a word
		"xAKIA" + capitals(16): "xAKIA" + capitals(16), "xsk-" + fake(48): "xsk-" + fake(48), "task-" + fake(48): "task-" + fake(48),
		"xghp_" + fake(36): "x[github]", "9glpat-" + fake(20): "9[gitlab]", "xsk-ant-api03-" + fake(40): "x[sk]",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"WANDB_API_KEY=" + fake(40):         "WANDB_API_KEY=[variable]",
		`"HF_TOKEN": "` + fake(12) + `"`:    `"HF_TOKEN": "[variable]"`,
		"https://bob:" + fake(9) + "@h.io/": "https://bob:[password]@h.io/",
		"Authorization: Bearer " + fake(30): "Authorization: Bearer [bearer]",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestHarmless: what only looks a little like a secret stays as it is.
func TestHarmless(t *testing.T) {
	for _, text := range []string{
		"", "task-runner-with-a-long-name-2025-11", "hf_causal_language_model_forward", "sk-learn-pipeline-with-many-words",
		"NUM_TOKENS=4096", "MAX_TOKEN=12345678", "HF_TOKEN=REDACTED", "API_KEY=${SECRET_VALUE}", "aten::_tokenize", "https://host:8080/path@x",
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>", "ghp_short", "AKIAI44", "SK-" + fake(30),
	} {
		if got := Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestRedactor: equal texts stay equal, different ones different, and what stands
// for a user is the same whatever comes first.
func TestRedactor(t *testing.T) {
	a, b := "hf_"+fake(34), "hf_"+fake(35)
	r := New(false)
	if got := r.Text(a + " " + b + " " + a); got != "[hf] [hf] [hf]" || r.Secrets() != 2 {
		t.Errorf("%q, %d secrets", got, r.Secrets())
	}
	if got := r.Text("/net/home/alice/x.py"); got != "/net/home/alice/x.py" {
		t.Errorf("without being asked it hides users: %q", got)
	}
	texts := []string{"/net/home/zoe4/a.py", `C:\Users\alice\b.py`, "/scratch/torchinductor_alice/c.py", "run-alice-7", "malice", "/data/zoe4/alice/d", "by bob.r@host.example"}
	want := []string{"/net/home/[user-2]/a.py", `C:\Users\[user-1]\b.py`, "/scratch/torchinductor_[user-1]/c.py", "run-[user-1]-7", "malice", "/data/[user-2]/[user-1]/d", "by [email]"}
	for range 20 {
		order := rand.Perm(len(texts))
		var list []string
		for _, i := range order {
			list = append(list, texts[i])
		}
		New(true).Strings(&list)
		for at, i := range order {
			if list[at] != want[i] {
				t.Fatalf("%q became %q, want %q", texts[i], list[at], want[i])
			}
		}
	}
}

// TestStrings: every text that a value leads to is rewritten, and nothing else is
// touched.
func TestStrings(t *testing.T) {
	type row struct {
		Name   string
		hidden string
		Labels map[string]string
		More   []*row
		Any    any
		NS     []int64
	}
	s := "hf_" + fake(34)
	shared := s
	v := struct {
		Rows []row
		P    *string
	}{[]row{{Name: s, hidden: "x", Labels: map[string]string{"a": s, "b": "plain"}, More: []*row{{Name: s}, nil}, NS: []int64{1}}}, &shared}
	New(false).Strings(&v)
	r := v.Rows[0]
	if r.Name != "[hf]" || r.Labels["a"] != "[hf]" || r.Labels["b"] != "plain" || r.More[0].Name != "[hf]" || shared != "[hf]" || r.hidden != "x" {
		t.Errorf("%+v, %+v, %q", r, r.More[0], shared)
	}
}

// TestScanner: however a stream is cut into blocks, each secret counts once.
func TestScanner(t *testing.T) {
	var text strings.Builder
	n := int64(0)
	for range 3 { // each of them again
		n = 0
		for secret := range secrets() {
			text.WriteString(strings.Repeat(`{"name":"kernel","ts":1.5},`, 100) + `{"env":"` + secret + `"}` + "\n")
			n++
		}
	}
	all := []byte(text.String())
	rnd := rand.New(rand.NewPCG(1, 2))
	for try := range 40 {
		s := NewScanner()
		s.size = 3*overlap + 1 + rnd.IntN(2000)
		for rest := all; len(rest) > 0; {
			size := min(len(rest), 1+rnd.IntN(1+try*500))
			s.Write(rest[:size])
			rest = rest[size:]
		}
		if got := s.Count(); got != n {
			t.Fatalf("try %d: %d secrets, want %d", try, got, n)
		}
	}
}

// FuzzMask: it ends, it never panics, masking again changes nothing, and a secret
// that is put in front does not come through.
func FuzzMask(f *testing.F) {
	for secret := range secrets() {
		f.Add(secret)
	}
	f.Add("A_TOKEN=" + fake(10) + "\x00\xff://a:b@c")
	for _, text := range []string{
		"\x1b[36mapi_key\x1b[0m=\x1b[35m%s\x1b[0m", "API_KEY=\n%s\nB=1", "--api-key \\\n %s", `{"kty":"oct","k":"%s"}`, "Private-Lines: 2\n%s\n%[1]s\nPrivate-MAC",
		"h:5432:d:u:%s", "ghp_%s\n%[1]s%[1]s", "A=1\x00KEY=%s\x00B=2", `\u{41}PI_KEY=%s`, "4150495f4b45593d%x", "x\u200bghp_%s%[1]s%[1]s", "a--key %s",
	} {
		f.Add(fmt.Sprintf(text, fake(13)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Mask(text)
		if again := Mask(once); again != once {
			t.Errorf("%q, then %q", once, again)
		}
		secret := "hf_" + fake(34)
		if got := Mask(secret + " " + text); strings.Contains(got, secret) {
			t.Errorf("%q has the secret", got)
		}
		list := []string{text, secret}
		New(true).Strings(&list)
		if strings.Contains(list[1], secret) {
			t.Errorf("%q has the secret", list[1])
		}
		s := NewScanner()
		s.Write([]byte(text))
		distinct := map[string]bool{}
		for _, f := range find(text) {
			distinct[text[f.from:f.to]] = true
		}
		if n := s.Count(); n != int64(len(distinct)) {
			t.Errorf("%d secrets counted, %d masked in %q", n, len(distinct), text)
		}
	})
}

// A ring and a joint are within each other. Only the joint has a text of its own.
type (
	ring struct {
		Size int
		Next *joint
	}
	joint struct {
		Rings []ring
		Sizes [2]struct{ A, B int }
		Name  string
	}
)

// TestStringsWithin: texts are found in types that are within themselves, wherever the
// search begins.
func TestStringsWithin(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	masked := Mask(secret)
	if masked == secret {
		t.Fatal("the secret is not known")
	}
	make := func() *joint {
		return &joint{Name: secret, Rings: []ring{{Next: &joint{Name: secret, Rings: []ring{{}, {Next: &joint{Name: secret}}}}}}}
	}
	inner := make()
	outer := ring{Next: make()}
	New(false).Strings(&outer)
	New(false).Strings(inner)
	for _, l := range []*joint{outer.Next, inner} {
		for depth := range 3 {
			if l.Name != masked {
				t.Errorf("depth %d: the text is %q, want %q", depth, l.Name, masked)
			}
			if depth < 2 {
				l = l.Rings[len(l.Rings)-1].Next
			}
		}
	}
}
