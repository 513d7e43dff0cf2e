"""Partners inside the environments: arguments `seat` and `partners`, and rewards per Emperor in the APIs with one reward per game."""

import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import tetrarchia_env
from tetrarchia_agents import make_agent, rollout
from tetrarchia_env import Game, Options, batch
from tetrarchia_env.agent import agent_rngs, agent_streams, ask
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.envs import partners as partners_module
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.errors import TetrarchiaError

ROOT = Path(__file__).parents[2]
LEVEL = "3211"
SEEDS = range(10, 16)


class FirstAgent:
    """Plays the first legal action after `end`."""

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class RandomAgent:
    """Plays at random, from the RNG states that it receives; counts its calls and the environments that were begun."""

    def __init__(self) -> None:
        self.calls, self.begun = 0, 0

    def begin(self, env_ids: Any) -> None:
        self.begun += len(env_ids)

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        self.calls += 1
        assert masks.shape == (len(games), 455)
        return batch.random_actions(masks, games["dice"].copy())


class EveryStep:
    """Pays each Emperor another amount for every step: 1, 10, 100 and 1000."""

    def begin(self, games: Any, rows: Any) -> None:
        pass

    def __call__(self, games: Any) -> Any:
        return np.tile([1.0, 10.0, 100.0, 1000.0], (len(games), 1))


class IllegalAgent:
    """Plays action 454, which is never legal here."""

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        return np.full(len(games), 454)


Trajectory = tuple[
    list[bytes], list[float], list[float], bytes
]  # positions, observation sums and rewards of the decisions; the last position


def choose(mask: Any, seed: int, decisions: Any) -> int:
    """Return the action of a `RandomAgent` with the learner's seat."""
    return int(batch.random_actions(mask.reshape(1, -1), agent_rngs(agent_streams(seed), np.atleast_1d(decisions)))[0])


def played_by_hand(seat: str, seed: int, reward: str, agents: dict[str, Any] | None = None) -> Trajectory:
    """Play all four seats in the AEC environment without partners; return what the seat sees."""
    env, agents = tetrarchia_env.raw_env(level=LEVEL, reward=reward), agents or dict.fromkeys(EMPERORS, RandomAgent())
    env.reset(seed=seed)
    positions, observations, rewards, decisions = [], [], [], 0
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        if env.agent_selection == seat:
            positions.append(env.position.tobytes())
            observations.append(env.observe(seat)["observation"].sum())
            rewards.append(0.0)
        rngs = agent_rngs(agent_streams(seed), np.array([decisions]))
        env.step(int(ask(agents[env.agent_selection], env.position, env.masks, np.array([0]), rngs)[0]))
        decisions += 1
        if rewards:
            rewards[-1] += env.rewards[seat]
    return positions, observations, rewards, env.position.tobytes()


def played_in_aec(seat: str, seed: int, reward: str, partners: Any) -> Trajectory:
    env = tetrarchia_env.env(level=LEVEL, reward=reward, seat=seat, partners=partners)
    env.reset(seed=seed)
    raw = env.unwrapped
    positions, observations, rewards = [], [], []
    for agent in env.agent_iter():
        obs, paid, terminated, truncated, _ = env.last()
        assert agent == seat
        rewards.append(paid)
        if terminated or truncated:
            env.step(None)
            continue
        positions.append(raw.position.tobytes())
        observations.append(obs["observation"].sum())
        env.step(choose(obs["action_mask"], seed, raw.partners.records["decisions"]))
    return positions, observations, rewards[1:], raw.position.tobytes()


def played_in_parallel(seat: str, seed: int, reward: str, partners: Any) -> Trajectory:
    env = tetrarchia_env.parallel_env(level=LEVEL, reward=reward, seat=seat, partners=partners)
    observed, _ = env.reset(seed=seed)
    raw = env.unwrapped
    positions, observations, rewards = [], [], []
    while env.agents:
        assert env.agents == [seat]
        positions.append(raw.position.tobytes())
        observations.append(observed[seat]["observation"].sum())
        observed, paid, *_ = env.step({seat: choose(observed[seat]["action_mask"], seed, raw.partners.records["decisions"])})
        rewards.append(paid[seat])
    return positions, observations, rewards, raw.position.tobytes()


def played_in_gymnasium(seat: str, seed: int, reward: str, partners: Any) -> Trajectory:
    env = gymnasium.make("Tetrarchia-v0", level=LEVEL, reward=reward, seat=seat, partners=partners)
    obs, _ = env.reset(seed=seed)
    raw: Any = env.unwrapped
    positions, observations, rewards, over = [], [], [], False
    while not over:
        positions.append(raw.position.tobytes())
        observations.append(obs["observation"].sum())
        obs, paid, terminated, truncated, _ = env.step(choose(obs["action_mask"], seed, raw.partners.records["decisions"]))
        rewards.append(paid)
        over = terminated or truncated
    return positions, observations, rewards, raw.position.tobytes()


