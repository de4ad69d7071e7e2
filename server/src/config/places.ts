/** The name of the config file. */
export const configName = '.gpulint.yaml';

/** What a look into one folder gave. */
export interface FolderLook<T> {
  /** Its config; undefined where it has none. */
  readonly found: T | undefined;
  /** No config further up is meant: it is a repository's root, or the person's home. */
  readonly top: boolean;
}

/**
 * The config nearest to a file, from its folder upward. The editor and the command line both look with this, so that they find the same.
 * @param uri of the file; one without a path (untitled:Untitled-1) is in no folder
 * @param look reads a folder, given as a URI without a slash at its end
 */
export async function nearestConfig<T>(
  uri: string,
  look: (folder: string) => Promise<FolderLook<T>>,
): Promise<{ readonly found: T; readonly folder: string } | undefined> {
  for (const folder of foldersAbove(uri)) {
    const { found, top } = await look(folder);
    if (found !== undefined) return { found, folder };
    if (top) return undefined;
  }
  return undefined;
}

/** Whether the name of a URI is the config file's. */
export function isConfigUri(uri: string): boolean {
  return uri.endsWith(`/${configName}`);
}

/** The folders that a file is in, nearest first, as URIs without a slash at their end. */
export function foldersAbove(uri: string): readonly string[] {
  // Virtual file systems often have no authority: memfs:/folder/pod.yaml.
  const root = /^[a-z][\w.+-]*:(?:\/\/[^/]*)?(?=\/)/i.exec(uri)?.[0];
  if (root === undefined) return [];
  const folders: string[] = [];
  let end = uri.lastIndexOf('/');
  while (end >= root.length) {
    folders.push(uri.slice(0, end));
    if (end === root.length) break;
    end = uri.lastIndexOf('/', end - 1);
  }
  return folders;
}

/** The path of a file below a folder, decoded; undefined where it is not below. */
export function pathBelow(folder: string, uri: string): string | undefined {
  if (!uri.startsWith(`${folder}/`)) return undefined;
  const path = uri.slice(folder.length + 1);
  try {
    return decodeURIComponent(path);
  } catch {
    // A stray percent sign: the text itself is as good a name.
    return path;
  }
}

/** Clients differ in how they escape a colon and write a drive letter, sometimes within one session. */
export function normalizeUri(uri: string): string {
  let plain = uri;
  try {
    plain = decodeURIComponent(uri);
  } catch {
    // A stray percent sign: the text itself is as good a name.
  }
  return plain.replace(
    /^(file:\/\/\/)([A-Z]):/,
    (_, scheme: string, drive: string) => `${scheme}${drive.toLowerCase()}:`,
  );
}
