"""Pages of uploads, runs and agents, as a browser without JavaScript and as the scripts ask for them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from ember_site.accounts.models import Notice
from ember_site.core import clock
from ember_site.core.errors import BadInput
from ember_site.runs import services, tracks
from ember_site.runs.limits import upload_limits
from ember_site.runs.models import Agent, Run, Submission, SubmissionLine
from tests.site.runs.conftest import record_text, scenarios
from tests.site.runs.test_submissions import HOSTILE, jsonl, ten
from tests.site.runs.test_verification import forged
from tests.site.runs.workers import run_tasks
from tests.site_server import ROOT

pytestmark = pytest.mark.usefixtures("suite")


@pytest.fixture
def browser(ann) -> Client:
    client = Client()
    client.force_login(ann)
    return client


def post(browser: Client, payload: bytes, agent: str = "+", **fields):
    accept = fields.pop("accept", "text/html")
    data = {"agent": agent, "file": SimpleUploadedFile("runs.jsonl", payload)} | fields
    return browser.post(reverse("submit"), data, headers={"Accept": accept})


class TestSubmit:
    @pytest.mark.parametrize("signed_in", [True, False])
    def test_the_limits_stand_on_the_page_before_the_upload(self, browser, signed_in):
        page = (browser if signed_in else Client()).get(reverse("submit")).content.decode()
        for text in upload_limits().texts:
            assert text in page

    def test_the_commands_on_the_page_work(self, browser, tmp_path):
        page = browser.get(reverse("submit")).content.decode()
        lines = re.search(r'<pre class="cmd">(.*?)</pre>', page, re.DOTALL)[1].splitlines()
        for line in lines:
            words = re.sub(r"<i>.*?</i>", "", line).split()
            assert words[0] == "ember"
            here = [str(ROOT / word) if word.startswith("scenarios/") else word for word in words[1:]]
            subprocess.run([sys.executable, "-m", "simulator.command", *here], cwd=tmp_path, check=True)

    def test_the_same_words_refuse(self, browser, agent, settings):
        settings.EMBER_UPLOAD_MAX_BYTES = 2048
        words = upload_limits().file.file_text
        assert words in browser.get(reverse("submit")).content.decode()
        assert words in post(browser, b" " * 2049, agent.slug).content.decode()

    def test_a_plain_form_leads_to_the_uploads_page(self, browser, agent):
        answer = post(browser, ten(), agent.slug)
        submission = Submission.objects.get()
        assert answer.status_code == 302
        assert answer["Location"] == reverse("submission_detail", args=[submission.pk])
        page = browser.get(answer["Location"]).content.decode()
        assert "0 of 10" in page
        run_tasks()
        page = browser.get(answer["Location"]).content.decode()
        assert "10 of 10" in page
        assert page.count("Verified") >= 10

    def test_a_new_agent_is_made_on_the_way(self, browser, ann):
        assert post(browser, ten(), agent_name="Brand new").status_code == 302
        assert Agent.objects.get(owner=ann).name == "Brand new"

    def test_files_for_a_new_agent_make_one_agent_however_many_they_are(self, browser, ann):
        refused = post(browser, b"", agent_name="Brand new")
        assert refused.status_code == 422
        made = Agent.objects.get(owner=ann)
        assert f'<option value="{made.slug}" selected>' in refused.content.decode(), "it is there by now"
        for payload in (ten(), record_text().encode()):
            assert post(browser, payload, agent_name=" Brand  new ").status_code == 302
        assert Agent.objects.get(owner=ann) == made
        assert set(Submission.objects.values_list("agent", flat=True)) == {made.pk}

    def test_the_name_of_anothers_agent_is_a_new_agent(self, browser, bob):
        services.agent_create(owner=bob, fields={"name": "Brand new"})
        assert post(browser, ten(), agent_name="Brand new").status_code == 302
        assert Agent.objects.filter(name="Brand new").count() == 2

    def test_two_files_in_one_form_are_not_taken_for_one(self, browser, agent):
        files = [SimpleUploadedFile(name, ten()) for name in ("a.jsonl", "b.jsonl")]
        answer = browser.post(reverse("submit"), {"agent": agent.slug, "file": files})
        assert answer.status_code == 422
        assert b"one file at a time, got 2" in answer.content
        assert not Submission.objects.exists()

    def test_a_new_agent_needs_a_name(self, browser):
        answer = post(browser, ten())
        assert answer.status_code == 422
        assert b"A name is needed" in answer.content
        assert not Submission.objects.exists()

    @pytest.mark.parametrize("name", HOSTILE)
    def test_a_hostile_file_is_explained_on_the_page(self, browser, agent, name):
        payload, code, status, word = HOSTILE[name]
        answer = post(browser, payload, agent.slug)
        page = answer.content.decode()
        assert answer.status_code == status
        assert code in page
        assert word in page
        assert upload_limits().file.file_text in page
        kept = Submission.objects.get()
        assert code in browser.get(reverse("submission_detail", args=[kept.pk])).content.decode()

    def test_a_script_gets_addresses_or_a_problem(self, browser, agent):
        good = post(browser, ten(), agent.slug, accept="application/json")
        assert good.status_code == 201
        assert set(good.json()) == {"id", "url", "status_url", "used", "limit"}
        bad = post(browser, b"", agent.slug, accept="application/json")
        assert bad.status_code == 422
        assert bad.json()["code"] == "record_format"

    def test_a_missing_file_is_told(self, browser, agent):
        answer = browser.post(reverse("submit"), {"agent": agent.slug})
        assert answer.status_code == 422
        assert b"Choose a file first" in answer.content

    def test_nobody_submits_for_the_agent_of_another(self, browser, bob):
        other = services.agent_create(owner=bob, fields={"name": "Bob's"})
        assert post(browser, ten(), other.slug).status_code == 403

    def test_visitors_are_asked_to_sign_in(self):
        assert b"Sign in" in Client().get(reverse("submit")).content
        assert post(Client(), ten()).status_code == 401


class TestStatus:
    def test_only_rows_that_changed_come_and_they_are_the_pages_own(self, browser, agent):
        lines = ten().splitlines()
        lines[6] = b"oops"
        post(browser, b"\n".join(lines), agent.slug)
        submission = Submission.objects.get()
        address = reverse("submission_status", args=[submission.pk])
        first = browser.get(address).json()
        assert [row["letter"] for row in first["rows"]] == list("qqqqqqmqqq")
        assert first["finished"] is False
        letters = "".join(row["letter"] for row in first["rows"])
        assert browser.get(address, {"have": letters}).json()["rows"] == []
        run_tasks()
        after = browser.get(address, {"have": letters}).json()
        assert after["finished"] is True
        assert len(after["rows"]) == 9
        page = browser.get(reverse("submission_detail", args=[submission.pk])).content.decode()
        assert all(row["html"].strip() in page for row in after["rows"])

    def test_an_upload_is_its_senders_alone(self, browser, agent, bob):
        post(browser, ten(), agent.slug)
        stranger = Client()
        stranger.force_login(bob)
        for view in ("submission_detail", "submission_status"):
            address = reverse(view, args=[Submission.objects.get().pk])
            assert stranger.get(address).status_code == 404
            assert Client().get(address).status_code == 404

    def test_a_failure_of_ours_is_not_called_a_refusal(self, browser, agent):
        post(browser, ten(), agent.slug)
        run_tasks()
        Run.objects.filter(pk=Run.objects.first().pk).update(state="failed")
        for name in ("me", "submit"):
            page = browser.get(reverse(name)).content.decode()
            assert "1 failed on our side" in page
            assert "Some refused" not in page
        SubmissionLine.objects.update(run=None)
        assert "All refused" in browser.get(reverse("me")).content.decode()

    @pytest.mark.parametrize("done", [False, True], ids=["at once", "later"])
    def test_links_of_a_reply_lead_owner_and_stranger_to_the_result_or_tell_why_not(
        self, browser, agent, bob, done
    ):
        stranger = Client()
        stranger.force_login(bob)
        posted = post(browser, jsonl(record_text(1), forged(2)), agent.slug)
        if done:
            run_tasks()
        own = browser.get(posted["Location"]).content.decode()
        assert ("2 of 2" if done else "0 of 2") in own
        for who in (stranger, Client()):
            told = who.get(posted["Location"])
            assert told.status_code == 404
            assert b"somebody else" in told.content
        first, second = (line.run for line in Submission.objects.get().lines.order_by("number"))
        words = ("Replay is byte for byte the record", "replay_mismatch") if done else ("in the queue",) * 2
        for run, word in zip((first, second), words, strict=True):
            address = reverse("run_detail", args=[run.pk])
            assert address in own
            for who in (browser, stranger, Client()):
                assert word in who.get(address).content.decode()
        services.agent_update(viewer=agent.owner, agent=agent, fields={"visibility": "private"})
        address = reverse("run_detail", args=[first.pk])
        assert words[0] in browser.get(address).content.decode()
        hidden = stranger.get(address)
        assert hidden.status_code == 404
        assert b"private" in hidden.content

    def test_a_run_page_asks_for_its_verdict(self, browser, agent):
        run = services.run_store(agent=agent, record_text=record_text(), source="upload", ranked=True)
        address = reverse("run_status", args=[run.pk])
        assert browser.get(address).json() == {"state": "queued", "code": "", "final": False, "position": 1}
        assert address in browser.get(reverse("run_detail", args=[run.pk])).content.decode()
        run_tasks()
        assert browser.get(address).json()["final"] is True
        assert address not in browser.get(reverse("run_detail", args=[run.pk])).content.decode()


class TestUploads:
    """The list of all uploads."""

    def send(self, agent: Agent, count: int) -> None:
        for number in range(count):
            Submission.objects.create(
                owner=agent.owner, agent=agent, source="api", size_bytes=1, filename=f"sent-{number}.jsonl"
            )

    def names(self, page: str) -> list[str]:
        return re.findall(r"sent-\d+\.jsonl", page)

    def test_every_upload_is_found_page_by_page_the_newest_first(self, browser, agent):
        self.send(agent, 52)
        first = browser.get(reverse("submission_list")).content.decode()
        assert "Page 1 of 2, 52 in all" in first
        second = browser.get(reverse("submission_list"), {"page": 2}).content.decode()
        wanted = [f"sent-{number}.jsonl" for number in reversed(range(52))]
        assert self.names(first) + self.names(second) == wanted

    @pytest.mark.parametrize("name", ["me", "submit"])
    def test_pages_that_show_the_newest_lead_to_all(self, browser, agent, name):
        self.send(agent, 8)
        page = browser.get(reverse(name)).content.decode()
        assert self.names(page) == [f"sent-{number}.jsonl" for number in (7, 6, 5, 4, 3)]
        assert f'href="{reverse("submission_list")}"' in page

    def test_an_organiser_finds_the_own_uploads_there_alone(self, agent, bob):
        bob.is_staff = True
        bob.save()
        self.send(agent, 1)
        organiser = Client()
        organiser.force_login(bob)
        page = organiser.get(reverse("submission_list")).content.decode()
        assert self.names(page) == []
        assert "No uploads yet" in page
        assert f'href="{reverse("submit")}"' in page

    def test_a_guest_is_led_to_sign_in(self):
        answer = Client().get(reverse("submission_list"))
        assert answer["Location"] == f"{reverse('account_login')}?next={reverse('submission_list')}"


class TestRunPage:
    def verified(self, agent, number: int = 1) -> Run:
        run = services.run_store(
            agent=agent, record_text=record_text(number), source="upload", ranked=True, enqueue=False
        )
        return services.run_verify(run_id=run.pk)

    def test_a_refusal_is_explained(self, agent):
        run = services.run_store(agent=agent, record_text=forged(), source="upload", ranked=True)
        run = services.run_verify(run_id=run.pk)
        page = Client().get(reverse("run_detail", args=[run.pk])).content.decode()
        for text in (run.code, run.place, run.expected, run.actual, "Later differences are not listed"):
            assert text in page

    def test_the_link_says_being_verified_at_once(self, agent):
        run = services.run_store(agent=agent, record_text=record_text(), source="upload", ranked=True)
        page = Client().get(reverse("run_detail", args=[run.pk])).content.decode()
        assert "1 in the queue" in page

    def test_instants_are_written_one_way_and_those_of_the_history_have_their_day(
        self, agent, browser, user_make, monkeypatch
    ):
        run = self.verified(agent)
        later = clock.now() + timedelta(days=3)
        monkeypatch.setattr(clock, "now", lambda: later)
        services.run_verify_again(viewer=user_make("org", is_staff=True), run=run)
        run = services.run_verify(run_id=run.pk)
        page = browser.get(reverse("run_detail", args=[run.pk])).content.decode()
        assert f"<dd>{run.created_at:%Y-%m-%d %H:%M} UTC</dd>" in page
        assert f"<dd>{later:%Y-%m-%d %H:%M} UTC</dd>" in page
        history = page[page.index("History, 2 attempts") :]
        for attempt in run.verifications.all():
            assert f">{attempt.finished_at:%Y-%m-%d %H:%M}</time>" in history

    def test_a_withdrawn_run_that_is_sent_again_stays_withdrawn_and_says_so(self, agent, browser):
        run = self.verified(agent)
        services.run_withdraw(viewer=agent.owner, run=run)
        own = browser.get(reverse("run_detail", args=[run.pk])).content.decode()
        assert "You withdrew this run" in own
        assert "Manage" not in own, "there is nothing left to decide"
        again = browser.get(post(browser, record_text().encode(), agent.slug)["Location"]).content.decode()
        assert "withdrawn before, counts nowhere" in again
        assert Run.objects.get().withdrawn_at is not None

    def test_a_confirmed_record_that_stops_early_is_nowhere_called_verified(self, agent, browser):
        document = json.loads(record_text())
        document["steps"], document["termination"] = document["steps"][:3], None
        sent = post(browser, json.dumps(document).encode(), agent.slug)
        run_tasks()
        for address in (sent["Location"], reverse("run_detail", args=[Run.objects.get().pk])):
            page = browser.get(address).content.decode()
            assert "Not ended" in page
            assert "Verified" not in page
        assert "1 of 1</b> checked" in browser.get(sent["Location"]).content.decode()
        table = browser.get(reverse("me")).content.decode()
        assert "All verified" not in table
        assert "Not ended" in table
        assert Notice.objects.get().title == "0 of 1 record verified"
        assert "1 not ended, which is never scored" in Notice.objects.get().text

    def test_a_private_run_says_so_to_strangers(self, agent, ann):
        run = self.verified(agent)
        services.run_set_visibility(viewer=ann, run=run, visibility="private")
        answer = Client().get(reverse("run_detail", args=[run.pk]))
        assert answer.status_code == 404
        assert b"private" in answer.content

    def test_the_same_actions_of_another_are_named(self, agent, bob):
        other = services.agent_create(owner=bob, fields={"name": "Bob's copy"})
        run, twin = self.verified(agent), self.verified(other)
        page = Client().get(reverse("run_detail", args=[run.pk])).content.decode()
        assert "Same actions as" in page
        assert str(twin.pk) in page

    def test_the_record_is_an_attachment_with_an_etag(self, agent):
        run = self.verified(agent)
        address = reverse("run_record", args=[run.pk])
        answer = Client().get(address)
        assert answer.content == record_text().encode()
        assert answer["Content-Disposition"].endswith(f'-{run.digest[:8]}.json"')
        assert Client().get(address, headers={"If-None-Match": answer["ETag"]}).status_code == 304

    def test_a_track_has_an_etag_of_what_it_holds(self, agent, monkeypatch):
        address = reverse("run_track", args=[self.verified(agent).pk])
        answer = Client().get(address)
        again = {"If-None-Match": answer["ETag"]}
        assert Client().get(address, headers=again).status_code == 304
        cache.clear()
        monkeypatch.setattr(tracks, "track_make", lambda **_values: {"of": "a later format"})
        assert Client().get(address, headers=again).json() == {"of": "a later format"}

    def test_a_damaged_store_is_our_fault(self, agent, tmp_path):
        run = self.verified(agent)
        for path in (tmp_path / "records").rglob("*.gz"):
            path.write_bytes(b"")
        assert Client().get(reverse("run_record", args=[run.pk])).status_code == 503

    def test_no_page_breaks_without_a_scenario(self, agent):
        document = json.loads(record_text())
        document["header"]["scenario_hash"] = "0" * 64
        run = services.run_store(agent=agent, record_text=json.dumps(document), source="upload", ranked=True)
        services.run_verify(run_id=run.pk)
        page = Client().get(reverse("run_detail", args=[run.pk]))
        assert page.status_code == 200
        assert "0" * 64 in page.content.decode()
        assert Client().get(reverse("run_track", args=[run.pk])).status_code == 409


class TestTrack:
    @pytest.mark.parametrize("number", range(1, 11))
    def test_a_track_tells_the_whole_run(self, agent, number):
        run = TestRunPage().verified(agent, number)
        track = Client().get(reverse("run_track", args=[run.pk])).json()
        record = json.loads(record_text(number))
        assert set(track) == {
            "width", "height", "obstacles", "exits", "people", "burn", "steps", "spread_interval",
            "max_steps",
        }  # fmt: skip
        assert track["steps"] == len(record["steps"])
        last = record["steps"][-1]["state"]["people"]
        moves = {"N": (-1, 0), "S": (1, 0), "E": (0, 1), "W": (0, -1), ".": (0, 0)}
        for person in track["people"]:
            row, col = person["position"]
            for letter in person["moves"]:
                row, col = row + moves[letter][0], col + moves[letter][1]
            assert [row, col] == last[person["id"]]["position"]
            assert person["status"] == last[person["id"]]["status"]
            assert len(person["moves"]) == (person["end_step"] or track["steps"])
        assert len(track["burn"]) == record["steps"][-1]["state"]["burning"]
        assert track["obstacles"] == [list(cell) for cell in scenarios()[number - 1].obstacles]

    def test_a_refused_run_shows_the_replay_up_to_the_difference(self, agent):
        document = json.loads(record_text(2))
        document["steps"][6]["evacuations"].append("P001")
        run = services.run_store(agent=agent, record_text=json.dumps(document), source="upload", ranked=True)
        run = services.run_verify(run_id=run.pk)
        assert run.place.startswith("steps[6]")
        track = Client().get(reverse("run_track", args=[run.pk])).json()
        assert track["steps"] == 7
        assert next(p for p in track["people"] if p["id"] == "P001")["status"] == "active"

    def test_nothing_is_shown_before_the_verdict(self, agent):
        run = services.run_store(agent=agent, record_text=record_text(), source="upload", ranked=True)
        assert Client().get(reverse("run_track", args=[run.pk])).status_code == 409


class TestAgentPages:
    def test_making_one_by_form(self, browser, ann):
        answer = browser.post(
            reverse("agent_create"),
            {"name": "Planner", "visibility": "public", "url": "example.org", "note": "<b>"},
        )
        agent = Agent.objects.get(owner=ann)
        assert answer["Location"] == reverse("agent_detail", args=[agent.slug])
        page = browser.get(answer["Location"]).content.decode()
        assert "&lt;b&gt;" in page
        assert agent.url == "https://example.org"

    def test_a_wrong_field_keeps_the_form(self, browser):
        answer = browser.post(reverse("agent_create"), {"name": " ", "visibility": "public"})
        assert answer.status_code == 422
        assert not Agent.objects.exists()

    def test_a_refused_change_leaves_the_page_with_the_name_that_is_kept(self, browser, agent, monkeypatch):
        def refuse(**_values):
            raise BadInput("Expected another name.", place="name")

        fill = services.agents._agent_fill
        monkeypatch.setattr(services.agents, "_agent_fill", lambda *given: (fill(*given), refuse()))
        address = reverse("agent_edit", args=[agent.slug])
        answer = browser.post(address, {"name": "Renamed", "visibility": "public"})
        assert answer.status_code == 422
        assert f"Edit {escape(agent.name)}" in answer.content.decode()
        assert "Expected another name." in answer.content.decode()

    def test_only_the_owner_may_edit(self, browser, agent, bob):
        address = reverse("agent_edit", args=[agent.slug])
        assert browser.post(address, {"name": "Renamed", "visibility": "unlisted"}).status_code == 302
        agent.refresh_from_db()
        assert (agent.name, agent.visibility) == ("Renamed", "unlisted")
        stranger = Client()
        stranger.force_login(bob)
        assert stranger.get(address).status_code == 403
        assert Client().get(address).status_code == 302

    def test_the_list_is_filtered_by_kind_and_refuses_a_kind_that_there_is_not(self, agent, ann):
        human = services.human_agent_for(ann)
        page = Client().get(reverse("agent_list"), {"kind": "human"}).content.decode()
        assert reverse("agent_detail", args=[human.slug]) in page
        assert reverse("agent_detail", args=[agent.slug]) not in page
        refused = Client().get(reverse("agent_list"), {"kind": "robot"})
        assert refused.status_code == 422
        assert "Expected one of model, human, baseline" in refused.content.decode()

    def test_my_page_needs_an_account(self):
        assert Client().get(reverse("me")).status_code == 302


@pytest.mark.parametrize(
    "name", ["me", "agent_detail", "submission_list", "submission_detail", "submission_status", "agent_list"]
)
def test_a_page_needs_as_many_queries_for_many_rows_as_for_few(
    browser, agent, name, django_assert_max_num_queries, django_assert_num_queries
):
    def grow(numbers: range) -> str:
        texts = (record_text(number) for number in numbers)
        submission = services.submission_create(
            owner=agent.owner, agent=agent, payload="\n".join(texts).encode(), filename="", source="api"
        )
        services.agent_create(owner=agent.owner, fields={"name": f"Agent {numbers}"})
        run_tasks()
        if name in ("submission_detail", "submission_status"):
            return reverse(name, args=[submission.pk])
        return reverse(name, args=[agent.slug] if name == "agent_detail" else [])

    address = grow(range(1, 3))
    browser.get(address)
    with django_assert_max_num_queries(16) as first:
        browser.get(address)
        count = len(first)
    address = grow(range(1, 11))
    with django_assert_num_queries(count):
        browser.get(address)
