"""The built-in rewards (section 1 of the interface) and custom reward objects."""

import math
import random
from typing import Any

import numpy as np
import pytest

from helpers.configurations import random_options
from helpers.positions import position
from tetrarchia_env import outcome_name, tetrarchia_v0
from tetrarchia_env.batch import legal_masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.envs.aec import TetrarchiaAEC
from tetrarchia_env.envs.gymnasium import TetrarchiaEnv
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.heuristic import features_of, load_weights
from tetrarchia_env.notation import Snapshot, restore, snapshot
from tetrarchia_env.options import Options

BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA")
GREAT = {"variants": ["the_great"]}
ENDINGS: dict[str, tuple[dict[str, Any], str, float]] = {  # position one step before the end, action, outcome reward
    "won": ({"tokens": dict.fromkeys(BORDERS[:3], "galerius") | dict.fromkeys(BORDERS[3:5], "maximian")}, "secure", 1.0),
    "rome fell": ({"dice": (5, 6), "armies": [["ETRVRIA", "III", "army"]]}, "end", -1.0),
    "reserve empty": ({"dice": (4, 5), "reserve": {"unrest": 0}}, "end", -1.0),
    "truncated": ({"dice": (4, 5), "rules": {"max_turns": 9}}, "end", 0.0),
}
ENDINGS["won"][0]["emperors"] = {"diocletian": "LIBYA"}
every_ending = pytest.mark.parametrize("outcome", ENDINGS)


def rewards_of(changes: dict[str, Any], text: str, reward: Any, **more: Any) -> tuple[dict[str, float], Snapshot]:
    """Return the rewards of the four Emperors for an action, and the position after it."""
    env = TetrarchiaAEC(reward=reward, **more)
    env.restore(snapshot(position(**changes)))
    env.step(env.action_id(text))
    return env.rewards, env.snapshot()


def potential(game: Any) -> float:
    return float(ShapedReward().potential(game)[0])


def expected_potential(now: Snapshot) -> float:
    """Return the potential that rewards.py documents: twice the logistic function of the weighted features."""
    if now["phase"] == "over":
        return 0.0
    weights = np.array(load_weights()[0].tolist())
    return 2 / (1 + math.exp(-float(features_of(restore(now))[0] @ weights)))


# outcome, score


@every_ending
def test_outcome_reward(outcome: str) -> None:
    changes, text, reward = ENDINGS[outcome]
    rewards, after = rewards_of(changes, text, "outcome")
    assert after["outcome"] == outcome
    assert rewards == dict.fromkeys(EMPERORS, reward)


@pytest.mark.parametrize(("outcome", "score"), [("won", 10), ("rome fell", -3), ("reserve empty", -2), ("truncated", -2)])
def test_score_reward(outcome: str, score: int) -> None:
    """R9.3: the reward is the score divided by 10.

    Six secured borders and a quiet ITALIA (4) score 10; six unsecured borders score -2, or -3 with an army in ROMA.
    """
    changes, text, _ = ENDINGS[outcome]
    rewards, after = rewards_of(changes, text, "score")
    assert (after["outcome"], after["score"]) == (outcome, score)
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(score / 10))


@pytest.mark.parametrize("reward", ["outcome", "score", "glory"])
def test_terminal_rewards_are_zero_before_the_end(reward: str) -> None:
    """Neither the fifth secured border nor a Barbarian phase gives a reward."""
    for text in ("secure", "end"):
        changes = {"tokens": dict.fromkeys(BORDERS[1:5], "galerius"), "emperors": {"diocletian": "LIBYA"}, "rules": GREAT, "dice": (5, 6)}
        rewards, after = rewards_of(changes, text, reward)
        assert after["outcome"] == "running"
        assert rewards == dict.fromkeys(EMPERORS, 0.0)


@pytest.mark.parametrize("reward", ["outcome", "score"])
def test_complete_games_pay_only_at_the_end(reward: str) -> None:
    for seed in range(12):
        gains, env, _ = play_random_game(random_options(seed), reward, seed)
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
    """R10.5: all get 1; the Great gets 1 more, or else each Emperor of East or West 0.5. Diocletian secures LIBYA last."""
    tokens = {border: next(name for name in EMPERORS if name[0] == letter) for border, letter in zip(BORDERS, borders, strict=False)}
    changes = {"tokens": tokens, "emperors": {"diocletian": "LIBYA"}, "glory": glory, "rules": GREAT}
    rewards, after = rewards_of(changes, "secure", "glory")
    assert after["outcome"] == "won"
    assert rewards == {emperor: 1 + titles.get(emperor, 0) for emperor in EMPERORS}
    for reward in ("outcome", "score"):
        assert set(rewards_of(changes, "secure", reward)[0].values()) == {1.0}


