"""Which commands and addresses bring content from outside the project into a session.

Outside: downloads (`curl`, `wget`, …), texts of other people on a forge (`gh issue view`, `gh pr diff`, `gh api`),
other repositories (`git clone`, `git fetch URL`), files of other machines (`scp`, `rsync`, `ssh`, cloud storage), and
registry texts (`npm view`). Not outside: the project's own remotes (`git pull`, `git fetch origin`), whose content
is as trustworthy as the checkout itself; installed packages, whose texts nobody has read yet; and servers on this
machine.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

_URL = re.compile(r"(?i)(?<![a-z0-9+.-])(?:https?|ftp|git|ssh|wss?)://([^\s\"'`<>|;)]{1,500})")
_HOST = re.compile(r"(?i)(?:[a-z0-9_-]{1,63}\.)*+[a-z0-9_-]{1,63}|\[[0-9a-f:.%]{2,45}\]")
_LOCAL = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "[::]", "host.docker.internal", "ip6-localhost"})
_LOOPBACK = re.compile(r"127\.\d{1,3}\.\d{1,3}\.\d{1,3}|[a-z0-9-]{1,63}\.localhost")
_SCP = re.compile(r"(?:[\w.-]{1,64}@)?([A-Za-z0-9][\w.-]{0,252}):(?!\\|//)")
_REMOTE_GIT = re.compile(r"[a-z+]{2,10}://|[\w.-]{1,64}@[\w.-]{1,253}:")
_CODE_FETCH = re.compile(
    r"urllib|requests\b|httpx|aiohttp|http\.client|fetch\(|axios|https?\.get|open-uri|Net::HTTP|Invoke-WebRequest|LWP"
)
_UNSEEN_FETCH = re.compile(r"(?:^|[\s;|&(`])(?P<program>curl|wget)\s[^\n;|]{0,300}?(?P<url>https?://[^\s\"'`]{1,200})")
_UNSEEN_CHARACTERS = 256 * 1024

# Of the forge's command line, what prints texts that anyone may have written.
_FORGE_READS: Mapping[str, frozenset[str]] = {
    "api": frozenset(),
    "search": frozenset(),
    "browse": frozenset(),
    "issue": frozenset({"view", "list", "status", "show", "note"}),
    "pr": frozenset({"view", "list", "diff", "checkout", "co", "status"}),
    "mr": frozenset({"view", "list", "diff", "checkout", "show", "note"}),
    "gist": frozenset({"view", "clone", "list"}),
    "release": frozenset({"view", "download", "list"}),
    "repo": frozenset({"view", "clone", "list", "fork"}),
    "discussion": frozenset({"view", "list"}),
    "run": frozenset({"download"}),
}
_CLOUD = {"aws": ("s3", "s3api"), "gcloud": ("storage",), "az": ("storage",), "gsutil": (), "rclone": ()}
_REGISTRY_READS = frozenset({"view", "info", "show", "search", "v"})
_REDIRECTING = frozenset({"-x", "--proxy", "--connect-to", "--resolve", "-K", "--config", "--preproxy", "--socks5"})


def host_of(address: str) -> str:
    """The host of an address without user and port, in lower case; empty if it names none."""
    found = _URL.search(address)
    rest = found[1] if found else address
    authority = re.split(r"[/?#\\]", unquote(rest[:600]), maxsplit=1)[0].rpartition("@")[2]
    host = _HOST.match(authority)
    return host[0].lower().rstrip(".") if host and len(host[0]) <= 253 else ""


def is_local(host: str) -> bool:
    """Is it this machine?"""
    return host in _LOCAL or _LOOPBACK.fullmatch(host) is not None


def outside_hosts(text: str) -> list[str]:
    """Hosts of the addresses in a text that are not this machine."""
    hosts = (host_of(found[0]) for found in _URL.finditer(text))
    return [host for host in hosts if not is_local(host)]


def outside_of_words(program: str, words: Sequence[str]) -> str:
    """Label of the outside content that a command prints or stores; empty if none. `words` are its arguments."""
    finder = _FINDERS.get(program)
    return finder(program, words) if finder else ""


def outside_of_code(program: str, code: str) -> str:
    """Label of the outside content that a piece of code given to an interpreter fetches."""
    if not _CODE_FETCH.search(code):
        return ""
    hosts = outside_hosts(code)
    return f"download: {program} {hosts[0]}".rstrip() if hosts else ""


def outside_of_rest(text: str) -> str:
    """Label of a download in the part of a long command that is not parsed."""
    for found in _UNSEEN_FETCH.finditer(text[:_UNSEEN_CHARACTERS]):
        if not is_local(host := host_of(found["url"])):
            return f"download: {found['program']} {host}".rstrip()
    return ""


def _downloaded(program: str, words: Sequence[str]) -> str:
    addresses = [word for word in words if not word.startswith("-") and _is_address(word)]
    hosts = [host_of(address) for address in addresses]
    outside = [host for host in hosts if not is_local(host)]
    if outside or (hosts and not _REDIRECTING.isdisjoint(words)):
        return f"download: {program} {(outside or hosts)[0]}".rstrip()
    if not hosts and any("$" in word or "`" in word or word == "{}" for word in words):
        return f"download: {program}"  # the address is in a variable
    return ""


def _is_address(word: str) -> bool:
    if "://" in word:
        return True
    host, _, rest = word.partition("/")
    name = host.partition(":")[0]
    return (
        name in _LOCAL
        or (bool(rest or ":" in host) and "." in name.strip("."))
        or bool(re.search(r"\.(?:com|org|io|net|dev)$", name))
    )


def _piped(program: str, words: Sequence[str]) -> str:
    """Downloads of programs that take their address from standard input or a file."""
    return _downloaded(program, words) or (f"download: {program}" if {"-i", "--input-file"} & set(words) else "")


def _cloned(program: str, words: Sequence[str]) -> str:
    verb, rest = _verb(words)
    if verb == "clone" or (verb == "submodule" and "add" in rest):
        address = next(
            (word for word in rest if not word.startswith("-") and (_REMOTE_GIT.match(word) or "$" in word)), ""
        )
        return f"download: git {_git_host(address)}".rstrip() if address else ""
    if verb in ("fetch", "pull", "remote"):
        address = next((word for word in rest if _REMOTE_GIT.match(word)), "")
        return f"download: git {_git_host(address)}".rstrip() if address and verb != "remote" else ""
    return ""


def _git_host(address: str) -> str:
    return host_of(address if "://" in address else address.partition(":")[0])


def _forge(program: str, words: Sequence[str]) -> str:
    noun, rest = _verb(words)
    verbs = _FORGE_READS.get(noun)
    if verbs is None or (verbs and _verb(rest)[0] not in verbs):
        return ""
    return f"download: {program} {noun}"


def _copied(program: str, words: Sequence[str]) -> str:
    for word in words:
        if not word.startswith("-") and "://" not in word and (found := _SCP.match(word)):
            return "" if is_local(found[1].lower()) else f"download: {program} {found[1].lower()}"
    return _downloaded(program, words)


def _connected(program: str, words: Sequence[str]) -> str:
    host = next((word.rpartition("@")[2].lower() for word in words if not word.startswith("-")), "")
    return "" if not host or is_local(host) else f"download: {program} {host[:253]}"


def _stored(program: str, words: Sequence[str]) -> str:
    nouns = _CLOUD[program]
    verb, rest = _verb(words)
    if nouns and verb not in nouns:
        return ""
    return (
        f"download: {program}"
        if {"cp", "sync", "copy", "mv", "cat", "download", "get-object", "blob"} & {verb, *rest}
        else ""
    )


def _registry(program: str, words: Sequence[str]) -> str:
    return f"download: {program}" if _verb(words)[0] in _REGISTRY_READS else ""


def _verb(words: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The first word that is not an option, and the words after it."""
    for place, word in enumerate(words):
        if not word.startswith("-"):
            return word, words[place + 1 :]
    return "", ()


_FINDERS = {
    **dict.fromkeys(
        ["curl", "http", "https", "xh", "lynx", "w3m", "links", "yt-dlp", "httpie", "Invoke-WebRequest"], _downloaded
    ),
    **dict.fromkeys(("wget", "aria2c"), _piped),
    **dict.fromkeys(("gh", "glab", "hub"), _forge),
    **dict.fromkeys(("scp", "rsync", "sftp"), _copied),
    **dict.fromkeys(("ssh", "ftp", "nc", "ncat", "telnet"), _connected),
    **dict.fromkeys(_CLOUD, _stored),
    **dict.fromkeys(("npm", "pnpm", "yarn", "cargo"), _registry),
    "git": _cloned,
}
