"""Tests of the search over candidate turns: proposals, evaluation and rollouts."""

import numpy as np
import pytest

from helpers.positions import position
from tetrarchia_agents.chance_samples import NUM_ROLLS, play_again, stratified_rngs
from tetrarchia_agents.turn_search import TurnSearch, sample
from tetrarchia_env.batch import Games, Masks, legal_masks, step
from tetrarchia_env.board import BOARD
from tetrarchia_env.constants import END
from tetrarchia_env.engine.combat import odds
from tetrarchia_env.engine.state import OFF
from tetrarchia_env.notation import action_id

DIOCLETIAN, GALERIUS, MAXIMIAN = 0, 1, 3


def uniform(games: Games, masks: Masks) -> np.ndarray:
    """Return logits of a uniform policy; its greedy action is the first legal one."""
    return np.where(masks, np.float32(0), np.float32(-np.inf))


def search_for(value_fn, candidates: int = 64, margin: float = 0.0, **rollouts: int) -> TurnSearch:  # type: ignore[no-untyped-def]
    return TurnSearch(candidates, 1.0, 1, margin, uniform, value_fn, **rollouts)


def reaction_pending() -> Games:
    """Return a game after Maximian's turn in which Galerius must react to an attack."""
    game = position(
        rules={"variants": ["imperivm"]},
        dice=(5, 1, 3, 3),
        emperor="maximian",
        emperors={"galerius": "NORICVM"},
        armies=[["PANNONIA INFERIOR", "III", "army"]],
        tokens={"PANNONIA INFERIOR": "revolt"},
    )
    step(game, np.array([END]), legal_masks(game))
    return game


def rolled(game: Games, action: int) -> Games:
    return play_again(game, np.array([action]), stratified_rngs(game, NUM_ROLLS))


def test_each_roll_of_an_attack_is_played_once_r5_1() -> None:
    game = position(emperor="maximian", ip=3, armies=[["ETRVRIA", "III", "army"]], tokens={"ROMA": "maximian"})
    etruria = BOARD.names.index("ETRVRIA")
    wins, losses = odds(game[0], MAXIMIAN, etruria)

    after = rolled(game, action_id("attack ETRVRIA"))

    assert int((after["reserve"][:, 2] == 3).sum()) == wins
    assert int((after["at"][:, MAXIMIAN] == OFF).sum()) == losses
    assert 0 < wins < NUM_ROLLS


def test_each_province_is_struck_once_r6_3() -> None:
    after = rolled(position(), END)

    assert after["unrest"].tolist() == [1 << province if province not in position()["at"] else 0 for province in range(NUM_ROLLS)]
    assert (after["turn"] == 9).all()


def test_a_turn_without_ip_ends_automatically_r3_5() -> None:
    after = rolled(position(ip=1), action_id("move GALATIA"))

    assert int((after["unrest"] > 0).sum()) == NUM_ROLLS - 3  # the provinces with an Emperor are protected
    assert (after["turn"] == 9).all()


def test_the_best_turn_is_found_and_played_to_its_end() -> None:
    """The value function rewards a space that Diocletian reaches in several moves."""
    goal = BOARD.names.index("MOESIA SVPERIOR")

    [plan] = search_for(lambda games: (games["at"][:, DIOCLETIAN] == goal).astype(float), 512).plan(position(), legal_masks(position()))

    game = position()
    masks = legal_masks(game)
    for action in plan.actions:
        step(game, np.array([action]), masks)
    assert game["at"][0, DIOCLETIAN] == goal
    assert len(plan.actions) > 1
    assert plan.value == 1.0


def test_candidates_that_differ_in_irrelevant_actions_have_equal_values() -> None:
    """All candidates are evaluated with the same dice, so a value that their actions do not affect is equal for all."""
    game = position(ip=1, armies=[["GERMANIA MAGNA", "III", "army"]], tokens={"BELGICA": "revolt", "BRITANNIA": "unrest"})
    values: list[set[float]] = []
    for turns in (1, 64):
        search = search_for(lambda games: games["army_at"].sum(axis=1).astype(float), turns)
        values.append({plan.value for plan in search.plan(game, legal_masks(game))})

    assert values[0] == values[1]


def test_a_turn_must_exceed_the_greedy_value_by_the_margin() -> None:
    game, masks = position(), legal_masks(position())
    greedy = [int(np.flatnonzero(masks[0])[0])]
    unmoved = game["at"][0, DIOCLETIAN]

    def moved(games: Games) -> np.ndarray:
        away: np.ndarray = (games["at"][:, DIOCLETIAN] != unmoved) * 0.5
        return away

    assert search_for(moved).plan(game, masks)[0].value == 0.5
    assert search_for(moved, margin=0.4).plan(game, masks)[0].value == 0.5
    assert search_for(moved, margin=0.6).plan(game, masks)[0].actions == greedy


def test_equal_candidates_are_evaluated_once() -> None:
    """Candidates with the same final position and action are evaluated once, in any order of their actions."""
    judged: list[int] = []

    def count(games: Games) -> np.ndarray:
        judged.append(len(games))
        return np.zeros(len(games))

    game = position(ip=1, emperors={"diocletian": "ROMA"})
    search_for(count, 512).plan(game, legal_masks(game))

    assert judged[0] <= NUM_ROLLS * int(legal_masks(game).sum())


