"""What somebody would write to get a token, a push or a race past the fence.

Each has a name, the rules of which one must be reported, and the source. Those without a rule are the
caveats: they get through, and docs/explanation/capability-fence.md says so, by the same names.
"""

from dataclasses import dataclass

from consentry.examine.fence.findings import Rule

MADE, COPIED, SUBCLASS = Rule.MADE, Rule.COPIED, Rule.SUBCLASS
HANDED, RENAMED, BY_NAME = Rule.HANDED_ON, Rule.RENAMED, Rule.BY_NAME
PUSH, RACE = Rule.PUSH, Rule.RACE

TOKENS = "from consentry.decide.tokens import NpmInstallCapability\n"
HOME = "from consentry.decide import tokens\n"
PERMIT = "from consentry.decide.permit import Permit\n"
GIVEN = TOKENS + "def use(token: NpmInstallCapability):\n    "


@dataclass(frozen=True)
class Evasion:
    """One way around the fence; without a rule it is a caveat."""

    name: str
    rule: Rule | None
    source: str


def _rows(rule: Rule | None, **sources: str) -> tuple[Evasion, ...]:
    return tuple(Evasion(name.replace("_", "-"), rule, text) for name, text in sources.items())


CONSTRUCTIONS = (
    *_rows(
        MADE,
        direct_call=TOKENS + "NpmInstallCapability(packages=())\n",
        qualified_call="import consentry.decide.tokens\nconsentry.decide.tokens.NpmInstallCapability()\n",
        module_attribute=HOME + "tokens.NpmInstallCapability()\n",
        relative_import="from .tokens import NpmInstallCapability\nNpmInstallCapability()\n",
        star_import="from consentry.decide.tokens import *\nNpmInstallCapability()\n",
        unknown_object="def f(x):\n    return x.FsReadWriteCapability()\n",
        starred_arguments=TOKENS + "NpmInstallCapability(*[], **{})\n",
        alias_called=TOKENS + "Make = NpmInstallCapability\nMake()\n",
        chain_of_aliases=TOKENS + "A = NpmInstallCapability\nB = A\nC = B\nC()\n",
        alias_in_function=TOKENS + "def f():\n    make = NpmInstallCapability\n    return make()\n",
        walrus=TOKENS + "(make := NpmInstallCapability)()\n",
        conditional=TOKENS + "(NpmInstallCapability if True else None)()\n",
        or_expression=TOKENS + "(None or NpmInstallCapability)()\n",
        immediately_from_tuple=TOKENS + "(NpmInstallCapability,)[0]()\n",
        immediately_from_dictionary=TOKENS + "{'n': NpmInstallCapability}['n']()\n",
        model_construct=TOKENS + "NpmInstallCapability.model_construct()\n",
        model_validate=TOKENS + "NpmInstallCapability.model_validate({})\n",
        model_validate_json=TOKENS + "NpmInstallCapability.model_validate_json('{}')\n",
        parse_obj=TOKENS + "NpmInstallCapability.parse_obj({})\n",
        from_json=PERMIT + "Permit.from_json({})\n",
        unknown_class_method=TOKENS + "NpmInstallCapability.out_of_thin_air()\n",
        dunder_new=TOKENS + "NpmInstallCapability.__new__(NpmInstallCapability)\n",
        dunder_call=TOKENS + "NpmInstallCapability.__call__()\n",
        validator=TOKENS + "NpmInstallCapability.__pydantic_validator__.validate_python({})\n",
        subclasses_of=TOKENS + "NpmInstallCapability.__subclasses__()\n",
        fields_of_the_bundle=(
            "from consentry.decide.tokens import CapabilityBundle\n"
            "CapabilityBundle.model_fields['npm'].annotation\n"
        ),
        annotations_of_the_bundle=(
            "from consentry.decide.tokens import CapabilityBundle\n"
            "CapabilityBundle.__annotations__['npm']\n"
        ),
        module_of_the_class=TOKENS + "import sys\nsys.modules[NpmInstallCapability.__module__]\n",
        through_the_package="import consentry.decide as d\nd.tokens.NpmInstallCapability()\n",
        imported_in_place="__import__('consentry.decide.tokens').decide.tokens.NpmInstallCapability()\n",
        base_of=TOKENS + "NpmInstallCapability.__base__.__subclasses__()\n",
        decorator=TOKENS + "@NpmInstallCapability\ndef f(): ...\n",
        permit=PERMIT + "Permit('a', None, 'm', 0, 1)\n",
        permit_maker="from consentry.decide.permit import make_permit\nmake_permit(1, 2, 3, 4)\n",
        permit_maker_by_module="from consentry.decide import permit\npermit.make_permit(1, 2, 3, 4)\n",
        bundle="from consentry.decide.tokens import CapabilityBundle\nCapabilityBundle()\n",
        own_class_of_that_name="class EvilCapability: ...\nEvilCapability()\n",
        normalised_identifier=TOKENS + "NpmInstall\uff23apability()\n",
        class_of_a_token=GIVEN + "return token.__class__()\n",
        type_of_a_token=GIVEN + "return type(token)()\n",
        construct_through_a_token=GIVEN + "return type(token).model_construct()\n",
        class_parameter=TOKENS + "def f(kind: type[NpmInstallCapability]):\n    return kind()\n",
        class_assignment=TOKENS + "class X: ...\nx = X()\nx.__class__ = NpmInstallCapability\n",
        class_patched=TOKENS + "NpmInstallCapability.__init__ = lambda self: None\n",
        in_annotation=TOKENS + "x: NpmInstallCapability()\n",
        in_default=TOKENS + "def f(x=NpmInstallCapability()): ...\n",
        in_comprehension=TOKENS + "[NpmInstallCapability() for _ in range(9)]\n",
        in_f_string=TOKENS + "f'{NpmInstallCapability()}'\n",
        in_lambda=TOKENS + "f = lambda: NpmInstallCapability()\n",
        in_class_body=TOKENS + "class X:\n    token = NpmInstallCapability()\n",
        in_type_checking=TOKENS
        + "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    NpmInstallCapability()\n",
        eval_of_a_constant="eval('NpmInstallCapability()')\n",
        exec_of_a_constant=TOKENS + "exec('x = NpmInstallCapability()')\n",
        exec_of_compiled=TOKENS + "exec(compile('NpmInstallCapability()', 'x', 'exec'))\n",
        exec_of_base64="import base64\nexec(base64.b64decode('TnBtSW5zdGFsbENhcGFiaWxpdHkoKQ=='))\n",
    ),
    *_rows(
        RENAMED,
        import_as=TOKENS.strip() + " as N\nN()\n",
        import_as_for_others=TOKENS.strip() + " as Grant\n",
        permit_import_as=PERMIT.strip() + " as Ticket\n",
    ),
    *_rows(
        SUBCLASS,
        subclass=TOKENS + "class Mine(NpmInstallCapability): ...\nMine()\n",
        subclass_of_subclass=TOKENS + "class A(NpmInstallCapability): ...\nclass B(A): ...\nB()\n",
        subclass_of_permit=PERMIT + "class Mine(Permit): ...\n",
        root_model=TOKENS
        + "from pydantic import RootModel\nclass W(RootModel[NpmInstallCapability]): ...\n",
    ),
)

