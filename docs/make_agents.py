"""Write docs/agents.md from agents/table.py and the planner's counts and weights: `python docs/make_agents.py`."""

from collections.abc import Iterator
from pathlib import Path

from tetrarchia_agents.registry import AGENTS
from tetrarchia_agents.search.beam_search import WIDEST
from tetrarchia_agents.search.chance import STRIKES
from tetrarchia_agents.search.selection import SAMPLES
from tetrarchia_env.evaluation import FEATURES, load_weights

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
        "what a trained network likes best, without any search; needs the packages of the extra `train`",
        "`checkpoint` ppo: a name in `checkpoints/`, or a folder; `temperature` 0: above 0 it draws, the likelier the better it likes it",
    ),
    "mcts": (
        "the first action of the turn that tree search over the turns to come likes best",
        "`time` 1.0: seconds a turn; `simulations` 0: so many a turn instead; the others in `agents/mcts.py`",
    ),
}

HEAD = """\
<!-- Written by docs/make_agents.py from agents/table.py and agents/search: change these or that script, not this page. -->
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

## What a position is worth
The chance to win: the logistic function of the sum of these counts, each times its weight. `greedy` judges by them too. The weights are
fitted to games of the planner itself by `python -m tetrarchia_train.tune_planner`, which begins with those in `train/hand_set.toml`, and are kept in
`agents/search/weights.toml`. Not fitted are `border_unmet`, which is chosen by the games it wins, and `goths_or_rebels`, `pirates` and
`dux`, which those games do not have: they are as set by hand. The tests
in `tests/test_evaluation_counts.py` show a small position for each.

| count | weight | what is counted |
|---|---|---|
"""

YOUR_OWN = """
Weights are not importances: counts that go together share theirs, and one may be the other way round than people would say.

## An agent of your own
An agent has one method. It gets games (an array of records, `tetrarchia_env/engine/state.py`), a row of legal actions for each, and
the env_id in which each is played, for those who remember something. It returns the id of a legal action for each game:

```python
import numpy as np

from tetrarchia_agents import Agent, TeamPolicy, make_agent
from tetrarchia_env.batch import new_games, step
from tetrarchia_env.engine.state import OVER
from tetrarchia_env.notation import action_id
from tetrarchia_env.options import Options


class Cautious(Agent):
    def act(self, games, masks, env_ids):
        wishes = [action_id(text) for text in ("secure", "subdue", "calm")]
        wished = np.argmax(masks[:, wishes], axis=1)
        others = make_agent("random").act(games, masks, env_ids)
        return np.where(masks[:, wishes].any(axis=1), np.take(wishes, wished), others)
```

`TeamPolicy` puts four agents, in turn order, into games and asks each for its Emperors' decisions:

```python
cautious, env_ids = Cautious(), np.arange(8)
games, masks = new_games(Options(level="4200"), seeds=env_ids)
team = TeamPolicy([cautious, make_agent("greedy"), cautious, cautious], env_ids=8)
team.begin(env_ids, seeds=env_ids)
while len(running := np.flatnonzero(games["phase"] != OVER)):
    actions = np.zeros(8, dtype=np.int64)
    actions[running] = team.act(games[running], masks[running], running)
    step(games, actions, masks)
```

- What an agent gets are copies with other dice: it may play on in them, and cannot see the dice to come. Chance of its own it takes from
  the words in `games["dice"]`; so a game is the same in any env_id and company.
- `begin(env_ids)` tells an agent that new games begin there; one without a memory need not write it.
- To have it by name, make it a dataclass whose fields are its options, with a default each, and add a line to `AGENTS` in
  `agents/table.py`.
- `made_of()` names the files that decide what it does, beside the one it is written in. Result files keep a fingerprint of them.
"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(_agents()) + "\n" + PLANNING + "\n".join(_counts()) + "\n" + YOUR_OWN


def _agents() -> Iterator[str]:
    for name in AGENTS:
        what, options = ABOUT[name]
        yield f"| `{name}` | {what} | {options} |"


def _counts() -> Iterator[str]:
    weights = load_weights()[0]
    for name, meaning in FEATURES.items():
        yield f"| `{name}` | {weights[name]:.4f} | {meaning} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
