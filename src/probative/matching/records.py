"""Match JSON records with gold, field by field.

A field is a path and a scalar value: ``vendor.name``, ``items[].qty``. The items are the gold
fields, right or not, and the distinct wrong values of a document, with documents as units and paths
as labels. Null, blank text, empty lists and empty objects mean "not there". Lists of scalars are
multisets; the rows of a list of objects are aligned so that as many fields as possible are equal,
which maximises F1, as the numbers of fields do not depend on the alignment.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative.errors import InputError
from probative.labels import factorise_each
from probative.matching.items import Items
from probative.matching.record_rules import (
    EXACT,
    Path,
    Paths,
    Rule,
    clean,
    close_pairs,
    edit_distance,
    key_of_text,
    parse_rules,
    quoted,
)
from probative.metrics import f1
from probative.options import ReadingOptions
from probative.results import FieldCounts, NearMiss, PathSummary, RecordOutcomes

if TYPE_CHECKING:
    from probative.matching.record_rules import Keys
    from probative.reading.annotations import Records

_RIGHT, _OTHER_VALUE, _MISSING, _INVENTED, _OTHER_TYPE = 1, 2, 3, 4, 5
_KINDS = ("", "right", "other value", "missing", "invented", "other type")

# --- Trees: a record without what is not there

_LEAF, _OBJECT, _LIST = 0, 1, 2


class _Node:
    """A value of a record: a leaf, an object or a list."""

    # `code`: shared by equal values of one document; `parts`: nodes of an object by key, or of a
    # list; `index`: place in the list; `place`: number of a gold leaf in its document

    __slots__ = ("code", "index", "key", "kind", "parts", "path", "place", "value")

    def __init__(self, path: Path, kind: int, code: int, parts: Any, key: Any, value: Any):
        self.path, self.kind, self.code, self.parts = path, kind, code, parts
        self.key, self.value, self.index, self.place = key, value, 0, -1

    def leaves(self, found: list[_Node]) -> list[_Node]:
        """Append the leaves to a list, in order, and return it."""
        if self.kind == _LEAF:
            found.append(self)
        else:
            for part in self.parts.values() if self.kind == _OBJECT else self.parts:
                part.leaves(found)
        return found


class _Trees:
    """Make the trees of the records of one document, which share the codes of equal values."""

    def __init__(self, rules: ReadingOptions | None):
        self.rules = rules or ReadingOptions()
        self.paths = Paths(self.rules)
        self._root, self._keep = self.paths.root, self.rules.keep_empty
        self._empty = frozenset(map(clean, ("", *self.rules.empty)))
        self._codes: dict[Any, int] = {}

    def next_document(self) -> None:
        """Forget the values of the document before."""
        self._codes = {}

    def tree(self, record: dict[str, Any] | None) -> _Node:
        """Return the tree of a record, an object without parts if nothing is there."""
        node = self._node(record, self._root) if record else None
        return node or _Node(self._root, _OBJECT, -1, {}, None, None)

    def _node(self, value: Any, path: Path) -> _Node | None:
        form = type(value)
        if form is str:
            text = clean(value)
            if text in self._empty and not self._keep:
                return None
            key = text if path.rule is EXACT else key_of_text(text, path.rule)
            if path.rule.date is not None and type(key) is not tuple:
                path.unparsed += 1
        elif form is dict:
            return self._object(value, path)
        elif form is list:
            return self._list(value, path)
        elif form is bool:
            key = ("bool", value)  # for Python, True equals 1
        elif value is None and not self._keep:
            return None
        else:
            key = value
        codes = self._codes
        return _Node(path, _LEAF, codes.setdefault(key, len(codes)), None, key, value)

    def _object(self, value: dict[str, Any], path: Path) -> _Node | None:
        parts: dict[str, _Node] = {}
        for key, each in value.items():
            below = path.child(key)
            if not below.rule.ignore:
                node = self._node(each, below)
                if node is not None:
                    parts[key] = node
        if not parts:
            return self._nothing("{}", value, path)
        content = frozenset([(key, node.code) for key, node in parts.items()])
        code = self._codes.setdefault(content, len(self._codes))
        return _Node(path, _OBJECT, code, parts, None, None)

    def _list(self, value: list[Any], path: Path) -> _Node | None:
        parts: list[_Node] = []
        element = path.element
        seen: set[int] = set()
        for index, each in enumerate(() if element.rule.ignore else value):
            node = self._node(each, element)
            if node is not None and not (path.unique and node.code in seen):
                node.index = index
                parts.append(node)
                seen.add(node.code)
        if not parts:
            return self._nothing("[]", value, path)
        content: list[Any] = [(node.index, node.code) for node in parts]
        if not path.ordered:
            content = sorted([node.code for node in parts])
        code = self._codes.setdefault(("list", *content), len(self._codes))
        return _Node(path, _LIST, code, parts, None, None)

    def _nothing(self, sign: str, value: Any, path: Path) -> _Node | None:
        """Return the leaf of an empty object or list; None if that is not a value."""
        if value or not self._keep:
            return None
        code = self._codes.setdefault((sign,), len(self._codes))
        return _Node(path, _LEAF, code, None, (sign,), value)


# --- Similarity of rows: the weight of the leaves that would be equal

_MOST_CELLS = 2_000 * 2_000  # of a matrix of rows: 32 MB, a second of assignment
_TIE = 1e-9  # what a place of distance costs, among equally similar rows

if TYPE_CHECKING:
    Matrix = NDArray[np.float64]
    Columns = dict[tuple[Any, ...], tuple[list[int], list[_Node]]]


def _columns(rows: Sequence[_Node]) -> tuple[Columns, Columns]:
    """Return leaves and unordered lists by their address in a row, each with its rows."""
    leaves: Columns = {}
    lists: Columns = {}

    def add(node: _Node, address: tuple[Any, ...], row: int) -> None:
        if node.kind == _OBJECT:
            for key, part in node.parts.items():
                add(part, (*address, key), row)
        elif node.kind == _LIST and node.path.ordered:
            for part in node.parts:
                add(part, (*address, part.index), row)
        else:
            column = leaves if node.kind == _LEAF else lists
            places, nodes = column.setdefault(address, ([], []))
            places.append(row)
            nodes.append(node)

    for row, node in enumerate(rows):
        add(node, (), row)
    return leaves, lists


def _similarity(gold: Sequence[_Node], said: Sequence[_Node]) -> Matrix:
    """Return the weight of equal leaves of every pair of rows, nested lists at their best."""
    matrix = np.zeros((len(gold), len(said)))
    (leaves, lists), (other_leaves, other_lists) = _columns(gold), _columns(said)
    for address, (rows, nodes) in leaves.items():
        others, theirs = other_leaves.get(address, ([], []))
        if others:
            codes, other_codes = np.full(len(gold), -1), np.full(len(said), -2)
            codes[rows] = [node.code for node in nodes]
            other_codes[others] = [node.code for node in theirs]
            equal = codes[:, None] == other_codes
            rule = nodes[0].path.rule
            if not rule.is_exact:
                for i, j in close_pairs(rule, [n.key for n in nodes], [n.key for n in theirs]):
                    equal[rows[i], others[j]] = True
            matrix += equal if rule.weight == 1 else rule.weight * equal
    for address, (rows, nodes) in lists.items():
        others, theirs = other_lists.get(address, ([], []))
        if others:
            matrix[np.ix_(rows, others)] += _similarity_of_lists(nodes, theirs)
    return matrix


def _similarity_of_lists(gold: Sequence[_Node], said: Sequence[_Node]) -> Matrix:
    """Return the weight of equal leaves of every pair of lists, each aligned at its best."""
    matrix = np.zeros((len(gold), len(said)))
    rule = gold[0].path.element.rule
    if rule.is_exact:
        holders, others = _holders(gold), _holders(said)
        for value in holders.keys() & others.keys():
            matrix[np.ix_(holders[value], others[value])] += rule.weight
    for kind in (_OBJECT, _LIST) if rule.is_exact else (_LEAF, _OBJECT, _LIST):
        rows, elements, begin = _elements(gold, kind)
        columns, other_elements, other_begin = _elements(said, kind)
        if rows and columns:
            keys = gold[0].path.list_key if kind == _OBJECT else ()
            best = _best_of_blocks(keys, elements, begin, other_elements, other_begin)
            matrix[np.ix_(rows, columns)] += best
    return matrix


def _holders(lists: Sequence[_Node]) -> dict[tuple[int, int], list[int]]:
    """Return the lists that hold the k-th of a scalar value, by value and k."""
    holders: dict[tuple[int, int], list[int]] = {}
    for row, node in enumerate(lists):
        number: dict[int, int] = {}
        for part in node.parts:
            if part.kind == _LEAF:
                k = number[part.code] = number.get(part.code, 0) + 1
                holders.setdefault((part.code, k), []).append(row)
    return holders


def _elements(lists: Sequence[_Node], kind: int) -> tuple[list[int], list[_Node], list[int]]:
    """Return the lists with elements of a kind, these elements, where each list begins, the end."""
    parts = [[part for part in node.parts if part.kind == kind] for node in lists]
    begin = [0, *accumulate(len(own) for own in parts if own)]
    return [k for k, own in enumerate(parts) if own], [*chain.from_iterable(parts)], begin


def _best_of_blocks(
    keys: Keys, gold: list[_Node], begin: list[int], said: list[_Node], other_begin: list[int]
) -> Matrix:
    """Return the weight of the best alignment of every pair of lists that begin at these places."""
    best = np.zeros((len(begin) - 1, len(other_begin) - 1))
    first = 0
    while first < len(best):  # so many lists at a time as memory allows
        last = first + 1
        while last < len(best) and (begin[last + 1] - begin[first]) * len(said) <= _MOST_CELLS:
            last += 1
        start, stop = begin[first], begin[last]
        cells = _similarity(gold[start:stop], said)
        if keys:  # only rows with the same keys are paired
            rows = (*gold[start:stop], *said)
            codes, _ = factorise_each((_key_of_row(row, keys) for row in rows), len(rows))
            cells *= codes[: stop - start, None] == codes[stop - start :]
        own = np.array(begin[first : last + 1]) - start
        largest = np.maximum.reduceat(cells, own[:-1], axis=0)
        best[first:last] = np.maximum.reduceat(largest, other_begin[:-1], axis=1)
        for i, j in np.argwhere(best[first:last] > 0).tolist():
            block = cells[own[i] : own[i + 1], other_begin[j] : other_begin[j + 1]]
            if min(block.shape) > 1:
                best[first + i, j] = block[_assign(block)].sum()
        first = last
    return best


def _key_of_row(row: _Node, keys: Keys) -> tuple[int, ...]:
    """Return the codes of the values at these paths within a row; -1 if one is not there."""
    codes = []
    for key in keys:
        node: _Node | None = row
        for name in key:
            node = node.parts.get(name) if node is not None and node.kind == _OBJECT else None
        codes.append(-1 if node is None else node.code)
    return tuple(codes)


def _assign(matrix: Matrix) -> Any:
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(matrix, maximize=True)


# --- Matching two trees


class _Comparison:
    """Compare the tree of an output with that of gold."""

    def __init__(self, gold: _Node, said: _Node):
        # the outcome of a gold leaf, a returned leaf, or a pair of them
        self.found: list[tuple[int, _Node | None, _Node | None]] = []
        # unequal scalars of both sides: of a pair, or those of each list without an equal partner
        self.left: list[tuple[list[_Node], list[_Node]]] = []
        self._compare(gold, said)

    def _compare(self, gold: _Node, said: _Node) -> None:
        if gold.kind != said.kind:
            self._alone(gold, said, _OTHER_TYPE)
        elif gold.kind == _LEAF:
            rule = gold.path.rule
            equal = gold.code == said.code or any(close_pairs(rule, [gold.key], [said.key]))
            self.found.append((_RIGHT if equal else _OTHER_VALUE, gold, said))
            if not equal:
                self.left.append(([gold], [said]))
        elif gold.kind == _LIST and not gold.path.ordered:
            for kind in (_LEAF, _OBJECT, _LIST):
                self._align(gold, said, kind)
        else:
            by_index = gold.kind == _LIST
            parts = {p.index: p for p in gold.parts} if by_index else gold.parts
            others = {p.index: p for p in said.parts} if by_index else said.parts
            for key in parts | others:
                if key in parts and key in others:
                    self._compare(parts[key], others[key])
                else:
                    self._alone(parts.get(key), others.get(key))

    def _alone(self, gold: _Node | None, said: _Node | None, kind: int = 0) -> None:
        """Add what only gold has and what only the output has."""
        if gold is not None:
            self.found += [(kind or _MISSING, leaf, None) for leaf in gold.leaves([])]
        if said is not None:
            self.found += [(kind or _INVENTED, None, leaf) for leaf in said.leaves([])]

    def _align(self, gold: _Node, said: _Node, kind: int) -> None:
        """Pair the elements of a kind of two lists; equal ones first, in their order."""
        places: dict[int, list[_Node]] = {}
        for part in reversed(said.parts):
            if part.kind == kind:
                places.setdefault(part.code, []).append(part)
        rest: list[_Node] = []
        for part in gold.parts:
            if part.kind == kind and places.get(part.code):
                self._compare(part, places[part.code].pop())
            elif part.kind == kind:
                rest.append(part)
        others = [part for own in places.values() for part in own]
        others.sort(key=lambda part: part.index)
        pairs = self._pairs(gold.path, rest, others) if rest and others else []
        for i, j in pairs:
            self._compare(rest[i], others[j])
        paired, partners = {i for i, _ in pairs}, {j for _, j in pairs}
        rest = [part for i, part in enumerate(rest) if i not in paired]
        others = [part for j, part in enumerate(others) if j not in partners]
        for part in rest:
            self._alone(part, None)
        for part in others:
            self._alone(None, part)
        if kind == _LEAF and rest and others:
            self.left.append((rest, others))

    @staticmethod
    def _pairs(path: Path, gold: list[_Node], said: list[_Node]) -> list[tuple[int, int]]:
        """Return the places of elements to pair, of which none are equal as a whole."""
        if gold[0].kind == _LEAF and gold[0].path.rule.is_exact:
            return []
        if not path.list_key or gold[0].kind != _OBJECT:
            return _best_pairs(path, gold, said)
        groups: dict[Any, tuple[list[int], list[int]]] = {}
        for side, rows in enumerate((gold, said)):
            for i, row in enumerate(rows):
                groups.setdefault(_key_of_row(row, path.list_key), ([], []))[side].append(i)
        pairs: list[tuple[int, int]] = []
        for own, others in groups.values():
            if len(own) == len(others) == 1:
                pairs.append((own[0], others[0]))
            elif own and others:
                some = [gold[i] for i in own], [said[j] for j in others]
                found = _best_pairs(path, *some, always=True)
                pairs += [(own[i], others[j]) for i, j in found]
        return pairs


def _best_pairs(
    path: Path, gold: list[_Node], said: list[_Node], *, always: bool = False
) -> list[tuple[int, int]]:
    """Return the pairs of the best alignment; `always`: even without an equal leaf."""
    if len(gold) * len(said) > _MOST_CELLS:
        raise InputError(
            f"the list {path.text!r} has {len(gold):,} and {len(said):,} rows without an equal "
            f"one; expected at most 2,000 x 2,000, or list_key= (aligned by a key) or ordered= "
            f"(by position)"
        )
    matrix = _similarity(gold, said)
    if matrix.size == 1:
        return [(0, 0)] if always or matrix[0, 0] > 0 else []
    index = np.array([node.index for node in gold], dtype=np.float64)
    distance = np.abs(index[:, None] - np.array([node.index for node in said]))
    distance *= min(_TIE, 0.25 / (len(gold) * max(1.0, float(distance.max()))))  # below one leaf
    matrix -= distance * (matrix > 0)
    rows, columns = _assign(matrix)
    good = slice(None) if always else matrix[rows, columns] > 0.5
    return list(zip(rows[good].tolist(), columns[good].tolist(), strict=True))


# --- Near misses: wrong values that one more rule would accept

_DATE_LIKE = re.compile(
    r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}|\d{1,2}\.? [^\W\d]+\.?,? \d{2,4}|[^\W\d]+\.? \d{1,2},? \d{4}"
)
_USUAL_FORMATS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y"),
    *("%m/%d/%y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%d. %B %Y"),
)
_FORMS = ("casefold", "punctuation", "number", "number=1,234.5", "number=1.234,5", "number=1 234,5")
_DATE_FORMS = ("date", *(f"date={each}" for each in _USUAL_FORMATS))


def _key_under(node: _Node, rule: Rule) -> Any:
    return key_of_text(clean(node.value), rule) if type(node.value) is str else node.key


def _explain(gold: list[_Node], said: list[_Node]) -> Iterator[tuple[Path, str]]:
    """Yield path and rule of every pair of wrong values that one more rule makes equal."""
    path = gold[0].path
    if path.near is None:  # the rules that it does not have
        texts = (*_FORMS, *_DATE_FORMS)
        rules = [(text, path.rule._replace(**parse_rules(text))) for text in texts]
        path.near = tuple((text, rule) for text, rule in rules if rule != path.rule)
    dates = all(
        any(type(n.value) is str and _DATE_LIKE.search(n.value) for n in side)
        for side in (gold, said)
    )
    for text, rule in path.near:
        if text.startswith("date") and not dates:
            break  # dates come last
        places: dict[Any, list[_Node]] = {}
        for node in said:
            places.setdefault(_key_under(node, rule), []).append(node)
        rest = []
        for node in gold:
            equal = places.get(_key_under(node, rule))
            if equal:
                equal.pop()
                yield path, text
            else:
                rest.append(node)
        gold, said = rest, [node for own in places.values() for node in own]
        if not gold or not said:
            return


_LONGEST_COMPARED = 400  # characters


def why_unequal(gold: Any, said: Any) -> str:
    """Return why two values are not equal: their types, a rule that would accept them, how far."""
    form, other = (_TYPES.get(type(value), "empty") for value in (gold, said))
    if form != other:
        return f"{other}, not {form}"
    if form != "string":
        return f"differs by {said - gold:+.6g}" if form == "number" else ""
    texts = clean(gold), clean(said)
    dates = all(_DATE_LIKE.search(text) for text in texts)
    for form in (*_FORMS, *(_DATE_FORMS[1:] if dates else ()), *_DATE_FORMS[:dates]):
        rule = Rule(**parse_rules(form))
        if len({key_of_text(text, rule) for text in texts}) == 1:
            return f"equal under {form}"
    longer = max(map(len, texts))
    edits = edit_distance(*texts) if longer <= _LONGEST_COMPARED else longer
    return f"{edits} of {longer} characters differ" if 2 * edits < longer else ""


# --- Records of several systems


class _Field(NamedTuple):
    """Outcome of one field in one document."""

    path: str
    kind: str  # one of `_KINDS`
    gold_place: str | None  # such as ``items[2].qty``; None if it is not there
    said_place: str | None
    gold: Any
    said: Any


@dataclass(frozen=True, eq=False)
class MatchedRecords:
    """Records of systems, matched with gold."""

    items: Items  # gold fields and wrong ones; units are documents, labels are paths
    kinds: NDArray[np.int8]  # of every item in each system: an index of `_KINDS`, 0 if not its own
    in_list: NDArray[np.bool_]  # True for labels that may occur several times in a document
    wrong_values: tuple[int, ...]  # by system: those with a gold value that they could stand for
    # those that a path and another rule would accept
    explained: tuple[dict[tuple[str, str], int], ...]
    weights: NDArray[np.int64]  # of every label
    unparsed: dict[str, int]  # by path: texts that are no dates under the rule ``date``
    rules: ReadingOptions

    def fields(self, system: int = 0) -> list[FieldCounts]:
        """Count the outcomes of every path, those with most errors first."""
        items, kinds = self.items, self.kinds[system]
        size = len(items.labels)
        number = np.zeros((2, len(_KINDS), size), dtype=np.int64)
        np.add.at(number, (items.answer.astype(np.intp), kinds, items.label), 1)
        said, gold = number
        absent = items.n_units - self._documents_with(items.answer | (kinds > 0))
        columns = gold.sum(axis=0), *gold[[_RIGHT, _OTHER_VALUE, _MISSING]], said[_INVENTED]
        numbers = np.stack([*columns, gold[_OTHER_TYPE], said[_OTHER_TYPE]], axis=1).tolist()
        rows: Any = zip(items.labels, numbers, absent.tolist(), self.in_list.tolist(), strict=True)
        counts = [FieldCounts(path, *[*own, None if many else n]) for path, own, n, many in rows]
        counts.sort(key=lambda own: (-own.errors, own.path))
        return [own for own in counts if own.in_gold or own.errors]

    def _documents_with(self, wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the number of documents in which each path has one of these items."""
        size = len(self.items.labels)
        there = np.unique((self.items.unit * np.int64(size) + self.items.label)[wanted])
        return np.bincount(there % max(size, 1), minlength=size)

    def strict(self, system: int = 0) -> NDArray[np.bool_]:
        """Return True for every document in which the system has no error."""
        wrong = self.items.unit[self.kinds[system] > _RIGHT]
        return np.asarray(np.bincount(wrong, minlength=self.items.n_units) == 0)

    def near_misses(self, system: int = 0) -> list[NearMiss]:
        """Return the rules that would accept wrong values, those that accept most first."""
        counts = self.items.counts(system)
        tp, whole = float(counts.tp), float(counts.tp + counts.nu)
        weight = dict(zip(self.items.labels, self.weights.tolist(), strict=True))
        found = [
            NearMiss(path, rule, n, 2 * (tp + n * weight[path]) / whole)
            for (path, rule), n in self.explained[system].items()
            if path in weight
        ]
        return sorted(found, key=lambda miss: (-miss.number, miss.path, miss.rule))

    def never_in_gold(self, system: int = 0) -> list[str]:
        """Return paths that gold never has, but the system has in over half of the documents."""
        items = self.items
        often = self._documents_with(items.says[system]) * 2 > items.n_units
        return [items.labels[k] for k in np.flatnonzero(often & ~items.uses()).tolist()]

    def of_systems(self, systems: Sequence[int]) -> MatchedRecords:
        """Return some of the systems, by their numbers."""
        return replace(
            self,
            items=self.items.of_systems(systems),
            kinds=self.kinds[list(systems)],
            wrong_values=tuple(self.wrong_values[i] for i in systems),
            explained=tuple(self.explained[i] for i in systems),
        )

    def only(self, paths: Sequence[str]) -> MatchedRecords:
        """Return the fields of these paths alone."""
        kept = np.array([path in paths for path in self.items.labels], dtype=bool)
        return replace(
            self,
            items=self.items.only(paths),
            kinds=self.kinds[:, kept[self.items.label]],
            in_list=self.in_list[kept],
            weights=self.weights[kept],
        )

    def document_f1(self, system: int = 0) -> NDArray[np.float64]:
        """Return the F1 of every document; NaN if neither gold nor the system has a field."""
        return np.asarray(f1(self.items.counts(system, by="sentence")))

    def outcomes(self, records: Records, system: int = 0) -> RecordOutcomes:
        """Return what became of a system's outputs, given as they were read."""
        shares = self.document_f1(system)
        there = shares[~np.isnan(shares)]
        return RecordOutcomes(
            len(records),
            len(records.malformed),
            len(records.missing),
            len(records.repaired),
            int(np.count_nonzero(self.strict(system))),
            float(there.mean()) if len(there) else float("nan"),
            tuple(self.fields(system)),
            self.wrong_values[system],
            tuple(self.near_misses(system)),
            tuple(self.never_in_gold(system)),
            self.unparsed,
        )


