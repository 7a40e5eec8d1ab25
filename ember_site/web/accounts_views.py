"""Pages of the signed-in person's API tokens."""

from typing import cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from ember_site.accounts.models import User
from ember_site.accounts.selectors import token_list
from ember_site.accounts.services import token_create, token_revoke
from ember_site.core import clock
from ember_site.core.errors import DomainError
from ember_site.web.accounts_forms import TokenForm


def _tokens_page(request: HttpRequest, form: TokenForm, *, status: int = 200) -> HttpResponse:
    context = {"tokens": token_list(viewer=cast(User, request.user)), "form": form, "now": clock.now()}
    return render(request, "accounts/tokens.html", context, status=status)


@login_required
@require_GET
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """List the visitor's tokens and offer a new one."""
    return _tokens_page(request, TokenForm())


@login_required
@require_POST
@never_cache
def token_create_view(request: HttpRequest) -> HttpResponse:
    """Make a token and show its key, this once."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _tokens_page(request, form, status=422)
    try:
        token, key = token_create(owner=cast(User, request.user), **form.cleaned_data)
    except DomainError as error:
        form.add_error(error.place if error.place in form.fields else None, error.message)
        return _tokens_page(request, form, status=error.http_status)
    return render(request, "accounts/token_created.html", {"token": token, "key": key})


@login_required
@require_POST
def token_revoke_view(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Make a token worthless and go back to the list."""
    token_revoke(owner=cast(User, request.user), public_id=public_id)
    messages.success(request, "The token is revoked. Programs that use it are refused from now on.")
    return redirect("tokens")
