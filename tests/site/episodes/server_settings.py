"""Settings of the web process that the socket tests start: those of the site, with limits from the test."""

import json
import os

from ember_site.settings import *  # noqa: F403
from ember_site.settings import STORAGES

STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
EPISODE_LIMITS = json.loads(os.environ.get("TEST_EPISODE_LIMITS", "{}"))
