"""What a person who plays needs, in the terminal and in the browser: a game with a way back, the choices, and what speaks for each."""
