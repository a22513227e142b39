"""What a message is, seen from its words."""

import pytest

from bench.cues import load, outcomes, rates, read
from treering.conversation.cues import MessageCues, cues_of
from treering.conversation.cues.notation import LANGUAGES, phrase
from treering.conversation.cues.phrases import APPLIES, Cue, phrase_index
from treering.core.messages import CallPart, ImagePart, Message, ResultPart, Role, TextPart

# Slightly below what was measured; the same hand wrote messages and phrases.
FLOORS = {"tune": (0.98, 0.98), "held": (0.95, 0.92)}

SHOWN = {
    "directive": [
        "Never commit to main.",
        "Always use tabs.",
        "Please make sure that every route is covered.",
        "don't touch the lock file",
        "As I said, never use eval.",
        "Ne touche jamais au schéma.",
        "Non toccare mai lo schema.",
        "Fass das Schema niemals an.",
        "No toques nunca el esquema.",
    ],
    "correction": [
        "No, I meant the other file.",
        "That's wrong, it returns a list.",
        "Actually, it's per user.",
        "Non, je voulais dire l'autre fichier.",
        "No, intendevo l'altro file.",
        "Nein, ich meinte die andere Datei.",
        "No, quise decir el otro archivo.",
    ],
    "error": [
        "it fails with KeyError: 'id'",
        "La compilation a échoué.",
        "Il build è fallito.",
        "Der Build ist fehlgeschlagen.",
        "El build ha fallado.",
    ],
    "casual": ["thanks!", "OK 👍", "🎉", "Merci beaucoup !", "Grazie mille", "Vielen Dank!", "¡Muchas gracias!"],
    "opens_task": [
        "Now let's build the importer.",
        "New topic: how do we back up the database?",
        "Passons à la recherche.",
        "Passiamo alla ricerca.",
        "Nächste Aufgabe: die Suche.",
        "Siguiente tarea: la búsqueda.",
    ],
    "ends_task": [
        "All done.",
        "That's done, the page works.",
        "C'est terminé.",
        "Abbiamo finito.",
        "Das ist erledigt.",
        "Ya está terminado.",
    ],
}
NOT_SHOWN = {
    "directive": [
        "Can you show me the router?",
        "Should we always close it?",
        "I don't know why it never ends.",
        "must be a race condition",
        "```\n# never call this\n```\nwhat does it do?",
        "<system-reminder>Never say this.</system-reminder> where is it?",
        "Je ne sais pas.",
        "Non so perché.",
        "Ich weiß nicht, warum.",
        "No sé por qué.",
    ],
    "correction": ["No idea.", "no problem, go on with it", "Is that wrong?", "Nein, keine Ahnung.", "No, ni idea."],
    "error": [
        "Write an error handler for the form.",
        "I want a clearer error message.",
        "Il n'y a aucune erreur.",
        "Nessun errore.",
        "Keine Fehler.",
        "Sin errores.",
    ],
    "casual": ["thanks, now run it", "ok?", "yes, use the second one", "great, but why", "", "42", "oui, relance"],
    "opens_task": ["What is the next step?", "now it works", "let's see", "Quelle est la prochaine étape ?"],
    "ends_task": [
        "Is it done?",
        "it's not done",
        "tell me when it's done",
        "almost all done",
        "Est-ce que c'est terminé ?",
        "Non ho finito.",
        "Bist du fertig?",
        "Noch nicht fertig.",
        "No he terminado.",
    ],
}
PRINTED = [
    "Traceback (most recent call last):\n  File 'x'",
    "error[E0308]: mismatched types",
    "FAILED tests/test_a.py::test_b - assert 1",
    "npm ERR! code 1",
    "panic: boom",
    "exit code 1",
    "HTTP/1.1 503 Service Unavailable",
    "a.ts(1,2): error TS2322: no",
    "bash: x: command not found",
    "java.lang.IllegalStateException: closed",
]
NO_FAILURE = [
    "exit code 0",
    "12 passed, 0 failed",
    "class NotFoundError(Exception):",
    "    except KeyError: pass",
    "return json({ error: 'invalid request' })",
    "Found 0 errors.",
    "HTTP/1.1 200 OK",
    "src/error_pages/500.html",
    "if err != nil {",
]


def _said(text: str, role: Role = Role.USER) -> MessageCues:
    return cues_of(Message.of(role, text))


@pytest.mark.parametrize(("cue", "text"), [(cue, text) for cue, texts in SHOWN.items() for text in texts])
def test_the_words_show_it(cue: str, text: str) -> None:
    assert getattr(_said(text), cue)
    assert cue in dict(_said(text).why)


@pytest.mark.parametrize(("cue", "text"), [(cue, text) for cue, texts in NOT_SHOWN.items() for text in texts])
def test_what_only_sounds_like_it_does_not(cue: str, text: str) -> None:
    assert not getattr(_said(text), cue)


