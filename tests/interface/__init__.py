"""What Python programs and pytest use of Floodmark."""
