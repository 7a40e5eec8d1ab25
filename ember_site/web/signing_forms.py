"""allauth's forms in the words of the site: each label said once, above its field and not inside it too."""

from __future__ import annotations

from typing import Any, Final

from allauth.account import forms as theirs
from django import forms

LABELS: Final[dict[str, str]] = {
    "Current Password": "Current password",
    "Email": "E-mail",
    "Email (optional)": "E-mail",  # the frame of a field says what is optional
    "Login": "Username or e-mail",
    "New Password": "New password",
    "New Password (again)": "New password (again)",
}
"""What the site calls what allauth calls otherwise."""


class OwnWords(forms.BaseForm):
    """Gives the fields of a form the site's labels, and takes allauth's out of the boxes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.label = LABELS.get(str(field.label), field.label)
            field.widget.attrs.pop("placeholder", None)


class AddEmailForm(OwnWords, theirs.AddEmailForm):
    """A further address."""


class ChangePasswordForm(OwnWords, theirs.ChangePasswordForm):
    """Another password, for who knows the present one."""


class LoginForm(OwnWords, theirs.LoginForm):
    """Sign in."""


class ReauthenticateForm(OwnWords, theirs.ReauthenticateForm):
    """The password once more."""


class ResetPasswordForm(OwnWords, theirs.ResetPasswordForm):
    """Ask for a link to choose a new password."""


class ResetPasswordKeyForm(OwnWords, theirs.ResetPasswordKeyForm):
    """The new password, by such a link."""


class SetPasswordForm(OwnWords, theirs.SetPasswordForm):
    """A first password."""


class SignupForm(OwnWords, theirs.SignupForm):
    """A new account."""
