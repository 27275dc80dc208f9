"""The openb trace: choose how it is run, or bring one's own files."""

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.access import viewer
from dashboard.forms import new_token
from simulations import services
from simulations.openb import MODES, MOST_ROWS, CsvFile, OpenbRequest, base_of_openb, bundled_figures
from simulations.services import ScenarioErrors


class OpenbForm(forms.Form):
    """How the trace is run."""

    mode = forms.ChoiceField(
        label="Mode", initial=MODES[0], widget=forms.RadioSelect,
        choices=[
            ("fill", "Fill: all pods wait, one is decided after the other, none leaves"),
            ("recorded", "Recorded: pods come and go at their own times, 149 days of them"),
        ],
    )  # fmt: skip
    gpu_nodes_only = forms.BooleanField(required=False, label="Only nodes with cards, as the paper on the trace has it")
    pods = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_ROWS, label="Pods",
        help_text="the first ones of the file; empty: all",
    )  # fmt: skip
    nodes_file = forms.FileField(required=False, label="Node list", help_text="CSV: sn,cpu_milli,memory_mib,gpu,model")
    pods_file = forms.FileField(required=False, label="Pod list", help_text="CSV: name,cpu_milli,memory_mib,num_gpu,gpu_milli,…")
    token = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.initial.setdefault("token", new_token())
        for name in ("pods", "nodes_file", "pods_file"):
            self.fields[name].widget.attrs["aria-describedby"] = f"help-{name}"
        for name in ("nodes_file", "pods_file"):
            self.fields[name].widget.attrs["accept"] = ".csv"

    def wanted(self) -> OpenbRequest:
        """What a valid form asks for."""
        data = self.cleaned_data
        return OpenbRequest(data["mode"], data["gpu_nodes_only"], data["pods"], _file(data["nodes_file"]), _file(data["pods_file"]))


def _file(uploaded: "UploadedFile[bytes] | None") -> CsvFile | None:
    """Its bytes, and not many more than are allowed."""
    if uploaded is None:
        return None
    return CsvFile(uploaded.name or "file", uploaded.read(settings.MAX_UPLOAD_BYTES + 1))


@require_http_methods(["GET", "POST"])
def openb(request: HttpRequest) -> HttpResponse:
    """Show the form, or run the trace and go to its timeline."""
    if request.method == "GET":
        return _page(request, OpenbForm(initial={"mode": request.GET.get("mode", MODES[0])}))
    form = OpenbForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=400)
    try:
        base = base_of_openb(form.wanted())
        asked = services.RunRequest(token=form.cleaned_data["token"] or None, owner=viewer(request).user)
        return redirect("run", services.create_run(base, asked).pk)
    except ScenarioErrors as errors:
        return _page(request, form, errors, 400)


def _page(request: HttpRequest, form: OpenbForm, errors: ScenarioErrors | None = None, status: int = 200) -> HttpResponse:
    context = {"form": form, "errors": errors.errors if errors else (), "figures": bundled_figures()}
    return render(request, "openb.html", context, status=status)
