"""The golden cases: how they are asked, solved, checked and stored."""