def played_in_vector(seat: str, seeds: Any, reward: str, partners: Any, **arguments: Any) -> list[Trajectory]:
    """Play the first game of each environment."""
    env = tetrarchia_env.vector_env(len(seeds), level=LEVEL, reward=reward, seat=seat, partners=partners, **arguments)
    obs, _ = env.reset(seed=list(seeds))
    found: Any = [([], [], [], None) for _ in seeds]
    running = np.ones(len(seeds), dtype=bool)
    while running.any():
        rows = np.flatnonzero(running)
        for row in rows:
            found[row][0].append(env.batched.games[row].tobytes())
            found[row][1].append(obs["observation"][row].sum())
        decisions = env.batched.partners.records["decisions"]
        actions = [choose(obs["action_mask"][row], seed, decisions[row]) for row, seed in enumerate(seeds)]
        obs, paid, terminated, truncated, _ = env.step(np.array(actions))
        for row in rows:
            found[row][2].append(paid[row])
            if terminated[row] or truncated[row]:
                found[row] = (*found[row][:3], env.batched.games[row].tobytes())
        running &= ~(terminated | truncated)
    return found


@pytest.mark.parametrize("seat", EMPERORS)
@pytest.mark.parametrize("reward", ["borders", "glory"])
def test_vector_environment_plays_the_same_games_as_the_aec_environment(seat: str, reward: str) -> None:
    found = played_in_vector(seat, SEEDS, reward, RandomAgent())

    for seed, (positions, observations, rewards, last) in zip(SEEDS, found, strict=True):
        by_hand = played_by_hand(seat, seed, reward)
        assert (positions, observations, last) == (by_hand[0], by_hand[1], by_hand[3])
        assert rewards == pytest.approx(by_hand[2], rel=1e-12)
        assert played_in_aec(seat, seed, reward, RandomAgent()) == (positions, observations, rewards, last)


@pytest.mark.parametrize("play", [played_in_parallel, played_in_gymnasium])
def test_parallel_and_gymnasium_environments_play_the_same_game(play: Any) -> None:
    assert play("galerius", 11, "shaped", RandomAgent()) == played_in_aec("galerius", 11, "shaped", RandomAgent())


def test_base_actions_do_not_change_the_games() -> None:
    all_actions = played_in_vector("galerius", SEEDS, "outcome", RandomAgent())

    assert played_in_vector("galerius", SEEDS, "outcome", RandomAgent(), actions="base") == all_actions


def test_seats_may_have_different_partners() -> None:
    agents = {"diocletian": FirstAgent(), "constantius": RandomAgent(), "maximian": FirstAgent()}

    [found] = played_in_vector("galerius", [11], "borders", agents)

    by_hand = played_by_hand("galerius", 11, "borders", agents | {"galerius": RandomAgent()})
    assert (found[0], found[3]) == (by_hand[0], by_hand[3])
    assert played_in_aec("galerius", 11, "borders", agents) == found


def test_partners_play_the_games_of_rollout() -> None:
    results = rollout("random", list(SEEDS), level=LEVEL)

    found = played_in_vector("galerius", SEEDS, "outcome", make_agent("random"))

    finals = [np.frombuffer(last, dtype=batch.GAME)[0] for *_, last in found]
    assert [int(game["turn"]) for game in finals] == [result.turns for result in results]
    assert [int(batch.scores(np.array([game]))[0]) for game in finals] == [result.score for result in results]


def test_reactions_of_the_learner_are_its_decisions() -> None:
    """R10.1: galerius may boost, and constantius block, in the turns of others."""
    for seat, phase in (("galerius", "boost"), ("constantius", "block")):
        env = tetrarchia_env.raw_env(level="4211", variants=["imperivm"], seat=seat, partners=RandomAgent())
        phases = set()
        for seed in range(20):
            env.reset(seed=seed)
            while not env.terminations[seat] and not env.truncations[seat]:
                phases.add(env.snapshot()["phase"])
                env.step(choose(env.observe(seat)["action_mask"], seed, env.partners.records["decisions"]))
        assert phase in phases


