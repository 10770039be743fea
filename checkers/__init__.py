"""The engines of Floodmark and its commands; ARCHITECTURE.md says which room holds what."""
