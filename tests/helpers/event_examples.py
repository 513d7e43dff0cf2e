"""Positions with predetermined dice and their expected event log; the lines of a log are separated by semicolons."""

from typing import Any

Changes = dict[str, Any]
Dice = tuple[int, ...]

QUIET = (5, 6)  # BITHYNIA, which its printed token protects
NOTHING = "V 6 BITHYNIA: protected by diocletian"
LVSITANIA = (1, 4)  # all its links are normal
REVOLT = {"LVSITANIA": "revolt"}
RISES = "I 4 LVSITANIA rises: BAETICA, CARTHAGINENSIS, GALLAECIA revolt"

IMPERIVM, PATRES, GREAT = ({"variants": [name]} for name in ("imperivm", "patres_patriae", "the_great"))
DUX, PIRATES, GOTHS = ({"modules": [name]} for name in ("dux", "pirates", "goths"))
ORDERS: Changes = {"rules": IMPERIVM, "pending": {"used": ["power"]}}
AT_SEA: Changes = {"rules": {"modules": ["dux", "pirates"]}, "dux": "ASIA", "pirates": "AEGAEVM"}
NO_ARMY: Changes = {"reserve": {"armies": 0}}

# maximian with his capital's printed token: R + 1 against N + 1
IN_RHAETIA: Changes = {"emperor": "maximian", "armies": [["RHAETIA", "III", "army"]], "tokens": {"RHAETIA": "revolt"}}
GOTHS_THERE: Changes = IN_RHAETIA | {"armies": [["RHAETIA", "III", "goths"]], "rules": GOTHS | GREAT}
HIS_DEFEAT: Changes = IN_RHAETIA | {"tokens": {"RHAETIA": "revolt", "CISALPINA": "galerius"}, "rules": GREAT, "glory": {"maximian": 2}}
REBEL: Changes = {"rules": {"scenario": "great_persian_war"}, "armies": [["LIBYA", "VI", "rebel"]], "tokens": {"LIBYA": "revolt"}}
REBEL |= {"emperors": {"diocletian": "AEGYPTVS"}}
THIRD_BORDER: Changes = {
    "emperor": "galerius",
    "emperors": {"galerius": "SARMATIA"},
    "tokens": {"LIBYA": "diocletian", "PERSIA": "maximian"},
}
BORDERS = {"GAETVLIA": "diocletian", "BRITANNIA": "galerius", "GERMANIA MAGNA": "galerius", "SARMATIA": "galerius", "PERSIA": "diocletian"}
LAST_BORDER: Changes = {"emperors": {"diocletian": "LIBYA"}, "tokens": BORDERS}
SAVED = "diocletian secures LIBYA: 6 of 6 borders; all six borders are secured: the Empire is saved"

