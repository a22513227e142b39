"""Accesses of files: counts, dwell time, files accessed together, chains of imports, reads that led nowhere."""

import re
from zlib import crc32

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.entries import ObservedFileUse
from treering.observe.scratchpad.path_kinds import stem_of
from treering.observe.scratchpad.recent import Did, FileTouch, RecentHistory

PAIR_STEPS = 3  # files this close to each other belong together
ABANDON_STEPS = 12  # a file edited this soon after an abandoned read is what was looked for
ANSWER_STEPS = 3  # a file opened this soon after a search is its answer
_MAX_DWELL = 300.0  # seconds; longer pauses are those of a person
_MAX_ANSWERS = 4
_MAX_CHAIN = 8
_CHASE = 3  # files
_READ_FOR_IMPORTS = 2_000
_MAX_LINES = 50
_MAX_IMPORTS = 80
_IMPORTS = ("import ", "from ", "use ", "mod ", "pub mod ", "#include", "require", "export ", '"', "} from ", "const {")
_LINE_NUMBER = re.compile(r"\s*\d+[→\t:|]")
_WORD = re.compile(r"[A-Za-z_][\w-]++")
_FOLDER_FILES = frozenset({"index", "mod", "__init__", "lib", "main", "package", "types"})


def record_access(activity: Activity, recent: RecentHistory, path: str, at: float, *, edited: bool) -> None:
    """Count one access and pair it with the files accessed just before."""
    step = activity.step
    use = activity.entry("files", path)
    if not use.first_step:
        use.first_step, use.first_at = step, at
    use.last_step, use.last_at = step, at
    if edited:
        _count_edit(activity, use, step)
        recent.note(step, Did.EDITED, path)
        recent.last_read = ""
        _record_found_instead(activity, recent, path)
    else:
        use.reads += 1
        recent.note(step, Did.READ, path)
        recent.last_read = path
    _record_pairs(activity, recent, path, at, edited)
    recent.touches.append(FileTouch(step, path, at, edited))
    recent.accessed = (path, at)
    _record_answer(activity, recent, path)


def undo_access(activity: Activity, recent: RecentHistory, path: str, *, edited: bool) -> None:
    """Take back an access that failed; a file without any other is removed, with the pairs that name it."""
    use = activity.files.get(path)
    if use is None:
        return
    if edited:
        use.edits = max(0, use.edits - 1)
        activity.edits = max(0, activity.edits - 1)
        if not use.edits:
            activity.edited_files = max(0, activity.edited_files - 1)
            use.first_edit = use.last_edit = 0
    else:
        use.reads = max(0, use.reads - 1)
    did = Did.EDITED if edited else Did.READ
    undone = next((each for each in reversed(recent.journal) if each.value == path and each.did == did), None)
    if undone is not None:
        recent.journal.remove(undone)
    if not use.reads and not use.edits:
        del activity.files[path]
        recent.touches = type(recent.touches)(
            (each for each in recent.touches if each.path != path), recent.touches.maxlen
        )


def record_dwell(activity: Activity, recent: RecentHistory, at: float) -> None:
    """Count the time since the last access as spent on that file."""
    path, since = recent.accessed
    if path and (use := activity.files.get(path)):
        use.dwell_ms += int(min(max(at - since, 0.0), _MAX_DWELL) * 1000)
    recent.accessed = ("", at)


def record_search_after_read(activity: Activity, recent: RecentHistory, pattern: str) -> None:
    """A search right after a read: the file was perhaps not the one that was looked for."""
    path = recent.last_read
    use = activity.files.get(path)
    if use is None or use.edits or use.reads > 2:
        return
    left = activity.entry("abandoned", path)
    left.step, left.pattern = activity.step, pattern
    recent.left_reads.append(path)


def record_imports(recent: RecentHistory, text: str) -> None:
    """Remember the names that a file imports, to recognise the file that is read next."""
    names: dict[int, None] = {}
    lines = text[:_READ_FOR_IMPORTS].split("\n", _MAX_LINES)[:_MAX_LINES]
    numbered = _LINE_NUMBER.match(lines[0])
    for line in lines:
        found = _LINE_NUMBER.match(line) if numbered else None
        plain = (line[found.end() :] if found else line).lstrip()
        if plain.startswith(_IMPORTS) and len(names) < _MAX_IMPORTS:
            for word in _WORD.findall(plain[:200]):
                names[crc32(word.lower().encode())] = None
    recent.imports = tuple(names)[:_MAX_IMPORTS]


def record_chase(activity: Activity, recent: RecentHistory, path: str) -> None:
    """Continue or begin a chain of reads along imports."""
    if recent.chain and recent.chain[-1] == path:
        return
    follows = path not in recent.chain and any(crc32(name) in recent.imports for name in _import_names(path))
    recent.chain = (*recent.chain[-_MAX_CHAIN + 1 :], path) if follows else (path,)
    recent.imports = ()
    if len(recent.chain) >= _CHASE:
        chase = activity.entry("chases", (recent.chain[0], path))
        chase.count += 1
        chase.chain, chase.last_step = recent.chain, activity.step


def _import_names(path: str) -> tuple[bytes, ...]:
    """Names by which other files import this one."""
    stem = stem_of(path)
    folder = path.rsplit("/", 2)[-2] if "/" in path else ""
    by_folder = folder and (stem in _FOLDER_FILES or path.endswith(".go"))
    return tuple(name.lower().encode() for name in ((folder,) if by_folder else (stem,)))


def _count_edit(activity: Activity, use: ObservedFileUse, step: int) -> None:
    activity.edits += 1
    if not use.edits:
        activity.edited_files += 1
        use.first_edit = step
    use.edits += 1
    use.last_edit = step


def _record_pairs(activity: Activity, recent: RecentHistory, path: str, at: float, edited: bool) -> None:
    """Pair with what was touched since the file itself was: earlier touches are paired already."""
    step = activity.step
    seen: list[str] = []
    for touch in reversed(recent.touches):
        if touch.path == path or touch.step < step - PAIR_STEPS:
            return
        if touch.path in seen:
            continue
        seen.append(touch.path)
        before = touch.path < path
        pair = activity.entry("pairs", (touch.path, path) if before else (path, touch.path))
        pair.count += 1
        pair.forward += before
        pair.delay_ms += int((at - touch.at) * 1000)
        pair.both_edited += edited and touch.edited
        pair.one_edited += edited != touch.edited
        pair.first_step = pair.first_step or step
        pair.last_step = step


def _record_answer(activity: Activity, recent: RecentHistory, path: str) -> None:
    pattern, step = recent.searched
    search = activity.searches.get(pattern) if pattern else None
    if search is None or activity.step - step > ANSWER_STEPS:
        recent.searched = ("", 0)
    elif path not in search.answers and len(search.answers) < _MAX_ANSWERS:
        search.answers = (*search.answers, path)


def _record_found_instead(activity: Activity, recent: RecentHistory, path: str) -> None:
    for left in recent.left_reads:
        read = activity.abandoned.get(left)
        if read and left != path and not read.instead and activity.step - read.step <= ABANDON_STEPS:
            read.instead, read.instead_step = path, activity.step
    if len(recent.chain) >= _CHASE and path in recent.chain:
        chase = activity.chases.get((recent.chain[0], recent.chain[-1]))
        if chase:
            chase.edited, chase.last_step = True, activity.step
