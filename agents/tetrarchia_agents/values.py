"""What a network's value means: the reward that it was trained with, by which learning and search must judge alike."""

from typing import Any

from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError

GAMMA = 1.0  # a discount for each step would teach to end turns early; the discount is for each turn, in the terminal reward
WIN, LOSS = 2.0, 0.0  # a loss costs nothing: else a policy would learn to put off the end
USUAL = {"final_turn_discount": 0.99, "shaping_coef": 1.0}  # what an older card does not say


def shaped_reward(turn_discount: float, shaping_coef: float) -> ShapedReward:
    """For winning alone, the more the sooner, shaped by the planner's evaluation."""
    return ShapedReward(GAMMA, win=WIN, loss=LOSS, turn_discount=turn_discount, shaping_coef=shaping_coef)


def value_reward(card: dict[str, Any], checkpoint: str) -> ShapedReward:
    """The reward that the value of the checkpoint with this card was trained with, as it was at the end."""
    try:
        options = USUAL | card.get("made", {}).get("options", {})
        return shaped_reward(float(options["final_turn_discount"]), float(options["shaping_coef"]))
    except (AttributeError, TypeError, ValueError) as error:
        raise TetrarchiaError(f"checkpoint {checkpoint!r} is damaged: its card's options cannot be read ({error})") from None


def check_value(card: dict[str, Any], checkpoint: str) -> None:
    """ValueError if only the policy of this checkpoint was trained: neither by PPO nor by a search."""
    made = card.get("made", {})
    if "timesteps" not in made and not made.get("num_values"):
        raise TetrarchiaError(
            f"checkpoint {checkpoint!r} has no trained value, which ppo:candidates needs: choose one that was trained by PPO"
        )