def test_partners_are_asked_in_batches_and_are_begun() -> None:
    agent = RandomAgent()
    env = tetrarchia_env.vector_env(256, level="4200", seat="diocletian", partners=dict.fromkeys(EMPERORS[1:], agent))
    obs, _ = env.reset(seed=0)
    assert agent.begun == 256
    assert agent.calls == 0

    played = []
    for step in range(20):
        before = env.batched.partners.records["decisions"].copy()
        obs, *_ = env.step(batch.random_actions(obs["action_mask"], batch.rng_states(np.arange(step, step + 256, dtype=np.uint64))))
        played.append(np.maximum(env.batched.partners.records["decisions"] - before, 0).sum())

    assert agent.calls < sum(played) / 20


def test_line_ups_are_drawn_after_level_revolts_and_secured() -> None:
    seeds = np.arange(400)
    line_ups = [FirstAgent(), RandomAgent(), {"galerius": FirstAgent(), "constantius": RandomAgent(), "maximian": FirstAgent()}]
    many = BatchedGames(len(seeds), [Options(["4200", "4211"], revolts=[0, 3], secured=[0, 1])], seat="diocletian", partners=line_ups)
    many.begin(seeds)
    x = batch.rng_states(seeds.astype(np.uint64))
    for _ in range(4):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)

    expected = (x >> np.uint64(32)) * np.uint64(3) >> np.uint64(32)

    assert many.partners.records["lineup"].tolist() == expected.tolist()
    one = tetrarchia_env.raw_env(level=["4200", "4211"], revolts=[0, 3], secured=[0, 1], seat="diocletian", partners=line_ups)
    for seed in range(20):
        one.reset(seed=seed)
        assert one.partners.records["lineup"][0] == expected[seed]
        assert one.position.tobytes() == many.games[seed].tobytes()


def test_several_seats_are_assigned_to_the_environments_in_turn() -> None:
    many = BatchedGames(8, [Options(LEVEL)], seat=EMPERORS, partners=RandomAgent())
    seats = np.tile(np.arange(4), 2)

    for seat in range(4):
        one = BatchedGames(8, [Options(LEVEL)], seat=EMPERORS[seat], partners=RandomAgent())
        one.begin(range(8))
        many.begin(range(8))
        for _ in range(30):
            assert (batch.agents_to_act(many.games) == seats).all()
            rows = seats == seat
            assert many.games[rows].tobytes() == one.games[rows].tobytes()
            assert (many.obs[rows] == one.obs[rows]).all()
            for games in (many, one):
                games.advance(games.masks.argmax(axis=1))
                games.begin_next(np.flatnonzero(games.episodes["ended"]))
                games.observe()


def test_more_seats_than_environments_are_refused() -> None:
    with pytest.raises(TetrarchiaError, match="4 seats"):
        BatchedGames(2, [Options(LEVEL)], seat=EMPERORS, partners=RandomAgent())


def test_single_agent_is_not_drawn_but_a_list_of_one_is() -> None:
    games = {}
    for name, partners in {"alone": RandomAgent(), "list": [RandomAgent()]}.items():
        env = tetrarchia_env.raw_env(level="4200", seat="diocletian", partners=partners)
        env.reset(seed=3)
        games[name] = env.snapshot()

    assert games["alone"] == Game(level="4200", seed=3).snapshot()
    assert games["list"]["dice"] != games["alone"]["dice"]


def test_seat_that_never_decides_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """With max_turns=3, maximian, who is fourth, never decides."""
    monkeypatch.setattr(partners_module, "MAX_GAMES_WITHOUT_DECISION", 20)
    for make in (tetrarchia_env.raw_env, tetrarchia_env.vector_env):
        with pytest.raises(TetrarchiaError, match="20 games in a row"):
            make(max_turns=3, seat="maximian", partners=RandomAgent()).reset(seed=0)


def test_next_game_after_an_early_end_is_the_same_in_both_apis() -> None:
    """From a lost position most games end in the first turn; the environments then begin the same next game."""
    env = tetrarchia_env.raw_env(level="2033", seat="maximian", partners=FirstAgent())
    many = tetrarchia_env.vector_env(300, level="2033", seat="maximian", partners=FirstAgent())
    many.reset(seed=0)
    skipped = many.batched.episodes["rng"] != batch.rng_states(np.arange(300, dtype=np.uint64))

    assert skipped.any()
    for row in [*np.flatnonzero(skipped)[:3], *np.flatnonzero(~skipped)[:3]]:
        env.reset(seed=int(row))
        assert env.position.tobytes() == many.batched.games[row].tobytes()
        assert env.agent_selection == "maximian"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episode_ends_in_the_step_in_which_a_partner_ends_the_game(mode: Any) -> None:
    env = tetrarchia_env.vector_env(64, level="2111", seat="constantius", partners=RandomAgent(), autoreset_mode=mode)
    obs, infos = env.reset(seed=0)
    ended_by_partner = 0
    for step in range(60):
        over = batch.is_over(env.batched.games)
        actions = batch.random_actions(obs["action_mask"], batch.rng_states(np.arange(step, step + 64, dtype=np.uint64)))
        obs, rewards, terminated, truncated, infos = env.step(actions)
        ended = terminated | truncated
        assert (infos["agent"] == 2)[~batch.is_over(env.batched.games)].all()
        assert (rewards[ended & terminated] != 0).all()
        assert (rewards[~ended] == 0).all()
        assert not (ended & over).any() or mode == "SameStep"
        final = infos["final_info"]["agent"] if "final_info" in infos else infos["agent"]
        ended_by_partner += (final[ended] != 2).sum()
    assert ended_by_partner > 0


