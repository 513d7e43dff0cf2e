"""The four kinds of reward (section 1 of the interface), through the faces that pay them."""

import random
import tomllib
from typing import Any

import pytest

from helpers.configurations import random_options
from helpers.positions import position
from tetrarchia_env.aec import TetrarchiaAEC
from tetrarchia_env.board import EMPERORS, NUMERALS, PACKAGED
from tetrarchia_env.engine.rewards import REWARDS, potential
from tetrarchia_env.gym_env import TetrarchiaSingle
from tetrarchia_env.notation import Snapshot, snapshot
from tetrarchia_env.options import Options

BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA")
PATHS: dict[str, list[str]] = tomllib.loads(PACKAGED.read_text(encoding="utf-8"))["paths"]
GREAT = {"variants": ["the_great"]}
ENDINGS: dict[str, tuple[dict[str, Any], str, float]] = {  # one step from the end, the action, what outcome pays
    "won": ({"tokens": dict.fromkeys(BORDERS[:3], "galerius") | dict.fromkeys(BORDERS[3:5], "maximian")}, "secure", 1.0),
    "rome fell": ({"dice": (5, 6), "armies": [["ETRVRIA", "III", "army"]]}, "end", -1.0),
    "reserve empty": ({"dice": (4, 5), "reserve": {"unrest": 0}}, "end", -1.0),
    "truncated": ({"dice": (4, 5), "rules": {"max_turns": 9}}, "end", 0.0),
}
ENDINGS["won"][0]["emperors"] = {"diocletian": "LIBYA"}
every_ending = pytest.mark.parametrize("outcome", ENDINGS)


def paid(changes: dict[str, Any], text: str, reward: str) -> tuple[dict[str, float], Snapshot]:
    """What the four get for this action, and the position then."""
    env = TetrarchiaAEC(reward=reward)
    env.restore(snapshot(position(**changes)))
    env.step(env.action_id(text))
    return env.rewards, env.snapshot()


def by_hand(now: Snapshot) -> float:
    """The potential that engine/rewards.py documents, from a snapshot."""
    if now["phase"] == "over":
        return 0.0
    lying = now["tokens"]
    value = 0.15 * sum(lying.get(border) in EMPERORS for border in BORDERS)
    value -= sum({"revolt": 0.02, "unrest": 0.008}.get(kind, 0) for kind in lying.values())
    for space, origin, _ in now["armies"]:
        path = PATHS[origin] if origin in PATHS else PATHS[str(NUMERALS.index(origin) + 1)]
        value -= 0.1 * (1 - (len(path) - 1 - path.index(space)) / 12)
    return value


# outcome, score


@every_ending
def test_outcome(outcome: str) -> None:
    changes, text, reward = ENDINGS[outcome]
    rewards, after = paid(changes, text, "outcome")
    assert after["outcome"] == outcome
    assert rewards == dict.fromkeys(EMPERORS, reward)


@pytest.mark.parametrize(("outcome", "score"), [("won", 10), ("rome fell", -3), ("reserve empty", -2), ("truncated", -2)])
def test_score(outcome: str, score: int) -> None:
    """R9.3 / 10: six borders and a quiet ITALIA; ITALIA (4) less six borders, less the army in ROMA."""
    changes, text, _ = ENDINGS[outcome]
    rewards, after = paid(changes, text, "score")
    assert (after["outcome"], after["score"]) == (outcome, score)
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(score / 10))


@pytest.mark.parametrize("reward", ["outcome", "score", "glory"])
def test_nothing_before_the_end(reward: str) -> None:
    """The fifth border, and a Barbarian phase."""
    for text in ("secure", "end"):
        changes = {"tokens": dict.fromkeys(BORDERS[1:5], "galerius"), "emperors": {"diocletian": "LIBYA"}, "rules": GREAT, "dice": (5, 6)}
        rewards, after = paid(changes, text, reward)
        assert after["outcome"] == "running"
        assert rewards == dict.fromkeys(EMPERORS, 0.0)


@pytest.mark.parametrize("reward", ["outcome", "score"])
def test_whole_games_pay_only_at_the_end(reward: str) -> None:
    for seed in range(12):
        gains, env, _ = whole_game(random_options(seed), reward, seed)
        outcome = {"won": 1.0, "truncated": 0.0}.get(env.snapshot()["outcome"], -1.0)
        assert not any(gains[:-1])
        assert gains[-1] == pytest.approx(outcome if reward == "outcome" else env.snapshot()["score"] / 10, abs=1e-12)


# glory


@pytest.mark.parametrize(
    ("borders", "glory", "titles"),
    [
        ("dddcc", {}, {"diocletian": 1}),
        ("ggggc", {}, {"galerius": 1}),
        ("dggcm", {"maximian": 3}, {"maximian": 1}),
        ("dggcm", {"maximian": 2}, {"maximian": 0.5}),  # 3 points, only 1 more than diocletian and galerius
        ("ddccc", {}, {"diocletian": 0.5, "constantius": 0.5}),
        ("ddggm", {}, {}),
    ],
)
def test_glory_pays_titles_after_a_won_game(borders: str, glory: dict[str, int], titles: dict[str, float]) -> None:
    """R10.5: outcome for all, 1 more for the Great, or else 0.5 for an Emperor of East or West; LIBYA becomes diocletian's."""
    tokens = {border: next(name for name in EMPERORS if name[0] == letter) for border, letter in zip(BORDERS, borders, strict=False)}
    changes = {"tokens": tokens, "emperors": {"diocletian": "LIBYA"}, "glory": glory, "rules": GREAT}
    rewards, after = paid(changes, "secure", "glory")
    assert after["outcome"] == "won"
    assert rewards == {emperor: 1 + titles.get(emperor, 0) for emperor in EMPERORS}
    for reward in ("outcome", "score"):
        assert set(paid(changes, "secure", reward)[0].values()) == {1.0}


