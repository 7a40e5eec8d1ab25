"""Submissions, runs and agents through the API."""

from __future__ import annotations

import gzip
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from ember_site.accounts.models import ApiToken, User
from ember_site.accounts.services import token_create
from ember_site.core import clock
from ember_site.runs import services
from ember_site.runs.models import Agent, Run, Submission, Visibility
from tests.site.runs.conftest import record_text
from tests.site.runs.test_submissions import HOSTILE, ten
from tests.site.runs.workers import run_tasks

pytestmark = pytest.mark.usefixtures("suite")


def client_of(user: User, scope: str = "submit") -> Client:
    _, key = token_create(owner=user, name="test", scope=ApiToken.Scope(scope), days=None)
    return Client(headers={"Authorization": f"Token {key}"})


@pytest.fixture
def api(ann) -> Client:
    return client_of(ann)


def send(client, agent, payload: bytes, content_type: str = "application/x-ndjson", **query):
    address = reverse("api_submission_list", query={"agent": agent.slug} | query)
    return client.post(address, data=payload, content_type=content_type)


class TestUpload:
    @pytest.mark.parametrize(
        ("content_type", "payload"),
        [
            ("application/x-ndjson", ten()),
            ("application/jsonl", ten()),
            ("application/gzip", gzip.compress(ten())),
            ("application/json", record_text().encode()),
        ],
    )
    def test_a_body_is_the_file(self, api, agent, content_type, payload):
        answer = send(api, agent, payload, content_type, filename="mine.jsonl")
        assert answer.status_code == 201, answer.content
        body = answer.json()
        assert body["filename"] == "mine.jsonl"
        assert answer["Location"] == body["links"]["self"]
        assert {line["state"] for line in body["lines"]} == {"queued"}
        run_tasks()
        body = api.get(body["links"]["self"]).json()
        assert body["finished"] is True
        assert {line["code"] for line in body["lines"]} == {"verified"}
        assert body["counts"]["verified"] == body["counts"]["total"]

    def test_a_form_carries_file_and_agent(self, api, agent):
        file = SimpleUploadedFile("runs.jsonl", ten())
        answer = api.post(reverse("api_submission_list"), {"agent": agent.slug, "file": file})
        assert answer.status_code == 201, answer.content
        assert answer.json()["filename"] == "runs.jsonl"

    @pytest.mark.parametrize("name", HOSTILE)
    def test_a_hostile_file_gets_a_problem_document(self, api, agent, name):
        payload, code, status, _ = HOSTILE[name]
        answer = send(api, agent, payload)
        assert answer.status_code == status
        assert answer["Content-Type"] == "application/problem+json"
        problem = answer.json()
        assert problem["code"] == code
        assert problem["detail"]
        assert problem["place"]
        assert ("limit" in problem) == (code == "limit_exceeded")
        kept = api.get(reverse("api_submission_detail", args=[problem["submission"]])).json()
        assert kept["code"] == code
        assert not Run.objects.exists()

    def test_a_bad_line_is_told_beside_the_good_ones(self, api, agent):
        lines = ten().splitlines()
        lines[6] = b"oops"
        body = send(api, agent, b"\n".join(lines)).json()
        bad = body["lines"][6]
        assert (bad["line"], bad["run"], bad["state"], bad["code"]) == (7, None, "rejected", "record_format")
        assert bad["place"].startswith("line 7")
        assert sum(line["state"] == "queued" for line in body["lines"]) == 9

    def test_the_quota_tells_when(self, api, agent, settings, monkeypatch):
        now = clock.now().replace(microsecond=0)
        monkeypatch.setattr(clock, "now", lambda: now)
        settings.EMBER_UPLOADS_PER_HOUR = 1
        assert send(api, agent, ten()).status_code == 201
        Submission.objects.update(created_at=now)
        answer = send(api, agent, ten())
        assert answer.status_code == 429
        problem = answer.json()
        assert (problem["code"], problem["limit"], problem["used"]) == ("too_many", 1, 1)
        assert problem["retry_at"].endswith("Z")
        assert answer["Retry-After"] == "3600"

    def test_agents_that_may_not_be_used(self, api, agent, ann, bob):
        other = services.agent_create(owner=bob, fields={"name": "Bob's"})
        assert send(api, other, ten()).status_code == 403
        human = services.human_agent_for(ann)
        answer = send(api, human, ten())
        assert (answer.status_code, answer.json()["code"]) == (422, "agent_kind")
        unknown = api.post(
            f"{reverse('api_submission_list')}?agent=none", b"{}", content_type="application/json"
        )
        assert (unknown.status_code, unknown.json()["place"]) == (404, "agent")
        missing = api.post(reverse("api_submission_list"), b"{}", content_type="application/json")
        assert missing.status_code == 404

    def test_a_form_without_a_file_names_the_field(self, api, agent):
        answer = api.post(reverse("api_submission_list"), {"agent": agent.slug})
        assert (answer.status_code, answer.json()["place"]) == (422, "file")

    @pytest.mark.parametrize("name", ["dryrun", "dry-run", "Agent"])
    def test_a_slip_in_form_or_address_queues_nothing(self, api, agent, name):
        form = {"agent": agent.slug, "file": SimpleUploadedFile("runs.jsonl", ten()), name: "1"}
        by_form = api.post(reverse("api_submission_list"), form)
        by_address = send(api, agent, ten(), **{name: "1"})
        for answer in (by_form, by_address):
            assert (answer.status_code, answer.json()["place"]) == (422, name)
            assert "dry_run" in answer.json()["detail"]
        assert not Submission.objects.exists()

    def test_a_form_with_two_files_is_refused_rather_than_half_read(self, api, agent):
        files = [SimpleUploadedFile(name, ten()) for name in ("a.jsonl", "b.jsonl")]
        answer = api.post(reverse("api_submission_list"), {"agent": agent.slug, "file": files})
        assert (answer.status_code, answer.json()["place"]) == (422, "file")
        assert "got 2" in answer.json()["detail"]
        assert not Run.objects.exists()

    def test_other_media_are_not_taken(self, api, agent):
        assert send(api, agent, ten(), "text/plain").status_code == 415


