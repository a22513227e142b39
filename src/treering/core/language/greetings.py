"""Greetings and thanks: said in every conversation, and an answer to nothing."""

import re

from treering.core.language.folding import fold

_LONGEST = 60
_WORDS = re.compile(r"[^\W\d_]+")
_FIRST = """
    hi hello hey hiya howdy yo greetings welcome bye goodbye cheers thanks thank thx ty good see ok okay
    bonjour bonsoir salut coucou merci bonne au hallo moin servus guten gute danke vielen tschuss auf
    hola buenos buenas gracias muchas adios hasta ciao salve buongiorno buonasera buonanotte grazie arrivederci
    ola bom boa obrigado obrigada tchau
"""
_FOLLOWING = """
    you sure great cool nice morning afternoon evening night day there all everyone folks team again later please and so
    a lot much very how can i help today are doing is it going what do for assist with to
    beaucoup nuit journee soiree revoir tous tout le monde d accord tag morgen abend nacht dir ihnen sehr dank
    wiedersehen alle dias tardes noches luego todos mille tutti dia tarde noite
"""
_GREETING = frozenset(_FIRST.split())
_GREETED = _GREETING | frozenset(_FOLLOWING.split())


def is_greeting(text: str) -> bool:
    """Whether a text only greets or thanks."""
    if len(text) > _LONGEST:
        return False
    words = _WORDS.findall(fold(text))
    return bool(words) and words[0] in _GREETING and _GREETED.issuperset(words)
