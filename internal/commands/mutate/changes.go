package mutate

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A change puts text in the place of what stands from from to to.
type change struct {
	from, to token.Pos
	text     string
	name     string
}

// swapped is what an operator is replaced by.
var swapped = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// words is what a name is replaced by. The constants of a block stand in pack.next.
var words = map[string]string{
	"true": "false", "false": "true", "min": "max", "max": "min", "Min": "Max", "Max": "Min",
}

// walk collects the changes of one function.
type walk struct {
	*pack
	out   []change
	stack []ast.Node // what is looked at, and behind it what encloses that
}

// changes lists those of a function's body.
func (p *pack) changes(body *ast.BlockStmt) []change {
	w := &walk{pack: p}
	ast.PreorderStack(body, nil, func(n ast.Node, above []ast.Node) bool {
		w.stack = append(slices.Clone(above), n)
		slices.Reverse(w.stack)
		w.visit(n)
		return true
	})
	return w.out
}

func (w *walk) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BlockStmt:
		w.statements(n.List)
	case *ast.CaseClause:
		w.statements(n.Body)
	case ast.Expr:
		w.expression(n)
	case *ast.AssignStmt:
		w.operator(n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		w.operator(n.TokPos, n.Tok)
	}
}

// statements leaves out one of them each. It stays in the text, so that what it
// alone uses is used.
func (w *walk) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.ReturnStmt, *ast.BranchStmt:
		default:
			continue
		}
		text := w.source(s.Pos(), s.End())
		w.out = append(w.out,
			change{s.Pos(), s.End(), "if false { " + text + " }", "delete " + oneLine(text)})
	}
}

func (w *walk) expression(e ast.Expr) {
	w.condition(e)
	if w.forgets {
		w.forget(e)
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		w.operator(e.OpPos, e.Op)
	case *ast.UnaryExpr:
		if e.Op == token.NOT || e.Op == token.SUB {
			w.put(e.OpPos, e.X.Pos(), "")
		}
	case *ast.CompositeLit:
		w.fields(e)
	case *ast.BasicLit:
		if v, err := strconv.Atoi(e.Value); e.Kind == token.INT && err == nil {
			other := max(v-1, 1-v) // 0: 1, 1: 0, 2: 1
			call, ok := w.stack[1].(*ast.CallExpr)
			if ok && w.source(call.Fun.Pos(), call.Fun.End()) == "math.Inf" {
				other = -1 // a sign of 0 is that of 1
			}
			w.put(e.Pos(), e.End(), strconv.Itoa(other))
		}
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && x.Name == "algo" && e.Sel.Name == "None" {
			w.put(e.Pos(), e.End(), "1")
		}
	case *ast.Ident:
		other := words[e.Name]
		if other == "" && !w.field(e) {
			other = w.next[e.Name]
		}
		if other != "" {
			w.put(e.Pos(), e.End(), other)
		}
	}
}

// forget has what is saved lack a part: each argument of a call of Save, and each part of a literal there.
func (w *walk) forget(e ast.Expr) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return
	}
	if to, ok := call.Fun.(*ast.SelectorExpr); !ok || to.Sel.Name != "Save" {
		return
	}
	for _, part := range call.Args {
		list := []ast.Expr{part}
		if lit, ok := part.(*ast.CompositeLit); ok {
			list = lit.Elts
		} else if inner, ok := part.(*ast.CallExpr); ok {
			list = inner.Args
		}
		for _, x := range list {
			if pair, ok := x.(*ast.KeyValueExpr); ok {
				x = pair.Value
			}
			text := w.source(x.Pos(), x.End())
			w.out = append(w.out, change{x.Pos(), x.End(), "mutantForgets(" + text + ")", "save no " + text})
		}
	}
}

// field says whether the name is that of a field, which may be a constant's as well.
func (w *walk) field(e *ast.Ident) bool {
	switch above := w.stack[1].(type) {
	case *ast.SelectorExpr:
		return true
	case *ast.KeyValueExpr:
		return above.Key == e
	}
	return false
}

// condition makes changes of a whole condition, which is negated, always true, and
// never, and of each part of an "and" or an "or", which is negated and left out.
// What it computes stays in the text. An operator that negates is another change.
func (w *walk) condition(e ast.Expr) {
	b, _ := e.(*ast.BinaryExpr)
	_, whole := w.stack[1].(*ast.IfStmt)
	if _, ok := w.stack[1].(*ast.CaseClause); ok {
		sw, ok := w.stack[3].(*ast.SwitchStmt) // above its block
		whole = ok && sw.Tag == nil
	}
	and, or := whole, whole
	if above, ok := w.stack[1].(*ast.BinaryExpr); ok && (b == nil || b.Op != above.Op) {
		and, or = above.Op == token.LAND, above.Op == token.LOR
	}
	text := w.source(e.Pos(), e.End())
	if u, ok := e.(*ast.UnaryExpr); (and || or) && (!ok || u.Op != token.NOT) &&
		(b == nil || b.Op != token.EQL && b.Op != token.NEQ) {
		w.put(e.Pos(), e.End(), "!("+text+")")
	}
	if and {
		w.put(e.Pos(), e.End(), "(true || "+text+")")
	}
	if or {
		w.put(e.Pos(), e.End(), "(false && ("+text+"))")
	}
}

func (w *walk) operator(at token.Pos, op token.Token) {
	if other, ok := swapped[op]; ok {
		w.put(at, at+token.Pos(len(op.String())), other.String())
	}
}

// fields leaves out one field of a literal each.
func (w *walk) fields(lit *ast.CompositeLit) {
	for i, e := range lit.Elts {
		if _, ok := e.(*ast.KeyValueExpr); !ok {
			continue
		}
		to := lit.Rbrace
		if i+1 < len(lit.Elts) {
			to = lit.Elts[i+1].Pos()
		}
		w.out = append(w.out,
			change{e.Pos(), to, "", "delete " + oneLine(w.source(e.Pos(), e.End()))})
	}
}

// put makes a change. Its name is the line as it then reads.
func (w *walk) put(from, to token.Pos, text string) {
	line, lead := w.line()
	name := lead + w.source(line.Pos(), from) + text + w.source(to, line.End())
	w.out = append(w.out, change{from, to, text, oneLine(name)})
}

// line is the statement, the field or the condition around what is looked at.
func (w *walk) line() (n ast.Node, lead string) {
	for i, n := range w.stack {
		switch n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.KeyValueExpr:
			return n, ""
		}
		switch w.stack[i+1].(type) {
		case *ast.IfStmt:
			return n, "if "
		case *ast.ForStmt, *ast.RangeStmt:
			return n, "for "
		case *ast.SwitchStmt:
			return n, "switch "
		case *ast.CaseClause:
			return n, "case "
		case *ast.BlockStmt, *ast.DeclStmt:
			return n, ""
		}
	}
	return w.stack[0], ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