class TestScopes:
    def test_a_reading_token_cannot_submit(self, ann, agent):
        answer = send(client_of(ann, "read"), agent, ten())
        assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")

    def test_nobody_submits_without_an_account(self, agent):
        answer = send(Client(), agent, ten())
        assert answer.status_code == 401

    def test_uploads_are_their_senders_alone(self, api, agent, bob):
        body = send(api, agent, ten()).json()
        address = reverse("api_submission_detail", args=[body["id"]])
        assert client_of(bob).get(address).status_code == 404
        assert Client().get(address).status_code == 401
        assert client_of(bob).get(reverse("api_submission_list")).json()["results"] == []


class TestRuns:
    def test_a_key_that_no_run_has_is_named_and_nothing_changes(self, api, agent):
        send(api, agent, record_text().encode())
        run = Run.objects.get()
        body = {"visibility": "private", "withdrawn": True}
        address = reverse("api_run_detail", args=[run.pk])
        answer = api.patch(address, json.dumps(body), content_type="application/json")
        assert (answer.status_code, answer.json()["place"]) == (422, "withdrawn")
        run.refresh_from_db()
        assert run.visibility == Visibility.PUBLIC

    def test_a_run_tells_its_verdict_and_its_seed_as_text(self, api, agent):
        seed = 2**64 - 1
        send(api, agent, record_text(10, seed=seed).encode())
        run_tasks()
        body = Client().get(reverse("api_run_list")).json()["results"][0]
        assert body["seed"] == str(seed)
        assert body["state"] == "verified"
        assert body["metrics"]["population"] == 6
        assert isinstance(body["metrics"]["evacuation_rate"], float)

    def test_the_record_comes_back_byte_for_byte(self, api, agent):
        pretty = json.dumps(json.loads(record_text()), indent=1).encode()
        line = send(api, agent, pretty, "application/json").json()["lines"][0]
        answer = Client().get(reverse("api_run_record", args=[line["run"]]))
        assert answer.content == record_text().encode()
        again = Client().get(
            reverse("api_run_record", args=[line["run"]]), headers={"If-None-Match": answer["ETag"]}
        )
        assert again.status_code == 304

    def test_a_waiting_run_has_a_position_then_a_history(self, api, agent):
        line = send(api, agent, record_text().encode()).json()["lines"][0]
        address = reverse("api_run_detail", args=[line["run"]])
        assert api.get(address).json()["queue_position"] == 1
        run_tasks()
        body = api.get(address).json()
        assert body["queue_position"] is None
        assert [attempt["live"] for attempt in body["verifications"]] == [True]

    def test_filters(self, api, agent, ann):
        send(api, agent, ten())
        run_tasks()
        other = services.agent_create(owner=ann, fields={"name": "Other"})
        address = reverse("api_run_list")
        assert len(api.get(address, {"agent": agent.slug}).json()["results"]) == 10
        assert api.get(address, {"agent": other.slug}).json()["results"] == []
        assert api.get(address, {"state": "rejected"}).json()["results"] == []
        assert len(api.get(address, {"mine": "true"}).json()["results"]) == 10
        assert Client().get(address, {"mine": "true"}).json()["results"] == []
        assert api.get(address, {"state": "nonsense"}).status_code == 422

    def test_paging_gives_each_run_once(self, api, agent):
        send(api, agent, ten())
        seen, address = [], reverse("api_run_list") + "?page_size=3"
        while address:
            page = api.get(address).json()
            seen += [run["id"] for run in page["results"]]
            address = page["next"]
        assert len(seen) == len(set(seen)) == 10

    @pytest.mark.parametrize("address", ["api_run_list", "api_agent_list", "api_submission_list"])
    def test_a_list_needs_as_many_queries_for_ten_rows_as_for_one(
        self, api, agent, ann, address, django_assert_max_num_queries, django_assert_num_queries
    ):
        def grow(count: int) -> None:
            for number in range(count):
                fresh = services.agent_create(owner=ann, fields={"name": f"Agent {number}"})
                assert send(api, fresh, record_text().encode()).status_code == 201
            run_tasks()

        grow(1)
        api.get(reverse(address))
        with django_assert_max_num_queries(12) as first:
            api.get(reverse(address))
            count = len(first)
        grow(9)
        with django_assert_num_queries(count):
            api.get(reverse(address))