def test_a_turn_ends_where_another_emperor_decides_r10_1() -> None:
    """R10.1, R5.5: Galerius, attacked 3 against 4 after Maximian's turn, reacts; Diocletian decides next, without a roll between."""
    game = reaction_pending()

    [plan] = search_for(lambda games: (games["at"][:, GALERIUS] != OFF).astype(float)).plan(game, legal_masks(game))

    assert plan.actions == [action_id("boost"), action_id("boost")]
    assert plan.value == 1.0


def position_value(games: Games, at_once: float, later: float) -> np.ndarray:
    """Return `at_once`, or `later` after one turn, if Diocletian has left the initial space, and else 0."""
    away: np.ndarray = (games["at"][:, DIOCLETIAN] != position()["at"][0, DIOCLETIAN]) * 1.0
    return away * np.where(games["turn"] > position()["turn"][0] + 1, later, at_once)


@pytest.mark.parametrize(
    ("at_once", "later", "margin", "chosen"),
    [
        (0.1, 0.5, 0.02, 0.5),  # better, confirmed
        (0.1, -0.5, 0.02, 0.0),  # better, but worse in rollouts
        (0.9, -0.5, 0.02, 0.0),  # a large advantage, but worse in rollouts
        (0.1, 0.01, 0.02, 0.0),  # better by less than the margin
        (0.1, 0.01, 0.0, 0.01),
        (-0.1, 0.5, 0.02, 0.0),  # not better: no rollouts
    ],
)
def test_a_better_candidate_must_be_confirmed_by_rollouts(at_once: float, later: float, margin: float, chosen: float) -> None:
    """In the greedy turn Diocletian stays on the initial space."""
    search = search_for(lambda games: position_value(games, at_once, later), margin=margin, rollout_turns=1)

    [plan] = search.plan(position(), legal_masks(position()))

    assert plan.value == pytest.approx(chosen, abs=0.1 * abs(later))  # some rolls return Diocletian to the initial space
    assert (plan.best == 0) == (chosen == 0)


def test_only_finalists_are_rolled_out_and_limit_other_values() -> None:
    """The value function changes its sign one turn later; three finalists are evaluated again."""
    game, masks = position(), legal_masks(position())
    turn, asked = game["turn"][0], []

    def opposite(games: Games) -> np.ndarray:
        asked.append(len(games))
        worth: np.ndarray = games["at"][:, DIOCLETIAN] / 10_000
        return np.where(games["turn"] > turn + 1, -worth, worth)

    [plan] = search_for(opposite, rollout_turns=1, finalists=3).plan(game, masks)

    below = np.unique(plan.values[plan.values < 0])
    assert len(below) <= 3
    assert plan.values.max() == below.max()
    assert (len(asked), asked[1] <= 3 * NUM_ROLLS) == (2, True)


@pytest.mark.parametrize(("again", "chosen"), [(0.5, True), (0.01, False), (-0.5, False)])
def test_the_best_finalist_must_be_confirmed(again: float, chosen: bool) -> None:
    """The first two evaluations prefer to leave the initial space; the third one decides."""
    game, masks = position(), legal_masks(position())
    asked: list[int] = []

    def changing_value(games: Games) -> np.ndarray:
        asked.append(len(games))
        away: np.ndarray = (games["at"][:, DIOCLETIAN] != game["at"][0, DIOCLETIAN]) * (0.5, 0.5, again)[len(asked) - 1]
        return away

    [plan] = search_for(changing_value, margin=0.02, rollout_turns=1, finalists=8, confirm_samples=3).plan(game, masks)

    assert (plan.best != 0) == chosen
    assert (len(asked), asked[2] <= 2 * 3 * NUM_ROLLS) == (3, True)


def test_confirmation_uses_new_dice() -> None:
    game = reaction_pending()
    search = search_for(lambda games: np.zeros(len(games)), 1)
    found, rows = search.propose(game, legal_masks(game)), np.zeros(1, dtype=np.int64)

    first, others = search.roll(found, rows, 2)["dice"], search.roll(found, rows, 3, skip=2)["dice"]

    assert (len(first), len(np.unique(others))) == (2 * NUM_ROLLS, 3 * NUM_ROLLS)
    assert not np.isin(first, others).any()


def test_outcomes_before_a_reaction_do_not_use_the_dice_of_the_game_r10_1() -> None:
    game = reaction_pending()
    search = search_for(lambda games: np.zeros(len(games)), 1)
    found = search.propose(game, legal_masks(game))

    outcomes = search.roll(found, np.zeros(1, dtype=np.int64), 1)

    assert not found.rolled.any()
    assert len(np.unique(outcomes["dice"])) == NUM_ROLLS
    assert not np.isin(game["dice"], outcomes["dice"]).any()


def test_sample_frequencies_match_the_probabilities() -> None:
    logits = np.log(np.tile(np.array([0.5, 0.3, 0.2], dtype=np.float32), (4000, 1)))
    drawn = sample(logits, np.arange(4000, dtype=np.uint64))
    assert np.allclose(np.bincount(drawn) / 4000, [0.5, 0.3, 0.2], atol=0.03)
