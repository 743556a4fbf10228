"""Make a command from the signature of a function.

A parameter is ``Annotated[type, Option(...)]`` or ``Annotated[type, Argument(...)]``; its default
is that of the option. Click parses the command line.
"""

from __future__ import annotations

import inspect
import os
import re
import stat
import sys
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, cast, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

from probative.cli.completion import completer
from probative.errors import ONE_POINT, InputError
from probative.files import find_paths
from probative.options import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Set


# --- Options that need another option

# options that mean nothing without one of these are refused, not ignored
_NEEDS: dict[str, tuple[str, ...]] = {"plot": ("figure",), "comparisons": ("html",)}
_MORE: dict[str, dict[str, tuple[str, ...]]] = {
    "study bayes": {"task": ("figure",)},
    "study chunking": {"label": ("ner",), "features": ("ner",)},
    "study segmentation": {"curve": ("sizes", "step")},
}
_NEEDS_FLAGS = {"label": "--only"}  # if it is not the parameter's name


def check_needs(command: str, given: Set[str], values: Mapping[str, Any]) -> None:
    """Refuse options on the command line that would have no effect."""
    needs = _NEEDS | _MORE.get(" ".join(command.split()[-2:]), {})
    for name, others in needs.items():
        if name in given and not any(values.get(other) for other in others):
            wanted = " or ".join(map(_flag_of_need, others))
            raise InputError(
                f"{_flag_of_need(name)}: means nothing without {wanted}; expected both"
            )
    curves = bool(values.get("probabilities"))  # their best threshold depends on beta
    if "beta" in given and not curves and "fbeta" not in str(values.get("metric")):
        raise InputError("--beta: means nothing without --metric fbeta; expected both")
    for name in ("html", "figure"):
        if name in given and values.get("form") == "conlleval":
            raise InputError(f"{_flag_of_need(name)}: cannot be combined with --format conlleval")


def _flag_of_need(name: str) -> str:
    return _NEEDS_FLAGS.get(name, "--" + name.replace("_", "-"))


# --- Inputs and outputs, checked before any work

FILES = ("html", "figure", "to")  # options that name a file to be written
FOLDERS = ("output", "resume", "cache")  # options that name a folder to write to
_ENDINGS = {"html": (".html", ".htm"), "figure": (".png", ".svg", ".pdf")}
_PATHS_FLAGS = {"to": "--output"}  # if it is not the parameter's name


def check_paths(parameters: Sequence[Any], values: Mapping[str, Any]) -> None:
    """Refuse to write over an input, another output or something that is no file."""
    inputs = list(_inputs(parameters, values))
    _check_standard_input(inputs)
    folders = {name: Path(values[name]) for name in FOLDERS if values.get(name)}
    read = {_identity(path): f"the input {path}" for path in inputs} | _streams(inputs)
    read.pop(None, None)
    for name, folder in folders.items():
        _check_folder(name, folder, inputs)
    kept = [*folders.values(), *(Path(path) for path in inputs if Path(path).is_dir())]
    taken: dict[str, str] = {}
    for name in FILES:
        if values.get(name):
            target = _check_file(name, Path(values[name]), read, kept)
            other = taken.setdefault(os.path.normcase(target), name)
            if other != name:
                raise InputError(
                    f"cannot be both {_flag_of_path(other)} and {_flag_of_path(name)}; "
                    f"expected two files",
                    values[name],
                )


def _check_file(name: str, path: Path, read: Mapping[Any, str], kept: Sequence[Path]) -> Path:
    """Check one file that is to be written; return its real path."""
    from probative.files import check_target

    if name == "figure":
        from probative.reporting.figures import figure_format

        figure_format(path)
    folder_will_be_made = (
        any(_same(path.parent, folder) for folder in kept) and not path.parent.exists()
    )
    target = Path(os.path.realpath(path)) if folder_will_be_made else check_target(path)
    _protect(name, path, target, read)
    inside = next((f for f in kept if Path(os.path.realpath(f)) in target.parents), None)
    endings = _ENDINGS.get(name)  # an option without endings never writes over a file
    if inside is not None and endings is not None and target.suffix.lower() not in endings:
        raise InputError(
            f"--{name} could write over a file of {inside}; expected a name ending in "
            f"{' or '.join(endings)}",
            path,
        )
    return target


def protect_code(**outputs: Path | None) -> None:
    """Refuse to write over the source of a loaded module, such as a user's model."""
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    read = {_identity(file): f"the source of {name}" for name, file in files.items() if file}
    read.pop(None, None)
    for name, path in outputs.items():
        if path is not None:
            _protect(name, path, path, read)


