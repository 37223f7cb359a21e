"""inasim from Python, without compilation: see inasim.h, which says what each function does.

    import inasim
    run = inasim.run("scenario.json", {"/seed": 2})
    run["jobs"]["jct_s"]          # a list; run.frame("jobs") is a DataFrame of pandas

    with inasim.Simulation(scenario) as s:             # a path, or a dictionary
        group = s.group("all_reduce", "switchml", [0, 1, 2, 3], 1_000_000, done)
        group.put(1_000_000)
        s.run()
"""
import ctypes as c
import glob
import json
import math
import os


class Error(Exception):
    """A mistake in the scenario, or what a scheme cannot do."""


class _Column(c.Structure):
    _fields_ = [("name", c.c_char_p), ("help", c.c_char_p), ("rows", c.c_size_t),
                ("numbers", c.POINTER(c.c_double)), ("texts", c.POINTER(c.c_char_p))]


_AT = c.CFUNCTYPE(None, c.c_void_p)
_DONE = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, c.c_uint64)
_SETS, _ERROR = c.POINTER(c.c_char_p), c.POINTER(c.c_void_p)


def _load():
    here = os.path.dirname(os.path.abspath(__file__))  # PREFIX/lib/python3/dist-packages
    for name in [os.environ.get("INASIM_LIBRARY"), os.path.join(here, "libinasim.so"),
                 *glob.glob(os.path.join(here, "../../../lib*/libinasim.so.0"))]:
        if name and os.path.exists(name):
            return c.CDLL(name)
    return c.CDLL("libinasim.so.0")


_lib, _libc = _load(), c.CDLL(None)
_libc.free.argtypes = [c.c_void_p]
for _name, _result, _arguments in [
        ("version", c.c_char_p, []),
        ("load", c.c_void_p, [c.c_char_p, _SETS, _ERROR]),
        ("parse", c.c_void_p, [c.c_char_p, _SETS, _ERROR]),
        ("close", None, [c.c_void_p]),
        ("run", c.c_bool, [c.c_void_p, c.c_double]),
        ("stop", None, [c.c_void_p]),
        ("now", c.c_double, [c.c_void_p]),
        ("end", c.c_char_p, [c.c_void_p]),
        ("digest", c.c_uint64, [c.c_void_p]),
        ("summary", c.c_void_p, [c.c_void_p]),
        ("table", c.c_char_p, [c.c_void_p, c.c_size_t]),
        ("column", c.c_bool, [c.c_void_p, c.c_char_p, c.c_char_p, c.POINTER(_Column)]),
        ("column_name", c.c_char_p, [c.c_void_p, c.c_char_p, c.c_size_t]),
        ("column_free", None, [c.POINTER(_Column)]),
        ("at", None, [c.c_void_p, c.c_double, _AT, c.c_void_p]),
        ("hosts", c.c_size_t, [c.c_void_p]),
        ("group", c.c_void_p, [c.c_void_p, c.c_char_p, c.c_char_p, c.POINTER(c.c_uint32), c.c_size_t,
                               c.c_uint64, _DONE, c.c_void_p, _ERROR]),
        ("put", None, [c.c_void_p, c.c_size_t, c.c_uint64]),
        ("group_close", None, [c.c_void_p])]:
    getattr(_lib, "inasim_" + _name).restype = _result
    getattr(_lib, "inasim_" + _name).argtypes = _arguments

version = _lib.inasim_version().decode()


def _text(pointer):
    text = c.string_at(pointer).decode()
    _libc.free(pointer)
    return text


class Group:
    """Hosts that do one kind of operation by a scheme."""

    def __init__(self, simulation, pointer, count):
        self._simulation, self._pointer, self.count = simulation, pointer, count

    def put(self, size, member=None):
        """One member, or all, take part in the next operation."""
        for m in range(self.count) if member is None else [member]:
            _lib.inasim_put(self._pointer, m, size)

    def close(self):
        _lib.inasim_group_close(self._pointer)


