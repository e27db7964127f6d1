# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import jinja2

def render(text):
    return jinja2.Template(text).render()
