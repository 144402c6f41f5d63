"""Call one function in a fresh process and print its result as JSON; see `in_fresh_process`."""

import json
import sys
from importlib import import_module


def main() -> None:
    """Call `package.module:name` with the JSON object of keyword arguments that follows."""
    function, arguments = sys.argv[1:]
    module, name = function.split(":")
    print(json.dumps(getattr(import_module(module), name)(**json.loads(arguments))))


if __name__ == "__main__":
    main()
