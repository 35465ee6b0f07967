"""The rules for the structure of the code: sizes, layers, private members and forbidden phrases."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from hocmim.information.estimators import ESTIMATORS
from hocmim.selectors.registry import METHODS, list_methods

ROOT = Path(__file__).parents[1]
MOST_FILE_LINES = 500
MOST_FUNCTION_LINES = 80
MOST_LAYERS = 10
MOST_RESULTS_BYTES = 9_000_000

# Files of other projects that are shipped unchanged.
VENDORED = {"chart.umd.min.js"}
TEXT_FILES = (".cpp", ".css", ".h", ".hpp", ".html", ".js", ".py", ".pyi")
CPP_FILES = (".cpp", ".h", ".hpp")

FORBIDDEN = (
    r"\.\./shared",
    r"\bSPEC\b(?! 0)",
    r"\basked: ",
    r"what was asked for",
    r"were asked for",
    r"[Tt]he column to tell",
    r"[Oo]f what is random",
    r"is there already",
    r"what they lack of the system",
    r"truth values?",
    r"HOCMIM left",
    r"of which it is found out",
    r"asking would be",
    r"\bis_so\b",
    r"kAComparison",
    r"_or_say_why",
    r"kind_errors",
    r"worn copies",
)

# Private members of scikit-learn that have no public equivalent.
ALLOWED_PRIVATE = {
    ("src/hocmim/selectors/base.py", "_check_feature_names_in"),
    ("src/hocmim/selectors/base.py", "_get_output_config"),
    ("src/hocmim/selectors/registry.py", "_get_param_names"),
}
# Public methods of named tuples, os._exit, and the compiled module.
PUBLIC_DESPITE_THEIR_NAME = {"_asdict", "_exit", "_fields", "_make", "_replace", "_native"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def source_files(*suffixes):
    found = [
        path
        for path in sorted((ROOT / "src").rglob("*"))
        if path.suffix in suffixes and path.name not in VENDORED
    ]
    assert found
    return found


def test_files_are_short():
    lengths = {
        name_of(path): len(path.read_text().splitlines()) for path in source_files(*TEXT_FILES)
    }
    found = [f"{name}: {n} lines" for name, n in lengths.items() if n > MOST_FILE_LINES]
    assert not found, "\n".join(found)


def test_stored_results_are_small():
    files = [path for path in (ROOT / "results").rglob("*") if path.is_file()]
    stored = {name_of(path): path.stat().st_size for path in files if path.suffix != ".png"}
    assert sum(stored.values()) < MOST_RESULTS_BYTES, max(stored, key=stored.get)


# -- functions -------------------------------------------------------------------------------------


def python_functions(text):
    """(name, lines) of every function and method."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


def blank_cpp(text):
    """C++ without comments and literals, line by line as before."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL
    )
    return token.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def cpp_functions(text):
    """(header, lines) of every function that is not inside another one."""
    text = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", blank_cpp(text))
    container = re.compile(r"\b(namespace|extern|class|struct|enum|union)\b[^()]*$")
    opened = []  # whether each open brace is a container, a function or something else
    start = 0  # where the text before the next brace begins
    for at, sign in enumerate(text):
        if sign == "{":
            header = text[start:at].strip()
            if all(kind == "container" for kind, *_ in opened):
                plain = re.sub(r"template\s*<[^{};]*>\s*(?=class|struct)", "", header)
                kind = "container" if container.search(plain) else "other"
                kind = "function" if kind == "other" and "(" in header else kind
            else:
                kind = "inner"
            first = text[:at].count("\n") - header.count("\n")
            opened.append((kind, " ".join(header.split())[-80:], first))
        elif sign == "}":
            kind, header, first = opened.pop()
            if kind == "function":
                yield header, text[:at].count("\n") - first + 1
        if sign in "{};":
            start = at + 1
    assert not opened


def long_functions(paths, functions):
    return [
        f"{name_of(path)}: {name}: {n} lines"
        for path in paths
        for name, n in functions(path.read_text())
        if n > MOST_FUNCTION_LINES
    ]


def test_python_functions_are_short():
    found = long_functions(source_files(".py"), python_functions)
    assert not found, "\n".join(found)


def test_cpp_functions_are_short():
    found = long_functions(source_files(*CPP_FILES), cpp_functions)
    assert not found, "\n".join(found)


def test_cpp_functions_are_found():
    code = """
    namespace a { // }
    template <class T> struct S : B<T> {
        int x{3};
        S() : x(1) {
            if (x) { f("{"); }
        }
        int g() const { return '{'; }
    };
    template <int n>
    int h(
        int k) {
        auto l = [&](int i) {
            return i;
        };
        return l(k);
    }
    }
    """
    assert [n for _, n in cpp_functions(code)] == [3, 1, 8]


# -- version, layers and private members -----------------------------------------------------------


def test_the_version_is_the_same_everywhere():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    released = re.findall(r"(?m)^## \[([\d.]+)\]", (ROOT / "CHANGELOG.md").read_text())
    assert released[0] == version


def test_layers_are_few_and_nothing_is_ignored():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = settings["contracts"]
    layered = [contract for contract in contracts if contract["type"] == "layers"]
    assert layered
    assert all(len(contract["layers"]) <= MOST_LAYERS for contract in layered)
    assert not any(contract.get("ignore_imports") for contract in contracts)


def is_private(name):
    is_special = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and not is_special and name not in PUBLIC_DESPITE_THEIR_NAME


def private_names_defined(tree):
    """The private names that a module gives to its functions, classes, variables and members."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            found |= {node.attr} if isinstance(node.ctx, ast.Store) else set()
    return {name for name in found if is_private(name)}


