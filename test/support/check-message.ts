/** The style problems of a message; empty if it reads like all others. `text` is the file it concerns. */
export function messageProblems(message: string, text: string): readonly string[] {
  const problems = [];
  if (message.length >= 160) problems.push(`${message.length} characters`);
  if (/ {2}|[\n\t]/.test(message)) problems.push('white space other than single spaces');
  if (/\.$/.test(message) && !/\.\.\.$/.test(message)) problems.push('a full stop at its end');
  if (/[,;:!?]$/.test(message) && !/; did you mean .*\?$/.test(message)) problems.push('an end that is none');
  if (/\b(?:undefined|NaN)\b|\[object|(?<!\/)\bnull\b/.test(message)) problems.push('a value of the program in it');
  if (!startsWell(message, text)) problems.push('it starts with neither a capital nor a name of the file');
  return problems;
}

/**
 * Starts with a capital, a number or a quote, or with a name as written by Kubernetes or in the file: a field, a resource, a flag, a
 * program.
 */
function startsWell(message: string, text: string): boolean {
  if (/^[A-Z0-9"…]/.test(message)) return true;
  // A long name is cut.
  const first = (/^[^\s:,=]+/.exec(message)?.[0] ?? '').replace(/…$/, '');
  return /^[a-z]+[A-Z]|^[a-z.]+\//.test(first) || text.includes(first) || text.includes(first.replaceAll('_', '-'));
}