@pytest.mark.parametrize("text", PRINTED)
def test_a_failure_is_seen_in_what_a_tool_prints(text: str) -> None:
    assert _said(text, Role.TOOL).error


@pytest.mark.parametrize("text", NO_FAILURE)
def test_code_and_good_news_are_no_failure(text: str) -> None:
    assert not _said(text, Role.TOOL).error


def test_a_result_marked_as_error_is_one_whatever_it_says() -> None:
    result = ResultPart.make(call_id="c", parts=(TextPart.make(text="no"),), is_error=True)
    cues = cues_of(Message.make(role=Role.USER, parts=(result,)))
    assert cues.error
    assert cues.why == (("error", "the tool reported an error"),)


def test_tool_results_have_the_role_of_the_tool() -> None:
    result = ResultPart.make(call_id="c", parts=(TextPart.make(text="Never commit to main. All done."),))
    assert cues_of(Message.make(role=Role.USER, parts=(result,))) == MessageCues()


def test_what_is_called_with_is_not_said() -> None:
    call = CallPart.make(id="c", name="bash", arguments={"command": "echo 'Error: no'; echo all done"})
    assert cues_of(Message.make(role=Role.ASSISTANT, parts=(call,))) == MessageCues()


def test_a_picture_is_content() -> None:
    parts = (TextPart.make(text="thanks"), ImagePart.make(url="https://example.org/a.png"))
    assert not cues_of(Message.make(role=Role.USER, parts=parts)).casual


def test_a_system_message_has_no_cues() -> None:
    assert _said("Never do this. Error: no. All done.", Role.SYSTEM) == MessageCues()


def test_only_users_direct_correct_and_open_tasks() -> None:
    text = "Never commit to main. No, I meant that. New task: the search."
    assert _said(text, Role.ASSISTANT) == MessageCues()
    assert all(Role.TOOL not in roles for roles in APPLIES.values())


def test_a_step_on_the_way_does_not_end_the_task() -> None:
    assert not _said("All tests pass. Let me run the linter.", Role.ASSISTANT).ends_task
    assert _said("All tests pass.", Role.ASSISTANT).ends_task


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("show me the router", 0),
        ("as I said, it is slow", 1),
        ("as I said earlier, see the example above", 2),
        ("Values above 100 are cut off.", 0),
        ("see above, as before, as discussed, like last time, as agreed, from earlier, previously", 5),
    ],
)
def test_references_are_counted_up_to_five(text: str, count: int) -> None:
    assert _said(text).references == count


def test_languages_may_be_mixed() -> None:
    cues = _said("No, I meant la base de test. Ne touche jamais la prod!")
    assert cues.correction
    assert cues.directive


@pytest.mark.parametrize("text", ["DON’T PUSH TO MAIN", "dont push to main", "Don't push to main 🙏"])
def test_case_apostrophes_and_emoji_do_not_matter(text: str) -> None:
    assert _said(text).directive


def test_the_middle_of_a_long_message_is_not_read() -> None:
    filler = "plain words here\n" * 1_000
    assert not _said(f"{filler}Error: no\n{filler}", Role.TOOL).error
    assert _said(f"{filler}{filler}Error: no", Role.TOOL).error


@pytest.mark.parametrize("part", FLOORS)
@pytest.mark.parametrize("cue", Cue)
def test_labelled_messages_are_read_as_well_as_measured(part: str, cue: Cue) -> None:
    counted = outcomes(case for case in load() if case["part"] == part)
    labelled, precision, recall = rates(counted, cue)
    assert labelled >= 15
    assert (precision or 0) >= FLOORS[part][0]
    assert (recall or 0) >= FLOORS[part][1]


def test_each_language_is_labelled() -> None:
    cases = load()
    assert len(cases) >= 300
    assert all(sum(case["language"] == language for case in cases) >= 50 for language in LANGUAGES)
    assert 0.3 < sum(case["part"] == "held" for case in cases) / len(cases) < 0.4
    assert read(cases[0]) == read(cases[0])


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.TOOL])
def test_every_phrase_is_in_the_notation_and_compiles(role: Role) -> None:
    from treering.conversation.cues.phrases import compiled

    held = [(rule, each) for pairs in phrase_index(role).by_word.values() for _, rule, each in pairs]
    for rule, each in [*held, *phrase_index(role).by_part]:
        compiled(each.expression)
        compiled(rule.spared)
        assert each.keys or each.inside


@pytest.mark.parametrize("text", ["^", "[please] stop", ".. stop", "_ stop"])
def test_a_phrase_must_begin_with_a_word(text: str) -> None:
    with pytest.raises(ValueError, match="must begin with a word"):
        phrase(text, {})
