"""A small part of the run of tests/fuzz_types.py, with a fixed seed, and what it has found."""

from __future__ import annotations

from types import ModuleType

import pytest
from fuzz_types import CALLS, COUNTS, WRONG, Refusing, fuzz

import probative as pv
from probative import _validation as check

NOT_CALLED = {
    "InputError", "__version__", "metrics", "results",  # no functions
    "compare_models",  # trains models: tests/crossval
}  # fmt: skip


def test_the_fuzzer_calls_every_public_function():
    called = {name.split(" ")[0].split(".")[0] for name in CALLS}
    returned = set(pv.__all__) & set(pv.results.__all__)  # results, which functions make
    modules = {name for name in pv.__all__ if isinstance(getattr(pv, name), ModuleType)}
    assert called >= set(pv.__all__) - returned - modules - NOT_CALLED


def test_right_calls_have_results():
    for function, values, how in CALLS.values():
        function(*values, **how)


def test_wrong_types_are_input_errors():
    wrong, tally = fuzz(1_500, seed=0)
    assert not wrong, wrong[:5]
    assert tally["error"] > 1_000


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
def test_every_check_gives_a_value_or_an_input_error(value):
    checks = (
        lambda: check.one_of("x", value, ("a", "b")),
        lambda: check.names_of("x", value),
        lambda: check.columns_of("x", value),
        lambda: check.flag("x", value),
        lambda: check.finite("x", value),
        lambda: check.fraction("x", value),
        lambda: check.open_probability("x", value),
        lambda: check.positive("x", value),
        lambda: check.whole_number("x", value),
        lambda: check.amounts("x", value),
        lambda: check.factors("x", value),
        lambda: check.random_generator(value),
    )
    for attempt in checks:
        try:
            attempt()
        except pv.InputError as error:
            told = str(error)
        else:
            told = ""
        assert "\n" not in told
        assert len(told) < 400


def test_what_is_checked():
    assert check.whole_number("x", 3.0) == 3
    assert check.names_of("x", ["a"]) == ("a",)
    for wrong in (True, "3", 2.5, 0, 10**30):
        with pytest.raises(pv.InputError, match="x: "):
            check.whole_number("x", wrong)
    with pytest.raises(pv.InputError, match="x: 11 is too large; expected at most 10"):
        check.whole_number("x", 11, most=10)
    with pytest.raises(pv.InputError, match="x: 'ab'; expected a list of names"):
        check.names_of("x", "ab")
    for wrong in (1e300, 1e-320):
        with pytest.raises(pv.InputError, match=r"x: .* is too (large|small)"):
            check.positive("x", wrong)
    assert check.shown(Refusing()) == "a value of type Refusing"


def test_counts_are_asked_for_by_name():
    for function in (pv.posterior, pv.metrics.score, pv.interval):
        with pytest.raises(pv.InputError, match=r"counts: .*Counts"):
            function([1, 2, 3], "f1")
    with pytest.raises(pv.InputError, match="divisor: 0; expected finite numbers > 0"):
        COUNTS / 0
