# must: CRYPTO_PRIMITIVES
from itsdangerous import URLSafeSerializer

URLSafeSerializer("k").dumps("x")
