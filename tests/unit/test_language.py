"""How texts and queries become terms."""

from array import array

import pytest

from treering.core.language.stems import LANGUAGES, language_of, stop_words
from treering.core.language.terms import QueryTerm, analyse, code_of, codes_of, query_terms, terms_of
from treering.core.language.text_features import asks, names_time, speaker_of
from treering.core.language.words import words_of


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("数据库", ("数据", "据库", "数", "据", "库")),
        ("库", ("库",)),
        (
            "使用PostgreSQL作为存储",
            ("使用", "使", "用", "postgresql", "postgre", "sql", "作为", "为存", "存储", "作", "为", "存", "储"),
        ),
        ("東京タワー", ("東京", "京タ", "タワ", "ワー", "東", "京")),
        ("デプロイ", ("デプ", "プロ", "ロイ")),
        ("전화번호", ("전화", "화번", "번호")),
        ("กรุงเทพ", ("กร", "รง", "งเ", "เท", "ทพ")),
        ("v2版本3", ("v2", "版本", "版", "本", "3")),
        ("第49届", ("第", "49", "届")),
        ("𠮷野家", ("𠮷野", "野家", "𠮷", "野", "家")),
    ],
)
def test_runs_without_spaces_are_split_into_pairs_and_chinese_characters(text: str, wanted: tuple[str, ...]) -> None:
    assert words_of(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Ünïﬁed", ("unified",)),
        ("pass\u00adword", ("password",)),
        ("x\u0302y", ("xy",)),
        ("“Straße”", ("strasse",)),
        ("музей", ("музей",)),
        ("музе\u0438\u0306", ("музей",)),
        ("हिन्दी", ("हिनदी",)),
        ("don't", ("dont",)),
        ("won’t", ("wont",)),
        ("Mel's", ("mel",)),
        ("l'école", ("ecole",)),
        ("dell'arte", ("arte",)),
        ("O'Brien", ("obrien", "brien")),
        ("mother-in-law's", ("mother", "in", "law")),
    ],
)
def test_writing_is_made_alike(text: str, wanted: tuple[str, ...]) -> None:
    assert words_of(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("HTTPServer", ("httpserver", "http", "server")),
        ("getUserIDs()", ("getuserids", "get", "user", "ids")),
        ("PRs", ("prs",)),
        ("naïve_check", ("naive_check", "naive", "check")),
        ("__init__", ("init",)),
        ("--dry-run", ("dry-run", "dry", "run")),
        ("well-known", ("well", "known")),
        ("and/or", ("and", "or")),
        (
            "`src/auth/token_store.py`,",
            ("src/auth/token_store.py", "token_store.py", "src", "auth", "token_store", "token", "store", "py"),
        ),
        (r"C:\Users\a.txt", ("c", "users/a.txt", "a.txt", "users", "a", "txt")),
        ("Class.method", ("class.method", "class", "method")),
        ("std::vec::Vec", ("std::vec::vec", "std", "vec")),
        ("E0382:", ("e0382",)),
        ("CVE-2024-1234", ("cve-2024-1234", "cve", "2024", "1234")),
        ("v1.2.3", ("v1.2.3", "1.2.3")),
        ("foo@1.2.3", ("foo", "1.2.3")),
        ("C++", ("c++",)),
        ("C#,", ("c#",)),
        ("U.S.", ("u.s", "us")),
        ("ann.b@example.com", ("ann.b@example.com", "example.com", "ann", "b", "example")),
        ("(https://www.github.com/foo/bar).", ("github.com/foo/bar", "github.com", "github", "foo", "bar")),
    ],
)
def test_names_come_whole_and_in_parts(text: str, wanted: tuple[str, ...]) -> None:
    assert words_of(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,000", "1000"),
        ("1 000", "1000"),
        ("１０００", "1000"),
        ("١٠٠٠", "1000"),
        ("1.000.000", "1000000"),
        ("3.50", "3.5"),
        ("$3,5", "3.5"),
        ("1st", "1"),
        ("05", "5"),
        ("10:30", "10:30"),
        *(
            (text, "2023-05-08")
            for text in (
                "2023-05-08", "2023-05-08T12:00:00Z", "8 May 2023", "8th of May, 2023", "May 8, 2023", "May-8-2023",
                "8.5.2023", "5/8/2023", "2023年5月8日", "le 8 mai 2023", "8. Mai 2023", "8 maggio 2023",
                "8 de mayo de 2023",
            )
        ),
        ("March-15-2024", "2024-03-15"),
    ],
)  # fmt: skip
def test_numbers_and_dates_have_one_form(text: str, wanted: str) -> None:
    assert wanted in terms_of(text)


