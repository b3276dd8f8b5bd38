package label

import (
	"strings"
	"unicode"
)

// collectorWords are the words that names of the garbage collector consist of, besides numbers.
var collectorWords = map[string]bool{
	"gc": true, "garbage": true, "collect": true, "collects": true, "collecting": true, "collection": true, "collections": true, "collector": true,
	"python": true, "py": true, "cpython": true, "xla": true, "gen": true, "generation": true, "generations": true, "manual": true, "manually": true,
	"automatic": true, "auto": true, "periodic": true, "periodically": true, "full": true, "minor": true, "major": true, "run": true, "do": true,
	"perform": true, "maybe": true, "force": true, "forced": true, "trigger": true, "callback": true, "hook": true, "on": true, "pause": true,
	"start": true, "stop": true, "of": true, "and": true, "cycle": true, "cycles": true, "time": true,
}

// IsCollector reports whether a name says that Python's garbage collector runs: a call of gc.collect, a
// function that does nothing else by its name, or an annotation around it: "<built-in function collect>",
// "gc.py(10): collect", "Python GC", "gc_collect (gen 2)". A name with any other word is no proof: "gc" also
// begins the names of layers and of stores of objects.
func IsCollector(name string) bool {
	if strings.HasPrefix(name, "<built-in ") {
		return name == "<built-in function collect>" || strings.HasPrefix(name, "<built-in method collect of gc") ||
			strings.HasPrefix(name, "<built-in method collect of module 'gc'")
	}
	if !mayName(name) {
		return false
	}
	file, _, function := Split(name)
	words := wordsOf(function)
	if base := file[strings.LastIndexByte(file, '/')+1:]; base == "gc.py" {
		words = append(words, "gc")
	}
	collects := false
	for _, w := range words {
		if !collectorWords[w] && strings.Trim(w, "0123456789") != "" && !isGeneration(w) {
			return false
		}
		collects = collects || w == "gc" || w == "garbage"
	}
	return collects
}

// mayName reports whether a name may have the word "gc" or "garbage", which most names do not.
func mayName(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		if name[i]|0x20 == 'g' && (name[i+1]|0x20 == 'c' || name[i+1]|0x20 == 'a') {
			return true
		}
	}
	return false
}

// isGeneration reports whether a word is "gen0" or "generation2".
func isGeneration(word string) bool {
	number, ok := strings.CutPrefix(strings.Replace(word, "generation", "gen", 1), "gen")
	return ok && len(number) == 1 && number[0] >= '0' && number[0] <= '9'
}

// wordsOf returns the words of a name in lower case: runs of letters and digits, which end before a capital
// letter behind a small one.
func wordsOf(name string) []string {
	var b strings.Builder
	last := ' '
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	return strings.Fields(b.String())
}
