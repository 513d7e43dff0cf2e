"""Validation of options and files with msgspec, and the error messages for it.

Types state what is allowed: `Annotated[int, Meta(ge=1, le=4096)]`, `Literal["base", "all"]`. Anything else raises a TetrarchiaError
that names the entry, what is allowed and what was given. msgspec rather than pydantic because it imports in 0.04 s instead of 0.14 s,
which every command and every import of the environment would pay.
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
UNBOUNDED = 10**12  # an upper bound that only keeps a number finite; not shown in help texts
TYPE_NAMES = {int: "an integer", float: "a number", str: "a string", bool: "True or False", dict: "a table", NoneType: "null"}
_PATH = re.compile(r" - at (?:`key` in )?`\$([^`]*)`$")  # the end of msgspec's message, such as: - at `$.armies[0]`
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*?)`", re.DOTALL)


def describe(allowed: str) -> Meta:
    """Return an annotation with the text of what is allowed, for types that do not say it well themselves."""
    return Meta(extra={"allowed": allowed})


def label(kind: str) -> Meta:
    """Return an annotation for names from a fixed list: any other name is an "unknown KIND"."""
    return Meta(extra={"label": kind})


def validate(data: object, kind: type[T], source: str) -> T:
    """Return data converted to a type.

    Args:
        data: Plain data, as read from JSON, TOML or YAML.
        kind: The type: a Struct, dataclass, or anything else that msgspec converts to.
        source: What the data is; the error message begins with it.

    Raises:
        TetrarchiaError: The data does not fit; the message names the first wrong entry.
    """
    try:
        return msgspec.convert(data, kind)
    except ValidationError as error:
        if isinstance(error.__cause__, TetrarchiaError):  # raised by a __post_init__
            raise TetrarchiaError(f"{source} {error.__cause__}".strip()) from None
        raise TetrarchiaError(_message(str(error), data, kind, source)) from None
    except UnicodeError:
        raise TetrarchiaError(f"{source} a string contains a lone surrogate".strip()) from None
    except RecursionError:
        raise TetrarchiaError(f"{source} it is nested too deeply".strip()) from None


def validate_fields(instance: Any, source: str = "") -> None:
    """Validate and convert the fields of a frozen dataclass; call it in `__post_init__`.

    Raises:
        TetrarchiaError: A field does not fit its type.
    """
    cls: Any = type(instance)
    valid = validate(vars(instance), _as_struct(cls), source)
    vars(instance).update(msgspec.structs.asdict(valid))


@cache
def _as_struct(cls: Any) -> type[Struct]:
    types = field_types(cls)
    return msgspec.defstruct(cls.__name__, [(field.name, types[field.name]) for field in fields(cls)])


def truncate_repr(value: object, max_chars: int = 200) -> str:
    """Return the repr of a value in one line of bounded length."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer with more digits than Python converts
        text = f"a {type(value).__name__} too large to show"
    text = " ".join(text.split())
    return text if len(text) <= max_chars else f"{text[: max_chars - 30]}... ({len(text)} characters)"


def sanitize_line(text: str, max_chars: int = 600) -> str:
    """Return a text as one line of bounded length, without control characters for the terminal."""
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in " ".join(text.split())[: max_chars + 1])
    return line if len(line) <= max_chars else f"{line[:max_chars]}..."


def field_types(cls: type) -> dict[str, Any]:
    """Return the type of each field, with its annotations."""
    return get_type_hints(cls, include_extras=True)


def base_type(kind: Any) -> Any:
    """Return a type without annotations; of a union, the member that has parts of its own."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    members = [base_type(member) for member in get_args(kind)] if get_origin(kind) in (Union, UnionType) else []
    return next((member for member in members if member not in TYPE_NAMES and get_origin(member) is not Literal), kind)


def extra_of(kind: Any) -> dict[str, str]:
    """Return the `extra` entries of a type's annotations."""
    return {name: value for meta in _metas(kind) for name, value in (meta.extra or {}).items()}


