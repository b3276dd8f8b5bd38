package classify

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// decider returns a function that reports whether p matches, as a finder
// decides it.
func decider(p pattern) func(name string) bool {
	f := newFinder([]rule{{patterns: []pattern{p}}}, false)
	return func(name string) bool { return f.first(name, func(int) bool { return true }) == 0 }
}

// oracle returns a function that reports whether expr matches, using package
// regexp.
func oracle(t testing.TB, expr string, ignoreCase bool) func(name string) bool {
	t.Helper()
	if ignoreCase {
		expr = "(?i:" + expr + ")"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		t.Fatal(err)
	}
	return re.MatchString
}

// namesOf returns all names of at most the given length made of the given
// characters.
func namesOf(most int, chars ...string) []string {
	names := []string{""}
	for from := 0; most > 0; most-- {
		to := len(names)
		for _, name := range names[from:to] {
			for _, c := range chars {
				names = append(names, name+c)
			}
		}
		from = to
	}
	return names
}

// TestPatternsOnAllNames compares expressions that are easy to convert wrongly
// with package regexp, on all short names made of the relevant characters.
func TestPatternsOnAllNames(t *testing.T) {
	names := append(namesOf(3, "a", "A", "b", "k", "\u212a", "_", "\n", startMark, endMark, "\xff"), namesOf(5, "a", "b", "_")...)
	for _, expr := range []string{
		// Anchors at positions where a character cannot represent them.
		``, `^`, `$`, `^$`, `$^`, `^^a`, `a$$`, `a^b`, `a$b`, `(^|_)a`, `a(_|$)`, `(^|a)(^|b)k`, `^.*^a`, `.*^a`, `a$.*`, `a$.*$`, `a$.*b`,
		`^.*$`, `^.*a$`, `(a|^)$`, `\Aa\z`, `(?m)^a$`, `(?m)a$`, `(^a)?b`, `^*a`, `(^)+a`, `a?^`,
		// Expressions that may match nothing.
		`a?`, `(a|)b`, `(|a)(|b)$`, `^a?b?$`, `(a?|b)(k|)_`, `()`, `a()b`, `^()$`,
		// Gaps, whose parts must not overlap.
		`.*`, `a.*b`, `a.*?b`, `aa.*a`, `(aa|a).*(b|ab)`, `(a|ab).*(ba|b)$`, `^a.*b.*k`, `a.*b?.*k`, `(a.*b)`, `(a|b.*)_`, `a.+b`, `a.b`,
		`(?s)a.*b`, `(?s)a.b`, `.*a.*`, `^.*a.*`,
		// Letter case.
		`A`, `(?i)a.*K`, `(?i:a)b`, `a(?i:b)`, `(?i)k`, `k`, `[ak]`, `(?i)[ak]`, `(?i)[a-k]_`, `(?i:a(?-i:b))`, `(?i:a)[b]`, `(?i:a)[bB]`,
		`(?i:a)[bA]_`, `[Aa]b`, `(?i:ab)|k`, `(?i:ab)|_`, `(?i:s)`, `\x{212a}`, `(?i)\x{212a}`, `(?i)\x{17f}`, `(?i)_`,
		// Classes and repetition.
		`[^a]b`, `[^a-z]b`, `(^|[^a-z])b`, `[a-b]{2}`, `[A-B]_`, `[A-Ba-k]_`, `a{2,3}b`, `(a|b){2}_`, `(a|b){2,}`, `a+b`, `a*b`, `[a-z][a-z]`, `[a-zA-Z_]a`, `\ba`, `a\B`,
		`\d`, `\w\w`, `[[:^alpha:]]`, `[é]`, `[aé]_`, `\pL`, `[^\x00-\x{10FFFF}]`, `a[^\x00-\x{10FFFF}]`,
		// Characters that a text does not contain.
		`\x02a`, `[\x02a]b`, `\x02`, `\x03$`, `a\nb`, `[\na]b`, `\n`, `[\x02\n]`, "a\\x{ff}", "é", `^\x02`,
	} {
		for _, ignoreCase := range []bool{false, true} {
			p, err := compile(expr, ignoreCase)
			if err != nil {
				t.Fatalf("%q: %v", expr, err)
			}
			got, want := decider(p), oracle(t, expr, ignoreCase)
			for _, name := range names {
				if got, want := got(name), want(name); got != want {
					t.Errorf("%q, ignore case %v, of %q: got %v, want %v", expr, ignoreCase, name, got, want)
					break
				}
			}
		}
	}
}

