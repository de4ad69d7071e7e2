/**
 * Whether a scalar is, in whole or in part, a placeholder that is filled in before the manifest is applied: envsubst's ${VAR} and $VAR,
 * <your-token>, your-token, PLACEHOLDER, REPLACE_ME, TODO, xxxx, ???, @@X@@, @X@, %X%, %(x)s, #{x}#, ((x)). Kubernetes' own $(VAR) is not one, and the variables of a shell script (several words
 * or lines) belong to the script.
 */
export function isPlaceholder(text: string): boolean {
  if (text.length < 2 || text.length > 500 || !HINT.test(text)) return false;
  if (/\n/.test(text)) return false;
  if (!/\s/.test(text)) {
    return (
      VARIABLE.test(text) || MARKED.test(text) || WORD.test(text) || ROW.test(text) || /<[A-Za-z][\w.: /-]*>/.test(text)
    );
  }
  return /^<[A-Za-z][^<>=]*>$/.test(text) || MARKED.test(text) || /^\$\{[^}]*\}$/.test(text);
}

/** Whether scalars of a text may be placeholders. An escape may stand for any sign of one. */
export function mayHoldPlaceholders(text: string): boolean {
  return HINT.test(text) || text.includes('\\');
}

const HINT =
  /[$<@%_]|#\{|\(\(|\?\?|PLACEHOLDER|REPLACE|CHANGE|YOUR|TODO|TBD|FIXME|xxx|XXX|placeholder|changeme|replace|your/;
const VARIABLE = /(?:^|[^$])\$(?:\{[A-Za-z_][^}]{0,500}\}|[A-Za-z_]\w*)/;
const MARKED =
  /@@[A-Za-z]\w*@@|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%|%\([A-Za-z_]\w*\)[sdif]|__[A-Z][A-Z0-9_]*__|#\{[A-Za-z_][\w.-]*\}|(?<!\$)\(\([A-Za-z_][\w./-]*\)\)|^\?{2,}$/;
const WORD =
  /(?:^|[^A-Za-z])(?:PLACEHOLDER|REPLACE[_-]?(?:ME|WITH[A-Z_-]*|THIS)|CHANGE[_-]?ME|YOUR_[A-Z_]+|TODO|TBD|FIXME|your[-_][a-z_-]+|placeholder|changeme|replace-?me)(?![A-Za-z])/;
const ROW = /(?<![A-Za-z0-9])(?:x{3,}|X{3,})(?![A-Za-z0-9])/;
