import { asText, type Cursor, getIn, isUnseen } from '../yaml/cursor.ts';

/** A size as nginx reads it, for one that it does not: `100m` for `100 MB` or `100Mi`. https://nginx.org/en/docs/syntax.html */
export function sizeForNginx(written: string): string | undefined {
  const [, digits = '', unit = '', rest = ''] = /^(\d{1,6})(?: ?)([kmg])(i?b?)$/i.exec(written) ?? [];
  return digits === '' || (rest === '' && !written.includes(' ')) ? undefined : digits + unit.toLowerCase();
}

/** A path of an Ingress with a regular expression, and its type, which does not allow one. */
export interface PatternPath {
  readonly path: string;
  readonly type: string;
  readonly typeAt: Cursor;
}

/**
 * The first path with a regular expression whose type is Prefix or Exact. Since 1.12, ingress-nginx rejects it by default (`strict-validate-path-type`).
 * https://github.com/kubernetes/ingress-nginx/blob/main/internal/ingress/inspector/ingress.go
 * https://github.com/kubernetes/ingress-nginx/pull/11819
 */
export function patternPath(paths: readonly Cursor[]): PatternPath | undefined {
  for (const one of paths) {
    const [at, typeAt] = [getIn(one, 'path'), getIn(one, 'pathType')];
    const [path, type] = [at, typeAt].map((place) => (isUnseen(place) ? '' : (asText(place) ?? '')));
    if (typeAt === undefined || path === undefined || (type !== 'Prefix' && type !== 'Exact')) continue;
    if (/[()*|$\\[\]^+]/.test(path)) return { path, type, typeAt };
  }
  return undefined;
}
