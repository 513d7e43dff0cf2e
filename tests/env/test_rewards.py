"""The four kinds of reward (section 1 of the interface), through the APIs that pay them."""

import math
import random
from typing import Any

import numpy as np
import pytest

from helpers.configurations import random_options
from helpers.positions import position
from tetrarchia_env import outcome_name, tetrarchia_v0
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.envs.aec import TetrarchiaAEC
from tetrarchia_env.envs.gymnasium import TetrarchiaEnv
from tetrarchia_env.envs.rewards import REWARDS, ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.heuristic import features_of, load_weights
from tetrarchia_env.notation import Snapshot, restore, snapshot
from tetrarchia_env.options import Options

BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA")
GREAT = {"variants": ["the_great"]}
ENDINGS: dict[str, tuple[dict[str, Any], str, float]] = {  # one step from the end, the action, what outcome pays
    "won": ({"tokens": dict.fromkeys(BORDERS[:3], "galerius") | dict.fromkeys(BORDERS[3:5], "maximian")}, "secure", 1.0),
    "rome fell": ({"dice": (5, 6), "armies": [["ETRVRIA", "III", "army"]]}, "end", -1.0),
    "reserve empty": ({"dice": (4, 5), "reserve": {"unrest": 0}}, "end", -1.0),
    "truncated": ({"dice": (4, 5), "rules": {"max_turns": 9}}, "end", 0.0),
}
ENDINGS["won"][0]["emperors"] = {"diocletian": "LIBYA"}
every_ending = pytest.mark.parametrize("outcome", ENDINGS)


def paid(changes: dict[str, Any], text: str, reward: Any, **more: Any) -> tuple[dict[str, float], Snapshot]:
    """What the four get for this action, and the position then."""
    env = TetrarchiaAEC(reward=reward, **more)
    env.restore(snapshot(position(**changes)))
    env.step(env.action_id(text))
    return env.rewards, env.snapshot()


def potential(game: Any) -> float:
    return float(ShapedReward().potential(game)[0])


def by_hand(now: Snapshot) -> float:
    """The potential that rewards.py documents, from a snapshot: twice the logistic function of the weighted features."""
    if now["phase"] == "over":
        return 0.0
    weights = np.array(load_weights()[0].tolist())
    return 2 / (1 + math.exp(-float(features_of(restore(now))[0] @ weights)))


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


SHAPED_STEPS = [
    ({"emperors": {"diocletian": "LIBYA"}}, "secure"),
    ({"tokens": {"BITHYNIA": "unrest"}}, "subdue"),
    ({"tokens": {"BITHYNIA": "revolt"}}, "calm"),
    ({"dice": (4, 5)}, "end"),
    ({}, "move ASIA"),
]


@pytest.mark.parametrize("gamma", [1.0, 0.9])
@pytest.mark.parametrize(("changes", "text"), SHAPED_STEPS)
def test_shaped_pays_the_discounted_change_of_the_potential(changes: dict[str, Any], text: str, gamma: float) -> None:
    before = by_hand(snapshot(position(**changes)))
    rewards, after = paid(changes, text, "shaped", gamma=gamma)
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(gamma * by_hand(after) - before, abs=1e-12))


def test_more_secured_borders_have_more_potential() -> None:
    tokens = [dict.fromkeys(BORDERS[:number], "galerius") for number in range(5)]
    values = [potential(position(tokens=some)) for some in tokens]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] < 2


@pytest.mark.parametrize("gamma", [0, -1, 1.5])
def test_a_wrong_gamma_is_refused(gamma: float) -> None:
    with pytest.raises(ValueError, match="gamma must be above 0"):
        TetrarchiaAEC(reward="shaped", gamma=gamma)


def test_shaping_leaves_the_discounted_return_but_for_the_first_potential() -> None:
    """Ng, Harada and Russell: for a learner who discounts by the same gamma every policy gains the same."""
    gamma = 0.97
    for seed in range(5):
        gains, env, first = whole_game(random_options(seed), "shaped", seed, gamma)
        outcome = {"won": 1.0, "truncated": 0.0}.get(env.snapshot()["outcome"], -1.0)
        discounted = sum(gamma**step * gain for step, gain in enumerate(gains))
        assert discounted == pytest.approx(gamma ** (len(gains) - 1) * outcome - by_hand(first), abs=1e-9)


@every_ending
def test_shaped_takes_the_potential_back_at_the_end(outcome: str) -> None:
    changes, text, reward = ENDINGS[outcome]
    before = by_hand(snapshot(position(**changes)))
    rewards, after = paid(changes, text, "shaped")
    assert by_hand(after) == 0.0
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(reward - before, abs=1e-12))


