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

/**
 * Whether a document is no file that lies next to others: a new one that was never saved, or an object that VS Code's Kubernetes and OpenShift
 * extensions load from a cluster. Nothing may be read next to those: to their file systems every name is an object, which they fetch from the cluster.
 */
export function isLoose(uri: string): boolean {
  return /^(untitled|k8smsx|k8smsxro|osmsx|osmsxro):/i.test(uri);
}

/**
 * Where a document stands for its config: files where they are; loose ones where they will be saved, as far as that is known, else in the window's
 * folder if it has just one.
 * @param folders of the window, as URIs without a slash at their end
 */
export function configPlaceOf(uri: string, folders: readonly string[]): string | undefined {
  const [folder, ...others] = folders;
  if (!isLoose(uri)) return uri;
  if (folder === undefined) return undefined;
  const path = /^untitled:(?:\/\/[^/]*)?(\/.*)$/i.exec(uri)?.[1];
  if (path !== undefined) return `${rootOf(folder)}${path}`;
  return others.length === 0 ? `${folder}/${/[^/:?#]*(?=$|[?#])/.exec(uri)?.[0]}` : undefined;
}

/** A folder as the others here take it. The root of a disk, `file:///`, keeps the slashes before its empty host. */
export function withoutSlash(folder: string): string {
  const start = /^[a-z][\w+.-]*:\/\//i.exec(folder)?.[0] ?? '';
  return start + folder.slice(start.length).replace(/\/+$/, '');
}

/** Whether the name of a URI is the config file's. */
export function isConfigUri(uri: string): boolean {
  return uri.endsWith(`/${configName}`);
}

/** The folders that a file is in, nearest first, as URIs without a slash at their end. */
export function foldersAbove(uri: string): readonly string[] {
  const root = rootOf(uri);
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

/** Scheme and authority, which virtual file systems often do without: memfs:/folder/pod.yaml. */
function rootOf(uri: string): string | undefined {
  return /^[a-z][\w.+-]*:(?:\/\/[^/]*)?(?=\/)/i.exec(uri)?.[0];
}

/** Whether a file is in one of these folders, at any depth. @param file normalised, as the folders are */
export function isWithin(file: string, folders: ReadonlySet<string>): boolean {
  return foldersAbove(file).some((folder) => folders.has(folder));
}

/** The path of a file below a folder, decoded; undefined where it is not below. */
export function pathBelow(folder: string, uri: string): string | undefined {
  const [above, path] = [`${normalizeUri(folder)}/`, normalizeUri(uri)];
  return path.startsWith(above) ? path.slice(above.length) : undefined;
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