ROMAN_PHASE: list[tuple[Changes, Dice, str, str]] = [
    ({}, (), "move THRACIA", "diocletian moves to THRACIA (2 IP)"),
    ({"emperors": {"galerius": "ASIA"}}, (), "move ASIA", "diocletian passes through ASIA (1 IP)"),
    ({"fleets": ["INTERNVM"]}, (), "sail INTERNVM AEGAEVM", "a fleet sails from INTERNVM to AEGAEVM (1 IP)"),
    ({}, (), "secure", "diocletian secures BITHYNIA (1 IP)"),
    (THIRD_BORDER, (), "secure", "galerius secures SARMATIA: 3 of 6 borders"),
    ({"tokens": {"BITHYNIA": "unrest"}}, (), "subdue", "diocletian subdues the unrest in BITHYNIA (1 IP)"),
    ({"tokens": {"BITHYNIA": "revolt"}}, (), "subdue", "diocletian subdues the revolt in BITHYNIA (2 IP)"),
    ({"tokens": {"BITHYNIA": "revolt"}}, (), "calm", "diocletian calms the revolt in BITHYNIA (1 IP)"),
    ({"ip": 1}, QUIET, "move GALATIA", f"diocletian moves to GALATIA (1 IP); diocletian has nothing left to do; {NOTHING}"),
    ({"phase": "fleets", "turn": 0, "ip": 0}, (), "fleet AEGAEVM", "diocletian places a fleet in AEGAEVM"),
    ({"phase": "arrival", "emperors": {"diocletian": None}}, (), "enter capital", "diocletian arrives in BITHYNIA"),
    (IN_RHAETIA, (6, 4), "attack RHAETIA", "maximian attacks the army in RHAETIA: 7 to 5, it is beaten; maximian enters RHAETIA"),
    (IN_RHAETIA, (4, 4), "attack RHAETIA", "maximian attacks the army in RHAETIA: 5 to 5, nothing happens"),
    (
        HIS_DEFEAT,
        (1, 6, *QUIET, 1),
        "attack RHAETIA",
        "maximian attacks the army in RHAETIA: 1 to 7, he is beaten; maximian loses glory, he has 1; "
        f"galerius loses his token in CISALPINA; {NOTHING}; the army from III does not find a way from RHAETIA to PANNONIA SVPERIOR",
    ),
    (
        GOTHS_THERE,
        (6, 1),
        "attack RHAETIA",
        "maximian attacks the Goths in RHAETIA: 7 to 3, they are beaten; maximian enters RHAETIA; maximian gains glory, he has 1",
    ),
    (REBEL, (4, 3), "attack LIBYA", "diocletian attacks the Rebel in LIBYA: 4 to 4, nothing happens"),
    ({"rules": IMPERIVM}, (), "imperivm", "diocletian pays a token: he may move the other Emperors"),
    ({"rules": IMPERIVM, "emperor": "maximian"}, (), "imperivm", "maximian pays a token: 1 IP more"),
    (ORDERS, (), "order galerius NORICVM", "diocletian sends galerius to NORICVM (1 IP)"),
    (ORDERS | {"emperors": {"maximian": "NORICVM"}}, (), "order galerius NORICVM", "diocletian sends galerius through NORICVM (1 IP)"),
    ({"rules": PATRES}, (), "take", "diocletian takes 1 IP from the next turn of galerius"),
    ({"rules": PATRES, "emperor": "constantius"}, (), "give", "constantius gives 1 IP to the next turn of maximian"),
    ({"rules": DUX, "dux": "available"}, (), "dux deploy ASIA", "diocletian puts the Dux in ASIA (2 IP)"),
    ({"rules": DUX, "dux": "ASIA"}, (), "dux move GALATIA", "the Dux moves to GALATIA (1 IP)"),
    ({"rules": DUX, "dux": "ASIA", "tokens": {"ASIA": "unrest"}}, (), "dux subdue", "the Dux subdues the unrest in ASIA (1 IP)"),
    ({"rules": DUX, "dux": "ASIA", "tokens": {"ASIA": "revolt"}}, (), "dux calm", "the Dux calms the revolt in ASIA (1 IP)"),
    (
        AT_SEA | {"emperors": {"diocletian": "GALATIA"}},
        (6, 2),
        "dux attack PIRATES",
        "the Dux attacks the Pirates in AEGAEVM: 6 to 2, they are beaten",
    ),
    (
        AT_SEA | {"dux": "gone", "tokens": {"ASIA": "galerius", "SYRIA": "galerius", "THRACIA": "maximian"}},
        (1, 6, *QUIET),
        "attack PIRATES",
        "diocletian attacks the Pirates in AEGAEVM: 2 to 6, he is beaten; galerius loses his tokens in SYRIA, ASIA; "
        f"maximian loses his token in THRACIA; {NOTHING}",
    ),
    (LAST_BORDER, (), "secure", SAVED),
    (LAST_BORDER | {"rules": GREAT, "glory": {"diocletian": 2}}, (), "secure", f"{SAVED}; diocletian is the Great"),
    (
        LAST_BORDER | {"rules": GREAT, "glory": {"diocletian": 2, "constantius": 4}},
        (),
        "secure",
        f"{SAVED}; diocletian is Emperor of the East; constantius is Emperor of the West",
    ),
]