HAND_ONS = _rows(
    HANDED,
    partial=TOKENS
    + "from functools import partial\nmake = partial(NpmInstallCapability)\nmake()\n",
    mapped=TOKENS + "list(map(NpmInstallCapability, [()]))\n",
    object_new=TOKENS + "object.__new__(NpmInstallCapability)\n",
    type_call=TOKENS + "type.__call__(NpmInstallCapability)\n",
    type_of_three=TOKENS + "type('X', (NpmInstallCapability,), {})()\n",
    metaclass_call=TOKENS + "type(NpmInstallCapability).__call__(NpmInstallCapability)\n",
    type_adapter=TOKENS
    + "from pydantic import TypeAdapter\nTypeAdapter(NpmInstallCapability).validate_python({})\n",
    type_adapter_of_a_list=TOKENS
    + "from pydantic import TypeAdapter\nTypeAdapter(list[NpmInstallCapability])\n",
    create_model=TOKENS
    + "from pydantic import create_model\ncreate_model('W', t=(NpmInstallCapability, ...))\n",
    model_field=TOKENS
    + "from pydantic import BaseModel\nclass W(BaseModel):\n    t: NpmInstallCapability\nW(t={})\n",
    model_field_below=TOKENS
    + "from pydantic import BaseModel as B\nclass V(B): ...\nclass W(V):\n    t: NpmInstallCapability\n",
    pydantic_dataclass=TOKENS
    + "from pydantic.dataclasses import dataclass\n@dataclass\nclass W:\n    t: NpmInstallCapability\n",
    validated_call=TOKENS
    + "from pydantic import validate_call\n@validate_call\ndef f(t: NpmInstallCapability): return t\nf({})\n",
    list_of_classes=TOKENS + "KINDS = [NpmInstallCapability]\n",
    dictionary_of_classes=TOKENS + "KINDS = {'npm': NpmInstallCapability}\n",
    dictionary_by_class=TOKENS + "KINDS = {NpmInstallCapability: 1}\n",
    returned=TOKENS + "def f():\n    return NpmInstallCapability\n",
    yielded=TOKENS + "def f():\n    yield NpmInstallCapability\n",
    default_argument=TOKENS + "def f(kind=NpmInstallCapability):\n    return kind()\n",
    lambda_result=TOKENS + "get = lambda: NpmInstallCapability\nget()()\n",
    attribute_of_self=TOKENS
    + "class X:\n    def __init__(self):\n        self.kind = NpmInstallCapability\n",
    reduced=TOKENS
    + "class X:\n    def __reduce__(self):\n        return (NpmInstallCapability, ())\n",
    renamed_by_assignment=TOKENS + "Grant = NpmInstallCapability\n",
    renamed_by_type_alias=TOKENS
    + "from typing import TypeAlias\nGrant: TypeAlias = NpmInstallCapability\n",
    arguments_of_an_alias=TOKENS
    + "from typing import get_args\nT = NpmInstallCapability | None\nget_args(T)[0]()\n",
    own_isinstance=TOKENS
    + "def isinstance(a, b):\n    return b()\nisinstance(1, NpmInstallCapability)\n",
    own_mint=TOKENS + "def mint(kind):\n    return kind()\nmint(NpmInstallCapability)\n",
    foreign_mint=TOKENS + "from elsewhere import mint\nmint(NpmInstallCapability)\n",
    rebound_mint=TOKENS
    + "from consentry import mint\nmint = lambda kind: kind()\nmint(NpmInstallCapability)\n",
    own_cast=TOKENS + "def cast(kind, x):\n    return kind(**x)\ncast(NpmInstallCapability, {})\n",
    own_equality=TOKENS
    + "class E:\n    def __eq__(self, kind): kind()\nE() == NpmInstallCapability\n",
    dispatcher=TOKENS + "def register(kind): ...\nregister(NpmInstallCapability)\n",
    set_into_namespace=TOKENS + "globals()['G'] = NpmInstallCapability\n",
    set_attribute=TOKENS + "import x\nsetattr(x, 'Grant', NpmInstallCapability)\n",
    module_handed_on=HOME + "def f(m): ...\nf(tokens)\n",
    computed_attribute_of_home=HOME + "def f(n):\n    return getattr(tokens, n)()\n",
    namespace_of_home=HOME + "[c for c in vars(tokens).values()]\n",
    members_of_home=HOME + "import inspect\ninspect.getmembers(tokens)\n",
    home_renamed=HOME + "t = tokens\n",
    home_through_package=(
        "import consentry.decide as d\ndef f(n):\n    return getattr(d.tokens, n)()\n"
    ),
    package_handed_on="from consentry import decide\nvars(decide)\n",
    whole_package_handed_on="import consentry\ndef f(n):\n    return getattr(consentry, n)()\n",
    names_of_mint=TOKENS + "from consentry.decide.tokens import mint\nmint.__globals__\n",
    own_annotations=TOKENS + "def f(t: NpmInstallCapability): ...\nf.__annotations__['t']()\n",
    own_hints=TOKENS
    + "from typing import get_type_hints\ndef f(t: NpmInstallCapability): ...\nget_type_hints(f)['t']()\n",
    adapter_of_an_own_dataclass=TOKENS
    + "from dataclasses import dataclass\nfrom pydantic import TypeAdapter\n"
    + "@dataclass\nclass W:\n    t: NpmInstallCapability\nTypeAdapter(W).validate_python({})\n",
    filled_by_a_library=TOKENS
    + "from dacite import from_dict\nclass W:\n    t: NpmInstallCapability\nfrom_dict(data_class=W, data={})\n",
    home_by_dots="import consentry.decide.tokens\nx = consentry.decide.tokens\n",
)

