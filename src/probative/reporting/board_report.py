"""Build the document and the site of a board of submissions."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from math import isnan
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from probative.reporting.compare_report import EXAMPLE_WORDS, shown_examples
from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Strong,
    Table,
    Words,
    estimate_in_full,
    estimated,
    payload,
    scored,
)
from probative.reporting.rank_report import chance, leaderboard_table, rank_document, rank_set
from probative.reporting.render import as_csv, as_html, as_json
from probative.reporting.score_report import label_table
from probative.wording.numbers import counted, equals, metric_name, metric_words, points, pvalue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markupsafe import Markup

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


# payload of a board without any scored system
_NOTHING: dict[str, Any] = {"systems": [], "ranking": [], "pairs": [], "summary": ""}


def board_document(board: Board) -> Document:
    """Build the document of a board: the leaderboard, and the refused submissions."""
    ranked = Document("", {}, (), ()) if board.ranking is None else rank_document(board.ranking)
    tables = _other_tables(board)
    if board.ranking is not None:
        table = leaderboard_table(board.ranking)
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
    content = dict(_NOTHING)
    if board.ranking is not None:
        content = board.ranking.to_dict()
        del content["level"]
    front = {"title": board.title, "date": board.date}
    told: dict[str, Any] = {key: words for key, words in front.items() if words is not None}
    return payload("board", board.signature, **told, submissions=board.records(), **content)


def _other_tables(board: Board) -> list[Table]:
    """Build the tables of submissions that were not scored, and of remarks on descriptions."""
    refused = [one for one in board.submissions if one.status == "refused"]
    remarks = [(one.name, words) for one in board.submissions for words in one.remarks or ()]
    name, reason = itemgetter(0), itemgetter(1)
    return [
        Table.of(entries, *columns, title=title)
        for title, entries, columns in (
            ("Not scored", refused, [Words("submission", "name"), Words("reason", "error")]),
            ("Remarks", remarks, [Words("submission", name), Words("remark", reason)]),
        )
        if entries
    ]


# --- Pages and files of the site

if TYPE_CHECKING:
    Pair = tuple[str, str]


_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_DOWNLOADS = (
    ("board.json", "everything"),
    ("leaderboard.csv", "the leaderboard"),
    ("scores.csv", "all scores of every system and label"),
    ("pairs.csv", "all pairs"),
    ("submissions.csv", "the submissions, with the reasons why some were not scored"),
)


def board_pages(
    board: Board, pairs: Sequence[Pair], examples: Mapping[Pair, Sequence[Example | LabelExample]]
) -> dict[str, str]:
    """Return the files of the site, content by path."""
    # `pairs` that have a page are named lower system first; `examples` are sentences on which they
    # differ, if these may be shown
    # the site must not depend on what was cached when it was built
    steady = replace(
        board,
        submissions=tuple(
            replace(one, status="scored") if one.status == "reused" else one
            for one in board.submissions
        ),
    )
    site = _Site(steady, {} if board.ranking is None else _addresses(board.ranking), set(pairs))
    files = {"index.html": site.index(), **site.downloads()}
    if board.ranking is None:
        return files
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
    address: Mapping[str, str]
    pairs: set[Pair]

    @property
    def ranking(self) -> Ranking:
        if self.board.ranking is None:
            raise ValueError("no system, no page")
        return self.board.ranking

    def pair_address(self, pair: Pair) -> str:
        parts = [_plain_part(name) for name in pair]
        return f"{parts[1]}.{parts[0]}.{_short_digest(chr(0).join(pair))}"

    def index(self) -> str:
        """Render the page of the leaderboard."""
        about = _safe_html(self.board.about or "")
        more = {"site": self.board, "about": about, "files": _DOWNLOADS}
        others = _other_tables(self.board)
        if self.board.ranking is None:
            why = "No submission could be scored" if others else "No submissions yet"
            title = self.board.title or "Leaderboard"
            return self._page(title, Answer(why, "open"), others, **more)
        pages = {pair: f"pairs/{self.pair_address(pair)}.html" for pair in sorted(self.pairs)}
        document = rank_document(self.board.ranking, pages=pages)
        shown = document.content()
        names = [own.name for own in self.board.ranking.ranking]
        links = tuple(f"systems/{self.address[name]}.html" for name in names)
        content = {
            **shown,
            **more,
            "board": replace(shown["board"], links=links),
            "described_by": [self._submission(name) for name in names],
            "others": others,
        }
        title = self.board.title or document.title
        made = replace(document, title=title, page="leaderboard.html", content=lambda: content)
        return as_html(made)

    def _submission(self, name: str) -> Submission:
        found = (one for one in self.board.submissions if one.status != "refused")
        return next(one for one in found if one.name == name)

    def downloads(self) -> dict[str, str]:
        """Return the files to download, content by name."""
        ranking = self.board.ranking
        systems, pairs, scored = (
            () if ranking is None else getattr(ranking, name)
            for name in ("ranking", "pairs", "systems")
        )
        return {
            "board.json": as_json(Document("", _board_payload(self.board), (), ())),
            "leaderboard.csv": _csv(own.to_dict() for own in systems),
            "scores.csv": _csv(record for system in scored for record in system.records()),
            "pairs.csv": _csv(own.to_dict() for own in pairs),
            "submissions.csv": _csv(self.board.records()),
        }

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
            lead = Answer(f"Rank {rank_set(own)} of {len(ranking.ranking)}", state, said)
        return self._page(own.name, lead, tables, way=self._way(), one=self._submission(own.name))

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
                turned: dict[str, Any] = {
                    "difference": -pair.difference,
                    "low": -pair.high,
                    "high": -pair.low,
                }
                pair = replace(pair, a=other, b=name, **turned)
            found.append(pair)

        def decision(pair: RankedPair) -> str:
            if not pair.decided:
                return "not distinguished"
            return "better" if pair.difference > 0 else "worse"

        return Table.of(
            found,
            Words("other system", "a"),
            Column("difference", lambda one: estimated(one.difference, one.low, one.high)),
            Column("p adjusted", "p_adjusted", pvalue),
            Words(f"{name} is", decision),
            title=f"Against the others, {metric_words(ranking.metric)} in points",
            notes=(_interval_words(ranking),),
            track="difference",
            links=tuple(links),
        )

    def pair(self, names: Pair, examples: Sequence[Example | LabelExample]) -> str:
        """Render the page of two systems."""
        ranking = self.ranking
        pair = ranking.pair(*names)
        difference = Table.of(
            [pair],
            Words("difference", lambda pair: f"{pair.b} − {pair.a}"),
            Column("points", lambda pair: estimated(pair.difference, pair.low, pair.high, 2)),
            Column("P(better)", "p_b_better", chance),
            Column("p", "pvalue", pvalue),
            Column("p adjusted", "p_adjusted", pvalue),
            Column("decided", lambda pair: "yes" if pair.decided else "no"),
            title=f"Difference, {metric_words(ranking.metric)} in points",
            notes=(_interval_words(ranking),),
            track="difference",
        )
        below, above = ranking[pair.a], ranking[pair.b]
        second = {score.metric: score for score in below.scores}
        scores = [
            (metric_words(score.metric), score, second[score.metric])
            for score in above.scores
            if score.metric in second
        ]
        tables = [difference, _both("metric", scores, (above.name, below.name), "Scores in points")]
        tables += _labels_of_both(above, below, ranking.metric)
        words, state = "Not established", "open"
        if pair.identical or pair.decided:
            same = ("Identical outputs", "equal")
            words, state = same if pair.identical else (f"{pair.b} better", "better")
        return self._page(
            f"{pair.b} and {pair.a}",
            Answer(words, state, (_pair_words(pair, ranking),)),
            tables,
            way=self._way(*names[::-1]),
            examples=shown_examples(examples),
            example_words=EXAMPLE_WORDS["labels" if ranking.task == "labels" else "spans"],
        )

    def _page(self, title: str, lead: Answer, tables: Sequence[Table], **more: Any) -> str:
        content = {"way": (), "files": (), "examples": (), **more}
        document = Document(
            title,
            payload("board", self.board.signature),
            tuple(tables),
            (),
            page="board.html",
            content=lambda: content,
            headline=(lead,),
        )
        return as_html(document)


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
    ranks = (
        f"rank {own.rank_low}"
        if own.rank_low == own.rank_high
        else f"between rank {own.rank_low} and rank {own.rank_high}"
    )
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
    right, returned = f"{counts.tp:,.0f} right", f"{counts.predicted:,.0f} returned"
    tally = f"{right}, {returned}, {counts.positives:,.0f} in gold."
    return Table.of(
        scores.scores,
        Words("metric", name),
        Column("score", scored),
        Words("note", when=any(score.note for score in scores.scores)),
        title=f"Scores in points with {100 * ranking.level:g} % intervals",
        notes=(tally,),
        bold_note="The board ranks by the score in bold.",
        track="estimate",
    )


def _interval_words(ranking: Ranking) -> str:
    pairs = counted(len(ranking.pairs), "pair")
    return (
        f"{100 * ranking.level:g} % intervals that hold for all {pairs} at once; p is adjusted for "
        f"their number ({ranking.adjustment.capitalize()})."
    )


def _pair_words(pair: RankedPair, ranking: Ranking) -> str:
    if pair.identical:
        return f"{pair.b} and {pair.a} have the same counts on every {ranking.by}."
    if pair.decided:
        return (
            f"{pair.b} is better than {pair.a}: it scores {points(pair.difference)} points higher "
            f"here (adjusted p = {pvalue(pair.p_adjusted)})."
        )
    if isnan(pair.p_adjusted):
        return f"{pair.b} and {pair.a} cannot be compared: the score of one is undefined."
    return (
        f"{pair.b} and {pair.a} are not distinguished (difference {points(pair.difference)} "
        f"points, adjusted p = {pvalue(pair.p_adjusted)})."
    )


def _both(
    head: str, scores: Sequence[tuple[str, Interval, Interval]], names: Pair, title: str
) -> Table:
    """Build a table of names with the scores of two systems side by side."""
    level = f" [{100 * scores[0][1].level:g} %]" if scores else ""
    of_both = (
        Column(f"{name}{level}", itemgetter(i), estimate_in_full) for i, name in enumerate(names, 1)
    )
    return Table.of(scores, Words(head, itemgetter(0)), *of_both, title=title)


def _labels_of_both(above: SystemScores, below: SystemScores, metric: str) -> list[Table]:
    """Build a table of two systems side by side for every label that both have."""
    second = {own.label: own.scores for own in below.by_label}
    wanted = metric.removeprefix("macro_")
    scores = [
        (own.label, _of(own.scores, wanted), _of(second[own.label], wanted))
        for own in above.by_label
        if own.label in second
    ]
    if not scores:
        return []
    title = f"By label, {metric_words(_of(above.by_label[0].scores, wanted).metric)} in points"
    return [_both("label", scores, (above.name, below.name), title)]


def _of(scores: Sequence[Interval], metric: str) -> Interval:
    """Return the score in this metric, or the last one if there is none."""
    return next((score for score in scores if score.metric == metric), scores[-1])
