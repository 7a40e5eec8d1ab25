"""
Settings of the site, read from the environment in this one place.

Without any variable set they are right for a site at home: SQLite and files in the data folder,
one web process and one worker, nothing shown that only a developer should see.

EMBER_DATA            folder for database, records, static files and secret key (./var)
EMBER_PUBLIC_URL      https address of a public site; switches on every transport safeguard
EMBER_ALLOWED_HOSTS   further host names, comma separated
SECRET_KEY            made and kept in the data folder if absent
DATABASE_URL          e.g. postgres://user:password@host/name (SQLite in the data folder)
REDIS_URL             channel layer and cache for several web processes (in memory)
STORAGE               e.g. s3://bucket/prefix?endpoint_url=https://host (files in the data folder)
EMAIL_URL             e.g. smtp+tls://user:password@host:587; without it mail goes to the log
DEBUG                 for development only
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from ember_site.environment import (
    BASE_DIR,
    data_folder,
    database,
    env,
    public_address,
    record_storage,
    secret_key,
)

EMBER_DATA = data_folder()
SECRET_KEY = secret_key(EMBER_DATA)
DEBUG = env.bool("DEBUG", default=False)

# --- Addresses and transport ------------------------------------------------------------------
PUBLIC_URL = public_address()
PUBLIC = urlsplit(PUBLIC_URL)
SECURE = PUBLIC.scheme == "https"
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.list("EMBER_ALLOWED_HOSTS", default=[])]
CSRF_TRUSTED_ORIGINS: list[str] = []
if PUBLIC.hostname:
    ALLOWED_HOSTS.append(PUBLIC.hostname)
    CSRF_TRUSTED_ORIGINS.append(f"{PUBLIC.scheme}://{PUBLIC.netloc}")

if SECURE:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # asked by the machine itself
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = SECURE
CSRF_COOKIE_SECURE = SECURE
SESSION_COOKIE_NAME = "ember_session"
CSRF_COOKIE_NAME = "ember_csrf"
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "ember_site.core.responses.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"

CONTENT_SECURITY_POLICY: dict[str, Any] = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- Apps ---------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "ember_site.core",
    "ember_site.accounts",
    "ember_site.catalog",
    "ember_site.runs",
    "ember_site.episodes",
    "ember_site.boards",
    "ember_site.web",
    "ember_site.api",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "channels",
    "csp",
    "django_filters",
    "django_tasks",
    "django_tasks_db",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "rest_framework",
]

MIDDLEWARE = [
    # These three come first, so that whatever answers carries their headers: files and refusals too.
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "ember_site.core.staticfiles.WholeFileMiddleware",
    "ember_site.core.middleware.NulCookieMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "ember_site.core.middleware.BodyLimitMiddleware",
    "ember_site.core.middleware.NulQueryMiddleware",
    "ember_site.core.middleware.DomainErrorMiddleware",
]

ROOT_URLCONF = "ember_site.urls"
ASGI_APPLICATION = "ember_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "ember_site.core.context.site_facts",
                "ember_site.accounts.context.account_facts",
            ],
        },
    }
]

LANGUAGE_CODE = "en-gb"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Data ---------------------------------------------------------------------------------------
DATABASES: dict[str, dict[str, Any]] = {"default": database(EMBER_DATA)}
DATABASES["default"].setdefault("OPTIONS", {})
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Readers never wait for the writer (WAL), and a transaction takes the write lock when it
    # starts, so that it waits its turn and cannot fail half-way for having read before it wrote.
    DATABASES["default"]["OPTIONS"] |= {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"] |= {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True}

REDIS_URL = env.str("REDIS_URL", default="")
CACHES: dict[str, dict[str, Any]]
CHANNEL_LAYERS: dict[str, dict[str, Any]]
if REDIS_URL:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}

STATIC_URL = "static/"
STATIC_ROOT = EMBER_DATA / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(EMBER_DATA / "files")},
    },
    "records": record_storage(EMBER_DATA),
    "staticfiles": {"BACKEND": "ember_site.core.staticfiles.ModuleManifestStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = False

# --- Accounts -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

EMAIL_URL = env.str("EMAIL_URL", default="")
HAS_MAIL_SERVER = bool(EMAIL_URL)
if HAS_MAIL_SERVER:
    globals().update(env.email_url("EMAIL_URL"))
else:
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
EMAIL_TIMEOUT = 20  # seconds; a mail server that hangs holds up a worker for no longer
DEFAULT_FROM_EMAIL = env.str("EMBER_MAIL_FROM", default="EMBERBench <noreply@localhost>")

ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*" if HAS_MAIL_SERVER else "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if HAS_MAIL_SERVER else "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[EMBERBench] "
ACCOUNT_USERNAME_MIN_LENGTH = 3
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_FORMS = {
    "add_email": "ember_site.web.signing_forms.AddEmailForm",
    "change_password": "ember_site.web.signing_forms.ChangePasswordForm",
    "login": "ember_site.web.signing_forms.LoginForm",
    "reauthenticate": "ember_site.web.signing_forms.ReauthenticateForm",
    "reset_password": "ember_site.web.signing_forms.ResetPasswordForm",
    "reset_password_from_key": "ember_site.web.signing_forms.ResetPasswordKeyForm",
    "set_password": "ember_site.web.signing_forms.SetPasswordForm",
    "signup": "ember_site.web.signing_forms.SignupForm",
}
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if SECURE else "http"

KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105  (a model's name, not a secret)
MIGRATION_MODULES = {"knox": None}  # its migrations would make a table that nothing uses
REST_KNOX = {
    "TOKEN_MODEL": KNOX_TOKEN_MODEL,
    "TOKEN_PREFIX": "ember_",
    "TOKEN_TTL": timedelta(days=90),
    "AUTH_HEADER_PREFIX": "Token",
}

# --- Limits (enforced and shown from here) ------------------------------------------------------
EMBER_UPLOAD_MAX_BYTES = env.int("EMBER_UPLOAD_MAX_BYTES", default=16 * 1024 * 1024)
EMBER_UPLOAD_MAX_UNPACKED_BYTES = env.int("EMBER_UPLOAD_MAX_UNPACKED_BYTES", default=64 * 1024 * 1024)
EMBER_UPLOAD_MAX_RECORDS = env.int("EMBER_UPLOAD_MAX_RECORDS", default=2_000)
EMBER_RECORD_MAX_STEPS = env.int("EMBER_RECORD_MAX_STEPS", default=100_000)
EMBER_UPLOADS_PER_HOUR = env.int("EMBER_UPLOADS_PER_HOUR", default=60)
EMBER_MALFORMED_PER_HOUR = env.int("EMBER_MALFORMED_PER_HOUR", default=120)
EMBER_DRY_RUNS_PER_HOUR = env.int("EMBER_DRY_RUNS_PER_HOUR", default=60)
# A worker that has not finished a small record after so many seconds counts as dead; large ones get longer.
EMBER_VERIFICATION_LEASE_S = env.float("EMBER_VERIFICATION_LEASE_S", default=60.0)
EMBER_SOCKETS_PER_USER = env.int("EMBER_SOCKETS_PER_USER", default=5)
EMBER_SOCKETS_PER_ADDRESS = env.int("EMBER_SOCKETS_PER_ADDRESS", default=20)
EMBER_BASELINES_PER_ADDRESS = env.int("EMBER_BASELINES_PER_ADDRESS", default=6)  # of guests, running at once
EMBER_WATCHERS_PER_EPISODE = env.int("EMBER_WATCHERS_PER_EPISODE", default=300)
EMBER_SOCKET_MESSAGE_MAX_BYTES = env.int("EMBER_SOCKET_MESSAGE_MAX_BYTES", default=64 * 1024)
EMBER_SOCKET_MESSAGES_PER_SECOND = env.int("EMBER_SOCKET_MESSAGES_PER_SECOND", default=20)
# Seconds without a step after which a person's episode rests, and for which it can then be taken up again.
EMBER_PLAY_IDLE_S = env.int("EMBER_PLAY_IDLE_S", default=30 * 60)
EMBER_PAUSED_KEPT_S = env.int("EMBER_PAUSED_KEPT_S", default=24 * 60 * 60)
# An agent that plays over the network: seconds for one step, and seconds without step or heartbeat.
EMBER_AGENT_MOVE_S = env.int("EMBER_AGENT_MOVE_S", default=10 * 60)
EMBER_AGENT_IDLE_S = env.int("EMBER_AGENT_IDLE_S", default=15 * 60)
EMBER_GUEST_RUNS_KEPT_S = env.int("EMBER_GUEST_RUNS_KEPT_S", default=24 * 60 * 60)
EMBER_TOKENS_PER_USER = env.int("EMBER_TOKENS_PER_USER", default=20)
# Bodies are held to these by `ember_site.bodies` before Django reads them.
EMBER_FORM_MAX_BYTES = 1024 * 1024
EMBER_UPLOAD_PATHS = ("/submit/", "/api/v1/submissions/")
EMBER_UPLOAD_ENVELOPE_BYTES = 64 * 1024  # the other fields of the form and multipart's own lines
DATA_UPLOAD_MAX_MEMORY_SIZE = EMBER_UPLOAD_MAX_BYTES + EMBER_UPLOAD_ENVELOPE_BYTES
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 20

# --- API ------------------------------------------------------------------------------------------
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ember_site.api.auth.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["ember_site.api.auth.TokenScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["ember_site.api.parsers.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "ember_site.api.pagination.CursorPage",
    "DEFAULT_THROTTLE_CLASSES": ["ember_site.api.throttles.UserRate", "ember_site.api.throttles.GuestRate"],
    "DEFAULT_THROTTLE_RATES": {
        "user": env.str("EMBER_API_RATE_USER", default="1800/min"),
        "guest": env.str("EMBER_API_RATE_GUEST", default="600/min"),
    },
    "DEFAULT_SCHEMA_CLASS": "ember_site.api.schema.ProblemSchema",
    "EXCEPTION_HANDLER": "ember_site.api.errors.problem_response",
    "URL_FORMAT_OVERRIDE": None,
    # The server in front sets the address (uvicorn's --forwarded-allow-ips), so no header is believed here.
    "NUM_PROXIES": 0,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "EMBERBench API",
    "DESCRIPTION": (
        "Suites, scenarios, runs, episodes and boards. Send `Authorization: Token ember_…`. "
        "Seeds are decimal strings. Every failure is a problem document (RFC 9457) with a stable `code`."
    ),
    "VERSION": "1",
    "SERVE_PUBLIC": True,
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "ember_site.api.schema.with_strict_bodies",
        "ember_site.api.schema.without_database_ranges",
    ],
    # Several models have a field `kind`, `state`, `source` or `visibility`; these are their names.
    "ENUM_NAME_OVERRIDES": {
        "AgentKind": "ember_site.runs.models.AgentKind.choices",
        "EpisodeMode": "ember_site.api.episodes_serializers.MODES",
        "EpisodeState": "ember_site.api.episodes_serializers.STATES",
        "EvaluationKind": "ember_site.boards.models.EvaluationKind.choices",
        "EvaluationState": "ember_site.boards.models.EvaluationState.choices",
        "RunSource": "ember_site.runs.models.RunSource.choices",
        "RunState": "ember_site.runs.models.RunState.choices",
        "SubmissionSource": "ember_site.runs.models.SubmissionSource.choices",
        "SuiteVisibility": "ember_site.catalog.models.SuiteVisibility.choices",
        "Visibility": "ember_site.runs.models.Visibility.choices",
    },
}

# --- Log ------------------------------------------------------------------------------------------
LOG_LEVEL = env.str("EMBER_LOG_LEVEL", default="INFO")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"}},
    "filters": {
        "calm": {"()": "ember_site.core.logs.CalmFilter"},
        "own_faults": {"()": "ember_site.core.logs.OwnFaultsFilter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
        "calm": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["calm"]},
        "errors": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "level": "ERROR",
            "filters": ["own_faults"],
        },
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "propagate": True, "level": LOG_LEVEL},
        # What a client sent was refused: a warning, though Django shows it as an error of the site.
        "django.security": {"handlers": ["calm"], "propagate": False},
        "django.server": {"handlers": [], "propagate": True},
        # Several lines for each start and each task; `ember_site` says what matters.
        "uvicorn": {"handlers": ["errors"], "propagate": False},
        "django_tasks": {"handlers": ["errors"], "propagate": False},
        "django_tasks_db": {"handlers": ["errors"], "propagate": False},
    },
}