def test_a_word_is_capped() -> None:
    assert words_of("a" * 1000) == ("a" * 60,)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("the cat sat on the mat", "en"),
        ("où est la gare", "fr"),
        ("Wo ist das Haus", "de"),
        ("¿Dónde está la casa?", "es"),
        ("onde está a casa de você", "pt"),
        ("dove è la casa del nonno", "it"),
        ("waar is het huis van mijn vader", "nl"),
        ("jag ville köpa huset som du såg", "sv"),
        ("где мой дом", "ru"),
        ("де моя хата і твоя", ""),
        ("数据库使用PostgreSQL", "zh"),
        ("東京タワーの近く", "ja"),
        ("서울에서", "ko"),
        ("สวัสดี", "th"),
        ("fix bug", ""),
        ("", ""),
    ],
)
def test_the_language_is_told(text: str, language: str) -> None:
    assert language_of(text) == language


def test_equal_evidence_is_decided_by_what_is_likely() -> None:
    assert language_of("para como este esta") == ""
    assert language_of("para como este esta", ["en", "pt"]) == "pt"


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_folded_words(language: str) -> None:
    stops = stop_words(language)
    assert len(stops) > 50
    assert not {word for word in stops if language not in ("zh", "ja") and words_of(word) != (word,)}


def test_stop_words_of_an_unknown_language_are_none() -> None:
    assert stop_words("xx") == frozenset()
    assert stop_words("en-US") == stop_words("en")


@pytest.mark.parametrize(
    ("text", "language", "wanted"),
    [
        ("The dogs were running", None, ["dog", "run"]),
        ("Who are you?", None, ["who", "are", "you"]),
        ("les données arrivées", "fr", ["don", "arriv"]),
        ("новый музей", None, ["нов", "муз"]),
        ("这个数据库是什么", None, ["个数", "数据", "据库", "库是", "数", "据", "库"]),
        ("是什么", None, ["是什", "什么", "是", "什", "么"]),
        ("dziękuję bardzo żółć", None, ["dziekuje", "bardzo", "zołc"]),
        ("running", "xx", ["running"]),
    ],
)
def test_terms_are_stems_without_stop_words(text: str, language: str | None, wanted: list[str]) -> None:
    assert terms_of(text, language) == wanted


def test_a_query_has_the_forms_of_each_language() -> None:
    assert query_terms("Where are the running dogs and the dog?", ["fr"]) == (
        QueryTerm("running", ("run", "running")),
        QueryTerm("dogs", ("dog", "dogs"), 2),
    )
    assert query_terms("arrivée", ["fr-FR"]) == (QueryTerm("arrivee", ("arrivee", "arrive", "arriv")),)


def test_a_query_of_stop_words_is_not_empty() -> None:
    assert [term.word for term in query_terms("who are you")] == ["who", "are", "you"]
    assert query_terms("?!") == ()


@pytest.mark.parametrize("query", ["".join(chr(0x4E00 + n) for n in range(500)), " ".join(map(str, range(500)))])
def test_a_long_query_stays_within_the_cap(query: str) -> None:
    assert len(query_terms(query)) == 256


def test_an_analysis_counts_the_terms() -> None:
    found = analyse("The dog and the dogs saw a cat")
    assert found.language == "en"
    assert found.length == 4
    assert found.codes == array("I", sorted(codes_of(["dog", "saw", "cat"])))
    assert dict(zip(found.codes, found.counts, strict=True))[code_of("dog")] == 2
    assert analyse("dog " * 300).counts == b"\xff"
    assert analyse("").length == 0


def test_codes_do_not_change() -> None:
    assert codes_of(["dog", "数据"]) == [0x812C397D, 0x67677B3D]
    assert array("I").itemsize == 4


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Mel: hi", "mel"),
        ("Dr. José Núñez: hi", "dr. jose nunez"),
        ("user: hi", "user"),
        ("小明：你好", "小明"),
        ("http://x.org", ""),
        ("Note: buy milk", ""),
        ("here is the plan: buy", ""),
        ("10:30 is late", ""),
        (" Mel: hi", ""),
        ("No colon", ""),
    ],
)
def test_who_speaks(text: str, speaker: str) -> None:
    assert speaker_of(text) == speaker


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *((text, True) for text in ("Why?", '"Why?") 😀', "为什么？", "لماذا؟", "What?! ")),
        *((text, False) for text in ("No.", "Why? Because.", "", "?x")),
    ],
)
def test_what_asks(text: str, wanted: bool) -> None:
    assert asks(text) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (text, True)
        for text in ("see you Tuesday", "hier soir", "ieri", "gestern", "ayer", "昨天去了", "三个月前", "in May")
    ]
    + [(text, True) for text in ("on 8 May", "at 10:30", "5 pm", "in 2021", "2023-05-08", "last March")]
    + [(text, False) for text in ("you may go", "they march on", "17 apples", "数据库", "")],
)
def test_what_names_a_time(text: str, wanted: bool) -> None:
    assert names_time(text) is wanted