def test_sb3_environment_has_the_same_games_and_ends() -> None:
    pytest.importorskip("stable_baselines3")
    sb3 = tetrarchia_env.sb3_vec_env(32, level="2111", seat="maximian", partners=RandomAgent(), seed=5, reward="glory")
    vector = tetrarchia_env.vector_env(32, level="2111", seat="maximian", partners=RandomAgent(), reward="glory", autoreset_mode="SameStep")
    observed, (obs, _), ends = sb3.reset(), vector.reset(seed=5), 0
    for step in range(60):
        assert (observed == obs["observation"]).all()
        actions = batch.random_actions(obs["action_mask"], batch.rng_states(np.arange(step, step + 32, dtype=np.uint64)))
        observed, paid, done, infos = sb3.step(actions)
        obs, rewards, terminated, truncated, vector_infos = vector.step(actions)
        assert (done == (terminated | truncated)).all()
        assert paid == pytest.approx(rewards)
        for row in np.flatnonzero(done):
            ends += 1
            assert (infos[row]["terminal_observation"] == vector_infos["final_obs"][row]["observation"]).all()
            assert (infos[row]["rewards"] == vector_infos["final_info"]["rewards"][row]).all()
            assert infos[row]["rewards"][3] == pytest.approx(paid[row])
    assert ends > 0


def test_saved_state_continues_with_the_same_games() -> None:
    line_ups = [RandomAgent(), {"diocletian": RandomAgent(), "constantius": FirstAgent(), "maximian": RandomAgent()}]

    def batched() -> BatchedGames:
        return BatchedGames(32, [Options("2111")], seat="galerius", partners=line_ups)

    def play(games: BatchedGames, steps: range) -> None:
        for step in steps:
            games.advance(batch.random_actions(games.legal(), batch.rng_states(np.arange(step, step + 32, dtype=np.uint64))))
            games.begin_next(np.flatnonzero(games.episodes["ended"]))

    first, second = batched(), batched()
    first.begin(range(32))
    play(first, range(30))
    state = first.state()
    second.set_state(state)
    play(first, range(30, 90))
    play(second, range(30, 90))

    assert sorted(state) == ["episodes", "games", "partners"]
    assert all((first.state()[name] == second.state()[name]).all() for name in state)
    without = {name: rows for name, rows in state.items() if name != "partners"}
    with pytest.raises(TetrarchiaError, match="partners must be uint8"):
        second.set_state(without)
    damaged = {**state, "partners": np.full_like(state["partners"], 255)}
    with pytest.raises(TetrarchiaError, match="partners: record 0 is damaged"):
        second.set_state(damaged)
    other = BatchedGames(32, [Options("2111")], seat="maximian", partners=[RandomAgent(), RandomAgent()])
    with pytest.raises(TetrarchiaError, match="decision of the learner"):
        other.set_state(state)


def test_copy_of_an_environment_continues_with_the_same_game() -> None:
    env = tetrarchia_env.raw_env(level=LEVEL, seat="galerius", partners=RandomAgent())
    env.reset(seed=1)
    env.step(env.legal_actions()[0])
    copy = env.clone()
    for one in (env, copy):
        while one.legal_actions():
            one.step(one.legal_actions()[-1])

    assert env.snapshot() == copy.snapshot()


def test_restored_game_is_at_the_next_decision_of_the_learner() -> None:
    env = tetrarchia_env.raw_env(level="4200", seat="galerius", partners=RandomAgent())
    env.restore(Game(level="4200", seed=7).snapshot())

    assert env.agent_selection == "galerius"
    assert env.snapshot()["turn"] == 1


