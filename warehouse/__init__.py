"""Offers, turned into meaning: names, units, currency, daily prices, training costs."""
