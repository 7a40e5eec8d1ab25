"""What a site keeps on disk and what the environment tells it; read by the settings alone."""

import os
import secrets
from pathlib import Path

import environ

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
