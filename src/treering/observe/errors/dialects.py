"""The dialects in which tools report failures, the most specific first."""

from treering.observe.errors import diagnostics, go, javascript, python, rust, system
from treering.observe.errors.findings import ErrorDialect

DIALECTS: tuple[ErrorDialect, ...] = (
    ErrorDialect("go test", ("--- fail:",), go.find_go_test, certain=True),
    ErrorDialect("cargo test", ("... failed", " stdout ----"), rust.find_cargo_test, certain=True),
    ErrorDialect(
        "pytest",
        ("failed ", "error ", "\ne  ", "___ ", "error: file or", "error: not found", ": error: "),
        python.find_pytest,
        certain=True,
    ),
    ErrorDialect("unittest", ("fail: test", "error: test"), python.find_unittest, certain=True),
    ErrorDialect("jest", ("● ",), javascript.find_jest, certain=True),
    ErrorDialect("vitest", ("fail  ", "fail |"), javascript.find_vitest, certain=True),
    ErrorDialect("playwright", (" › ",), javascript.find_playwright, certain=True),
    ErrorDialect("mocha", (" failing",), javascript.find_mocha, certain=True),
    ErrorDialect("ruby", (".rb:", "failure/error", "failures:"), diagnostics.find_ruby, certain=True),
    ErrorDialect("php", ("fatal error:", "parse error:", "uncaught ", "1) "), diagnostics.find_php, certain=True),
    ErrorDialect("rust", ("error: ", "error["), rust.find_rustc, certain=True),
    ErrorDialect("go", ("panic: ", "fatal error: ", "data race"), go.find_go_panic, certain=True),
    ErrorDialect(
        "go", (".go:", "go: ", "no required module", "no go files", "package "), go.find_go_compile, certain=True
    ),
    ErrorDialect("lint", ("--> ", "  error  ", "error[", "lint/"), diagnostics.find_lint, certain=True),
    ErrorDialect("diagnostics", (":", "("), diagnostics.find_diagnostic, certain=True),
    ErrorDialect(
        "python", ("traceback (most", "syntaxerror", "indentationerror", "taberror", "python"), python.find_python
    ),
    ErrorDialect("node", ("\n    at ", "\n  at "), javascript.find_node),
    ErrorDialect(
        "java",
        ("[error]", "went wrong", "exception", ") failed", "e: ", "error: "),
        diagnostics.find_java,
        certain=True,
    ),
    ErrorDialect("node test", ("not ok ", "✖ ", "✗ ", "(fail) "), javascript.find_node_test, certain=True),
    ErrorDialect("rust", ("panicked at",), rust.find_rust_panic, certain=True),
    ErrorDialect("c", ("undefined", "cmake error", "ld: ", "cannot find -l"), diagnostics.find_native, certain=True),
    ErrorDialect("go test", ("fail\t", "fail "), go.find_go_package, certain=True),
    ErrorDialect("shell", ("not found",), system.find_missing_program),
    ErrorDialect("pre-commit", ("...failed",), system.find_hook, certain=True),
    ErrorDialect(
        "format", ("would reformat", "[warn]", "code style issues", "diff in "), diagnostics.find_format, certain=True
    ),
    ErrorDialect(
        "docker", ("docker", "daemon", "solve", "error from server", "configuration file"), system.find_container
    ),
    ErrorDialect("pip", ("error: ", "no solution"), system.find_install),
    ErrorDialect("npm", ("npm err", "err_pnpm", "elifecycle", "error  ", "error ", "yn0"), javascript.find_packages),
    ErrorDialect("sql", ("error", "fatal: "), system.find_sql),
    ErrorDialect("terraform", ("│ error: ",), system.find_terraform),
    ErrorDialect("make", ("no rule to make", "missing separator"), system.find_make, certain=True),
    ErrorDialect(
        "git", ("fatal: ", "error: ", "conflict (", "rejected]", "merge failed"), system.find_git, certain=True
    ),
    ErrorDialect(
        "shell",
        (
            "denied",
            "no such file",
            "directory",
            "in use",
            "refused",
            "resolve host",
            "fault",
            "unexpected",
            "unbound",
            "option",
            "killed",
            "memory",
            "no space",
            "read-only",
            "not permitted",
            "too many open",
            "cannot execute",
            "format error",
            "busy",
            "too long",
        ),
        system.find_shell,
    ),
    ErrorDialect("other", ("error", "fail", "fatal", "exception", "critical", "abort", "err:"), system.find_named),
    ErrorDialect("make", ("*** [", "recipe ", "task: "), system.find_make_target, certain=True),
)
