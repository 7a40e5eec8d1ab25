"""Static files are collected under hashed names, and only when something changed."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.core.files.storage import storages

from ember_site.core.static_collection import static_collect
from ember_site.core.staticfiles import ModuleManifestStorage

SOURCES = {
    "js/page.js": "import { pen } from './lib/draw.js';\n/** @typedef {import('./lib/draw.js').Pen} Pen */\n",
    "js/lib/draw.js": "/** @typedef {import('../page.js').Page} Page */\nexport const pen = 1;\n",
    "css/site.css": "body { background: url('../img/dot.svg'); }\n",
    "img/dot.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
}


@pytest.fixture
def sources(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "static"
    for name, text in SOURCES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    settings.STATICFILES_DIRS = [folder]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "ember_site.core.staticfiles.ModuleManifestStorage"}
    }
    finders.get_finder.cache_clear()
    return folder


def collected(name: str) -> str:
    """Give the text that is served for a static file."""
    storage = storages["staticfiles"]
    assert isinstance(storage, ModuleManifestStorage)
    storage.hashed_files = storage.load_manifest()[0]
    return Path(storage.path(storage.stored_name(name))).read_text(encoding="utf-8")


def test_modules_import_each_other_by_hashed_names_and_types_may_go_in_circles(sources: Path) -> None:
    assert static_collect()
    page = collected("js/page.js")
    assert "'./lib/draw.js'" not in page.split("/**")[0]
    assert "import('./lib/draw.js').Pen" in page
    assert "import('../page.js').Page" in collected("js/lib/draw.js")
    assert "dot.svg" not in collected("css/site.css")


def test_nothing_is_collected_twice_until_something_changes(sources: Path) -> None:
    assert static_collect()
    assert not static_collect()
    script = sources / "js" / "page.js"
    os.utime(script, ns=(1, 1))
    assert static_collect()
    (sources / "js" / "more.js").write_text("", encoding="utf-8")
    assert static_collect()
    assert not static_collect()
