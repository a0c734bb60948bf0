"""Code compiled straight-line: functions whose source is copies of a statement between two reads of
the clock.

The syntax tree is copied, so that line numbers in a traceback are those of the user's own source,
and no text is changed by indentation. The added names (`<clock>`, `<begin>`, `<end>`) are not valid
Python names, so they cannot collide with any name in the statement.
"""

import ast
import builtins
import linecache
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from hairspring import _native
from hairspring._native import OptionError

Clock = Callable[[], int]
Row = Callable[[Clock], int]
Code = str | Callable[..., object]

#: Most nodes of the syntax tree of one row, unless it is one of the shortest rows.
MOST_NODES = 200_000
#: Most characters of an argument in the text of a call.
LONGEST_ARGUMENT = 40
#: Copies that are compiled even if the statement is large.
FEWEST_COPIES = 8
#: Runs of a row before it is measured, so that the interpreter has specialised every instruction
#: ...
WARMING_RUNS = 128
#: ... and the time after which no further one begins, in seconds.
WARMING_SECONDS = 0.005
#: Most copies of the code object of a row, each for some placements: where it lies may change the
#: time ...
MOST_CODES = 16
#: ... and the time that their first runs may take in all, after which no further one is made, in
#: seconds.
CODES_SECONDS = 0.01
#: Times that the setup of an alternative makes its data, for placements that differ: about as many
#: as a run has ...
MOST_SETS = 64
#: ... the time after which it does so no more, in seconds ...
SETS_SECONDS = 0.03
#: ... and the bytes after which it does so no more: arrays of zeros take no time, and memory when
#: they are used.
SETS_BYTES = 64 << 20


class Counts(NamedTuple):
    """How often a row runs body and init, and how they are ordered."""

    bodies: int
    inits: int
    #: Whether an equal number of inits runs before every body, instead of one and the further ones
    #: at the end.
    in_place: bool


class Source(NamedTuple):
    """A piece of code that was read."""

    text: str
    body: list[ast.stmt]
    #: Names that it declares global. The declarations themselves are removed, because all copies
    #: need a single one.
    declared: frozenset[str]


