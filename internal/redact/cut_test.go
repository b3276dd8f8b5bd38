package redact

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/internal/test"
	"unicode/utf8"
)

// TestCut: wherever a text is cut, no part of a secret is left that is longer than what
// all secrets of its form begin with.
func TestCut(t *testing.T) {
	seed := test.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 5))
	type planted struct{ text, secret string }
	var all []planted
	for _, f := range Formats() {
		token := f.Example(rnd)
		parts, err := parseForm(f.Form)
		if err != nil {
			t.Fatal(err)
		}
		random := token
		if parts[0].text != "" {
			random = strings.TrimPrefix(token, parts[0].text)
		}
		all = append(all, planted{token, random})
	}
	v, token := fake(24), "hf_"+fake(34)
	code, digits := base64.StdEncoding.EncodeToString([]byte("x "+token+" and more text")), hex.EncodeToString([]byte("x "+token+" and more"))
	all = append(all,
		planted{"https://bob:" + v + "@h.io/x", v}, planted{"API_KEY='" + v + "'", v}, planted{"{'HF_TOKEN': '" + v + "'}", v}, planted{"Authorization: Bearer " + v, v},
		planted{code, code}, planted{digits, digits}, planted{"echo " + v + " | docker login --password-stdin", v}, planted{"bob:" + v + "@tcp(h:1)/db", v},
		planted{`{"d":"` + v + `","kty":"RSA"}`, v}, planted{"-----BEGIN PRIVATE KEY-----\n" + v + "\n-----END PRIVATE KEY-----", v},
		planted{`a\u0020` + strings.ReplaceAll(token, "h", `\u0068`), strings.ReplaceAll(token, "h", `\u0068`)},
	)
	const before, shortest = 300, 6
	for _, p := range all {
		text := strings.Repeat("x", before) + " " + p.text + " tail of the name"
		at := strings.Index(text, p.secret)
		for most := at + shortest; most <= len(text); most++ {
			cut := Cut(text, most)
			if got := Mask(cut + "... (65600 bytes)"); strings.Contains(got, p.secret[:shortest]) {
				t.Errorf("%q at %d is %q", p.text, most-before, got[before:])
				break
			}
			if !strings.HasPrefix(text, cut) || len(cut) > most || len(cut) < before {
				t.Fatalf("%q at %d is %q", p.text, most, cut)
			}
		}
		if got := Cut(text, len(text)); got != text {
			t.Errorf("%q without a cut is %q", p.text, got)
		}
	}
	if got := Cut("ab€d", 4); got != "ab" || !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
	if got := string(CutBytes([]byte("x "+token+" y"), 20)); got != "x " {
		t.Errorf("%q", got)
	}
}

// TestCutEmail: a cut within an email address, which only a Redactor of users hides, is before it. A text with a sign
// that is no address is cut where it is asked to be.
func TestCutEmail(t *testing.T) {
	text := "mail of bob.jones@mail.example.org, and more"
	for most := range len(text) {
		want := text[:most]
		if most > len("mail of ") && most < len("mail of bob.jones@mail.example.org") {
			want = "mail of "
		}
		if got := Cut(text, most); got != want {
			t.Errorf("at %d: %q, want %q", most, got, want)
		}
	}
	if got := Cut("step @ 12 of kernel@8 and more", 20); got != "step @ 12 of kernel@" {
		t.Errorf("%q", got)
	}
}
