"""Forty questions of our own, and two answerers who know some of the answers."""

from __future__ import annotations

QUESTIONS = [(f"How much is {a} plus {b}?", str(a + b)) for a in range(1, 6) for b in range(10, 18)]


def answer_of(system: str, number: int, repeat: int = 0) -> str:
    """What a system says to the question of this number, in its so many-th repetition."""
    right = QUESTIONS[number][1]
    wrong = {
        "old": number % 3 == 0,
        "new": number % 4 == 1 or (number % 5 == 2 and repeat == 1),
    }[system]
    return "no idea" if wrong else right
