"""Golden values of confidence sequences, by mpmath: the limits are found by bisection."""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 40


def limits(hits, number, level):
    bound = mp.log(1 / (1 - mp.mpf(level)))

    def doubt(share):
        a = b = mp.mpf(1) / 2
        mixed = mp.log(mp.beta(a + hits, b + number - hits)) - mp.log(mp.beta(a, b))
        known = (hits * mp.log(share) if hits else 0) + (
            (number - hits) * mp.log(1 - share) if number > hits else 0
        )
        return mixed - known - bound

    def search(outside, inside):
        for _ in range(110):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if doubt(middle) >= 0 else (outside, middle)
        return float((outside + inside) / 2)

    best = mp.mpf(hits) / number if number else mp.mpf(1) / 2
    tiny = mp.mpf(10) ** -38
    low = search(tiny, best) if hits else 0.0
    high = search(1 - tiny, best) if hits < number else 1.0
    return [low, high]


if __name__ == "__main__":
    cases = [
        (77, 131, "0.95"),
        (0, 5, "0.95"),
        (5, 5, "0.9"),
        (1, 2, "0.99"),
        (3, 400, "0.95"),
        (999, 1000, "0.999"),
        (10**6, 3 * 10**6, "0.95"),
    ]
    golden = [
        {"hits": h, "number": n, "level": float(lv), "limits": limits(h, n, lv)}
        for h, n, lv in cases
    ]
    path = Path(__file__).with_name("sequences.json")
    path.write_text(json.dumps(golden, indent=1) + "\n")