@pytest.mark.parametrize("outcome", ["rome fell", "reserve empty", "truncated"])
def test_glory_pays_no_title_after_another_end(outcome: str) -> None:
    """R10.5: though galerius has three borders and glory."""
    changes, text, reward = ENDINGS[outcome]
    changes = changes | {"tokens": dict.fromkeys(BORDERS[:3], "galerius"), "rules": changes.get("rules", {}) | GREAT}
    reserve = {"unrest": 0 if outcome == "reserve empty" else 17}
    rewards, after = paid(changes | {"glory": {"galerius": 4}, "reserve": reserve}, text, "glory")
    assert (after["outcome"], rewards) == (outcome, dict.fromkeys(EMPERORS, reward))


# shaped


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({}, 0),
        ({"tokens": {"LIBYA": "maximian", "PERSIA": "galerius"}}, 0.3),
        ({"tokens": {"ACHAEA": "maximian", "ROMA": "galerius"}}, 0),  # no borders
        ({"tokens": {"ACHAEA": "unrest", "ROMA": "revolt", "SYRIA": "revolt"}}, -0.048),
        ({"armies": [["ETRVRIA", "III", "army"]]}, -0.1 * 11 / 12),
        ({"tokens": {"LVCANIA": "revolt"}, "armies": [["LVCANIA", "IV", "army"]]}, -0.02 - 0.1 * 11 / 12),
        ({"tokens": {"LIBYA": "revolt", "PERSIA": "diocletian"}}, 0.13),
    ],
)
def test_potential_of_positions(changes: dict[str, Any], value: float) -> None:
    """0.15 a border, -0.02 a Revolt, -0.008 an Unrest, an army -0.1 times its nearness to ROMA."""
    game = position(**changes)
    assert potential(game[0]) == pytest.approx(value, abs=1e-12)
    assert by_hand(snapshot(game)) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("changes", "text", "reward"),
    [
        ({"emperors": {"diocletian": "LIBYA"}}, "secure", 0.15),
        ({"tokens": {"BITHYNIA": "unrest"}}, "subdue", 0.008),
        ({"tokens": {"BITHYNIA": "revolt"}}, "subdue", 0.02),
        ({"tokens": {"BITHYNIA": "revolt"}}, "calm", 0.012),
        ({"dice": (4, 5)}, "end", -0.008),
        ({}, "move ASIA", 0),
    ],
)
def test_shaped_pays_what_a_step_changes(changes: dict[str, Any], text: str, reward: float) -> None:
    rewards, _ = paid(changes, text, "shaped")
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(reward, abs=1e-12))


@every_ending
def test_shaped_takes_the_potential_back_at_the_end(outcome: str) -> None:
    changes, text, reward = ENDINGS[outcome]
    before = by_hand(snapshot(position(**changes)))
    rewards, after = paid(changes, text, "shaped")
    assert by_hand(after) == 0.0
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(reward - before, abs=1e-12))


def whole_game(options: Options, reward: str, seed: int) -> tuple[list[float], TetrarchiaSingle, Snapshot]:
    """The rewards of a random game, the environment after it, and how it began."""
    env, chooser, gains = TetrarchiaSingle(reward=reward, **options.arguments()), random.Random(seed), []
    env.reset(seed=seed)
    first = env.snapshot()
    while env.legal_actions():
        before = by_hand(env.snapshot())
        assert potential(env.game[0]) == pytest.approx(before, abs=1e-12)
        gains.append(env.step(chooser.choice(env.legal_actions()))[1])
        if reward == "shaped" and env.legal_actions():
            assert gains[-1] == pytest.approx(by_hand(env.snapshot()) - before, abs=1e-12)
    assert potential(env.game[0]) == 0.0
    return gains, env, first


@pytest.mark.parametrize("seed", range(25))
def test_shaped_adds_up_to_the_outcome_less_the_first_potential(seed: int) -> None:
    """Whole random games of random configurations."""
    gains, env, first = whole_game(random_options(seed), "shaped", seed)
    outcome = {"won": 1.0, "truncated": 0.0}.get(env.snapshot()["outcome"], -1.0)
    assert sum(gains) == pytest.approx(outcome - by_hand(first), abs=1e-9)


def test_shaped_adds_up_for_each_agent() -> None:
    """What `last()` gives the four in PettingZoo's own loop: nothing lost, nothing twice."""
    for seed in range(8):
        env, chooser = TetrarchiaAEC(reward="shaped", **random_options(seed).arguments()), random.Random(seed)
        env.reset(seed=seed)
        first, sums = by_hand(env.snapshot()), dict.fromkeys(EMPERORS, 0.0)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, info = env.last()
            sums[agent] += reward
            env.step(None if terminated or truncated else chooser.choice(env.legal_actions()))
        outcome = {"won": 1.0, "truncated": 0.0}.get(info["outcome"], -1.0)
        assert sums == dict.fromkeys(EMPERORS, pytest.approx(outcome - first, abs=1e-9))


def test_the_kinds() -> None:
    assert set(REWARDS) == {"outcome", "score", "shaped", "glory"}
