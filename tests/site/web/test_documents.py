"""Pages made of the documents: what becomes of Markdown, links, tables and hostile names."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from ember_site.web import documents

PAGE = """# Rules

The rules of a step, in *order*.

## R1: lowest ID wins

See [the record](record.md#places), [here](#r1-lowest-id-wins), [the code](../simulator/engine.py)
and [elsewhere](https://example.org/).

<script>alert(1)</script>

| step | count |
|------|------:|
| 1    | `2`   |

```json
{"a": "<b>"}
```

## R1: lowest ID wins

Again.

![A plan](images/plan.png)
"""


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rules.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "record.md").write_text("# Record\n\nThe file.\n", encoding="utf-8")
    (tmp_path / "errors.md").write_text("# Errors\n\nThe codes.\n", encoding="utf-8")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "plan.png").write_bytes(b"\x89PNG")
    (tmp_path / "images" / "notes.txt").write_text("not an image", encoding="utf-8")
    (tmp_path.parent / "secret.md").write_text("# Secret\n", encoding="utf-8")
    monkeypatch.setattr(documents, "DOCS_DIR", tmp_path)
    return tmp_path


def rules() -> documents.Document:
    found = documents.document_get("rules")
    assert found is not None
    return found


def test_documents_are_listed_in_reading_order(docs: Path) -> None:
    assert documents.document_slugs() == ["rules", "errors", "record"]


def test_title_and_summary_are_the_first_heading_and_paragraph(docs: Path) -> None:
    assert (rules().title, rules().summary) == ("Rules", "The rules of a step, in order.")
    assert "<h1" not in rules().html


def test_headings_get_anchors_and_a_second_one_of_the_same_name_its_own(docs: Path) -> None:
    assert [heading.anchor for heading in rules().headings] == ["r1-lowest-id-wins", "r1-lowest-id-wins-1"]
    assert '<h2 id="r1-lowest-id-wins-1">' in rules().html


def test_links_between_documents_become_links_between_pages(docs: Path) -> None:
    html = rules().html
    assert '<a href="/docs/record/#places">the record</a>' in html
    assert '<a href="#r1-lowest-id-wins">here</a>' in html
    assert '<a href="https://example.org/">elsewhere</a>' in html


def test_a_link_to_another_file_of_the_repository_becomes_text(docs: Path) -> None:
    assert "<span>the code</span>" in rules().html


def test_html_is_shown_not_run(docs: Path) -> None:
    assert "<script" not in rules().html
    assert "&lt;script&gt;" in rules().html


def test_nothing_carries_a_style_that_the_content_policy_would_refuse(docs: Path) -> None:
    html = rules().html
    assert "style=" not in html
    assert '<td class="n"><code>2</code></td>' in html


def test_a_corner_of_a_table_without_words_heads_nothing(docs: Path) -> None:
    (docs / "rules.md").write_text("# T\n\n| | May |\n|---|---:|\n| a | 1 |\n", encoding="utf-8")
    html = rules().html
    assert '<td></td>\n<th class="n">May</th>' in html
    assert "<th></th>" not in html


@pytest.mark.parametrize(("parts", "listed"), [(29, 30), (30, 1)])
def test_a_long_list_of_contents_leaves_out_the_third_level(docs: Path, parts: int, listed: int) -> None:
    text = "# T\n\n## Codes\n\n" + "".join(f"### Code {n}\n\n#### Why\n\n" for n in range(parts))
    (docs / "rules.md").write_text(text, encoding="utf-8")
    assert len(rules().headings) == listed
    assert rules().headings[0].text == "Codes"


def test_code_is_escaped_and_scrolls_by_itself(docs: Path) -> None:
    assert (
        '<pre class="code" tabindex="0"><code>{&quot;a&quot;: &quot;&lt;b&gt;&quot;}\n</code></pre>'
        in rules().html
    )


def test_a_changed_file_is_rendered_anew(docs: Path) -> None:
    assert rules().title == "Rules"
    (docs / "rules.md").write_text("# Other rules\n", encoding="utf-8")
    assert rules().title == "Other rules"


@pytest.mark.parametrize("slug", ["../secret", "secret", "..%2Fsecret", "images", "rules.md", "README", ""])
def test_only_files_of_the_folder_can_be_asked_for(docs: Path, slug: str) -> None:
    assert documents.document_get(slug) is None


def test_pages_are_served_and_unknown_ones_are_not(docs: Path, client: Client, db: None) -> None:
    assert client.get("/docs/").status_code == 200
    assert client.get("/docs/rules/").status_code == 200
    assert client.get("/docs/secret/").status_code == 404
    assert client.get("/docs/images/plan.png")["Content-Type"] == "image/png"
    assert client.get("/docs/images/notes.txt").status_code == 404
    assert client.get("/docs/images/..%2F..%2Fsecret.md").status_code == 404