class Statement:
    """A statement with its init and setup, ready to be compiled at any number of copies."""

    def __init__(
        self,
        code: Code,
        init: Code | None,
        setup: Code | None,
        namespace: dict[str, Any] | None,
        file: str = "<statement>",
        arguments: Sequence[object] = (),
        *,
        moves: bool = False,
    ) -> None:
        """Reads the code; `SyntaxError` with its line if it is not Python, `OptionError` if it is
        empty.

        If init and code are callables, init is called with the arguments and the code with the
        result of init; else a callable code is called with the arguments. If the data `moves`, the
        setup makes several sets of them.
        """
        self._globals: dict[str, Any] = (
            {"__builtins__": builtins} if namespace is None else namespace
        )
        self._file = file
        self._handed: dict[str, object] = {
            f"<argument {at}>": argument for at, argument in enumerate(arguments)
        }
        self._sets: list[dict[str, Any]] = [{}]
        self._placement = 0
        self._moves = moves
        self._setup = setup if callable(setup) else read(setup or "", "<setup>")
        handed = list(self._handed)
        returns = callable(code) and callable(init)
        self._body = self._read(code, file, ["<value>"] if returns else handed)
        self._init = Source("", [], frozenset())
        if init is not None:
            self._init = self._read(
                init, "<init>", handed if returns else [], "<value>" if returns else None
            )
            move_behind(self._body, self._init)
        if not self._body.body:
            raise OptionError(
                "the statement is empty: there is nothing to time (`pass` is Python's empty "
                "statement)"
            )
        self._compile([*self._init.body, *self._body.body], [], file)
        remember(file, [self._body.text, self._init.text])

    def _read(
        self, code: Code, file: str, arguments: list[str], returned: str | None = None
    ) -> Source:
        if isinstance(code, str):
            return read(code, file)
        if not callable(code):
            raise TypeError(f"{file} must be text or a callable, not {type(code).__name__}")
        called_code = call(file, *arguments)
        text = described(
            code, [repr(self._handed[name]) for name in arguments if name in self._handed]
        )
        self._handed[file] = code
        return Source(
            text,
            [ast.Expr(called_code) if returned is None else assignment(returned, called_code)],
            frozenset(),
        )

    @property
    def text(self) -> str:
        """The statement as it was written; for a callable, the call."""
        return self._body.text

    def rows(self) -> list[Counts]:
        """The engine's rows that can be compiled, the shortest first."""
        counts = [Counts(*row) for row in _native.rows(with_init=bool(self._init.body))]
        nodes = sum(1 for tree in self._init.body + self._body.body for _ in ast.walk(tree))
        return [
            count
            for count in counts
            if count.bodies <= FEWEST_COPIES or count.bodies * nodes <= MOST_NODES
        ]

    def prepare(self) -> None:
        """Runs the setup. Its names are then known to the statement and to the init."""
        if not isinstance(self._setup, Source):
            self._setup()
        elif self._setup.body:
            remember("<setup>", [self._setup.text])
            setup = self._compile(
                [*self._setup.body, ast.Return(call("<locals>"))], ["<locals>"], "<setup>"
            )
            threads = threading.active_count()
            self._sets = [made_by(setup)]
            if self._moves and threading.active_count() == threads:
                self._make_further_sets(setup)

    def _make_further_sets(self, setup: Callable[..., Any]) -> None:
        """Runs the setup again: its data then lie elsewhere. Names that are not the same each
        time end it.
        """
        used = self._sets[0].keys() & used_names([*self._init.body, *self._body.body])
        begin = time.perf_counter()
        most_sets = SETS_BYTES // max(1, sum(sys.getsizeof(self._sets[0][name]) for name in used))
        while (
            len(self._sets) < min(MOST_SETS, most_sets)
            and time.perf_counter() - begin < SETS_SECONDS
        ):
            made_data = made_by(setup)
            if made_data.keys() != self._sets[0].keys() or not is_elsewhere(
                made_data, self._sets[-1], used
            ):
                break
            self._sets.append(made_data)

    def place(self, placement: int) -> None:
        """Takes the data and the code objects of this placement: where they lie may change the
        time, and is in the interval then.
        """
        self._placement = placement

    def function(self, bodies: int, inits: int, in_place: bool) -> Row:
        """The function of a row. Calls warm up what they run for the first time."""
        copies = list(self._copies(Counts(bodies, inits, in_place)))
        names = self._sets[0].keys() & used_names([*self._init.body, *self._body.body])
        own_names = sorted(names - self._body.declared - self._init.declared)
        function = self._compile(
            between_reads(copies), ["<clock>", *own_names, *self._handed], self._file
        )
        handed = tuple(self._handed.values())
        sets = [(*(made[name] for name in own_names), *handed) for made in self._sets]
        return Warmed(function, sets, lambda: self._placement)

    def _copies(self, counts: Counts) -> Iterator[ast.stmt]:
        before = counts.inits // counts.bodies if counts.in_place else min(counts.inits, 1)
        for _ in range(counts.bodies):
            yield from self._init.body * before
            yield from self._body.body
        yield from self._init.body * (counts.inits - before * counts.bodies)

    def _compile(self, body: list[ast.stmt], parameters: list[str], file: str) -> FunctionType:
        declared_names = (
            self._setup.declared
            if file == "<setup>" and isinstance(self._setup, Source)
            else frozenset()
        )
        declared_names = declared_names or self._body.declared | self._init.declared
        first: list[ast.stmt] = [ast.Global(sorted(declared_names))] if declared_names else []
        arguments = ast.arguments(
            [], [ast.arg(name) for name in parameters], None, [], [], None, []
        )
        tree = ast.Module([ast.FunctionDef("statement", arguments, first + body, [])], [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # they were shown when the code was read
            code = compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)
        made: dict[str, FunctionType] = {}
        exec(code, self._globals, made)
        return made["statement"]


class Warmed:
    """The function of a row, whose code and data lie elsewhere from placement to placement. New
    code is warmed up.
    """

    def __init__(
        self,
        function: FunctionType,
        arguments: Sequence[tuple[Any, ...]],
        placement: Callable[[], int],
    ) -> None:
        """`function` takes the clock and then the arguments of the placement."""
        self._functions = [function]
        self._arguments = arguments
        self._placement = placement
        self._placed_at: int | None = None
        self._function = function
        self._handed: tuple[Any, ...] = ()
        self._spent = 0.0

    def __call__(self, clock: Clock) -> int:
        """Ticks between the two reads of the clock."""
        placement = self._placement()
        if placement != self._placed_at and self._place(placement):
            return self._warm_up(clock)
        ticks: int = self._function(clock, *self._handed)
        return ticks

    def _place(self, placement: int) -> bool:
        """Takes the code and the data of a placement. Whether the code is new."""
        self._handed = self._arguments[placement % len(self._arguments)]
        is_first = self._placed_at is None
        self._placed_at = placement
        if is_first:
            return True
        if len(self._functions) < MOST_CODES and self._spent < CODES_SECONDS:
            self._function = elsewhere(self._functions[0])
            self._functions.append(self._function)
            return True
        self._function = self._functions[placement % len(self._functions)]
        return False

    def _warm_up(self, clock: Clock) -> int:
        begin = time.perf_counter()
        ticks: int = self._function(clock, *self._handed)
        runs = 1
        while runs < WARMING_RUNS and time.perf_counter() - begin < WARMING_SECONDS:
            ticks = self._function(clock, *self._handed)
            runs += 1
        self._spent += time.perf_counter() - begin
        return ticks


def elsewhere(function: FunctionType) -> FunctionType:
    """The same function with a code object of its own, which lies elsewhere."""
    return FunctionType(function.__code__.replace(), function.__globals__, function.__name__)


def is_elsewhere(made_data: dict[str, Any], before: dict[str, Any], names: set[str]) -> bool:
    """Whether data are made anew, and are alike.

    A class or a function that the setup defines is another one each time: the interpreter, which
    has specialised the code for the one before, would start anew.
    """
    pairs = [
        (made_data[name], before[name]) for name in names if made_data[name] is not before[name]
    ]
    are_alike = all(
        type(one) is type(other) and not isinstance(one, type | FunctionType)
        for one, other in pairs
    )
    return bool(pairs) and are_alike


def made_by(setup: Callable[..., Any]) -> dict[str, Any]:
    """The names that a setup leaves, with their values."""
    return {name: value for name, value in setup(locals).items() if not name.startswith("<")}


# ---- reading


def read(text: str, file: str) -> Source:
    """Reads a piece of code, indented or not. `SyntaxError` with the wrong line."""
    if "\0" in text:
        raise OptionError(
            f"{file} contains a null character at {text.index(chr(0))}: Python code cannot"
        )
    remember(file, [text])
    try:
        tree = parsed(text, file)
    except IndentationError:
        text = textwrap.dedent(text)
        remember(file, [text])
        tree = parsed(text, file)
    globals_taken = WithoutGlobals()
    globals_taken.visit(tree)
    return Source(text, tree.body, frozenset(globals_taken.declared))


def parsed(text: str, file: str) -> ast.Module:
    """The syntax tree of code; a `return` or an `await` outside a function is refused here."""
    tree = ast.parse(text, file)
    compile(text, file, "exec", dont_inherit=True)
    return tree


def remember(file: str, texts: Iterable[str]) -> None:
    """Makes tracebacks show the lines of code that has no file."""
    lines = [line + "\n" for text in texts for line in text.split("\n")]
    linecache.cache[file] = (sum(map(len, lines)), None, lines, file)


def move_behind(body: Source, init: Source) -> None:
    """Numbers the lines of an init as if they came after those of the body: both are compiled
    into one function.
    """
    for tree in init.body:
        ast.increment_lineno(tree, body.text.count("\n") + 1)


def described(code: Callable[..., object], arguments: list[str]) -> str:
    """A call of the code as text."""
    name = (
        getattr(code, "__qualname__", None)
        or getattr(code, "__name__", None)
        or type(code).__name__
    )
    shortened = [
        text if len(text) <= LONGEST_ARGUMENT else f"{text[: LONGEST_ARGUMENT - 3]}..."
        for text in arguments
    ]
    return f"{name}({', '.join(shortened)})".split("<locals>.")[-1]


def used_names(trees: Iterable[ast.stmt]) -> set[str]:
    """Every name in the code, in any scope."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    deeper = {
        name for node in nodes if isinstance(node, ast.Nonlocal | ast.Global) for name in node.names
    }
    return deeper | {node.id for node in nodes if isinstance(node, ast.Name)}


class WithoutGlobals(ast.NodeTransformer):
    """Removes the declarations of global names, except those in inner scopes, and collects the
    names.
    """

    def __init__(self) -> None:
        """Starts without names."""
        self.declared: set[str] = set()

    def visit(self, node: ast.AST) -> Any:
        """The node without the declarations in it."""
        if isinstance(node, ast.Global):
            self.declared.update(node.names)
            return ast.copy_location(ast.Pass(), node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            return node
        return self.generic_visit(node)


# ---- writing


def call(function: str, *arguments: str) -> ast.Call:
    """A call by names."""
    return ast.Call(
        ast.Name(function, ast.Load()), [ast.Name(name, ast.Load()) for name in arguments], []
    )


def assignment(name: str, value: ast.expr) -> ast.stmt:
    """An assignment of a value to a name."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def between_reads(copies: list[ast.stmt]) -> list[ast.stmt]:
    """The copies between two reads of the clock, and the ticks in between."""
    difference = ast.BinOp(
        ast.Name("<end>", ast.Load()), ast.Sub(), ast.Name("<begin>", ast.Load())
    )
    begin, end = assignment("<begin>", call("<clock>")), assignment("<end>", call("<clock>"))
    return [begin, *copies, end, ast.Return(difference)]
