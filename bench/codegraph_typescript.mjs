// What the TypeScript compiler says of a folder: imports, definitions, calls, references.
// node codegraph_typescript.mjs COMPILER FOLDER prints JSON as codegraph_scoring.read_truth reads it.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [compiler, folder] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(compiler);
const root = path.resolve(folder);
const SOURCE = /\.[cm]?[jt]sx?$/;
const MODULE = "<module>";

const below = (place) =>
  readdirSync(place, { withFileTypes: true }).flatMap((entry) => {
    const inner = path.join(place, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : below(inner);
    return SOURCE.test(entry.name) ? [inner] : [];
  });

// A package's tests import it by its own name: that is its source, not what somebody built of it.
const own = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).name;
const files = below(root).sort();
const program = ts.createProgram(files, {
  allowJs: true,
  allowImportingTsExtensions: true,
  baseUrl: root,
  jsx: ts.JsxEmit.ReactJSX,
  maxNodeModuleJsDepth: 0,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  paths: { [own]: ["./src/index", "./index"], [`${own}/*`]: ["./src/*", "./src/*/index", "./*"] },
  skipLibCheck: true,
  strict: true,
  target: ts.ScriptTarget.ES2022,
  typeRoots: [],
});
const checker = program.getTypeChecker();

const relative = (file) => path.relative(root, file).split(path.sep).join("/");
const isOurs = (source) => source.fileName.startsWith(root + path.sep);
const isFunction = (node) => ts.isArrowFunction(node) || ts.isFunctionExpression(node);

function bare(node) {
  let inner = node;
  while (
    ts.isParenthesizedExpression(inner) ||
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner) ||
    ts.isNonNullExpression(inner)
  )
    inner = inner.expression;
  return inner;
}

// `exports.name = function`, `Type.prototype.name = function`, and `object.name = function` outside of functions.
function assignedName(node) {
  const isAssignment = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  if (!isAssignment || !ts.isPropertyAccessExpression(node.left)) return undefined;
  let value = bare(node.right);
  while (ts.isBinaryExpression(value) && value.operatorToken.kind === ts.SyntaxKind.EqualsToken) value = bare(value.right);
  if (!isFunction(value)) return undefined;
  const written = node.left.getText();
  const exported = /^(?:module\.)?exports\.(\w+)$/.exec(written);
  if (exported) return exported[1];
  const method = /^(\w+)\.prototype\.(\w+)$/.exec(written);
  if (method) return `${method[1]}.${method[2]}`;
  let statement = node.parent;
  while (ts.isBinaryExpression(statement)) statement = statement.parent;
  const property = /^(\w+)\.(\w+)$/.exec(written);
  const isTopLevel = statement.parent === node.getSourceFile();
  return property && isTopLevel && property[1] !== "module" ? `${property[1]}.${property[2]}` : undefined;
}

const holdsFunction = (node) => node.initializer && isFunction(bare(node.initializer));
const holdsClass = (node) => node.initializer && ts.isClassExpression(bare(node.initializer));
const hasPlainName = (node) => node.name && !ts.isBindingPattern(node.name);
const nameOf = (node) => (ts.isStringLiteral(node.name) ? node.name.text : node.name.getText());

// [what a node is, the name that it gives to what stands in it]; undefined where it gives none.
function naming(node) {
  if (ts.isFunctionDeclaration(node)) return ["function", node.name?.text ?? "default"];
  if (ts.isClassDeclaration(node)) return ["class", node.name?.text ?? "default"];
  if (ts.isInterfaceDeclaration(node)) return ["interface", node.name.text];
  if (ts.isTypeAliasDeclaration(node)) return ["type", node.name.text];
  if (ts.isEnumDeclaration(node)) return ["enum", node.name.text];
  if (ts.isConstructorDeclaration(node)) return ["method", "constructor"];
  if (ts.isMethodDeclaration(node) || ts.isMethodSignature(node) || ts.isAccessor(node)) return ["method", nameOf(node)];
  if (ts.isPropertyDeclaration(node) && holdsFunction(node)) return ["method", nameOf(node)];
  if (ts.isPropertyAssignment(node) && holdsFunction(node)) return ["function", nameOf(node)];
  if (ts.isVariableDeclaration(node) && hasPlainName(node)) {
    if (holdsFunction(node)) return ["function", nameOf(node)];
    if (holdsClass(node)) return ["class", nameOf(node)];
  }
  if (ts.isPropertySignature(node) && node.type && ts.isFunctionTypeNode(node.type)) return ["method", nameOf(node)];
  const assigned = assignedName(node);
  if (assigned !== undefined) return ["function", assigned];
  if (ts.isFunctionExpression(node) && node.name && !naming(node.parent)) return ["function", node.name.text];
  return undefined;
}

function qualname(node) {
  const parts = [];
  for (let each = node; each && !ts.isSourceFile(each); each = each.parent) {
    const named = naming(each);
    if (named) parts.unshift(named[1]);
  }
  return parts.join(".");
}

const isConstant = (node) =>
  ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer && qualname(node.parent) === "";
