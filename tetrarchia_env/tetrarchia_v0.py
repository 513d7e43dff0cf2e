"""# Tetrarchia

| Import | `import tetrarchia_env`; by its version: `from tetrarchia_env import tetrarchia_v0` |
|---|---|
| Actions | Discrete |
| Parallel API | Yes |
| Manual Control | No |
| Agents | `agents = ['diocletian', 'galerius', 'constantius', 'maximian']` |
| Number of agents | 4 |
| Action Shape | Discrete(455) |
| Action Values | 0 to 454 |
| Observation Shape | a vector and an action mask |
| Observation Values | about -1 to 1 |

Four Emperors hold the Roman Empire against revolts, uprisings and Barbarian armies, and win together when all six
borders are secured. The rules are in docs/rules.md; everybody sees everything but the dice to come.

### Observation

`{"observation": float32 vector, "action_mask": int8 vector}`, as the agent observes it: himself first, then the others in turn
order. docs/observation.md lists the parts. With `mask="info"` the observation is the vector alone (a Box), and the mask is
`info["action_mask"]`; it is never in both places. Only the agent selected has legal actions in his mask, and nobody has after the end;
but where a library may sample nevertheless, one id, 0, is there to be sampled and is ignored: in the parallel API for the idle
agents, and after the end in all but the AEC API. Masks are copies and can be written. The board's graph is public:
`tetrarchia_env.BOARD` (links, coasts, paths).

### Actions

`action_text(id)` and `action_id(text)` of `tetrarchia_env.notation` translate; what a configuration does not have is never
legal. An agent acts several times in a row within his turn; `agent_selection` jumps to galerius or constantius for their reactions (R10.1).

An illegal action is ended by PettingZoo's guard in `env` and `parallel_env`: its agent gets -1, the others 0, and the game is over. In
`raw_env` it is a ValueError. In the Gymnasium and vector APIs `illegal` says what it is: `"raise"`, a ValueError that leaves every
game untouched; `"ignore"`, a step in which nothing happens, and the 1000th of a game truncates it; `"lose"`, the game is lost
(outcome `rome fell`) and pays what a loss does. The default is `"ignore"`, so that a random player needs no mask, but `"raise"` in
`sb3_vec_env`, whose learners are given the masks: an illegal action is a mistake there.

### Infos

Numbers only, with the same keys from reset to end in every API: `turn` (turns finished), `score` (R9.3), `outcome` and `agent` (codes,
whose words are `tetrarchia_env.outcome_name(code)` and `tetrarchia_env.agent_name(code)`; `agent` is whoever is to act, after the end
whose turn it was), `illegal_action` (1 if the last action was illegal), and `action_mask` with `mask="info"`. All four agents are told
the same `agent`: in the parallel API only his transition is real. `sb3_vec_env` adds `terminal_observation`, `TimeLimit.truncated`
and `episode` (with the level) to the info of a step that ended a game, as SB3 expects.

### Many games

`vector_env` is to `Tetrarchia-v0` what Gymnasium's SyncVectorEnv is, with the same `autoreset_mode`: `"NextStep"` (the default: after an
end the next step begins a game, whatever is chosen, and pays 0), `"SameStep"` (the next game begins at once; `final_obs` and
`final_info` are of the one that ended) or `"Disabled"` (`reset(options={"reset_mask": flags})` begins anew where you say). Infos
are arrays with Gymnasium's `_key` flags beside. `reset(seed=)` takes one number, or one for each game, None for a drawn one.
`sb3_vec_env` is always of the kind `"SameStep"`, and has the mask in `action_masks()` alone unless `mask` is given. Both copy what they
give unless `copy=False`: then an observation is only good until the step after the next.

### Rewards

`outcome`: all four get 1 when the game is won, -1 when it is lost, 0 when it is truncated. `score`: the score (R9.3) / 10 at
the end. `shaped`: outcome plus potential-based shaping, `gamma * potential(after) - potential(before)`, with the planner's chance to win as
the potential and 0 at the end (`tetrarchia_env.envs.rewards.ShapedReward`, which trained the shipped agents): it leaves the best policy
unchanged for a learner whose discount a step is `gamma` (1 if not given), and for no other. `glory`: outcome plus 1 for the Great,
0.5 for an Emperor of East or West (R10.5). Any object with `begin(games, rows)` that can be called with the games is a reward too.
APIs with one player for all four give the mean of the four rewards.

### Arguments

``` python
tetrarchia_v0.env(level="4211", variants=(), modules=(), scenario=None, fixed_setup=False, max_turns=400,
                  reward="outcome", gamma=1.0, render_mode=None, mask="observation")
```

`level`: four digits (R2.1) or a list of levels, one drawn for each game. `variants`: imperivm, mare_nostrvm, diarchia,
patres_patriae, the_great. `modules`: dux, pirates, goths. `scenario`: carausian_revolt, danube_wars, mauretanian_war,
great_persian_war, which sets level and modules. `fixed_setup`: R2.7. `max_turns`: the game is truncated when so many turns are
finished. `reward`, `gamma`, `mask`: as above. `render_mode`: `ansi` (text), `rgb_array`, `human` (a window), `svg`.

### Version History

* v0: Initial version
"""