class TestAgents:
    def test_making_and_changing_one(self, api):
        answer = api.post(
            reverse("api_agent_list"),
            json.dumps({"name": "New", "provider": "P", "tokens": 5, "cost_usd": "0.5"}),
            content_type="application/json",
        )
        assert answer.status_code == 201, answer.content
        body = answer.json()
        assert (body["slug"], body["kind"], body["owner"]) == ("new-" + body["slug"][4:], "model", "ann")
        changed = api.patch(
            answer["Location"], json.dumps({"visibility": "private"}), content_type="application/json"
        )
        assert changed.json()["visibility"] == "private"
        assert Client().get(answer["Location"]).status_code == 404

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"name": " "},
            {"name": "x" * 81},
            {"name": "a", "tokens": -1},
            {"name": "a", "url": "javascript:1"},
        ],
    )
    def test_a_wrong_field_is_named(self, api, fields):
        answer = api.post(reverse("api_agent_list"), json.dumps(fields), content_type="application/json")
        assert answer.status_code == 422
        assert answer.json()["place"] in ("name", "tokens", "url")

    @pytest.mark.parametrize("key", ["notes", "slug", "kind", "Name", ""])
    def test_a_key_that_no_agent_has_is_named(self, api, agent, key):
        for ask, address, fields in (
            (api.post, reverse("api_agent_list"), {"name": "New"}),
            (api.patch, reverse("api_agent_detail", args=[agent.slug]), {"note": "Plans."}),
        ):
            answer = ask(address, json.dumps(fields | {key: "x"}), content_type="application/json")
            assert answer.status_code == 422
            assert answer.json()["detail"].startswith("Unknown key. Known here are cost_usd, name, note,")
            assert [fault["place"] for fault in answer.json()["errors"]] == [key]
        agent.refresh_from_db()
        assert agent.note == ""
        assert not Agent.objects.filter(name="New").exists()

    def test_nobody_changes_the_agent_of_another(self, agent, bob):
        answer = client_of(bob).patch(
            reverse("api_agent_detail", args=[agent.slug]),
            '{"name": "Mine"}',
            content_type="application/json",
        )
        assert answer.status_code == 403
