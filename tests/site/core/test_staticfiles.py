"""Static files are collected under hashed names, and only when something changed."""

import os
import warnings
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.staticfiles import finders
from django.core.files.storage import storages
from django.http import HttpResponse
from django.test import AsyncClient, RequestFactory

from ember_site.core.static_collection import static_collect
from ember_site.core.staticfiles import ModuleManifestStorage, WholeFileMiddleware

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


def test_who_has_the_earlier_files_open_can_still_load_them(sources: Path, settings: Any) -> None:
    static_collect()
    storage = storages["staticfiles"]
    assert isinstance(storage, ModuleManifestStorage)
    before = storage.stored_name("js/lib/draw.js")
    script = sources / "js" / "lib" / "draw.js"
    script.write_text("export const pen = 2;\n", encoding="utf-8")
    os.utime(script, (1, 1))  # as a package that was made long ago, and installed today
    assert static_collect()
    assert "pen = 1" in Path(storage.path(before)).read_text(encoding="utf-8")
    assert "pen = 2" in collected("js/lib/draw.js")
    assert "pen = 2" in (settings.STATIC_ROOT / "js" / "lib" / "draw.js").read_text(encoding="utf-8")


def served(settings: Any, **headers: str) -> HttpResponse:
    """What the site answers to whoever asks for the page's script, under the server's own interface."""
    settings.DEBUG = False
    middleware = WholeFileMiddleware(lambda request: HttpResponse(status=404))
    method = headers.pop("method", "GET")
    return middleware(RequestFactory().generic(method, "/static/js/page.js", headers=headers))


def test_a_file_is_served_in_one_piece_or_in_the_part_that_was_asked_for(
    sources: Path, settings: Any
) -> None:
    static_collect()
    text = (settings.STATIC_ROOT / "js" / "page.js").read_bytes()
    whole = served(settings)
    assert (whole.status_code, whole.content, whole.streaming) == (200, text, False)
    assert whole["Content-Type"].startswith("text/javascript")
    part = served(settings, Range="bytes=2-5")
    assert (part.status_code, part.content) == (206, text[2:6])
    head = served(settings, method="HEAD")
    assert (head.status_code, head.content, head["Content-Length"]) == (200, b"", str(len(text)))
    assert served(settings, **{"If-None-Match": whole["ETag"]}).status_code == 304
    assert served(settings, method="POST").status_code == 405


async def test_no_file_makes_the_server_warn(sources: Path, settings: Any) -> None:
    await sync_to_async(static_collect)()
    settings.MIDDLEWARE = ["ember_site.core.staticfiles.WholeFileMiddleware"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = await AsyncClient().get("/static/js/page.js")
        assert answer.content.startswith(b"import")
