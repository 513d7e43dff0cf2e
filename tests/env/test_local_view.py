"""R14, local information: an observation and info depend only on what R14 reveals to the Emperor; all APIs agree."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from helpers.configurations import random_options
from helpers.local_digest import local_digest
from helpers.positions import position
from tetrarchia_env import BOARD, batch, tetrarchia_v0
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.engine.state import DUX, NOBODY, OFF, PIRATES, RUNNING
from tetrarchia_env.engine.tables import STEPS
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LINK_DISTANCES, LocalOptions, LocalViews, spaces_in_view
from tetrarchia_env.notation import snapshot
from tetrarchia_env.observation import OBSERVATION, SIZE, offset
from tetrarchia_env.options import Options

ROW_0 = np.array([0])
REMEMBERED = ("unrest", "revolt", "token", "printed", "figure", "army", "army_origin", "army_nearness")
MARGIN = offset("combat_margin")
LOCAL_CONFIGURATIONS = [{"view_radius": 2}, {"view_radius": 0, "last_seen": True}, {"view_radius": 3, "last_seen": True}]
LOCAL_CONFIGURATIONS += [{"view_radius": 1, "message_tokens": 3}, {"view_radius": 2, "last_seen": True, "message_tokens": 16}]


def space(name: str) -> int:
    return BOARD.space_id(name)


def views_of(game: batch.Games, radius: int, *, last_seen: bool = False, message_tokens: int = 0) -> LocalViews:
    views = LocalViews(LocalOptions(radius, last_seen, message_tokens), len(game))
    views.begin(game, np.arange(len(game)))
    return views


def vector_of(game: batch.Games, viewer: int, views: LocalViews) -> np.ndarray:
    obs = np.full((1, SIZE + 48 * (1 + views.last_seen)), np.nan, dtype=np.float32)
    views.encode(game, ROW_0, np.array([viewer]), obs)
    return obs[0]


def parts_of(game: batch.Games, viewer: int, radius: int) -> np.record:
    return vector_of(game, viewer, views_of(game, radius))[:SIZE].view(OBSERVATION)[0]


def random_positions(configurations: int, games_each: int, last_seen: bool = False, message_tokens: int = 0) -> Any:
    """Yield games along random games of random configurations, with the memory of each if asked for, and random messages."""
    for seed in range(configurations):
        games, masks = batch.new_games(random_options(seed), range(seed * games_each, (seed + 1) * games_each))
        rngs = rng_states(batch.seed_array(range(games_each)))
        views = views_of(games, seed % 4, last_seen=last_seen, message_tokens=message_tokens)
        yield games, views
        for step in range(60):
            if not batch.playout(games, masks, rngs, steps=1 + step % 3):
                break
            views.update(games)
            if message_tokens:
                speaker, token = step % 4, 1 + step % message_tokens
                views.messages["token"][:, speaker], views.messages["turn"][:, speaker] = token, games["turn"]
            yield games, views


def links(start: int) -> list[int]:
    """Return the number of links to each space, by breadth-first search."""
    found, edge = {start: 0}, [start]
    while edge:
        here = edge.pop(0)
        for there in np.flatnonzero(BOARD.links[here]).tolist():
            if there not in found:
                found[there] = found[here] + 1
                edge.append(there)
    return [found[goal] for goal in range(48)]


def test_distances_count_links_of_both_kinds() -> None:
    assert LINK_DISTANCES.tolist() == [links(start) for start in range(48)]
    assert LINK_DISTANCES.max() <= 12


@pytest.mark.parametrize("radius", [0, 1, 2, 12])
def test_spaces_in_view(radius: int) -> None:
    """R14.1: spaces within the radius, from ROMA if the Emperor is off the board, and spaces with his own tokens."""
    game = position(emperors={"galerius": None}, tokens={"SYRIA": "diocletian", "BAETICA": "galerius", "LIBYA": "maximian"}, dux=None)
    for viewer, centre, own in ((0, "BITHYNIA", "SYRIA"), (1, "ROMA", "BAETICA")):
        expected = {goal for goal, distance in enumerate(links(space(centre))) if distance <= radius} | {space(own)}
        bits = int(spaces_in_view(game[0], viewer, radius))
        assert {s for s in range(48) if bits >> s & 1} == expected
        visible = vector_of(game, viewer, views_of(game, radius))[SIZE:]
        assert set(np.flatnonzero(visible).tolist()) == expected


def test_spaces_out_of_view_count_as_empty() -> None:
    """R14.2, R14.4: tokens, figures, armies, fleets and chains out of view are not observed, printed tokens are."""
    game = position(
        tokens={"THRACIA": "revolt", "ASIA": "unrest", "GERMANIA INFERIOR": "revolt", "BELGICA": "revolt", "LIBYA": "maximian"},
        armies=[["THRACIA", "IV", "army"], ["BELGICA", "II", "army"]],
        fleets=["ATLANTICVM", "AEGAEVM"],
    )
    view = parts_of(game, 0, 1)
    assert np.flatnonzero(view.revolt[0]).tolist() == [space("THRACIA")]
    assert np.flatnonzero(view.unrest[0]).tolist() == [space("ASIA")]
    assert np.flatnonzero(view.army[0]).tolist() == [space("THRACIA")]
    assert view.army_next[0].sum() == 1
    assert not view.token.any()
    assert view.printed[0, space("GERMANIA INFERIOR")] == 1
    assert view.figure.sum() == 1
    assert view.fleets.tolist() == [0, 0, 1]
    assert view.region_revolts.sum() == np.float32(1 / 6)
    assert view.reserve.tolist() == [0, 0, 0]


def test_public_facts_and_own_affairs() -> None:
    """R14.3: others' supply and glory only while they are in view; IP only in the own turn; secured borders always."""
    game = position(
        tokens={"GERMANIA MAGNA": "constantius"},
        emperors={"galerius": "ASIA"},
        supply={"diocletian": 1, "galerius": 2, "constantius": 3, "maximian": 4},
        glory={"diocletian": 3, "galerius": 2, "constantius": 1, "maximian": 1},
        rules={"variants": ["the_great", "patres_patriae"]},
        pending={"owed": {"diocletian": 1, "galerius": -1}, "used": ["take"]},
    )
    view = parts_of(game, 0, 1)
    assert view.supply.tolist() == np.float32([1 / 5, 2 / 5, 0, 0]).tolist()
    assert view.glory.tolist() == np.float32([3 / 21, 2 / 21, 0, 0]).tolist()
    assert view.owed.tolist() == [1, 0, 0, 0]
    assert view.secured[0] == np.float32(1 / 6)
    assert (view.ip[0], view.used.tolist()) == (6 / 16, [0, 1, 0])
    other = parts_of(game, 1, 1)
    assert (other.ip[0], other.used.tolist(), other.turn_of.tolist()) == (0, [0, 0, 0], [0, 0, 0, 1])
    assert other.owed.tolist() == [-1, 0, 0, 0]


