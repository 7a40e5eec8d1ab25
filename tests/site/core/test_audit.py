"""The audit log: written with the decision, never changed, never a secret."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.core import serializers
from django.db import DatabaseError, connection, transaction

from ember_site.accounts.models import User
from ember_site.accounts.services import token_create, token_revoke
from ember_site.core.audit import audit_list, audit_of_object, audit_record, audit_record_many
from ember_site.core.errors import Forbidden
from ember_site.core.models import AppendOnlyError, AuditAction, AuditEntry
from tests.conftest import AUDIT_TRIGGERS


def entry(actor: User | None = None, **fields: object) -> AuditEntry:
    values = {"action": AuditAction.RUN_WITHDRAWN, "object_kind": "run", "object_id": "r1"}
    return audit_record(**{"actor": actor, **values, **fields})  # type: ignore[arg-type]


@pytest.mark.django_db
def test_an_entry_says_who_what_about_what_and_when(user: User) -> None:
    made = entry(user, data={"from": "public"})
    stored = AuditEntry.objects.get()
    assert (stored.actor_id, stored.action, stored.object_kind, stored.object_id) == (
        user.pk,
        "run.withdrawn",
        "run",
        "r1",
    )
    assert (stored.data, stored.at, stored.label) == ({"from": "public"}, made.at, "Withdrawn")


@pytest.mark.django_db
def test_the_model_refuses_every_way_to_change_or_delete() -> None:
    made = entry()
    made.data = {"forged": True}
    tries = [
        made.save,
        made.delete,
        lambda: AuditEntry.objects.update(data={}),
        lambda: AuditEntry.objects.filter(pk=made.pk).delete(),
        lambda: AuditEntry.objects.bulk_update([made], ["data"]),
        lambda: AuditEntry.objects.update_or_create(pk=made.pk, defaults={"data": {}}),
        lambda: AuditEntry(pk=made.pk, at=made.at).delete(),
        lambda: AuditEntry._base_manager.update(data={}),
        lambda: AuditEntry._base_manager.all().delete(),
        lambda: AuditEntry._base_manager.all()._raw_delete("default"),
        lambda: AuditEntry._default_manager.filter(pk=made.pk).update(data={}),
    ]
    for attempt in tries:
        with pytest.raises(AppendOnlyError):
            attempt()
    assert AuditEntry.objects.get().data == {}


@pytest.mark.django_db
def test_ways_past_the_model_are_refused_by_the_database() -> None:
    made = entry()
    forged = AuditEntry(pk=made.pk, at=made.at, action="x", object_kind="run", object_id="r2")
    fields = {"update_conflicts": True, "unique_fields": ["id"], "update_fields": ["object_id"]}
    document = serializers.serialize("json", [forged])
    tries = [
        lambda: AuditEntry.objects.bulk_create([forged], **fields),
        lambda: AuditEntry._base_manager.all()._update([(AuditEntry._meta.get_field("action"), None, "x")]),
        lambda: [row.save() for row in serializers.deserialize("json", document)],
    ]
    for attempt in tries:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            attempt()
    assert AuditEntry.objects.get().object_id == "r1"


@pytest.mark.django_db
def test_a_copy_with_the_same_number_replaces_nothing() -> None:
    made = entry()
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry(pk=made.pk, at=made.at, action="x", object_kind="run", object_id="r2").save()
    assert AuditEntry.objects.get().object_id == "r1"


@pytest.mark.django_db
def test_the_database_refuses_to_change_an_entry() -> None:
    entry()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE core_auditentry SET object_id = 'r2'")
    assert AuditEntry.objects.get().object_id == "r1"


@pytest.mark.django_db
def test_the_database_refuses_to_delete_an_entry() -> None:
    entry()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(import_module(AUDIT_TRIGGERS).NO_DELETE)  # gone again with the test
        for words in ("DELETE FROM core_auditentry", "DELETE FROM core_auditentry WHERE object_id = 'r1'"):
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                cursor.execute(words)
    assert AuditEntry.objects.get().object_id == "r1"


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="no other database has these words")
def test_the_database_refuses_to_replace_an_entry() -> None:
    made = entry()
    columns = "id, at, action, object_kind, object_id, data"
    with (
        connection.cursor() as cursor,
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
    ):
        cursor.execute(
            f"REPLACE INTO core_auditentry ({columns}) SELECT id, at, action, object_kind, 'r2', data "
            "FROM core_auditentry WHERE id = %s",
            [made.pk],
        )
    assert AuditEntry.objects.get().object_id == "r1"


@pytest.mark.django_db
@pytest.mark.parametrize("data", [{"seed": "1"}, {"a": [{"token": "ember_x"}]}, {"from": {"password": 1}}])
def test_a_secret_never_enters_the_log(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no secrets"):
        entry(data=data)
    with pytest.raises(ValueError, match="no secrets"):
        audit_record_many(
            actor=None, action=AuditAction.RUN_HIDDEN, object_kind="run", object_ids=["a"], data=data
        )
    assert not AuditEntry.objects.exists()


def test_a_decision_that_is_undone_leaves_no_entry(user: User) -> None:
    class Undone(Exception):
        pass

    @transaction.atomic
    def decide_and_fail() -> None:
        token_create(owner=user, name="laptop", scope="read", days=None)
        raise Undone

    with pytest.raises(Undone):
        decide_and_fail()
    assert not AuditEntry.objects.exists()


def test_tokens_made_and_revoked_are_in_the_log_without_their_key(user: User) -> None:
    token, key = token_create(owner=user, name="laptop", scope="submit", days=30)
    token_revoke(owner=user, public_id=token.public_id)
    made, revoked = audit_of_object(object_kind="token", object_id=token.public_id)
    assert (made.action, revoked.action) == ("token.created", "token.revoked")
    assert (made.actor_id, revoked.actor_id) == (user.pk, user.pk)
    assert made.data == {"scope": "submit", "days": 30}, "no words of the owner's, who may want them erased"
    for row in AuditEntry.objects.values_list():
        assert key not in str(row)
        assert token.token_key not in str(row)
        assert token.digest not in str(row)


def test_only_organisers_read_the_log(user: User, organiser: User) -> None:
    entry(user)
    entry(organiser, object_id="r2", action=AuditAction.RUN_HIDDEN)
    with pytest.raises(Forbidden):
        audit_list(viewer=user)
    assert [found.object_id for found in audit_list(viewer=organiser)] == ["r2", "r1"]
    assert audit_list(viewer=organiser, object_kind="run", object_id="r1").count() == 1
    assert audit_list(viewer=organiser, action="run.hidden").count() == 1
    assert audit_list(viewer=organiser, actor_id=user.pk).count() == 1