from typing import TYPE_CHECKING, Any

from pettingzoo.utils import wrappers

from tetrarchia_env.envs.aec import TerminateIllegal, TetrarchiaAEC
from tetrarchia_env.envs.parallel import TetrarchiaParallel
from tetrarchia_env.envs.registration import GYMNASIUM_ID, PETTINGZOO_ID, register, register_with_pettingzoo
from tetrarchia_env.envs.vector import TetrarchiaVector

if TYPE_CHECKING:
    from tetrarchia_env.envs.sb3 import TetrarchiaVecEnv

__all__ = ["GYMNASIUM_ID", "PETTINGZOO_ID", "env", "parallel_env", "raw_env", "sb3_vec_env", "vector_env"]

ILLEGAL_REWARD = -1.0


def env(**arguments: Any) -> Any:
    """The AEC environment behind PettingZoo's guards: an illegal action ends the game.

    >>> aec = env(level="4200")
    >>> aec.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = aec.last()
    >>> aec.agent_selection, int(observation["action_mask"].sum())
    ('diocletian', 3)
    """
    guarded = TerminateIllegal(raw_env(**arguments), illegal_reward=ILLEGAL_REWARD)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(guarded))


def raw_env(**arguments: Any) -> TetrarchiaAEC:
    """The same without guards: an illegal action is a ValueError and leaves the game untouched.

    >>> aec = raw_env(level="4200")
    >>> aec.reset(seed=7)
    >>> [aec.action_text(action) for action in aec.legal_actions()]
    ['fleet ATLANTICVM', 'fleet INTERNVM', 'fleet AEGAEVM']
    """
    return TetrarchiaAEC(**arguments)


def parallel_env(**arguments: Any) -> Any:
    """The parallel environment, in which only the agent to act is listened to; the others have one legal id, `end`.

    >>> parallel = parallel_env(level="4200")
    >>> observations, infos = parallel.reset(seed=7)
    >>> [int(observations[agent]["action_mask"].sum()) for agent in parallel.agents], infos["maximian"]["agent"]
    ([3, 1, 1, 1], 0)
    """
    return TetrarchiaParallel(env(**arguments))


def vector_env(num_envs: int = 1, **arguments: Any) -> TetrarchiaVector:
    """Many games as a Gymnasium VectorEnv; also takes `autoreset_mode`, `copy` and the arguments for many games.

    >>> envs = vector_env(512, level=["4200", "4211"])
    >>> observations, infos = envs.reset(seed=0)
    >>> observations["observation"].shape, observations["action_mask"].shape
    ((512, 1344), (512, 455))
    """
    return TetrarchiaVector(num_envs, **arguments)


def sb3_vec_env(num_envs: int = 1, **arguments: Any) -> "TetrarchiaVecEnv":
    """Many games as a Stable-Baselines3 VecEnv; also takes `seed`, `copy` and the arguments for many games.

    >>> envs = sb3_vec_env(64, seed=0, level="4200", actions="base")
    >>> envs.reset().shape, envs.action_masks().shape
    ((64, 1344), (64, 109))
    """
    from tetrarchia_env.envs.sb3 import TetrarchiaVecEnv  # only those who train need Stable-Baselines3

    return TetrarchiaVecEnv(num_envs, **arguments)


register()
register_with_pettingzoo()
