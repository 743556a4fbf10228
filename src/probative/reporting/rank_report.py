"""Build the document and the figure of a leaderboard."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from probative.reporting.compare_report import (
    EXAMPLE_WORDS,
    base_name,
    comparison_part,
    methods_of,
    shown_examples,
)
from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Strong,
    Table,
    Tracks,
    Words,
    differed,
    estimate_in_full,
    estimated,
    limits,
    payload,
    scored,
    upper,
)
from probative.reporting.escape import plain
from probative.reporting.pictures import COLOURS, Bar, Forest, figure
from probative.reporting.render import as_csv, as_html, as_json
from probative.reporting.score_report import (
    about,
    has_runs,
    label_table,
    oddities,
    of_kind,
    several_runs,
    spread_table,
)
from probative.wording.numbers import (
    counted,
    equals,
    factor,
    metric_name,
    metric_words,
    on_own_scale,
    p_equals,
    points,
    probability,
    pvalue,
    scale_word,
    signed_points,
)
from probative.wording.verdict import short_letters
from probative.workers import in_processes

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from probative.results import (
        Board,
        Example,
        Interval,
        LabelExample,
        RankedPair,
        RankedSystem,
        Ranking,
        Submission,
        SystemScores,
    )


# --- Content of the page of a leaderboard

_MOST_SCORES_BY_LABEL = 100_000  # systems times labels; about 2 MB
_MOST_NAMED_IN_MATRIX = 60  # systems; with more, the squares of the matrix have no room for names
_MOST_PAIRS = 45_000  # pairs of 300 systems; about 3 MB
_MOST_BYTES_IN_FULL = 6_000_000  # bytes; one comparison has about 50,000
_FEWEST_FOR_PROCESSES = 24  # with fewer, starting processes costs more than it saves


@dataclass(frozen=True)
class PairCommand:
    """Command that compares two systems in full."""

    parts: tuple[str, ...]  # around the places of the two, the baseline first: once, or twice
    systems: Mapping[str, tuple[str, ...]]  # the words of every system in these places, by name

    def of(self, a: str, b: str) -> str:
        """Return the command with these words in the places of the two systems."""
        gaps = (*(a, b) * (len(self.parts) // 2), "")
        return "".join(part + word for part, word in zip(self.parts, gaps, strict=False))


def _ranking_content(
    ranking: Ranking,
    board: Table,
    pairs: Table | None,
    command: PairCommand | None,
    pages: Mapping[tuple[str, str], str] | None,
) -> dict[str, Any]:
    """Return the variables of the template."""
    # `command` shows a pair in full that the page does not hold; `pages` are the addresses of pairs
    # with a page of their own, by the names of the lower and the higher system
    labels = sorted({entry.label for system in ranking.systems for entry in system.by_label})
    if len(labels) * len(ranking.systems) > _MOST_SCORES_BY_LABEL:
        labels = []
    in_full = _in_full(ranking)
    held = len(ranking.pairs) <= _MOST_PAIRS
    among = f" for all {len(ranking.pairs):,} pairs of the leaderboard"
    return {
        "recognised": [base_name(note) for note in ranking.notes],
        "board": board,
        "tracks": Tracks.of(list(map(limits, ranking.ranking))),
        "systems": ranking.ranking,
        "labels": labels,
        "pair_table": pairs,
        "n_pairs": f"{len(ranking.pairs):,}",
        "pairs_held": held and bool(ranking.pairs),
        "in_full": in_full,
        "in_full_words": _in_full_words(ranking, in_full),
        "elsewhere": ("", "") if pages is not None else _elsewhere(ranking, in_full, command),
        "methods": methods_of(ranking.comparisons[0], among) if in_full else [],
        "left_out": _left_out(ranking, labels, held),
        "data": _page_data(ranking, labels, held, command, pages or {}),
        "words": _words(ranking),
    }


def _left_out(ranking: Ranking, labels: Sequence[str], held: bool) -> list[str]:
    absent, most = [], "at most. JSON and CSV have all."
    if not labels and any(system.by_label for system in ranking.systems):
        holds = f"the page holds {_MOST_SCORES_BY_LABEL:,} of them"
        absent.append(f"Scores by label are left out here: {holds} {most}")
    if not held:
        pairs = f"The {len(ranking.pairs):,} pairs are left out here"
        absent.append(f"{pairs}: the page holds {_MOST_PAIRS:,} {most}")
    return absent


def _in_full(ranking: Ranking) -> list[dict[str, Any]]:
    """Return the comparisons that fit into the page, each with its address and a summary."""
    place = {system.name: i for i, system in enumerate(ranking.ranking)}
    jobs = -1 if len(ranking.comparisons) >= _FEWEST_FOR_PROCESSES else 1
    shown, size = [], 0
    for result, part in in_processes(comparison_part, ranking.comparisons, jobs):
        size += len(part.encode())
        if size > _MOST_BYTES_IN_FULL:
            break
        c = result.comparisons[0]
        shown.append(
            {
                "address": f"pair-{place[c.b]}-{place[c.a]}",
                "title": f"{c.b} against {c.a}",
                "words": _pair_words(ranking, c.b, c.a),
                "part": part,
            }
        )
    return shown


def _pair_words(ranking: Ranking, above: str, below: str) -> str:
    """Return the result of a pair in a few words."""
    pair = ranking.pair(above, below)
    if pair.identical:
        return "the same everywhere"
    if isnan(pair.p_adjusted):
        return "no evidence"
    p = f"{'adjusted ' * (len(ranking.pairs) > 1)}p {p_equals(pair.p_adjusted)}"
    decision = "decided" if pair.decided else "not established"
    return f"{signed_points(pair.difference)}{scale_word()}, {p}, {decision}"


def _in_full_words(ranking: Ranking, in_full: Sequence[dict[str, Any]]) -> str:
    if not in_full:
        return ""
    if len(ranking.pairs) == 1:
        return "The comparison of the two systems."
    megabytes = sum(len(entry["part"].encode()) for entry in in_full) / 1e6
    some = f"{len(in_full):,} of the {len(ranking.pairs):,} pairs"
    which = f"{some}, those of the leader and of neighbours first,"
    which = "Every pair" if len(in_full) == len(ranking.pairs) else which
    return (
        f"{which} as the comparison of two systems shows it ({megabytes:.1f} MB of this page). Its "
        f"intervals hold for that pair alone, so most are narrower than those above, which hold "
        f"for all pairs at once; adjusted p is the same. Its P(better) comes from a model of the "
        f"cases in which the two are right or wrong, that above from draws over the {ranking.by}s."
    )


def _elsewhere(
    ranking: Ranking, in_full: Sequence[dict[str, Any]], command: PairCommand | None
) -> tuple[str, str]:
    """Return a sentence on how to see the other pairs in full, and the command, if any."""
    if len(in_full) == len(ranking.pairs) or ranking.task == "counts":
        return "", ""  # counts have no further details
    if has_runs(ranking.scores):
        words = "Two systems with several runs have two verdicts, on these models and on new runs."
        return f"{words} compare shows both, pair by pair.", ""
    words = f"The {'others' if in_full else 'pairs'} are not compared in full on this page"
    if command is None:
        how = "compare does that for two systems, rank for as many pairs as its comparisons say."
        return f"{words}: {how}", ""
    how = "This command does it, with two systems for A and B; a pair that is chosen shows its own:"
    return f"{words}. {how}", command.of("A", "B")


def _page_data(
    ranking: Ranking,
    labels: Sequence[str],
    held: bool,
    command: PairCommand | None,
    pages: Mapping[tuple[str, str], str],
) -> str:
    """Return the numbers of the page as JSON for a script element."""
    # Scores and differences are fractions of 1 to six decimals, p-values to four digits; undefined
    # is null. Pairs are ordered by the places of their systems: 0 with 1, 0 with 2, …, 1 with 2, ….
    place = {label: i for i, label in enumerate(labels)}
    own = {system.name: system for system in ranking.systems}
    # single labels have F1 if they do not have the metric of the ranking
    wanted = ranking.metric.removeprefix("macro_")
    there = {s.metric for system in ranking.systems for e in system.by_label[:1] for s in e.scores}
    metric = wanted if wanted in there else "f1"
    content: dict[str, Any] = {
        "names": [plain(system.name) for system in ranking.ranking],
        "scores": [list(map(_rounded, limits(system))) for system in ranking.ranking],
        "labels": [plain(label) for label in labels],
        "byLabel": [
            {
                place[entry.label]: list(map(_rounded, limits(entry[metric])))
                for entry in own[system.name].by_label
                if entry.label in place
            }
            for system in ranking.ranking
        ],
        "level": ranking.level,
        "factor": factor(),
    }
    if held:
        content["pairs"] = {
            "d": [_rounded(pair.difference) for pair in ranking.pairs],
            "low": [_rounded(pair.low) for pair in ranking.pairs],
            "high": [_rounded(pair.high) for pair in ranking.pairs],
            "p": [_digits(pair.pvalue) for pair in ranking.pairs],
            "adjusted": [_digits(pair.p_adjusted) for pair in ranking.pairs],
            "better": [_rounded(pair.p_b_better) for pair in ranking.pairs],
            "decided": [int(pair.decided) for pair in ranking.pairs],
            "same": [int(pair.identical) for pair in ranking.pairs],
        }
    if pages:
        at = {system.name: i for i, system in enumerate(ranking.ranking)}
        content["pages"] = {f"{at[b]}-{at[a]}": address for (a, b), address in pages.items()}
    if command is not None:
        words = [[plain(w) for w in command.systems[system.name]] for system in ranking.ranking]
        content["command"] = {"systems": words, "parts": [plain(part) for part in command.parts]}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # no content may end the element or begin another
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _rounded(value: float) -> float | None:
    return round(float(value), 6) if isfinite(value) else None


def _digits(value: float) -> float | None:
    return float(f"{value:.4g}") if isfinite(value) else None


def _words(ranking: Ranking) -> dict[str, str]:
    """Return the explanation of each part of the page."""
    metric, level = metric_name(ranking.metric, ranking.match), f"{100 * ranking.level:g} %"
    scores = [system.estimate for system in ranking.ranking if isfinite(system.estimate)]
    several = len(ranking.pairs) > 1
    many = len(ranking.ranking) > _MOST_NAMED_IN_MATRIX
    narrow = " Fewer systems, chosen by name above, make larger squares." if many else ""
    at_once = "for all pairs at once " if several else ""
    adjusted = f"adjusted, it allows for the number of pairs ({ranking.adjustment.capitalize()})"
    adjusted = adjusted if several else "of one pair it needs no adjustment"
    spread = f", from {points(max(scores), 1)} to {points(min(scores), 1)}" if scores else ""
    return {
        "board": f"{upper(metric)} of each system with its own {level} interval"
        f"{spread}. The line separates the systems that may rank first from the others. "
        f"Intervals that overlap do not show whether two systems differ: the pairs below do.",
        "matrix": f"Each square compares the system of its row with the one of its column. Blue: "
        f"the row is better. Orange: the column is. Grey: the scores are equal; empty: one is "
        f"undefined. The stronger the colour, the larger the difference. A "
        f"full square is decided (adjusted p at most {1 - ranking.level:.4g}), a small one is not: "
        f"the two tie.{narrow}",
        "pair": f"The intervals hold {at_once}with a confidence of {level}. p: {ranking.test} "
        f"randomisation test by {ranking.by}; {adjusted}. P(better): probability, given these data "
        f"alone, that a system scores higher than the other on {ranking.by}s like these.",
    }


_MOST_PAIRS_IN_A_TABLE = 28  # the pairs of eight systems


@on_own_scale
def rank_document(
    ranking: Ranking,
    command: PairCommand | None = None,
    pages: Mapping[tuple[str, str], str] | None = None,
) -> Document:
    """Build the document of a leaderboard, with the pairs if they are few, and a summary."""
    content = ranking.to_dict()
    del content["level"]
    board = _leaderboard_table(ranking)
    pairs = _pair_table(ranking) if 0 < len(ranking.pairs) <= _MOST_PAIRS_IN_A_TABLE else None
    runs = spread_table(ranking) if has_runs(ranking.scores) else None
    unseen = () if pairs else (f"JSON and CSV have all {len(ranking.pairs):,} pairs.",)
    return Document(
        title=f"Leaderboard of {counted(len(ranking.ranking), 'system')}",
        payload=payload("rank", ranking.signature, **content),
        tables=tuple(table for table in (board, runs) if table is not None),
        more=(pairs,) if pairs else (),
        records=(
            *of_kind("system", ranking.ranking),
            *of_kind("run", ranking.run_scores or ()),
            *({"kind": "pair", **pair.to_dict()} for pair in ranking.pairs),
        ),
        notes=(ranking.signature,),
        details=unseen,
        verdict=(ranking.summary,),
        headline=(_headline(ranking),),
        page="ranking.html",
        content=lambda: (
            _ranking_content(ranking, board, pairs, command, pages) | {"run_table": runs}
        ),
    )


def _headline(ranking: Ranking) -> Answer:
    """Say who is best, or how many systems may rank first."""
    first, said = ranking.ranking[0], (ranking.summary,)
    leaders = [system for system in ranking.ranking if system.rank_low == 1]
    if len(ranking.ranking) < 2 or isnan(first.estimate):
        return Answer("Nothing to rank", "open", said)
    if len(leaders) == 1:
        return Answer(f"{first.name} is best", "better", said)
    words = f"{first.name} leads, but {counted(len(leaders), 'system')} may rank first"
    return Answer(words, "open", said)


def _leaderboard_table(ranking: Ranking) -> Table:
    """Build the table of systems, best first; a line separates those that cannot rank first."""
    ranks = [system.rank_low for system in ranking.ranking]
    rest = next((i for i, low in enumerate(ranks) if i and low > 1 == ranks[i - 1]), None)
    return Table.of(
        ranking.ranking,
        Words("system", "name"),
        Column(metric_words(ranking.metric), scored),
        Column("rank", _rank_set),
        Column("ties", "letters", short_letters, drop=2),
        Column("P(best)", "p_best", probability, drop=1),
        title=about(ranking.scores, "Leaderboard, " + metric_words(ranking.metric)),
        notes=oddities(ranking.scores),
        details=_leaderboard_notes(ranking),
        rule=rest,
    )


def _rank_set(system: RankedSystem) -> str:
    """Return the ranks that a system may have: 2, or 2–4."""
    low, high = system.rank_low, system.rank_high
    return str(low) if low == high else f"{low}–{high}"


def _leaderboard_notes(ranking: Ranking) -> list[str]:
    if len(ranking.ranking) < 2:
        return []
    adjusted, test = ranking.adjustment.capitalize(), f"{ranking.test} randomisation test"
    pairs = f", all {len(ranking.pairs):,} pairs" if len(ranking.pairs) > 1 else ""
    ties = (
        f"rank: the ranks that a system may have, for all systems at once. Systems above the line "
        f"may rank first. Systems that share a letter (ties) are not distinguishable at the level "
        f"{ranking.level:g} ({adjusted}-adjusted p, the larger of Student's and of the {test} by "
        f"{ranking.by}{pairs})."
    )
    notes = [ties]
    if any("–" in short_letters(system.letters) for system in ranking.ranking):
        notes.append("a–d stands for the letters abcd, and so on.")
    draws, known = ranking.n_draws, any(not isnan(system.p_best) for system in ranking.ranking)
    how = f"{draws:,} draws over the {ranking.by}s" if draws else "the posterior of the difference"
    notes += [f"P(best): probability of being best, from {how}."] if draws or known else []
    # P(best) of the first may be high where a test does not decide it
    first, *others = ranking.ranking
    against = (ranking.pair(first.name, system.name) for system in others)
    tied = (not pair.decided and abs(pair.difference) > 0 for pair in against)
    if first.p_best >= ranking.level and any(tied):
        over = f"P(best) resamples only these {ranking.by}s and is overconfident here"
        notes.append(f"{over}; use rank and ties.")
    return notes


def _pair_table(ranking: Ranking) -> Table:
    """Build the table of all pairs: difference, simultaneous interval, p-values."""
    return Table.of(
        ranking.pairs,
        Words("pair", lambda pair: f"{pair.b} − {pair.a}"),
        Column("difference", lambda pair: (Strong if pair.decided else str)(differed(pair))),
        Column("p", "pvalue", pvalue, drop=1),
        Column("p adjusted", "p_adjusted", pvalue),
        title=f"The pair, with its {100 * ranking.level:g} % interval"
        if len(ranking.pairs) == 1
        else f"All pairs, with {100 * ranking.level:g} % intervals that hold for all at once",
        bold_note="Decided differences are in bold.",
    )


# --- Figure: scores with intervals, and bars that join ties


@on_own_scale
def rank_figure(ranking: Ranking) -> Figure:
    """Draw every system's score with its interval, and beside it a bar for each tie letter."""
    runs = several_runs(ranking, ranking.metric)
    bars = [
        Bar(s.name, *limits(s), runs=runs.get(s.name, ()), pale=s.rank_low > 1)
        for s in ranking.ranking
    ]
    axis = f"{metric_name(ranking.metric, ranking.match)}{scale_word(', ')}"
    forest = Forest(bars, axis=axis, note=f"{100 * ranking.level:g} % intervals")
    sharing: dict[str, list[int]] = {}  # the places of the systems with each letter
    for place, system in enumerate(ranking.ranking):
        for letter in re.findall(r"[A-Za-z]'*", system.letters):
            sharing.setdefault(letter, []).append(place)
    groups = [places for places in sharing.values() if len(places) > 1]
    drawn = figure(forest, beside=max(0.4, 0.16 * len(groups)))
    scores, ties = drawn.axes
    if any(system.rank_low == 1 < system.rank_high for system in ranking.ranking):
        scores.set_title("blue: may rank first", fontsize=9)
    for column, places in enumerate(groups):
        ties.plot([column, column], [places[0] - 0.2, places[-1] + 0.2], color="0.75", linewidth=1)
        ties.plot([column] * len(places), places, "s", color=COLOURS[0], markersize=4)
    ties.set_xlim(-0.8, max(len(groups), 1) - 0.2)
    ties.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    ties.grid(visible=False)
    ties.spines[["left", "bottom"]].set_visible(False)
    ties.set_title("ties" if groups else "no ties", fontsize=9)
    return drawn