@pytest.mark.parametrize("outcome", ["rome fell", "reserve empty", "truncated"])
def test_glory_pays_no_title_unless_the_game_is_won(outcome: str) -> None:
    """R10.5: Galerius gets no title despite three borders and glory."""
    changes, text, reward = ENDINGS[outcome]
    changes = changes | {"tokens": dict.fromkeys(BORDERS[:3], "galerius"), "rules": changes.get("rules", {}) | GREAT}
    reserve = {"unrest": 0 if outcome == "reserve empty" else 17}
    rewards, after = rewards_of(changes | {"glory": {"galerius": 4}, "reserve": reserve}, text, "glory")
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
    before = expected_potential(snapshot(position(**changes)))
    rewards, after = rewards_of(changes, text, "shaped", gamma=gamma)
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(gamma * expected_potential(after) - before, abs=1e-12))


def test_more_secured_borders_have_more_potential() -> None:
    tokens = [dict.fromkeys(BORDERS[:number], "galerius") for number in range(5)]
    values = [potential(position(tokens=some)) for some in tokens]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] < 2


@pytest.mark.parametrize("gamma", [0, -1, 1.5])
def test_invalid_gamma_is_refused(gamma: float) -> None:
    with pytest.raises(ValueError, match="gamma must be above 0"):
        TetrarchiaAEC(reward="shaped", gamma=gamma)


@every_ending
def test_shaped_subtracts_the_last_potential_at_the_end(outcome: str) -> None:
    changes, text, reward = ENDINGS[outcome]
    before = expected_potential(snapshot(position(**changes)))
    rewards, after = rewards_of(changes, text, "shaped")
    assert expected_potential(after) == 0.0
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(reward - before, abs=1e-12))


def play_random_game(options: Options, reward: str, seed: int, gamma: float = 1.0) -> tuple[list[float], TetrarchiaEnv, Snapshot]:
    """Return the rewards of a random game, the environment after it, and the first position."""
    env, chooser, gains = TetrarchiaEnv(reward=reward, gamma=gamma, **options.arguments()), random.Random(seed), []
    env.reset(seed=seed)
    first = env.snapshot()
    while env.legal_actions():
        before = expected_potential(env.snapshot())
        assert potential(env.position) == pytest.approx(before, abs=1e-12)
        gains.append(env.step(chooser.choice(env.legal_actions()))[1])
        if reward == "shaped" and env.legal_actions():
            assert gains[-1] == pytest.approx(gamma * expected_potential(env.snapshot()) - before, abs=1e-12)
    assert potential(env.position) == 0.0
    return gains, env, first


@pytest.mark.parametrize("gamma", [1.0, 0.97])
@pytest.mark.parametrize("seed", range(12))
def test_shaping_changes_the_discounted_return_only_by_the_first_potential(seed: int, gamma: float) -> None:
    """Potential-based shaping (Ng, Harada and Russell): with the same gamma, every policy's return changes by the same constant."""
    gains, env, first = play_random_game(random_options(seed), "shaped", seed, gamma)
    outcome = {"won": 1.0, "truncated": 0.0}.get(env.snapshot()["outcome"], -1.0)
    discounted = sum(gamma**step * gain for step, gain in enumerate(gains))
    assert discounted == pytest.approx(gamma ** (len(gains) - 1) * outcome - expected_potential(first), abs=1e-9)


def test_shaped_rewards_sum_up_for_each_agent() -> None:
    """In PettingZoo's loop, `last()` returns each reward exactly once."""
    for seed in range(8):
        env, chooser = TetrarchiaAEC(reward="shaped", **random_options(seed).arguments()), random.Random(seed)
        env.reset(seed=seed)
        first, sums = expected_potential(env.snapshot()), dict.fromkeys(EMPERORS, 0.0)
        for agent in env.agent_iter():
            _, reward, terminated, truncated, info = env.last()
            sums[agent] += reward
            env.step(None if terminated or truncated else chooser.choice(env.legal_actions()))
        outcome = {"won": 1.0, "truncated": 0.0}.get(outcome_name(info["outcome"]), -1.0)
        assert sums == dict.fromkeys(EMPERORS, pytest.approx(outcome - first, abs=1e-9))


class TenForAWinReward:
    """A reward object with the minimal documented interface."""

    def begin(self, games: Any, rows: Any) -> None:
        pass

    def __call__(self, games: Any) -> Any:
        return (games["outcome"] == 1) * 10.0


class PerEmperorReward(TenForAWinReward):
    """A reward of the Emperor's index plus the number of steps, at every step."""

    def begin(self, games: Any, rows: Any) -> None:
        self.steps = np.zeros(len(games))

    def __call__(self, games: Any) -> Any:
        self.steps += 1
        return np.arange(4.0) + self.steps[:, np.newaxis]


class WrongShapeReward(TenForAWinReward):
    def __call__(self, games: Any) -> Any:
        return np.zeros(len(games) + 1)


