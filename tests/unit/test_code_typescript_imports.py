"""Targets of TypeScript and JavaScript imports, rule by rule."""

import pytest

from tests.resolver_projects import edges_of, facts_of, unresolved_of
from treering.code.languages.typescript import LANGUAGE

HERE = "export const here = 1\n"


def imports(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "imports"}


REACHES = {
    "a file beside": ("./other", "src/other.ts"),
    "a tsx file": ("./view", "src/view.tsx"),
    "a directory's index": ("./parts", "src/parts/index.ts"),
    "a source by the name it is compiled to": ("./other.js", "src/other.ts"),
    "a tsx source by its compiled name": ("./view.jsx", "src/view.tsx"),
    "a module source by its compiled name": ("./mod.mjs", "src/mod.mts"),
    "a declaration": ("./typed", "src/typed.d.ts"),
    "a plain script": ("./plain", "src/plain.js"),
    "a name with a dot": ("./some.thing", "src/some.thing.ts"),
    "the directory above": ("..", "index.ts"),
    "a bundler's query": ("./plain.js?raw", "src/plain.js"),
}


@pytest.mark.parametrize("rule", REACHES)
def test_a_relative_import_reaches(rule: str) -> None:
    specifier, target = REACHES[rule]
    names = ("other.ts", "view.tsx", "parts/index.ts", "mod.mts", "typed.d.ts", "plain.js", "some.thing.ts")
    files = {f"src/{name}": HERE for name in names} | {"index.ts": HERE}
    files["src/main.ts"] = f"import {{ here }} from '{specifier}'\n"
    assert imports(files) == {("src/main.ts", target)}


FORMS = {
    "import type": "import type { here } from './other'",
    "for its effects": "import './other'",
    "re-export": "export { here as there } from './other'",
    "re-export of all": "export * from './other'",
    "re-export of all types": "export type * from './other'",
    "re-export as a namespace": "export * as ns from './other'",
    "dynamic": "async function f() { await import('./other') }",
    "require": "const other = require('./other')",
    "import require": "import other = require('./other')",
    "a type by import": "let x: import('./other').Here",
    "reference path": "/// <reference path='./other.ts' />",
    "augmentation": "declare module './other' { interface A {} }",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_import_counts(form: str) -> None:
    assert imports({"main.ts": FORMS[form] + "\n", "other.ts": HERE}) == {("main.ts", "other.ts")}


def test_computed_and_external_imports_are_not_edges_and_missing_files_are_reported() -> None:
    source = "import fs from 'node:fs'\nimport x from 'react'\nimport('./' + name)\nimport './gone'\n"
    assert imports({"main.ts": source}) == set()
    assert unresolved_of({"main.ts": source}, LANGUAGE) == {("main.ts", "./gone")}


def test_paths_of_the_nearest_configuration_with_comments_and_trailing_commas() -> None:
    files = {
        "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./wrong/*"] } } }',
        "app/tsconfig.json": """{
            // the app's own
            "compilerOptions": { "baseUrl": "./src", "paths": { "@/*": ["./lib/*", ], "#exact": ["one.ts"] /* , */ }, },
        }""",
        "app/src/lib/deep/thing.ts": HERE,
        "app/src/one.ts": HERE,
        "app/src/based.ts": HERE,
        "app/src/main.ts": "import '@/deep/thing'\nimport '#exact'\nimport 'based'\n",
    }
    targets = {"app/src/lib/deep/thing.ts", "app/src/one.ts", "app/src/based.ts"}
    assert imports(files) == {("app/src/main.ts", target) for target in targets}


def test_extended_and_referenced_configurations_resolve_paths_from_their_folder() -> None:
    files = {
        "tsconfig.base.json": '{ "compilerOptions": { "paths": { "shared": ["./shared/index.ts"] } } }',
        "web/tsconfig.json": """
            { "extends": "../tsconfig.base.json", "references": [{ "path": "./tsconfig.app.json" }] }
        """,
        "web/tsconfig.app.json": '{ "compilerOptions": { "paths": { "~/*": ["./src/*"] } } }',
        "shared/index.ts": HERE,
        "web/src/a.ts": HERE,
        "web/src/main.ts": "import 'shared'\nimport '~/a'\n",
    }
    assert imports(files) == {("web/src/main.ts", "shared/index.ts"), ("web/src/main.ts", "web/src/a.ts")}


def test_packages_of_a_workspace_are_found_by_name_even_before_they_are_built() -> None:
    manifest = """{ "name": "@my/core", "main": "./dist/index.js", "exports": {
        ".": { "types": "./dist/index.d.ts", "default": "./dist/index.js" },
        "./sub": { "import": "./dist/sub.mjs" }, "./deep/*": "./dist/deep/*.js" } }"""
    files = {
        "packages/core/package.json": manifest,
        "packages/core/src/index.ts": HERE,
        "packages/core/src/sub.ts": HERE,
        "packages/core/src/deep/x.ts": HERE,
        "packages/core/src/self.ts": "import '@my/core'\n",
        "packages/plain/package.json": '{ "name": "plain", "main": "lib/start" }',
        "packages/plain/lib/start.js": HERE,
        "apps/web/main.ts": "import '@my/core'\nimport '@my/core/sub'\nimport '@my/core/deep/x'\nimport 'plain'\n",
    }
    core = "packages/core/src/"
    reached = {core + "index.ts", core + "sub.ts", core + "deep/x.ts", "packages/plain/lib/start.js"}
    assert imports(files) == {("apps/web/main.ts", target) for target in reached} | {
        (core + "self.ts", core + "index.ts")
    }


def test_hash_imports_of_the_own_package() -> None:
    files = {
        "package.json": '{ "name": "p", "imports": { "#db/*": { "node": "./src/db/*.js" } } }',
        "src/db/users.ts": HERE,
        "src/main.ts": "import '#db/users'\n",
    }
    assert imports(files) == {("src/main.ts", "src/db/users.ts")}


def test_a_broken_manifest_is_only_a_problem() -> None:
    for name, text in (("tsconfig.json", "{ nonsense"), ("package.json", "[]"), ("tsconfig.json", "\x00")):
        facts = facts_of({name: text}, LANGUAGE)[name]
        assert facts.problems
        assert LANGUAGE.surface(facts) == {}
