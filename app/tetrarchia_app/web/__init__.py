"""Web server on which players and agents share games: the server holds the game, the pages only display it and send requests."""
