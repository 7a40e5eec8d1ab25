"""What the signed-in person was told."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from ember_site.accounts.models import User
from ember_site.accounts.notices import notice_mark_read, notices_mark_read
from ember_site.accounts.selectors import notice_get, notice_list

NOTICES_PER_PAGE = 50


@login_required
@require_safe
@never_cache
def notices(request: HttpRequest) -> HttpResponse:
    """List the visitor's notices, newest first."""
    told = Paginator(notice_list(viewer=cast(User, request.user)), NOTICES_PER_PAGE)
    return render(request, "accounts/notices.html", {"page": told.get_page(request.GET.get("page"))})


@login_required
@require_safe
@never_cache
def notice_open(request: HttpRequest, notice_id: int) -> HttpResponse:
    """Mark a notice as read and go to what it is about."""
    notice = notice_get(viewer=cast(User, request.user), notice_id=notice_id)
    notice_mark_read(notice=notice)
    return redirect(notice.path or "notices")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def notices_read(request: HttpRequest) -> HttpResponse:
    """Mark every notice as read; who had to sign in meanwhile is led back to the button."""
    if request.method == "POST":
        notices_mark_read(user=cast(User, request.user))
    return redirect("notices")
