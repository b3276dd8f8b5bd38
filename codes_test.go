package assay

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"assay/internal/diag"
)

// TestCodes: every code of an issue that the sources can emit is described in the
// registry of package diag, none is described that nothing emits, and none is
// emitted as worse than the registry says. A code that is missing there is one
// entry in internal/diag/codes.go.
func TestCodes(t *testing.T) {
	files := make(map[string][]*ast.File)
	fset := token.NewFileSet()
	eachFile(t, func(pkg, file string) {
		if pkg == "internal/test/samplerun" { // made-up summaries for tests
			return
		}
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[pkg] = append(files[pkg], f)
	})
	found := codesIn(fset, files)
	for _, at := range found.unknown {
		t.Errorf("%s: the code of this issue cannot be followed to a constant; write it so that it can", at)
	}
	for _, name := range slices.Sorted(maps.Keys(found.codes)) {
		it := found.codes[name]
		c, ok := diag.CodeOf(name)
		switch {
		case !ok:
			t.Errorf("%s: issue code %q is not registered; add it to internal/diag/codes.go", it.at, name)
		case c.Severity < it.severity:
			t.Errorf("%s: issue code %q is emitted as %s, and registered as %s; register the worst", it.at, name, it.severity, c.Severity)
		}
	}
	for _, c := range diag.Codes() {
		if _, ok := found.codes[c.Name]; !ok {
			t.Errorf("issue code %q is registered in internal/diag/codes.go, and nothing emits it; remove it", c.Name)
		}
	}
}

// TestCodesFound plants codes in each way in which sources pass them on.
func TestCodesFound(t *testing.T) {
	const diagSource = `package diag
type Severity uint8
const (Info Severity = iota; DataLoss; Suspect)
type Issue struct { Code string; Severity Severity; Help string }
type Ledger struct{}
func (l *Ledger) Add(Issue) {}`
	const source = `package p
import ("assay/internal/diag"; "unknown/thing")
const named = "by-constant"
type fault struct { code, text string }
type limit struct { code string }
func (l *limit) Code() string { return l.code }
var table = []fault{{"by-position", "x"}, {code: "by-field"}}
type r struct { l diag.Ledger }
func (r *r) issue(code string, s diag.Severity, help string) { r.l.Add(diag.Issue{Code: code, Severity: s, Help: help}) }
func (r *r) deeper(code string) { r.issue(code, diag.DataLoss, "") }
func (r *r) all(what string) {
	r.l.Add(diag.Issue{Code: "plain", Severity: diag.Suspect})
	r.l.Add(diag.Issue{Code: named})
	_ = append([]diag.Issue{{Code: "in-list"}}, diag.Issue{"by-order", diag.Info, ""})
	r.issue("by-helper", diag.DataLoss, thing.Say())
	r.deeper("by-two-helpers")
	for _, f := range table { r.l.Add(diag.Issue{Code: f.code}) }
	var err interface{ Code() string } = &limit{"by-method"}
	r.l.Add(diag.Issue{Code: err.Code()})
	is := diag.Issue{Severity: diag.Info}
	is.Code = "by-assignment"
	note := func(code string) { r.l.Add(diag.Issue{Code: code}) }
	note("by-closure")
	joined := what + "-joined"
	thing.Take(diag.Issue{Code: joined})
	copied := diag.Issue{Code: is.Code}
	_ = copied
	r.l.Add(diag.Issue{Code: thing.Hidden()})
}
func use(r *r) { r.all("left"); r.all("right") }`
	fset, files := token.NewFileSet(), make(map[string][]*ast.File)
	for pkg, text := range map[string]string{"internal/diag": diagSource, "p": source} {
		f, err := parser.ParseFile(fset, pkg+".go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[pkg] = []*ast.File{f}
	}
	found := codesIn(fset, files)
	var got []string
	for name, it := range found.codes {
		got = append(got, name+" "+it.severity.String())
	}
	slices.Sort(got)
	want := []string{"by-assignment info", "by-closure info", "by-constant info", "by-field info", "by-helper data-loss", "by-method info", "by-order info",
		"by-position info", "by-two-helpers data-loss", "in-list info", "left-joined info", "plain suspect", "right-joined info"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant %q", got, want)
	}
	hidden := 1 + strings.Count(source[:strings.Index(source, "Hidden()")], "\n")
	if len(found.unknown) != 1 || !strings.HasPrefix(found.unknown[0], fmt.Sprintf("p.go:%d:", hidden)) {
		t.Errorf("not followed: %q, want one, of Hidden", found.unknown)
	}
}

// Codes are those of issues that sources emit.
type codes struct {
	codes   map[string]emitted
	unknown []string // places of codes that lead to no constant
}

// An emitted code has the first place and the worst severity with which it is
// emitted, as far as the severity is a constant there.
type emitted struct {
	at       string
	severity diag.Severity
}

// codesIn follows the codes of all issues in the sources to the constants that
// they come from: through parameters, fields, variables and methods. Packages
// outside the module are taken for empty, which costs nothing but types that do
// not matter here.
func codesIn(fset *token.FileSet, files map[string][]*ast.File) *codes {
	c := &chaser{fset: fset, files: files, packages: make(map[string]*types.Package), from: make(map[types.Object][]ast.Expr), calls: make(map[types.Object][]*ast.CallExpr),
		params: make(map[types.Object]param), returns: make(map[types.Object][]ast.Expr),
		info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection)}}
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		c.Import("assay/" + pkg)
	}
	for _, pkg := range slices.Sorted(maps.Keys(files)) {
		for _, f := range files[pkg] {
			c.collect(f)
		}
	}
	out := &codes{codes: make(map[string]emitted)}
	for _, is := range c.issues {
		c.emit(out, is)
	}
	return out
}

