"""Masks passwords, keys and tokens in locations of stores, command lines and other texts.

These are texts that are kept or shown.

A location may be a connection string, and an error of DuckDB repeats it: `without_secrets`, and
`scrubbed` for texts about it.

A command line has them by the name of an option (`--api-key X`), a variable (`TOKEN=X`) or a header
(`Authorization: X`), in addresses (`user:X@host`), by their shape (`sk-…`, `ghp_…`, `AKIA…`), or
because a variable of the environment with such a name holds them. Too much is hidden rather than
too little: a command line that is kept says what was run, not how to log in.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence

HIDDEN = "[hidden]"


_SECRET_NAME = re.compile(
    r"key(?!s?[-_]?(?:word|board|map|frame|stroke|point|bind|ring|func))|token(?!i[sz])|secret|passw(?:or)?d|passphrase|pwd|credential|cookie"
    r"|auth(?!or(?!i[sz]))|bearer|(?<![a-z])(?:pass|pat)\Z",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d_.,]+[kKmM]?")

_NAME = r"[A-Za-z_][\w.-]*"
_VALUE = r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|[^\s&;,'\")]+"
_ASSIGNED = re.compile(
    rf"(?<![\w.-])(?P<before>-{{0,2}}(?P<name>{_NAME})[\"']?\s*=\s*)(?P<value>{_VALUE})"
)
_OPTION = re.compile(rf"(?<![\w-])(?P<before>--?(?P<name>{_NAME})\s+)(?P<value>(?!--){_VALUE})")
_HEADER = re.compile(
    rf"(?<![\w.-])(?P<before>(?P<name>{_NAME})[\"']?\s*:\s*)(?P<value>(?:(?:bearer|basic|token)\s+)?(?:{_VALUE}))",
    re.IGNORECASE,
)

_SCHEME = re.compile(
    r"\b(?P<before>(?:bearer|basic)\s+)(?P<value>(?=[\w.~+/-]*\d)[\w.~+/=-]{8,})", re.IGNORECASE
)
_IN_ADDRESS = re.compile(
    r"(?P<before>://[^/@\s:]*:)(?P<value>[^/\s]*)(?=@)|(?<=://)(?P<alone>[^/@\s:]{20,})(?=@)"
)
_SHAPES = re.compile(
    r"(?<![\w-])(?:"
    r"sk-[\w-]{12,}+|[sr]k_(?:live|test)_\w{10,}|gh[opsur]_\w{20,}|github_pat_\w{20,"
    r"}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,"
    r"}|pypi-[\w-]{30,}|gsk_\w{20,}|xai-\w{20,}"
    r"|dckr_pat_[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r")|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----END).)*+(?:-----END [A-Z ]*-----)?",
    re.DOTALL,
)
_WHOLE_HEADER = re.compile(
    r"\b(?P<before>(?:(?:set-)?cookie|(?:proxy-)?authorization)\s*:\s*)[^'\"\n]+", re.IGNORECASE
)
_LOGIN_IN_TEXT = re.compile(
    r"(?P<before>(?<![\w-])(?:-u|--user|--proxy-user)(?:\s+|=)['\"]?[^:\s'\"]++:)(?!//)(?P<value>[^\s'\"]+)"
)


SECRET_VARIABLES = ("PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "MOTHERDUCK_TOKEN")

_OF_LOCATION = re.compile(
    r"(?P<name>\b\w*(?:password|passwd|token|secret|key_id)\w*)\s*=\s*"
    r"(?P<value>'(?:[^'\\]|\\.)*'|\"[^\"]*\"|[^\s&;,'\")]*)",
    re.IGNORECASE,
)
_LOGIN_OF_ADDRESS = re.compile(r"(?P<user>://[^/@\s:]*):(?P<value>[^/\s]*)@")


def without_secrets(location: str) -> str:
    """Return the location without passwords.

    It names the same store for anyone who has the password elsewhere.
    """
    if not re.match(r"(--db=)?[A-Za-z][\w+.-]+:", location):  # a file may be called anything
        return location
    bare = _LOGIN_OF_ADDRESS.sub(r"\g<user>@", _OF_LOCATION.sub("", location))
    bare = re.sub(r"(?<=[?&])&+", "", bare).rstrip("?& ")
    return re.sub(r"\s+", " ", re.sub(r":\s+", ":", bare, count=1))


def scrubbed(text: str, location: str = "") -> str:
    """Return a text, such as an error, with `***` for every secret.

    Of the location, of the environment, and by its shape.
    """
    named = [
        found["value"].strip("'\"")
        for pattern in (_OF_LOCATION, _LOGIN_OF_ADDRESS)
        for found in pattern.finditer(location)
    ]
    known = [os.environ.get(name, "") for name in SECRET_VARIABLES]
    text = _LOGIN_OF_ADDRESS.sub(r"\g<user>:***@", _OF_LOCATION.sub(r"\g<name>=***", text))
    for secret in sorted({*named, *known}, key=len, reverse=True):
        text = (
            text.replace(secret, "***") if len(secret) >= 4 else text
        )  # a shorter one would be found in words
    return text


def is_secret(name: str, value: str = "") -> bool:
    """Return whether an option or variable of this name holds a secret.

    A count of tokens, a path in PWD and a `$NAME` do not.
    """
    # References and placeholders, which are not secrets themselves.
    if (
        not _SECRET_NAME.search(name)
        or name.lower().startswith("no-")
        or re.fullmatch(r"\$\{?\w+\}?|\$\(.*|[\"']?(?:\*{3}|\[hidden\])[\"']?", value)
    ):
        return False
    return not (
        re.search(r"tokens|max|min|num|limit|count|budget|len|size", name, flags=re.IGNORECASE)
        and _NUMBER.fullmatch(value)
    ) and not (name in ("PWD", "OLDPWD") and value.startswith("/"))


def scrubbed_text(text: str) -> str:
    """Return the text with `[hidden]` for everything that may be a secret."""
    for secret in _of_environment():
        text = text.replace(secret, HIDDEN)
    text = _WHOLE_HEADER.sub(rf"\g<before>{HIDDEN}", text)
    for pattern in (_ASSIGNED, _OPTION, _HEADER):
        text = pattern.sub(_without_value, text)
    text = _LOGIN_IN_TEXT.sub(
        lambda found: (
            found[0] if _NUMBER.fullmatch(found["value"]) else f"{found['before']}{HIDDEN}"
        ),
        text,
    )
    text = _SCHEME.sub(rf"\g<before>{HIDDEN}", text)
    text = _IN_ADDRESS.sub(
        lambda found: HIDDEN if found["alone"] else f"{found['before']}{HIDDEN}", text
    )
    return _SHAPES.sub(
        lambda found: HIDDEN if any(map(str.isdigit, found[0])) or " " in found[0] else found[0],
        text,
    )


def scrubbed_words(words: Iterable[str]) -> list[str]:
    """Mask the words of a command line.

    The value of an option may be the next word, and a word may hold a script.
    """
    scrubbed, option = [], ""
    for word in words:
        if (
            option in ("-u", "--user", "--proxy-user")
            and (login := re.fullmatch(r"(?P<before>[^:\s]+:)(?!//)(?P<value>\S+)", word))
            and not _NUMBER.fullmatch(login["value"])
        ):
            scrubbed.append(f"{login['before']}{HIDDEN}")
        elif option and is_secret(option.lstrip("-"), word) and not word.startswith("--"):
            scrubbed.append(HIDDEN)
        elif (named := re.fullmatch(rf"(-{{0,2}}({_NAME})=)(.+)", word, re.DOTALL)) and is_secret(
            named[2], named[3]
        ):
            scrubbed.append(f"{named[1]}{HIDDEN}")
        else:
            scrubbed.append(scrubbed_text(word))
        option = word if word.startswith("-") and "=" not in word and not word.isspace() else ""
    return scrubbed


def scrubbed_command(line: str) -> str:
    """Mask a shell command line."""
    try:
        words = shlex.split(line)
    except ValueError:  # cut off in a quote, or no command line
        return scrubbed_text(line)
    scrubbed = scrubbed_words(words)
    return line if scrubbed == words else shlex.join(scrubbed)


def command_of(arguments: Sequence[str]) -> str:
    """Return the call of `tachograph` with these arguments, as kept in the list of ingests."""
    return shlex.join(scrubbed_words(["tachograph", *arguments])).encode(errors="replace").decode()


def _without_value(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"]
    # Words before a colon that begin sentences as often as values.
    is_sentence = (
        found.re is _HEADER
        and name.lower() in "key keys auth token tokens password secret cookie credentials".split()
        and not found["before"].strip().endswith(('":', "':"))
    )
    if is_sentence:
        return found[0]
    if is_secret(name, value):
        return f"{found['before']}{HIDDEN}"
    for inner in re.finditer(r"(?P<name>[\w.-]++)=", value):  # `--env=TOKEN=X`
        if is_secret(inner["name"], value[inner.end() :]):
            return f"{found['before']}{value[: inner.end()]}{HIDDEN}"
    return found[0]


def _of_environment() -> list[str]:
    """Return the values of secret variables, the longest first. Paths are skipped."""
    values = {
        value
        for name, value in os.environ.items()
        if is_secret(name, value) and not value.startswith("/")
    }
    # Minimal length of an environment variable's value that is searched in a text: a shorter one
    # would match inside words.
    return sorted((value for value in values if len(value) >= 8), key=len, reverse=True)
