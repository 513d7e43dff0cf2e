"""Options and files are checked by one library, msgspec; this turns its refusals into one sentence of ours.

A class says what it wants by its fields' types: `Annotated[int, Meta(ge=1, le=4096)]`, `Literal["base", "all"]`. Whatever does
not fit is a ValueError that names the entry, what is allowed and what was given. msgspec and not pydantic: it loads in 0.04 s
against 0.14 s, which every command and every import of the environment would wait for.
"""

import re
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, ValidationError

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import did_you_mean

T = TypeVar("T")
UNBOUNDED = 10**12  # a limit that is there to be finite, and not worth telling
PATH = re.compile(r" - at (?:`key` in )?`\$([^`]*)`$")  # where it was, as msgspec tells it: `$.armies[0]`
STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*?)`", re.DOTALL)
WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "True or False", dict: "a table of names", NoneType: "null"}


def describe(words: str) -> Meta:
    """What is allowed, where the type alone would not say it well."""
    return Meta(extra={"allowed": words})


def label(word: str) -> Meta:
    """What a name is the name of: any other is an `unknown WORD`."""
    return Meta(extra={"noun": word})


def checked(data: object, kind: type[T], where: str) -> T:
    """The data as this type; ValueError in one sentence, which begins with where they come from."""
    try:
        return msgspec.convert(data, kind)
    except ValidationError as error:
        if isinstance(error.__cause__, TetrarchiaError):  # raised by a __post_init__
            raise TetrarchiaError(f"{where} {error.__cause__}".strip()) from None
        raise TetrarchiaError(_sentence(str(error), data, kind, where)) from None
    except (UnicodeError, RecursionError) as error:
        raise TetrarchiaError(f"{where} {_unreadable(error)}".strip()) from None


def check_fields(instance: Any, where: str = "") -> None:
    """Check a frozen dataclass in its `__post_init__`: each field as its type says; a list becomes a tuple, 1 becomes 1.0."""
    cls: Any = type(instance)
    kind = _struct_of(cls)
    try:
        fitting = msgspec.convert(vars(instance), kind)
    except ValidationError as error:
        raise TetrarchiaError(_sentence(str(error), vars(instance), kind, where)) from None
    except (UnicodeError, RecursionError) as error:
        raise TetrarchiaError(f"{where} {_unreadable(error)}".strip()) from None
    vars(instance).update(msgspec.structs.asdict(fitting))


def truncate_repr(value: object, most: int = 200) -> str:
    """A value as it is told in a sentence, however large it is."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # deeply nested, or a number of more digits than Python writes
        text = f"a {type(value).__name__} too large to be told"
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 30]}... ({len(text)} letters)"


def sanitize_line(text: str, most: int = 600) -> str:
    """What is said of a file, with whatever stands in it: in one line, with nothing that a terminal would obey."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(text.split())[: most + 1])
    return shown if len(shown) <= most else f"{shown[:most]}..."


def kinds_of(cls: type) -> dict[str, Any]:
    """The type of each field, with all that is annotated."""
    return get_type_hints(cls, include_extras=True)


def metas_of(kind: Any) -> list[Meta]:
    """What is annotated: limits, a description, words of our own."""
    return [meta for meta in getattr(kind, "__metadata__", ()) if isinstance(meta, Meta)]


def extra_of(kind: Any) -> dict[str, str]:
    """The words of our own."""
    return {name: words for meta in metas_of(kind) for name, words in (meta.extra or {}).items()}


def description_of(kind: Any) -> str:
    """What a field means."""
    return next((meta.description for meta in metas_of(kind) if meta.description), "")


def limits_of(kind: Any) -> tuple[float, float] | None:
    """The least and the most of a number, if they are worth telling."""
    least, most = _limits(kind)
    return None if least is None or most is None or most >= UNBOUNDED else (least, most)


def plain(kind: Any) -> Any:
    """The type without what is annotated; of a union, the part that has parts itself."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    parts = [plain(part) for part in get_args(kind)] if get_origin(kind) in (Union, UnionType) else []
    return next((part for part in parts if part not in WORDS and get_origin(part) is not Literal), kind)


@cache
def _struct_of(cls: Any) -> type[Struct]:
    """The same fields as something that msgspec checks in one go."""
    kinds = kinds_of(cls)
    return msgspec.defstruct(cls.__name__, [(one.name, kinds[one.name]) for one in fields(cls)])


def _sentence(refusal: str, data: Any, kind: Any, where: str) -> str:
    """What was wrong, from msgspec's words, such as: Expected `int` >= 0 - at `$.armies[0]`."""
    found, names = PATH.search(refusal), [where]
    try:
        for name, index in STEP.findall(found[1].partition("[...]")[0] if found else ""):
            kind, data = _part(kind, name, index), data[name] if name else list(data)[int(index)]
            names += [name] if name else []
    except (KeyError, IndexError, TypeError):  # a name in the data that looks like a path
        return f"{where} {truncate_repr(refusal)}"
    return _missing_or_unknown(refusal, _entry(names)) or _not_allowed(data, kind, _entry(names))


def _unreadable(error: Exception) -> str:
    return "a text holds half of a letter (a lone surrogate)" if isinstance(error, UnicodeError) else "it is nested too deeply"


def _missing_or_unknown(refusal: str, entry: str) -> str:
    found = FIELD.match(refusal)
    if found is None:
        return ""
    wrong = f"unknown entry {truncate_repr(found[2])}" if "unknown" in found[1] else f"{found[2]!r} is missing"
    return f"{entry}: {wrong}" if entry else wrong


def _not_allowed(data: Any, kind: Any, entry: str) -> str:
    extra, value = extra_of(kind), _first_wrong(data, kind)
    if "noun" in extra:
        names = [name for name in get_args(plain(kind)) if name]
        return f"unknown {extra['noun']} {truncate_repr(value)}{did_you_mean(value, names)}: choose from {', '.join(names)}"
    return f"{entry} is {extra.get('allowed') or _allowed(kind, value)}, not {truncate_repr(value)}"


def _entry(names: list[str]) -> str:
    """`training option num_envs`, `snapshot: emperors, galerius`."""
    return f"{names[0]} {', '.join(names[1:])}".strip() if names[1:] else names[0].rstrip(":")


def _part(kind: Any, name: str, index: str) -> Any:
    """The type of a field of a Struct, or of an entry of a list."""
    if name:
        return kinds_of(plain(kind))[name]
    parts = get_args(plain(kind))
    return parts[0] if len(parts) == 1 or parts[1] is ... else parts[int(index)]


def _first_wrong(data: Any, kind: Any) -> object:
    """Of a table whose entries are all of one type, the one that does not fit: msgspec does not name it."""
    if get_origin(plain(kind)) is dict and isinstance(data, dict):
        for name, value in data.items():
            try:
                msgspec.convert({name: value}, kind)
            except ValidationError:
                return {name: value}
    return data


def _allowed(kind: Any, value: object) -> str:
    """What a type allows, in words."""
    bare, parts = plain(kind), get_args(plain(kind))
    if bare in (int, float):
        return _allowed_number(kind, value)
    if get_origin(bare) is Literal:
        names = ["null" if name is None else str(name) for name in parts]
        return " or ".join(names) if len(names) <= 2 else f"one of {', '.join(names)}"
    if get_origin(bare) in (Union, UnionType):
        return " or ".join(extra_of(part).get("allowed") or _allowed(part, value) for part in parts)
    if get_origin(bare) in (list, tuple):
        return next((f"a list of at most {meta.max_length}" for meta in metas_of(kind) if meta.max_length), "a list")
    return f"a table of {', '.join(bare.__struct_fields__)}" if hasattr(bare, "__struct_fields__") else WORDS[get_origin(bare) or bare]


def _allowed_number(kind: Any, value: object) -> str:
    """Of what is a number already, only the limits."""
    least, most = _limits(kind)
    if least is not None and most is not None and type(value) in (int, plain(kind)):
        return f"from {least:g} to {most:g}" if most >= UNBOUNDED else f"from {least} to {most}"
    return WORDS[plain(kind)] + (" from {} to {}".format(*limits) if (limits := limits_of(kind)) else "")


def _limits(kind: Any) -> tuple[Any, Any]:
    least = [meta.ge for meta in metas_of(kind) if meta.ge is not None]
    most = [meta.le for meta in metas_of(kind) if meta.le is not None]
    return least[0] if least else None, most[0] if most else None