@pytest.mark.parametrize("seat", [None, "constantius"])
def test_rewards_per_emperor_are_in_the_infos(seat: Any) -> None:
    arguments: dict[str, Any] = {"reward": EveryStep(), "seat": seat, "partners": seat and RandomAgent()}
    one, many = gymnasium.make("Tetrarchia-v0", **arguments), tetrarchia_env.vector_env(3, illegal="raise", **arguments)
    obs, info = one.reset(seed=1)
    _, infos = many.reset(seed=1)
    assert (infos["rewards"].shape, info["rewards"].tolist()) == ((3, 4), [0] * 4)
    while obs["action_mask"].any() and not batch.is_over(many.batched.games).any():
        before = np.ones(3) if seat is None else 0
        if seat is not None:
            before = many.batched.partners.records["decisions"].copy()
        action = int(obs["action_mask"].argmax())
        actions = many.batched.masks.argmax(axis=1)
        obs, reward, _, _, info = one.step(action)
        _, rewards, _, _, infos = many.step(actions)
        steps = before if seat is None else many.batched.partners.records["decisions"] - before
        assert infos["rewards"].tolist() == [[n, 10 * n, 100 * n, 1000 * n] for n in steps]
        assert rewards.tolist() == [n * (1111 / 4 if seat is None else 100) for n in steps]
        assert (reward, info["rewards"].tolist()) == (rewards[0], infos["rewards"][0].tolist())


FACTORIES = {
    "env": tetrarchia_env.env,
    "raw_env": tetrarchia_env.raw_env,
    "parallel_env": tetrarchia_env.parallel_env,
    "gymnasium": lambda **arguments: gymnasium.make("Tetrarchia-v0", **arguments),
    "vector_env": tetrarchia_env.vector_env,
}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "seat alone": ({"seat": "galerius"}, "partners must be given together with seat"),
    "partners alone": ({"partners": FirstAgent()}, "seat must be given together with partners"),
    "unknown seat": ({"seat": "nero", "partners": FirstAgent()}, "seat must be one of diocletian, .*; got 'nero'"),
    "missing seat": ({"seat": "galerius", "partners": {"maximian": FirstAgent()}}, "partners must have the seats diocletian, constantius"),
    "empty list": ({"seat": "galerius", "partners": []}, "empty list"),
    "no agent": ({"seat": "galerius", "partners": 3}, "partners must be names of agents or objects with a method act; got 3"),
    "class": ({"seat": "galerius", "partners": FirstAgent}, "objects with a method act"),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("factory", FACTORIES)
def test_wrong_arguments_are_refused(case: str, factory: str) -> None:
    arguments, message = WRONG[case]
    with pytest.raises(TetrarchiaError, match=message):
        FACTORIES[factory](**arguments)


def test_illegal_action_of_a_partner_raises() -> None:
    with pytest.raises(TetrarchiaError, match=r"partner .*IllegalAgent.*: action 454 is not legal"):
        tetrarchia_env.raw_env(seat="galerius", partners=IllegalAgent()).reset(seed=1)
    with pytest.raises(TetrarchiaError, match=r"partner .*IllegalAgent.*: action 454 is not legal"):
        tetrarchia_env.vector_env(4, seat="galerius", partners=IllegalAgent()).reset(seed=1)


def declared_entry_points() -> Any:
    """Return the entry points of this working copy, whichever version is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    group = "tetrarchia.agents"
    return importlib.metadata.EntryPoints(
        importlib.metadata.EntryPoint(name, value, group) for name, value in project["entry-points"][group].items()
    )


def test_declared_entry_point_makes_agents_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = declared_entry_points()
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **selection: found.select(**selection))
    assert found["default"].load() is make_agent

    env = tetrarchia_env.vector_env(4, seat="galerius", partners=["greedy", {name: "greedy" for name in EMPERORS if name != "galerius"}])

    assert [type(agent).__name__ for agent in env.batched.partners._agents] == ["GreedyAgent"]  # one object per name
    with pytest.raises(TetrarchiaError, match="unknown agent 'gredy'"):
        tetrarchia_env.vector_env(4, seat="galerius", partners="gredy")


def test_name_without_an_installed_provider_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = importlib.metadata.EntryPoints([importlib.metadata.EntryPoint("mine", "no_such_package:make", "tetrarchia.agents")])
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **selection: entries.select(**selection))

    with pytest.raises(TetrarchiaError, match=r"no installed package provides agents by name .*; got 'ppo'"):
        tetrarchia_env.raw_env(seat="galerius", partners="ppo")
    with pytest.raises(TetrarchiaError, match="'mine:2' needs a package that is not installed"):
        tetrarchia_env.raw_env(seat="galerius", partners="mine:2")
