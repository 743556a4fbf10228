"""Make commands from declared options: Click parses, the declarations check and describe.

A parameter of a command has a class of options (`probative.options`), whose fields become options;
or its default declares one, made by `choice` or `argument`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

import click
from click.core import ParameterSource

from probative.cli.output import remark
from probative.errors import ONE_POINT, InputError
from probative.options import (
    DATASETS,
    GATES,
    HEADINGS,
    INPUT,
    OUTPUT,
    STATISTICS,
    Option,
    Options,
    ReadingOptions,
    check_together,
    choice,
    options_class,
    shared,
)

if TYPE_CHECKING:
    from probative.results import GateVerdict

# --- Words on the command line

# numbers on the command line: no underscores, no digits of other scripts, no "nan"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_POINTS = re.compile(rf"(?P<number>{_NUMBER.pattern})\s*(pts?|points?|pp|%)", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)  # at most 64 bits


def number(text: str | float) -> float:
    """Read a finite number from the command line."""
    value = float(text) if _NUMBER.fullmatch(str(text)) else math.nan
    if not math.isfinite(value):
        raise click.BadParameter(f"{_shorten(text)} is not a number")
    return value


def points(text: str | float) -> float:
    """Read a difference of scores: a fraction of 1, or points (``1pt``; ``1%`` is one, too)."""
    words = _POINTS.fullmatch(str(text).strip())
    # keep the digits that were written: 0.7 / 100 is not 0.007
    return number(text) if words is None else float(f"{number(words['number']) / 100:.15g}")


def small_difference(text: str) -> float:
    """Read a difference; refuse a bare 1, which would mean a hundred points."""
    value = points(text)
    if abs(value) >= 1 and _POINTS.fullmatch(text.strip()) is None:
        raise click.BadParameter(
            f"{text!r} is not below 1; expected a fraction of 1: {ONE_POINT}, as are 1pt and 1%"
        )
    return value


def integer(text: str | int, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number from the command line; refuse it outside of the bounds."""
    limit = "" if least is None else f" >= {least}"
    value = int(text) if _INTEGER.fullmatch(str(text)) else None
    if value is None and re.fullmatch(r"[+]?\d{19,}", str(text), re.ASCII):
        raise click.BadParameter(f"{_shorten(text)} is too large")
    if value is None or (least is not None and value < least):
        raise click.BadParameter(f"{_shorten(text)} is not a whole number{limit}")
    if most is not None and value > most:
        raise click.BadParameter(f"{value} is too large; expected at most {most}")
    return value


whole = partial(integer, least=0)
seed = partial(integer, least=0, most=2**32 - 1)  # what all generators of random numbers accept
steps = partial(integer, least=1, most=10_000)  # from 0 to 1; each is a row of a table
decimals = partial(integer, least=0, most=15)  # to print


def _workers(text: str | int) -> int:
    """Read a number of processes, or -1 for one per core."""
    value = integer(text)
    if value == 0 or value < -1:
        raise click.BadParameter(f"{value} is not a number of fits at once; expected 1, 2, … or -1")
    return value


def whole_list(text: str, *, what: str = "whole number >= 1") -> tuple[int, ...]:
    """Read whole numbers >= 1, separated by commas."""
    words = word_list(text)
    for word in words:
        if not _INTEGER.fullmatch(word) or int(word) < 1:
            raise click.BadParameter(f"{_shorten(word)} is not a {what}")
    return tuple(int(word) for word in words)


column_numbers = partial(whole_list, what="column number")  # from 1


def number_list(text: str) -> tuple[float, ...]:
    """Read numbers separated by commas."""
    return tuple(number(word.strip()) for word in text.split(","))


def _shorten(text: object) -> str:
    shown = str(text)
    return repr(shown if len(shown) <= 40 else f"{shown[:40]}…")


def column(text: str | int) -> int | str:
    """Read a column: its number or its name."""
    return int(text) if _INTEGER.fullmatch(str(text)) else str(text)


