"""Ranges of scripts, as the inside of a regular expression's character class."""

THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ece"
BURMESE = "\u1000-\u103f\u1050-\u108f"
KHMER = "\u1780-\u17d3"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7fb"
KANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HAN = "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CYRILLIC = "\u0400-\u052f"
# Scripts written without spaces between words, or (Hangul) that join endings to them.
SPACELESS = THAI + LAO + BURMESE + KHMER + HANGUL + KANA + HAN
# Letters, digits, the underscore, and the vowel signs of India, which are marks to Unicode and letters to readers.
WORD = r"\w\u0900-\u0963\u0966-\u0dff"
