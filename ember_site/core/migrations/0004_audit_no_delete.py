"""SQLite refuses to delete from the audit log as well, and to put another entry in the place of one.

The first holds for `flush` too, which empties there by DELETE; the tests, whose databases are emptied again
and again, take that trigger out of theirs. The second is for `INSERT OR REPLACE`, which SQLite does not
call a DELETE.
"""

from django.db import migrations

NO_DELETE = """
CREATE TRIGGER core_audit_no_delete BEFORE DELETE ON core_auditentry
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""
NO_REPLACE = """
CREATE TRIGGER core_audit_no_replace BEFORE INSERT ON core_auditentry
WHEN EXISTS (SELECT 1 FROM core_auditentry WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""
LET_DELETE = "DROP TRIGGER core_audit_no_delete"
LET_REPLACE = "DROP TRIGGER core_audit_no_replace"


def make(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for statement in (NO_DELETE, NO_REPLACE):
            schema_editor.connection.cursor().execute(statement)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        for statement in (LET_DELETE, LET_REPLACE):
            schema_editor.connection.cursor().execute(statement)


class Migration(migrations.Migration):
    dependencies = [("core", "0003_audit_base_manager")]

    operations = [migrations.RunPython(make, drop)]
