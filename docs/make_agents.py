"""Write docs/agents.md from the registry and the planner's features and weights: `python docs/make_agents.py`."""

from collections.abc import Iterator
from pathlib import Path

from tetrarchia_agents.chance_samples import WAYS
from tetrarchia_agents.registry import AGENTS
from tetrarchia_agents.search.beam_search import WIDEST
from tetrarchia_agents.search.chance import STRIKES
from tetrarchia_agents.search.selection import SAMPLES
from tetrarchia_agents.turn_search import CLOSE
from tetrarchia_env.heuristic import FEATURES, load_weights

PAGE = Path(__file__).parent / "agents.md"

# What each does, and its options.
ABOUT = {
    "random": ("any legal action, each as likely", "none"),
    "greedy": ("the action that makes the position best, an attack by the mean of its results", "none"),
    "planner": (
        "the first action of the best turn it finds, see below",
        "`beam` 32: positions kept after each action; `ends` 16: ends of the turn looked at with the Barbarian phase; "
        f"`attacks` 4: attacks planned on; each from 1 to {WIDEST}",
    ),
    "ppo": (
        "what a trained network likes best, or the best of some turns that it proposes, see below; needs the packages of the extra `train`",
        "`checkpoint` ppo: a name in `checkpoints/`, or a folder; `turns` 0: candidates of each turn, 0: no search; `temperature`: at "
        "which actions are drawn, the likelier the better it likes them; without `turns` 0, which draws none, with `turns` 1; "
        f"`chance_samples` 1: times that each of the {WAYS} rolls is looked at; `margin` 0.02: by how much a turn must be better than the "
        "greedy one, where a win counts 2; `rollout_turns` 1: turns that the policy plays on before it judges the finalists, 0: no "
        "rollouts; `finalists` 4: the greedy turn, and the best of those that seem better; `confirm_samples` 3: times that the best "
        f"of them meets each of the {WAYS} rolls again, 0: no confirmation",
    ),
}

HEAD = """\
<!-- Written by docs/make_agents.py from the code's tables: change those or that script, not this page. -->
# Agents

An agent chooses for the Emperors it is given. `tetrarchia watch`, `play` and `eval` take agents by name with `--agents`:

```sh
tetrarchia watch --agents greedy
tetrarchia eval --agents greedy,random --level 4200 --games 20
```

Options follow the name after colons: `planner:beam=64:ends=32`. The name of the first option may be left out: `planner:64`.
Your own class is named by its module, `my_module.MyAgent`: [benchmark your own policy](your_policy.md).
One to four names with commas share the Emperors (R13.1 of [the rules](rules.md)): one has all; of two, the first has the East
and the second the West; of three, the first has Diocletian and Galerius, the others Constantius and Maximian; four have one each,
in turn order.

| name | chooses | options and their defaults |
|---|---|---|
"""