def match_records(
    gold: Records,
    systems: Sequence[Records],
    rules: ReadingOptions | None = None,
    *,
    all_there: bool = True,
) -> MatchedRecords:
    """Match the records of systems with gold; all hold the same documents in the same order."""
    # `all_there`: these are all documents, so that a rule for a path that none has is an error
    trees = _Trees(rules)
    paths = trees.paths
    width = 3 + len(systems)
    table = array("i")  # a row per item: document, path, 1 for gold, and its kind in each system

    def add(document: int, path: Path, is_gold: int) -> int:
        """Add an item, and return its place."""
        table.extend((document, path.number, is_gold, *[0] * len(systems)))
        return len(table) // width - 1

    wrong_values = [0] * len(systems)
    explained: list[Counter[tuple[str, str]]] = [Counter() for _ in systems]
    for document, record in enumerate(gold.documents):
        trees.next_document()
        root = trees.tree(record)
        for leaf in root.leaves([]):
            leaf.place = add(document, leaf.path, 1)
        alarms: dict[Any, int] = {}
        for s, system in enumerate(systems):
            try:
                compared = _Comparison(root, trees.tree(system.documents[document]))
            except InputError as error:
                raise InputError(error.message, system.name, system.line_of(document)) from None
            again = Counter[Any]()
            for kind, right, said in compared.found:
                if right is not None:
                    table[right.place * width + 3 + s] = kind
                if said is not None and kind != _RIGHT:
                    again[said.path.number, said.key] += 1
                    key = (said.path.number, said.key, again[said.path.number, said.key])
                    if key not in alarms:
                        alarms[key] = add(document, said.path, 0)
                    table[alarms[key] * width + 3 + s] = kind
            for one, other in compared.left:
                wrong_values[s] += min(len(one), len(other))
                explained[s].update((path.text, text) for path, text in _explain(one, other))
    if all_there:
        paths.refuse_unknown()
    # what was found as arrays, with the labels in alphabetical order
    rows = np.array(table, dtype=np.int32).reshape(-1, width)
    if trees.rules.only_gold_paths:
        rows = rows[np.isin(rows[:, 1], rows[rows[:, 2] > 0, 1])]
    (units, number, answer), found = rows[:, :3].T, rows[:, 3:].T.astype(np.int8)
    in_gold = answer > 0
    used = sorted(np.unique(number).tolist(), key=lambda k: paths.all[k].text)
    code = np.zeros(len(paths.all), dtype=np.int32)
    code[used] = np.arange(len(used), dtype=np.int32)
    there = [paths.all[k] for k in used]
    weights = np.array([path.rule.weight for path in there], dtype=np.int64)
    label, labels = code[number], tuple(path.text for path in there)
    says = np.where(in_gold, found == _RIGHT, found > 0)
    documents = np.arange(len(gold.documents), dtype=np.int32)
    items = Items(units, label, labels, in_gold, says, len(documents), documents)
    if (weights != 1).any():
        items = replace(items, times=weights[label])
    return MatchedRecords(
        items,
        found,
        np.array([path.in_list for path in there], dtype=bool),
        tuple(wrong_values),
        tuple(dict(each) for each in explained),
        weights,
        {path.text: path.unparsed for path in paths.all if path.unparsed},
        trees.rules,
    )


