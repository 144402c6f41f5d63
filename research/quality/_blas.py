"""Other makers' BLAS under NumPy's wheels, without building NumPy.

NumPy's wheel calls the routines of the OpenBLAS that comes with it under names of its own. A small
library of the same soname, loaded first, has these names and jumps to the same routines of another
library: that of netlib (the reference), of BLIS, or another OpenBLAS, with 64-bit integers, as
Debian has them (packages libblas64-3, liblapack64-3, libopenblas64-0-pthread, libblis64-4-pthread).
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

__all__ = ["VENDORS", "jump_library"]

LIBRARIES = Path("/usr/lib/x86_64-linux-gnu")
LAPACK = LIBRARIES / "lapack64" / "liblapack64.so.3"
VENDORS = {
    "netlib": (LIBRARIES / "blas64" / "libblas64.so.3", LAPACK),
    "BLIS": (LIBRARIES / "blis64-pthread" / "libblas64.so.3", LAPACK),
    "OpenBLAS of Debian": (
        LIBRARIES / "openblas64-pthread" / "libblas64.so.3",
        LIBRARIES / "openblas64-pthread" / "liblapack64.so.3",
    ),
}

SOURCE = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static const char *names[] = {%(names)s};
void *targets[%(count)d] __attribute__((visibility("hidden")));
static void missing(void) { fputs("a routine of BLAS is missing\\n", stderr); abort(); }
__attribute__((constructor)) static void find(void) {
    void *libraries[2];
    const char *paths[] = {%(paths)s};
    for (int i = 0; i < 2; i++)
        if (!(libraries[i] = dlopen(paths[i], RTLD_NOW))) { fputs(dlerror(), stderr); abort(); }
    for (int i = 0; i < %(count)d; i++) {
        targets[i] = dlsym(libraries[0], names[i]);
        if (!targets[i]) targets[i] = dlsym(libraries[1], names[i]);
        if (!targets[i]) targets[i] = (void *)missing;
    }
}
"""


def jump_library(vendor: str, folder: Path) -> Path | None:
    """Make the library that leads NumPy to a vendor's; None where there is no such vendor here."""
    blas, lapack = VENDORS[vendor]
    wheel = list((Path(np.__file__).parents[1] / "numpy.libs").glob("libscipy_openblas64_*"))
    if not (blas.exists() and lapack.exists() and wheel):
        return None
    own = sorted(set(_undefined(Path(np.__file__).parent)))
    names = [re.sub(r"^scipy_|64_$", "", name) for name in own]
    where = folder / vendor.replace(" ", "-")
    where.mkdir()
    (where / "jump.c").write_text(
        SOURCE
        % {
            "names": ", ".join(f'"{name}"' for name in names),
            "count": len(names),
            "paths": f'"{blas}", "{lapack}"',
        }
    )
    jumps = [
        f".globl {name}\n{name}: jmp *targets+{8 * position}(%rip)"
        for position, name in enumerate(own)
    ]
    marks = '.section .note.GNU-stack,"",@progbits'
    (where / "jump.s").write_text("\n".join([".text", *jumps, marks, ""]))
    made = where / wheel[0].name
    subprocess.run(  # noqa: S603  our own source
        ["gcc", "-shared", "-fPIC", "-o", made, where / "jump.c", where / "jump.s", "-ldl",  # noqa: S607
         f"-Wl,-soname,{wheel[0].name}"],
        check=True,
    )  # fmt: skip
    return made


def _undefined(package: Path) -> Iterator[str]:
    """Yield the routines that a package's modules take from the library of its wheel."""
    for module in package.rglob("*.so"):
        listed = subprocess.run(  # noqa: S603
            ["nm", "-D", "--undefined-only", module],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
        )
        yield from re.findall(r"\bscipy_\w+", listed.stdout)
