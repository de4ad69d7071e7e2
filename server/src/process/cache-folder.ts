import os from 'node:os';
import path from 'node:path';

/** Where the user's programs keep what they can make again; gpulint's part of it is the folder `gpulint`. */
export function cacheFolder(env: NodeJS.ProcessEnv, platform: string = process.platform): string {
  // The XDG specification says to ignore relative paths.
  if (env.XDG_CACHE_HOME && path.isAbsolute(env.XDG_CACHE_HOME)) return env.XDG_CACHE_HOME;
  if (platform === 'win32') return env.LOCALAPPDATA ?? path.join(os.homedir(), 'AppData', 'Local');
  return platform === 'darwin' ? path.join(os.homedir(), 'Library', 'Caches') : path.join(os.homedir(), '.cache');
}
