
// What stands behind the code of a capability: it is the body of a function that was begun before it.
// Everything that the code could change is taken hold of before it runs. An error is told, and then
// raised again: Deno says it in its own words, and ends with its own status.
})();
const $say = (() => {
  const { stringify } = JSON, encoder = new TextEncoder(), out = Deno.stdout;
  return (what) => {
    let text;
    try {
      text = stringify(what);
    } catch (problem) {
      text = stringify({ ok: false, error: { type: "ResultNotJson", message: `${problem}` } });
    }
    let bytes = encoder.encode($mark + text + "\n");
    while (bytes.length) bytes = bytes.subarray(out.writeSync(bytes));
    return text;
  };
})();
const $failed = (problem) => {
  const is = problem instanceof Error;
  $say({
    ok: false,
    error: {
      type: `${is ? problem.name : typeof problem}`,
      message: `${is ? problem.message : problem}`,
      traceback: `${is ? problem.stack ?? "" : ""}`.slice(0, 8192),
    },
  });
};
globalThis.addEventListener("unhandledrejection", (event) => $failed(event.reason));
globalThis.addEventListener("error", (event) => $failed(event.error));
let $value;
try {
  $value = await $run(...Deno.args.filter((_, at) => at % 2).map(
    (word) => JSON.parse(word.slice(word.indexOf("=") + 1))));
} catch (problem) {
  $failed(problem);
  throw problem;
}
if ($say({ ok: true, result: $value === undefined ? null : $value }).startsWith('{"ok":false')) {
  Deno.exitCode = 1;
}
