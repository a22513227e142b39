"""When a later request asks for the same task as an earlier one."""

import pytest

from treering.episodes.similar_failures import SAME_TASK, same_task

LEAST = SAME_TASK


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fix bug #137", "Fix bug #138"),
        ("Fix bug #137", "Fix the bug"),
        ("Close ticket SHOP-12 for the web shop", "Close ticket SHOP-13 for the web shop"),
        ("Release version 1.2 of the shop", "Release version 1.3 of the shop"),
        ("Fix the failing test in cart.py", "Fix the failing test in tax.py"),
        ("Rename total_of in the cart module", "Rename sum_of in the cart module"),
        ("Add the country Finland to the table of rates", "Add the country Sweden to the table of rates"),
        ("Deploy the billing service to staging", "Deploy the billing service to production"),
        ("Send the invoices of March to the customers", "Send the invoices of April to the customers"),
        ("Behebe Fehler 137 im Warenkorb", "Behebe Fehler 138 im Warenkorb"),
        ("Fix the login", "Paint the fence"),
    ],
)
def test_requests_that_name_different_things_are_different_tasks(one: str, other: str) -> None:
    assert not same_task(one, other, LEAST)
    assert not same_task(other, one, LEAST)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fix bug #137", "fix bug #137!"),
        ("Fix bug #137", "Fix the bug #137"),
        ("Fix the login timeout", "Fix the login timeouts again"),
        ("Fix the login timeout in auth.py", "Fix the login timeout of auth.py for mobile"),
    ],
)
def test_the_same_request_in_almost_the_same_words_is_the_same_task(one: str, other: str) -> None:
    assert same_task(one, other, LEAST)
    assert same_task(other, one, LEAST)