def fields_of_document(
    gold: dict[str, Any] | None, said: dict[str, Any] | None, rules: ReadingOptions | None = None
) -> list[_Field]:
    """Return what became of every field of one document, gold fields in their order first."""
    trees = _Trees(rules)
    sides = trees.tree(gold), trees.tree(said)
    places, others = (dict(_places(side, "")) for side in sides)
    found = []
    for kind, g, p in _Comparison(*sides).found:
        path = (g or p).path.text  # type: ignore[union-attr]
        one, other = (
            (None, None) if own is None else (at[own], own.value)
            for own, at in ((g, places), (p, others))
        )
        found.append(_Field(path, _KINDS[kind], one[0], other[0], one[1], other[1]))
    order = {place: i for i, place in enumerate(places.values())}
    return sorted(found, key=lambda field: order.get(field.gold_place or "", len(order)))


def _places(node: _Node, above: str) -> Iterator[tuple[_Node, str]]:
    """Yield every leaf with its place in the record."""
    if node.kind == _LEAF:
        yield node, above
    elif node.kind == _OBJECT:
        for key, part in node.parts.items():
            yield from _places(part, f"{above}.{quoted(key)}" if above else quoted(key))
    else:
        for part in node.parts:
            yield from _places(part, f"{above}[{part.index}]")


_EXAMPLES = 3
_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}


def survey_paths(records: Records) -> list[PathSummary]:
    """Return the paths of records in alphabetical order: types, how often, examples."""
    trees = _Trees(None)
    types: dict[str, Counter[str]] = {}
    documents: Counter[str] = Counter()
    examples: dict[str, dict[Any, Any]] = {}
    for record in records.documents:
        trees.next_document()
        leaves = trees.tree(record).leaves([])
        documents.update({leaf.path.text for leaf in leaves})
        for leaf in leaves:
            form = _TYPES.get(type(leaf.value), "empty")
            types.setdefault(leaf.path.text, Counter())[form] += 1
            some = examples.setdefault(leaf.path.text, {})
            if len(some) < _EXAMPLES:
                some.setdefault(leaf.key, leaf.value)
    found = []
    for path, number in sorted(types.items()):
        forms, shown = tuple(dict(number.most_common())), tuple(examples[path].values())
        found.append(PathSummary(path, forms, documents[path], number.total(), shown))
    return found