def test_status_of_the_dux_is_public_but_not_his_place() -> None:
    """R14.1, R14.3: an Emperor knows whether the Dux is undeployed or gone; no Emperor sees through the Dux."""
    for place, status in (("available", [1, 0]), ("gone", [0, 1]), ("BAETICA", [0, 0]), ("ASIA", [0, 0])):
        game = position(dux=place, rules={"modules": ["dux"]}, tokens={"LVSITANIA": "unrest"})
        view = parts_of(game, 0, 1)
        assert view.dux.tolist() == status
        assert view.figure[4].sum() == (place == "ASIA")
        assert not view.unrest.any()


def test_combat_is_known_to_the_fighter_and_to_those_who_see_the_army() -> None:
    """R14.3: the true margin counts, with support out of view."""
    game = position(armies=[["DACIA", "III", "army"]], tokens={"DACIA": "revolt"}, rules={"variants": ["imperivm"]})
    game["emperor"], game["phase"], game["fighter"], game["foe"], game["roman_die"], game["normal_die"] = 1, 3, 1, space("DACIA"), 1, 6
    for viewer, radius in ((1, 0), (1, 2), (0, 12)):
        view = parts_of(game, viewer, radius)
        full = batch.observe(game, np.array([viewer])).view(OBSERVATION)[0, 0]
        assert view.fighter.any()
        for part in ("fighter", "foe", "combat_dice", "combat_margin"):
            assert view[part].tolist() == full[part].tolist()
    hidden = parts_of(game, 3, 1)
    assert not any(hidden[part].any() for part in ("fighter", "foe", "combat_dice", "combat_margin"))
    assert hidden.phase[3] == 1


