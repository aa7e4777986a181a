"""The door of every command: Hydra's errors and ours become one sentence and an exit status, never a traceback."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import NoReturn

from hydra.errors import HydraException, InstantiationException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from zoo.config import load
from zoo.errors import Interrupted, UserError

_raised: list[Exception] = []


def job(function: Callable[[DictConfig], None]) -> Callable[[DictConfig], None]:
    """Decorates what ``hydra.main`` decorates: an error is kept for ``enter``, before Hydra writes its own lines."""

    @wraps(function)
    def careful(config: DictConfig) -> None:
        try:
            function(config)
        except Exception as error:
            _raised.append(error)

    return careful


def enter(command: Callable[[], None], config: str = "config", texts: Sequence[str] = ()) -> None:
    """Run a Hydra main whose job is decorated with ``job``.

    Exit status: 0 done; 1 an unforeseen error, with its traceback; 2 a request that cannot be met; 128 + a signal's
    number.  With HYDRA_FULL_ERROR=1 in the environment every error shows its traceback.

    Args:
        config: the name of the command's primary configuration, whose keys are suggested for a mistyped one.
        texts: keys whose values are taken as they are typed, commas, quotes and all.
    """
    sys.argv[1:] = [_verbatim(argument, texts) for argument in sys.argv[1:]]
    traceback_wanted = bool(os.environ.get("HYDRA_FULL_ERROR"))
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that errors come here instead of being printed by Hydra
    try:
        command()
        if _raised:
            raise _raised[0]
    except InstantiationException as error:
        if traceback_wanted or not isinstance(error.__cause__, UserError):
            raise
        _leave(f"error: {sentence(error, config)}", 2)
    except KeyboardInterrupt:
        _leave("interrupted", 130)
    except Interrupted as error:
        _leave(str(error), 128 + error.signum)
    except (UserError, HydraException, OmegaConfBaseException) as error:
        if traceback_wanted:
            raise
        _leave(f"error: {sentence(error, config)}", 2)


def _verbatim(argument: str, texts: Sequence[str]) -> str:
    """Quoted, where Hydra's grammar would read more into a text than its writer meant."""
    key, equals, value = argument.partition("=")
    if not equals or key not in texts:
        return argument
    # A backslash is itself in OmegaConf and in Hydra's quotes, except before what it could escape.
    literal = re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + "\\${", value)
    escaped = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + ("\\'" if found[2] else ""), literal)
    return f"{key}='{escaped}'"


def _leave(message: str, status: int) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(status)


def sentence(error: Exception, config: str = "config") -> str:
    """What to tell the person: ours as it is, Hydra's and OmegaConf's said again with what to change."""
    if isinstance(error, InstantiationException) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # what a constructor raised is the error; that Hydra called it is not
    if not isinstance(error, HydraException | OmegaConfBaseException):
        return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0]
    if "Missing mandatory value" in first:
        key = getattr(error, "full_key", None) or first.rpartition(":")[2].strip()
        return f"{key} is needed here: add {key}=... to the command"
    if first.startswith("Could not override"):
        key = first.split("'")[1]
        near = get_close_matches(key, list(_keys(load(config_name=config, resolve=False))), n=1, cutoff=0.5)
        return f"there is no key {key}; " + (
            f"did you mean {near[0]}?" if near else "--cfg job lists all keys"
        )
    if "Could not find" in first:
        group, _, choice = first.split("'")[-2].rpartition("/")
        return f"{group}={choice} does not exist; use one of {', '.join(line for line in lines[1:] if ' ' not in line)}"
    return first


def _keys(config: dict, prefix: str = "") -> Iterator[str]:
    for key, value in config.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from _keys(value, f"{prefix}{key}.")