def _protect(name: str, path: Path, target: Path, read: Mapping[Any, str]) -> None:
    what = read.get(_identity(target))
    if what is not None:
        # the message starts with the path already
        what = "an input" if what == f"the input {path}" else what
        raise InputError(f"is {what}; expected another file for {_flag_of_path(name)}", path)


def _check_folder(name: str, folder: Path, inputs: Sequence[str]) -> None:
    from probative.files import check_folder

    check_folder(folder)
    for path in inputs:
        if path != "-" and _same(Path(path).parent, folder):
            raise InputError(
                f"--{name} holds the input {path}; expected a folder without inputs", folder
            )


def _check_standard_input(inputs: Sequence[str]) -> None:
    if "-" not in inputs:
        return
    if sys.stdin is None:
        raise InputError("-: standard input is closed; expected something to read")
    if inputs.count("-") > 1:
        raise InputError("-: standard input can be read only once; expected one - at most")


def _inputs(parameters: Sequence[Any], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that the command reads: its arguments, and options that name a file."""
    for parameter in parameters:
        value = values.get(parameter.name)
        if not value or parameter.name in (*FILES, *FOLDERS):
            continue
        kind = "FILE" if parameter.param_type_name == "argument" else parameter.metavar
        given = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
        if kind == "NAME GOLD A B":
            given, kind = [word for _, *words in value for word in words], "FILE"
        if kind == "NAME=FILES":
            given, kind = [word.partition("=")[2] for word in given], "GLOB"
            given += [str(Path(folder) / "*") for folder in given if Path(folder).is_dir()]
        if kind == "GLOB":
            given = [path for pattern in given for path in find_paths(pattern)]
        if kind in ("FILE", "GLOB") or parameter.name == "folds":
            yield from given
            yield from (word.partition("=")[2] for word in given if "=" in word)  # NAME=FILE


def _streams(inputs: Sequence[str]) -> dict[Any, str]:
    """Return the files behind the standard streams, which the shell may have opened by name."""
    names = ("read as standard input", "where standard output goes", "where errors go")
    return {
        _identity(number): name
        for number, name in enumerate(names)
        if number or "-" in inputs  # standard input that is not read may be any file
    }


def _identity(file: Path | str | int) -> tuple[int, int] | None:
    """Return device and inode of a regular file, or None; equal for all names of a file."""
    try:
        status = os.stat(file)  # noqa: PTH116  # also the number of an open file
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _flag_of_path(name: str) -> str:
    return _PATHS_FLAGS.get(name, f"--{name}")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


# --- Declarations of parameters, and commands made from them


@dataclass(frozen=True, init=False)
class Option:
    """Option: its flags (by default the parameter's name), its parser and its description.

    With `several` it may be repeated, and its values become a tuple. `required` is for options of a
    group, which have a default there. A `switch` has two flags, and is None if neither is given.
    With `words` it takes that many words each time, or NAME=FILE, and may be repeated.
    """

    flags: tuple[str, ...]
    metavar: str | None
    help: str | None
    parser: Callable[[str], Any] | None
    several: bool
    required: bool
    switch: bool
    words: int

    def __init__(
        self,
        *flags: str,
        metavar: str | None = None,
        help: str | None = None,  # noqa: A002  # what Click calls it
        parser: Callable[[str], Any] | None = None,
        several: bool = False,
        required: bool = False,
        switch: bool = False,
        words: int = 1,
    ):
        values = (flags, metavar, help, parser, several, required, switch, words)
        for entry, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, entry.name, value)

    def in_words(self, text: str) -> Option:
        """Return the option with another description."""
        how = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return Option(*how.pop("flags"), **how | {"help": text})


@dataclass(frozen=True)
class Argument:
    """Words that belong to no option."""

    metavar: str
    help: str | None = None


@dataclass(frozen=True)
class Group:
    """Options that become one object of the class that declares them and their defaults.

    `headings` are the headings of options in the help, if not the first one.
    """

    options: Mapping[str, Option]
    headings: Mapping[str, str] = field(default_factory=dict)

    def defaults(self, declared: type[Any]) -> dict[str, Any]:
        """Return the default of every option."""
        known = {entry.name: entry.default for entry in fields(declared)}
        return {name: known[name] for name in self.options}


def words_of(group: Group, given: Any, *, of: type[Any]) -> list[str]:
    """Return the command-line words for these choices; defaults need none.

    Choices that `of`, the options class of the other command, does not have are left out.
    """
    usual, shared = type(given)(), {entry.name for entry in fields(of)}
    words = []
    for name, option in group.options.items():
        value, flag = getattr(given, name), (option.flags or (f"--{name.replace('_', '-')}",))[0]
        if name not in shared or value == getattr(usual, name):
            continue
        if value is True:
            words.append(flag)
        else:
            several = isinstance(value, (tuple, list))
            words += [flag, ",".join(map(str, value)) if several else str(value)]
    return words


class _Parsed(click.ParamType[Any]):
    """Parameter type that is read by a function; values that are no text stay as they are."""

    name = "value"

    def __init__(self, parser: Callable[[str], Any]):
        self.parser = parser

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parser(value)
        except click.BadParameter as error:
            error.param, error.ctx = error.param or param, error.ctx or ctx
            raise


def as_command(name: str, function: Callable[..., Any]) -> click.Command:
    """Make a command from a function with annotated parameters."""
    hints = get_type_hints(function, include_extras=True)
    parameters: list[click.Parameter] = []
    groups: dict[str, tuple[type[Any], Group]] = {}
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        kind, spec = get_args(hints[parameter.name])
        if isinstance(spec, Group):
            groups[parameter.name] = (kind, spec)
            parameters += [
                _option(key, _kind(default, spec.options[key]), default, spec.options[key])
                for key, default in spec.defaults(kind).items()
            ]
        elif isinstance(spec, Argument):
            parameters.append(_argument(parameter, kind, spec))
            arguments += [(spec.metavar, spec.help)] if spec.help else []
        else:
            parameters.append(_option(parameter.name, kind, parameter.default, spec))
    return _Command(
        name,
        callback=_gather_groups(function, groups),
        params=parameters,
        help=inspect.getdoc(function),
        arguments=arguments,
        headings={k: v for _, group in groups.values() for k, v in group.headings.items()},
    )


def _gather_groups(
    function: Callable[..., Any], groups: dict[str, tuple[type[Any], Group]]
) -> Callable[..., Any]:
    """Wrap a function so that the options of each group become one object."""

    def call(**given: Any) -> Any:
        for name, (declared, group) in groups.items():
            given[name] = declared(**{key: given.pop(key) for key in group.options})
        return function(**given)

    return call


def _kind(default: Any, spec: Option) -> Any:
    if isinstance(default, bool):
        return bool
    return list[str] if spec.several else str


class _Command(click.Command):
    """Command that checks options and paths before it runs, and whose help has headings."""

    def __init__(
        self,
        *words: Any,
        arguments: list[tuple[str, str]],
        headings: dict[str, str],
        **options: Any,
    ):
        super().__init__(*words, **options)
        self.arguments, self.headings = arguments, headings

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._with_tables(args))

    def _with_tables(self, args: list[str]) -> list[str]:
        """Replace NAME=FILE by NAME FILE FILE … for options that take several words."""
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
        return words

    def invoke(self, ctx: click.Context) -> Any:
        given = {
            parameter.name
            for parameter in self.params
            if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        }
        check_needs(ctx.command_path, given, ctx.params)
        check_paths(self.params, ctx.params)
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise _by_flag(error, self.params) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        parameters = super().get_params(ctx)
        if not self._has_rare(parameters):
            return parameters
        *others, usual = parameters  # Click puts --help last
        return [*others, usual, _help_on_everything()]

    def _has_rare(self, parameters: list[click.Parameter]) -> bool:
        return sum(isinstance(one, click.Option) for one in parameters) > _MOST_OPTIONS_IN_HELP

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(self.arguments)
        parameters = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        hide = self._has_rare(super().get_params(ctx)) and not ctx.meta.get(_EVERYTHING)
        listed: dict[str, list[tuple[str, str]]] = {heading: [] for heading in _HEADINGS}
        hidden = 0
        for parameter in parameters:
            name = str(parameter.name)
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if hide and name in _RARE:
                hidden += 1
                continue
            own = {"--help", "--help-all"} & set(parameter.opts)
            listed["Output" if own else _heading(name, self.headings)].append(record)
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
_RARE = frozenset(
    [
        "adjust",
        "align_by",
        "all_pairs",
        "baseline",
        "beta",
        "buckets",
        "cache",
        "candidates",
        "challenger",
        "comments",
        "compact",
        "counts",
        "dataset",
        "datasets",
        "digits",
        "encoding",
        "fail_if_worse",
        "gold",
        "header",
        "hide_scores",
        "ignore_case",
        "ignore_type",
        "input_format",
        "jobs",
        "keep",
        "label_names",
        "labels",
        "ledger",
        "mapping",
        "match",
        "memory_limit",
        "multilabel",
        "on_missing",
        "only",
        "overlap",
        "paired_runs",
        "prior",
        "probabilities",
        "probability_columns",
        "repair",
        "rng",
        "run_column",
        "scheme",
        "score_name",
        "second_gold",
        "show_gold",
        "table",
        "tag_column",
        "threshold",
        "train",
        "train_words",
    ]
)
_HEADINGS: dict[str, tuple[str, ...]] = {
    "Input": (
        *("names", "runs", "gold", "baseline", "challenger", "counts", "dataset", "datasets"),
        *("second_gold", "probabilities", "counts_file", "folds", "preds_a", "preds_b", "train"),
    ),
    "What to compute": (),
    "Gates": (
        *("fail_if_worse", "require_not_worse", "require_better", "margin", "confidence"),
        *("ledger", "candidates", "hide_scores"),
    ),
    "Output": ("by_label", "buckets", "digits", "compact", "to", "output", "plot"),
}


def _heading(name: str, declared: Mapping[str, str]) -> str:
    """Return the heading of the help under which an option is listed."""
    for heading, names in _HEADINGS.items():
        if name in names:
            return heading
    found = declared.get(name, "What to compute")
    return "Input" if found == "Reading files" else found


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
_READING = frozenset(choice.name for choice in fields(ReadingOptions))


# words on the command line for the truth values of an option that takes a text
_WORDS = {"True": "lists", "False": "none"}


def _by_flag(error: InputError, parameters: list[click.Parameter]) -> InputError:
    """Return the error with the flags of options instead of keywords of the library."""
    options = [p for p in parameters if isinstance(p, click.Option)]
    flags = {p.name: max(p.opts, key=len) for p in options}
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
        if advice["name"] in _READING and advice["name"] not in flags:
            rest = rest.replace(advice[0], "")
    message = head + _KEYWORD.sub(flag, rest)
    if message.endswith(ONE_POINT):
        message += ", as are 1pt and 1%"  # the command line accepts these, too
    return InputError(message, error.path, error.line)


def named_by_flags(error: InputError) -> InputError:
    """Return the error with the flags of the command that runs."""
    return _by_flag(error, click.get_current_context().command.params)


def _argument(parameter: inspect.Parameter, kind: Any, spec: Argument) -> click.Argument:
    several = _of_several(kind)
    required = parameter.default is inspect.Parameter.empty
    return click.Argument(
        [parameter.name],
        type=str,
        metavar=spec.metavar,
        nargs=-1 if several else 1,
        required=required,
        callback=_as_list if several else None,
        shell_complete=completer(None, spec.metavar),
    )


def _option(name: str, kind: Any, default: Any, spec: Option) -> click.Option:
    missing = default is inspect.Parameter.empty or spec.required
    # Click treats a default of None as a given value
    given = {"required": True} if missing else {"default": default}
    flags = list(spec.flags) or [f"--{name.replace('_', '-')}"]
    if spec.switch:
        return click.Option([*flags, name], is_flag=True, default=None, help=spec.help)
    if kind is bool:
        if default is True and not spec.flags:
            flags = [f"{flags[0]}/--no-{flags[0][2:]}"]
        return click.Option([*flags, name], is_flag=True, help=spec.help, **given)
    if spec.words > 1:
        return click.Option(
            [*flags, name],
            type=str,
            metavar=spec.metavar,
            nargs=spec.words,
            multiple=True,
            help=spec.help,
            shell_complete=completer(None, "FILE"),
        )
    several = spec.several or _of_several(kind)
    return click.Option(
        [*flags, name],
        type=_type(kind, spec),
        metavar=spec.metavar,
        multiple=several,
        show_default=not missing and default not in (None, ()),
        callback=_as_tuple if several else None,
        help=spec.help,
        shell_complete=completer(max(flags, key=len), spec.metavar),
        **given,
    )


def _as_list(_context: Any, _parameter: click.Parameter, values: Any) -> list[Any]:
    return list(values or ())


def _as_tuple(_context: Any, parameter: click.Parameter, values: Any) -> tuple[Any, ...] | None:
    """Join repeated values, also if each is a list of words itself."""
    joined: list[Any] = []
    for value in values or ():
        joined += (v for v in value if v not in joined) if isinstance(value, tuple) else [value]
    return tuple(joined) or cast("tuple[Any, ...] | None", parameter.default)


def _type(kind: Any, spec: Option) -> click.ParamType[Any] | type:
    if spec.parser is not None:
        return _Parsed(spec.parser)
    if Path in (kind, *get_args(kind)):
        return _Parsed(Path)
    return str


def _of_several(kind: Any) -> bool:
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return any(get_origin(one) is list for one in kinds)