def test_march_ranks_only_armies_in_view() -> None:
    game = position(armies=[["BELGICA", "II", "army"], ["THRACIA", "IV", "army"]], tokens={"BELGICA": "revolt", "THRACIA": "revolt"})
    game["march"] = [space("BELGICA"), space("THRACIA"), OFF]
    march = parts_of(game, 0, 1).march[0]
    assert march[space("THRACIA")] == 1
    assert march.sum() == 1


def test_passing_is_known_in_the_own_turn_or_in_view() -> None:
    game = position()
    game["emperor"], game["passing"] = 1, 1
    assert parts_of(game, 1, 0).passing.tolist() == [1, 0, 0, 0, 0]
    assert not parts_of(game, 0, 0).passing.any()
    assert parts_of(game, 0, 12).passing.tolist() == [0, 1, 0, 0, 0]


def change_outside(games: batch.Games, i: int, viewer: int, seen: int, chance: np.random.Generator) -> None:
    """Change everything that R14 hides from this Emperor in game i; the number of secured borders stays the same."""
    game = games[i]
    hidden = [s for s in range(48) if not seen >> s & 1]
    inner = [s for s in hidden if s not in BOARD.borders.tolist()]
    bits = 0
    for s in inner:
        bits |= 1 << s
    kinds = chance.integers(8, size=48)
    others = [emperor for emperor in range(4) if emperor != viewer]
    if game.outcome == RUNNING:
        game.unrest = game.unrest & ~bits | sum(1 << s for s in inner if kinds[s] == 1)
        game.revolts = game.revolts & ~bits | sum(1 << s for s in inner if kinds[s] == 2)
        for place, emperor in enumerate(others):
            game.tokens[emperor] = game.tokens[emperor] & ~bits | sum(1 << s for s in inner if kinds[s] == 3 + place)
    for emperor in others:
        game.owed[emperor] = chance.integers(-1, 2)
        if game.at[emperor] == OFF or not seen >> int(game.at[emperor]) & 1:
            game.at[emperor] = chance.choice([*hidden, OFF])
            game.supply[emperor], game.glory[emperor] = chance.integers(6), chance.integers(21)
    if game.at[DUX] < OFF and not seen >> int(game.at[DUX]) & 1:
        game.at[DUX] = chance.choice(hidden)
    zones = sum(1 << zone for zone in range(3) if not any(seen >> s & 1 for s in np.flatnonzero(BOARD.coasts >> zone & 1)))
    game.fleets = game.fleets & ~zones | int(chance.integers(8)) & zones
    game.pirates = game.pirates & ~zones | int(chance.integers(8)) & zones
    known = game.fighter == viewer or (game.foe == PIRATES and game.pirates & ~zones) or (game.foe < OFF and seen >> int(game.foe) & 1)
    if game.fighter != NOBODY and not known:
        game.roman_die, game.normal_die = chance.integers(1, 7, size=2)
    for army in range(3):
        if (game.army_at[army] == OFF or not seen >> int(game.army_at[army]) & 1) and game.army_at[army] not in (game.foe, *game.march):
            origin = int(chance.integers(1, 7))
            game.army_at[army] = chance.choice([OFF, *(s for s in hidden if STEPS[origin, s] != OFF)])
            game.army_origin[army], game.army_kind[army] = (origin, chance.integers(3)) if game.army_at[army] != OFF else (0, 0)
    game.reserve[:] = chance.integers(21), chance.integers(21), chance.integers(3)
    game.dice = chance.integers(1, 2**62)
    if game.emperor != viewer:
        game.ip, game.used = chance.integers(17), chance.integers(16)


