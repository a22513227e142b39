"""Searches and listings, and whether their results were used."""

import re
from zlib import crc32

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.recent import Did, RecentHistory, SeenListing

LISTING_STEPS = 10  # a listing is ignored if none of its files is opened within these steps
_MAX_NAMES = 100
_READ = 20_000  # characters of a listing
_NOTHING = re.compile(
    r"^\W*(?:no (?:files?|matches|match|results?|content)(?: (?:were )?found)?|found 0\b|0 (?:matches|results|files)"
    r"|\(no output\)|none)\b",
    re.IGNORECASE,
)


def record_search(activity: Activity, recent: RecentHistory, pattern: str) -> None:
    use = activity.entry("searches", pattern)
    use.count += 1
    use.first_step = use.first_step or activity.step
    use.last_step = activity.step
    use.answers = ()
    recent.searched = (pattern, activity.step)
    recent.note(activity.step, Did.SEARCHED, pattern)


def record_search_result(activity: Activity, pattern: str, text: str) -> None:
    use = activity.searches.get(pattern)
    if use and is_empty_result(text):
        use.empty += 1


def is_empty_result(text: str) -> bool:
    """Whether a search or listing found nothing."""
    head = text[:200].strip()
    return not head or _NOTHING.match(head) is not None


def record_listing_result(activity: Activity, recent: RecentHistory, key: str, text: str) -> None:
    """Remember what a listing returned, to see whether it is used."""
    use = activity.entry("listings", key)
    use.count += 1
    use.last_step = activity.step
    names = [] if is_empty_result(text) else [line.strip() for line in text[:_READ].splitlines()[:_MAX_NAMES]]
    use.results = len(names)
    if not names:
        return
    if len(recent.listings) == recent.listings.maxlen:
        _close(activity, recent.listings[0])
    recent.listings.append(SeenListing(key, activity.step, tuple(_checksum(name) for name in names if name)))


def record_listing_use(activity: Activity, recent: RecentHistory, path: str) -> None:
    """Credit the listing that returned this file."""
    if not recent.listings:
        return
    name = _checksum(path)
    for listing in tuple(recent.listings):
        if name in listing.names:
            if use := activity.listings.get(listing.key):
                use.used += 1
            recent.listings.remove(listing)


def close_listings(activity: Activity, recent: RecentHistory) -> None:
    """Count the listings as ignored whose results were not used in time."""
    while recent.listings and activity.step - recent.listings[0].step > LISTING_STEPS:
        _close(activity, recent.listings.popleft())


def _close(activity: Activity, listing: SeenListing) -> None:
    if use := activity.listings.get(listing.key):
        use.ignored += 1
        use.last_step = activity.step


def _checksum(name: str) -> int:
    """Of the last part of a path: listings name files in many ways."""
    last = name.rsplit(None, 1)[-1] if " " in name else name
    return crc32(last.rstrip("/").rsplit("/", 1)[-1].encode("utf-8", "replace"))
