"""Pages of the signed-in person's account: profile, deletion, API tokens."""

from copy import copy
from typing import cast
from uuid import UUID

from allauth.core import ratelimit
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from ember_site.accounts.models import User
from ember_site.accounts.selectors import token_list
from ember_site.accounts.services import profile_update, token_create, token_revoke
from ember_site.core import clock
from ember_site.runs.services import owner_erase
from ember_site.web.accounts_forms import EraseForm, ProfileForm, TokenForm
from ember_site.web.forms import Refusals


def _tokens_page(request: HttpRequest, form: TokenForm, *, status: int = 200) -> HttpResponse:
    context = {"tokens": token_list(viewer=cast(User, request.user)), "form": form, "now": clock.now()}
    return render(request, "accounts/tokens.html", context, status=status)


@login_required
@require_safe
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """List the visitor's tokens and offer a new one."""
    return _tokens_page(request, TokenForm())


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def token_create_view(request: HttpRequest) -> HttpResponse:
    """Make a token and show its key, this once. Who had to sign in meanwhile is led back to the form."""
    if request.method != "POST":
        return redirect("tokens")
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _tokens_page(request, form, status=422)
    with Refusals(form) as refused:
        token, key = token_create(owner=cast(User, request.user), **form.cleaned_data)
        return render(request, "accounts/token_created.html", {"token": token, "key": key})
    return _tokens_page(request, form, status=refused.status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_revoke_view(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Make a token worthless and go back to the list, which is where everybody else is led, too."""
    if request.method != "POST":
        return redirect("tokens")
    token_revoke(owner=cast(User, request.user), public_id=public_id)
    messages.success(request, "The token is revoked. Programs that use it are refused from now on.")
    return redirect("tokens")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    """Name, mail and password of the visitor's account."""
    user = copy(cast(User, request.user))  # what a refused form holds must not show in the masthead
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        with Refusals(form):
            profile_update(user=user, **form.cleaned_data)
            messages.success(request, "Saved.")
            return redirect("account")
    return render(request, "accounts/account.html", {"form": form}, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def account_delete(request: HttpRequest) -> HttpResponse:
    """Ask for the password once more, then erase the account and sign out."""
    form = EraseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        too_often = ratelimit.consume_or_429(request, action="reauthenticate", user=request.user)
        if too_often is not None:
            return cast(HttpResponse, too_often)
        with Refusals(form):
            owner_erase(user=cast(User, request.user), password=form.cleaned_data["password"])
            logout(request)
            messages.success(request, "Your account is deleted. Thank you for having been here.")
            return redirect("home")
    return render(request, "accounts/account_delete.html", {"form": form}, status=422 if form.errors else 200)
