import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runCli, temporaryFolder } from './run-cli.ts';

/** What `gpulint cost` prints for a folder with these files. */
export async function listed(files: Record<string, string>): Promise<string> {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  const { stdout } = await runCli(['cost', '--no-color'], { cwd: folder });
  return stdout;
}