// TestPatternsOnKernels compares the expressions of kernels.yaml with package
// regexp, on names similar to their matches.
func TestPatternsOnKernels(t *testing.T) {
	var names []string
	for _, file := range []string{"testdata/kernels.tsv", "testdata/more.tsv"} {
		for _, r := range readTable(t, file) {
			names = append(names, r.name, BaseName(r.name))
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	slow := 0
	for _, ru := range Default().rules {
		for _, p := range ru.patterns {
			got, want := decider(p), oracle(t, p.expr, false)
			matches := 0
			check := func(name string) {
				g, w := got(name), want(name)
				if g != w {
					t.Errorf("%q of %q: got %v, want %v", p.expr, name, g, w)
				}
				if w {
					matches++
				}
			}
			for range 10 {
				check(names[rng.IntN(len(names))])
			}
			const made = 200
			for range made {
				check(makeName(rng, p, names))
			}
			if p.sure || p.parts != nil {
				if matches < made/20 || matches > made*19/20 {
					t.Errorf("%q matches %d of %d names that were made for it; that tests nothing", p.expr, matches, made)
				}
			} else {
				slow++
			}
		}
	}
	if most := 40; slow > most {
		t.Errorf("%d expressions are run by package regexp, want at most %d", slow, most)
	}
}

// makeName returns a name that p may match: its strings, in their order, within
// or without parts of a real name, and often with a mistake.
func makeName(rng *rand.Rand, p pattern, names []string) string {
	var b strings.Builder
	glue := func() {
		switch rng.IntN(4) {
		case 0:
			b.WriteString([]string{"_", "::", "<", "x", "Q", "7", " ", "void "}[rng.IntN(8)])
		case 1:
			name := names[rng.IntN(len(names))]
			at := rng.IntN(len(name))
			b.WriteString(name[at:min(at+1+rng.IntN(20), len(name))])
		}
	}
	sets := p.parts
	if sets == nil {
		sets = p.needs
	}
	glue()
	for _, set := range sets {
		s := set[rng.IntN(len(set))]
		if rest, ok := strings.CutPrefix(s, startMark); ok {
			if s = rest; rng.IntN(4) > 0 {
				b.Reset()
			}
		}
		s, last := strings.CutSuffix(s, endMark)
		b.WriteString(s)
		if last && rng.IntN(4) > 0 {
			return b.String()
		}
		glue()
	}
	if rng.IntN(2) == 0 {
		return b.String()
	}
	return mutate(rng, b.String())
}

// mutate makes a small mistake in name.
func mutate(rng *rand.Rand, name string) string {
	if name == "" {
		return "_"
	}
	at := rng.IntN(len(name))
	switch c := name[at : at+1]; rng.IntN(5) {
	case 0:
		return name[:at] + name[at+1:]
	case 1:
		return name[:at] + string("_:<>az09AZ \n\x02\x03"[rng.IntN(14)]) + name[at:]
	case 2:
		return name[:at] + []string{"é", "ſ", "\u212a", "\xff"}[rng.IntN(4)] + name[at+1:]
	case 3:
		return name[:at] + strings.ToUpper(c) + name[at+1:]
	default:
		return strings.ToUpper(name)
	}
}

// TestPatternsOnCorpus tries all expressions on all kernels of the corpus.
func TestPatternsOnCorpus(t *testing.T) {
	names := corpusKernels(t)
	for _, ru := range Default().rules {
		for _, p := range ru.patterns {
			got, want := decider(p), oracle(t, p.expr, false)
			for name := range names {
				if !ru.onFull {
					name = BaseName(name)
				}
				if got, want := got(name), want(name); got != want {
					t.Errorf("%q of %q: got %v, want %v", p.expr, name, got, want)
				}
			}
		}
	}
}

// TestFewExpressionsRun: compiling an expression takes as long as classifying a
// name, so few may be compiled for many names.
func TestFewExpressionsRun(t *testing.T) {
	rules := newRules(builtInRules)
	rows := readTable(t, "testdata/kernels.tsv")
	for _, r := range rows {
		rules.Kernel(r.name)
	}
	run := 0
	for _, f := range []*finder{rules.base(), rules.full()} {
		for i := range f.compiled {
			if f.compiled[i].Load() != nil {
				run++
			}
		}
	}
	if most := 8; run > most {
		t.Errorf("%d expressions were compiled for %d names, want at most %d", run, len(rows), most)
	}
}

// TestConcurrentUse: rules are shared by all goroutines that read inputs.
func TestConcurrentUse(t *testing.T) {
	rows := readTable(t, "testdata/kernels.tsv")
	rules := newRules(builtInRules)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for _, r := range rows {
				if got := rules.Kernel(r.name); got != r.want {
					t.Errorf("%.120s\n got %v\nwant %v", r.name, got, r.want)
				}
			}
		})
	}
	readers.Wait()
}

func FuzzPattern(f *testing.F) {
	f.Add(`(^|_)attn_(fwd|bwd)`, true, "void My_ATTN_fwd")
	f.Add(`^a?.*[Bk]$`, false, "a\u212a")
	f.Add(`\bx|(?i:y.*z)`, false, "a\nyZ\x02")
	f.Fuzz(func(t *testing.T, expr string, ignoreCase bool, name string) {
		p, err := compile(expr, ignoreCase)
		if err != nil {
			return
		}
		if got, want := decider(p)(name), oracle(t, expr, ignoreCase)(name); got != want {
			t.Errorf("%q, ignore case %v, of %q: got %v, want %v (%+v)", expr, ignoreCase, name, got, want, p)
		}
	})
}