class Simulation:
    """One simulation, of a scenario that is a path or a dictionary."""

    def __init__(self, scenario, sets=None):
        texts = [f"{key}={value if isinstance(value, str) else json.dumps(value)}".encode()
                 for key, value in (sets or {}).items()]
        array, error = (c.c_char_p * (len(texts) + 1))(*texts, None), c.c_void_p()
        if isinstance(scenario, dict):
            self._s = _lib.inasim_parse(json.dumps(scenario).encode(), array, c.byref(error))
        else:
            self._s = _lib.inasim_load(os.fspath(scenario).encode(), array, c.byref(error))
        if not self._s:
            raise Error(_text(error.value))
        self._calls = []  # callbacks, which must live as long as C may call them
        self._raised = None

    def close(self):
        _lib.inasim_close(self._s)
        self._s = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _guarded(self, call):
        def guarded(*arguments):
            try:
                call(*arguments)
            except BaseException as error:  # ctypes would print it and go on
                self._raised = self._raised or error
                self.stop()
        return guarded

    def run(self, until=math.inf):
        """True if the run has only paused. What a callback raises ends it, and is raised here."""
        paused = _lib.inasim_run(self._s, until)
        if self._raised:
            raised, self._raised = self._raised, None
            raise raised
        return paused

    def stop(self):
        _lib.inasim_stop(self._s)

    @property
    def now(self):
        return _lib.inasim_now(self._s)

    @property
    def end(self):
        end = _lib.inasim_end(self._s)
        return end.decode() if end else None

    @property
    def digest(self):
        return f"{_lib.inasim_digest(self._s):016x}"

    @property
    def hosts(self):
        return _lib.inasim_hosts(self._s)

    def summary(self):
        """summary.json as a dictionary; None before the end."""
        text = _lib.inasim_summary(self._s)
        return json.loads(_text(text)) if text else None

    def _column(self, table, name):
        column = _Column()
        _lib.inasim_column(self._s, table, name, c.byref(column))
        if column.texts:
            values = [t.decode() if t is not None else None for t in column.texts[:column.rows]]
        else:
            values = column.numbers[:column.rows]
        _lib.inasim_column_free(c.byref(column))
        return values

    def table(self, name):
        """A table as a dictionary of its columns, each a list."""
        names, table = [], name.encode()
        while column := _lib.inasim_column_name(self._s, table, len(names)):
            names.append(column)
        if not names:
            raise KeyError(name)
        return {column.decode(): self._column(table, column) for column in names}

    def tables(self):
        """The names of all tables."""
        names = []
        while name := _lib.inasim_table(self._s, len(names)):
            names.append(name.decode().removesuffix(".csv"))
        return names

    def at(self, time, call):
        """Calls call() at a simulated time."""
        callback = _AT(self._guarded(lambda _: call()))
        self._calls.append(callback)
        _lib.inasim_at(self._s, time, callback, None)

    def group(self, operation, scheme, hosts, size, done=None):
        """done(member, number) is told of each result."""
        callback = _DONE(self._guarded(lambda _, m, n: done(m, n))) if done else _DONE()
        error = c.c_void_p()
        pointer = _lib.inasim_group(self._s, operation.encode(), scheme.encode(),
                                    (c.c_uint32 * len(hosts))(*hosts), len(hosts), size, callback,
                                    None, c.byref(error))
        if not pointer:
            raise Error(_text(error.value))
        self._calls.append(callback)
        return Group(self, pointer, len(hosts))


class Results:
    """What a run has left: result["jobs"]["jct_s"], result.summary, result.frame("flows")."""

    def __init__(self, simulation):
        self.summary, self.end, self.digest = simulation.summary(), simulation.end, simulation.digest
        self._tables = {name: simulation.table(name) for name in simulation.tables()}

    def __getitem__(self, name):
        if name not in self._tables:
            raise KeyError(f"no table {name}; there are {', '.join(self._tables)}")
        return self._tables[name]

    def keys(self):
        return self._tables.keys()

    def frame(self, name):
        import pandas
        return pandas.DataFrame(self._tables[name])


def run(scenario, sets=None):
    """Runs a scenario, a path or a dictionary, to its end."""
    with Simulation(scenario, sets) as simulation:
        simulation.run()
        return Results(simulation)
