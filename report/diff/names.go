package diff

import (
	"path"
	"strings"

	"assay/compare"
	"assay/internal/label"
)

// sideNames returns the names of both sides: of one input its file, of several their
// directory. Names that are equal get further directories until they differ.
func sideNames(base, new compare.Side) (string, string) {
	const mostParts = 8
	b, n := sideName(base, 1), sideName(new, 1)
	for parts := 2; b == n && parts <= mostParts; parts++ {
		b, n = sideName(base, parts), sideName(new, parts)
	}
	return b, n
}

// sideName returns the name of a side by some parts of its path.
func sideName(s compare.Side, parts int) string {
	if len(s.Inputs) == 0 {
		return "nothing"
	}
	if len(s.Inputs) == 1 {
		return tail(s.Inputs[0].Path, parts)
	}
	dir := slashed(path.Dir(slashed(s.Inputs[0].Path)))
	for _, in := range s.Inputs[1:] {
		for dir != "." && dir != "/" && !strings.HasPrefix(slashed(in.Path), dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if dir == "." || dir == "/" {
		return label.Base(s.Inputs[0].Path) + " and " + label.Plural(int64(len(s.Inputs)-1), "more file")
	}
	return tail(dir, parts) + "/ (" + label.Plural(int64(len(s.Inputs)), "file") + ")"
}

func slashed(p string) string { return strings.ReplaceAll(p, "\\", "/") }

// tail returns the last parts of a path.
func tail(p string, parts int) string {
	if parts == 1 {
		return label.Base(p)
	}
	list := strings.Split(strings.TrimRight(slashed(p), "/"), "/")
	return label.Clip(label.Clean(strings.Join(list[max(0, len(list)-parts):], "/")), 80)
}
