/** A path relative to a file, as a URI; undefined for remote addresses and for paths above the root, whose first step would be a host. */
export function resolvePath(from: string, path: string): string | undefined {
  // A URI cannot contain half of a surrogate pair.
  if (halfPair.test(path)) return undefined;
  if (path === '' || path.includes('\n') || path.includes('://') || path.startsWith('/')) return undefined;
  const steps = from.split('/').slice(0, -1);
  const root = /^[^/]*:\/\//.test(from) ? 3 : 1;
  for (const step of path.split('/')) {
    if (step === '..' && steps.length <= root) return undefined;
    if (step === '..') steps.pop();
    else if (step !== '.' && step !== '') steps.push(encodeURIComponent(step));
  }
  return steps.join('/');
}

/** Bundled for older engines, a literal in the function would be compiled at each call. */
const halfPair = /\p{Surrogate}/u;

/** Whether a path names the folder of a file, or one above it. Without the file's URI, only dots are known to. */
export function leadsToItself(file: string | undefined, path: string): boolean {
  if (/^\.{1,2}(?:\/\.{0,2})*$/.test(path)) return true;
  const folder = file === undefined ? undefined : resolvePath(file, path);
  return folder !== undefined && folder !== '' && nameOf(file ?? '').startsWith(`${nameOf(folder)}/`);
}

/** Whether URIs are those of one file, however they are escaped; false if one is undefined. */
export function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && nameOf(one) === nameOf(other);
}

/** Clients escape different characters of a path. */
export function nameOf(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
