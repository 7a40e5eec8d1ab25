"""`docs/play.md` lists exactly the keys that the game binds."""

import re

from ember_site.environment import BASE_DIR

KEYS = (BASE_DIR / "static" / "js" / "lib" / "keys.js").read_text(encoding="utf-8")
TEXT = (BASE_DIR / "docs" / "play.md").read_text(encoding="utf-8")
BINDING = re.compile(
    r'\{\s*does: "\w+",\s*group: "(\w+)",\s*text: "([^"]+)",\s*shown: (\[\[.*?\]\]),', re.DOTALL
)


def bound() -> list[tuple[str, str]]:
    """(keys, text) of each binding, as the document writes them."""
    rows = []
    for match in BINDING.finditer(KEYS):
        alternatives = re.findall(r'\[((?:"[^"]+"(?:, )?)+)\]', match[3])
        keys = [" ".join(f"`{key}`" for key in re.findall(r'"([^"]+)"', one)) for one in alternatives]
        rows.append((" or ".join(keys), match[2]))
    return rows


def test_every_binding_of_the_game_was_read() -> None:
    table = KEYS[KEYS.index("export const BINDINGS") : KEYS.index("];")]
    assert len(bound()) == table.count("does:")


def test_the_document_lists_exactly_the_keys_of_the_game() -> None:
    section = TEXT[TEXT.index("## Keys") :]
    assert re.findall(r"^\| \w* \| (`.*`) \| (.+) \|$", section, re.MULTILINE) == bound()