# an army about to attack diocletian in THRACIA, next to his capital: N + 1 against R + 1
TO_THRACIA: Changes = {"armies": [["MOESIA SVPERIOR", "IV", "army"]], "tokens": {"MOESIA SVPERIOR": "revolt"}}
TO_THRACIA |= {"emperors": {"diocletian": "THRACIA", "galerius": "ASIA"}}
TO_THE_DUX: Changes = TO_THRACIA | {"armies": [["MOESIA SVPERIOR", "IV", "goths"]], "emperors": {"diocletian": "SYRIA", "galerius": "ASIA"}}
TO_THE_DUX |= {"rules": {"modules": ["dux", "goths"]}, "dux": "THRACIA"}
SPREADING: Changes = {"tokens": {"ASIA": "revolt", "CILICIA": "unrest", "SYRIA": "unrest"}, "emperors": {"constantius": "SYRIA"}}
COLUMN: Changes = {"armies": [["GAETVLIA", "I", "army"], ["TINGITANA", "I", "army"]], "tokens": {"TINGITANA": "revolt"}}
NO_PIRATES: Changes = {"rules": PIRATES, "pirates": "gone", "fleets": ["INTERNVM"], "tokens": {"ACHAEA": "revolt"}} | NO_ARMY
ON_SARMATIA: Changes = {"rules": GOTHS, "tokens": REVOLT | {"SARMATIA": "galerius"}, "emperors": {"constantius": "SARMATIA"}}

# diocletian ends his turn
BARBARIAN_PHASE: list[tuple[Changes, Dice, str]] = [
    ({}, QUIET, NOTHING),
    ({"tokens": {"BELGICA": "maximian"}}, (2, 1), "II 1 BELGICA: protected by maximian"),
    ({}, (2, 1), "II 1 BELGICA: unrest"),
    ({"tokens": {"BELGICA": "unrest"}}, (2, 1), "II 1 BELGICA: unrest becomes revolt"),
    (SPREADING, QUIET, f"revolt spreads to SYRIA, CILICIA; constantius is driven out of SYRIA; {NOTHING}"),
    (
        {"tokens": {"THRACIA": "revolt", "MACEDONIA": "galerius"}} | NO_ARMY,
        (4, 3, 1, 1),
        "IV 3 THRACIA rises: MOESIA SVPERIOR, MACEDONIA revolt; no army is left to appear; galerius loses his token in MACEDONIA",
    ),
    ({"tokens": {"TINGITANA": "revolt"}} | NO_ARMY, (1, 1, 3, 3), "I 1 TINGITANA rises alone; no army is left to appear"),
    ({"tokens": REVOLT}, (*LVSITANIA, 3, 5), f"{RISES}; an army from III appears in GERMANIA MAGNA; the army from III enters DACIA"),
    (
        {"tokens": REVOLT | {"GERMANIA MAGNA": "maximian"}},
        (*LVSITANIA, 3, 1),
        f"{RISES}; no army appears in GERMANIA MAGNA, it is not empty; III 1 DACIA: unrest",
    ),
    (NO_PIRATES, (4, 5, 1), "IV 5 ACHAEA rises: MACEDONIA revolts; the Pirates come back to AEGAEVM; no army is left to appear"),
    (
        ON_SARMATIA,
        (*LVSITANIA, 4, 1),
        f"{RISES}; the Goths arrive in SARMATIA and drive out constantius; galerius loses his token in SARMATIA; "
        "the Goths do not find a way from SARMATIA to MOESIA INFERIOR",
    ),
    (
        {"rules": GOTHS, "tokens": REVOLT, "armies": [["SARMATIA", "IV", "army"]]},
        (*LVSITANIA, 4, 4),
        f"{RISES}; the Goths arrive in SARMATIA and drive out the army from IV; the Goths enter MOESIA INFERIOR",
    ),
    (
        COLUMN,
        (*QUIET, 1),
        f"{NOTHING}; the army from I does not find a way from TINGITANA to BAETICA; the army from I waits behind another army",
    ),
    (TO_THRACIA, (*QUIET, 1, 4), f"{NOTHING}; the army from IV attacks diocletian: 5 to 2, he is beaten; the army from IV enters THRACIA"),
    (TO_THRACIA, (*QUIET, 5, 4), f"{NOTHING}; the army from IV attacks diocletian: 5 to 6, it is beaten"),
    (TO_THRACIA, (*QUIET, 4, 4), f"{NOTHING}; the army from IV attacks diocletian: 5 to 5, nothing happens"),
    (TO_THE_DUX, (*QUIET, 1, 4), f"{NOTHING}; the Goths attack the Dux: 6 to 1, he is beaten; the Goths enter THRACIA"),
    (
        {"armies": [["ETRVRIA", "II", "army"]], "tokens": {"ETRVRIA": "revolt"}},
        QUIET,
        f"{NOTHING}; the army from II enters ROMA; Rome has fallen",
    ),
    (
        {"tokens": {"BELGICA": "unrest"}, "reserve": {"revolt": 0}},
        (2, 1),
        "II 1 BELGICA: unrest becomes revolt; no Revolt token is left: the Empire is lost",
    ),
    ({"tokens": REVOLT, "reserve": {"revolt": 0}}, LVSITANIA, "I 4 LVSITANIA rises; no Revolt token is left: the Empire is lost"),
    ({"reserve": {"unrest": 0}}, (2, 1), "II 1 BELGICA: unrest; no Unrest token is left: the Empire is lost"),
    ({"rules": {"max_turns": 9}}, QUIET, f"{NOTHING}; 9 turns are over: the game ends here"),
    ({"rules": PATRES, "pending": {"owed": {"galerius": -1}}}, QUIET, f"{NOTHING}; galerius begins with 5 IP"),
    ({"emperors": {"galerius": None}, "tokens": {"PANNONIA INFERIOR": "maximian"}}, QUIET, f"{NOTHING}; galerius arrives in ROMA"),
]