@pytest.mark.parametrize(("last_seen", "message_tokens"), [(False, 0), (True, 0), (False, 4)])
def test_nothing_out_of_view_changes_observation_or_memory(last_seen: bool, message_tokens: int) -> None:
    """R14.1 to R14.4, R14.6, R14.7: the no-leak property, over thousands of random positions."""
    chance = np.random.default_rng(1)
    positions = 0
    for games, views in random_positions(40, 6, last_seen, message_tokens):
        viewers = chance.integers(4, size=len(games))
        changed, later = games.copy(), copy.deepcopy(views)
        for i, viewer in enumerate(viewers):
            change_outside(changed, i, viewer, int(spaces_in_view(games[i], viewer, views.radius)), chance)
        later.update(changed)
        size = LocalOptions(0, last_seen, message_tokens).size
        obs, other = (np.zeros((len(games), size), dtype=np.float32) for _ in range(2))
        views.encode(games, np.arange(len(games)), viewers, obs)
        later.encode(changed, np.arange(len(games)), viewers, other)
        for vectors in (obs, other):
            vectors[:, MARGIN] = 0  # a known combat has its true margin, which depends on support out of view (R14.4)
        np.testing.assert_array_equal(obs, other)
        if last_seen:
            for name in views.records.dtype.names or ():
                for i, viewer in enumerate(viewers):
                    np.testing.assert_array_equal(views.records[name][i, viewer], later.records[name][i, viewer])
        assert np.abs(obs).max() <= 1
        positions += int((changed != games).sum())
    assert positions > 5000


def test_infos_contain_nothing_hidden() -> None:
    """INTERFACE section 4: the score is 0 until the end; the info does not depend on anything out of view."""
    chance = np.random.default_rng(2)
    env = tetrarchia_v0.raw_env(view_radius=1, level="4211", mask="observation")
    env.reset(seed=3)
    while env.agents and not any(env.terminations.values()):
        assert env.infos["galerius"]["score"] == 0
        agent = env.agent_selection
        before, info, state = env.observe(agent)["observation"].tobytes(), env.infos[agent], env.position.copy()
        viewer = EMPERORS.index(agent)
        change_outside(env.position, 0, viewer, int(spaces_in_view(env.position[0], viewer, 1)), chance)
        env._sync_agents()
        assert env.observe(agent)["observation"].tobytes() == before
        assert env.infos[agent] == info
        env.position[:] = state
        env.step(int(chance.choice(env.legal_actions())))
    assert env.infos["galerius"]["score"] == snapshot(env.position)["score"] != 0


def test_everything_in_view_changes_the_observation() -> None:
    """R14.2, R14.3: a change of any piece in view, or of the Emperor's own affairs, is observed."""
    game = position(
        tokens={"ASIA": "unrest", "GALATIA": "revolt", "THRACIA": "revolt"},
        emperors={"galerius": "ASIA"},
        armies=[["THRACIA", "IV", "army"]],
        fleets=["AEGAEVM"],
        dux="GALATIA",
        pirates="INTERNVM",
        rules={"modules": ["dux", "pirates"]},
    )
    before = vector_of(game, 0, views_of(game, 2)).tobytes()
    bit = {name: 1 << space(name) for name in ("ASIA", "GALATIA", "BITHYNIA")}

    def changed(name: str, value: Any, index: int | None = None) -> bool:
        other = game.copy()
        if index is None:
            other[name] = value
        else:
            other[name][0, index] = value
        return vector_of(other, 0, views_of(other, 2)).tobytes() != before

    assert changed("unrest", 0)
    assert changed("unrest", bit["ASIA"] | bit["BITHYNIA"])
    assert changed("revolts", game["revolts"] & ~bit["GALATIA"])
    assert all(changed("tokens", bit["BITHYNIA"], emperor) for emperor in range(4))
    assert changed("at", space("GALATIA"), 1)
    assert changed("at", space("BITHYNIA"), 4)
    assert changed("at", OFF, 4)
    assert changed("army_at", OFF, 0)
    assert changed("army_origin", 5, 0)
    assert changed("army_kind", 1, 0)
    assert changed("fleets", 0)
    for name in ("supply", "glory"):
        assert changed(name, game[name][0, 0] - 1, 0)
        assert changed(name, game[name][0, 1] - 1, 1)
        assert not changed(name, game[name][0, 2] - 1, 2)
    assert changed("owed", 1, 0)
    assert not changed("owed", 1, 1)
    assert not changed("reserve", 3, 1)
    for name in ("ip", "used", "turn", "max_turns"):
        assert changed(name, game[name][0] + 1)


