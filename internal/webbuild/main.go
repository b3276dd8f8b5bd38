// Webbuild makes the script and the style of the HTML report from report/web:
//
//	go run . -web ../../report/web -o ../../report/page/assets
//
// It is a module of its own, so that esbuild is no dependency of assay. The same version
// of esbuild writes the same bytes everywhere; a test of package page compares them with
// the files that are checked in.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	log.SetFlags(0)
	web := flag.String("web", "report/web", "`DIR` with main.tsx, style.css and vendor")
	out := flag.String("o", "report/page/assets", "`DIR` for report.js and report.css")
	flag.Parse()
	if err := build(*web, *out); err != nil {
		log.Fatal("webbuild: ", err)
	}
}

// build writes report.js and report.css.
func build(web, out string) error {
	licence, err := os.ReadFile(filepath.Join(web, "vendor", "preact", "LICENSE"))
	if err != nil {
		return err
	}
	web, err = filepath.Abs(web)
	if err != nil {
		return err
	}
	vendored := func(file string) string { return filepath.Join(web, "vendor", "preact", file) }
	for _, f := range []struct{ entry, file, banner string }{
		{"main.tsx", "report.js", "/*! Includes Preact:\n" + strings.TrimSpace(string(licence)) + "\n*/"},
		{"style.css", "report.css", ""},
	} {
		options := api.BuildOptions{
			AbsWorkingDir: web, EntryPoints: []string{f.entry}, Bundle: true, Outdir: out,
			MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
			Format: api.FormatIIFE, Target: api.ES2022, Charset: api.CharsetUTF8,
			JSX: api.JSXTransform, JSXFactory: "h", JSXFragment: "Fragment",
			Alias:         map[string]string{"preact": vendored("preact.mjs"), "preact/hooks": vendored("hooks.mjs")},
			TsconfigRaw:   "{}", // files in folders above are not ours
			LegalComments: api.LegalCommentsNone,
		}
		if f.banner != "" {
			options.Banner = map[string]string{"js": f.banner}
		}
		r := api.Build(options)
		if len(r.Errors) > 0 {
			e := r.Errors[0]
			if e.Location != nil {
				return fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Line, e.Text)
			}
			return fmt.Errorf("%s: %s", f.entry, e.Text)
		}
		if err := os.WriteFile(filepath.Join(out, f.file), r.OutputFiles[0].Contents, 0o666); err != nil {
			return err
		}
	}
	return nil
}
