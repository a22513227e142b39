"""Documents that searches have read from the server: limits, removal, and many threads."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from random import Random

from treering.adapters.sql.document_cache import DocumentCache, DocumentView, StoredDocument

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def view(principal: str = "anna", project: str = "app", model: str = "local") -> DocumentView:
    return DocumentView("acme", project, principal, model)


def document(number: int, size: int = 300) -> StoredDocument:
    return StoredDocument((number, 0, 0, 0, 1, 0, 1), "knowledge", "", b"code", b"1", bytes(size))


def add(cache: DocumentCache, where: DocumentView, *numbers: int, now: datetime = NOW) -> None:
    cache.add(where, cache.of(where, now), map(document, numbers))


def cached(cache: DocumentCache, where: DocumentView, now: datetime = NOW) -> set[int]:
    return set(cache.of(where, now).chosen(range(100)))


def test_each_principal_project_and_model_has_its_own_documents() -> None:
    cache = DocumentCache()
    add(cache, view(), 1)
    assert cached(cache, view()) == {1}
    assert not cached(cache, view("ben"))
    assert not cached(cache, view(project="other"))
    assert not cached(cache, view(model="remote"))


def test_the_views_used_least_recently_are_dropped_beyond_the_limit() -> None:
    cache = DocumentCache(max_bytes=4 * document(1).size)
    add(cache, view("anna"), 1, 2)
    add(cache, view("ben"), 1, 2)
    assert cached(cache, view("anna")) == {1, 2}
    add(cache, view("carl"), 3)
    assert not cached(cache, view("ben"))
    assert cached(cache, view("anna")) == {1, 2}
    assert cached(cache, view("carl")) == {3}


def test_a_view_larger_than_the_limit_is_not_kept() -> None:
    cache = DocumentCache(max_bytes=document(1).size)
    add(cache, view(), 1, 2)
    assert not cached(cache, view())
    add(cache, view(), 3)
    assert cached(cache, view()) == {3}


def test_a_removal_drops_the_project_for_every_principal() -> None:
    cache = DocumentCache()
    for where in (view("anna"), view("ben"), view(project="other")):
        add(cache, where, 1)
    cache.drop("acme", "app")
    assert not cached(cache, view("anna"))
    assert not cached(cache, view("ben"))
    assert cached(cache, view(project="other")) == {1}


def test_a_search_that_began_before_a_removal_adds_nothing() -> None:
    cache = DocumentCache()
    before = cache.of(view(), NOW)
    cache.drop("acme", "app")
    cache.add(view(), before, [document(1)])
    assert not cached(cache, view())


def test_documents_that_another_process_may_have_removed_do_not_stay() -> None:
    cache = DocumentCache()
    add(cache, view("anna"), 1)
    later = NOW + timedelta(minutes=10)
    held = cache.of(view("anna"), NOW)
    add(cache, view("ben"), 1, now=later)
    assert cache.of(view("anna"), later) is not held
    assert not cached(cache, view("anna"), later)


def test_many_threads_find_what_they_added_or_nothing() -> None:
    cache = DocumentCache(max_bytes=30 * document(1).size)

    def work(seed: int) -> bool:
        random = Random(seed)
        for _ in range(300):
            where = view(random.choice("abc"))
            wanted = random.sample(range(40), 12)
            found = cache.of(where, NOW).chosen(wanted)
            if any(number != each.number for number, each in found.items()):
                return False
            cache.add(where, cache.of(where, NOW), [document(number) for number in wanted])
            if random.random() < 0.05:
                cache.drop("acme", "app")
        return True

    with ThreadPoolExecutor(50) as pool:
        assert all(pool.map(work, range(50)))
