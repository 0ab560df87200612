"""The trail: never update, never delete, only append; and it can be proved."""