def test_radius_12_equals_full_observation() -> None:
    """With every Emperor on the board only the reserve, others' IP owed, and IP and powers outside the own turn differ."""
    compared = 0
    for games, _ in random_positions(20, 6):
        views = views_of(games, 12)
        for viewer in range(4):
            viewers = np.full(len(games), viewer)
            obs = np.zeros((len(games), SIZE + 48), dtype=np.float32)
            views.encode(games, np.arange(len(games)), viewers, obs)
            full = batch.observe(games, viewers)
            local, whole = obs[:, :SIZE].copy().view(OBSERVATION)[:, 0], full.view(OBSERVATION)[:, 0]
            for records in (local, whole):
                records["reserve"], records["owed"][:, 1:] = 0, 0
                records["ip"][games["emperor"] != viewer] = records["used"][games["emperor"] != viewer] = 0
            on_board = (games["at"][:, :4] < OFF).all(axis=1)
            np.testing.assert_array_equal(local[on_board].view(np.float32), whole[on_board].view(np.float32))
            assert obs[:, SIZE:].all()
            compared += int(on_board.sum())
    assert compared > 2000


def test_memory_shows_what_was_seen_last() -> None:
    """R14.6: spaces out of view show their remembered rows and their age, spaces in view the present."""
    game = position(tokens={"ASIA": "revolt", "BAETICA": "unrest"}, armies=[["BELGICA", "II", "goths"]], rules={"modules": ["goths"]})
    views = views_of(game, 1, last_seen=True)
    first = game["turn"][0]
    start = vector_of(game, 0, views)
    full = batch.observe(game, np.array([0])).view(OBSERVATION)[0, 0]
    for part in REMEMBERED:
        assert start[:SIZE].view(OBSERVATION)[0][part].tolist() == full[part].tolist()
    assert not start[SIZE + 48 :].any()
    later = position(tokens={"ASIA": "unrest", "BAETICA": "revolt", "GERMANIA INFERIOR": "revolt"}, emperors={"constantius": "LVGDVNENSIS"})
    later["turn"] = first + 5
    views.update(later)
    view = vector_of(later, 0, views)
    parts = view[:SIZE].view(OBSERVATION)[0]
    assert np.flatnonzero(parts.unrest[0]).tolist() == sorted([space("ASIA"), space("BAETICA")])
    assert not parts.revolt.any()
    assert parts.army[:, space("BELGICA")].tolist() == [1, 1, 0]
    assert parts.army_nearness[0, space("BELGICA")] == full.army_nearness[0, space("BELGICA")]
    assert not parts.army_next.any()
    assert parts.figure[2, space("GERMANIA INFERIOR")] == 1
    assert parts.printed[0, space("GERMANIA INFERIOR")] == 1
    age = view[SIZE + 48 :]
    assert set(age[view[SIZE : SIZE + 48] == 1].tolist()) == {0}
    assert set(age[view[SIZE : SIZE + 48] == 0].tolist()) == {np.float32(5 / 20)}
    later["turn"] = first + 300
    assert vector_of(later, 0, views)[SIZE + 48 :].max() == 1


def test_every_emperor_remembers_not_only_the_acting_one() -> None:
    """R14.6: memory is updated for all four after each action; ages count finished turns."""
    env = tetrarchia_v0.raw_env(view_radius=1, last_seen=True, level="4200")
    env.reset(seed=4)
    chance = np.random.default_rng(0)
    last = np.zeros((4, 48), dtype=np.int64)
    while not any(env.terminations.values()):
        turn = env.snapshot()["turn"]
        for viewer, agent in enumerate(EMPERORS):
            vector = env.observe(agent)["observation"]
            last[viewer][vector[SIZE : SIZE + 48] == 1] = turn
            assert vector[SIZE + 48 :].tolist() == np.float32(np.minimum(turn - last[viewer], 20) / 20).tolist()
        env.step(int(chance.choice(env.legal_actions())))


