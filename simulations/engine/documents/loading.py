"""Loads documents from text, bytes, files and folders."""

import codecs
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from simulations.engine.documents.json_reader import read_json
from simulations.engine.documents.model import Document, Limits
from simulations.engine.documents.yaml_reader import read_yaml
from simulations.engine.kernel.errors import ScenarioError, ScenarioErrors

SUFFIXES = (".json", ".yaml", ".yml")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OTHER_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Up to this size, text that begins like JSON but is not is also tried as YAML, which allows the same brackets.
_SECOND_TRY = 1_000_000


def load_documents(
    content: str | bytes, file: str = "", limits: Limits | None = None, *, split_lists: bool = True
) -> list[Document]:
    """Read YAML or JSON: several documents, and `List`s taken apart into their items.

    JSON is recognised by its content. An item of a typed list, such as `PodList`, gets the kind and
    apiVersion that it leaves out. With `split_lists` off lists stay whole; `parts_of` takes them apart.

    Raises: ScenarioErrors with code, file, line and field, all found before anything is used.
    """
    limits = limits or Limits()
    size = len(content)
    if size > limits.file_bytes:
        raise ScenarioErrors([_too_large(file, size, limits.file_bytes)])
    text = _decode(content, file) if isinstance(content, bytes) else content.removeprefix("\ufeff")
    _refuse_control_characters(text, file)
    documents = _read(text, file, limits)
    return [part for document in documents for part in parts_of(document)] if split_lists else documents


def load_paths(paths: Iterable[str | Path], limits: Limits | None = None) -> list[Document]:
    """Read files, and folders with all YAML and JSON files below them in the order of their names.

    Raises: ScenarioErrors of every file that is wrong.
    """
    limits = limits or Limits()
    return load_sources(read_files(find_files(paths, limits), limits), limits)


def load_sources(sources: Iterable[tuple[str, bytes]], limits: Limits | None = None) -> list[Document]:
    """Read named contents, such as uploaded files.

    Raises: ScenarioErrors of every one that is wrong.
    """
    limits = limits or Limits()
    documents: list[Document] = []
    errors: list[ScenarioError] = []
    total = 0
    for name, content in sources:
        total += len(content)
        if total > limits.total_bytes:
            errors.append(_too_large(name, total, limits.total_bytes, "all files together are"))
            break
        try:
            documents += load_documents(content, name, limits)
        except ScenarioErrors as found:
            errors += found.errors
    if errors:
        raise ScenarioErrors(errors)
    return documents


def find_files(paths: Iterable[str | Path], limits: Limits | None = None) -> list[Path]:
    """The files that `paths` name: a file is itself, a folder all YAML and JSON files below it.

    Hidden files and folders and links to folders are left out.

    Raises: ScenarioErrors for what does not exist, is no file, or holds nothing to read.
    """
    limits = limits or Limits()
    files: list[Path] = []
    errors: list[ScenarioError] = []
    for path in map(Path, paths):
        try:
            found = _files_below(path) if path.is_dir() else [path]
            if not found:
                errors.append(ScenarioError("E0116", f"no {', '.join(SUFFIXES)} file in this folder", file=str(path)))
            files += found
        except OSError as error:
            errors.append(_unreadable(path, error))
    if len(files) > limits.files:
        errors.append(ScenarioError("E0101", f"more than {limits.files:,} files", file=str(files[0])))
    if errors:
        raise ScenarioErrors(errors)
    return files


def read_files(files: Sequence[Path], limits: Limits | None = None) -> list[tuple[str, bytes]]:
    """Names and contents of files, sizes checked before anything is read.

    Raises: ScenarioErrors of every file that is too large or cannot be read.
    """
    limits = limits or Limits()
    contents: list[tuple[str, bytes]] = []
    errors: list[ScenarioError] = []
    for path in files:
        try:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                errors.append(ScenarioError("E0115", "not a regular file", file=str(path)))
            elif found.st_size > limits.file_bytes:
                errors.append(_too_large(str(path), found.st_size, limits.file_bytes))
            else:
                contents.append((str(path), path.read_bytes()))
        except OSError as error:
            errors.append(_unreadable(path, error))
    if errors:
        raise ScenarioErrors(errors)
    return contents


def _files_below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            found += _files_below(path)
        elif path.suffix.lower() in SUFFIXES and path.is_file():
            found.append(path)
    return found


def _unreadable(path: Path, error: OSError) -> ScenarioError:
    return ScenarioError("E0115", f"cannot be read: {error.strerror or error}", file=str(path))


def _too_large(file: str, size: int, limit: int, what: str = "the file is") -> ScenarioError:
    message = f"{what} {size / 1e6:,.1f} MB, the limit is {limit / 1e6:,.1f} MB"
    return ScenarioError("E0101", message, file=file)


def _decode(content: bytes, file: str) -> str:
    for mark, name in _OTHER_ENCODINGS:
        if content.startswith(mark):
            message = f"the file is {name} (as `>` of Windows PowerShell writes it); save it as UTF-8"
            raise ScenarioErrors([ScenarioError("E0102", message, line=1, file=file)])
    try:
        return content.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}"
        raise ScenarioErrors([ScenarioError("E0102", message, line=line, file=file)]) from None


def _refuse_control_characters(text: str, file: str) -> None:
    found = _CONTROL.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        message = f"the character U+{ord(found.group()):04X} is not text; is this a binary file?"
        raise ScenarioErrors([ScenarioError("E0103", message, line=line, file=file)])


def _read(text: str, file: str, limits: Limits) -> list[Document]:
    if not text.lstrip().startswith(("{", "[")):
        return read_yaml(text, file, limits)
    try:
        return read_json(text, file, limits)
    except ScenarioErrors as json_errors:
        if json_errors.errors[0].code != "E0105" or len(text) > _SECOND_TRY or file.lower().endswith(".json"):
            raise
        try:
            return read_yaml(text, file, limits)
        except ScenarioErrors as yaml_errors:
            raise (json_errors if yaml_errors.errors[0].code == "E0104" else yaml_errors) from None


def parts_of(document: Document) -> list[Document]:
    """The document itself, or the items of a list of objects, lists within lists included.

    Raises: ScenarioErrors for items that are no objects.
    """
    value = document.value
    kind, items = value.get("kind"), value.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not (isinstance(items, list) or "items" in value):
        return [document]
    if items is None:
        return []
    if not isinstance(items, list):
        raise ScenarioErrors([_not_a_mapping(document, ("items",), "items must be a list")])
    parts: list[Document] = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise ScenarioErrors([_not_a_mapping(document, ("items", index), "an item of a list must be an object")])
        part = Document(_typed(item, value), document.file, document.locator, (*document.base, "items", index))
        parts += parts_of(part)
    return parts


def _typed(item: dict[str, Any], owner: dict[str, Any]) -> dict[str, Any]:
    """The item with the kind that its typed list leaves out."""
    kind = str(owner["kind"]).removesuffix("List")
    if not kind or "kind" in item:
        return item
    return {"apiVersion": owner.get("apiVersion"), "kind": kind} | item


def _not_a_mapping(document: Document, keys: tuple[str | int, ...], message: str) -> ScenarioError:
    path = Document({}, document.file, document.locator, (*document.base, *keys))
    return ScenarioError("E0113", message, path=path.origin, line=path.line, file=document.file)
