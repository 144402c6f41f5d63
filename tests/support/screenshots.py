"""Pictures of a report for the docs: `python -m tests.support.screenshots` writes docs/report."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image, ImageOps
from sklearn.datasets import load_diabetes

from mossrules import MossRegressor
from tests.support.browser_cases import Visit, running_browser

FOLDER = Path(__file__).parents[2] / "docs" / "report"
DESKTOP = {"width": 1200, "height": 2000}
PHONE = {"width": 390, "height": 3000}
PAPER = {"width": 680, "height": 1800}  # A4 less its margins, at 96 dots per inch
MARGIN = 57
PICTURES = {
    "light": {"viewport": DESKTOP, "color_scheme": "light"},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
    "phone": {"viewport": PHONE, "color_scheme": "light"},
    "print": {"viewport": PAPER, "color_scheme": "light"},
}
COLOURS = 256  # of a picture: enough for text and lines, at a third of the bytes


def main() -> None:
    """Make a report of the diabetes data, and a picture of it for each way to look at it."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = MossRegressor(random_state=0).fit(X, y.rename("progression"))
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_browser() as browser:
        path = Path(folder) / "report.html"
        model.report(path, X, y.rename("progression"), title="What predicts progression")
        for name, options in PICTURES.items():
            visit = Visit(browser, path, **options)
            if name == "print":
                visit.page.emulate_media(media="print")
            else:
                # So that it is seen how changes are shown; a pointer would leave its shade.
                visit.page.evaluate("document.getElementById('point-previous').click()")
            _write(FOLDER / f"{name}.png", visit.page.screenshot(), MARGIN * (name == "print"))
            visit.close()


def _write(path: Path, png: bytes, margin: int) -> None:
    """Write a picture with few colours, and with a margin as paper has it."""
    with Image.open(io.BytesIO(png)) as picture:
        framed = ImageOps.expand(picture.convert("RGB"), margin, "white")
        framed.quantize(COLOURS, Image.Quantize.MEDIANCUT).save(path, optimize=True)


if __name__ == "__main__":
    main()