def word_list(text: str) -> tuple[str, ...]:
    """Read words separated by commas, without repeats and empty ones."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def name_list(text: str) -> tuple[str, ...]:
    """Read names separated by commas; refuse an empty one."""
    names = tuple(word.strip() for word in text.split(","))
    if "" in names:
        raise click.BadParameter(f"{_shorten(text)} has an empty name; expected a name each")
    return names


def label_map(text: str) -> tuple[tuple[str, str], ...]:
    """Read other names for labels: OLD=NEW, separated by commas."""
    pairs = [word.strip().partition("=") for word in text.split(",")]
    if not all(old.strip() and new.strip() for old, _, new in pairs):
        expected = "OLD=NEW (records with keys that are data: --open-map)"
        raise click.BadParameter(f"{_shorten(text)} is no list of {expected}")
    return tuple((old.strip(), new.strip()) for old, _, new in pairs)


def separator(text: str) -> str | bool:
    r"""Read the separator of labels (``\t`` for a TAB), or one of the words lists and none."""
    if text in ("none", "lists"):
        return text == "lists"
    if not text:
        raise click.BadParameter("'' separates nothing; expected a text such as ','")
    return text.replace("\\t", "\t")


def averaged_labels(text: str) -> str | tuple[str, ...]:
    """Read the labels of macro averages: their names, or the word union."""
    names = word_list(text)
    return names[0] if names == ("union",) else names


def fold_weight(text: str) -> str | float | tuple[float, float]:
    """Read a weight of folds: a name, a number, or two correlations separated by a comma."""
    try:
        values = number_list(text)
    except click.BadParameter:
        return text
    return values[0] if len(values) == 1 else values  # type: ignore[return-value]  # how many: the library checks


# --- Commands


@dataclass(frozen=True)
class Argument:
    """Words that belong to no option."""

    metavar: str
    help: str | None = None
    several: bool = False
    required: bool = True


argument: Any = Argument  # as the default of a parameter, whose type is that of the words


def choose(*names: str, **own: Option) -> dict[str, Option]:
    """Return options by name: those of the command, or shared ones."""
    known = ReadingOptions.options() | STATISTICS | own
    return {name: known[name] for name in names}


def words_of(given: Options, *, of: type[Options]) -> list[str]:
    """Return the command-line words for these choices, as far as another command has them."""
    changed, words = given.changed() & of.options().keys(), []
    for name, option in given.options().items():
        if name in changed:
            value = getattr(given, name)
            words.append((option.flags or (_flag(name),))[0])
            if value is not True:
                several = isinstance(value, (tuple, list))
                words.append(",".join(map(str, value)) if several else str(value))
    return words


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def as_command(command: str, function: Callable[..., Any], first: str = "") -> click.Command:
    """Make a command from a function; its help are a first sentence and its docstring."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[click.Parameter] = []
    groups: dict[str, tuple[type[Options], dict[str, Option]]] = {}
    declared: dict[str, Option] = {}
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        name, spec = parameter.name, parameter.default
        if isinstance(spec, Argument):
            parameters.append(_argument(name, spec))
            arguments += [(spec.metavar, spec.help)] if spec.help else []
        elif isinstance(spec, Field):
            declared[name] = spec.metadata["option"]
            parameters.append(_option(name, spec.default, declared[name]))
        else:
            kind, *chosen = get_args(hints[name]) or [hints[name]]
            group = chosen[0] if chosen else kind.options()
            # the seed of a job takes the place of that of its output, which has no effect
            taken = {flag for option in declared.values() for flag in option.flags}
            group = {key: own for key, own in group.items() if _flag(key) not in taken}
            groups[name] = (kind, group)
            declared |= group
            usual = {entry.name: entry.default for entry in fields(kind)}
            parameters += [_option(key, usual[key], option) for key, option in group.items()]

    def call(**given: Any) -> Any:
        for name, (kind, group) in groups.items():  # the options of each class become one object
            given[name] = kind(**{key: given.pop(key) for key in group})
        return function(**given)

    how = {"callback": call, "params": parameters, "help": f"{first}\n\n{inspect.getdoc(function)}"}
    return _Command(command, arguments=arguments, declared=declared, **how)