PLANNING = f"""
All of them play every variant, module and scenario, unless a checkpoint was trained for fewer actions. How strong they are, and what a
decision takes, is in [results.md](results.md), and how that is measured in [evaluation.md](evaluation.md).

## How the planner plans
1. **A beam through the turn.** From the position it tries every legal action, keeps the `beam` best positions, tries every action in
   these, and so on until nothing can be done. Two ways to the same position count once.
2. **Ends of the turn.** Wherever the turn may end it notes the position, without the IP that would be lost. The `ends` best are looked
   at more closely: the mean over the {STRIKES} provinces that the Barbarian phase may strike (R6.3), its other dice rolled anew.
3. **Attacks** by their exact chances (R5.1). For the `attacks` best ones the rest of the turn is planned anew from each result, with a
   quarter of `beam` and `ends`; an attack after that counts as it stands.
4. It does the first action of what is best, and plans again at the next decision.

For fleets (R2.6) and reactions (R10.1) it tries each answer {SAMPLES} times with other dice. Looking ahead it takes it that nobody
boosts or blocks.

## How `ppo:turns=N` searches
1. **N turns are proposed** by the policy: its greedy one, and N - 1 drawn at a temperature. Each goes up to its end, its first attack, or
   a decision of another Emperor (R10.1). Turns that come to the same count once.
2. **Each is judged** by the mean over the {WAYS} rolls of R N: those of the attack (R5.1), or of the province that is struck (R6.3); dice
   that follow are the same for all turns of a game. A position is worth its potential (below) and the value to come that the
   network has learned on top of it.
3. **What seems better than the greedy turn is played on.** The best such candidates, if they are less than {CLOSE} apart, where a win
   counts 2, and the greedy one are judged once more: by each of the same dice the policy plays the rest of the turn and
   `rollout_turns` more, and the value is asked only then (truncated rollouts).
4. **The best must win again.** If it is better than the greedy turn by `margin`, these two are played on once more, by
   `confirm_samples` times as many dice, none of which had a part in the choice: of several that are as good, the luckiest
   always seems better.
5. **It is played**, action by action, if it is better by `margin` this time too; else the greedy turn is. Without the margin won
   games are put off. After an attack the rest of the turn is planned anew.

It looks at nothing that the policy would not do: what it never tried, its value judges badly. The checkpoint must be one that PPO has
trained; `bc` has no value. [turn_search.py](../agents/tetrarchia_agents/turn_search.py) cites the papers.

## What a position is worth
The chance to win: the logistic function of the sum of these features, each times its weight
([evaluation.py](../tetrarchia_env/heuristic.py)). `greedy` judges by it too, and it is the potential of `reward="shaped"`. The weights are
fitted to games of the planner itself by `python -m tetrarchia_train.tune_planner`, which begins with those in
`train/tetrarchia_train/default_heuristic.toml`, and are kept in `tetrarchia_env/data/heuristic_weights.toml`. Not fitted are `border_unmet`,
which is chosen by the games it wins, and `goths_or_rebels`, `pirates` and `dux`, which those games do not have: they are as set by hand.
The tests in `tests/env/test_evaluation.py` show a small position for each.

| feature | weight | what is counted |
|---|---|---|
"""

YOUR_OWN = """
Weights are not importances: features that go together share theirs, and one may be the other way round than people would say.

## An agent of your own
An agent has one method. It gets games (an array of records, [state.py](../tetrarchia_env/engine/state.py)), a row of legal actions for
each, and the number of the environment in which each is played, for those who remember something. It returns the id of a legal action
for each:

```python
import numpy as np

from tetrarchia_agents import Agent, make_agent
from tetrarchia_agents import rollout
from tetrarchia_env.notation import action_id

DUTIES = [action_id(text) for text in ("secure", "subdue", "calm")]


class Cautious(Agent):
    def act(self, games, masks, env_ids):
        duties = np.take(DUTIES, np.argmax(masks[:, DUTIES], axis=1))
        others = make_agent("random").act(games, masks, env_ids)
        return np.where(masks[:, DUTIES].any(axis=1), duties, others)


results = rollout([Cautious(), make_agent("greedy")], 20, level="4200")  # the East and the West
print(sum(result.won for result in results), "of", len(results), "games won")
```

- What an agent gets are copies with other dice: it may play on in them, and cannot see the dice to come. Chance of its own it takes from
  their RNG states, `games["dice"]`; so a game is the same in any environment and company.
- `begin(env_ids)` tells an agent that new games begin there; one without a memory need not write it.
- Result files keep a fingerprint of it: its choices in fixed positions, and what `weights_digest()` returns, which an agent with weights
  writes. One that looks at the clock names in `reference()` an agent whose choices can be repeated.
- To have it by name, make it a dataclass whose fields are its options, with a default each; `my_module.MyAgent` is then its name. One of
  ours also gets a line in `AGENTS` of [registry.py](../agents/tetrarchia_agents/registry.py).
- In games that you play yourself, `TeamPolicy` asks four agents for their Emperors' decisions
  ([team_policy.py](../agents/tetrarchia_agents/team_policy.py)).
"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(_agents()) + "\n" + PLANNING + "\n".join(_features()) + "\n" + YOUR_OWN


def _agents() -> Iterator[str]:
    for name in AGENTS:
        what, options = ABOUT[name]
        yield f"| `{name}` | {what} | {options} |"


def _features() -> Iterator[str]:
    weights = load_weights()[0]
    for name, meaning in FEATURES.items():
        yield f"| `{name}` | {weights[name]:.4f} | {meaning} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