BY_NAMES = _rows(
    BY_NAME,
    getattr_constant=HOME + "getattr(tokens, 'NpmInstallCapability')()\n",
    getattr_joined="import x\ngetattr(x, 'NpmInstall' + 'Capability')()\n",
    getattr_through_name="import x\nN = 'NpmInstallCapability'\ngetattr(x, N)\n",
    getattr_of_unknown="def f(m):\n    return getattr(m, 'NpmInstallCapability')\n",
    getattr_aliased="import x\ng = getattr\ng(x, 'NpmInstallCapability')()\n",
    getattr_formatted="import x\ngetattr(x, '{}Capability'.format('NpmInstall'))()\n",
    getattr_f_string="import x\nw = 'NpmInstall'\ngetattr(x, f'{w}Capability')()\n",
    getattr_escaped="import x\ngetattr(x, 'NpmInstall\\x43apability')()\n",
    getattr_base64="import x, base64\ngetattr(x, base64.b64decode('TnBtSW5zdGFsbENhcGFiaWxpdHk=').decode())()\n",
    getattr_reversed="import x\ngetattr(x, 'ytilibapaCllatsnImpN'[::-1])()\n",
    getattribute="import x\nx.__getattribute__('NpmInstallCapability')\n",
    attrgetter="import operator, x\noperator.attrgetter('tokens.NpmInstallCapability')(x)()\n",
    methodcaller="import operator, x\noperator.methodcaller('NpmInstallCapability')(x)\n",
    own_globals=TOKENS + "globals()['NpmInstallCapability']()\n",
    globals_get=TOKENS + "globals().get('NpmInstallCapability')()\n",
    globals_named=TOKENS + "g = globals()\ng['NpmInstallCapability']()\n",
    vars_of_module="import x\nvars(x)['NpmInstallCapability']()\n",
    dictionary_of_module="import x\nx.__dict__['NpmInstallCapability']()\n",
    dictionary_by_method="import x\nx.__dict__.__getitem__('NpmInstallCapability')()\n",
    name_of_the_class=TOKENS
    + "import sys\ngetattr(sys.modules['x'], NpmInstallCapability.__name__)()\n",
    key_is_name_of_the_class=TOKENS + "globals()[NpmInstallCapability.__name__]()\n",
    globals_of_a_function="def f(g):\n    return g.__globals__['NpmInstallCapability']()\n",
    globals_of_a_frame="import sys\nsys._getframe(1).f_globals['NpmInstallCapability']()\n",
    import_module_of_home="import importlib\nm = importlib.import_module('consentry.decide.tokens')\n",
    dunder_import="__import__('consentry.decide.tokens', fromlist=['x'])\n",
    import_from_list="__import__('x', fromlist=['NpmInstallCapability'])\n",
    system_modules="import sys\nsys.modules['consentry.decide.tokens']\n",
    resolve_name="import pkgutil\npkgutil.resolve_name('consentry.decide.tokens:NpmInstallCapability')()\n",
    named_by_path="def load(p): ...\nload('consentry.decide.tokens.NpmInstallCapability')\n",
    mocked="from unittest import mock\nmock.patch('consentry.decide.tokens.NpmInstallCapability')\n",
)