class _Command(click.Command):
    """Command that checks options and paths before it runs, and whose help has headings."""

    def __init__(
        self,
        *words: Any,
        arguments: list[tuple[str, str]],
        declared: dict[str, Option],
        **options: Any,
    ):
        super().__init__(*words, **options)
        self.arguments, self.declared = arguments, declared

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # replace NAME=FILE by NAME FILE FILE … for options that take several words
        several = {
            flag: parameter.nargs
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.nargs > 1
            for flag in parameter.opts
        }
        words = list(args)
        for place in reversed(range(len(words) - 1)):
            more = several.get(words[place], 0)
            name, equals, file = words[place + 1].partition("=")
            alone = place + 2 == len(words) or words[place + 2].startswith("-")
            if more and equals and alone:
                words[place + 1 : place + 2] = [name, *[file] * (more - 1)]
        return super().parse_args(ctx, words)

    def invoke(self, ctx: click.Context) -> Any:
        from probative.cli.inputs import check_paths

        given = {
            str(parameter.name): parameter.default
            for parameter in self.params
            if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        }
        changed = {name for name, usual in given.items() if ctx.params[name] != usual}
        check_paths(self.params, ctx.params)
        try:
            check_together(self.declared, ctx.params, changed, given)
            return super().invoke(ctx)
        except InputError as error:
            raise _by_flag(error, self.params) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        parameters = super().get_params(ctx)
        number = sum(isinstance(one, click.Option) for one in parameters)
        more = [_help_on_everything()] if number > _MOST_OPTIONS_IN_HELP else []
        return [*parameters, *more]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(self.arguments)
        parameters = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        hide = parameters[-1].name == "help_all" and not ctx.meta.get(_EVERYTHING)
        listed: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        hidden = 0
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            option = self.declared.get(str(parameter.name))  # None: --help
            if hide and option is not None and option.rare:
                hidden += 1
            elif record is not None:
                listed[OUTPUT if option is None else option.heading].append(record)
        for heading, records in listed.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        if hidden:
            formatter.write_paragraph()
            formatter.write_text(f"{hidden} more options: {ctx.command_path} --help-all")


# `--help` shows at most so many options; the rarer ones are left to `--help-all`.
_MOST_OPTIONS_IN_HELP = 25
_EVERYTHING = "probative.help-all"


