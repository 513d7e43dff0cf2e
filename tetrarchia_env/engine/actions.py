"""The action ids of the environment: one flat range for every configuration."""

from tetrarchia_env.board import SPACES

END = 0
SECURE = 1
SUBDUE = 2
CALM = 3
SAIL = 4  # +0: ATLANTICVM INTERNVM, +1: back, +2: INTERNVM AEGAEVM, +3: back
FLEET = 8  # + zone
ENTER_ROMA = 11
ENTER_CAPITAL = 12
MOVE = 13  # + space
ATTACK = MOVE + SPACES  # + space
BASE_ACTIONS = ATTACK + SPACES  # smaller ids are the actions of the base game
IMPERIVM_POWER = 109
BOOST_COMBAT = 110
BLOCK_ARMY = 111
ACCEPT = 112
TAKE = 113
GIVE = 114
ATTACK_PIRATES = 115
DUX_DEPLOY = 116  # + space
DUX_MOVE = DUX_DEPLOY + SPACES
DUX_ATTACK = DUX_MOVE + SPACES
DUX_SUBDUE = 260
DUX_CALM = 261
DUX_ATTACK_PIRATES = 262
ORDER = 263  # + 48 Emperor + space
ACTIONS = ORDER + 4 * SPACES
SAY = ACTIONS  # + token - 1 (R14.7): these ids exist only with messages, and masks are longer then
MAX_MESSAGE_TOKENS = 16
