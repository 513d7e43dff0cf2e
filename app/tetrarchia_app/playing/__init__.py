"""What the terminal and the web page show a player: choices, costs, odds and previews."""
