"""Tests of the partners: each plays legally and as described, and no two play alike."""

import shutil
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import pytest

pytest.importorskip("torch")  # some partners are networks

from tetrarchia_agents import cards, make_agent, partners, rollout
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.partners import Partner, load_partners, partner_names, steps_to_teammates
from tetrarchia_agents.search.chance import is_attack
from tetrarchia_env.batch import Games, Masks, is_over, legal_masks, new_games, playout, rng_states, step
from tetrarchia_env.constants import END
from tetrarchia_env.engine.state import ROMAN
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options

MIN_DISAGREEMENT = 0.05  # share of positions in which two partners choose different actions


def positions(number: int = 200) -> tuple[Games, Masks]:
    """Return positions of random games at 4222, in the Roman phase."""
    seeds = np.arange(number, dtype=np.uint64)
    games, masks = new_games(Options(level="4222"), seeds)
    playout(games, masks, rng_states(seeds), 30)
    games = games[~is_over(games) & (games["phase"] == ROMAN)]
    return games, legal_masks(games)


@pytest.fixture(scope="module")
def choices() -> dict[str, np.ndarray]:
    games, masks = positions()
    ids = np.arange(len(games))
    return {name: make_agent(f"partner:{name}").act(games.copy(), masks.copy(), ids) for name in load_partners()}


def test_every_partner_plays_whole_games_legally() -> None:
    for name in load_partners():
        (result,) = rollout(f"partner:{name}", 1, level="4200", seed=3, max_turns=20)
        assert result.steps > 0


def test_no_two_partners_play_alike(choices: dict[str, np.ndarray]) -> None:
    shares = {pair: (choices[pair[0]] != choices[pair[1]]).mean() for pair in combinations(choices, 2)}
    assert min(shares.values()) >= MIN_DISAGREEMENT, min(shares, key=lambda pair: shares[pair])


def test_the_pacifist_never_attacks_where_others_do(choices: dict[str, np.ndarray]) -> None:
    assert not any(map(is_attack, choices["pacifist"].tolist()))
    assert any(map(is_attack, choices["italia-guard"].tolist()))


def test_the_hasty_partner_ends_its_turn_with_its_last_ip(choices: dict[str, np.ndarray]) -> None:
    games, masks = positions()
    few = (games["ip"] <= 1) & (masks[:, END] != 0)
    assert few.any()
    assert (choices["hasty"][few] == END).all()


def test_a_follower_moves_nearer_to_a_distant_teammate(choices: dict[str, np.ndarray]) -> None:
    games, masks = positions()
    steps = steps_to_teammates(games, masks)
    assert (steps >= 0).any()
    assert (steps < 0).any()
    assert (choices["follower"][steps >= 0] == steps[steps >= 0]).all()


@pytest.mark.parametrize("name", ["noisy-planner", "noisy-network"])
def test_noise_replaces_its_share_of_the_actions(name: str) -> None:
    games, masks = positions(2000)
    noisy, plain = make_agent(f"partner:{name}"), make_agent(load_partners()[name].agent)
    ids = np.arange(len(games))

    share = (noisy.act(games, masks, ids) != plain.act(games, masks, ids)).mean()

    assert 0.04 < share < 0.11


def test_the_thrifty_partner_saves_tokens_and_the_garrison_places_them() -> None:
    def mean_supply(name: str) -> float:
        games, masks = new_games(Options(level="4222"), np.arange(8, dtype=np.uint64))
        agent, ids = make_agent(f"partner:{name}"), np.arange(8)
        for _ in range(60):
            running = np.flatnonzero(~is_over(games))
            some, legal = games[running], masks[running]
            step(some, agent.act(some.copy(), legal.copy(), ids[running]), legal)
            games[running], masks[running] = some, legal
        return float(games["supply"].sum(axis=1).mean())

    assert mean_supply("thrifty") > mean_supply("garrison") + 2


def test_a_sampling_partner_draws_from_the_dice_of_the_game(choices: dict[str, np.ndarray]) -> None:
    games, masks = positions()
    ids, sampler = np.arange(len(games)), make_agent("partner:sampler")
    assert (sampler.act(games, masks, ids) == choices["sampler"]).all()
    games["dice"] = rng_states(games["dice"])
    assert (sampler.act(games, masks, ids) != choices["sampler"]).any()


def test_the_fingerprint_changes_with_the_definition_and_with_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "CHECKPOINTS", tmp_path)
    shipped = Path(cards.PACKAGE.parents[1] / "checkpoints")
    shutil.copytree(shipped / "ppo-small", tmp_path / "partners/mine")
    mine = Partner(split="validation", description="", agent="ppo:partners/mine")

    def print_of(partner: Partner) -> str:
        monkeypatch.setattr(partners, "load_partners", lambda: {"mine": partner})
        return fingerprint(make_agent("partner:mine"))

    first = print_of(mine)
    assert print_of(msgspec.structs.replace(mine, noise=0.1)) != first
    shutil.copytree(shipped / "scratch-shared/seed-1", tmp_path / "partners/mine", dirs_exist_ok=True)
    assert print_of(mine) != first


@pytest.mark.parametrize("entries", [{"weights": {"borders": 2.0}}, {"avoids_battles": True}])
def test_options_of_the_planner_need_a_planner(entries: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    partner = Partner(split="validation", description="", agent="ppo:ppo-small", **entries)  # type: ignore[arg-type]
    monkeypatch.setattr(partners, "load_partners", lambda: {"mine": partner})
    with pytest.raises(TetrarchiaError, match="need a planner; got 'ppo:ppo-small'"):
        make_agent("partner:mine")


def test_the_splits_have_partners_of_the_same_kinds_but_share_no_network() -> None:
    def checkpoints(split: str) -> set[str]:
        agents = [load_partners()[name].agent for name in partner_names(split)]
        return {agent.split(":")[1] for agent in agents if agent.startswith("ppo:")}

    assert not checkpoints("held-out") & checkpoints("validation")
    assert not checkpoints("held-out") & {"ppo", "ppo-1", "bc"}  # from which `ppo` was trained
    kinds = ("weights", "ends_with_ip", "noise")
    for split in ("held-out", "validation"):
        entries = [load_partners()[name] for name in partner_names(split)]
        for kind in kinds:
            assert any(getattr(one, kind) not in ({}, None, 0.0) for one in entries), (split, kind)
        assert any("temperature" in one.agent for one in entries)
        assert len(entries) >= 6


def test_both_splits_have_partners_and_an_unknown_name_is_refused() -> None:
    assert set(partner_names("held-out")) | set(partner_names("validation")) == set(load_partners())
    assert partner_names("held-out")
    assert partner_names("validation")
    with pytest.raises(TetrarchiaError, match="pacifist"):
        make_agent("partner:pacifists")
