"""Rewrites the golden files on purpose: `.venv/bin/python -m tests.golden.rewrite`, then read the diff."""

from tests.golden import openapi, packing

if __name__ == "__main__":
    for phase in packing.PHASES:
        packing.golden(phase).write_text(packing.shown(phase), encoding="utf-8")
    openapi.GOLDEN.write_text(openapi.shown(), encoding="utf-8")
