"""The database itself refuses to change the audit log.

On SQLite deleting is refused by a trigger of its own, `0004_audit_no_delete`. PostgreSQL empties a database
by TRUNCATE, which these triggers let pass.
"""

from django.db import migrations

SQLITE = """
CREATE TRIGGER core_audit_no_update BEFORE UPDATE ON core_auditentry
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
"""
POSTGRESQL = """
CREATE FUNCTION core_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
CREATE TRIGGER core_audit_append_only BEFORE UPDATE OR DELETE ON core_auditentry
FOR EACH ROW EXECUTE FUNCTION core_audit_refuse();
"""
UNDO = {
    "sqlite": "DROP TRIGGER core_audit_no_update",
    "postgresql": "DROP TRIGGER core_audit_append_only ON core_auditentry; DROP FUNCTION core_audit_refuse()",
}


def make(apps, schema_editor):
    statement = {"sqlite": SQLITE, "postgresql": POSTGRESQL}.get(schema_editor.connection.vendor)
    if statement:
        schema_editor.connection.cursor().execute(statement)


def drop(apps, schema_editor):
    statement = UNDO.get(schema_editor.connection.vendor)
    if statement:
        schema_editor.connection.cursor().execute(statement)


class Migration(migrations.Migration):
    dependencies = [("core", "0001_initial")]

    operations = [migrations.RunPython(make, drop)]
