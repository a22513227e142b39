"""Signals of file accesses: files in use, files used together, files that mislead or take long to understand."""

from collections.abc import Iterator

from treering.observe.scratchpad import Activity
from treering.observe.scratchpad.path_kinds import module_of, stem_of
from treering.observe.signals.note import SignalFinding

REREADS = 4  # reads without an edit after which a file counts as hard to understand
_MIN_DWELL_MS = 120_000
_MIN_REREADS_FOR_DWELL = 3
_DIRECTED = 0.8
_MIN_WORD = 4


def file_access(activity: Activity) -> Iterator[SignalFinding]:
    """Files that were edited, or read more than once."""
    for path, use in activity.files.items():
        if use.edits or use.reads > 1:
            data = {
                "reads": use.reads,
                "edits": use.edits,
                "first_step": use.first_step,
                "dwell_ms": use.dwell_ms,
                "module": module_of(path),
            }
            yield SignalFinding(path, data, (path,), use.last_step, 3 * use.edits + use.reads)


def co_access(activity: Activity) -> Iterator[SignalFinding]:
    """Pairs of files within three steps: with an edit, or more than once."""
    for (first, second), pair in activity.pairs.items():
        if first not in activity.files or second not in activity.files:
            continue  # one of them could not be read
        if not (pair.both_edited or pair.one_edited or pair.count > 1):
            continue
        share = pair.forward / pair.count
        directed = pair.count > 1 and (share >= _DIRECTED or share <= 1 - _DIRECTED)
        data = {
            "count": pair.count,
            "forward_share": round(share, 3),
            "directional": directed,
            "mean_delay_ms": pair.delay_ms // pair.count,
            "both_edited": pair.both_edited,
            "one_edited": pair.one_edited,
            "tally": {"edited": 1} if pair.both_edited else {},
        }
        files = (first, second) if share >= 0.5 else (second, first)
        strength = 4 * pair.both_edited + 2 * pair.one_edited + pair.count
        yield SignalFinding(f"{first} + {second}", data, files, pair.last_step, strength)


def read_abandon(activity: Activity) -> Iterator[SignalFinding]:
    """Files that were opened by mistake for another one, and files read again and again without an edit."""
    for path, read in activity.abandoned.items():
        use = activity.files.get(path)
        if use and not use.edits and use.last_step < read.step and read.instead and _mistakable(path, read.instead):
            data = {"rule": "abandoned", "instead": read.instead, "pattern": read.pattern, "reads": use.reads}
            strength = 3 if stem_of(path) == stem_of(read.instead) else 2
            yield SignalFinding(path, data, (path, read.instead), read.instead_step, strength)
    for path, use in activity.files.items():
        if use.reads >= REREADS and not use.edits:
            data = {"rule": "reread", "type": "module_insight", "reads": use.reads, "dwell_ms": use.dwell_ms}
            yield SignalFinding(path, data, (path,), use.last_step, use.reads)


def import_chase(activity: Activity) -> Iterator[SignalFinding]:
    """Chains of reads along imports that ended in an edit, or were followed more than once."""
    for (first, last), chase in activity.chases.items():
        if chase.edited or chase.count > 1:
            data = {"chain": list(chase.chain), "count": chase.count, "edited": chase.edited}
            yield SignalFinding(
                f"{first} → {last}", data, (first, last), chase.last_step, len(chase.chain) + chase.count
            )


def time_anomaly(activity: Activity) -> Iterator[SignalFinding]:
    """Files that held the agent up: read repeatedly, with minutes of dwell time, and without an edit."""
    for path, use in activity.files.items():
        if use.dwell_ms >= _MIN_DWELL_MS and use.reads >= _MIN_REREADS_FOR_DWELL and not use.edits:
            data = {"dwell_ms": use.dwell_ms, "reads": use.reads}
            yield SignalFinding(path, data, (path,), use.last_step, use.dwell_ms / _MIN_DWELL_MS)


def _mistakable(left: str, instead: str) -> bool:
    """Whether the names are alike, so that one file may be taken for the other."""
    words, others = _words(stem_of(left)), _words(stem_of(instead))
    return stem_of(left) == stem_of(instead) or bool(words & others)


def _words(stem: str) -> set[str]:
    spaced = "".join(f" {each}" if each.isupper() else each if each.isalnum() else " " for each in stem)
    return {word.lower() for word in spaced.split() if len(word) >= _MIN_WORD} - {"test", "tests", "index", "main"}
