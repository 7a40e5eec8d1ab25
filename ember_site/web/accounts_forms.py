"""Forms of the account pages."""

from django import forms

from ember_site.accounts.models import ApiToken

EXPIRY_CHOICES = [("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "One year"), ("", "Never")]


class TokenForm(forms.Form):
    """What a new token is for, what it may do and for how long."""

    name = forms.CharField(
        max_length=80,
        help_text="So that you recognise it, for example the machine that uses it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, initial=ApiToken.Scope.SUBMIT, label="May")
    days = forms.TypedChoiceField(
        choices=EXPIRY_CHOICES,
        coerce=int,
        empty_value=None,
        required=False,
        initial="90",
        label="Expires after",
    )
