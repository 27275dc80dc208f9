"""Every page and its view."""

from django.conf import settings
from django.urls import path, re_path

from dashboard.api.routes import api
from dashboard.views import clusters, errors, export, fit, health, imports, landing, openb, run_page, runs, share, what_if, why

urlpatterns = [
    path("", landing.landing, name="landing"),
    path("api/", api.urls),
    re_path(r"^api/(?P<rest>(?s:.*))$", errors.no_such_call),
    path("healthz", health.healthz, name="healthz"),
    path("samples/<slug:slug>/start", landing.start_sample, name="start-sample"),
    path("openb/", openb.openb, name="openb"),
    path("runs/", runs.runs, name="runs"),
    path("runs/new/", what_if.what_if, name="what-if"),
    path("runs/from-file/", what_if.from_file, name="from-file"),
    path("runs/new/preview", what_if.preview, name="what-if-preview"),
    path("runs/<int:run_id>/", run_page.run_page, name="run"),
    path("runs/<int:run_id>/header", run_page.header, name="run-header"),
    path("runs/<int:run_id>/spans.json", run_page.spans, name="run-spans"),
    path("runs/<int:run_id>/overview.json", run_page.overview, name="run-overview"),
    path("runs/<int:run_id>/cancel", runs.cancel, name="cancel-run"),
    path("runs/<int:run_id>/why/", why.why, name="why"),
    path("runs/<int:run_id>/fit/", fit.fit, name="fit"),
    path("runs/<int:run_id>/export/<slug:table>.csv", export.table, name="export"),
    path("runs/<int:run_id>/export/metrics.prom", export.metrics, name="metrics"),
    path("runs/<int:run_id>/share/", share.links, name="share"),
    path("runs/<int:run_id>/share/<int:link_id>/revoke", share.revoke, name="revoke-link"),
    path("shared/<str:token>/", share.open_link, name="open-link"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/<int:cluster_id>/overview.json", clusters.overview, name="cluster-overview"),
    path("clusters/import/", imports.new, name="import"),
    path("clusters/import/<int:job_id>/", imports.job, name="import-job"),
    path("clusters/<int:cluster_id>/", clusters.cluster, name="cluster"),
]
if not settings.EMBEDDED:
    from allauth.account import views as account

    urlpatterns += [
        path("accounts/login/", account.login, name="account_login"),
        path("accounts/logout/", account.logout, name="account_logout"),
        path("accounts/signup/", account.signup, name="account_signup"),
        path("accounts/password/change/", account.password_change, name="account_change_password"),
        path("accounts/password/forgotten/", share.ask_the_operator, name="account_reset_password"),
    ]