# --- Board of submissions, and its site


def board_document(board: Board) -> Document:
    """Build the document of a board: the leaderboard, and the refused submissions."""
    ranked, tables = Document("", {}, (), ()), _other_tables(board)
    if board.ranking is not None:
        ranked, table = rank_document(board.ranking), _leaderboard_table(board.ranking)
        tables.insert(0, table.with_column(0, "#", [str(i + 1) for i in range(len(table.rows))]))
    done = (
        f"{counted(len(board.submissions), 'submission')}: {board}; "
        f"{counted(board.pairs_tested, 'pair')} tested, {board.pairs_reused:,} reused."
    )
    return replace(
        ranked,
        title=board.title or f"Board of {counted(len(board.submissions), 'submission')}",
        payload=_board_payload(board)
        | {"pairs_tested": board.pairs_tested, "pairs_reused": board.pairs_reused},
        tables=tuple(tables),
        records=(*({"kind": "submission", **one} for one in board.records()), *ranked.records),
        notes=(*ranked.notes[:1], done, board.signature),
    )


def _board_payload(board: Board) -> dict[str, Any]:
    """Return the JSON contract: the submissions, and the payload of a ranking."""
    content: dict[str, Any] = {"systems": [], "ranking": [], "pairs": [], "summary": ""}
    if board.ranking is not None:
        content = board.ranking.to_dict()
        del content["level"]
    front = {"title": board.title, "date": board.date}
    told: dict[str, Any] = {key: words for key, words in front.items() if words is not None}
    return payload("board", board.signature, **told, submissions=board.records(), **content)


