"""How bodies of live episodes look, for the description of the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from ember_site.api.strict import StrictBody
from ember_site.episodes.models import Episode
from simulator import Action

MODES = Episode.Mode.choices
STATES = Episode.State.choices


class EpisodeStartSerializer(StrictBody[dict[str, Any]]):
    """A new episode."""

    agent = serializers.CharField(help_text="Slug of a `model` agent of yours.")
    scenario = serializers.CharField(
        required=False, help_text="Content hash, or suite/id. May be left out where the mode is a slot."
    )
    mode = serializers.CharField(
        required=False,
        default="practice",
        help_text="`practice`, `ranked`, or a slot of an open evaluation: its slug and position, as in "
        "public-dev/3.",
    )
    seed = serializers.CharField(required=False, help_text="In practice: 0 to 2^64 - 1 as decimal text.")


class EpisodeActSerializer(StrictBody[dict[str, Any]]):
    """The actions of one step."""

    step = serializers.IntegerField(min_value=1, help_text="The last observation's step + 1.")
    actions = serializers.DictField(
        child=serializers.ChoiceField(choices=[str(action) for action in Action]),
        help_text="One action for each active person, by ID.",
    )
    assist = serializers.IntegerField(required=False, min_value=0, max_value=2)


class EpisodeSummarySerializer(serializers.Serializer[dict[str, Any]]):
    """The counts that the last observation shows."""

    population = serializers.IntegerField()
    evacuated = serializers.IntegerField()
    casualties = serializers.IntegerField()
    unresolved = serializers.IntegerField()
    steps = serializers.IntegerField()


class EpisodeEndSerializer(serializers.Serializer[dict[str, Any]]):
    """How it ended. Run and seed are null where a sealed evaluation hides them."""

    reason = serializers.CharField()
    summary = EpisodeSummarySerializer()
    run = serializers.UUIDField(allow_null=True)
    seed = serializers.CharField(allow_null=True, help_text="Decimal; it can exceed 2^53.")


class EpisodeStandingSerializer(serializers.Serializer[dict[str, Any]]):
    """Where an episode stands. The deadlines are null for people."""

    step = serializers.IntegerField(help_text="Steps made so far.")
    state = serializers.ChoiceField(choices=STATES)
    move_due_at = serializers.DateTimeField(allow_null=True, help_text="Then everybody stays for one step.")
    idle_due_at = serializers.DateTimeField(allow_null=True, help_text="Then everybody stays to the end.")
    end = EpisodeEndSerializer(allow_null=True)


class EpisodePresentSerializer(EpisodeStandingSerializer):
    """Where an episode stands, with the observation."""

    observation = serializers.DictField()


class EpisodeStepSerializer(EpisodePresentSerializer):
    """The answer to a step that is in the log."""

    result = serializers.ChoiceField(choices=["applied", "duplicate"])


class EpisodeLimitsSerializer(serializers.Serializer[dict[str, Any]]):
    """What holds for the player."""

    message_bytes = serializers.IntegerField()
    messages_per_s = serializers.IntegerField()
    idle_s = serializers.FloatField(help_text="Without step or heartbeat.")
    move_s = serializers.FloatField(required=False, help_text="For one step; agents only.")


class EpisodeLinksSerializer(serializers.Serializer[dict[str, Any]]):
    """Addresses of one episode."""

    self = serializers.URLField()
    steps = serializers.URLField()
    observation = serializers.URLField()
    heartbeat = serializers.URLField()
    html = serializers.URLField(help_text="The page on which it can be watched.")
    ws = serializers.CharField(help_text="The socket; send the same `Authorization` header.")
    run = serializers.URLField(allow_null=True)


class EpisodeStartedSerializer(EpisodePresentSerializer):
    """A new episode with its first observation."""

    id = serializers.UUIDField()
    mode = serializers.ChoiceField(choices=MODES)
    limits = EpisodeLimitsSerializer()
    links = EpisodeLinksSerializer()


class EpisodeSerializer(EpisodeStandingSerializer):
    """One episode."""

    id = serializers.UUIDField()
    mode = serializers.ChoiceField(choices=MODES)
    agent = serializers.CharField(allow_null=True)
    scenario_hash = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    limits = EpisodeLimitsSerializer()
    links = EpisodeLinksSerializer()


class EpisodeListedSerializer(serializers.Serializer[dict[str, Any]]):
    """One episode of a list."""

    id = serializers.UUIDField()
    mode = serializers.ChoiceField(choices=MODES)
    state = serializers.ChoiceField(choices=STATES)
    step = serializers.IntegerField()
    agent = serializers.CharField(allow_null=True)
    scenario_hash = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    last_active_at = serializers.DateTimeField()
    links = serializers.DictField(child=serializers.URLField())
