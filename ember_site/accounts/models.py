"""Users and their API tokens."""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from knox.models import AbstractAuthToken


class User(AbstractUser):  # type: ignore[django-manager-missing]  # of tokens: knox is untyped
    """A person with an account. Organisers are the staff of a site."""

    display_name = models.CharField(max_length=80, blank=True)

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
