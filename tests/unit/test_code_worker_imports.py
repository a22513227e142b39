"""A process that reads code imports only what it needs: each one would hold the rest in memory."""

import subprocess
import sys


def test_a_reading_process_imports_neither_numpy_nor_pydantic() -> None:
    code = "import sys, treering.code.index.worker_process; print(*sys.modules)"
    languages = "import treering.code.languages.python, treering.code.languages.go, treering.code.languages.rust\n"
    names = {"numpy", "pydantic", "sqlalchemy"}
    run = subprocess.run([sys.executable, "-I", "-c", languages + code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "treering.code.index.worker_process" in loaded
    assert not names & loaded
