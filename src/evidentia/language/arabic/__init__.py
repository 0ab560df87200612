"""Arabic as the rules read it: words without clitics, numbers, quantities, dates, negation."""
