import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Everything below a folder, by relative path. Links are not followed, unlike in readdir's own recursion. */
export function entriesBelow(top: string): readonly string[] {
  const found: string[] = [];
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(path.join(top, folder), { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      found.push(name);
      if (entry.isDirectory()) pending.push(name);
    }
  }
  return found.sort();
}
