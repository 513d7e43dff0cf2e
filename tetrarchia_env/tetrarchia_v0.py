"""# Tetrarchia

| Import | `import tetrarchia_env`, or `from tetrarchia_env import tetrarchia_v0` to pin the version |
|---|---|
| Actions | Discrete |
| Parallel API | Yes |
| Manual Control | No |
| Agents | `agents = ['diocletian', 'galerius', 'constantius', 'maximian']` |
| Number of agents | 4 |
| Action Shape | Discrete(455) |
| Action Values | 0 to 454 |
| Observation Shape | a vector and an action mask |
| Observation Values | -1 to 1 |

Four Emperors defend the Roman Empire against revolts, uprisings and Barbarian armies. They win together when all six borders are
secured. The game is fully observable; only future dice are hidden. With `view_radius`, our extension of the game, an Emperor observes
only the spaces near him (docs/local_information.md). docs/rules.md contains the rules.

### Observations

`{"observation": float32 vector, "action_mask": int8 vector}`, from the point of view of the observing Emperor: itself first, then
the others in turn order. docs/observation.md lists the parts of the vector. With `mask="info"` the observation is the vector alone
(a Box), and the mask is `info["action_mask"]`. Masks are copies and may be modified.

In the AEC API only the selected agent has legal actions, and after the end no agent has any. In the other APIs a mask is never
empty: idle agents of the parallel API, and all agents after the end, have one legal id, 0, whose action is ignored.

The board graph (links, coasts, paths) is public as `tetrarchia_env.BOARD`.

### Actions

`action_text(id)` and `action_id(text)` of `tetrarchia_env.notation` convert between ids and texts. Actions that a configuration
lacks are never legal. An agent acts several times in a row within its turn; `agent_selection` also jumps to galerius or
constantius for their reactions (R10.1).

In `env` and `parallel_env` PettingZoo's wrapper ends the game on an illegal action: its agent gets -1, the others 0. `raw_env` raises
TetrarchiaError. In the Gymnasium and vector APIs the argument `illegal` decides: `"raise"` raises TetrarchiaError and changes no game;
`"ignore"` has no effect, and the 1000th illegal action of a game truncates it; `"lose"` loses the game (outcome `rome fell`). The
default is `"ignore"`, so that random players need no mask, but `"raise"` in `sb3_vec_env`, whose learners use masks.

### Infos

Infos contain numbers only, with the same keys from reset to end in every API:

* `turn`: the number of finished turns
* `score`: R9.3; with `view_radius` 0 until the end
* `outcome`: a code; `tetrarchia_env.outcome_name(code)` returns its name
* `agent`: the code of the Emperor to act (after the end, whose turn it was); `tetrarchia_env.agent_name(code)` returns its name
* `illegal_action`: 1 if the last action was illegal
* `action_mask`: only with `mask="info"`

In the parallel API the info of every agent has the same `agent`; only that agent's transition is real. `sb3_vec_env` adds
`terminal_observation`, `TimeLimit.truncated` and `episode` (with the level) to the info of a step that ended a game, as SB3 expects.

### Vector environments

`vector_env` behaves like Gymnasium's SyncVectorEnv of `Tetrarchia-v0`, with the same `autoreset_mode`:

* `"NextStep"` (default): the step after the end of a game ignores the action, begins the next game and pays 0
* `"SameStep"`: the next game begins in the same step; `final_obs` and `final_info` describe the game that ended
* `"Disabled"`: `reset(options={"reset_mask": flags})` begins new games where a flag is set

Infos are arrays with Gymnasium's `_key` flags. `reset(seed=)` accepts one number, or one per game, where `None` draws a random seed.
`sb3_vec_env` always works like `"SameStep"`, and its masks come from `action_masks()` unless `mask` is given. Both return copies unless
`copy=False`; then an observation is valid until the step after the next.

### Rewards

* `outcome`: 1 to every agent when the game is won, -1 when it is lost, 0 when it is truncated
* `score`: the score (R9.3) / 10 at the end
* `shaped`: outcome plus potential-based shaping, `gamma * potential(after) - potential(before)`. The potential is twice the
  planner's win probability, and 0 at the end (`tetrarchia_env.envs.rewards.ShapedReward`). It leaves the optimal policy unchanged
  for a learner whose discount per step is `gamma`. Learning cannot start from random weights with it: potentials telescope, so
  with `gamma=1` all lost games from one position have the same return
* `glory`: outcome, plus 1 for the Great or 0.5 for an Emperor of East or West (R10.5)
* `borders`: a reward for each border above the largest number so far in the game, and for winning; learning can start from random
  weights with it (`tetrarchia_env.envs.rewards.BordersReward`). It is not potential-based and changes which policy is optimal
* any object with `begin(games, rows)` and `__call__(games)`, which returns one number per game or one per Emperor
  (`tetrarchia_env.envs.rewards`)

The APIs with one player for all four Emperors give the mean of the four rewards, and the four in `info["rewards"]` if the reward object
returns one per Emperor.

### Partners

With `seat` and `partners`, agents decide for the other three Emperors: `possible_agents == [seat]`, and the reward is the sum since the
learner's last decision. A game that ends before its first decision is followed by the next one.

### Arguments

``` python
tetrarchia_v0.env(level="4211", variants=(), modules=(), scenario=None, fixed_setup=False, revolts=6, secured=0, task=None,
                  max_turns=400, reward="outcome", gamma=1.0, view_radius=None, last_seen=False, message_tokens=0,
                  render_mode=None, mask="observation")
```

`level`: four digits (R2.1) or a list of levels, one of which is drawn per game. `variants`: any names of
`constants.VARIANTS`. `modules`: any names of `constants.MODULES`. `scenario`: carausian_revolt, danube_wars, mauretanian_war or
great_persian_war; sets level and modules. `fixed_setup`: R2.7. `revolts`: number of initial Revolts, 0 to 6, and `secured`: number of
borders secured from the beginning, 0 to 5; a list draws one number per game (R2.8). `task`: a name of `constants.TASKS`, which sets
level, revolts and secured. `max_turns`: truncates a game after this many turns. `reward`, `gamma`, `mask`: see above. `view_radius`:
`None` for full observations, or 0 to 12 for local ones (R14); `last_seen`: spaces out of view show what was seen there last;
`message_tokens`: the number of tokens that an Emperor can say once a turn, 0 to 16.
`render_mode`: `ansi` (text), `rgb_array`, `human` (a window), `svg`.

### Version History

* v0: Initial version
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pettingzoo
from pettingzoo.utils import wrappers

from tetrarchia_env.envs.aec import TerminateIllegal, TetrarchiaAEC
from tetrarchia_env.envs.parallel import TetrarchiaParallel
from tetrarchia_env.envs.partners import PartnersArgument, Seat
from tetrarchia_env.envs.rewards import Reward, RewardName
from tetrarchia_env.envs.spaces import MaskPlace, RenderMode
from tetrarchia_env.envs.vector import TetrarchiaVector

if TYPE_CHECKING:
    from tetrarchia_env.envs.sb3 import TetrarchiaVecEnv as sb3_vec_env

__all__ = ["env", "parallel_env", "raw_env", "sb3_vec_env", "vector_env"]

ILLEGAL_REWARD = -1.0

raw_env = TetrarchiaAEC
vector_env = TetrarchiaVector


def env(
    *,
    level: str | Sequence[str] | None = None,
    variants: Iterable[str] = (),
    modules: Iterable[str] = (),
    scenario: str | None = None,
    fixed_setup: bool = False,
    revolts: int | Sequence[int] = 6,
    secured: int | Sequence[int] = 0,
    task: str | None = None,
    max_turns: int = 400,
    reward: RewardName | Reward = "outcome",
    gamma: float = 1.0,
    view_radius: int | None = None,
    last_seen: bool = False,
    message_tokens: int = 0,
    render_mode: RenderMode | None = None,
    seat: Seat | None = None,
    partners: PartnersArgument | None = None,
    mask: MaskPlace = "observation",
) -> wrappers.OrderEnforcingWrapper:
    """Return the PettingZoo AEC environment with PettingZoo's wrappers: an illegal action ends the game.

    Args:
        level: four digits (R2.1), "4211" by default; or a list of levels, one of which is drawn per game
        variants: any names of `constants.VARIANTS` (R10)
        modules: any names of `constants.MODULES` (R11)
        scenario: carausian_revolt, danube_wars, mauretanian_war or great_persian_war (R12); sets level and modules
        fixed_setup: place the initial Revolts in province 3 of each region (R2.7)
        revolts: the number of initial Revolts, 0 to 6, or a list from which one is drawn per game (R2.8)
        secured: the number of borders secured from the beginning, 0 to 5, or a list likewise (R2.8)
        task: a name of `constants.TASKS`, which sets level, revolts and secured
        max_turns: truncate a game after this many turns
        reward: "outcome", "score", "shaped", "glory", "borders", or a reward object (`tetrarchia_env.envs.rewards`)
        gamma: the learner's discount per step, for `reward="shaped"`
        view_radius: `None` for full observations; 0 to 12: an Emperor observes only spaces within this number of links (R14)
        last_seen: with `view_radius`: spaces out of view show what was seen there last, and its age (R14.6)
        message_tokens: with `view_radius`: the number of tokens that an Emperor can say once a turn, 0 to 16 (R14.7)
        render_mode: `None`, "ansi", "rgb_array", "human" or "svg"
        seat: the learner's Emperor; `partners` decide for the other three, and only its decisions are steps
        partners: an agent (a name or an object) for the other seats, a dict by seat, or a list of these, one drawn per game
        mask: "observation" (a dict of vector and mask) or "info" (the vector alone, and the mask in `info["action_mask"]`)

    Returns:
        The wrapped environment; `env().unwrapped` is a `raw_env`.

    Raises:
        TetrarchiaError: an argument has a value that is not allowed.

    >>> aec = env(level="4200")
    >>> aec.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = aec.last()
    >>> aec.agent_selection, int(observation["action_mask"].sum())
    ('diocletian', 3)
    """
    raw = raw_env(
        level=level,
        variants=variants,
        modules=modules,
        scenario=scenario,
        fixed_setup=fixed_setup,
        revolts=revolts,
        secured=secured,
        task=task,
        max_turns=max_turns,
        reward=reward,
        gamma=gamma,
        view_radius=view_radius,
        last_seen=last_seen,
        message_tokens=message_tokens,
        render_mode=render_mode,
        seat=seat,
        partners=partners,
        mask=mask,
    )
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(TerminateIllegal(raw, illegal_reward=ILLEGAL_REWARD)))


def parallel_env(
    *,
    level: str | Sequence[str] | None = None,
    variants: Iterable[str] = (),
    modules: Iterable[str] = (),
    scenario: str | None = None,
    fixed_setup: bool = False,
    revolts: int | Sequence[int] = 6,
    secured: int | Sequence[int] = 0,
    task: str | None = None,
    max_turns: int = 400,
    reward: RewardName | Reward = "outcome",
    gamma: float = 1.0,
    view_radius: int | None = None,
    last_seen: bool = False,
    message_tokens: int = 0,
    render_mode: RenderMode | None = None,
    seat: Seat | None = None,
    partners: PartnersArgument | None = None,
    mask: MaskPlace = "observation",
) -> TetrarchiaParallel:
    """Return the PettingZoo parallel environment: only the acting agent's action is used; idle agents have one legal id, 0.

    Args:
        level: four digits (R2.1), "4211" by default; or a list of levels, one of which is drawn per game
        variants: any names of `constants.VARIANTS` (R10)
        modules: any names of `constants.MODULES` (R11)
        scenario: carausian_revolt, danube_wars, mauretanian_war or great_persian_war (R12); sets level and modules
        fixed_setup: place the initial Revolts in province 3 of each region (R2.7)
        revolts: the number of initial Revolts, 0 to 6, or a list from which one is drawn per game (R2.8)
        secured: the number of borders secured from the beginning, 0 to 5, or a list likewise (R2.8)
        task: a name of `constants.TASKS`, which sets level, revolts and secured
        max_turns: truncate a game after this many turns
        reward: "outcome", "score", "shaped", "glory", "borders", or a reward object (`tetrarchia_env.envs.rewards`)
        gamma: the learner's discount per step, for `reward="shaped"`
        view_radius: `None` for full observations; 0 to 12: an Emperor observes only spaces within this number of links (R14)
        last_seen: with `view_radius`: spaces out of view show what was seen there last, and its age (R14.6)
        message_tokens: with `view_radius`: the number of tokens that an Emperor can say once a turn, 0 to 16 (R14.7)
        render_mode: `None`, "ansi", "rgb_array", "human" or "svg"
        seat: the learner's Emperor; `partners` decide for the other three, and only its decisions are steps
        partners: an agent (a name or an object) for the other seats, a dict by seat, or a list of these, one drawn per game
        mask: "observation" (a dict of vector and mask) or "info" (the vector alone, and the mask in `info["action_mask"]`)

    Returns:
        The environment.

    Raises:
        TetrarchiaError: an argument has a value that is not allowed.

    >>> parallel = parallel_env(level="4200")
    >>> observations, infos = parallel.reset(seed=7)
    >>> [int(observations[agent]["action_mask"].sum()) for agent in parallel.agents], infos["maximian"]["agent"]
    ([3, 1, 1, 1], 0)
    """
    aec = env(
        level=level,
        variants=variants,
        modules=modules,
        scenario=scenario,
        fixed_setup=fixed_setup,
        revolts=revolts,
        secured=secured,
        task=task,
        max_turns=max_turns,
        reward=reward,
        gamma=gamma,
        view_radius=view_radius,
        last_seen=last_seen,
        message_tokens=message_tokens,
        render_mode=render_mode,
        seat=seat,
        partners=partners,
        mask=mask,
    )
    return TetrarchiaParallel(aec)


def __getattr__(name: str) -> Any:
    """Load `sb3_vec_env` on first use: Stable-Baselines3 is an optional dependency."""
    if name != "sb3_vec_env":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tetrarchia_env.envs.sb3 import TetrarchiaVecEnv

    return TetrarchiaVecEnv


if hasattr(pettingzoo, "register"):  # from PettingZoo 1.26 on
    pettingzoo.register("aec", "tetrarchia-v0", "tetrarchia_env.tetrarchia_v0:env")
    pettingzoo.register("parallel", "tetrarchia-v0", "tetrarchia_env.tetrarchia_v0:parallel_env")
