"""Users, their API tokens and what they are told."""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import NoReverseMatch, reverse
from knox.models import AbstractAuthToken


class User(AbstractUser):  # type: ignore[django-manager-missing]  # of tokens: knox is untyped
    """A person with an account. Organisers are the staff of a site."""

    display_name = models.CharField(max_length=80, blank=True)
    mail_notices = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.public_name

    @property
    def public_name(self) -> str:
        """The name that other visitors see."""
        return self.display_name or self.username

    @property
    def is_organiser(self) -> bool:
        """Whether this person may run evaluations on this site."""
        return self.is_staff


class ApiToken(AbstractAuthToken):
    """A key for programs. Only its digest is stored; the key is shown once, when it is made."""

    class Scope(models.TextChoices):
        READ = "read", "Read"
        SUBMIT = "submit", "Read and submit"
        PLAY = "play", "Read, submit and play"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.READ)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.name} ({self.token_key}…)"


class MailState(models.TextChoices):
    """Where the one e-mail of a notice stands."""

    NONE = "none", "not wanted"
    DUE = "due", "due"
    SENDING = "sending", "being sent"
    SENT = "sent", "sent"
    FAILED = "failed", "failed"


class Notice(models.Model):
    """
    Something that an account is told, once: on the site and, where wanted, by one e-mail.

    `key` names the event, so that telling it again changes nothing. `page` and `argument` are the name
    and the one argument of the page that it leads to.

    The mail leaves at most once: its state turns to `sending`, committed, before the server is asked. A
    process that is killed in between loses the mail, never doubles it; the notice on the site stays.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    key = models.CharField(max_length=100)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    page = models.CharField(max_length=60, blank=True)
    argument = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    mail_state = models.CharField(max_length=8, choices=MailState, default=MailState.NONE)
    mail_tries = models.PositiveSmallIntegerField(default=0)
    mail_after = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="accounts_notice_once")]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="accounts_notice_user"),
            models.Index(
                fields=["user"], condition=models.Q(read_at__isnull=True), name="accounts_notice_unread"
            ),
            models.Index(
                fields=["mail_after"], condition=models.Q(mail_state="due"), name="accounts_notice_mail"
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def path(self) -> str:
        """Address of the page that it leads to; empty where there is none."""
        try:
            return reverse(self.page, args=[self.argument] if self.argument else [])
        except NoReverseMatch:
            return ""
