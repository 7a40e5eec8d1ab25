"""Static files under names that carry their content's hash."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):
    """Hashed and compressed static files whose ES modules import each other by hashed names."""

    support_js_module_import_aggregation = True
