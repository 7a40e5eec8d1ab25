"""Every address of the site."""

from django.urls import include, path

urlpatterns = [
    path("api/v1/", include("ember_site.api.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("", include("ember_site.web.urls")),
]

handler400 = "ember_site.core.responses.bad_request"
handler429 = "ember_site.core.responses.too_many"  # asked for by allauth's rate limits