def limits_of(kind: Any) -> tuple[float, float] | None:
    """Return the bounds of a number, or None if it has none worth showing."""
    lower, upper = _bounds(kind)
    return None if lower is None or upper is None or upper >= UNBOUNDED else (lower, upper)


def _metas(kind: Any) -> list[Meta]:
    return [meta for meta in getattr(kind, "__metadata__", ()) if isinstance(meta, Meta)]


def _bounds(kind: Any) -> tuple[Any, Any]:
    lower = [meta.ge for meta in _metas(kind) if meta.ge is not None]
    upper = [meta.le for meta in _metas(kind) if meta.le is not None]
    return lower[0] if lower else None, upper[0] if upper else None


def _message(refusal: str, data: Any, kind: Any, source: str) -> str:
    """Return our message for one of msgspec's, such as: Expected `int` >= 0 - at `$.armies[0]`."""
    path, found = "", _PATH.search(refusal)
    try:
        for name, index in _STEP.findall(found[1].partition("[...]")[0] if found else ""):
            if name:
                kind, data, path = field_types(base_type(kind))[name], data[name], f"{path}.{name}"
            else:
                parts = get_args(base_type(kind))
                kind, data = parts[0 if len(parts) == 1 or parts[1] is ... else int(index)], list(data)[int(index)]
                path += f"[{index}]"
    except (KeyError, IndexError, TypeError):  # a name in the data that looks like a path
        return f"{source} {truncate_repr(refusal)}"
    entry = f"{source} {path.removeprefix('.')}".strip() if path else source.rstrip(":")
    if field := _FIELD.match(refusal):
        wrong = f"unknown entry {truncate_repr(field[2])}" if "unknown" in field[1] else f"{field[2]!r} is missing"
        return f"{entry}: {wrong}" if entry else wrong
    extra, value = extra_of(kind), _first_wrong(data, kind)
    if "label" in extra:
        names = [name for name in get_args(base_type(kind)) if name]
        return f"unknown {extra['label']} {truncate_repr(value)}{did_you_mean(value, names)}: choose from {', '.join(names)}"
    return f"{entry} must be {extra.get('allowed') or _allowed(kind, value)}; got {truncate_repr(value)}"


def _first_wrong(data: Any, kind: Any) -> object:
    """Return the first wrong entry of a table whose entries have one type: msgspec does not name it."""
    if get_origin(base_type(kind)) is dict and isinstance(data, dict):
        for name, value in data.items():
            try:
                msgspec.convert({name: value}, kind)
            except ValidationError:
                return {name: value}
    return data


def _allowed(kind: Any, value: object) -> str:
    """Return what a type allows, in words."""
    bare = base_type(kind)
    origin, parts = get_origin(bare), get_args(bare)
    if bare in (int, float):
        lower, upper = _bounds(kind)
        bounds = ""
        if lower is not None and upper is not None:
            bounds = f"from {lower:g} to {upper:g}" if upper >= UNBOUNDED else f"from {lower} to {upper}"
        if type(value) in (int, bare) and bounds:
            return bounds
        return f"{TYPE_NAMES[bare]} {bounds}" if limits_of(kind) else TYPE_NAMES[bare]
    if origin is Literal:
        names = ["null" if name is None else str(name) for name in parts]
        return " or ".join(names) if len(names) <= 2 else f"one of {', '.join(names)}"
    if origin in (Union, UnionType):
        return " or ".join(extra_of(part).get("allowed") or _allowed(part, value) for part in parts)
    if origin in (list, tuple):
        lengths = next(((meta.min_length, meta.max_length) for meta in _metas(kind) if meta.max_length), None)
        return "a list" if not lengths else f"a list of {'' if lengths[0] == lengths[1] else 'at most '}{lengths[1]}"
    return f"a table of {', '.join(bare.__struct_fields__)}" if hasattr(bare, "__struct_fields__") else TYPE_NAMES[origin or bare]
