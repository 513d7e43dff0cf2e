"""The pages for everybody: a phone's touch screen, reduced motion, and what a checker of accessibility finds."""

import shutil
import subprocess
import tarfile

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.browser import Browser
from helpers.room_page import PHONE, WIDE, click_in_the_list, end_of, enter, offered, played
from helpers.web_server import Server

pytestmark = pytest.mark.slow


@pytest.fixture(name="axe", scope="session")
def the_axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """axe-core from the npm registry; not ours to keep."""
    npm = shutil.which("npm")
    folder = tmp_path_factory.mktemp("axe")
    if npm is None or subprocess.run([npm, "pack", "axe-core@4"], cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("axe-core is not to be had: no npm, or no registry")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        file = archive.extractfile("package/axe.min.js")
        assert file
        return file.read().decode()


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize("place", ["lobby", "room", "over"])
def test_no_serious_fault_of_accessibility(server: Server, page: Browser, axe: str, place: str, size: tuple[int, int]) -> None:
    enter(page, f"{server.origin}/" if place == "lobby" else server.origin + server.make_room("person 1", *["random"] * 3, seed=5), size)
    if place != "lobby":
        offered(page)
        page.press("h")
        page.wait_for("document.querySelectorAll('#coach li').length > 0", 60)
        page.click("#people-box summary")
    if place == "over":
        page.click("#people-box summary")
        while (choices := offered(page)) and played(page) < 400:
            click_in_the_list(page, end_of(choices))
    found = page.run_program(
        f"{axe}; axe.run().then((found) => done(found.violations.map((one) => [one.impact, one.id, one.nodes[0].html])))"
    )

    assert [fault for fault in found if fault[0] in ("serious", "critical")] == []
