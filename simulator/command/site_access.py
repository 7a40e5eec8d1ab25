"""Which site, and the token for it: from options, the environment, or a file that nobody else can read."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from simulator.command.output import CommandError, os_reason

SITE_VARIABLE = "EMBER_SITE"
TOKEN_VARIABLE = "EMBER_TOKEN"  # noqa: S105  (the name of a variable)
CONFIG_VARIABLE = "EMBER_CONFIG"
CONFIG_PATH = Path("emberbench", "config.toml")
CONFIG_MAX_BYTES = 64 * 1024
_TOKEN = re.compile(r"[!-~]{1,500}")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")


@dataclass(frozen=True)
class SiteAccess:
    """A site's address without a final slash, and the token for it, which is never shown."""

    url: str
    token: str = field(repr=False)

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    @property
    def is_open_to_others(self) -> bool:
        """Whether the token travels unencrypted to another machine."""
        return self.parts.scheme == "http" and not _is_this_machine(self.parts.hostname or "")


def site_access(site: str | None, environment: Mapping[str, str] = os.environ) -> SiteAccess:
    """
    Site and token, from the option, else the environment, else the config file.

    The token of the config file belongs to the site that stands there, and goes to no other.

    Raises:
        CommandError: One of the two is missing or cannot be used.
    """
    config_path = config_file(environment)
    config = config_read(config_path)
    address = site or environment.get(SITE_VARIABLE) or config.get("site")
    if not address:
        raise CommandError.wrong_use(
            f"expected a site: --site URL, {SITE_VARIABLE}, or `site` in {config_path}", code="no_site"
        )
    url = site_url(address)
    token = environment.get(TOKEN_VARIABLE)
    if not token and "site" in config and site_url(config["site"]) == url:
        token = config.get("token")
    if not token:
        raise CommandError.wrong_use(
            f"expected a token: make one with the scope submit at {url}/me/tokens/ and put it into "
            f"{TOKEN_VARIABLE}, or with `site` into {config_path}",
            code="no_token",
        )
    if not _TOKEN.fullmatch(token):
        raise CommandError.wrong_use("this token holds what no token does, such as a space", code="no_token")
    return SiteAccess(url, token)


def site_url(text: str) -> str:
    """
    The address of a site in one form: the port only where it is unusual, no final slash.

    Raises:
        CommandError: It is no address of a site.
    """
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        host, port = "", None
    plain = not (parts.username or parts.password or parts.query or parts.fragment) if host else False
    if not plain or parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        raise CommandError.wrong_use(f"expected the address of a site, as https://host, got {text[:200]}")
    if not re.fullmatch(r"[!-~]*", parts.path):
        raise CommandError.wrong_use(f"expected the address of a site in ASCII, got {text[:200]}")
    shown_host = f"[{host}]" if ":" in host else host
    usual = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.scheme}://{shown_host}{'' if usual else f':{port}'}{parts.path.rstrip('/')}"


def config_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the config file is looked for."""
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    home = environment.get("XDG_CONFIG_HOME")
    if not home and os.name == "nt":
        home = environment.get("APPDATA")
    return (Path(home) if home else Path("~/.config").expanduser()) / CONFIG_PATH


def config_read(path: Path) -> dict[str, str]:
    """
    The settings in the config file; none where there is no file.

    Raises:
        CommandError: It cannot be read or understood, or it holds a token and others may read it.
    """
    try:
        with path.open("rb") as stream:
            about = os.fstat(stream.fileno())
            content = stream.read(CONFIG_MAX_BYTES)
        config = tomllib.loads(content.decode())
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise _config_bad(path, f"cannot be read ({os_reason(problem)})") from problem
    except ValueError as problem:  # not UTF-8 or not TOML; the message could quote a token
        raise _config_bad(path, 'expected lines like: site = "https://host"') from problem
    for key, value in config.items():
        if key not in ("site", "token") or not isinstance(value, str):
            raise _config_bad(path, f"expected only the texts site and token, got {key}")
    if "token" in config and os.name == "posix" and stat.S_IMODE(about.st_mode) & 0o077:
        raise _config_bad(path, f"holds a token and others may read it: chmod 600 {path}")
    return config


def _config_bad(path: Path, message: str) -> CommandError:
    return CommandError.wrong_use(message, file=str(path), code="config_unusable")


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
