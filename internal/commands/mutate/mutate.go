// Package mutate breaks a package one line at a time, to see whether its tests
// notice. A test suite that passes with a handler's statement deleted, or with
// its condition negated, does not test that line, whatever its coverage.
//
// It changes no file of the checkout: the mutants are compiled by way of the go
// command's overlay, all into one program. It is not a measure: a mutant that no test can notice, since
// it does the same, stands with its reason in a list of survivors.
package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Handlers are the functions by which a process of an algorithm is made and told
// of events, and those that tell it of its quorum. What they call within their
// package is mutated with them.
var Handlers = []string{
	"New", "Start", "Elect", "Request", "Release", "Receive", "Timeout", "Suspect", "Restore", "Do",
	"NewWatcher", "Quorum",
}

// A Mutant is a package with one change.
type Mutant struct {
	// Name says in which function, and what stands there instead: "onAnswer: i <= 0".
	// It is unique in the package, and says nothing of line numbers, which move.
	Name     string
	File     string // with its folder
	from, to int    // where the function's body stands in it
	body     string // as changed
	results  string // of the function, as declared
	pack     string // the package's name
}

// Of lists the mutants of the package in dir: one for each change of each
// function in roots, and of what those call within the package.
func Of(dir string, roots []string) ([]Mutant, error) {
	p, err := parse(dir)
	if err != nil {
		return nil, err
	}
	return p.mutants(p.reachable(roots)), nil
}

// Forgetful lists the mutants of the package in dir that Of lists, and those that save nothing in the place
// of one part of what they should.
func Forgetful(dir string, roots []string) ([]Mutant, error) {
	p, err := parse(dir)
	if err != nil {
		return nil, err
	}
	p.forgets = true
	return p.mutants(p.reachable(roots)), nil
}

// OfFiles lists the mutants of the package in dir: one for each change of each function in
// files, which are its own.
func OfFiles(dir string, files []string) ([]Mutant, error) {
	p, err := parse(dir)
	if err != nil {
		return nil, err
	}
	var in []function
	for _, file := range files {
		path := filepath.Join(dir, file)
		if p.sources[path] == nil {
			return nil, fmt.Errorf("%s: no such file of the package", path)
		}
		for _, fn := range p.funcs {
			if fn.file == path && fn.decl.Body != nil {
				in = append(in, fn)
			}
		}
	}
	return p.mutants(in), nil
}

// mutants are those of the functions.
func (p *pack) mutants(of []function) []Mutant {
	var out []Mutant
	seen := map[string]int{}
	for _, fn := range of {
		body := fn.decl.Body
		for _, c := range p.changes(body) {
			name := fn.decl.Name.Name + ": " + c.name
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s #%d", name, seen[name])
			}
			m := Mutant{
				Name: name, File: fn.file, pack: p.name,
				from: p.offset(body.Lbrace), to: p.offset(body.End()),
				body: p.source(body.Lbrace, c.from) + c.text + p.source(c.to, body.End()),
			}
			if r := fn.decl.Type.Results; r != nil {
				m.results = p.source(r.Pos(), r.End())
			}
			out = append(out, m)
		}
	}
	return out
}

// pack is a parsed package, its tests left out.
type pack struct {
	name    string
	fset    *token.FileSet
	sources map[string][]byte
	funcs   []function
	next    map[string]string // of a constant, another one of its block
	forgets bool              // processes forget what they save, part by part
}

type function struct {
	file string
	decl *ast.FuncDecl
}

func parse(dir string) (*pack, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	p := &pack{fset: token.NewFileSet(), sources: map[string][]byte{}, next: map[string]string{}}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if p.sources[file], err = os.ReadFile(file); err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(p.fset, file, p.sources[file], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.name = f.Name.Name
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				p.funcs = append(p.funcs, function{file, d})
			case *ast.GenDecl:
				p.constants(d)
			}
		}
	}
	if len(p.funcs) == 0 {
		return nil, fmt.Errorf("%s: no functions to change", dir)
	}
	return p, nil
}

// constants notes those of a block, each with the one after it.
func (p *pack) constants(d *ast.GenDecl) {
	if d.Tok != token.CONST {
		return
	}
	var names []string
	for _, s := range d.Specs {
		for _, name := range s.(*ast.ValueSpec).Names {
			names = append(names, name.Name)
		}
	}
	for i, name := range names {
		if len(names) > 1 {
			p.next[name] = names[(i+1)%len(names)]
		}
	}
}

// reachable is the functions of those names and what they call, in the order of
// the files. It goes by name alone, so it may take in one too many.
func (p *pack) reachable(names []string) []function {
	wanted := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if wanted[name] {
			return
		}
		for _, fn := range p.funcs {
			if fn.decl.Name.Name != name || fn.decl.Body == nil {
				continue
			}
			wanted[name] = true
			ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					visit(id.Name)
				}
				return true
			})
		}
	}
	for _, name := range names {
		visit(name)
	}
	return slices.DeleteFunc(slices.Clone(p.funcs), func(fn function) bool {
		return fn.decl.Body == nil || !wanted[fn.decl.Name.Name]
	})
}

func (p *pack) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

// source is the text from one place to another.
func (p *pack) source(from, to token.Pos) string {
	src := p.sources[p.fset.Position(from).Filename]
	return string(src[p.offset(from):p.offset(to)])
}