// A chaser follows values. It is the importer of the type checker, too.
type chaser struct {
	fset     *token.FileSet
	files    map[string][]*ast.File
	packages map[string]*types.Package
	info     *types.Info

	issues  []issueExpr
	from    map[types.Object][]ast.Expr      // what variables and fields are set to
	calls   map[types.Object][]*ast.CallExpr // of functions and of variables that hold one
	params  map[types.Object]param
	returns map[types.Object][]ast.Expr
}

// An issueExpr is a place that gives an issue its code.
type issueExpr struct {
	code, severity ast.Expr // severity is nil where the place does not say it
}

// A param is where a parameter stands.
type param struct {
	of types.Object
	at int
}

// Import type-checks a package of the module.
func (c *chaser) Import(name string) (*types.Package, error) {
	if p := c.packages[name]; p != nil {
		return p, nil
	}
	files, ours := c.files[strings.TrimPrefix(name, "assay/")]
	if !ours {
		p := types.NewPackage(name, path.Base(name))
		p.MarkComplete()
		c.packages[name] = p
		return p, nil
	}
	conf := types.Config{Importer: c, Error: func(error) {}, IgnoreFuncBodies: false}
	p, _ := conf.Check(name, c.fset, files, c.info) // errors are those of what is taken for empty
	c.packages[name] = p
	return p, nil
}

// isIssue reports whether an expression is an issue of diag or summary.
func (c *chaser) isIssue(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Name() == "Issue" && n.Obj().Pkg() != nil && slices.Contains([]string{"assay/internal/diag", "assay/summary"}, n.Obj().Pkg().Path())
}

// collect notes what one file sets, calls and returns.
func (c *chaser) collect(f *ast.File) {
	var functions []types.Object
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			of := c.info.Defs[n.Name]
			functions = append(functions, of)
			c.parameters(n.Type, of)
			if n.Body != nil {
				c.results(n.Body, of)
			}
		case *ast.CompositeLit:
			c.literal(n)
		case *ast.CallExpr:
			if of := c.object(n.Fun); of != nil {
				c.calls[of] = append(c.calls[of], n)
			}
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i := range n.Lhs {
					c.set(n.Lhs[i], n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					c.set(name, n.Values[i])
				}
			}
		}
		return true
	})
}

// parameters notes where the parameters of a function stand.
func (c *chaser) parameters(f *ast.FuncType, of types.Object) {
	at := 0
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			c.params[c.info.Defs[name]] = param{of, at}
			at++
		}
		at += btoi(len(field.Names) == 0)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// results notes what a function returns first.
func (c *chaser) results(body *ast.BlockStmt, of types.Object) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) > 0 {
				c.returns[of] = append(c.returns[of], n.Results[0])
			}
		}
		return true
	})
}

// set notes that something is set to a value.
func (c *chaser) set(to, value ast.Expr) {
	if s, ok := to.(*ast.SelectorExpr); ok && s.Sel.Name == "Code" && c.isIssue(c.info.TypeOf(s.X)) {
		c.issues = append(c.issues, issueExpr{code: value})
		return
	}
	of := c.object(to)
	if of == nil {
		return
	}
	if f, ok := value.(*ast.FuncLit); ok {
		c.parameters(f.Type, of)
	}
	c.from[of] = append(c.from[of], value)
}

