package test

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Corpus returns the path of a file or directory of the corpus, which holds real captures
// that are not part of the project: the directory that ASSAY_CORPUS names, else
// ../shared/corpus. It skips the test if there is none.
func Corpus(t testing.TB, elem ...string) string {
	t.Helper()
	path, ok := FindCorpus(t, elem...)
	if !ok {
		t.Skip("no real files; set ASSAY_CORPUS")
	}
	return path
}

// FindCorpus is [Corpus] for tests that have other inputs, too: it reports whether the path
// exists.
func FindCorpus(t testing.TB, elem ...string) (path string, ok bool) {
	t.Helper()
	path = filepath.Join(append([]string{root(t)}, elem...)...)
	_, err := os.Stat(path)
	return path, err == nil
}

// Expected returns what another program reads of each file in the folder series of the corpus,
// by the name of the file. Python writes Infinity, which is no JSON and becomes the given text.
func Expected(t testing.TB, infinity string) (all map[string]json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(Corpus(t, "series", "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(": Infinity"), []byte(": "+infinity)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// root returns the directory of the corpus, whether it exists or not.
func root(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("ASSAY_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join(Module(t), "..", "shared", "corpus")
}

// Module returns the folder of the module.
func Module(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd() // of the package that is tested
	if err != nil {
		t.Fatal(err)
	}
	for {
		// The pipeline for clusters is a module of its own below this one.
		if text, _ := os.ReadFile(filepath.Join(dir, "go.mod")); strings.HasPrefix(string(text), "module assay\n") {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod of assay above ", dir)
		}
		dir = up
	}
}

// Seed returns the seed of the random inputs of a test and prints it: one that is fixed for each test,
// so that a run that passed passes again, or that of the environment variable ASSAY_SEED, or a new one
// if that is "new".
func Seed(t testing.TB) uint64 {
	t.Helper()
	hash := fnv.New64a()
	hash.Write([]byte(t.Name()))
	seed := hash.Sum64()
	switch text := os.Getenv("ASSAY_SEED"); text {
	case "":
	case "new":
		seed = uint64(time.Now().UnixNano())
	default:
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	return seed
}