# galerius with his capital's printed token: R + 1 against N + 1
IN_NORICVM: Changes = {"rules": IMPERIVM, "emperor": "galerius", "armies": [["NORICVM", "III", "army"]], "tokens": {"NORICVM": "revolt"}}
TO_GALERIUS: Changes = IN_NORICVM | {"emperor": "diocletian", "armies": [["DACIA", "III", "army"]], "tokens": {"DACIA": "revolt"}}
BLOCKADE: Changes = {"rules": IMPERIVM, "armies": [["GERMANIA INFERIOR", "II", "army"]], "tokens": {"GERMANIA INFERIOR": "revolt"}}
BLOCKADE |= {"emperors": {"constantius": "GERMANIA SVPERIOR"}}
THREAT = f"diocletian ends his turn; {NOTHING}; the army from II threatens constantius, who may block"
AROUND_ROMA: Changes = {"rules": IMPERIVM, "armies": [["ETRVRIA", "I", "army"], ["LVCANIA", "IV", "army"]]}
AROUND_ROMA |= {"emperors": {"galerius": None, "constantius": "ROMA"}, "tokens": {"PANNONIA INFERIOR": "maximian"}}

# R10.1: consecutive actions, each with its events
REACTIONS: list[tuple[Changes, Dice, list[tuple[str, str]]]] = [
    (
        IN_NORICVM,
        (2, 3),
        [
            ("attack NORICVM", "galerius attacks the army in NORICVM: 3 to 4, he may add 1"),
            ("boost", "galerius pays a token and adds 1: 4 to 4, he may add 1"),
            ("boost", "galerius pays a token and adds 1: 5 to 4, it is beaten; galerius enters NORICVM"),
        ],
    ),
    (
        TO_GALERIUS,
        (*QUIET, 4, 1, 6),
        [
            ("end", f"diocletian ends his turn; {NOTHING}; the army from III attacks galerius: 7 to 2, he may add 1"),
            ("accept", "galerius adds nothing: 7 to 2, he is beaten; the army from III enters PANNONIA INFERIOR; galerius arrives in ROMA"),
        ],
    ),
    (BLOCKADE, QUIET, [("end", THREAT), ("block", "constantius pays a token: the army from II stays in GERMANIA INFERIOR")]),
    (
        BLOCKADE,
        (*QUIET, 1, 2),
        [
            ("end", THREAT),
            ("accept", "the army from II attacks constantius: 3 to 1, he is beaten; the army from II enters GERMANIA SVPERIOR"),
        ],
    ),
    (
        AROUND_ROMA,
        (*QUIET, *QUIET),
        [
            ("end", f"diocletian ends his turn; {NOTHING}; the army from I threatens constantius, who may block"),
            (
                "block",
                "constantius pays a token: the army from I stays in ETRVRIA; the army from IV threatens constantius, who may block",
            ),
            (
                "block",
                "constantius pays a token: the army from IV stays in LVCANIA; galerius can enter neither ROMA nor PANNONIA INFERIOR; "
                f"{NOTHING}; the army from I threatens constantius, who may block",
            ),
        ],
    ),
]

EXAMPLES: list[tuple[Changes, Dice, list[tuple[str, str]]]] = [
    *((changes, dice, [(text, story)]) for changes, dice, text, story in ROMAN_PHASE),
    *((changes, dice, [("end", f"diocletian ends his turn; {story}")]) for changes, dice, story in BARBARIAN_PHASE),
    *REACTIONS,
]
