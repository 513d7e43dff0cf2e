"""Optional dependencies: import them on first use, and name the command that installs what is missing."""

import re
from importlib import import_module, metadata
from typing import Any

from tetrarchia_env.errors import TetrarchiaError

DISTRIBUTION = "tetrarchia"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<versions>[^;]*); extra == ['\"](?P<extra>[\w-]+)['\"]")


def import_optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module that one of the package's extras provides.

    Args:
        module: The module's name.
        extra: The extra that installs it.
        purpose: What needs it, the subject of the error message.

    Returns:
        The module.

    Raises:
        TetrarchiaError: The module is not installed; the message has the command that installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_package(error, extra, purpose) from None


def missing_package(error: ModuleNotFoundError, extra: str, purpose: str) -> Exception:
    """Return the error to raise when an optional package is missing.

    Args:
        error: The error of the import.
        extra: The extra that installs the package.
        purpose: What needs it, the subject of the error message.

    Returns:
        A `TetrarchiaError` with the install command, or the original error if one of this project's own modules is missing.
    """
    package = (error.name or "").partition(".")[0]
    if package.startswith("tetrarchia_"):
        return error
    return TetrarchiaError(f"{purpose} needs the package {package}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """Return the pip command that installs the missing packages of an extra.

    It lists the packages themselves, so it works however this package was installed: from a clone, a wheel or an index.

    >>> install_command("plots").startswith("pip install ")
    True
    """
    requirements = extra_requirements(extra)
    missing = [text for name, text in requirements.items() if not is_installed(name)] or list(requirements.values())
    return " ".join(["pip install", *(f'"{text}"' for text in missing)]) if missing else f"install the extra {extra}"


def extra_requirements(extra: str) -> dict[str, str]:
    """Return the requirements of an extra, such as `matplotlib>=3.8`, by package name; empty without package metadata."""
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    matches = (match for line in lines if (match := REQUIREMENT.fullmatch(line)))
    return {match["name"]: match["name"] + match["versions"].strip() for match in matches if match["extra"] == extra}


def is_installed(name: str) -> bool:
    """Return whether a distribution is installed."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
