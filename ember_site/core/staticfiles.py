"""Static files under names that carry their content's hash."""

import re
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage


class WholeFileMiddleware(WhiteNoiseMiddleware):
    """
    Answers with a static file in one piece, which is at most a megabyte or two.

    Under ASGI Django collects the pieces of a file before it sends the first, and warns of that.
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Give the file, the part of it that was asked for, or that it has not changed."""
        found = static_file.get_response(request.method, request.META)
        response = HttpResponse(status=int(found.status))
        if found.file is not None:
            with found.file:
                response.content = found.file.read()
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


def in_block_comment(text: str, position: int) -> bool:
    """Tell whether a position in a script lies in a `/* … */` comment."""
    return text.rfind("/*", 0, position) > text.rfind("*/", 0, position)


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """
    Hashed and compressed static files whose ES modules import each other by hashed names.

    Types that a JSDoc comment imports are no dependency: they are left alone, and so modules may
    name each other's types in a circle. Modules that import each other in a circle have no stable
    hash, and collecting them fails.
    """

    support_js_module_import_aggregation = True
    max_post_process_passes = 20  # at least the longest chain of imports

    def url_converter(self, *args: Any, **kwargs: Any) -> Callable[[re.Match[str]], str]:
        """Give the function that rewrites one reference found in a file."""
        convert = super().url_converter(*args, **kwargs)

        def converter(match: re.Match[str]) -> str:
            if match.group(0).lower().startswith("import(") and in_block_comment(match.string, match.start()):
                return match.group(0)
            return convert(match)

        return converter
