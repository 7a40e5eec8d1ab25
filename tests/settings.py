"""Settings of the tests: those of the site, with a data folder of their own and a fast password hash."""

import os
import tempfile
from pathlib import Path

# One folder for each test process, gone when it ends.
_folder = tempfile.TemporaryDirectory(prefix="ember-test-", ignore_cleanup_errors=True)
os.environ["EMBER_DATA"] = _folder.name
os.environ["SECRET_KEY"] = "only-for-tests-" + "x" * 50
for _name in ("EMBER_PUBLIC_URL", "EMAIL_URL", "DEBUG"):
    os.environ.pop(_name, None)

from ember_site.settings import *  # noqa: E402, F403
from ember_site.settings import DATABASES, STORAGES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
Path(_folder.name, "static").mkdir()
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A file, not memory: consumers and views use the database from several threads.
    DATABASES["default"]["TEST"] = {"NAME": Path(_folder.name) / "test.sqlite3"}