def _help_on_everything() -> click.Option:
    """Return the option that shows the help with all options."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            ctx.meta[_EVERYTHING] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help-all", "help_all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )


# a keyword and its value; quoted text is matched to be left as it is
_KEYWORD = re.compile(
    r"(?<!\w)(?:(?P<name>[a-z]\w*)=(?P<quote>'?)(?P<value>[\w-]*|(?<=')[,;|])(?P=quote)|'[^']*'|\"[^\"]*\")"
)


# advice in brackets, such as (align_by='position' accepts others)
_ADVICE = re.compile(r" \((?P<name>[a-z_]+)=[^()]*\)")


# words on the command line for the truth values of an option that takes a text
_WORDS = {"True": "lists", "False": "none"}


def _by_flag(error: InputError, parameters: list[click.Parameter]) -> InputError:
    """Return the error with the flags of options instead of keywords of the library."""
    options = [p for p in parameters if isinstance(p, click.Option)]
    flags = {p.name: max(p.opts, key=len) for p in options} | {"files": "FILE"}
    switches = {p.name for p in options if p.is_flag}
    opposites = {p.name: p.secondary_opts[0] for p in options if p.secondary_opts}

    def flag(match: re.Match[str]) -> str:
        if match["name"] not in flags:
            return match[0]
        flag, value = flags[match["name"]], match["value"]
        if match["name"] not in switches and value in _WORDS:
            value = _WORDS[value]
        if value == "False":
            return opposites[match["name"]]
        if value and not re.search(r"\w", value):
            value = f"'{value}'"  # quotes make a single sign visible
        return f"{flag} {'' if value == 'True' else value}".rstrip()

    keywords, colon, rest = error.message.partition(":")
    names = keywords.split(", ")
    head = ""
    if error.path is None and colon and all(name in flags for name in names):
        head = ", ".join(flags[name] for name in names) + ":"
    else:
        rest = error.message
    for advice in _ADVICE.finditer(rest):  # useless if the command has no such option
        if advice["name"] not in flags and hasattr(ReadingOptions, advice["name"]):
            rest = rest.replace(advice[0], "")
    message = head + _KEYWORD.sub(flag, rest)
    if message.endswith(ONE_POINT):
        message += ", as are 1pt and 1%"  # the command line accepts these, too
    return InputError(message, error.path, error.line)


def named_by_flags(error: InputError) -> InputError:
    """Return the error with the flags of the command that runs."""
    return _by_flag(error, click.get_current_context().command.params)


def _argument(name: str, spec: Argument) -> click.Argument:
    return click.Argument(
        [name],
        type=str,
        metavar=spec.metavar,
        nargs=-1 if spec.several else 1,
        required=spec.required,
        callback=(lambda *given: list(given[-1] or ())) if spec.several else None,
        shell_complete=_completer(spec),
    )


def _option(name: str, default: Any, spec: Option) -> click.Option:
    flags = list(spec.flags) or [_flag(name)]
    if default is True and not spec.flags:
        flags = [f"{flags[0]}/--no-{flags[0][2:]}"]
    if spec.switch or isinstance(default, bool):
        usual = None if spec.switch else default
        return click.Option([*flags, name], is_flag=True, default=usual, help=spec.help)
    # Click treats a default of None as a given value
    given = {"required": True} if spec.required else {"default": default}
    parser = globals()[spec.parser] if isinstance(spec.parser, str) else spec.parser
    return click.Option(
        [*flags, name],
        # defaults are no text
        type=str if parser is None else lambda v: parser(v) if isinstance(v, str) else v,
        metavar=spec.metavar,
        nargs=spec.words,
        multiple=spec.several or spec.words > 1,
        show_default=not spec.required and default not in (None, ()),
        callback=_as_tuple if spec.several else None,
        help=spec.help,
        shell_complete=_completer(spec),
        **given,
    )


def _completer(spec: Option | Argument) -> Callable[..., Any]:
    def offer(_: click.Context, __: click.Parameter, begun: str) -> list[Any]:
        from probative.cli.completion import offers  # needed only when a shell asks

        return list(offers(spec, begun))

    return offer


def _as_tuple(_context: Any, parameter: click.Parameter, values: Any) -> tuple[Any, ...] | None:
    """Join repeated values, also if each is a list of words itself."""
    joined: list[Any] = []
    for value in values or ():
        joined += (v for v in value if v not in joined) if isinstance(value, tuple) else [value]
    return tuple(joined) or cast("tuple[Any, ...] | None", parameter.default)


# --- Parameters that commands share

NAMES = shared("A,B: The names of the systems.", heading=INPUT, excludes=("runs",))
RUNS = shared(
    "NAME=FILES: The runs of a system: a pattern such as A='a/*.conll', a folder or a file; "
    "may be repeated.",
    heading=INPUT,
    several=True,
    excludes=DATASETS,
)
COUNTS_FILES = shared(
    "The files hold tp, fp, fn [, tn], one row per unit; columns model and run distinguish "
    "systems and runs.",
    heading=INPUT,
    rare=True,
    excludes=(*DATASETS, "probabilities"),
)
JOBS = shared("N: How many models train at once; -1: one per core.", rare=True, parser=_workers)
PROCESSES = shared("N: Processes at once; -1 for all cores.", rare=True, parser=_workers)
RESUME = shared("DIR: A folder for what is done; a run that was stopped continues there.")
JUDGE = shared("FILE: The opinion of a judge on all units of the pool.")


# --- Gates, of `compare` and `estimate`

_MOST_GROUPS_PRINTED = 10  # verdicts of groups that are printed; of more, only failed ones
_KINDS = ("fail_if_worse", "require_not_worse", "require_better")
_gate = partial(choice, heading=GATES)


@options_class
class GateOptions(Options):
    """Options of a gate."""

    fail_if_worse: bool = _gate("Exit 1 if P(B - A < -margin) >= confidence.", False, rare=True)
    require_not_worse: bool = _gate(
        "Exit 1 unless P(B - A > -margin) >= confidence and the one-sided interval agrees.",
        False,
        excludes=_KINDS[:1],
    )
    require_better: bool = _gate(
        "Exit 1 unless P(B - A > margin) >= confidence and the one-sided test (with a margin: "
        "interval) agrees.",
        False,
        excludes=_KINDS[:2],
    )
    margin: float | None = _gate(
        "D: The margin of the gate: 0.01, 1pt or 1% is one point; by default 0.", needs=_KINDS
    )
    confidence: float | None = _gate(
        "P: The confidence of the gate; by default 0.95.", needs=_KINDS
    )

    def requested(self) -> dict[str, Any] | None:
        """Return the requested gate and its options, checked before any computation."""
        kind = next((name.replace("_", "-") for name in _KINDS if getattr(self, name)), None)
        if kind is None:
            return None
        from probative.jobs.gate import check_gate, check_ledger_options

        given = {name: getattr(self, name) for name in self.changed() if name not in _KINDS}
        check_gate(kind, **{n: given[n] for n in ("margin", "confidence") if n in given})
        check_ledger_options(kind, given.get("ledger"), given.get("candidates", "adaptive"))
        return {"kind": kind, **given}


@options_class
class LedgerOptions(GateOptions):
    """Options of a gate whose uses of a test set may be counted."""

    ledger: Path | None = _gate(
        "FILE: Write each use of this test set by a gate into a file, and share the doubt out "
        "among them: the confidence then holds for all of them together.",
        rare=True,
        parser=Path,
        excludes=("counts", "probabilities", *DATASETS),
        needs=_KINDS,
    )
    candidates: str | None = _gate(
        "HOW: With --ledger: adaptive, if a candidate may depend on the verdicts before it; "
        "independent, if it depends on nothing that was seen of this test set. By default "
        "adaptive.",
        rare=True,
        needs=("ledger",),
    )
    hide_scores: bool = _gate(
        "Show the verdict of the gate, and nothing else.",
        False,
        rare=True,
        excludes=("probabilities", *DATASETS),
        needs=_KINDS,
    )


def judge(result: Any, gate: Mapping[str, Any] | None) -> Sequence[GateVerdict]:
    """Return the verdicts of the requested gate, if any."""
    if gate is None:
        return ()
    from probative.jobs.gate import gate as find_verdicts

    return find_verdicts(result, **gate)


def tell_verdicts(verdicts: Sequence[GateVerdict]) -> int:
    """Print the verdicts and what they used of a test set; return the exit status."""
    in_groups = [v for v in verdicts if v.group is not None]
    listed = [v for v in in_groups if not v.passed][:_MOST_GROUPS_PRINTED]
    if len(in_groups) <= _MOST_GROUPS_PRINTED:
        listed = in_groups
    for verdict in (*(v for v in verdicts if v.group is None), *listed):
        remark(f"--{verdict}")
        if verdict.use is not None and not verdict.hidden:  # otherwise the document shows it
            remark(f"--ledger: {verdict.use}")
    if len(listed) < len(in_groups):
        passed = sum(v.passed for v in in_groups)
        remark(f"--{in_groups[0].kind} PASSED in {passed:,} of {len(in_groups):,} groups")
    for note in dict.fromkeys(v.use.note for v in verdicts if v.use is not None and v.use.note):
        remark(note)
    return 0 if all(verdict.passed for verdict in verdicts) else 1
