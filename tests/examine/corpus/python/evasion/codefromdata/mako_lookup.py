# must: DYNAMIC_CODE_LOAD
from mako.lookup import TemplateLookup

TemplateLookup(["templates"]).get_template("a.mako").render()