def _other_tables(board: Board) -> list[Table]:
    """Build the tables of submissions that were not scored, and of remarks on descriptions."""
    name, tables = Words("submission", itemgetter(0)), []
    refused = [(one.name, one.error) for one in board.submissions if one.status == "refused"]
    if refused:
        reason = Words("reason", itemgetter(1))
        tables.append(Table.of(refused, name, reason, title="Not scored"))
    remarks = [(one.name, words) for one in board.submissions for words in one.remarks or ()]
    if remarks:
        remark = Words("remark", itemgetter(1))
        tables.append(Table.of(remarks, name, remark, title="Remarks"))
    return tables


# --- Pages and files of the site

_Pair = tuple[str, str]
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_DOWNLOADS = (
    ("board.json", "everything"),
    ("leaderboard.csv", "the leaderboard"),
    ("scores.csv", "all scores of every system and label"),
    ("pairs.csv", "all pairs"),
    ("submissions.csv", "the submissions, with the reasons why some were not scored"),
)


def board_pages(
    board: Board, pairs: Sequence[_Pair], examples: Mapping[_Pair, Sequence[Example | LabelExample]]
) -> dict[str, str]:
    """Return the files of the site, content by path."""
    # `pairs` that have a page are named lower system first; `examples` are sentences on which they
    # differ, if these may be shown
    # the site must not depend on what was cached when it was built
    steady = tuple(
        replace(one, status="scored") if one.status == "reused" else one
        for one in board.submissions
    )
    board, others = replace(board, submissions=steady), _other_tables(board)
    about = _safe_html(board.about or "")
    more = {"site": board, "about": about, "files": _DOWNLOADS, "others": others}
    if board.ranking is None:
        lead = Answer("No submission could be scored" if others else "No submissions yet", "open")
        page = _page(board, board.title or "Leaderboard", lead, others, **more)
        return {"index.html": page, **_downloads(board)}
    site = _Site(board, board.ranking, _addresses(board.ranking), set(pairs))
    files = {"index.html": site.index(more), **_downloads(board)}
    for system in board.ranking.ranking:
        files[f"systems/{site.address[system.name]}.html"] = site.system(system)
    for pair in pairs:
        files[f"pairs/{site.pair_address(pair)}.html"] = site.pair(pair, examples.get(pair, ()))
    return files