const idOf = (node) =>
  `${relative(node.getSourceFile().fileName)}::${naming(node) ? qualname(node) : node.name.text}`;

function symbolAt(node) {
  const symbol = checker.getSymbolAtLocation(node);
  return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

// The compiler says that `exports.name` is declared on the left of `exports.name = function`.
function declarationOf(node) {
  const isAssigned = ts.isPropertyAccessExpression(node) && ts.isBinaryExpression(node.parent);
  return isAssigned && node.parent.left === node ? node.parent : node;
}

// The name of what a node calls, constructs, tags a template with or renders.
function calledName(node) {
  let called;
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) called = node.expression;
  else if (ts.isTaggedTemplateExpression(node)) called = node.tag;
  else if (ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node)) called = node.tagName;
  if (!called) return undefined;
  called = bare(called);
  if (ts.isPropertyAccessExpression(called)) return called.name;
  return ts.isIdentifier(called) ? called : undefined;
}

function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (ts.isExternalModuleReference(node)) return node.expression;
  if (!ts.isCallExpression(node) || !node.arguments.length || !ts.isStringLiteral(node.arguments[0])) return undefined;
  const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === "require";
  return isImport ? node.arguments[0] : undefined;
}

// What a name is that is used: not where it is declared, imported or exported.
const isDeclaring = (node) =>
  (node.parent.name === node && !ts.isPropertyAccessExpression(node.parent) && !ts.isShorthandPropertyAssignment(node.parent)) ||
  ts.isImportClause(node.parent) ||
  ts.isImportSpecifier(node.parent) ||
  ts.isExportSpecifier(node.parent) ||
  ts.isExportAssignment(node.parent) ||
  ts.isNamespaceImport(node.parent) ||
  (ts.isBindingElement(node.parent) && node.parent.propertyName === node);

function usedSymbol(node) {
  if (ts.isShorthandPropertyAssignment(node.parent)) {
    const symbol = checker.getShorthandAssignmentValueSymbol(node.parent);
    return symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }
  return symbolAt(node);
}

function isTypeName(node) {
  let each = node;
  while (ts.isQualifiedName(each.parent)) each = each.parent;
  return ts.isTypeReferenceNode(each.parent) || ts.isExpressionWithTypeArguments(each.parent);
}

const kinds = {};
const references = new Map();
const calls = new Map();
const imports = new Map();
const sites = [];
const put = (pairs, origin, target) => pairs.set(`${origin}\n${target}`, [origin, target]);

function visit(node, file) {
  const named = naming(node);
  if (named) kinds[`${file}::${qualname(node)}`] = named[0];
  const name = calledName(node);
  if (name) {
    const caller = `${file}::${qualname(node.parent) || MODULE}`;
    const declared = symbolAt(name)?.declarations ?? [];
    const ours = declared.filter((each) => isOurs(each.getSourceFile()));
    const target = ours.map(declarationOf).find((each) => naming(each) || isConstant(each));
    if (target) put(calls, caller, idOf(target));
    sites.push([caller, name.text, target ? "in" : ours.length ? "var" : declared.length ? "ext" : "none"]);
  }
  if (ts.isIdentifier(node) && node !== calledName(node.parent) && !isDeclaring(node)) {
    const ours = (usedSymbol(node)?.declarations ?? []).filter((each) => isOurs(each.getSourceFile()));
    const target = ours.map(declarationOf).find((each) => naming(each) || isConstant(each));
    const user = `${file}::${qualname(node.parent) || MODULE}`;
    if (target && idOf(target) !== user)
      references.set(`${user}\n${idOf(target)}`, [user, idOf(target), isTypeName(node) ? "type" : "value"]);
  }
  // `const { name } = object` reads the member.
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    const key = node.propertyName ?? node.name;
    const read = ts.isIdentifier(key) ? checker.getTypeAtLocation(node.parent).getProperty(key.text) : undefined;
    const target = read?.declarations?.find((each) => isOurs(each.getSourceFile()) && naming(each));
    const user = `${file}::${qualname(node.parent) || MODULE}`;
    if (target && idOf(target) !== user)
      references.set(`${user}\n${idOf(target)}`, [user, idOf(target), "value"]);
  }
  const specifier = specifierOf(node);
  if (specifier) {
    // A script without exports is no module to the compiler, and still it is what is imported.
    const { resolvedModule } = ts.resolveModuleName(
      specifier.text,
      node.getSourceFile().fileName,
      program.getCompilerOptions(),
      ts.sys,
    );
    const reached = resolvedModule && path.resolve(resolvedModule.resolvedFileName);
    if (reached?.startsWith(root + path.sep) && relative(reached) !== file) put(imports, file, relative(reached));
  }
  ts.forEachChild(node, (child) => visit(child, file));
}

for (const source of program.getSourceFiles()) if (isOurs(source)) visit(source, relative(source.fileName));
process.stdout.write(
  JSON.stringify({
    files: files.map(relative),
    kinds,
    imports: [...imports.values()],
    calls: [...calls.values()],
    references: [...references.values()],
    sites,
  }),
);
