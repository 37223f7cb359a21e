"""Expressions over the results of runs, as the files in scenarios/papers have them.

    ring.jobs.jct_s.mean / switchml.jobs.jct_s.mean    members of summary.json of two runs
    pool(format='s19', slots=x).sim_time_s             a point of a plan, or a variant of a scenario
    formula('ring_over_ina', workers=4)                a closed form of `inasim list formulas`
    passes('model.switchml')                           whether a test of ctest passes
    column(run, 'series/links.csv', 'bytes')           a column of a table of the run, as a list

Python's parser reads them; of what it can read only the nodes below are allowed.
"""
import ast
import operator

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.USub: operator.neg, ast.Not: operator.not_,
}
FUNCTIONS = {"min": min, "max": max, "sum": sum, "len": len, "abs": abs, "round": round, "sorted": sorted,
             "mean": lambda values: sum(values) / len(values), "all": all, "any": any}
RESULTS = ("formula", "passes", "column")  # functions that the results answer


class Wrong(Exception):
    """An expression that is none, or that names what does not exist."""


class Expression:
    def __init__(self, text, where):
        self.text, self.where = text, where
        try:
            self.tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise Wrong(f"{where}: \"{text}\": {error.msg}") from None

    def _wrong(self, node, why):
        return Wrong(f"{self.where}: \"{ast.unparse(node)}\" in \"{self.text}\": {why}")

    def _arguments(self, call, x):
        if call.args:
            raise self._wrong(call, "arguments of a run are name=value")
        return {k.arg: self._constant(k.value, x) for k in call.keywords}

    def _constant(self, node, x):
        if isinstance(node, ast.Name) and node.id == "x" and x is not None:
            return x
        if isinstance(node, ast.Constant):
            return node.value
        raise self._wrong(node, "is neither a value nor x")

    def needs(self, runs, x):
        """The runs that it is of: (name, arguments) of each."""
        called = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called.add(node.func)
                if node.func.id in runs:
                    yield node.func.id, self._arguments(node, x)
                elif node.func.id not in FUNCTIONS and node.func.id not in RESULTS:
                    raise self._wrong(node, "no such run or function")
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node not in called and node.id != "x":
                if node.id not in runs:
                    raise self._wrong(node, "no such run")
                yield node.id, {}

    def value(self, results, x=None):
        """What it comes to. results: .run(name, arguments), .formula, .passes, .column."""
        def of(node):
            if isinstance(node, ast.Constant):
                return node.value
            if isinstance(node, (ast.List, ast.Tuple)):
                return [of(e) for e in node.elts]
            if isinstance(node, ast.BinOp):
                return OPERATORS[type(node.op)](of(node.left), of(node.right))
            if isinstance(node, ast.UnaryOp):
                return OPERATORS[type(node.op)](of(node.operand))
            if isinstance(node, ast.BoolOp):
                return (all if isinstance(node.op, ast.And) else any)(of(v) for v in node.values)
            if isinstance(node, ast.Compare):
                sides = [of(node.left)] + [of(c) for c in node.comparators]
                return all(OPERATORS[type(o)](a, b) for o, a, b in zip(node.ops, sides, sides[1:]))
            if isinstance(node, ast.Name):
                return x if node.id == "x" else results.run(node.id, {})
            if isinstance(node, ast.Attribute):
                return member(node, of(node.value), node.attr)
            if isinstance(node, ast.Subscript):
                return member(node, of(node.value), of(node.slice))
            if isinstance(node, ast.Slice):
                return slice(*(of(e) if e else None for e in (node.lower, node.upper, node.step)))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name in FUNCTIONS:
                    return FUNCTIONS[name](*(of(a) for a in node.args))
                if name in RESULTS:
                    return getattr(results, name)(*(of(a) for a in node.args),
                                                  **{k.arg: self._constant(k.value, x) for k in node.keywords})
                return results.run(name, self._arguments(node, x))
            raise self._wrong(node, "is not allowed here")

        def member(node, whole, key):
            try:
                return whole[key]
            except (KeyError, IndexError, TypeError):
                raise self._wrong(node, "no such member of the results") from None

        try:
            return of(self.tree)
        except KeyError as error:
            raise Wrong(f"{self.where}: \"{self.text}\": {error} is not allowed here") from None
        except TypeError:
            raise Wrong(f"{self.where}: \"{self.text}\": a member without a value") from None
        except ZeroDivisionError:
            raise Wrong(f"{self.where}: \"{self.text}\": division by 0") from None
