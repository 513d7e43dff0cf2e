"""The game in the browser: rooms in which persons and agents play, each of them one record on the server; the page only shows and asks."""