@pytest.mark.parametrize("arguments", LOCAL_CONFIGURATIONS, ids=str)
def test_all_apis_give_the_same_observations(arguments: dict[str, Any]) -> None:
    """Single, batched, AEC, parallel and SB3, over games that end; masks are those of the true game (R14.5)."""
    rules = {"level": "3111", "variants": ["imperivm"], "modules": ["dux", "pirates"], "max_turns": 9, **arguments}
    size = LocalOptions(**arguments).size
    aec, parallel = tetrarchia_v0.env(**rules), tetrarchia_v0.parallel_env(**rules)
    single, many = gymnasium.make("Tetrarchia-v0", **rules), tetrarchia_v0.vector_env(3, autoreset_mode="SameStep", **rules)
    sb3 = pytest.importorskip("tetrarchia_env.envs.sb3").TetrarchiaVecEnv(3, seed=11, **rules)
    assert many.single_observation_space["observation"].shape == sb3.observation_space.shape == (size,)
    aec.reset(seed=11)
    by_agent, _ = parallel.reset(seed=11)
    obs, _ = single.reset(seed=11)
    batched, infos = many.reset(seed=11)
    flat = sb3.reset()
    chance, over = np.random.default_rng(5), False
    while not over:
        agent = aec.agent_selection
        expected = aec.observe(agent)["observation"]
        assert aec.observation_space(agent).contains(aec.observe(agent))
        for vector in (by_agent[agent]["observation"], obs["observation"], batched["observation"][0], flat[0]):
            assert vector.tobytes() == expected.tobytes()
        for other in EMPERORS:
            assert by_agent[other]["observation"].tobytes() == aec.observe(other)["observation"].tobytes()
        assert aec.state().shape == parallel.state().shape == aec.unwrapped.state_space.shape
        assert aec.state()[:SIZE].tobytes() == batch.observe(aec.unwrapped.position, ROW_0).tobytes()
        messages = LocalOptions(**arguments).message_size
        assert aec.state()[SIZE:].tobytes() == aec.observe("diocletian")["observation"][size - messages :].tobytes()
        assert infos["score"][0] == 0
        assert (batched["action_mask"] == batch.legal_masks(many.batched.games, arguments.get("message_tokens", 0))).all()
        actions = np.array([chance.choice(np.flatnonzero(mask)) for mask in batched["action_mask"]])
        aec.step(actions[0])
        by_agent, *_ = parallel.step({agent: actions[0]})
        obs, _, terminated, truncated, info = single.step(actions[0])
        batched, _, _, _, infos = many.step(actions)
        flat, _, _, sb3_infos = sb3.step(actions)
        assert flat.tobytes() == batched["observation"].tobytes()
        over = terminated or truncated
    assert infos["final_obs"][0]["observation"].tobytes() == obs["observation"].tobytes()
    assert sb3_infos[0]["terminal_observation"].tobytes() == obs["observation"].tobytes()
    assert infos["final_info"]["score"][0] == sb3_infos[0]["score"] == info["score"] == snapshot(aec.unwrapped.position)["score"]


@pytest.mark.slow
def test_compiled_equals_uncompiled() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "helpers.local_digest"],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == local_digest()


