"""The packaged board, and the validation of board files."""

import copy
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tetrarchia_env.board import BROKEN, EMPERORS, NORMAL, NUMERALS, PACKAGED, SPACES, Board, load
from tetrarchia_env.errors import TetrarchiaError

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = tomllib.loads(PACKAGED.read_text(encoding="utf-8"))
BOARD = load(PACKAGED)  # not board.BOARD: TETRARCHIA_BOARD may be set where the tests run


def toml(value: Any) -> str:
    """Return a value of a board file in TOML's inline form."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(item) for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def write(path: Path, file: dict[str, Any]) -> Path:
    path.write_text("\n".join(f"{key} = {toml(value)}" for key, value in file.items()), encoding="utf-8")
    return path


def place(board: Board, name: str) -> tuple[int, int]:
    space = board.space_id(name)
    return int(board.region[space]), int(board.number[space])


def link(board: Board, a: str, b: str) -> int:
    return int(board.links[board.space_id(a), board.space_id(b)])


def path_of(board: Board, region: int) -> list[str]:
    space, names = int(board.borders[region - 1]), []
    while space >= 0:
        names.append(board.names[space])
        space = int(board.next_step[region - 1, space])
    return names


def test_r1_spaces_are_7_regions_of_6_provinces_and_6_borders() -> None:
    assert len(BOARD.names) == SPACES == 48
    assert np.bincount(BOARD.region[:42]).tolist() == [6] * 7
    assert BOARD.borders.tolist() == [42, 43, 44, 45, 46, 47]
    assert BOARD.region[BOARD.borders].tolist() == [1, 2, 3, 4, 5, 6]
    assert set(BOARD.number[BOARD.borders].tolist()) == {7}


@pytest.mark.parametrize(
    ("name", "where", "space"),
    [("BELGICA", (2, 1), 6), ("TARRACONENSIS", (1, 6), 5), ("ROMA", (0, 1), 36), ("BRITANNIA", (2, 7), 43)],
)
def test_space_ids_follow_region_and_number(name: str, where: tuple[int, int], space: int) -> None:
    assert (place(BOARD, name), BOARD.space_id(name)) == (where, space)


def test_capitals_and_roma() -> None:
    assert [BOARD.names[space] for space in BOARD.capitals] == [FILE["capitals"][emperor] for emperor in EMPERORS]
    assert BOARD.names[BOARD.capitals[3]] == "CISALPINA"
    assert BOARD.names[BOARD.roma] == "ROMA"


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ("GERMANIA SVPERIOR", "NARBONENSIS", NORMAL),
        ("NARBONENSIS", "CISALPINA", BROKEN),
        ("BELGICA", "BRITANNIA", BROKEN),
        ("ROMA", "ETRVRIA", NORMAL),
        ("ROMA", "BELGICA", 0),
    ],
)
def test_r4_links_are_normal_or_broken(a: str, b: str, kind: int) -> None:
    assert link(BOARD, a, b) == link(BOARD, b, a) == kind


def test_links_match_the_file() -> None:
    assert (BOARD.links > 0).sum() == 2 * len(FILE["link"])
    assert (BOARD.links == BROKEN).sum() == 2 * sum(entry["broken"] for entry in FILE["link"])
    assert (BOARD.links == BOARD.links.T).all()


def test_coasts_are_bit_masks_of_zones() -> None:
    assert BOARD.zones == ("ATLANTICVM", "INTERNVM", "AEGAEVM")
    assert BOARD.coasts[BOARD.space_id("BAETICA")] == 0b011
    assert BOARD.coasts[BOARD.space_id("SYRIA")] == 0b100
    assert BOARD.coasts[BOARD.space_id("BRITANNIA")] == 0


@pytest.mark.parametrize(("region", "numeral"), list(enumerate(NUMERALS, 1)))
def test_r8_paths_lead_from_the_border_to_roma(region: int, numeral: str) -> None:
    path = FILE["paths"][numeral]
    assert path_of(BOARD, region) == path
    steps = [int(BOARD.steps_to_roma[region - 1, BOARD.space_id(name)]) for name in path]
    assert steps == list(range(len(path)))[::-1]
    assert (BOARD.steps_to_roma[region - 1] < 0).sum() == SPACES - len(path)


def test_arrays_are_small_and_read_only() -> None:
    arrays = {name: value for name, value in vars(BOARD).items() if isinstance(value, np.ndarray)}
    assert {name for name, array in arrays.items() if array.dtype == np.int16} == {"xy", "zone_xy"}
    assert {array.dtype.name for array in arrays.values()} == {"int8", "int16"}
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_unknown_space_error_suggests_similar_names() -> None:
    with pytest.raises(TetrarchiaError, match=r"^unknown space 'Belgicum' \(did you mean BELGICA"):
        BOARD.space_id("Belgicum")
    with pytest.raises(TetrarchiaError, match=r"^unknown space '42'$"):
        BOARD.space_id("42")


def test_file_without_sources_gives_the_same_board(tmp_path: Path) -> None:
    plain = copy.deepcopy(FILE)
    del plain["capital_sources"]
    for entry in plain["space"] + plain["link"]:
        del entry["sources"]
    board = load(write(tmp_path / "plain.toml", plain))
    assert all(np.array_equal(value, getattr(BOARD, name)) for name, value in vars(board).items())


Edit = Callable[[dict[str, Any]], object]


def swap(items: list[Any], a: int, b: int) -> None:
    items[a], items[b] = items[b], items[a]


def cut_off(file: dict[str, Any], name: str) -> None:
    file["link"] = [entry for entry in file["link"] if name not in entry["between"]]


MISTAKES: list[tuple[str, Edit]] = [
    # keys and types
    ("'zones' is missing", lambda file: file.pop("zones")),
    ("unknown entry 'rivers'", lambda file: file.update(rivers=[])),
    (r"space\[3\]: 'coasts' is missing", lambda file: file["space"][3].pop("coasts")),
    (r"space\[3\]: unknown entry 'colour'", lambda file: file["space"][3].update(colour="red")),
    (r"link\[2\]: 'broken' is missing", lambda file: file["link"][2].pop("broken")),
    ("space must be a list of 48; got 48", lambda file: file.update(space=48)),
    (r"space\[3\]\.region must be an integer; got 'I'", lambda file: file["space"][3].update(region="I")),
    (r"space\[3\]\.number must be an integer; got True", lambda file: file["space"][3].update(number=True)),
    (r"space\[3\]\.coasts\[0\] must be a string; got 1", lambda file: file["space"][3].update(coasts=[1])),
    (r"space\[3\]\.sources must be a table", lambda file: file["space"][3].update(sources="rulebook")),
    (r"link\[2\]\.broken must be True or False; got 1", lambda file: file["link"][2].update(broken=1)),
    (r"capitals\.galerius must be a string", lambda file: file["capitals"].update(galerius=3)),
    # zones, regions and spaces
    ("zones must be a list of 3", lambda file: file["zones"].append("PONTVS")),
    ("zone_xy must be a list of 3", lambda file: file["zone_xy"].pop()),
    (r"zone_xy\[2\]\[1\] must be from 0 to 700; got 701", lambda file: file["zone_xy"].__setitem__(2, [1, 701])),
    ("regions must be a list of 7", lambda file: file["regions"].pop()),
    ("regions: the name 'AFRICA' is given 2 times", lambda file: file["regions"].__setitem__(0, "AFRICA")),
    ("space must be a list of 48", lambda file: file["space"].pop()),
    ("space: the name 'ROMA' is given 2 times", lambda file: file["space"][3].update(name="ROMA")),
    (r"space\[3\] \(GALLAECIA\) must have region and number \(1, 4\)", lambda file: swap(file["space"], 3, 4)),
    (r"space\[40\] \(LIBYA\) must have region and number \(0, 5\)", lambda file: swap(file["space"], 40, 47)),
    (r"space\[43\] \(BRITANNIA\) .* \(2, 7\); got \(2, 1\)", lambda file: file["space"][43].update(number=1)),
    (r"space\[3\] \(LVSITANIA\): coasts .* got 'PONTVS'", lambda file: file["space"][3].update(coasts=["PONTVS"])),
    (r"space\[3\]\.xy\[0\] must be from 0 to 1000; got 1001", lambda file: file["space"][3].update(xy=[1001, 5])),
    (r"space\[3\]\.xy must be a list", lambda file: file["space"][3].update(xy=[5])),
    (r"space\[36\] must be ROMA; got 'ROME'", lambda file: file["space"][36].update(name="ROME")),
    # links
    (r"link\[2\] \(ROMA - VTOPIA\): unknown space 'VTOPIA'", lambda file: file["link"][2].update(between=["ROMA", "VTOPIA"])),
    (
        r"link\[2\] \(ETRURIA - ROMA\): .*'ETRURIA' \(did you mean ETRVRIA",
        lambda file: file["link"][2].update(between=["ETRURIA", "ROMA"]),
    ),
    (r"link\[2\]\.between must be a list", lambda file: file["link"][2].update(between=["ROMA"])),
    (r"link\[2\] \(ASIA - ASIA\): a space cannot be linked to", lambda file: file["link"][2].update(between=["ASIA"] * 2)),
    (r"link\[81\] \(TINGITANA - BAETICA\): .* linked twice", lambda file: file["link"].append(file["link"][0])),
    (
        r"link\[81\] \(BAETICA - TINGITANA\): .* linked twice",
        lambda file: file["link"].append({"between": ["BAETICA", "TINGITANA"], "broken": False}),
    ),
    ("the map must be connected.* GALLAECIA", lambda file: cut_off(file, "GALLAECIA")),
    # capitals
    ("capitals: 'maximian' is missing", lambda file: file["capitals"].pop("maximian")),
    ("capitals: unknown entry 'nero'", lambda file: file["capitals"].update(nero="ROMA")),
    ("capital_sources .*'nero'", lambda file: file["capital_sources"].update(nero="implied")),
    (r"capitals\.galerius: unknown space 'SIRMIVM'", lambda file: file["capitals"].update(galerius="SIRMIVM")),
    (r"capitals\.galerius must be .* got 'ROMA'", lambda file: file["capitals"].update(galerius="ROMA")),
    (r"capitals\.galerius must be .* got 'PERSIA'", lambda file: file["capitals"].update(galerius="PERSIA")),
    ("capitals: the name 'CISALPINA' is given 2", lambda file: file["capitals"].update(galerius="CISALPINA")),
    # paths
    ("paths: 'IV' is missing", lambda file: file["paths"].pop("IV")),
    ("paths: unknown entry 'VII'", lambda file: file["paths"].update(VII=[])),
    (r"paths\.II must lead from BRITANNIA to ROMA; got an empty", lambda file: file["paths"]["II"].clear()),
    (r"paths\.II must lead from BRITANNIA to ROMA; got BELGICA", lambda file: file["paths"]["II"].pop(0)),
    (r"paths\.II must lead from BRITANNIA .* - ETRVRIA$", lambda file: file["paths"]["II"].pop()),
    (r"paths\.II: BRITANNIA and GERMANIA INFERIOR are not linked", lambda file: file["paths"]["II"].pop(1)),
    (r"paths\.II: unknown space 'GALLIA'", lambda file: file["paths"]["II"].insert(1, "GALLIA")),
    (r"paths\.II: the name 'BELGICA' is given 2", lambda file: file["paths"]["II"].insert(3, "BELGICA")),
    (
        r"paths\.IV must lead through Roman provinces, but GERMANIA MAGNA is a border",
        lambda file: file["paths"]["IV"].__setitem__(slice(1, 1), ["DACIA", "GERMANIA MAGNA"]),
    ),
]


@pytest.mark.parametrize(("sentence", "edit"), MISTAKES, ids=[sentence for sentence, _ in MISTAKES])
def test_invalid_file_is_refused_in_one_line(tmp_path: Path, sentence: str, edit: Edit) -> None:
    file = copy.deepcopy(FILE)
    edit(file)
    with pytest.raises(TetrarchiaError, match=sentence) as caught:
        load(write(tmp_path / "bad.toml", file))
    message = str(caught.value)
    assert message.startswith(f"board file {tmp_path / 'bad.toml'}: ")
    assert "\n" not in message


def test_missing_or_non_toml_file_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    with pytest.raises(TetrarchiaError, match=r"bad\.toml: it cannot be read \(No such file"):
        load(bad)
    for content in (b"zones = [", b"\xff\xfe"):
        bad.write_bytes(content)
        with pytest.raises(TetrarchiaError, match=r"bad\.toml: it is not TOML \("):
            load(bad)


def run(arguments: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "TETRARCHIA_BOARD"}
    environment |= {"PYTHONPATH": str(ROOT), **variables}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False)


SHOW = "from tetrarchia_env.board import BOARD, board_path; print(board_path(), BOARD.names[3])"


def test_new_process_reads_the_packaged_file() -> None:
    assert run(["-c", SHOW]).stdout.strip() == f"{PACKAGED} LVSITANIA"
    assert run(["-c", SHOW], TETRARCHIA_BOARD="").stdout.strip() == f"{PACKAGED} LVSITANIA"


def test_new_process_reads_the_file_set_by_tetrarchia_board(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(PACKAGED.read_text(encoding="utf-8").replace("LVSITANIA", "LUSITANIA"), encoding="utf-8")
    assert run(["-c", SHOW], TETRARCHIA_BOARD=str(mine)).stdout.strip() == f"{mine} LUSITANIA"


def test_new_process_refuses_a_bad_file(tmp_path: Path) -> None:
    bad = tmp_path / "none.toml"
    assert f"TetrarchiaError: board file {bad}: it cannot be read" in run(["-c", SHOW], TETRARCHIA_BOARD=str(bad)).stderr


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 100_000, "a" + ".a" * 100_000 + " = 1", "[" + "a." * 100_000 + "a]", "a = " + "{a = " * 5_000, "a = " + "[" * 17],
)
def test_deep_nesting_is_refused_quickly(tmp_path: Path, text: str) -> None:
    """Check the nesting before parsing: Python's parser takes hours for long dotted keys."""
    (tmp_path / "board.toml").write_text(text)
    begun = time.process_time()
    with pytest.raises(TetrarchiaError, match=r"^board file .*: it is nested too deeply$"):
        load(tmp_path / "board.toml")
    assert time.process_time() - begun < 2


def test_control_characters_in_names_are_escaped(tmp_path: Path) -> None:
    text = PACKAGED.read_text(encoding="utf-8").replace('name = "TINGITANA"', 'name = "A\\n\\u001b[31mB"', 1)
    (tmp_path / "board.toml").write_text(text)
    with pytest.raises(TetrarchiaError, match=r"^board file ") as refusal:
        load(tmp_path / "board.toml")
    assert str(refusal.value).isprintable()


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text("#" * 2_000_000)
    with pytest.raises(TetrarchiaError, match="it is larger than 1 MB"):
        load(tmp_path / "board.toml")
