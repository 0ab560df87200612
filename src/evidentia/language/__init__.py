"""The language of claims, English and Arabic side by side, each table once."""
