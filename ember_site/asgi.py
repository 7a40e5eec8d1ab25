"""The ASGI application: pages and API by Django, websockets by `ember_site.sockets`."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ember_site.settings")

http_application = get_asgi_application()

# These need the apps to be loaded.
from ember_site.bodies import BodyLimit  # noqa: E402
from ember_site.episodes.lifespan import lifespan_application  # noqa: E402
from ember_site.sockets import websocket_application  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(http_application),
        "websocket": websocket_application,
        "lifespan": lifespan_application,
    }
)
