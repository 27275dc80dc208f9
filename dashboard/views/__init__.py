"""Views: parse, call one service or query, render. One file per page."""
