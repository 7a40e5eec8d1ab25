"""What a site keeps on disk and what the environment tells it; read by the settings alone."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")


def data_folder() -> Path:
    """Give the folder for everything that a running site writes, making it if needed."""
    folder = Path(env.str("EMBER_DATA", default=str(BASE_DIR / "var"))).expanduser().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
