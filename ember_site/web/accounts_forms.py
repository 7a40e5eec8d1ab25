"""Forms of the account pages."""

from django import forms

from ember_site.accounts.models import ApiToken, User

NEVER = "never"
EXPIRY_CHOICES = [
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "One year"),
    (NEVER, "Never"),
]


def days_of(choice: str) -> int | None:
    """Give the number of days that a choice stands for, None for ever."""
    return None if choice == NEVER else int(choice)


class TokenForm(forms.Form):
    """What a new token is for, what it may do and for how long."""

    name = forms.CharField(
        max_length=80,
        help_text="So that you recognise it, for example the machine that uses it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, initial=ApiToken.Scope.SUBMIT, label="May")
    days = forms.TypedChoiceField(
        choices=EXPIRY_CHOICES, coerce=days_of, empty_value=None, initial="90", label="Expires after"
    )


class ProfileForm(forms.ModelForm[User]):
    """What an account says about itself, and whether it gets mail."""

    class Meta:
        model = User
        fields = ("display_name", "mail_notices")
        labels = {"display_name": "Display name", "mail_notices": "Notices by e-mail too"}
        help_texts = {
            "display_name": "What others see in place of your username.",
            "mail_notices": "One mail for each upload when its verdicts are in. Notices on the site stay.",
        }
        widgets = {"display_name": forms.TextInput(attrs={"autocomplete": "nickname"})}


class EraseForm(forms.Form):
    """The password once more, before an account goes for ever."""

    password = forms.CharField(
        max_length=1000, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
