"""The Celery app. It is imported with the project, so that the web process talks to the same broker as the workers."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("schedscope")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["simulations"])
