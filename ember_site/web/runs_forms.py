"""Forms of agents and uploads: parsing alone; services judge."""

from __future__ import annotations

from django import forms

from ember_site.runs.models import Agent, Visibility

VISIBILITY_HELP = (
    "Public: in lists and on boards. Unlisted: whoever has the link. Private: you alone, and on no board."
)


class AgentForm(forms.ModelForm[Agent]):
    """What an owner says about an agent."""

    url = forms.URLField(
        required=False,
        max_length=300,
        label="Link",
        assume_scheme="https",
        widget=forms.URLInput(attrs={"placeholder": "https://"}),
    )

    class Meta:
        model = Agent
        fields = ("name", "visibility", "url", "provider", "cost_usd", "tokens", "note")
        labels = {
            "provider": "Provider or model",
            "cost_usd": "Cost of a full suite, USD",
            "tokens": "Tokens for a full suite",
        }
        help_texts = {
            "name": "As it stands on the boards.",
            "visibility": VISIBILITY_HELP,
            "note": "How it decides, what it was given. Plain text.",
        }
        widgets = {
            "note": forms.Textarea(attrs={"rows": 4}),
            "url": forms.URLInput(attrs={"placeholder": "https://"}),
        }


class RunVisibilityForm(forms.Form):
    """Who may see one run."""

    visibility = forms.ChoiceField(choices=Visibility.choices)
