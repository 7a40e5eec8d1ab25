"""What a site keeps on disk and what the environment tells it; read by the settings alone."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


class Environment(environ.Env):
    """The environment's variables; one whose value cannot be read is named."""

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        """
        Give the value of a variable in the type that is asked for.

        Raises:
            ImproperlyConfigured: in plain words, with the variable's name.
        """
        try:
            return super().get_value(var, *args, **options)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var}: {error}") from error


env = Environment()
Environment.read_env(BASE_DIR / ".env")


def data_folder() -> Path:
    """
    Give the folder for everything that a running site writes, making it if needed.

    Raises:
        ImproperlyConfigured: there can be no such folder, or nothing can be written into it.
    """
    folder = Path(env.str("EMBER_DATA", default=str(BASE_DIR / "var"))).expanduser().resolve()
    advice = "Name a folder that can be written to: EMBER_DATA=/path/to/folder"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {folder} cannot be made: {error.strerror or error}. {advice}"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ImproperlyConfigured(f"Nothing can be written into the data folder {folder}. {advice}")
    return folder


def public_address() -> str:
    """
    Give the address of a public site without a final slash, from EMBER_PUBLIC_URL; empty at home.

    Raises:
        ImproperlyConfigured: it is no address. With a slip in it no safeguard would be switched on.
    """
    address = env.str("EMBER_PUBLIC_URL", default="").rstrip("/")
    parts = urlsplit(address)
    if address and (parts.scheme not in ("https", "http") or not parts.hostname):
        raise ImproperlyConfigured(f"EMBER_PUBLIC_URL: expected https://name, got {address!r}")
    return address


def database(folder: Path) -> dict[str, Any]:
    """
    The database, from DATABASE_URL; without it SQLite in the data folder.

    Raises:
        ImproperlyConfigured: it is no address of a database.
    """
    found: dict[str, Any] = env.db_url(
        "DATABASE_URL", default=f"sqlite:///{(folder / 'ember.sqlite3').as_posix()}"
    )
    if "ENGINE" not in found:
        raise ImproperlyConfigured("DATABASE_URL: expected an address such as postgres://user@host/name")
    return found


def secret_key(folder: Path) -> str:
    """
    Give the site's secret key: SECRET_KEY, or the one in the data folder, made on first use.

    Several processes may start at once; the one that creates the file wins and all use its key.
    """
    given = env.str("SECRET_KEY", default="")
    if given:
        return given
    path = folder / "secret_key"
    if not path.exists():
        draft = folder / f"secret_key.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(64), encoding="ascii")
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                os.replace(draft, path)
        draft.unlink(missing_ok=True)
    return path.read_text(encoding="ascii").strip()


S3_OPTIONS = frozenset({"endpoint_url", "region_name", "access_key", "secret_key", "addressing_style"})


def record_storage(folder: Path) -> dict[str, Any]:
    """
    Where run records are kept, from STORAGE: files in the data folder without it, `file:///folder`, or
    `s3://bucket/prefix?endpoint_url=...` for any store that speaks the protocol of S3.

    Keys in the address are for trials; without them those of the environment of the process count
    (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).

    Raises:
        ImproperlyConfigured: the address is of neither form, or has an option that is not known.
    """
    address = env.str("STORAGE", default="")
    parts = urlsplit(address)
    if not address or parts.scheme == "file":
        location = Path(unquote(parts.path)) if address else folder / "records"
        if not location.is_absolute():
            raise ImproperlyConfigured("STORAGE: expected file:/// and an absolute folder")
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(location)},
        }
    options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    unknown = sorted(set(options) - S3_OPTIONS)
    if parts.scheme != "s3" or not parts.hostname or unknown:
        what = (
            f"no option {unknown[0]}" if unknown else "expected file:///folder or s3://bucket/prefix?options"
        )
        raise ImproperlyConfigured(f"STORAGE: {what}; options are {', '.join(sorted(S3_OPTIONS))}")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": parts.path.strip("/"),
            "file_overwrite": True,
            "default_acl": None,
            **options,
        },
    }