def test_snapshot_restores_the_memory() -> None:
    """INTERFACE section 5: with memory a snapshot has an entry `local`; without one every space has just been seen."""
    rules: dict[str, Any] = {"view_radius": 1, "last_seen": True, "level": "4222", "modules": ["goths", "dux"]}
    env, other = tetrarchia_v0.raw_env(**rules), tetrarchia_v0.raw_env(**rules)
    env.reset(seed=8)
    chance = np.random.default_rng(8)
    for _ in range(120):
        data = json.loads(json.dumps(env.snapshot()))
        other.restore(data)
        clone = env.clone()
        for agent in EMPERORS:
            assert other.observe(agent)["observation"].tobytes() == env.observe(agent)["observation"].tobytes()
            assert clone.observe(agent)["observation"].tobytes() == env.observe(agent)["observation"].tobytes()
        assert other.snapshot() == data
        if any(env.terminations.values()):
            break
        env.step(int(chance.choice(env.legal_actions())))
    assert data["turn"] > 4
    del data["local"]
    other.restore(data)
    assert not other.observe("galerius")["observation"][SIZE + 48 :].any()
    reactive = tetrarchia_v0.raw_env(view_radius=1)
    reactive.reset(seed=1)
    assert "local" not in reactive.snapshot()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"turn": 99}, "turn"),
        ({"turn": -1}, "turn"),
        ({"turn": 1, "army": ["II", "army"]}, "army"),
        ({"turn": 1, "token": "sword"}, "token"),
        ({"turn": 1, "extra": 1}, "extra"),
    ],
)
def test_impossible_memory_is_refused(entry: dict[str, Any], reason: str) -> None:
    env = tetrarchia_v0.raw_env(view_radius=1, last_seen=True)
    data = {**snapshot(position()), "local": {"last_seen": {"diocletian": {"BAETICA": entry}}}}
    with pytest.raises(TetrarchiaError, match=reason):
        env.restore(data)


def test_state_of_batched_games_contains_the_memory() -> None:
    ours, other = (BatchedGames(3, [Options()], local=LocalOptions(2, True)) for _ in range(2))
    ours.begin([1, 2, 3])
    rngs = rng_states(batch.seed_array(range(3)))
    for _ in range(50):
        ours.advance(batch.random_actions(ours.masks, rngs))
        ours.begin_next(np.flatnonzero(ours.episodes["ended"]))
    expected = ours.observe().copy()
    other.set_state(ours.state())
    assert other.obs.tobytes() == expected.tobytes()
    state = ours.state()
    for wrong in ({**state, "local": state["local"][:2]}, {**state, "local": np.full_like(state["local"], 127)}, {"games": state["games"]}):
        with pytest.raises(TetrarchiaError, match=r"local|episodes"):
            other.set_state(wrong)
    assert other.state()["local"].tobytes() == state["local"].tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *[({"view_radius": value}, "view_radius must be None or an integer from 0 to 12") for value in (-1, 13, 2.0, "2", True)],
        ({"last_seen": True}, "last_seen needs view_radius"),
        ({"view_radius": 1, "last_seen": 1}, "last_seen must be"),
        *[({"view_radius": 1, "message_tokens": value}, "message_tokens must be") for value in (-1, 17, 2.0, "2", True)],
        ({"message_tokens": 1}, "message_tokens needs view_radius"),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    for make in (tetrarchia_v0.env, tetrarchia_v0.parallel_env, tetrarchia_v0.raw_env, tetrarchia_v0.vector_env):
        with pytest.raises(TetrarchiaError, match=message):
            make(**arguments)


def test_memory_follows_the_actions_of_partners() -> None:
    """R14.6: with `seat`, the learner also remembers what it sees between its decisions; single and batched agree."""

    class LastAction:
        def act(self, games: batch.Games, masks: batch.Masks, env_ids: np.ndarray) -> np.ndarray:
            return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    rules: dict[str, Any] = {"level": "4211", "view_radius": 1, "last_seen": True, "max_turns": 30}
    seated = {**rules, "seat": "galerius", "partners": LastAction()}
    single, many, plain = gymnasium.make("Tetrarchia-v0", **seated), tetrarchia_v0.vector_env(2, **seated), tetrarchia_v0.raw_env(**rules)
    obs, _ = single.reset(seed=6)
    batched, _ = many.reset(seed=6)
    plain.reset(seed=6)
    over, chance, decisions = False, np.random.default_rng(6), 0
    while not over:
        while plain.agent_selection != "galerius" and not any({**plain.terminations, **plain.truncations}.values()):
            plain.step(plain.legal_actions()[-1])
        expected = plain.observe("galerius")["observation"]
        assert obs["observation"].tobytes() == batched["observation"][0].tobytes() == expected.tobytes()
        actions = np.array([chance.choice(np.flatnonzero(mask)) for mask in batched["action_mask"]])
        obs, _, terminated, truncated, _ = single.step(actions[0])
        batched, *_ = many.step(actions)
        plain.step(int(actions[0]))
        over, decisions = terminated or truncated, decisions + 1
    assert decisions > 5
