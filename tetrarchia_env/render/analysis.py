"""A game analysis as HTML for the replay page: the win probability curve, the likeliest actions of each decision, remarks."""

from collections.abc import Sequence

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game_analysis import Advice, Decision, GameAnalysis, percent, regret_sentence, split_sentence
from tetrarchia_env.render.shapes import clean

COLUMNS = {
    "Likely": "How likely the agent plays it",
    "Action": "",
    "Then": "The chance to win at the end of the turn, if the agent plays on",
}


def check_analysis(analysis: GameAnalysis, frames: int) -> None:
    """Check that an analysis fits a game.

    Args:
        analysis: The analysis.
        frames: Number of positions of the game.

    Raises:
        TetrarchiaError: If the numbers of decisions differ.
    """
    if len(analysis.decisions) != frames - 1:
        raise TetrarchiaError(f"the analysis has {len(analysis.decisions)} decisions, but the game has {frames - 1}")


def curve(analysis: GameAnalysis) -> str:
    """Return the win probability curve as HTML, as wide as the slider below it; dots mark the worst choices.

    Args:
        analysis: The analysis of a game with at least one decision.
    """
    chances = analysis.win_probabilities
    points = [f"{k} {100 * (1 - chance):.1f}" for k, chance in enumerate(chances)]
    line, last = " ".join(points), len(points) - 1
    dots = "".join(f'<path class="dot" d="M{points[place]}h0"/>' for place in analysis.worst)
    words = f"Chance to win by {analysis.critic}: {percent(chances[0])} at first, {percent(chances[-1])} at the end"
    return (
        f'<div class="curve"><svg id="curve" viewBox="0 0 {last} 100" preserveAspectRatio="none" role="img" aria-label="{clean(words)}">'
        f'<path class="half" d="M0 50H{last}"/><path class="area" d="M0 100L{line}L{last} 100Z"/><path class="line" d="M{line}"/>'
        f'{dots}<path id="cursor" d="M0 0V100"/></svg><span aria-hidden="true">chance to win by {clean(analysis.critic)}</span></div>'
    )


def position_analysis(analysis: GameAnalysis, place: int) -> list[str]:
    """Return the win probability of a position, the summary of its turn, and the likeliest actions of the next decision.

    Args:
        analysis: The analysis of a game with at least one decision.
        place: Index of the position.

    Returns:
        Parts of HTML; the last position has no likeliest actions.
    """
    parts = [f'<p class="chance"><strong>{percent(analysis.win_probabilities[place])}</strong> <span>chance to win</span></p>']
    decisions = analysis.decisions
    turn = next(turn for turn in analysis.turns if turn.number == decisions[min(place, len(decisions) - 1)].turn)
    parts.append(f'<p class="luck">This turn: {split_sentence(turn.luck, turn.choice)}.</p>')
    return [*parts, _likeliest(decisions[place])] if place < len(decisions) else parts


def _likeliest(decision: Decision) -> str:
    rows = [_row(percent(advice.probability), advice, decision) for advice in decision.top_actions]
    if decision.action not in [advice.text for advice in decision.top_actions]:
        least = decision.top_actions[-1].probability
        rows.append(_row(f"&lt; {percent(least)}", Advice(-1, decision.action, 0.0, decision.expected, 0.0), decision))
    heads = "".join(f'<th scope="col" title="{words}">{name}</th>' for name, words in COLUMNS.items())
    body = f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<table class="likeliest"><caption>The likeliest actions here</caption>{body}</table>'


def _row(likely: str, advice: Advice, decision: Decision) -> str:
    played = advice.text == decision.action
    word = " <small>played</small>" if played else ""
    mark = ' class="played"' if played else ""
    return f"<tr{mark}><td>{likely}</td><td>{clean(advice.text)}{word}</td><td>{percent(advice.win_probability)}</td></tr>"


def turn_line(analysis: GameAnalysis, number: int) -> str:
    """Return the effect of choices and dice in this turn as HTML."""
    lines = [f'<p class="luck">{split_sentence(turn.luck, turn.choice)}</p>' for turn in analysis.turns if turn.number == number]
    return "".join(lines)


def marks(analysis: GameAnalysis | None, places: int) -> Sequence[str]:
    """Return a remark for each position whose last choice was one of the worst.

    Args:
        analysis: The analysis; None gives no remarks.
        places: Number of positions.

    Returns:
        A line of text per position, empty where there is no remark.
    """
    lines = [""] * places
    for rank, place in enumerate(analysis.worst if analysis else ()):
        worst = "the worst choice" if rank == 0 else "one of the three worst choices"
        lines[place + 1] = f"{worst}: {regret_sentence(analysis.decisions[place])}" if analysis else ""
    return lines