COPIES = _rows(
    COPIED,
    copied=GIVEN + "import copy\n    return copy.copy(token)\n",
    deep_copied=GIVEN + "from copy import deepcopy\n    return deepcopy(token)\n",
    replaced=GIVEN + "import dataclasses\n    return dataclasses.replace(token, n=1)\n",
    permit_replaced=PERMIT
    + "from consentry.base.values import replace\ndef f(p: Permit):\n    return replace(p, spent_by=None)\n",
    model_copied=GIVEN + "return token.model_copy(update={'packages': ('x',)})\n",
    copied_by_method=GIVEN + "return token.copy(update={})\n",
    copied_through_alias=GIVEN + "other = token\n    return other.model_copy()\n",
    copied_part_of_bundle="from consentry.decide.tokens import CapabilityBundle\ndef f(b: CapabilityBundle):\n    return b.npm.model_copy(update={})\n",
    copied_minted="from consentry.decide.tokens import mint, NpmInstallCapability\nt = mint()\nt.model_copy(update={})\n",
    copied_after_test=TOKENS
    + "def f(x):\n    if isinstance(x, NpmInstallCapability):\n        return x.model_copy()\n",
    copied_after_match=TOKENS
    + "def f(x):\n    match x:\n        case NpmInstallCapability() as y:\n            return y.model_copy()\n",
    copied_by_quoted_annotation="def f(token: 'NpmInstallCapability'):\n    return token.model_copy()\n"
    + TOKENS,
    unpickled=TOKENS
    + "import pickle\ndef f(b) -> NpmInstallCapability:\n    return pickle.loads(b)\n",
    unpickled_constant="import pickle\nT = b'cconsentry.decide.tokens\\nNpmInstallCapability\\n)R.'\npickle.loads(T)\n"
    + TOKENS,
    unpickled_by_another_name=TOKENS + "from pickle import loads as f\nf(b'')\n",
    reconstructed=TOKENS
    + "import copyreg\ncopyreg._reconstructor\ncopyreg._reconstructor(object, object, None)\n",
    reduced_token=GIVEN + "kind, args = token.__reduce__()[:2]\n    return kind(*args)\n",
    state_set=GIVEN + "token.__setstate__({})\n",
    attribute_set=GIVEN + "object.__setattr__(token, 'packages', ())\n",
    attribute_set_by_name=GIVEN + "setattr(token, 'packages', ())\n",
    dictionary_set=GIVEN + "token.__dict__['packages'] = ()\n",
)