def whole_game(options: Options, reward: str, seed: int, gamma: float = 1.0) -> tuple[list[float], TetrarchiaEnv, Snapshot]:
    """The rewards of a random game, the environment after it, and how it began."""
    env, chooser, gains = TetrarchiaEnv(reward=reward, gamma=gamma, **options.arguments()), random.Random(seed), []
    env.reset(seed=seed)
    first = env.snapshot()
    while env.legal_actions():
        before = by_hand(env.snapshot())
        assert potential(env.position) == pytest.approx(before, abs=1e-12)
        gains.append(env.step(chooser.choice(env.legal_actions()))[1])
        if reward == "shaped" and env.legal_actions():
            assert gains[-1] == pytest.approx(gamma * by_hand(env.snapshot()) - before, abs=1e-12)
    assert potential(env.position) == 0.0
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
        outcome = {"won": 1.0, "truncated": 0.0}.get(outcome_name(info["outcome"]), -1.0)
        assert sums == dict.fromkeys(EMPERORS, pytest.approx(outcome - first, abs=1e-9))


def test_the_kinds() -> None:
    assert set(REWARDS) == {"outcome", "score", "shaped", "glory"}


class TenForAWin:
    """A reward object with the smallest interface that is documented."""

    def begin(self, games: Any, rows: Any) -> None:
        pass

    def __call__(self, games: Any) -> Any:
        return (games["outcome"] == 1) * 10.0


class ByEmperor(TenForAWin):
    """Pays each Emperor its index plus the number of steps, at every step."""

    def begin(self, games: Any, rows: Any) -> None:
        self.steps = np.zeros(len(games))

    def __call__(self, games: Any) -> Any:
        self.steps += 1
        return np.arange(4.0) + self.steps[:, np.newaxis]


class OneTooMany(TenForAWin):
    def __call__(self, games: Any) -> Any:
        return np.zeros(len(games) + 1)


def test_a_reward_may_be_an_object() -> None:
    changes, text, _ = ENDINGS["won"]
    rewards, _ = paid(changes, text, TenForAWin())
    assert rewards == dict.fromkeys(EMPERORS, 10.0)


def test_pettingzoo_apis_pay_each_emperor_its_own_reward_at_every_step() -> None:
    aec, parallel = TetrarchiaAEC(reward=ByEmperor()), tetrarchia_v0.parallel_env(reward=ByEmperor())
    aec.reset(seed=1)
    parallel.reset(seed=1)
    for step in range(1, 4):
        action = aec.legal_actions()[0]
        aec.step(action)
        _, rewards, *_ = parallel.step(dict.fromkeys(EMPERORS, action))
        assert aec.rewards == rewards == {emperor: index + step for index, emperor in enumerate(EMPERORS)}


def test_apis_for_one_player_pay_the_mean() -> None:
    single, many = TetrarchiaEnv(reward=ByEmperor()), tetrarchia_v0.vector_env(3, reward=ByEmperor())
    single.reset(seed=1)
    many.reset(seed=1)
    for step in range(1, 4):
        actions = many.batched.masks.argmax(axis=1)
        _, reward, *_ = single.step(int(actions[0]))
        _, rewards, *_ = many.step(actions)
        assert (reward, rewards.tolist()) == (1.5 + step, [1.5 + step] * 3)


def test_sb3_pays_the_mean() -> None:
    pytest.importorskip("stable_baselines3")
    many = tetrarchia_v0.sb3_vec_env(3, reward=ByEmperor(), seed=1)
    many.reset()
    _, rewards, *_ = many.step(many.batched.masks.argmax(axis=1))
    assert rewards.tolist() == [2.5] * 3


def test_a_reward_of_another_shape_is_refused() -> None:
    aec, single, many = (
        TetrarchiaAEC(reward=OneTooMany()),
        TetrarchiaEnv(reward=OneTooMany()),
        tetrarchia_v0.vector_env(1, reward=OneTooMany()),
    )
    for env, action in ((aec, 8), (single, 8), (many, np.array([8]))):
        env.reset(seed=1)
        with pytest.raises(TetrarchiaError, match=r"shape \(1,\) or \(1, 4\); got shape \(2,\)"):
            env.step(action)


@pytest.mark.parametrize("reward", ["money", 3, TenForAWin, None, lambda games: 0])
def test_unknown_reward_is_refused(reward: Any) -> None:
    with pytest.raises(TetrarchiaError, match=r"reward must be one of outcome, score, shaped, glory"):
        TetrarchiaAEC(reward=reward)
