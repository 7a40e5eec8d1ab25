from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["-created_at", "id"], name="runs_run_newest"),
        ),
    ]
