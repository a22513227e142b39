"""Functions that `go test` runs."""

from treering.code.languages.go.body import WrittenType

PREFIXES = ("Test", "Benchmark", "Fuzz", "Example")


def is_test(name: str, owner: str, signature: WrittenType) -> bool:
    """A test prefix not followed by a lower-case letter; a method named so, without parameters, is a suite's test."""
    prefix = next((each for each in PREFIXES if name.startswith(each)), None)
    if prefix is None or name[len(prefix) :][:1].islower() or name == "TestMain":
        return False
    return not owner or (prefix == "Test" and not signature.parts[0].parts)
