"""The rules of the house that a machine can hold: rooms, sizes, names, and documents that say what is so."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OURS = ("chat", "memoryapp")
FILE_LINES, FUNCTION_LINES, PARAMETERS, POSITIONAL = 400, 60, 6, 5

# From top to bottom; a room may import itself and those below it. What stands in chat/ itself, and rooms not named here, is web.
ROOMS = ("memoryapp", "web", "jobs", "runs", "memory", "providers", "search", "documents", "models", "text")
STRICTER = {"providers": {"text"}, "documents": {"text"}, "text": set()}  # a provider and a document know no rows and ask no index
BANNED_NAMES = {"utils", "helpers", "common", "misc", "manager", "base2"}

# Where `except Exception` stands, and why it may.
BROAD_EXCEPTS = {
    "chat/jobs/worker.py": "the worker's loop, and one piece of its work",
    "chat/jobs/keeper.py": "the loop of the worker's second thread",
    "chat/runs/beat.py": "the loop that keeps a web process's runs alive",
    "chat/runs/execute.py": "a run's task, and one tool call",
    "chat/memory/catch_up.py": "one layer",
    "chat/memory/read.py": "one layer",
    "chat/memory/notes/review.py": "one review: whatever goes wrong is its state",
    "chat/memory/blocked.py": "a scan that fails stops the text",
    "chat/memory/external/ask.py": "one remote backend",
}
# Where text is declared to be HTML, and why it is.
SAFE_HTML = {
    "chat/text/markdown.py": "the one place that sanitises",
    "templates/_field.html": "Django's own help texts, of which that of passwords is a list",
}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def sources(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if "migrations" not in path.parts]


def name_of(path: Path) -> str:
    """`chat/runs/__init__.py` is `chat.runs`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def place(path: Path, node: ast.AST | None = None) -> str:
    return f"{path.relative_to(ROOT)}{f':{node.lineno}' if node is not None else ''}"


MODULES = {name_of(path): path for path in sources(*OURS)}


def imports_of(path: Path, node: ast.AST) -> Iterator[str]:
    """The modules of ours that an import statement names; `from chat.runs import live` is `chat.runs.live`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name.split(".")[0] in OURS)
    elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OURS:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in MODULES else node.module


def all_imports(path: Path) -> set[str]:
    return {name for node in ast.walk(tree(path)) for name in imports_of(path, node)}


def room_of(module: str) -> str:
    parts = module.split(".")
    if parts[0] == "memoryapp":
        return "memoryapp"
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS else "web"


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_imports_go_downwards():
    wrong = []
    for module, path in MODULES.items():
        here = room_of(module)
        below = {*STRICTER.get(here, set(ROOMS[ROOMS.index(here) :])), here}
        wrong += [f"{place(path)} imports {name}" for name in all_imports(path) if name != "chat" and room_of(name) not in below]
    assert not wrong


def test_the_room_of_text_knows_no_framework():
    frameworks = re.compile(r"^(django|channels|daphne|httpx)\b")
    wrong = []
    for path in sources("chat/text"):
        for node in ast.walk(tree(path)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wrong += [f"{place(path, node)} imports {name}" for name in names if frameworks.match(name)]
    assert not wrong


def test_a_backend_on_the_network_knows_the_contract_and_itself_alone():
    allowed = ("chat.memory.backends.base.", "chat.memory.backends.openviking.")
    wrong = []
    for path in sources("chat/memory/backends/openviking"):
        wrong += [f"{place(path)} imports {name}" for name in all_imports(path) if not f"{name}.".startswith(allowed)]
    assert not wrong


def test_nothing_of_ours_is_imported_inside_a_function():
    inner = [(path, node) for path in MODULES.values() for function in functions(path) for node in ast.walk(function)]
    assert not [place(path, node) for path, node in inner if list(imports_of(path, node))]


def test_no_import_goes_round_in_a_circle():
    graph = {module: all_imports(path) - {module} for module, path in MODULES.items()}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " → ".join((*way[way.index(module) :], module))
        if module not in done:
            for name in sorted(graph.get(module, ())):
                visit(name, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_files_are_short():
    long = [place(path) for path in sources(*OURS, "tests") if len(path.read_text().splitlines()) > FILE_LINES]
    assets = [*(ROOT / "static").rglob("*.css"), *(ROOT / "static").rglob("*.js"), *(ROOT / "templates").rglob("*.html")]
    assert not long + [place(path) for path in assets if len(path.read_text().splitlines()) > FILE_LINES]


def test_functions_are_short():
    found = [(path, node) for path in sources(*OURS, "tests") for node in functions(path)]
    assert not [place(path, node) for path, node in found if node.end_lineno - node.lineno + 1 > FUNCTION_LINES]


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    names = [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_functions_take_few_parameters():
    wrong = []
    for path in sources(*OURS):
        for node in functions(path):
            by_position = len(positional(node))
            if by_position > POSITIONAL or by_position + len(node.args.kwonlyargs) > PARAMETERS:
                wrong.append(f"{place(path, node)} {node.name}")
    assert not wrong


def test_modules_have_names_that_say_something():
    in_backends = [path for path in MODULES.values() if "backends" in path.parts and path.stem == "manager"]
    assert not [place(path) for path in MODULES.values() if path.stem in BANNED_NAMES and path not in in_backends]


def test_broad_excepts_stand_only_where_there_is_a_reason():
    broad = set()
    for path in MODULES.values():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")):
                reraises = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if not reraises:
                    broad.add(str(path.relative_to(ROOT)))
    assert broad == set(BROAD_EXCEPTS)


def test_nothing_is_left_to_do_later():
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b")
    files = [*sources(*OURS, "tests"), *(ROOT / "templates").rglob("*.html"), *(ROOT / "static").rglob("*.[cj]s*")]
    assert not [place(path) for path in files if path != Path(__file__) and marks.search(path.read_text())]


def test_only_markdown_declares_html_safe():
    calls = re.compile(r"\bmark_safe\b|\bSafeString\(|\|\s*safe\b|autoescape off")
    files = [*MODULES.values(), *(ROOT / "templates").rglob("*.html")]
    assert {place(path) for path in files if calls.search(path.read_text())} <= set(SAFE_HTML)


def test_templates_keep_to_the_content_security_policy():
    inline = re.compile(r"""\sstyle\s*=|\son[a-z]+\s*=\s*["']|<style\b|javascript:|<script\b(?![^>]*\bsrc=)""", re.IGNORECASE)
    found = [(path, inline.search(path.read_text())) for path in (ROOT / "templates").rglob("*.html")]
    assert not [f"{place(path)}: {match[0]}" for path, match in found if match]