def _addresses(ranking: Ranking) -> dict[str, str]:
    """Return the file name of the page of every system: its name, if that is safe and unique."""
    names = [system.name for system in ranking.ranking]
    times = Counter(name.casefold() for name in names)
    return {
        name: name
        if _PLAIN.fullmatch(name) and times[name.casefold()] == 1
        else f"{_plain_part(name)}.{_short_digest(name)}"
        for name in names
    }


def _plain_part(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:40] or "system"


def _short_digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:10]


@dataclass(frozen=True)
class _Site:
    """Board, with the addresses of the pages of its systems and pairs."""

    board: Board
    ranking: Ranking
    address: Mapping[str, str]
    pairs: set[_Pair]

    def pair_address(self, pair: _Pair) -> str:
        parts = [_plain_part(name) for name in pair]
        return f"{parts[1]}.{parts[0]}.{_short_digest(chr(0).join(pair))}"

    def index(self, more: Mapping[str, Any]) -> str:
        """Render the page of the leaderboard; `more` are variables of the template."""
        pages = {pair: f"pairs/{self.pair_address(pair)}.html" for pair in sorted(self.pairs)}
        document = rank_document(self.ranking, pages=pages)
        shown = document.content()
        names = [own.name for own in self.ranking.ranking]
        links = tuple(f"systems/{self.address[name]}.html" for name in names)
        content = {
            **shown,
            **more,
            "board": replace(shown["board"], links=links),
            "described_by": [self._submission(name) for name in names],
        }
        title = self.board.title or document.title
        page = "leaderboard.html"
        return as_html(replace(document, title=title, page=page, content=lambda: content))

    def _submission(self, name: str) -> Submission:
        found = self.board.submissions
        return next(one for one in found if one.name == name and one.status != "refused")

    def system(self, own: RankedSystem) -> str:
        """Render the page of one system."""
        ranking = self.ranking
        scores = ranking[own.name]
        tables = [_score_table(ranking, scores)]
        if scores.by_label:
            tables.append(replace(label_table(ranking.scores, scores), title="By label"))
        if len(ranking.ranking) > 1:
            tables.append(self._rivals(own.name))
        said = (_place(ranking, own),)
        lead = Answer("Not ranked", "open", said)
        if not isnan(own.estimate):
            state = "better" if own.rank_high == 1 else "fact"
            lead = Answer(f"Rank {_rank_set(own)} of {len(ranking.ranking)}", state, said)
        return _page(
            self.board, own.name, lead, tables, way=self._way(), one=self._submission(own.name)
        )

    def _way(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Return the links to the first page and to the pages of systems."""
        home = ("../index.html", self.board.title or "Leaderboard")
        return (home, *((f"../systems/{self.address[name]}.html", name) for name in names))

    def _rivals(self, name: str) -> Table:
        """Build the table of one system against every other, in leaderboard order."""
        ranking, found, links = self.ranking, [], []
        for other in (own.name for own in ranking.ranking if own.name != name):
            pair = ranking.pair(name, other)
            own_page = f"{self.address[other]}.html"
            of_both = f"../pairs/{self.pair_address((pair.a, pair.b))}.html"
            links.append(of_both if (pair.a, pair.b) in self.pairs else own_page)
            if pair.b == other:  # see it from this system
                gap, low, high = -pair.difference, -pair.high, -pair.low
                pair = replace(pair, a=other, b=name, difference=gap, low=low, high=high)
            found.append(pair)

        def decision(pair: RankedPair) -> str:
            better = "better" if pair.difference > 0 else "worse"
            return better if pair.decided else "not distinguished"

        return Table.of(
            found,
            Words("other system", "a"),
            Column("difference", lambda one: estimated(one.difference, one.low, one.high)),
            Column("p adjusted", "p_adjusted", pvalue),
            Words(f"{name} is", decision),
            title=f"Against the others, {metric_words(ranking.metric)} in points",
            notes=_interval_words(ranking),
            track="difference",
            links=tuple(links),
        )

    def pair(self, names: _Pair, examples: Sequence[Example | LabelExample]) -> str:
        """Render the page of two systems."""
        ranking = self.ranking
        pair = ranking.pair(*names)
        difference = Table.of(
            [pair],
            Words("difference", lambda pair: f"{pair.b} − {pair.a}"),
            Column("points", lambda pair: estimated(pair.difference, pair.low, pair.high, 2)),
            Column("P(better)", "p_b_better", probability),
            Column("p", "pvalue", pvalue),
            Column("p adjusted", "p_adjusted", pvalue),
            Column("decided", lambda pair: "yes" if pair.decided else "no"),
            title=f"Difference, {metric_words(ranking.metric)} in points",
            notes=_interval_words(ranking),
            track="difference",
        )
        below, above = ranking[pair.a], ranking[pair.b]
        second = {score.metric: score for score in below.scores}
        both = [(score, second[score.metric]) for score in above.scores if score.metric in second]
        scores = [(metric_words(one.metric), one, other) for one, other in both]
        names_of_both = above.name, below.name
        tables = [difference, _both("metric", scores, names_of_both, "Scores in points")]
        of_labels = _labels_of_both(above, below, ranking.metric)
        if of_labels:
            title = f"By label, {metric_words(of_labels[0][1].metric)} in points"
            tables.append(_both("label", of_labels, names_of_both, title))
        words, state = "Identical outputs", "equal"
        if not pair.identical:
            better = f"{pair.b} better", "better"
            words, state = better if pair.decided else ("Not established", "open")
        return _page(
            self.board,
            f"{pair.b} and {pair.a}",
            Answer(words, state, (_pair_sentence(pair, ranking),)),
            tables,
            way=self._way(*names[::-1]),
            examples=shown_examples(examples),
            example_words=EXAMPLE_WORDS["labels" if ranking.task == "labels" else "spans"],
        )


def _downloads(board: Board) -> dict[str, str]:
    """Return the files to download, content by name."""
    content = _board_payload(board)
    systems = () if board.ranking is None else board.ranking.systems
    return {
        "board.json": as_json(Document("", content, (), ())),
        "leaderboard.csv": _csv(content["ranking"]),
        "scores.csv": _csv(record for system in systems for record in system.records()),
        "pairs.csv": _csv(content["pairs"]),
        "submissions.csv": _csv(content["submissions"]),
    }


def _page(board: Board, title: str, lead: Answer, tables: Sequence[Table], **more: Any) -> str:
    signed = payload("board", board.signature)
    how: dict[str, Any] = {"page": "board.html", "content": lambda: more}
    return as_html(Document(title, signed, tuple(tables), (), headline=(lead,), **how))


def _safe_html(text: str) -> Markup:
    """Return Markdown as HTML that can neither run nor load anything."""
    # HTML in the text is shown as text, a picture becomes a link, and links lead to web pages or
    # addresses of mail; headings start at the second level, below that of the page
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    reader = MarkdownIt("commonmark", {"html": False}).disable("image")
    reader.validateLink = _SAFE_LINK.match  # type: ignore[method-assign,assignment]
    tokens = reader.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 1, 6)}"
        if token.type == "heading_open":
            token.attrSet("class", "own")  # not listed among the sections of the page
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704  # escaped there


_SAFE_LINK = re.compile(r"(https?://|mailto:)[^\s]+$", re.IGNORECASE)


def _csv(records: Iterable[dict[str, Any]]) -> str:
    return as_csv(Document("", {}, (), tuple(records)))


def _place(ranking: Ranking, own: RankedSystem) -> str:
    """Return the place of a system in a sentence."""
    score = metric_name(ranking.metric, ranking.match)
    if isnan(own.estimate):
        return f"{own.name} has no {score}: {own.note or 'undefined'}."
    ranks = f"between rank {own.rank_low} and rank {own.rank_high}"
    ranks = f"rank {own.rank_low}" if own.rank_low == own.rank_high else ranks
    best = "" if isnan(own.p_best) else f"; P(best) {equals(own.p_best)}"
    return (
        f"{own.name}: {score} {points(own.estimate)} [{points(own.low, 1)}, "
        f"{points(own.high, 1)}], {ranks} of {counted(len(ranking.ranking), 'system')}{best}."
    )


def _score_table(ranking: Ranking, scores: SystemScores) -> Table:
    def name(score: Interval) -> str:
        words = metric_words(score.metric)
        return Strong(words) if score.metric == ranking.metric else words

    counts = scores.counts
    return Table.of(
        scores.scores,
        Words("metric", name),
        Column("score", scored),
        Words("note", when=any(score.note for score in scores.scores)),
        title=f"Scores in points with {100 * ranking.level:g} % intervals",
        notes=f"{counts.tp:,.0f} right, {counts.predicted:,.0f} returned, {counts.positives:,.0f} "
        f"in gold.",
        bold_note="The board ranks by the score in bold.",
        track="estimate",
    )


def _interval_words(ranking: Ranking) -> str:
    pairs = counted(len(ranking.pairs), "pair")
    return (
        f"{100 * ranking.level:g} % intervals that hold for all {pairs} at once; p is adjusted for "
        f"their number ({ranking.adjustment.capitalize()})."
    )


def _pair_sentence(pair: RankedPair, ranking: Ranking) -> str:
    both, p = f"{pair.b} and {pair.a}", f"adjusted p = {pvalue(pair.p_adjusted)}"
    size = f"{points(pair.difference)} points"
    if pair.identical:
        return f"{both} have the same counts on every {ranking.by}."
    if pair.decided:
        return f"{pair.b} is better than {pair.a}: it scores {size} higher here ({p})."
    if isnan(pair.p_adjusted):
        return f"{both} cannot be compared: the score of one is undefined."
    return f"{both} are not distinguished (difference {size}, {p})."


def _both(
    head: str, scores: Sequence[tuple[str, Interval, Interval]], names: _Pair, title: str
) -> Table:
    """Build a table of names with the scores of two systems side by side."""
    level = f" [{100 * scores[0][1].level:g} %]" if scores else ""
    a, b = (Column(names[i] + level, itemgetter(1 + i), estimate_in_full) for i in (0, 1))
    return Table.of(scores, Words(head, itemgetter(0)), a, b, title=title)


def _labels_of_both(
    above: SystemScores, below: SystemScores, metric: str
) -> list[tuple[str, Interval, Interval]]:
    """Return the labels that both systems have with two scores: this one, or else the last."""

    def wanted(scores: Sequence[Interval]) -> Interval:
        same = (score for score in scores if score.metric == metric.removeprefix("macro_"))
        return next(same, scores[-1])

    second = {own.label: wanted(own.scores) for own in below.by_label}
    return [
        (own.label, wanted(own.scores), second[own.label])
        for own in above.by_label
        if own.label in second
    ]
