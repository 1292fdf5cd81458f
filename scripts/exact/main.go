// Command exact writes internal/base/exact/derived.go: functions of package math of the Go that runs it, in
// which every product is rounded before it is added to something. In package math a compiler may fuse the
// two, and does on some platforms; and some platforms have functions of their own in assembly.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// files of package math have what the functions of package exact are made of.
var files = []string{"cbrt.go", "erf.go", "erfinv.go", "expm1.go", "lgamma.go", "log.go", "log1p.go",
	"pow.go", "sin.go", "sincos.go", "trig_reduce.go"}

// left out, since package exact has its own, or nobody needs them.
var left = map[string]bool{"Log10": true, "Log2": true, "log10": true, "log2": true}

const output = "internal/base/exact/derived.go"

func main() {
	text, err := derived()
	if err == nil {
		err = os.WriteFile(output, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "exact:", err)
		os.Exit(1)
	}
}

func derived() ([]byte, error) {
	fset := token.NewFileSet()
	var parsed []*ast.File
	ours := map[string]bool{"Exp": true} // declared in package exact
	for _, name := range files {
		f, err := parser.ParseFile(fset, filepath.Join(build.Default.GOROOT, "src/math", name), nil, 0)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
		for _, d := range f.Decls {
			for _, name := range declared(d) {
				ours[name] = true
			}
		}
	}
	var out bytes.Buffer
	fmt.Fprint(&out, header)
	for _, f := range parsed {
		qualify(f, ours)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			if f, ok := d.(*ast.FuncDecl); ok && left[f.Name.Name] {
				continue
			}
			round(d)
			if err := format.Node(&out, fset, d); err != nil {
				return nil, err
			}
			fmt.Fprint(&out, "\n\n")
		}
	}
	return format.Source(out.Bytes())
}

// declared are the names that a declaration of a package declares.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// qualify names package math where a file of it needs what is not ours, and drops the ways to assembly.
func qualify(f *ast.File, ours map[string]bool) {
	inMath := func(name string) bool {
		return ast.IsExported(name) && !ours[name] && name != "T"
	}
	local := map[*ast.Ident]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			local[n.Sel] = true
		case *ast.ValueSpec: // constants of a function
			for _, name := range n.Names {
				local[name] = true
				if name.Obj != nil {
					name.Obj.Data = nil
				}
			}
		case *ast.BlockStmt:
			kept := n.List[:0]
			for _, s := range n.List {
				if i, ok := s.(*ast.IfStmt); ok {
					if c, ok := i.Cond.(*ast.Ident); ok && strings.HasPrefix(c.Name, "haveArch") {
						continue
					}
				}
				kept = append(kept, s)
			}
			n.List = kept
		}
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || local[id] || id.Obj != nil {
			return true
		}
		switch id.Name {
		case "uvnan", "mask", "shift", "bias", "fracMask", "uvinf", "signMask", "uvone":
			id.Name = constants[id.Name]
		default:
			if inMath(id.Name) {
				id.Name = "math." + id.Name
			}
		}
		return true
	})
}

// constants of bits.go that the files use.
var constants = map[string]string{"mask": "0x7FF", "shift": "(64 - 11 - 1)", "bias": "1023",
	"fracMask": "(1<<(64-11-1) - 1)", "uvnan": "0x7FF8000000000001", "uvinf": "0x7FF0000000000000",
	"signMask": "(1 << 63)", "uvone": "0x3FF0000000000000"}

// round rounds each product, since one may be fused with a sum in a later statement, too. In the reduction of
// angles all products are of integers.
func round(d ast.Decl) {
	if f, ok := d.(*ast.FuncDecl); !ok || f.Name.Name == "trigReduce" {
		return
	}
	within := map[ast.Expr]bool{} // of a longer product
	product := func(e *ast.Expr) {
		inner := *e
		for {
			p, ok := inner.(*ast.ParenExpr)
			if !ok {
				break
			}
			inner = p.X
		}
		if b, ok := inner.(*ast.BinaryExpr); ok && b.Op == token.MUL && !within[*e] {
			within[b.X], within[b.Y] = true, true
			copied := &ast.BinaryExpr{X: b.X, Op: b.Op, Y: b.Y}
			*e = &ast.CallExpr{Fun: ast.NewIdent("float64"), Args: []ast.Expr{copied}}
		}
	}
	each := func(list []ast.Expr) {
		for i := range list {
			product(&list[i])
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST
		case *ast.BinaryExpr:
			if n.Op != token.MUL {
				product(&n.X)
				product(&n.Y)
			}
		case *ast.AssignStmt:
			if n.Tok == token.MUL_ASSIGN {
				n.Tok = token.ASSIGN
				n.Rhs[0] = &ast.BinaryExpr{X: n.Lhs[0], Op: token.MUL, Y: n.Rhs[0]}
			}
			each(n.Rhs)
		case *ast.ReturnStmt:
			each(n.Results)
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); !ok || f.Name != "float64" {
				each(n.Args)
			}
		case *ast.UnaryExpr:
			product(&n.X)
		}
		return true
	})
}

const header = `// Code generated by scripts/exact from package math of Go. DO NOT EDIT.

// Copyright 2009 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file of Go.

package exact

import (
	"math"
	"math/bits"
)

`
