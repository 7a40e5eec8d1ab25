from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("boards", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Change",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                ("agent_id", models.BigIntegerField()),
                ("mark", models.BigIntegerField(db_index=True)),
            ],
        ),
    ]