PUSHES = _rows(
    PUSH,
    list_of_words="import subprocess\nsubprocess.run(['git', 'push'])\n",
    list_with_options="run(['git', '-C', d, '--no-pager', '-c', 'a=b', 'push', 'origin'])\n",
    whole_path="run(['/usr/bin/git', 'push'])\n",
    text="import os\nos.system('git push origin main')\n",
    text_with_quotes="import os\nos.system('git \"push\" origin')\n",
    text_behind_others="import os\nos.system('cd /x && git push')\n",
    text_behind_assignment="import os\nos.system('GIT_DIR=x git push')\n",
    text_in_substitution="import os\nos.system('echo $(git push)')\n",
    text_with_field_separator="import os\nos.system('git${IFS}push')\n",
    text_over_lines="import os\nos.system('git \\\\\\n push')\n",
    text_in_bytes="import os\nos.system(b'git push')\n",
    shell_command="run(['sh', '-c', 'git push'])\n",
    shell_in_text="import os\nos.system(\"bash -lc 'git push'\")\n",
    sudo="import os\nos.system('sudo -u x git push')\n",
    env="run(['env', 'X=1', 'git', 'push'])\n",
    joined_constant="import os\nos.system('git ' + 'push')\n",
    split_word="import os\nos.system('git pu' 'sh')\n",
    verb_in_name="V = 'push'\nrun(['git', V])\n",
    program_in_name="G = 'git'\nrun([G, 'push'])\n",
    verb_in_pieces="run(['git', 'pu' + 'sh'])\n",
    verb_decoded="import base64\nrun(['git', base64.b64decode('cHVzaA==').decode()])\n",
    f_string="V = 'push'\nimport os\nos.system(f'git {V} {x}')\n",
    f_string_with_gap="import os\nos.system(f'git -C {d} push')\n",
    percent="import os\nos.system('git %s' % 'push')\n",
    format_method="import os\nos.system('git {}'.format('push'))\n",
    joined_by_method="import os\nos.system(' '.join(['git', 'push']))\n",
    joined_by_shlex="import shlex\nrun(shlex.join(['git', 'push']))\n",
    split_text="run('git push'.split())\n",
    lists_added="base = ['git']\nrun(base + ['push'])\n",
    list_unpacked="base = ['git']\nrun([*base, 'push'])\n",
    list_grown="c = ['git']\nc.append('push')\nrun(c)\n",
    list_extended="c = ['git']\nc.extend(['push', 'origin'])\nrun(c)\n",
    exec_words="import os\nos.execlp('git', 'git', 'push')\n",
    async_words="import asyncio\nasyncio.create_subprocess_exec('git', 'push')\n",
    git_helper="def run_git(*w): ...\nrun_git('push', 'origin')\n",
    git_python="import git\ngit.Repo('.').git.push()\n",
    tuple_constant="COMMAND = ('git', 'push')\n",
    loop_of_verbs="for v in ('add', 'push'):\n    run(['git', v])\n",
    send_pack="run(['git', 'send-pack', u])\n",
    receive_pack="run(['git-receive-pack', p])\n",
    remote_helper="run(['git', 'remote-https', 'origin', u])\n",
    remote_helper_program="run(['/usr/lib/git-core/git-remote-https', u])\n",
    subtree="run(['git', 'subtree', 'push', '--prefix', 'x'])\n",
    large_files="run(['git', 'lfs', 'push', '--all'])\n",
    alias="run(['git', '-c', 'alias.x=push', 'x'])\n",
    alias_of_a_shell="run(['git', '-c', 'alias.x=!git push', 'x'])\n",
    alias_in_config="run(['git', 'config', 'alias.x', 'push origin'])\n",
    transport_helper="run(['git', 'fetch', 'ext::sh -c whatever'])\n",
    each_submodule="run(['git', 'submodule', 'foreach', 'git push'])\n",
    rebase_exec="run(['git', 'rebase', '--exec', 'git push', 'main'])\n",
    keyword_argument="run(args=['git', 'push'])\n",
    constant_in_dictionary="JOBS = {'publish': 'git push'}\n",
    returned_command="def f():\n    return ['git', 'push']\n",
)

