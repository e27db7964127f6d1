"""May it, and who said so: grants, consent, escalation, approval requests, transactions, permits.

The only room that makes a permit. Repositories are protocols here; `store` implements them.
"""
