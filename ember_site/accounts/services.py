"""Writes to accounts: API tokens, profiles, leaving. Notices have a module of their own."""

import secrets
from datetime import timedelta
from uuid import UUID

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q

from ember_site.accounts.models import ApiToken, Notice, User
from ember_site.core import clock
from ember_site.core.audit import audit_record
from ember_site.core.errors import BadInput, LimitExceeded, NotFound
from ember_site.core.models import AuditAction
from ember_site.core.names import name_read

TOKEN_MAX_DAYS = 365
LAST_USE_PRECISION = timedelta(minutes=1)
PRUNE_EVERY = timedelta(days=1)
PRUNE_KEY = "accounts:sessions-pruned"


@transaction.atomic
def token_create(*, owner: User, name: str, scope: str, days: int | None) -> tuple[ApiToken, str]:
    """
    Make a key for programs and give it with its row; the key itself is stored nowhere.

    `days` is how long it is good for, None for ever.

    Raises:
        BadInput: for a name, scope or duration that is not acceptable, with its place.
        LimitExceeded: when the owner has as many tokens as one account may have.
    """
    longest = ApiToken._meta.get_field("name").max_length or 0
    name = name_read(name, longest=longest, place="name")
    if not name:
        raise BadInput(f"A token needs a name of 1 to {longest} characters.", place="name")
    if scope not in ApiToken.Scope.values:
        expected = ", ".join(ApiToken.Scope.values)
        raise BadInput(f"Expected a scope of {expected}, got {scope!r}.", place="scope")
    if days is not None and not 1 <= days <= TOKEN_MAX_DAYS:
        raise BadInput(f"Expected 1 to {TOKEN_MAX_DAYS} days, got {days}.", place="days")
    # One request of an account at a time, so that two cannot both be the last.
    User.objects.select_for_update(no_key=True).get(pk=owner.pk)
    used = ApiToken.objects.filter(user=owner).count()
    limit = settings.EMBER_TOKENS_PER_USER
    if used >= limit:
        raise LimitExceeded(
            f"An account may have {limit} tokens; revoke one first.",
            code="too_many_tokens",
            limit=limit,
            used=used,
        )
    expiry = None if days is None else timedelta(days=days)
    token, key = ApiToken.objects.create(user=owner, expiry=expiry, name=name, scope=scope)
    audit_record(
        actor=owner,
        action=AuditAction.TOKEN_CREATED,
        object_kind="token",
        object_id=token.public_id,
        data={"scope": scope, "days": days},  # its name is the owner's own words, which must be erasable
    )
    return token, key


@transaction.atomic
def token_revoke(*, owner: User, public_id: UUID) -> None:
    """
    Make a token worthless at once.

    Raises:
        NotFound: when the owner has no such token.
    """
    deleted, _ = ApiToken.objects.filter(user=owner, public_id=public_id).delete()
    if not deleted:
        raise NotFound("You have no such token; perhaps it was revoked already.")
    audit_record(actor=owner, action=AuditAction.TOKEN_REVOKED, object_kind="token", object_id=public_id)


def token_mark_used(*, token: ApiToken) -> None:
    """Note the last use of a token, to the minute, so that a busy client does not write at each call."""
    now = clock.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USE_PRECISION)
    if token.last_used_at is None or token.last_used_at < now - LAST_USE_PRECISION:
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
        token.last_used_at = now


@transaction.atomic
def profile_update(*, user: User, display_name: str, mail_notices: bool) -> User:
    """
    Change the name that others see and whether notices come by mail too.

    Raises:
        BadInput: the name is too long or holds what cannot be shown.
    """
    longest = User._meta.get_field("display_name").max_length or 0
    user.display_name = name_read(display_name, longest=longest, place="display_name")
    user.mail_notices = mail_notices
    user.save(update_fields=["display_name", "mail_notices"])
    return user


@transaction.atomic
def account_erase(*, user: User) -> None:
    """
    Take name, addresses, password, tokens and notices from an account and switch it off for ever.

    The row stays, nameless, since the audit log and results of others refer to its number. Every session
    and token of it ends with this; what is stored of the sessions, a worker deletes afterwards.
    """
    from ember_site.accounts.tasks import forget_sessions  # the task calls a service in turn

    account = User.objects.select_for_update().get(pk=user.pk)
    ApiToken.objects.filter(user=account).delete()
    Notice.objects.filter(user=account).delete()
    EmailAddress.objects.filter(user=account).delete()
    account.username = f"deleted-{secrets.token_hex(6)}"
    account.display_name = account.first_name = account.last_name = account.email = ""
    account.is_active = account.is_staff = account.is_superuser = account.mail_notices = False
    account.set_unusable_password()
    account.save()
    audit_record(
        actor=account, action=AuditAction.ACCOUNT_ERASED, object_kind="account", object_id=account.pk
    )
    forget_sessions.enqueue(user_id=account.pk)


def sessions_forget(*, user_id: int) -> int:
    """
    Delete the sessions of an account, and those that have expired; how many there were of the account.

    A session does not say in a column whose it is, so each one is read. O(sessions).
    """
    sessions_prune()
    own = [
        session.pk
        for session in Session.objects.iterator(chunk_size=500)
        if session.get_decoded().get(SESSION_KEY) == str(user_id)
    ]
    Session.objects.filter(pk__in=own).delete()
    return len(own)


def sessions_prune() -> int:
    """Delete the sessions that have expired; how many there were."""
    return Session.objects.filter(expire_date__lt=clock.now()).delete()[0]


def sessions_prune_daily() -> None:
    """Prune unless it was done within the last day; workers call it when they tidy up."""
    if cache.add(PRUNE_KEY, True, PRUNE_EVERY.total_seconds()):
        sessions_prune()