@pytest.mark.parametrize("package", sorted(name for name, path in MODULES.items() if path.name == "__init__.py"))
def test_a_package_says_what_is_in_it(package):
    path = MODULES[package]
    said = ast.get_docstring(tree(path)) or ""
    files = [one.stem for one in path.parent.glob("*.py") if one.stem != "__init__"]
    missing = [name for name in sorted(files) if not re.search(rf"\b{name}\b", said)]
    assert said and not missing, f"{place(path)} says nothing of {missing}"


# Documents


def variables() -> dict[str, str]:
    """What settings.py reads from the environment, with the default where it is a number or a text that stands there."""
    found = {}
    for node in ast.walk(tree(ROOT / "memoryapp" / "settings.py")):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("positive_int", "env.str", "env.bool", "env.list", "env.db_url"):
            if not isinstance(node.args[0], ast.Constant):
                continue  # inside positive_int itself
            default = [*node.args[1:], *(word.value for word in node.keywords if word.arg == "default")]
            text = str(default[0].value) if default and isinstance(default[0], ast.Constant) else ""
            found[node.args[0].value] = found.get(node.args[0].value) or text
    return found


def table() -> dict[str, str]:
    """The environment table of the README: a row for each variable."""
    return dict(re.findall(r"^\| `([A-Z_]+)` \|(.*)$", (ROOT / "README.md").read_text(), re.MULTILINE))


def test_the_readme_names_every_variable():
    # The key's variable is read by name, at the call; the settings do not hold it.
    assert set(table()) == {*variables(), "OPENAI_API_KEY"}


def test_the_readme_gives_the_defaults():
    words = {"True": "1", "False": "0"}
    said = {name: row.split("|")[0].strip(" `") for name, row in table().items()}
    assert not [name for name, default in variables().items() if default and said[name] != words.get(default, default)]


def test_the_readme_names_every_command():
    readme = (ROOT / "README.md").read_text()
    commands = {path.stem for path in (ROOT / "chat" / "management" / "commands").glob("*.py")} - {"__init__"}
    assert not [name for name in commands if f"`{name}" not in readme]


def test_the_readme_names_every_make_target():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE)
    assert targets
    assert not [name for name in targets if f"`make {name}`" not in readme]
