# must: PROC_EXEC
import nox

@nox.session
def go(session):
    session.run("id", external=True)
