"""The front page with and without anything to show."""

from __future__ import annotations

from django.test import Client


def test_an_empty_site_still_has_a_front_page(client: Client, db: None) -> None:
    html = client.get("/").content.decode()
    assert "Everyone out before the fire." in html
    assert "No ranked entry yet" in html