RACES = _rows(
    RACE,
    unhandled="def f(p):\n    return p.open(on_race=print)\n",
    unhandled_read="def f(p):\n    return p.read(9, on_race=print)\n",
    at_module_level="p.open(on_race=print)\n",
    only_os_error="def f(p):\n    try:\n        p.open(on_race=print)\n    except OSError:\n        pass\n",
    raised_again="def f(p):\n    try:\n        p.open(on_race=print)\n    except Exception:\n        raise\n",
    raised_again_by_name="def f(p):\n    try:\n        p.open(on_race=print)\n    except FilesystemRace:\n        raise\n",
    in_the_handler="def f(p):\n    try:\n        x()\n    except FilesystemRace:\n        p.open(on_race=print)\n",
    in_the_end="def f(p):\n    try:\n        x()\n    except FilesystemRace:\n        pass\n    finally:\n        p.open(on_race=print)\n",
    function_defined_in_try="def f(p):\n    try:\n        def g():\n            return p.open(on_race=print)\n    except FilesystemRace:\n        pass\n    return g\n",
    lambda_in_try="def f(p):\n    try:\n        return lambda: p.open(on_race=print)\n    except FilesystemRace:\n        pass\n",
    partial_open="from functools import partial\ndef f(p):\n    try:\n        return partial(p.open, on_race=print)\n    except FilesystemRace:\n        pass\n",
    keyword_in_dictionary="def f(p):\n    p.open(**{'on_race': print})\n",
    by_alias="def f(p):\n    o = p.open\n    o(on_race=print)\n",
    one_caller_forgets="def _g(p):\n    p.open(on_race=print)\ndef f(p):\n    try:\n        _g(p)\n    except FilesystemRace:\n        pass\ndef h(p):\n    _g(p)\n",
    no_caller="def _g(p):\n    p.open(on_race=print)\n",
    private_handed_on="def _g(p):\n    p.open(on_race=print)\ndef f(p):\n    try:\n        _g(p)\n    except FilesystemRace:\n        pass\nhooks = [_g]\n",
    another_sink="def f(p, on_race):\n    p.open(on_race=print)\n",
    callers_in_a_circle="def _a(p):\n    p.open(on_race=print)\n    _b(p)\ndef _b(p):\n    _a(p)\n",
)

