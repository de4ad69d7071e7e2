import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { PriceRefresh } from './prices.ts';

/**
 * Fetches prices by the command line, in a process of its own: neither the extension nor its server ever connects to a source of prices.
 * @param program the path of dist/cli.js
 */
export function refreshInProcess(program: string): PriceRefresh {
  return ({ sources, folder, token, onLine }) =>
    new Promise((resolve) => {
      const args = [program, 'prices', 'refresh', '--progress', 'json', '--provider', sources.join(',')];
      // In VS Code, the executable is Electron.
      const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
      const child = spawn(process.execPath, args, { cwd: folder ?? homedir(), env, windowsHide: true });
      const errors: string[] = [];
      createInterface({ input: child.stdout }).on('line', onLine);
      createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
      const canceling = token.onCancellationRequested(() => child.kill('SIGINT'));
      const end = (status: number | null, reason?: string) => {
        canceling.dispose();
        resolve({ isComplete: status === 0, errors: reason === undefined ? errors : [...errors, reason] });
      };
      child.on('error', (error) => end(null, error.message));
      child.on('close', (status) => end(status));
    });
}
