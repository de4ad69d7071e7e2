// What older schedulers say in other words, and how often. The order of the filters, and so which reason a node gives, has not changed since 1.20.

/** Older words, and those of 1.36; an empty text is said in addition to another reason. */
const older: readonly (readonly [RegExp, string])[] = [
  // Until 1.23, and until 1.33 with the key and the value.
  [/^node\(s\) had taint \{.*\}, that the pod didn't tolerate$/, 'node(s) had untolerated taint(s)'],
  [/^node\(s\) had untolerated taint \{.*\}$/, 'node(s) had untolerated taint(s)'],
  [
    /^node\(s\) didn't match (?:Pod's node affinity|node selector)$/,
    "node(s) didn't match Pod's node affinity/selector",
  ],
  // Until 1.21, every reason of pod affinity comes with this one.
  [/^node\(s\) didn't match pod affinity\/anti-affinity(?: rules)?$/, ''],
  [/^node\(s\) didn't match the requested hostname$/, "node(s) didn't match the requested node name"],
];

/**
 * The number of nodes by reason, in the words of 1.36, that a message of any version states:
 * `0/4 nodes are available: 1 Insufficient nvidia.com/gpu, 3 node(s) had taint {spot: true}, that the pod didn't tolerate.`
 */
export function reasonsOf(message: string): ReadonlyMap<string, number> {
  const [main = ''] = message.split(/\.(?: |$)/);
  const counts = new Map<string, number>();
  for (const part of main.replace(/^0\/\d+ nodes are available: /, '').split(/, (?=\d+ )/)) {
    const [, count = '0', said = part] = /^(\d+) (.*)$/.exec(part) ?? [];
    const known = older.find(([words]) => words.test(said));
    const reason = known === undefined ? said : known[1];
    if (reason !== '') counts.set(reason, (counts.get(reason) ?? 0) + Number(count));
  }
  return counts;
}
