"""From logits to a token: penalties, filters, draws."""
