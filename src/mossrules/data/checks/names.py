"""What the name of a column says of its values: that it is an identifier, a person, or a code."""

from __future__ import annotations

import re
import shlex

__all__ = ["drop", "in_shell", "names_code", "names_identifier", "names_member", "words"]


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# Words of a name, in the ways people write them: patient_id, patientId, PATIENT-ID, patient id.
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
IDENTIFIER = words(
    "id ids uid uuid guid pid mrn ssn nhs key identifier idx index rowid phone telephone fax email "
    "mail iban passport"
)
LAST = words("no nr num number code serial record")  # at the end of a name: case_no
WHO = words(
    "patient subject participant person respondent client customer user member student pupil "
    "employee household family animal mouse rat"
)
MEMBER = WHO | words("study case visit sample record order account")
GLUED = re.compile(rf"({'|'.join(sorted(MEMBER))})(id|no|nr|num|number)")
CODE = words("zip zipcode postcode postal plz fips icd icd9 icd10 naics sic cpt atc iso")


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORDS.findall(name)]


def names_identifier(name: str) -> bool:
    """Tell whether a name says that each value stands for one thing.

    Examples
    --------
    >>> [names_identifier(name) for name in ("patient_id", "caseNo", "Unnamed: 0", "humid")]
    [True, True, True, False]
    """
    words = _words(name)
    return (
        not IDENTIFIER.isdisjoint(words)
        or (len(words) > 1 and words[-1] in LAST and words[-2] in MEMBER)
        or any(GLUED.fullmatch(word) for word in words)
        or name.startswith(("Unnamed:", "__index_level_"))
        or not name.strip()
    )


def names_member(name: str) -> bool:
    """Tell whether a name says that each value stands for someone with rows of their own."""
    words = _words(name)
    return names_identifier(name) or (len(words) == 1 and words[0] in WHO)


def names_code(name: str) -> bool:
    """Tell whether a name says that numbers are codes, which are neither more nor less."""
    words = _words(name)
    return not CODE.isdisjoint(words) or (len(words) > 1 and words[-1] == "code")


def drop(name: str) -> str:
    """Return the option that leaves a column out."""
    return f"--drop {in_shell(name)}"


def in_shell(text: str) -> str:
    """Return text as it is typed in a shell."""
    return shlex.quote(text)