// literal notes what a composite literal sets the fields of a struct to, and
// whether it is an issue.
func (c *chaser) literal(lit *ast.CompositeLit) {
	t := c.info.TypeOf(lit)
	if t == nil {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // the elided &T of a list
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	is := issueExpr{}
	for i, e := range lit.Elts {
		var field *types.Var
		if kv, keyed := e.(*ast.KeyValueExpr); keyed {
			e = kv.Value
			for f := range s.Fields() {
				if key, ok := kv.Key.(*ast.Ident); ok && f.Name() == key.Name {
					field = f
				}
			}
		} else if i < s.NumFields() {
			field = s.Field(i)
		}
		switch {
		case field == nil:
			continue
		case field.Name() == "Code":
			is.code = e
		case field.Name() == "Severity":
			is.severity = e
		}
		c.from[field] = append(c.from[field], e)
	}
	if is.code != nil && c.isIssue(t) {
		c.issues = append(c.issues, is)
	}
}

// object returns what a name or selector stands for, or nil.
func (c *chaser) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if of := c.info.Defs[e]; of != nil {
			return of
		}
		return c.info.Uses[e]
	case *ast.SelectorExpr:
		if s := c.info.Selections[e]; s != nil {
			return s.Obj()
		}
		return c.info.Uses[e.Sel]
	}
	return nil
}

// emit notes the codes that an issue may have. Where code and severity are
// parameters of one function, they belong together call by call.
func (c *chaser) emit(out *codes, is issueExpr) {
	if p, ok := c.params[c.object(is.code)]; ok && is.code != nil {
		for _, call := range c.calls[p.of] {
			if p.at >= len(call.Args) {
				continue
			}
			next := issueExpr{code: call.Args[p.at], severity: is.severity}
			if is.severity != nil {
				if q, ok := c.params[c.object(is.severity)]; ok && q.of == p.of {
					next.severity = call.Args[q.at]
				}
			}
			c.emit(out, next)
		}
		return
	}
	names, ok := c.values(is.code, 0)
	if !ok {
		out.unknown = append(out.unknown, c.fset.Position(is.code.Pos()).String())
	}
	for _, name := range names {
		it, had := out.codes[name]
		if !had {
			it.at = c.fset.Position(is.code.Pos()).String()
		}
		if is.severity != nil {
			if v := c.info.Types[is.severity].Value; v != nil && v.Kind() == constant.Int {
				n, _ := constant.Int64Val(v)
				it.severity = max(it.severity, diag.Severity(n))
			}
		}
		out.codes[name] = it
	}
}

// values returns the texts that an expression may have. The result is false if
// some of them are not known.
func (c *chaser) values(e ast.Expr, depth int) (out []string, ok bool) {
	if v := c.info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return []string{constant.StringVal(v)}, true
	}
	if depth > 12 {
		return nil, false
	}
	var sources []ast.Expr
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		left, okLeft := c.values(e.X, depth+1)
		right, okRight := c.values(e.Y, depth+1)
		for _, a := range left {
			for _, b := range right {
				out = append(out, a+b)
			}
		}
		return out, okLeft && okRight
	case *ast.CallExpr:
		sources = c.returnsOf(e.Fun)
	default:
		if s, isSelector := e.(*ast.SelectorExpr); isSelector && s.Sel.Name == "Code" && c.isIssue(c.info.TypeOf(s.X)) {
			return nil, true // of an issue that has its code from elsewhere
		}
		of := c.object(e)
		if p, isParam := c.params[of]; isParam {
			for _, call := range c.calls[p.of] {
				if p.at < len(call.Args) {
					sources = append(sources, call.Args[p.at])
				}
			}
		}
		sources = append(sources, c.from[of]...)
	}
	ok = len(sources) > 0
	for _, s := range sources {
		more, known := c.values(s, depth+1)
		out, ok = append(out, more...), ok && known
	}
	return out, ok
}

// returnsOf returns what a called function returns: of a method that is called
// through an interface, what all methods of its name do.
func (c *chaser) returnsOf(fun ast.Expr) (out []ast.Expr) {
	of := c.object(fun)
	if found := c.returns[of]; len(found) > 0 {
		return found
	}
	s, isMethod := ast.Unparen(fun).(*ast.SelectorExpr)
	if !isMethod || of == nil || c.info.Selections[s] == nil {
		return nil
	}
	for method, found := range c.returns {
		if f, ok := method.(*types.Func); ok && f.Name() == s.Sel.Name && f.Signature().Recv() != nil {
			out = append(out, found...)
		}
	}
	return out
}
