"""Answers for machines that ask whether this process lives and can serve."""

from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Say that the process answers; it asks nobody else, so a lost database does not restart it."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """
    Say whether the database answers and has every migration, and whether the cache answers; 503 until then.

    Without the cache, which several processes share, no request can be counted, and those of the API fail.
    """
    try:
        executor = MigrationExecutor(connection)
        waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return JsonResponse({"status": "unavailable", "database": "no answer"}, status=503)
    if waiting:
        return JsonResponse({"status": "unavailable", "migrations_waiting": waiting}, status=503)
    try:
        cache.get("ready")
    except (OSError, RedisError):
        return JsonResponse({"status": "unavailable", "cache": "no answer"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok"})