def test_pettingzoo_apis_pay_each_emperor_a_separate_reward() -> None:
    aec, parallel = TetrarchiaAEC(reward=PerEmperorReward()), tetrarchia_v0.parallel_env(reward=PerEmperorReward())
    aec.reset(seed=1)
    parallel.reset(seed=1)
    for step in range(1, 4):
        action = aec.legal_actions()[0]
        aec.step(action)
        _, rewards, *_ = parallel.step(dict.fromkeys(EMPERORS, action))
        assert aec.rewards == rewards == {emperor: index + step for index, emperor in enumerate(EMPERORS)}


def test_sb3_pays_the_mean() -> None:
    pytest.importorskip("stable_baselines3")
    many = tetrarchia_v0.sb3_vec_env(3, reward=PerEmperorReward(), seed=1)
    many.reset()
    _, rewards, *_ = many.step(many.batched.masks.argmax(axis=1))
    assert rewards.tolist() == [2.5] * 3


def test_reward_of_the_wrong_shape_is_refused() -> None:
    aec, single, many = (
        TetrarchiaAEC(reward=WrongShapeReward()),
        TetrarchiaEnv(reward=WrongShapeReward()),
        tetrarchia_v0.vector_env(1, reward=WrongShapeReward()),
    )
    for env, action in ((aec, 8), (single, 8), (many, np.array([8]))):
        with pytest.raises(TetrarchiaError, match=r"shape \(1,\) or \(1, 4\); got shape \(2,\)"):  # noqa: PT012
            env.reset(seed=1)  # asks the reward for its shape, except in the AEC API
            env.step(action)


@pytest.mark.parametrize("reward", ["money", 3, TenForAWinReward, None, lambda games: 0])
def test_unknown_reward_is_refused(reward: Any) -> None:
    with pytest.raises(TetrarchiaError, match=r"reward must be one of outcome, score, shaped, glory"):
        TetrarchiaAEC(reward=reward)


# borders


def borders_rewards(*steps: tuple[dict[str, Any], str]) -> list[float]:
    """Return diocletian's rewards for one action each in positions of one game; a later position keeps the reward's memory."""
    env, rewards = TetrarchiaAEC(reward="borders"), []
    env.restore(snapshot(position(**steps[0][0])))
    for changes, text in steps:
        env.position = position(**changes)
        env.masks = legal_masks(env.position)
        env.step(env.action_id(text))
        rewards.append(env.rewards["diocletian"])
    return rewards


def at_libya(borders: int, turn: int = 0) -> dict[str, Any]:
    return {"tokens": dict.fromkeys(BORDERS[:borders], "galerius"), "emperors": {"diocletian": "LIBYA"}, "turn": turn}


@pytest.mark.parametrize("turn", [0, 7])
def test_borders_pays_each_new_border_discounted_by_turns(turn: int) -> None:
    """Borders that are secured at the beginning pay nothing; subduing and moving pay nothing."""
    assert borders_rewards((at_libya(2, turn), "secure")) == [pytest.approx(0.995**turn)]
    assert borders_rewards((at_libya(2, turn), "end")) == [0.0]


def test_borders_pays_each_number_of_borders_once() -> None:
    """A border that is lost and secured again pays nothing; the next one pays again."""
    steps = (at_libya(2), "secure"), (at_libya(1), "secure"), (at_libya(2), "secure"), (at_libya(4), "secure")
    assert borders_rewards(*steps) == [1.0, 0.0, 0.0, 2.0]


def test_borders_pays_three_more_for_winning_and_nothing_for_losing() -> None:
    changes, text, _ = ENDINGS["won"]
    rewards, after = rewards_of(changes, text, "borders")
    assert rewards == dict.fromkeys(EMPERORS, pytest.approx(4 * 0.995 ** after["turn"]))
    for outcome in ("rome fell", "reserve empty", "truncated"):
        changes, text, _ = ENDINGS[outcome]
        assert rewards_of(changes, text, "borders")[0] == dict.fromkeys(EMPERORS, 0.0)


def test_borders_is_the_same_in_every_api() -> None:
    """Whole games by random play: the sums agree with the vector environment, in which games begin at different times."""
    vector = tetrarchia_v0.vector_env(3, task="last-border", reward="borders", autoreset_mode="SameStep")
    observations, _ = vector.reset(seed=5)
    single = TetrarchiaEnv(task="last-border", reward="borders")
    single.reset(seed=5)
    rng = np.random.default_rng(1)
    over = False
    while not over:
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in observations["action_mask"]])
        observations, rewards, terminated, truncated, _ = vector.step(actions)
        _, reward, won_or_lost, cut, _ = single.step(actions[0])
        over = won_or_lost or cut
        assert (reward, won_or_lost, cut) == (rewards[0], terminated[0], truncated[0])
