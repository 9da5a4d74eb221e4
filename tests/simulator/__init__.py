"""A market that plays itself to the real pipeline over loopback HTTP, and knows the truth.

``market`` has the sources, their prices and what goes wrong when; ``shapes`` writes their pages and the modules that read them; ``server``
answers; ``truth`` says what the ledger has to hold; ``play`` runs the pipeline through the days.
"""
