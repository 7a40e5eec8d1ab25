"""`docs/errors.md` lists every code that the site uses, with its sentence, and no other."""

import re

from ember_site.core.codes import ERROR_SENTENCES
from ember_site.environment import BASE_DIR
from ember_site.episodes.protocol import CloseCode
from simulator import VerdictCode

TEXT = (BASE_DIR / "docs" / "errors.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n\n(.+)$", TEXT, re.MULTILINE))


def test_every_code_has_a_section_and_every_section_a_code() -> None:
    assert re.findall(r"^### (\w+)$", TEXT, re.MULTILINE) == list(ERROR_SENTENCES)


def test_each_section_begins_with_the_sentence_that_people_are_shown() -> None:
    assert SECTIONS == ERROR_SENTENCES


def test_every_verdict_of_the_replay_check_is_a_code_of_the_site() -> None:
    assert {str(code) for code in VerdictCode} <= set(ERROR_SENTENCES)


def test_every_close_code_of_the_socket_is_listed() -> None:
    listed = [int(code) for code in re.findall(r"^\| (\d{4}) \|", TEXT, re.MULTILINE)]
    assert listed == [int(code) for code in CloseCode]
