"""Classification of queries; the kind decides the weights of the search paths.

The first rule that matches wins: a question about dependencies is structural even if it names an identifier. Words are
matched without accents.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from treering.core.language.folding import lower
from treering.core.time_words.lexicon import fold

# Longer text is pasted; the question is at its beginning.
LONGEST_QUERY = 2_000


class QueryKind(StrEnum):
    IDENTIFIER = "identifier"
    SEMANTIC = "semantic"
    STRUCTURAL = "structural"


@dataclass(frozen=True, slots=True)
class QueryClass:
    """The kind of a query and the reason."""

    kind: QueryKind
    why: str


@dataclass(frozen=True)
class KindRule:
    """A regular expression, compiled only if the query contains one of the `needed` texts that every match has."""

    kind: QueryKind
    why: str
    expression: str
    needed: tuple[str, ...] = ()

    def fits(self, text: str, lowered: str) -> bool:
        possible = not self.needed or any(word in lowered for word in self.needed)
        return possible and self.pattern.search(text) is not None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.expression, re.I)


def classify_query(query: str) -> QueryClass:
    """The kind of `query`; semantic if no rule matches."""
    text = fold(query[:LONGEST_QUERY])
    lowered = lower(text)
    return next((QueryClass(rule.kind, rule.why) for rule in RULES if rule.fits(text, lowered)), _DEFAULT)


_DEFAULT = QueryClass(QueryKind.SEMANTIC, "names no identifier and asks for no relation")

# Parts of a program, so that "who uses sugar" is not a question about code.
_PART = (
    r"(?:function|method|class|module|file|package|table|column|schema|api|endpoint|service|event|topic|queue|helper"
    r"|test|code|component|library|protocol|interface|port|repo|project|cache|store|database|db|field|type|constant"
    r"|variable|script|command|config|setting|decorator|parser|scanner|fonction|methode|classe|fichier|table|colonne"
    r"|schema|base|constante|connexion|funzione|metodo|modulo|tabella|colonna|costante|funktion|methode|klasse|modul"
    r"|datei|tabelle|spalte|datenbank|konstante|variable|funcion|clase|archivo|tabla|columna|esquema|constante"
    r"|modul|pipeline|flow|login|facade|model|backend|frontend|server|client|router|plugin|postgres|numpy|sqlite)\w{0,4}"
)
# An identifier: snake_case, camelCase, dotted, with a call, or in capitals.
_NAME = r"(?-i:\w+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+(?:\.\w+)+|\w+\(\)|[A-Z]{2,}\w*)"
_OF_CODE = rf"(?:[\w'’-]+\s+){{0,4}}?(?:{_PART}|{_NAME})(?!\w)"

_STRUCTURAL = {
    "asks for callers, users or references": (
        r"callers?|usages|usage of|references to|dependents|dependencies|subclasses|implementations|implementers"
        r"|importers|consumers|call (?:graph|hierarchy|tree|sites?)|class hierarchy|inheritance tree"
        r"|(?:circular|cyclic) \w+|dependency \w+|appelants|chiamanti|aufrufer|llamadores|dependances|dipendenze"
        r"|abhangigkeit(?:en)?|dependencias"
    ),
    "asks what breaks or is affected": (
        r"(?:what|which|anything)\b.{0,20}\bbreaks?\b.{0,20}\b(?:if|when)|"
        rf"(?:breaks?|affected|impacted|happens?)\b.{{0,20}}\b(?:if|when|by)\b.{{0,20}}"
        rf"\b(?:chang|renam|remov|delet|mov|modif|drop|refactor|edit|replac|touch)\w*\s+{_OF_CODE}"
        rf"|impact (?:analysis|of (?:the )?(?:chang|renam|remov|delet|mov|refactor|drop)\w*)|blast radius"
        r"|(?:impacted|affected) by (?:the |a )?(?:renam|remov|chang|delet|mov|refactor)\w*"
        rf"|(?:casse|casser|impacte|affecte)\b.{{0,20}}\bsi\b|impact d\w+\s?(?:changement|renommage|suppression)"
        rf"|(?:rompe|rompera|rompono)\b.{{0,10}}\bse\b|impatto dell[ae]\s?\w+ dell\w+"
        rf"|(?:bricht|kaputt)\b.{{0,10}}\bwenn\b|auswirkung(?:en)? (?:der|des|von)"
        rf"|(?:rompe|rompera|rompen)\b.{{0,10}}\bsi\b|impacto del? (?:cambio|cambiar)"
    ),
    "asks what calls, imports, uses or depends": (
        rf"(?:what|who|which|does|that|anything)(?:\s+\w+){{0,4}}?\s+(?:calls?|imports?|depends? on|inherits?|extends?"
        rf"|implements?|references?|consumes?|subclass(?:es)?|wraps?|talks? to|hits?|invokes?)\s+(?:from\s+)?{_OF_CODE}"
        rf"|(?:what|who|which|does|anything)(?:\s+\w+){{0,4}}?\s+uses?\s+(?:this|that|the|our)?\s*(?:{_PART}|{_NAME})(?!\w)"
        rf"|which {_PART} (?:\w+\s+)?(?:use|call|import|depend|talk|hit|cover|extend|implement)s?"
        rf"|(?:what|who) (?:does|do) {_OF_CODE}.{{0,20}} (?:import|call|depend on|inherit from|extend)"
        rf"|(?:what|which|who)(?: \w+){{0,2}} (?:inherits? from|subclass(?:es)?|implements?|extends?) \w+"
        rf"|(?:which|all)(?: \w+){{0,4}}? {_PART} (?:touch|call|use|import)(?:es|s)?"
        rf"|(?:all|every) (?:places?|spots?|lines?) (?:where|that) (?:we |i |they )?(?:call|use|import)s?"
        rf"|(?:depends?|relies) on {_OF_CODE}"
        rf"|imports of|(?:used|called|imported|referenced) (?:anywhere|by|in|from|where)"
        rf"|where (?:is|are|do we) .{{1,40}} (?:used|called|imported|referenced|instantiated)|where do we (?:use|call)"
    ),
    "asks for tests of something": (
        rf"(?:which|what) tests (?:cover|exercis|check|test|should|need|touch)\w*|tests? (?:for|covering|of) {_OF_CODE}"
        r"|quels tests|quali test|welche tests|que (?:pruebas|tests)"
    ),
    "asks what belongs together": (
        r"(?:files|modules|classes|functions|components) (?:related|connected|linked|tied) to"
        r"|related (?:files|modules)"
        rf"|(?:how|what) (?:is|are) .{{0,40}}(?:connected|linked|tied) to {_OF_CODE}"
        r"|how do .{0,40}(?:fit|hang|work) together"
        rf"|co-?changed|chang\w+ together|(?:upstream|downstream) (?:of|consumers)|path from .+ to {_OF_CODE}"
        r"|depend on each other"
        r"|how are the (?:modules|packages|services|components)"
        r"|fichiers (?:lies|associes|relatifs)|file (?:collegati|correlati)|dateien im zusammenhang|zusammenhangende"
        r"|archivos (?:relacionados|vinculados)"
    ),
    "asks what calls, imports, uses or depends (fr)": (
        rf"(?:qui|quels?|quelles?|qu'est-ce qui)(?:\s+\w+){{0,2}}?\s+"
        rf"(?:appell|utilis|import|depend|herit|implement|couvr)\w+\s+(?:de\s+|d'|du\s+)?{_OF_CODE}"
        rf"|(?:quels?|quelles?) {_PART} (?:appell|utilis|import|depend|herit|implement|couvr)\w+"
        rf"|ou (?:est|sont) (?:utilise|appele|importe)\w*"
    ),
    "asks what calls, imports, uses or depends (it)": (
        rf"(?:chi|cosa|che cosa|quali?)(?:\s+\w+){{0,2}}?\s+(?:chiam|us|utilizz|import|dipend|eredit|implement|copr)"
        rf"(?:a|ano|e|ono)\s+(?:da\w*\s+)?{_OF_CODE}"
        rf"|quali {_PART} (?:chiam|us|utilizz|import|dipend|eredit|implement|copr)\w+"
        rf"|dove (?:viene|vengono|e|sono) (?:usat|chiamat|importat|utilizzat)\w"
    ),
    "asks what calls, imports, uses or depends (de)": (
        rf"(?:wer|was|welche[rsn]?)(?:\s+\w+){{0,2}}?\s+(?:verwende|benutz|nutz|importier|erb|implementier)\w*\s+{_OF_CODE}"
        rf"|(?:wer|was|welche[rsn]?)(?:\s+\w+){{0,2}}?\s+(?:ruf|hang)\w*\s.{{1,40}}\s(?:auf|ab)(?!\w)"
        rf"|wo (?:wird|werden) .{{1,40}} (?:verwendet|benutzt|aufgerufen|importiert|genutzt)"
    ),
    "asks what calls, imports, uses or depends (es)": (
        rf"(?:quien|que|cuales)(?:\s+\w+){{0,2}}?\s+(?:llam|us|utiliz|import|depend|hered|implement|cubr)(?:a|an|e|en)\s+"
        rf"(?:a\s+|de\s+|del\s+)?{_OF_CODE}"
        rf"|(?:que|cuales) {_PART} (?:llam|us|utiliz|import|depend|hered|implement|cubr)\w+"
        r"|donde se (?:usa|utiliza|llama|importa)n?"
    ),
}

# Each match of a structural rule contains one of these: texts, not expressions, in lower case.
_NEEDED = {
    "asks for callers, users or references": (
        "caller|usage|references|depend|subclasses|implement|importers|consumers|call |hierarchy|inheritance|circular"
        "|cyclic|appelants|chiamanti|aufrufer|llamadores|dipendenze|abhangigkeit"
    ),
    "asks what breaks or is affected": (
        "break|affecte|impact|impatto|happen|blast|casse|romp|bricht|kaputt|auswirkung"
    ),
    "asks what calls, imports, uses or depends": (
        "call|import|depend|inherit|extend|implement|reference|consume|subclass|wrap|talk|hit|invoke|use|cover|touch"
        "|relies|instantiated"
    ),
    "asks for tests of something": "test|pruebas",
    "asks what belongs together": (
        "related|connected|linked|tied|together|changed|upstream|downstream|path from|each other|how are the|fichiers"
        "|collegati|correlati|zusammenhang|archivos"
    ),
    "asks what calls, imports, uses or depends (fr)": "appel|utilis|import|depend|herit|implement|couvr",
    "asks what calls, imports, uses or depends (it)": "chi|cosa|qual|dove",
    "asks what calls, imports, uses or depends (de)": "verwende|nutz|importier|erb|implementier|ruf|hang",
    "asks what calls, imports, uses or depends (es)": "quien|que|cuales|donde",
}

# Proper names that look like identifiers.
_BRANDS = (
    "GitHub GitLab JavaScript TypeScript PostgreSQL MySQL SQLite MongoDB FastAPI PyTorch TensorFlow OpenAI DeepMind "
    "LinkedIn YouTube WhatsApp MacBook PayPal TikTok iPhone iPad iOS macOS iCloud eBay LaTeX WordPress PowerPoint "
    "DevOps GraphQL JetBrains IntelliJ PyCharm VSCode FaceTime AirBnB AirPods PlayStation NumPy SciPy LangChain "
    "CircleCI BitBucket CloudFlare DigitalOcean HubSpot SharePoint OneDrive OneNote QuickBooks ChatGPT LlamaIndex "
    "HuggingFace MicroPython CoffeeScript WebSocket WebSockets SoundCloud StackOverflow DuckDB InfluxDB DynamoDB "
    "OpenStreetMap BlackRock FedEx DoorDash HelloFresh PhD PhDs DJs TVs PCs APIs URLs IDs PDFs CEOs MacOS"
)
_NOT_A_BRAND = rf"(?!(?:{_BRANDS.replace(' ', '|')}|Ma?c[A-Z][a-z]+|O'[A-Z]\w+)(?!\w))"
_RUNTIMES = "node|vue|next|nuxt|react|express|three|d3|ember|backbone"
_EXTENSIONS = (
    "py|pyi|js|jsx|ts|tsx|vue|svelte|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|sh|sql|md|rst|txt|toml|yaml|yml"
    "|json|jsonl|xml|html|css|scss|ini|cfg|conf|config|env|lock|log|csv|ipynb|proto|tf|gradle|exe|dll|so|whl|zip|gz|pdf"
)

_IDENTIFIERS = {
    "names an id, hash or advisory": (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|CVE-\d{4}-\d{4,}|GHSA(?:-\w{4}){3}"
        r"|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?!\w)|(?!COVID)(?-i:[A-Z][A-Z0-9]+)-\d{2,}(?!\w)"
    ),
    "names an issue": r"#\d+(?!\w)",
    "names an error code": (
        r"(?-i:[A-Z]{1,6}\d{3,5})(?!\w)|0x[0-9a-f]{2,}|(?-i:E[A-Z]{4,})(?!\w)|(?-i:[A-Z]\w*(?:Error|Exception|Warning))"
        r"(?!\w)|(?:HTTP|SQLSTATE|errno|exit code|status code|error code)\s+\d{2,5}(?!\w)"
    ),
    "names an option or variable": r"--?[a-z][\w-]*(?<!-)(?=\s|$|[,.?!=])|\$\{?[a-z_]\w*|@[a-z]\w*(?:[./]\w+)*",
    "names a path, file or address": (
        rf"[a-z]:\\|\.[a-z]\w+(?:/[\w.-]+)*(?!\w)|\.{{0,2}}/[\w.-]+(?:/[\w.-]*)*(?!\w)(?<=\w)|(?:[\w.-]+/){{2,}}[\w.-]*"
        rf"|(?!(?:{_RUNTIMES})\.js)(?:[\w.-]+/)?[\w.-]*\w\.(?:{_EXTENSIONS})(?!\w)"
        r"|(?-i:Dockerfile|Makefile|Jenkinsfile|Procfile)(?!\w)|https?://|[\w.+-]+@[\w-]+\.\w+|localhost"
        r"|\d{1,3}(?:\.\d{1,3}){3}(?!\w)"
    ),
    "names a version": r"v\d+(?:\.\d+)+(?!\w)|[\w-]+(?:==|>=|<=|~=)\d",
    "names something snake_case": r"_*[^\W_]+_\w+|_{1,2}[a-z]\w+",
    "names something camelCase": (
        rf"{_NOT_A_BRAND}(?-i:[a-z][a-z0-9]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[A-Z]{{2,}}[a-z]{{2,}}[A-Z]\w+)"
    ),
    "names a member or a call": (
        rf"[a-z_]\w+(?:::\w+)+|[a-z_]\w*\((?:\w*|\w+(?:,\s*\w+)*)\)(?!\w)|(?!(?:{_RUNTIMES})\.js)[a-z_]\w{{2,}}(?:\.[a-z_]\w+)+(?!\w)"
        r"|os\.\w+"
    ),
}
_QUOTED = r"`[^`\n]+`|(?<!\w)(?:\"[^\"\n]*\s[^\"\n]*\"|'[^'\n]*\s[^'\n]*'(?!\w))|[“„«]\s?[^”“»\n]*\s[^”“»\n]*[”“»]"


RULES = (
    *(
        KindRule(QueryKind.STRUCTURAL, why, rf"(?<!\w)(?:{words})(?!\w)", tuple(_NEEDED[why].split("|")))
        for why, words in _STRUCTURAL.items()
    ),
    KindRule(QueryKind.IDENTIFIER, "quotes exact words", _QUOTED),
    KindRule(QueryKind.IDENTIFIER, "looks up a single word", r"^\W*[a-z0-9][\w.'-]*\W*$"),
    *(KindRule(QueryKind.IDENTIFIER, why, rf"(?<![\w.'/-])(?:{name})") for why, name in _IDENTIFIERS.items()),
)