CAVEATS = _rows(
    None,
    name_from_outside="import x, os\ngetattr(x, os.environ['KIND'])()\n",
    name_from_input="import x\ngetattr(x, input())()\n",
    code_from_outside="exec(open('code.txt').read())\n",
    code_encrypted="def f(code, key):\n    exec(bytes(a ^ key for a in code))\n",
    copied_where_no_type_is_named="import copy\ndef clone(x):\n    return copy.copy(x)\n",
    class_of_where_no_type_is_named="def again(x):\n    return type(x)()\n",
    unpickled_where_no_type_is_named="import pickle\ndef f(b):\n    return pickle.loads(b)\n",
    all_subclasses="from pydantic import BaseModel\nfor kind in BaseModel.__subclasses__():\n    kind()\n",
    objects_of_the_collector="import gc\n[x for x in gc.get_objects() if x.__class__.__name__.startswith('Npm')]\n",
    adapter_of_a_foreign_model="from pydantic import TypeAdapter\nfrom .shapes import Holder\nTypeAdapter(Holder).validate_python({})\n",
    field_under_a_foreign_base=TOKENS
    + "from .shapes import Shape\nclass W(Shape):\n    t: NpmInstallCapability\nW(t={})\n",
    name_of_the_class_kept=TOKENS
    + "import x\nname = NpmInstallCapability.__name__\ngetattr(x, name)()\n",
    builtin_replaced=TOKENS
    + "import builtins\nbuiltins.repr = lambda kind: kind()\nrepr(NpmInstallCapability)\n",
    helper_that_calls_what_it_gets="def call(x, *a):\n    return x(*a)\n",
    all_letters_in_pieces="import x\nn = 'Npm' + 'InstallCapab' + 'ility'\ngetattr(x, n)()\n",
    frame_of_the_caller="import sys\nsys._getframe(1).f_globals['Npm' + x]()\n",
    hints_of_a_function="from typing import get_type_hints\ndef f(g):\n    return get_type_hints(g)['token']()\n",
    modules_walked="import sys\nfor module in [*sys.modules.values()]:\n    for kind in [*vars(module).values()]:\n        kind()\n",
    module_of_ours_put_together="import importlib\ndef f(name):\n    return importlib.import_module('consentry.' + name)\n",
    type_of_another_file=TOKENS
    + "from .shapes import Grid\ndef f(held: Grid[NpmInstallCapability]): ...\n",
    parameters_filled_by_a_framework=TOKENS
    + "from .web import app\n@app.post('/')\ndef f(token: NpmInstallCapability):\n    return token\n",
    dispatched_by_annotation=TOKENS
    + "from functools import singledispatch\n@singledispatch\ndef f(x): ...\n@f.register\ndef _(x: NpmInstallCapability): ...\n[*f.registry][-1]()\n",
    native_code="import ctypes\nctypes.pythonapi.PyObject_CallNoArgs\n",
    other_process_with_python="import subprocess, sys\nsubprocess.run([sys.executable, 'make_tokens.txt'])\n",
    verb_from_outside="import sys\nrun(['git', sys.argv[1]])\n",
    words_of_a_file="run(open('command.txt').read().split())\n",
    both_words_in_pieces="run(['g' + 'it', 'pu' + 'sh'])\n",
    shell_variable="import os\nos.system('V=pu; git ${V}sh')\n",
    shell_script="import os\nos.system('./publish.sh')\n",
    words_split_by_quotes_only="import os\nos.system(\"g''it pu''sh\")\n",
    words_of_one_text="run('git\\npush'.splitlines())\n",
    another_program="import os\nos.system('make publish')\nrun(['hub', 'push'])\n",
    library_remote="def f(repo):\n    repo.remote().push()\n",
    own_protocol="import socket\ns = socket.create_connection((h, 9418))\ns.send(b'0032' + w)\n",
    race_through_keywords="def f(p, **options):\n    p.open(**options)\n",
    race_keyword_escaped="def f(p):\n    p.open(**{'on\\x5frace': print})\n",
    race_raised_again_on_a_condition="def f(p):\n    try:\n        p.open(on_race=print)\n    except FilesystemRace:\n        if True:\n            raise\n",
    race_kept_in_an_object="class X:\n    pass\ndef f(p, call):\n    call(p)\n",
)

CAUGHT = (*CONSTRUCTIONS, *HAND_ONS, *BY_NAMES, *COPIES, *PUSHES, *RACES)
EVASIONS = (*CAUGHT, *CAVEATS)
