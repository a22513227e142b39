"""Recognition of greetings and thanks, which never answer a query."""

import re

from treering.core.language.folding import fold

_MAX_CHARACTERS = 60
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
# Greetings that may precede a name; "see", "good" and "ok" may not.
_BEFORE_NAME = """
    hi hello hey hiya howdy yo welcome bye goodbye cheers thanks thx bonjour bonsoir salut coucou merci hallo moin
    servus danke tschuss hola gracias adios ciao buongiorno buonasera grazie ola obrigado obrigada tchau
"""
# Phrases that are greetings as a whole, alone or after another greeting.
_PHRASES = """
    how are you|how are you doing|how s it going|how is it going|what s up|whats up|nice to meet you|pleased to meet you
    you re welcome|no problem|no worries|see you soon|see you tomorrow|sup|np|how may i help you
    ca va|comment ca va|comment vas tu|comment allez vous|ca marche|de rien|je vous en prie|enchante|a bientot|a demain
    comment puis je vous aider|comment puis je t aider|comment je peux t aider|bon apres midi|bon matin|a tous
    wie geht s|wie gehts|wie geht es dir|wie geht es ihnen|gruss gott|gruezi|bitte|bitte schon|gern geschehen|bis bald
    bis morgen|wie kann ich dir helfen|wie kann ich ihnen helfen|wie kann ich helfen|mach s gut|kein problem
    que tal|como estas|como esta usted|de nada|muchisimas gracias|mucho gusto|encantado|encantada|hasta manana
    en que puedo ayudarte|en que puedo ayudarle|como puedo ayudarte|buen dia|nos vemos
    come stai|come va|come sta|prego|di nulla|di niente|mille grazie|grazie mille|buon pomeriggio|buona sera|buona notte
    buona giornata|buona serata|piacere|a presto|a domani|a tutti|come posso aiutarti|come posso aiutarla|tutto bene
    como vai|tudo bem|de nada|ate logo|como posso ajudar
    你好|您好|谢谢|再见|早上好|こんにちは|ありがとう|おはよう|안녕하세요
"""
_LONGEST_FIRST = sorted(
    (fold(phrase) for phrase in re.split(r"[|\n]\s*", _PHRASES) if phrase.strip()), key=len, reverse=True
)
_PHRASE_PATTERN = re.compile("|".join(rf"\b{re.escape(phrase)}\b" for phrase in _LONGEST_FIRST))
_MAX_NAMES = 2
_GREETING = frozenset(_FIRST.split())
_GREETING_A_PERSON = frozenset(_BEFORE_NAME.split())
_GREETED = _GREETING | frozenset(_FOLLOWING.split())


def is_greeting(text: str, *, named: bool = False) -> bool:
    """Whether a text is only a greeting or thanks; with `named`, it may address a person by name."""
    if len(text) > _MAX_CHARACTERS:
        return False
    words = _WORDS.findall(text)
    folded = [fold(word) for word in words]
    other_words = _PHRASE_PATTERN.sub(" ", " ".join(folded)).split()
    if len(other_words) < len(folded) and all(word in _GREETED for word in other_words):
        return True
    if not folded or folded[0] not in _GREETING:
        return False
    others = [word for word, plain in zip(words, folded, strict=True) if plain not in _GREETED]
    if not others:
        return True
    is_of_a_person = folded[0] in _GREETING_A_PERSON and words[1:] == others
    return named and is_of_a_person and len(others) <= _MAX_NAMES and all(word.istitle() for word in others)
