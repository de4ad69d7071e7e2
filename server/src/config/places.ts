/** The name of the config file. */
export const configName = '.gpulint.yaml';

/** The result of a config lookup in one folder. */
export interface FolderConfig<T> {
  /** The config in the folder; undefined if there is none. */
  readonly found: T | undefined;
  /** The search ends here: the folder is a repository's root or the user's home. */
  readonly top: boolean;
}

/**
 * The config nearest to a file, from its folder upward. The editor and the command line both use it, so they find the same config.
 * @param uri of the file; one without a path (untitled:Untitled-1) is in no folder
 * @param look reads a folder; the URI has no trailing slash
 */
export async function nearestConfig<T>(
  uri: string,
  look: (folder: string) => Promise<FolderConfig<T>>,
): Promise<{ readonly found: T; readonly folder: string } | undefined> {
  for (const folder of foldersAbove(uri)) {
    const { found, top } = await look(folder);
    if (found !== undefined) return { found, folder };
    if (top) return undefined;
  }
  return undefined;
}

/**
 * Whether a document is not a file in a folder: a new document that was never saved, or an object that VS Code's Kubernetes and OpenShift
 * extensions load from a cluster. Nothing may be read next to such an object: its file system would fetch each name from the cluster.
 */
export function isLoose(uri: string): boolean {
  return /^(untitled|k8smsx|k8smsxro|osmsx|osmsxro):/i.test(uri);
}

/**
 * The URI from which to look for a document's config: its own URI for a file. For a loose document, the URI under which it will be saved, or a
 * name in the window's folder if there is only one.
 * @param folders of the window, as URIs without a trailing slash
 */
export function configPlaceOf(uri: string, folders: readonly string[]): string | undefined {
  const [folder, ...others] = folders;
  if (!isLoose(uri)) return uri;
  if (folder === undefined) return undefined;
  const path = /^untitled:(?:\/\/[^/]*)?(\/.*)$/i.exec(uri)?.[1];
  if (path !== undefined) return `${rootOf(folder)}${path}`;
  return others.length === 0 ? `${folder}/${/[^/:?#]*(?=$|[?#])/.exec(uri)?.[0]}` : undefined;
}

/** A folder without a trailing slash. The root of a disk, `file:///`, keeps the slashes before its empty host. */
export function withoutSlash(folder: string): string {
  const start = /^[a-z][\w+.-]*:\/\//i.exec(folder)?.[0] ?? '';
  return start + folder.slice(start.length).replace(/(?<!\/)\/+$/, '');
}

/** Whether a URI names a config file. */
export function isConfigUri(uri: string): boolean {
  return uri.endsWith(`/${configName}`);
}

/** The folders that a file is in, nearest first, as URIs without a trailing slash. */
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

/** Scheme and authority. Virtual file systems often have no authority: memfs:/folder/pod.yaml. */
function rootOf(uri: string): string | undefined {
  return /^[a-z][\w.+-]*:(?:\/\/[^/]*)?(?=\/)/i.exec(uri)?.[0];
}

/** Whether a file is in one of these folders, at any depth. @param file normalized, like the folders */
export function isWithin(file: string, folders: ReadonlySet<string>): boolean {
  return foldersAbove(file).some((folder) => folders.has(folder));
}

/** The decoded path of a file relative to a folder; undefined if the file is outside. */
export function pathBelow(folder: string, uri: string): string | undefined {
  const [above, path] = [`${normalizeUri(folder)}/`, normalizeUri(uri)];
  return path.startsWith(above) ? path.slice(above.length) : undefined;
}

/** Clients differ in how they escape a colon and write a drive letter, sometimes within one session. */
export function normalizeUri(uri: string): string {
  let plain = uri;
  if (!uri.includes('%')) return withSmallDrive(uri);
  try {
    plain = decodeURIComponent(uri);
  } catch {
    // A stray percent sign: use the URI as it is.
  }
  return withSmallDrive(plain);
}

function withSmallDrive(uri: string): string {
  return uri.replace(
    /^(file:\/\/\/)([A-Z]):/,
    (_, scheme: string, drive: string) => `${scheme}${drive.toLowerCase()}:`,
  );
}
