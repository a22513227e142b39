"""Queries that ask for a code location: "where is …?", "which function …?", in five languages.

"Where are my keys?" is not such a query. Words are matched without accents.
"""

import re
from collections.abc import Mapping
from functools import cache

from treering.core.time_words.lexicon import fold
from treering.search.query_kinds import LONGEST_QUERY

_PART = (
    r"(?:files?|functions?|methods?|class(?:es)?|modules?|packages?|structs?|traits?|interfaces?|components?|handlers?"
    r"|middlewares?|hooks?|routes?|endpoints?|decorators?|constants?|tests?|scripts?|commands?|lines?|code|place)"
)
_FOREIGN_PART = (
    r"(?:fichiers?|fonctions?|methodes?|composants?|lignes?|funzion[ei]|metod[oi]|modul[oi]|codice|datei(?:en)?"
    r"|funktion(?:en)?|methoden?|klassen?|zeilen?|archivos?|ficheros?|funcion(?:es)?|metodos?|codigo)"
)
_ASKS = {
    "en": (
        r"where(?:'s|\s+(?:exactly\s+)?(?:in\s+(?:the|our|this)\s+(?:code|repo\w*|source)|is|are|was|were|do|does|did|can"
        r"|could|should|would|must|will|has|have)\b)"
        rf"|(?:in\s+)?(?:which|what)\s+(?:\w+\s+)?{_PART}\s+(?!should|do\s+you)\w+"
        rf"|(?:find|show|locate)\s+(?:me\s+)?(?:the|all|every)?\s*(?:\w+\s+)?{_PART}\s+(?:that|which|where|for)"
    ),
    "fr": (
        r"^\W*ou\s+(?:est|sont|se|fait|fait-on|etait|gere|trouve|avons|definit|dans\s+le\s+code|peut|doit)\b"
        r"|(?:dans\s+)?quel(?:le)?s?\s+(?:fichier|fonction|methode|classe|module|composant|test|ligne|endroit)s?\b"
    ),
    "it": (
        r"dove\s+(?:e|sono|viene|vengono|si|sta|stanno|avviene|abbiamo|facciamo|gestiamo|nel\s+codice|trovo|posso)\b"
        r"|(?:in\s+)?qual[ei]\s+(?:file|funzion[ei]|metod[oi]|class[ei]|modul[oi]|component[ei]|test|rig[ah]e?|punto)\b"
    ),
    "de": (
        r"wo\s+(?:im\s+code\s+)?(?:ist|sind|war|wird|werden|wurde|steht|stehen|liegt|liegen|findet|finden|finde|passiert"
        r"|geschieht|haben|hat|machen|prufen|setzen|kann|muss|soll|rufen|lesen|schreiben|entscheiden|behandeln)\b"
        r"|(?:in\s+)?welche[rmns]?\s+(?:datei|funktion|methode|klasse|modul|komponente|test|zeile|stelle)(?:en|n|s|e)?\b"
    ),
    "es": (
        r"donde\s+(?:esta|estan|se|queda|ocurre|hay|hacemos|tenemos|gestionamos|en\s+el\s+codigo|puedo|debo)\b"
        r"|(?:en\s+)?(?:que|cual(?:es)?)\s+(?:archivo|fichero|funcion|metodo|clase|modulo|componente|prueba|linea)(?:e?s)?\b"
    ),
}
_PERSONAL = {
    "en": (
        r"where(?:'s|\s+(?:is|are|was|were))\s+(?:my|his|her|mom|dad|mum|he|she|i)\b"
        r"|where\s+(?:did|do|does|have|has|was|were|will|should|can)\s+(?:i|he|she|you|they)\s+"
        r"(?:go|live|put|leave|meet|eat|buy|sleep|travel|stay|work|park|been|grow|come|move)"
    ),
    "fr": r"^\W*ou\s+(?:est|sont)\s+(?:mon|ma|mes|son|sa|ses)\b|^\W*ou\s+(?:ai-je|es-tu|habite)",
    "it": r"dove\s+(?:e|sono)\s+(?:il\s+mio|la\s+mia|i\s+miei|le\s+mie)\b|dove\s+(?:abito|vivo|vive|abita)",
    "de": r"wo\s+(?:ist|sind)\s+(?:mein|sein|ihr)\w*\b|wo\s+(?:wohn|leb)\w*|wo\s+(?:habe|bin|war)\s+ich\b",
    "es": r"donde\s+estan?\s+(?:mi|mis|su|sus)\b|donde\s+(?:vivo|vive|trabaja)",
}


def asks_for_location(query: str) -> bool:
    """Whether the wording of the query asks for a code location."""
    text = fold(query[:LONGEST_QUERY])
    return bool(_asks().search(text)) and not _personal().search(text)


def mentions_code(query: str) -> bool:
    """Whether the query mentions a part of a program, such as a function or a file."""
    return bool(_parts().search(fold(query[:LONGEST_QUERY])))


@cache
def _parts() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_PART}|{_FOREIGN_PART})(?!\w)", re.I)


@cache
def _asks() -> re.Pattern[str]:
    return _any_of(_ASKS)


@cache
def _personal() -> re.Pattern[str]:
    return _any_of(_PERSONAL)


def _any_of(rules: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w)(?:{words})" for words in rules.values()), re.I)