def private_names_used(tree):
    """(line, name) of private members of other objects than ``self``, ``cls`` and ``super()``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            value = node.value
            is_own = isinstance(value, ast.Name) and value.id in ("self", "cls")
            is_super = isinstance(value, ast.Call) and ast.unparse(value.func) == "super"
            if not is_own and not is_super:
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, one.name) for one in node.names if is_private(one.name))


def test_no_private_member_is_used_in_another_module():
    found = []
    for path in source_files(".py"):
        tree = ast.parse(path.read_text())
        defined = private_names_defined(tree)
        for line, name in private_names_used(tree):
            if name not in defined and (name_of(path), name) not in ALLOWED_PRIVATE:
                found.append(f"{name_of(path)}:{line}: {name}")
    assert not found, "\n".join(found)


# -- words -----------------------------------------------------------------------------------------


def texts():
    """The files that people read: code, documentation, examples and build files."""
    places = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml")
    yield from (ROOT / place for place in places)
    suffixes = (*TEXT_FILES, ".md", ".rst", ".txt", ".toml", "")
    for folder in ("src", "docs", "benchmarks", "examples", "scripts"):
        for path in sorted((ROOT / folder).rglob("*")):
            is_built = {"generated", "gallery"} & set(path.relative_to(ROOT).parts[:-1])
            is_text = path.is_file() and path.suffix in suffixes and path.name not in VENDORED
            if is_text and not (is_built and folder == "docs"):
                yield path


@pytest.mark.parametrize("phrase", FORBIDDEN)
def test_a_forbidden_phrase_does_not_occur(phrase):
    pattern = re.compile(phrase.replace(" ", r"\s+"))
    found = []
    for path in texts():
        text = path.read_text("utf-8")
        found += [
            f"{name_of(path)}:{text.count(chr(10), 0, match.start()) + 1}"
            for match in pattern.finditer(text)
        ]
    assert not found, "\n".join(found)


# -- names -----------------------------------------------------------------------------------------

MOST_FILES_WITH_A_NAME = 3
# The published experiment lists its methods.
PAPER_FILES = {"src/hocmim/experiments/paper.py"}


# The package, its commands and its modules have the name of this method: its name in prose says
# which package is meant. It is counted where it stands in quotes or as a class.
NAME_OF_THE_PACKAGE = "HOCMIM"


def files_that_name(*words):
    """The code files of src/ with one of these words, also in comments and messages."""
    pattern = re.compile("|".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in words))
    files = [
        path for path in source_files(".py", ".pyi", *CPP_FILES) if name_of(path) not in PAPER_FILES
    ]
    return [name_of(path) for path in files if pattern.search(path.read_text("utf-8"))]


@pytest.mark.parametrize("method", list_methods())
def test_few_files_name_a_method(method):
    kind = METHODS[method].__name__
    if method == NAME_OF_THE_PACKAGE:
        found = files_that_name(f'"{method}"', f"{kind}Criterion")
    else:
        found = files_that_name(method, kind, f"{kind}Criterion")
    assert len(found) <= MOST_FILES_WITH_A_NAME, found


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_few_files_name_an_estimator(estimator):
    found = files_that_name(estimator, estimator.capitalize())
    assert len(found) <= MOST_FILES_WITH_A_NAME, found
