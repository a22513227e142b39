"""Input that was made, by malice or by accident, to break things."""

from datetime import date

from hypothesis import strategies as st

NASTY = (
    "'; DROP TABLE knowledge; --",
    '" OR 1=1 --',
    "%s %(name)s :name ? $1 {0} {name}",
    '"unbalanced AND (NEAR/2 * ^col: -x',
    "lexicon MATCH 'x' OR rowid > 0",
    "& | ! <-> :* ''",
    "a_b%c\\d/e\\\\",
    "שלום עולם مرحبا بالعالم \u202e reversed \u202c",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ☃️",
    "Z\u0351\u036b\u0343a\u0328\u0321l\u034c\u0315g\u0335o\u0321",
    "e\u0301 é ﬁ ß İ ı ǅ Ω Ω",
    "日本語のテキスト 中文 한국어 ไทย हिन्दी",
    "\u2028\u2029\u0085\u00a0\u200b\u200d\ufeff",
    "\x01\x02\x07\x08\x0b\x0c\x1b[31m\x7f",
    "\ufffe\uffff\U0010ffff\ue000",
    "\r\n\t line \r breaks \n",
    '{}[]"\\u0000 \\ud800 </script><!--',
    "NULL None nan Infinity true",
    "w" * 5_000,
    "NUL \x00 inside",
    "lone \ud800 surrogate \udfff",
)

TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=200),
    st.text(st.characters(exclude_categories=()), max_size=50),
    st.lists(st.sampled_from(NASTY), min_size=2, max_size=4).map(" ".join),
)
NAMES = st.one_of(
    TEXTS,
    st.sampled_from(
        (
            "",
            " ",
            ".",
            "..",
            "../../etc/passwd",
            "/etc/passwd",
            "~/.ssh/id",
            "a/../b",
            "C:\\Windows",
            "con",
            "x" * 200,
            "x" * 201,
            "é" * 100,
            "é" * 101,
            "😀" * 64,
            "n" * 10_000,
            "-- name",
            "name;",
            "%",
            "_",
            "*",
        )
    ),
)
THINGS = st.sampled_from(
    (
        None,
        True,
        0,
        -1,
        10**30,
        1.5,
        float("nan"),
        float("inf"),
        b"bytes",
        b"\xff\xfe",
        (),
        [],
        ["a", 1],
        [None],
        {},
        {"a": 1},
        {1: 2},
        {"deep": {"deeper": [object()]}},
        set(),
        frozenset({"x"}),
        object(),
        len,
        date(2026, 1, 1),
        range(3),
        ValueError("x"),
        "text",
        "",
    )
)
