"""Where is …? Asked of published source in words, with the function that answers.

The questions were written from reading the code, before anything was searched. The settings were chosen on those about
requests, and on others about gin.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from platformdirs import user_cache_path

import treering
from bench.codegraph_packages import Package, fetched
from bench.results import percentile, table, write_section
from treering.core.code_locations import CodeLocation
from treering.core.settings import EmbedderSettings, Settings

HEADERS = ("code", "questions", "pieces", "found by", "first", "among the first 5", "mean 1/rank", "p95 ms")
LOOKED_AT = 20


class Question(NamedTuple):
    """What somebody asks, and the definition that answers it: the place may be any piece of it."""

    text: str
    path: str
    symbol: str

    def is_answered_by(self, place: CodeLocation) -> bool:
        named = place.symbol.split(", ")
        return place.path == self.path and any(f"{each}.".startswith(f"{self.symbol}.") for each in named)


class Asked(NamedTuple):
    package: Package
    questions: Sequence[Question]
    chosen_on: bool = False
    """Whether the settings were chosen on these."""


FLASK = (
    Question("where is the return value of a view turned into a response?", "flask/app.py", "Flask.make_response"),
    Question(
        "where do we decide which error handler fits an exception?", "flask/sansio/app.py", "App._find_error_handler"
    ),
    Question(
        "where is the session cookie signed?",
        "flask/sessions.py",
        "SecureCookieSessionInterface.get_signing_serializer",
    ),
    Question(
        "where is the session saved to the cookie of the response?",
        "flask/sessions.py",
        "SecureCookieSessionInterface.save_session",
    ),
    Question("where are nested blueprints registered on the app?", "flask/sansio/blueprints.py", "Blueprint.register"),
    Question("where are .env files loaded?", "flask/cli.py", "load_dotenv"),
    Question("which function guesses the application object in a module?", "flask/cli.py", "find_best_app"),
    Question(
        "where do environment variables with a prefix become configuration?",
        "flask/config.py",
        "Config.from_prefixed_env",
    ),
    Question("where is the instance folder located?", "flask/sansio/app.py", "App.auto_find_instance_path"),
    Question("where are datetimes and uuids converted for JSON?", "flask/json/provider.py", "_default"),
)
HTTPX = (
    Question(
        "where is it decided whether the Authorization header survives a redirect to another host?",
        "httpx/_client.py",
        "BaseClient._redirect_headers",
    ),
    Question(
        "where does a POST become a GET when a redirect is followed?", "httpx/_client.py", "BaseClient._redirect_method"
    ),
    Question(
        "where is the limit on the number of redirects enforced?",
        "httpx/_client.py",
        "Client._send_handling_redirects",
    ),
    Question("where are proxies taken from the environment?", "httpx/_utils.py", "get_environment_proxies"),
    Question("where is the digest challenge of a server parsed?", "httpx/_auth.py", "DigestAuth._parse_challenge"),
    Question("where is a streamed response split into lines?", "httpx/_decoders.py", "LineDecoder"),
    Question("where is the content type of an uploaded file guessed?", "httpx/_multipart.py", "_guess_content_type"),
    Question("where are dot segments removed from a URL path?", "httpx/_urlparse.py", "normalize_path"),
    Question("where is the international domain name of a host encoded?", "httpx/_urlparse.py", "encode_host"),
    Question(
        "which function hides passwords and tokens in the headers that are printed?",
        "httpx/_models.py",
        "_obfuscate_sensitive_headers",
    ),
)
REQUESTS = (
    Question(
        "where is it decided that credentials are dropped on a redirect?",
        "requests/sessions.py",
        "SessionRedirectMixin.should_strip_auth",
    ),
    Question("where are .netrc credentials read?", "requests/utils.py", "get_netrc_auth"),
    Question(
        "where is the number of redirects limited?", "requests/sessions.py", "SessionRedirectMixin.resolve_redirects"
    ),
    Question("where is NO_PROXY taken into account?", "requests/utils.py", "should_bypass_proxies"),
    Question(
        "where is the charset of a response guessed from its headers?", "requests/utils.py", "get_encoding_from_headers"
    ),
    Question(
        "where are uploaded files encoded as multipart?", "requests/models.py", "RequestEncodingMixin._encode_files"
    ),
    Question(
        "where is the digest authorization header computed?", "requests/auth.py", "HTTPDigestAuth.build_digest_header"
    ),
    Question("where are certificates verified?", "requests/adapters.py", "HTTPAdapter.cert_verify"),
    Question("where is the length of a body determined?", "requests/utils.py", "super_len"),
    Question("where are headers with line breaks refused?", "requests/utils.py", "_validate_header_part"),
    Question("where does an error status become an exception?", "requests/models.py", "Response.raise_for_status"),
    Question("which function rewinds the body before it is sent again?", "requests/utils.py", "rewind_body"),
)
SETS = (
    Asked(
        Package(
            "flask",
            "3.1.3",
            "python",
            "0ef0e52b8a9cd932855379197dd8f94047b359ca0a78695144304cb45f87c9eb",
            ("src/flask", "tests", "examples"),
        ),
        FLASK,
    ),
    Asked(
        Package(
            "httpx",
            "0.28.1",
            "python",
            "75e98c5f16b0f35b567856f597f06ff2270a374470a5c2392242528e3e3e42fc",
            ("httpx",),
        ),
        HTTPX,
    ),
    Asked(
        Package(
            "requests",
            "2.34.2",
            "python",
            "f288924cae4e29463698d6d60bc6a4da69c89185ad1e0bcc4104f584e960b9ed",
            ("src/requests", "tests"),
        ),
        REQUESTS,
        chosen_on=True,
    ),
)
WAYS = {"words": "none", "words and meaning": "bundled"}
"""Ways of finding, and the embedder of each."""


def row(asked: Asked, way: str, cache: Path) -> tuple[object, ...]:
    root, settings = fetched(asked.package, cache), Settings(embedder=EmbedderSettings.make(provider=WAYS[way]))
    ranks, seconds = list[int | None](), list[float]()
    with (
        tempfile.TemporaryDirectory() as folder,
        treering.open(Path(folder) / "memory.db", settings=settings, background=False) as memory,
    ):
        memory.code.index(root, history=False)
        memory.settle(timeout=600)
        memory.code.where("anything")
        for question in asked.questions:
            began = perf_counter()
            found = memory.code.where(question.text, limit=LOOKED_AT)
            seconds.append(perf_counter() - began)
            ranks.append(next((rank for rank, each in enumerate(found, 1) if question.is_answered_by(each)), None))
        with memory.store.reading(memory.scope, treering.compose.now()) as tx:
            pieces = tx.chunks.coverage("").chunks
    name = f"{asked.package.title}{' (chosen on)' if asked.chosen_on else ''}"
    known = [rank for rank in ranks if rank is not None]
    first, five = known.count(1), sum(rank <= 5 for rank in known)
    mean = sum(1 / rank for rank in known) / len(ranks)
    measured = (name, len(ranks), f"{pieces:,}", way, first, five, f"{mean:.2f}", f"{percentile(seconds, 0.95):.0f}")
    print(*measured, flush=True)
    return measured


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cache", type=Path, default=user_cache_path("treering") / "bench-codegraph")
    cache = options.parse_args().cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    rows = [row(asked, way, cache) for asked in SETS for way in WAYS]
    said = (
        "Questions such as “where is the session cookie signed?”, each with the one function that answers it, "
        "written while reading the code and before any search. Another location in the same function counts, "
        "its caller or its class does not. Times are those of the whole call, including the comparison with the "
        "files."
    )
    write_section("code-where", "Where in the code", f"{said}\n\n{table(HEADERS, rows)}")


if __name__ == "__main__":
    main()
