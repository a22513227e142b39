// What go/types says of a module: definitions, calls and references.
// go run codegraph_go.go FOLDER prints JSON as codegraph_compiled.py reads it. Packages outside the module and the
// standard library are empty: what they would return has no type.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

var (
	root    string
	module  string
	fset    = token.NewFileSet()
	library = importer.ForCompiler(fset, "source", nil)
	checked = map[string]*types.Package{}
	kinds   = map[string]string{}
	calls   = map[[2]string]bool{}
	uses    = map[[2]string]string{}
	files   = []string{}
	ids     = map[string]string{}
	pending []func()
)

type modules struct{}

func (modules) Import(path string) (*types.Package, error) {
	if path == module || strings.HasPrefix(path, module+"/") {
		return check(filepath.Join(root, strings.TrimPrefix(path, module)), false), nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		return library.Import(path)
	}
	parts := strings.Split(path, "/")
	made := types.NewPackage(path, parts[len(parts)-1])
	made.MarkComplete()
	return made, nil
}

// Checks the packages of a folder, with its tests if wanted; returns the one that others import.
func check(folder string, tests bool) *types.Package {
	key := fmt.Sprint(folder, tests)
	if made, known := checked[key]; known {
		return made
	}
	checked[key] = nil
	found, err := parser.ParseDir(fset, folder, nil, parser.SkipObjectResolution)
	if err != nil && found == nil {
		return nil
	}
	var main *types.Package
	for name, parsed := range found {
		list := []*ast.File{}
		paths := []string{}
		for path := range parsed.Files {
			paths = append(paths, path)
		}
		sort.Strings(paths)
		for _, path := range paths {
			if tests || !strings.HasSuffix(path, "_test.go") {
				list = append(list, parsed.Files[path])
			}
		}
		if len(list) == 0 {
			continue
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
		config := types.Config{Importer: modules{}, Error: func(error) {}, FakeImportC: true}
		made, _ := config.Check(folder, fset, list, info)
		if !strings.HasSuffix(name, "_test") {
			main = made
			checked[key] = made
		}
		if tests {
			for _, file := range list {
				read(file, info)
			}
		}
	}
	return main
}

func relative(position token.Pos) string {
	path, err := filepath.Rel(root, fset.Position(position).Filename)
	if err != nil || strings.HasPrefix(path, "..") {
		return ""
	}
	return filepath.ToSlash(path)
}

func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return ""
	}
	kind := function.Recv.List[0].Type
	for {
		switch each := kind.(type) {
		case *ast.StarExpr:
			kind = each.X
		case *ast.IndexExpr:
			kind = each.X
		case *ast.IndexListExpr:
			kind = each.X
		case *ast.ParenExpr:
			kind = each.X
		case *ast.Ident:
			return each.Name + "."
		default:
			return ""
		}
	}
}

func define(position token.Pos, file, name, kind string) {
	ids[fset.Position(position).String()] = file + "::" + name
	kinds[file+"::"+name] = kind
}

func read(file *ast.File, info *types.Info) {
	path := relative(file.Pos())
	files = append(files, path)
	for _, declared := range file.Decls {
		switch each := declared.(type) {
		case *ast.FuncDecl:
			kind := "function"
			if each.Recv != nil {
				kind = "method"
			}
			define(each.Name.Pos(), path, receiver(each)+each.Name.Name, kind)
		case *ast.GenDecl:
			for _, spec := range each.Specs {
				switch one := spec.(type) {
				case *ast.TypeSpec:
					define(one.Name.Pos(), path, one.Name.Name, "class")
					if made, ok := one.Type.(*ast.InterfaceType); ok {
						for _, method := range made.Methods.List {
							for _, name := range method.Names {
								define(name.Pos(), path, one.Name.Name+"."+name.Name, "method")
							}
						}
					}
				case *ast.ValueSpec:
					for _, name := range one.Names {
						define(name.Pos(), path, name.Name, "constant")
					}
				}
			}
		}
	}
	pending = append(pending, func() { references(file, path, info) })
}

func references(file *ast.File, path string, info *types.Info) {
	for _, declared := range file.Decls {
		switch each := declared.(type) {
		case *ast.FuncDecl:
			visit(each, path+"::"+receiver(each)+each.Name.Name, info)
		case *ast.GenDecl:
			for _, spec := range each.Specs {
				switch one := spec.(type) {
				case *ast.TypeSpec:
					visit(one, path+"::"+one.Name.Name, info)
				case *ast.ValueSpec:
					visit(one, path+"::"+one.Names[0].Name, info)
				}
			}
		}
	}
}

func visit(node ast.Node, origin string, info *types.Info) {
	called := map[*ast.Ident]bool{}
	ast.Inspect(node, func(each ast.Node) bool {
		if made, ok := each.(*ast.InterfaceType); ok && kinds[origin] == "class" {
			// What a method of an interface names is used by the method; embedded interfaces by the interface.
			for _, method := range made.Methods.List {
				if len(method.Names) == 0 {
					visit(method.Type, origin, info)
				}
				for _, name := range method.Names {
					visit(method.Type, origin+"."+name.Name, info)
				}
			}
			return false
		}
		if call, ok := each.(*ast.CallExpr); ok {
			function := call.Fun
			for {
				if inner, ok := function.(*ast.ParenExpr); ok {
					function = inner.X
				} else if inner, ok := function.(*ast.IndexExpr); ok {
					function = inner.X
				} else if inner, ok := function.(*ast.IndexListExpr); ok {
					function = inner.X
				} else {
					break
				}
			}
			switch one := function.(type) {
			case *ast.Ident:
				called[one] = true
			case *ast.SelectorExpr:
				called[one.Sel] = true
			}
		}
		name, ok := each.(*ast.Ident)
		if !ok {
			return true
		}
		meant := info.Uses[name]
		if meant == nil {
			return true
		}
		if function, ok := meant.(*types.Func); ok {
			meant = function.Origin()
		}
		target, known := ids[fset.Position(meant.Pos()).String()]
		if !known || target == origin {
			return true
		}
		if called[name] {
			calls[[2]string{origin, target}] = true
		} else {
			uses[[2]string{origin, target}] = kinds[target]
		}
		return true
	})
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "module ") {
			module = strings.Trim(strings.TrimSpace(strings.TrimPrefix(line, "module ")), "\"")
		}
	}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			base := filepath.Base(path)
			if path != root && (strings.HasPrefix(base, ".") || base == "vendor" || base == "testdata") {
				return filepath.SkipDir
			}
			check(path, true)
		}
		return nil
	})
	for _, each := range pending {
		each()
	}
	list := func(pairs map[[2]string]bool) [][]string {
		made := [][]string{}
		for pair := range pairs {
			made = append(made, []string{pair[0], pair[1]})
		}
		return made
	}
	references := [][]string{}
	for pair, kind := range uses {
		references = append(references, []string{pair[0], pair[1], kind})
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"files": files, "kinds": kinds, "calls": list(calls), "references": references})
}
