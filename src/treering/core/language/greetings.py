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
# Before a name these greet; "see", "good" and "ok" do not.
_OF_A_PERSON = """
    hi hello hey hiya howdy yo welcome bye goodbye cheers thanks thx bonjour bonsoir salut coucou merci hallo moin
    servus danke tschuss hola gracias adios ciao buongiorno buonasera grazie ola obrigado obrigada tchau
"""
_MOST_NAMES = 2
_GREETING = frozenset(_FIRST.split())
_GREETING_A_PERSON = frozenset(_OF_A_PERSON.split())
_GREETED = _GREETING | frozenset(_FOLLOWING.split())


def is_greeting(text: str, *, named: bool = False) -> bool:
    """Whether a text only greets or thanks; with `named`, also a person by name."""
    if len(text) > _LONGEST:
        return False
    words = _WORDS.findall(text)
    folded = [fold(word) for word in words]
    if not folded or folded[0] not in _GREETING:
        return False
    others = [word for word, plain in zip(words, folded, strict=True) if plain not in _GREETED]
    if not others:
        return True
    is_of_a_person = folded[0] in _GREETING_A_PERSON and words[1:] == others
    return named and is_of_a_person and len(others) <= _MOST_NAMES and all(word.istitle() for word in others)
