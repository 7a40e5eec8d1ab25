"""Pages made of the documents in `docs/`."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ember_site.web.documents import IMAGE_SUFFIXES, document_get, document_images, document_list


@require_safe
def docs_index(request: HttpRequest) -> HttpResponse:
    """List the documents with what each is about."""
    return render(request, "web/docs_index.html", {"documents": document_list()})


@require_safe
def docs_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one document with its contents."""
    document = document_get(slug)
    if document is None:
        raise Http404
    context = {"document": document, "documents": document_list()}
    return render(request, "web/docs_page.html", context)


@require_safe
def docs_image(request: HttpRequest, name: str) -> HttpResponse:
    """Serve an image that a document shows."""
    path = document_images().get(name)
    if path is None:
        raise Http404
    return HttpResponse(path.read_bytes(), content_type=IMAGE_SUFFIXES[path.suffix])
